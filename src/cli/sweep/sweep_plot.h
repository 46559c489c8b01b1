/** @file sweep_plot.h  Draws the results of a sweep in characters: the front, or the best of each
 *  group, and the parts of the best layouts' steps. */
#ifndef CALC_CLI_SWEEP_SWEEP_PLOT_H
#define CALC_CLI_SWEEP_SWEEP_PLOT_H

#include "cli/draw/human.h"
#include "plan/sweep_found.h"

/** Write both drawings. Numbers beside the points are those of the tables of
 *  calc_sweep_table_found(). Nothing is drawn if nothing was found.
 *  @param columns  width of the drawing
 *  @return CALC_OK, or CALC_ERR_NOMEM with an error */
CALC_MUST_USE calc_status calc_sweep_plot_write(calc_output *out, const calc_paint *paint,
                                                const calc_sweep_study *study,
                                                const calc_sweep_result *result, int columns,
                                                calc_errors *errors);

#endif
