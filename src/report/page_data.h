/** @file page_data.h  The files of which a page is made, as the build put them into the program. */
#ifndef CALC_REPORT_PAGE_DATA_H
#define CALC_REPORT_PAGE_DATA_H

#include <stddef.h>

typedef struct calc_page_data {
    const char *bytes;
    size_t length;
} calc_page_data;

extern const calc_page_data calc_page_head;   /**< page.html: until the style */
extern const calc_page_data calc_page_style;  /**< page.css */
extern const calc_page_data calc_page_body;   /**< body.html: what stands still */
extern const calc_page_data calc_page_charts; /**< D3; empty: it was not there */
/* common.js and figures.js, which all pages share. */
extern const calc_page_data calc_page_common, calc_page_figures;
extern const calc_page_data calc_page_changes; /**< changes.js: of runs and sweeps */
/* Of a run: run_timeline.js, run_pipeline.js, run_operators.js, run_serving.js. */
extern const calc_page_data calc_page_run_timeline, calc_page_pipeline, calc_page_operators,
    calc_page_serving;
extern const calc_page_data calc_page_plan_layers, calc_page_plan; /**< before those of a run */
/* Of a sweep: sweep_data.js, sweep_view.js, sweep_scatter.js, sweep_table.js. */
extern const calc_page_data calc_page_sweep_data, calc_page_view, calc_page_scatter,
    calc_page_layouts;
/* What begins to draw, last: run.js, sweep.js, validate.js, tune.js. */
extern const calc_page_data calc_page_run, calc_page_sweep, calc_page_validate, calc_page_tune;

#endif
