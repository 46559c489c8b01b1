/** @file mindspeed_show.h  What MindSpeed's planner answers, for people, as JSON and as CSV. */
#ifndef CALC_CLI_AS_MINDSPEED_SHOW_H
#define CALC_CLI_AS_MINDSPEED_SHOW_H

#include "cli/as/flags.h"
#include "io/output.h"
#include "mindspeed/next.h"

/** What is shown of a search. */
typedef struct calc_mindspeed_shown {
    const calc_mindspeed_study *study;
    const calc_mindspeed_ranking *ranking;
    const char *system;              /**< its name */
    const char *times;               /**< where times are from, a few words */
    const calc_mindspeed_next *next; /**< what to measure; NULL: nothing is said of it */
    size_t top;                      /**< configurations that are shown */
    bool all;                        /**< the whole space */
} calc_mindspeed_shown;

/** A head, the top as a table, and the line `{"optimal_parallel_strategy": {...}}`. */
void calc_mindspeed_show(const calc_mindspeed_shown *shown, calc_output *out);

/** Everything as one JSON document. */
void calc_mindspeed_show_json(const calc_mindspeed_shown *shown, calc_output *out);

/** The space as CSV, with the columns of the planner's model_results.csv first. */
void calc_mindspeed_show_csv(const calc_mindspeed_shown *shown, calc_output *out);

/** Say on standard error what beside the answer should be known; and why there is none. */
void calc_mindspeed_show_notes(const calc_mindspeed_shown *shown);

#endif
