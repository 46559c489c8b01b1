/** @file prefill_pool.h  The execution of the prefill processors, where they are separate from
 *  those that decode. */
#ifndef CALC_SPEC_PREFILL_POOL_H
#define CALC_SPEC_PREFILL_POOL_H

#include "calc.h"

/** The execution of the prefill pool of a disaggregated execution: its own sizes, and as many
 *  replicas as its processors allow (at least one). Where layers are split without sequence
 *  parallelism, all ranks have all tokens, and experts are spread over them; attention that is
 *  whole on every processor sends tokens to their experts. */
void calc_prefill_pool_of(const calc_exec *exec, calc_exec *pool);

/** The system of the pool: that of the run, unless the pool names a different one.
 *  @param system  of the run, which is returned where both are the same */
const calc_system *calc_prefill_pool_system(const calc_system *system, const calc_exec *exec);

#endif
