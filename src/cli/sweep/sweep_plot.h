/** @file sweep_plot.h  What a sweep found as a drawing of characters: the front, or the best of
 *  each group, and what the steps of the best are spent on. */
#ifndef CALC_CLI_SWEEP_SWEEP_PLOT_H
#define CALC_CLI_SWEEP_SWEEP_PLOT_H

#include "cli/draw/paint.h"
#include "plan/sweep_found.h"

/** Write both. The numbers beside the points are those of the tables of calc_sweep_table_found().
 *  Nothing if nothing was found.
 *  @param columns  of the drawing
 *  @return CALC_OK, or CALC_ERR_NOMEM with an error */
CALC_MUST_USE calc_status calc_sweep_plot_write(calc_output *out, const calc_paint *paint,
                                                const calc_sweep_study *study,
                                                const calc_sweep_result *result, int columns,
                                                calc_errors *errors);

#endif
