/** @file sweep_data.h  Results of a sweep as JSON: what its page draws, and parts of that which its
 *  files have, too. */
#ifndef CALC_REPORT_SWEEP_DATA_H
#define CALC_REPORT_SWEEP_DATA_H

#include "io/json_put.h"
#include "io/remark.h"
#include "io/request.h"
#include "plan/sweep_more.h"

struct calc_sweep_cloud; /* plan/sweep_more.h */

/** A sweep for its page. Borrows everything. */
typedef struct calc_sweep_data {
    const calc_sweep_study *study;
    const calc_sweep_result *result;
    const calc_found *start; /**< the layout to start with; NULL: the best */
    size_t start_rank;       /**< its index among the best, from 1; 0: not among them */
    /** How sure it is that the best is better than a layout. NULL: nothing is known. */
    double (*sure)(const void *context, uint64_t design, const calc_exec *exec,
                   const calc_stats *stats);
    /** The share of measured runs like a layout that would fit. NULL: not known. */
    double (*fits)(const void *context, const calc_found *layout);
    const void *context;
    unsigned parts; /**< calc_page_parts that are written; 0: all */
} calc_sweep_data;

/** Write the members of the open object: designs, summary, the best and the front, a cloud of
 *  layouts, the best of every split and of every number of processors, and the effects of changes;
 *  or some of these.
 *  Evaluates layouts again for that.
 *  @return CALC_OK, or the status of an error that was added */
CALC_MUST_USE calc_status calc_sweep_data_put(calc_put *put, const calc_sweep_data *data,
                                              calc_errors *errors);

/** Write the question as members of the open object: version, models, machines, objectives. */
void calc_sweep_put_study(calc_put *put, const calc_sweep_study *study);

/** Write the question, and front and best; with groups (--per) one of each per group. */
void calc_sweep_put_results(calc_put *put, const calc_sweep_data *data);

/** Write counts, times and rates as an object. */
void calc_sweep_put_summary(calc_put *put, const char *key, const calc_sweep_result *result);

/** Evaluations per second; 0 if no time has passed. */
double calc_sweep_rate(const calc_sweep_result *result);

/** The remark of an index: on a document, or, last, on what is served; "": none. */
const char *calc_sweep_remark(const calc_sweep_study *study, size_t i, char text[CALC_REMARK_SIZE]);

/** Write them as the member "remarks", an array. */
void calc_sweep_put_remarks(calc_put *put, const calc_sweep_study *study);

/** Index of the i-th of `shown` rows spread evenly over `count`, the first and the last
 *  included. */
size_t calc_sweep_spread(size_t i, size_t shown, size_t count);

#endif
