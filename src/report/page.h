/** @file page.h  Writes a self-contained HTML file: data as JSON, and the scripts that draw it. The
 *  page opens from disk and loads nothing from a network; its policy forbids that. */
#ifndef CALC_REPORT_PAGE_H
#define CALC_REPORT_PAGE_H

#include <stddef.h>

#include "calc.h"
#include "io/json_put.h"

typedef enum calc_page {
    CALC_PAGE_RUN,
    CALC_PAGE_PLAN, /**< and the run of its best layout */
    CALC_PAGE_SWEEP,
    CALC_PAGE_VALIDATE,
    CALC_PAGE_TUNE,
    CALC_PAGE_RL
} calc_page;

/** Checks that this build can make pages, that is, has found the library of charts.
 *  @return CALC_OK, or CALC_ERR_UNSUPPORTED with an error that says how to get it */
CALC_MUST_USE calc_status calc_page_check(calc_errors *errors);

/** Writes a page up to its data: an open object that contains its kind and takes more members. Any
 *  text may follow, because `<` is escaped. */
calc_put calc_page_begin(calc_output *out, calc_page page);

/** Closes the object and writes the rest of the page. */
void calc_page_end(calc_put *put, calc_page page);

typedef struct calc_page_data {
    const char *bytes;
    size_t length;
} calc_page_data;

extern const calc_page_data calc_page_head;   /**< page.html up to the style */
extern const calc_page_data calc_page_style;  /**< page.css */
extern const calc_page_data calc_page_body;   /**< body.html: the static part */
extern const calc_page_data calc_page_charts; /**< D3; empty if it was not found */
/* common.js and figures.js, which all pages share. */
extern const calc_page_data calc_page_common, calc_page_figures;
extern const calc_page_data calc_page_changes; /**< changes.js: for runs and sweeps */
/* For a run: run_timeline.js, run_pipeline.js, run_operators.js, run_serving.js. */
extern const calc_page_data calc_page_run_timeline, calc_page_pipeline, calc_page_operators,
    calc_page_serving;
extern const calc_page_data calc_page_plan_layers, calc_page_plan; /**< before the files of a run */
/* For a sweep: sweep_data.js, sweep_view.js, sweep_scatter.js, sweep_table.js. */
extern const calc_page_data calc_page_sweep_data, calc_page_view, calc_page_scatter,
    calc_page_layouts;
/* Last, the script that starts drawing: run.js, sweep.js, validate.js, tune.js, rl.js. */
extern const calc_page_data calc_page_run, calc_page_sweep, calc_page_validate, calc_page_tune,
    calc_page_rl;

#endif
