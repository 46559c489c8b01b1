/** @file validate_page.h  Measured runs beside predictions, as a page for a browser. */
#ifndef CALC_CLI_VALIDATE_VALIDATE_PAGE_H
#define CALC_CLI_VALIDATE_VALIDATE_PAGE_H

#include "cli/validate/validation.h"
#include "io/output.h"

/** Write the page of what calc_validate_write_json() writes. */
void calc_validate_page_write(calc_output *out, const calc_validation *validation);

/** The same page of what it wrote before. */
void calc_validate_page_write_written(calc_output *out, const calc_text *json);

#endif
