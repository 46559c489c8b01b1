/** @file cache.h  Reads the operator cache: times of operators that ran alone, one shape each, in
 *  columns Type, Input Shapes, Output Shapes, fwd_time and bwd_time in us. */
#ifndef CALC_MINDSPEED_CACHE_H
#define CALC_MINDSPEED_CACHE_H

#include "mindspeed/shape.h"

/** Timed operators. Owns its list; start with {0}. */
typedef struct calc_mindspeed_cache {
    calc_mindspeed_timed *item;
    size_t count;
    size_t others; /**< rows of other types or shapes */
} calc_mindspeed_cache;

/** Reads a file. The backward time of a norm or of attention is recorded under its gradient's type.
 *  The backward time of a multiplication is skipped, because its gradients are multiplications with
 *  rows of their own. Repeated shapes are averaged. 0 or blank: not timed.
 *  @return CALC_OK; CALC_ERR_TYPE for malformed shapes or times, or the status of
 *  calc_csv_table_read(). Errors name file, line and column. *out must be freed in any case. */
CALC_MUST_USE calc_status calc_mindspeed_cache_read(calc_mindspeed_cache *out, const char *path,
                                                    calc_errors *errors);

/** Time of a shape alone [s]; 0 if it was not timed. */
double calc_mindspeed_cache_s(const calc_mindspeed_cache *cache, const calc_mindspeed_shape *shape);

/** Frees the list; {0} is allowed. */
void calc_mindspeed_cache_free(calc_mindspeed_cache *cache);

#endif
