/** @file page_timeline.h  What every stage of the pipeline does when, for a picture. */
#ifndef CALC_REPORT_PAGE_TIMELINE_H
#define CALC_REPORT_PAGE_TIMELINE_H

#include "calc.h"
#include "io/json_put.h"
#include "model/schedule/schedule_sim.h"

enum {
    CALC_TIMELINE_EVENTS = 40000, /**< above, fewer micro-batches are shown, */
    CALC_TIMELINE_MOST = 120000   /**< but at least two rounds if there are no more than these */
};

/** Operations of a step. Owns `event`. Start with {0}. */
typedef struct calc_page_timeline {
    calc_schedule_shape shape; /**< what is shown: maybe fewer micro-batches than there are */
    int64_t microbatches;      /**< of the step */
    double end_s;              /**< of what is shown */
    size_t count;              /**< 0: there is nothing to show */
    calc_schedule_event *event;
    const char *reason; /**< why there is nothing; NULL if there is */
} calc_page_timeline;

/** Run a schedule.
 *  @param pass  [shape->stages * shape->chunks] as in calc_schedule_sim, with exposed messages in
 *               them; NULL: not known
 *  @return CALC_OK, or CALC_ERR_NOMEM with an error; *out must be freed in any case */
CALC_MUST_USE calc_status calc_page_timeline_make(calc_page_timeline *out,
                                                  const calc_schedule_shape *shape,
                                                  const calc_schedule_pass *pass,
                                                  calc_errors *errors);

/** The member "timeline" of the object that is open: shape, and arrays of equal length; or the
 *  reason. */
void calc_page_timeline_put(calc_put *put, const calc_page_timeline *timeline);

/** Free what it owns; fine on {0}. */
void calc_page_timeline_free(calc_page_timeline *timeline);

#endif
