/** @file report_layout.h  Writes the part of the summary about the layout: parallel groups and the
 *  networks they span, blocks of stages, attention, number formats and memory savings. */
#ifndef CALC_CLI_RUN_REPORT_LAYOUT_H
#define CALC_CLI_RUN_REPORT_LAYOUT_H

#include "cli/run/report.h"

/** Write it. Fields of modern models show only if the layout has any. */
void calc_report_layout_write(calc_output *out, const calc_report *report);

#endif
