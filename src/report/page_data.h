/** @file page_data.h  The source files of a page, embedded by the build. */
#ifndef CALC_REPORT_PAGE_DATA_H
#define CALC_REPORT_PAGE_DATA_H

#include <stddef.h>

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
/* Last, the script that starts drawing: run.js, sweep.js, validate.js, tune.js. */
extern const calc_page_data calc_page_run, calc_page_sweep, calc_page_validate, calc_page_tune;

#endif
