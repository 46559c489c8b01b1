/** @file report.h  The summary of one run, for people: what runs where, how long a step takes and
 * on what, how full the memories are. 80 columns. */
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
    calc_paint paint;
} calc_report;

/** Write the title of a section, after an empty line. */
void calc_report_title(calc_output *out, const calc_report *report, const char *title);

/** Write the summary. */
void calc_report_write(calc_output *out, const calc_report *report);

#endif
