/** @file report_layout.h  The part of the summary that says how the model is laid out: parallel
 *  groups and the networks they span, blocks of stages, attention, numbers, what saves memory. */
#ifndef CALC_CLI_RUN_REPORT_LAYOUT_H
#define CALC_CLI_RUN_REPORT_LAYOUT_H

#include "cli/run/report.h"

/** Write it. What is said about fields of modern models only shows if there are any. */
void calc_report_layout_write(calc_output *out, const calc_report *report);

#endif
