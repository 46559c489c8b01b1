/** @file results.h  Reads measured configurations: rows of model_results.csv, columns pp, tp, dp,
 *  ring_attention, ulysses, mbs, vpp, ep, peak_memory in GB and e2e_time in ms. */
#ifndef CALC_MINDSPEED_RESULTS_H
#define CALC_MINDSPEED_RESULTS_H

#include "mindspeed/config.h"
#include "mindspeed/loop.h"

typedef struct calc_mindspeed_result {
    calc_mindspeed_config config;
    calc_mindspeed_end end;
    double step_s;     /**< if it ran, > 0 */
    double peak_bytes; /**< NaN: not given */
    int line;          /**< line on which its row starts */
} calc_mindspeed_result;

/** Results. Owns its list; start with {0}. */
typedef struct calc_mindspeed_results {
    calc_mindspeed_result *item;
    size_t count;
} calc_mindspeed_results;

/** Reads a file. Columns vpp, ep and peak_memory may be missing; they are then 1, 0 and not given.
 *  A time is a number, `oom` or `failed`.
 *  @return CALC_OK; CALC_ERR_TYPE for a malformed size or time; CALC_ERR_RULE for a configuration
 *  that is there twice; or the status of calc_csv_table_read(). Errors name file, line and column.
 *  *out must be freed in any case. */
CALC_MUST_USE calc_status calc_mindspeed_results_read(calc_mindspeed_results *out, const char *path,
                                                      calc_errors *errors);

/** Frees the list; {0} is allowed. */
void calc_mindspeed_results_free(calc_mindspeed_results *results);

/** @return the result of a configuration; NULL if it was not measured */
const calc_mindspeed_result *calc_mindspeed_results_find(const calc_mindspeed_results *results,
                                                         const calc_mindspeed_config *config);

#endif
