/** @file export_pool.h  The two servers of a disaggregated layout, each as a layout of its own. */
#ifndef CALC_FORMATS_EXPORT_POOL_H
#define CALC_FORMATS_EXPORT_POOL_H

#include "calc.h"

typedef enum calc_pool { CALC_POOL_PREFILL, CALC_POOL_DECODE, CALC_POOL_COUNT } calc_pool;

/** Fills the layout of one pool of a layout with phase disaggregated. The prefill pool runs only
 *  prompts, one pass at a time; the decode pool only decodes. */
void calc_export_pool_exec(const calc_exec *exec, calc_pool pool, calc_exec *out);

#endif
