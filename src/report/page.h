/** @file page.h  Writes a self-contained HTML file: data as JSON, and the scripts that draw it. The
 *  page opens from disk and loads nothing from a network; its policy forbids that. */
#ifndef CALC_REPORT_PAGE_H
#define CALC_REPORT_PAGE_H

#include "base/buffer.h"
#include "calc.h"
#include "io/json_put.h"

typedef enum calc_page {
    CALC_PAGE_RUN,
    CALC_PAGE_PLAN, /**< and the run of its best layout */
    CALC_PAGE_SWEEP,
    CALC_PAGE_VALIDATE,
    CALC_PAGE_TUNE,
    CALC_PAGE_RL,
    CALC_PAGE_APP /**< a question, which the page answers as a sweep */
} calc_page;

/** Checks that this build can make pages, that is, has found the library of charts.
 *  @return CALC_OK, or CALC_ERR_UNSUPPORTED with an error that says how to get it */
CALC_MUST_USE calc_status calc_page_check(calc_errors *errors);

/** Checks that this build can make pages that compute.
 *  @return CALC_OK, or CALC_ERR_UNSUPPORTED with an error that says what they need */
CALC_MUST_USE calc_status calc_page_check_live(calc_errors *errors);

/** Writes a page up to its data: an open object that contains its kind and takes more members. Any
 *  text may follow, because `<` is escaped. */
calc_put calc_page_begin(calc_output *out, calc_page page);

/** Closes the object and writes the rest of the page. */
void calc_page_end(calc_put *put, calc_page page);

/** The parts of pages: files of this folder, and D3 as "charts", which is empty if it was not
 * found. Of live pages, empty where the tools to make them were not found: the module, and all
 * models and machines, as gzip in base64. */
extern const calc_embedded calc_page_list[];

#endif
