/** @file validate_write.h  Writes predictions beside measured runs as JSON, CSV and a page. */
#ifndef CALC_CLI_VALIDATE_VALIDATE_WRITE_H
#define CALC_CLI_VALIDATE_VALIDATE_WRITE_H

#include "cli/validate/validate_table.h"
#include "io/output.h"

/** Write the same page from JSON that was written before. */
void calc_validate_write_page_of(calc_output *out, const calc_text *json);

#endif
