/** @file cache.h  Operators that were timed alone, one shape each: the operator cache, columns
 *  Type, Input Shapes, Output Shapes, fwd_time and bwd_time in us. */
#ifndef CALC_MINDSPEED_CACHE_H
#define CALC_MINDSPEED_CACHE_H

#include "mindspeed/shape.h"

/** Owns them; start with {0}. */
typedef struct calc_mindspeed_cache {
    calc_mindspeed_timed *item;
    size_t count;
    size_t others; /**< rows of other types or shapes */
} calc_mindspeed_cache;

/** Read a file. The backward time of a norm or of attention is that of its gradient's type; that of
 *  a multiplication is not read, since its gradients are multiplications with rows of their own.
 *  Of a shape that is there twice the mean counts. 0 or blank: not timed.
 *  @return CALC_OK; CALC_ERR_TYPE for shapes or times that are none, or what calc_csv_table_read()
 *  returns. Errors name file, line and column. *out must be freed in any case. */
CALC_MUST_USE calc_status calc_mindspeed_cache_read(calc_mindspeed_cache *out, const char *path,
                                                    calc_errors *errors);

/** Time of a shape alone [s]; 0 where it was not timed. */
double calc_mindspeed_cache_s(const calc_mindspeed_cache *cache, const calc_mindspeed_shape *shape);

/** Free them; fine on {0}. */
void calc_mindspeed_cache_free(calc_mindspeed_cache *cache);

#endif
