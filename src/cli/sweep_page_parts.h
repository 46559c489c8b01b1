/** @file sweep_page_parts.h  What a page of a sweep says of a layout, wherever the layout comes
 *  from. */
#ifndef CALC_CLI_SWEEP_PAGE_PARTS_H
#define CALC_CLI_SWEEP_PAGE_PARTS_H

#include "cli/sweep_cloud.h"
#include "io/json_put.h"

enum { CALC_SWEEP_PAGE_COLUMNS = 24 };

/** Statistics that the page shows. */
typedef struct calc_sweep_page_columns {
    size_t count;
    const calc_field *field[CALC_SWEEP_PAGE_COLUMNS];
} calc_sweep_page_columns;

/** Those that every page shows: time, memory, communication. */
calc_sweep_page_columns calc_sweep_page_usual_columns(void);

/** Add one, if it is not there yet; of at most 5 that a sweep names itself. */
void calc_sweep_page_column(calc_sweep_page_columns *c, const calc_field *field);

/** Of how many layouts a list is shown, evenly spread: 400 of all groups together, but 20 of each.
 */
size_t calc_sweep_page_most_rows(size_t groups);

/** The statistics of a layout as an object. */
void calc_sweep_page_put_stats(calc_put *put, const char *key, const calc_sweep_page_columns *c,
                               const calc_stats *stats);

/** A layout, as members of the object that is open: execution, statistics, parts of time and
 *  memory.
 *  @param extended  as for calc_breakdown_write_memory() */
void calc_sweep_page_put_layout(calc_put *put, const calc_sweep_page_columns *c,
                                const calc_exec *exec, const calc_stats *stats, bool extended);

/** Open the object of a part of the space, with what its layouts have in common (0: any) and what
 *  became of them. */
void calc_sweep_page_open_cell(calc_put *put, int64_t tensor_par, int64_t pipeline_par,
                               int64_t num_procs, const calc_sweep_counts *counts);

/** The members "axes" and "metrics" of the cloud: fields and statistics that are not the same for
 *  all points.
 *  @param shown  values written of each: cloud->count, or 0 */
void calc_sweep_page_put_points(calc_put *put, const calc_sweep_page_columns *c,
                                const calc_sweep_cloud *cloud, size_t shown);

#endif
