/** @file report_inference.h  The part of the summary about serving: latencies, throughput and the
 *  cache. */
#ifndef CALC_CLI_RUN_REPORT_INFERENCE_H
#define CALC_CLI_RUN_REPORT_INFERENCE_H

#include "io/output.h"

/** Title of the section: "Serving: decode, prompts of 4,500 tokens, 978 generated". @return title
 */
char *calc_report_inference_title(const calc_exec *exec, const calc_app *app, char *title,
                                  size_t size);

/** Write the rows that have at least one known number. */
void calc_report_inference_write(calc_output *out, const calc_stats *stats);

#endif
