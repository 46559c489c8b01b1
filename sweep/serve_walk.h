/** @file serve_walk.h  The layouts of a unit that serve, batches innermost: cells that differ in
 * the batch alone are the same but for it, and the results of replicas evaluated before are reused
 * (replicas.h). */
#ifndef CALC_SWEEP_SERVE_WALK_H
#define CALC_SWEEP_SERVE_WALK_H

#include "units.h"
#include "worker.h"

/** Whether a worker's units are walked so: it serves, and nobody wants its layouts in order. */
bool calc_serve_walk_takes(const calc_worker *worker);

/** Evaluate and count the layouts of a unit. @param base  of it */
void calc_serve_walk(calc_worker *worker, const calc_units *units, const calc_unit *unit,
                     const calc_exec *base);

#endif
