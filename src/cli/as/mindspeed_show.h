/** @file mindspeed_show.h  Writes the answer of MindSpeed's planner for people, as JSON and as
 *  CSV. */
#ifndef CALC_CLI_AS_MINDSPEED_SHOW_H
#define CALC_CLI_AS_MINDSPEED_SHOW_H

#include "cli/as/flags.h"
#include "io/output.h"
#include "mindspeed/rank.h"

/** The data shown for a search. */
typedef struct calc_mindspeed_shown {
    const calc_mindspeed_study *study;
    const calc_mindspeed_ranking *ranking;
    const char *system;              /**< its name */
    const char *times;               /**< source of the times, a few words */
    const calc_mindspeed_next *next; /**< configurations to measure next; NULL: not shown */
    size_t top;                      /**< number of configurations shown */
    bool all;                        /**< shows the whole space */
} calc_mindspeed_shown;

/** Writes a header, the top configurations as a table, and the line `{"optimal_parallel_strategy":
 *  {...}}`. */
void calc_mindspeed_show(const calc_mindspeed_shown *shown, calc_output *out);

/** Writes everything as one JSON document. */
void calc_mindspeed_show_json(const calc_mindspeed_shown *shown, calc_output *out);

/** Writes the space as CSV; the first columns are those of the planner's model_results.csv. */
void calc_mindspeed_show_csv(const calc_mindspeed_shown *shown, calc_output *out);

/** Writes notes to standard error and, if there is no answer, the reason. */
void calc_mindspeed_show_notes(const calc_mindspeed_shown *shown);

#endif
