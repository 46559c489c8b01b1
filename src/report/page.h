/** @file page.h  One self-contained HTML file: data as JSON, and the scripts that draw it. It opens
 *  from disk, needs no network and forbids itself any. */
#ifndef CALC_REPORT_PAGE_H
#define CALC_REPORT_PAGE_H

#include "calc.h"
#include "io/json_put.h"

typedef enum calc_page {
    CALC_PAGE_RUN,
    CALC_PAGE_PLAN, /**< and the run of its best layout */
    CALC_PAGE_SWEEP,
    CALC_PAGE_VALIDATE,
    CALC_PAGE_TUNE
} calc_page;

/** Whether this build can make pages: whether it found the library of charts.
 *  @return CALC_OK, or CALC_ERR_UNSUPPORTED with an error that says how to get it */
CALC_MUST_USE calc_status calc_page_check(calc_errors *errors);

/** Write a page up to its data: an object that says its kind, and is open for more members. What is
 *  written then may hold anything, as `<` is escaped on the way. */
calc_put calc_page_begin(calc_output *out, calc_page page);

/** Close the object and write what follows it. */
void calc_page_end(calc_put *put, calc_page page);

#endif
