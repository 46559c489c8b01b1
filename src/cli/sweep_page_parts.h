/** @file sweep_page_parts.h  What a page of a sweep says of a layout, wherever the layout comes
 *  from. */
#ifndef CALC_CLI_SWEEP_PAGE_PARTS_H
#define CALC_CLI_SWEEP_PAGE_PARTS_H

#include "cli/sweep_cloud.h"
#include "io/output.h"

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

/** The statistics of a layout as a JSON object. */
void calc_sweep_page_stats(calc_output *out, const calc_sweep_page_columns *c,
                           const calc_stats *stats);

/** The end of a JSON object that has been begun: layout, statistics, parts of time and memory.
 *  @param extended  as for calc_breakdown_write_memory() */
void calc_sweep_page_layout(calc_output *out, const calc_sweep_page_columns *c,
                            const calc_exec *exec, const calc_stats *stats, bool extended);

/** The members "axes" and "metrics" of the cloud: fields and statistics that are not the same for
 *  all points.
 *  @param shown  values written of each: cloud->count, or 0 */
void calc_sweep_page_points(calc_output *out, const calc_sweep_page_columns *c,
                            const calc_sweep_cloud *cloud, size_t shown);

#endif
