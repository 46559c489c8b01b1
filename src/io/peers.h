/** @file peers.h  Writes which ranks communicate with which: the groups of a layout. */
#ifndef CALC_IO_PEERS_H
#define CALC_IO_PEERS_H

#include "calc.h"
#include "io/output.h"

/** Write {"rank": {"tensor": [...], "pipeline": next, "data": [...]}, ...} for every rank.
 *  Rank = data * tensor_par * pipeline_par + stage * tensor_par + tensor. A group of one is left
 *  out; "pipeline" is the next stage, the first after the last. Same content as Calculon's. */
void calc_peers_save(calc_output *out, const calc_exec *exec);

#endif
