/** @file validate_write.h  Writes predictions beside measured runs as JSON, CSV and a page. */
#ifndef CALC_CLI_VALIDATE_VALIDATE_WRITE_H
#define CALC_CLI_VALIDATE_VALIDATE_WRITE_H

#include "cli/validate/validation.h"
#include "io/output.h"

/** Write {"rows": [...], "groups": [...], "worst": [...], "features": [...], "peers": [...]}, times
 * in seconds and memory in bytes. `calc schema validation` describes it. */
void calc_validate_write_json(calc_output *out, const calc_validation *validation);

/** Write a header and one row per measurement, as calc_baseline_read() reads them. */
void calc_validate_write_csv(calc_output *out, const calc_results *results);

/** Write a page for a browser with that JSON. */
void calc_validate_write_page(calc_output *out, const calc_validation *validation);

/** Write the same page from JSON that was written before. */
void calc_validate_write_page_of(calc_output *out, const calc_text *json);

#endif
