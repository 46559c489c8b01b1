/** @file fingerprint.h  One number for all inputs that determine a sweep's result. Parts of a sweep
 *  are merged only if their numbers agree. */
#ifndef CALC_SWEEP_FINGERPRINT_H
#define CALC_SWEEP_FINGERPRINT_H

#include "sweep.h"

/** Hash of calc's version, the space, every design, and those options that change the result or its
 *  counts; threads, CPU level, verification and callbacks do not. */
uint64_t calc_fingerprint(const calc_space *space, const calc_designs *designs,
                          const calc_sweep_options *options);

#endif
