/** @file report.h  Writes the summary of one run: the layout, the time of a step and its parts, and
 *  the use of the memories. */
#ifndef CALC_CLI_RUN_REPORT_H
#define CALC_CLI_RUN_REPORT_H

#include "cli/draw/human.h"
#include "cli/shell/inputs.h"

/** Contents of the summary; borrows everything. */
typedef struct calc_report {
    const calc_inputs *inputs;
    const calc_stats *stats;
    const calc_reason *reason; /**< reasons of infeasibility */
    size_t reason_count;
    const calc_layer_stats *layer; /**< shown if there are any */
    size_t layer_count;
    const calc_stage_stats *stage; /**< all stages; none: not listed */
    size_t stage_count;
    calc_compat compat;               /**< Calculon's rules in use */
    const struct calc_run_band *band; /**< NULL: not asked for */
    double tokens;           /**< of the training whose time and price are asked for; 0: none */
    const char *tokens_text; /**< the same as typed: "15T" */
    calc_paint paint;
} calc_report;

/** Write the title of a section, after an empty line. */
void calc_report_title(calc_output *out, const calc_report *report, const char *title);

/** Write the summary in 80 columns or the width of the terminal, except its longest lines. */
void calc_report_write(calc_output *out, const calc_report *report);

/* Writes the part of the summary about the layout: parallel groups and the
 *  networks they span, blocks of stages, attention, number formats and memory savings. */

/** Write it. Fields of modern models show only if the layout has any. */
void calc_report_layout_write(calc_output *out, const calc_report *report);

#endif
