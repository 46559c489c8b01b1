/** @file page_timeline.h  Timeline of every stage of the pipeline and parts of the step, for
 * pictures. */
#ifndef CALC_REPORT_PAGE_TIMELINE_H
#define CALC_REPORT_PAGE_TIMELINE_H

#include "calc.h"
#include "io/json_put.h"
#include "model/schedule/schedule_sim.h"
#include "model/timeline.h"

enum {
    CALC_TIMELINE_EVENTS = 40000, /**< above this, fewer micro-batches are shown, */
    CALC_TIMELINE_MOST = 120000   /**< but at least two rounds if there are no more than these */
};

/** Operations of a step. Owns `event`. Start with {0}. */
typedef struct calc_page_timeline {
    calc_schedule_shape shape; /**< shown shape, maybe with fewer micro-batches than the step */
    int64_t microbatches;      /**< of the step */
    double end_s;              /**< of the shown part */
    size_t count;              /**< 0: there is nothing to show */
    calc_schedule_event *event;
    const char *reason; /**< reason why there is nothing to show; NULL if there is */
} calc_page_timeline;

/** Runs a schedule.
 *  @param pass  [shape->stages * shape->chunks] as in calc_schedule_sim, including exposed
 *  messages; NULL: not known
 *  @return CALC_OK, or CALC_ERR_NOMEM with an error; *out must be freed in any case */
CALC_MUST_USE calc_status calc_page_timeline_make(calc_page_timeline *out,
                                                  const calc_schedule_shape *shape,
                                                  const calc_schedule_pass *pass,
                                                  calc_errors *errors);

/** Writes the member "timeline" of the open object: shape and arrays of equal length, or the reason
 *  why there is none. */
void calc_page_timeline_put(calc_put *put, const calc_page_timeline *timeline);

/** Frees its events; {0} is allowed. */
void calc_page_timeline_free(calc_page_timeline *timeline);

/* Writes the data of a pipeline's picture other than its operations: the parts
 * of a pass, the phases after it, and the memory of a stage. */

/** Writes the member "step" of the open object: the names of the parts of a pass; for each stage
 *  the parts of its passes, the phases after a pipeline that ends at `pipeline_s`, its static
 *  memory, and the memory that a micro-batch in flight adds, in activations of a whole stage; and
 *  the end of the step. */
void calc_page_step_put(calc_put *put, const calc_timeline *timeline, double pipeline_s);

#endif
