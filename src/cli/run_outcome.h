/** @file run_outcome.h  All that is known of a run, and the files that `calc run` writes of it. */
#ifndef CALC_CLI_RUN_OUTCOME_H
#define CALC_CLI_RUN_OUTCOME_H

#include "cli/inputs.h"
#include "cli/run_band.h"
#include "cli/run_operators.h"
#include "io/output.h"
#include "report/page_timeline.h"

/** A run and its answers. */
typedef struct calc_run_outcome {
    calc_inputs inputs;
    calc_stats stats;
    calc_compat compat;
    calc_reason reason[CALC_MAX_REASONS];
    size_t reason_count;
    calc_layer_stats layer[CALC_MAX_LAYERS];
    size_t layer_count;      /**< 0 unless asked for */
    calc_stage_stats *stage; /**< owned */
    size_t stage_count;      /**< 0 for Calculon's layouts unless asked for: they are all alike */
    size_t stage_known;      /**< of `stage`, asked for or not */
    const char **set;        /**< owned: assignments FIELD=VALUE */
    size_t set_count;
    bool extended; /**< uses fields of modern models */
    bool has_band;
    calc_run_band band;            /**< if it has one */
    calc_run_operators *operators; /**< owned: measured ones; NULL: not asked for */
} calc_run_outcome;

/** Inputs, verdict and statistics as one JSON object. */
void calc_run_write_json(calc_output *out, const calc_run_outcome *o);

/** A header and one row of CSV. */
void calc_run_write_csv(calc_output *out, const calc_run_outcome *o);

/** A header and one row of CSV per stage. */
void calc_run_write_stages(calc_output *out, const calc_run_outcome *o);

/** Which ranks talk to which, as JSON. */
void calc_run_write_peers(calc_output *out, const calc_run_outcome *o);

/** A page of HTML with everything, layers and stages too.
 *  @param timeline  of the layout
 *  @param argument  APP SYS EXE as they were given */
void calc_run_write_page(calc_output *out, const calc_run_outcome *o,
                         const calc_page_timeline *timeline,
                         const char *const argument[CALC_INPUTS]);

/** Free what it owns; fine on {0}. */
void calc_run_outcome_free(calc_run_outcome *o);

#endif
