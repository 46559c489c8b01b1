/** @file sweep_page_cloud.h  Writes the points of a sweep's page: columns of statistics and of
 *  choices. */
#ifndef CALC_CLI_SWEEP_SWEEP_PAGE_CLOUD_H
#define CALC_CLI_SWEEP_SWEEP_PAGE_CLOUD_H

#include "cli/sweep/sweep_order.h"
#include "io/json_put.h"
#include "plan/sweep_cloud.h"
#include "validate/residuals.h"

enum { CALC_SWEEP_PAGE_COLUMNS = 40 };

/** Statistics of layouts on the page: the page's own and those that the study names, how sure the
 *  order is, and how sure the layouts fit. */
typedef struct calc_sweep_page_columns {
    calc_sweep_order order;
    const calc_residuals *measured; /**< residuals for predicting what fits; NULL: not known */
    size_t count;
    const calc_field *field[CALC_SWEEP_PAGE_COLUMNS];
} calc_sweep_page_columns;

/** @param best      of the sweep; NULL: there is none
 *  @param measured  borrowed */
calc_sweep_page_columns calc_sweep_page_columns_of(const calc_sweep_study *study,
                                                   const calc_found *best,
                                                   const calc_residuals *measured);

/** Write the statistics of a layout as an object. */
void calc_sweep_page_put_stats(calc_put *put, const char *key,
                               const calc_sweep_page_columns *columns, const calc_stats *stats);

/** Write the member "statistics": the page's own, by name. */
void calc_sweep_page_put_names(calc_put *put);

/** Write the member "cloud": the number of points, the fields in which all agree, and columns of
 *  those in which they differ; among these "sure", calc_sweep_order_sure(), where it is known. */
void calc_sweep_page_put_cloud(calc_put *put, const calc_sweep_page_columns *columns,
                               const calc_sweep_cloud *cloud);

/** Write the member "axes": every field of an execution and of its inference that is a number or a
 *  choice and differs among the points, with its values; without a cloud (NULL) all fields, without
 *  values. */
void calc_sweep_page_put_axes(calc_put *put, const calc_sweep_cloud *cloud);

#endif
