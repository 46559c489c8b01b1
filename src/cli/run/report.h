/** @file report.h  The summary of one run, for people: what runs where, how long a step takes and
 * on what, how full the memories are. */
#ifndef CALC_CLI_RUN_REPORT_H
#define CALC_CLI_RUN_REPORT_H

#include "cli/draw/paint.h"
#include "cli/shell/inputs.h"

/** What the summary shows; borrows everything. */
typedef struct calc_report {
    const calc_inputs *inputs;
    const calc_stats *stats;
    const calc_reason *reason; /**< why it is infeasible */
    size_t reason_count;
    const calc_layer_stats *layer; /**< shown if there are any */
    size_t layer_count;
    const calc_stage_stats *stage; /**< all stages; none: not known */
    size_t stage_count;
    calc_compat compat;               /**< rules of Calculon's that apply */
    const struct calc_run_band *band; /**< NULL: not asked for */
    double tokens;           /**< of the training whose time and price are wanted; 0: none */
    const char *tokens_text; /**< as it was given: "15T" */
    calc_paint paint;
} calc_report;

/** Write the title of a section, after an empty line. */
void calc_report_title(calc_output *out, const calc_report *report, const char *title);

/** Whether two halves do not fit beside each other. */
bool calc_report_is_narrow(void);

/** Write one half of a row of numbers, without the end of the line; the right one goes below the
 *  left one where it is narrow. */
void calc_report_half(calc_output *out, bool right, const char *label, const char *value);

/** Write the summary, for 80 columns or those that there are, but for its longest lines. */
void calc_report_write(calc_output *out, const calc_report *report);

#endif
