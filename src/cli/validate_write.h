/** @file validate_write.h  Predictions beside measured runs as JSON and CSV. */
#ifndef CALC_CLI_VALIDATE_WRITE_H
#define CALC_CLI_VALIDATE_WRITE_H

#include "io/output.h"
#include "validate/groups.h"

/** Write {"rows": [...], "groups": [...], "worst": [...]}, times in seconds and memory in bytes. */
void calc_validate_write_json(calc_output *out, const calc_results *results,
                              const calc_groups *groups, calc_systems *systems);

/** Write a header and one row per measurement: what calc_baseline_read() reads. */
void calc_validate_write_csv(calc_output *out, const calc_results *results);

#endif
