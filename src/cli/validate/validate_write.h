/** @file validate_write.h  Predictions beside measured runs as JSON and CSV. */
#ifndef CALC_CLI_VALIDATE_VALIDATE_WRITE_H
#define CALC_CLI_VALIDATE_VALIDATE_WRITE_H

#include "cli/validate/validation.h"
#include "io/output.h"

/** Write {"rows": [...], "groups": [...], "worst": [...], "features": [...], "peers": [...]}, times
 * in seconds and memory in bytes. `calc schema validation` describes it. */
void calc_validate_write_json(calc_output *out, const calc_validation *validation);

/** Write a header and one row per measurement: what calc_baseline_read() reads. */
void calc_validate_write_csv(calc_output *out, const calc_results *results);

/** A page for a browser with that JSON. */
void calc_validate_write_page(calc_output *out, const calc_validation *validation);

/** The same page of JSON that was written before. */
void calc_validate_write_page_of(calc_output *out, const calc_text *json);

#endif
