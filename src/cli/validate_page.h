/** @file validate_page.h  Measured runs beside predictions, as a page for a browser. */
#ifndef CALC_CLI_VALIDATE_PAGE_H
#define CALC_CLI_VALIDATE_PAGE_H

#include "io/output.h"
#include "validate/groups.h"

/** Write the page: what calc_validate_write_json() writes, and where the time of the worst rows
 *  goes. */
void calc_validate_page_write(calc_output *out, const calc_results *results,
                              const calc_groups *groups, calc_systems *systems);

#endif
