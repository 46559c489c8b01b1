/** @file export_pool.h  The two servers of a disaggregated layout, each a layout of its own. */
#ifndef CALC_FORMATS_EXPORT_POOL_H
#define CALC_FORMATS_EXPORT_POOL_H

#include "calc.h"

typedef enum calc_pool { CALC_POOL_PREFILL, CALC_POOL_DECODE, CALC_POOL_COUNT } calc_pool;

/** What one pool of a layout with phase disaggregated runs: prompts alone, a pass of them at a
 * time, or tokens alone. */
void calc_export_pool_exec(const calc_exec *exec, calc_pool pool, calc_exec *out);

#endif
