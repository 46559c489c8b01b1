/** @file plot.h  Draws the pipeline of a step in characters: one row per stage, time to the
 *  right. */
#ifndef CALC_CLI_RUN_PLOT_H
#define CALC_CLI_RUN_PLOT_H

#include "cli/run/report.h"
#include "cli/run/simulation.h"

enum { CALC_PLOT_MAX_ROWS = 64 /**< with more stages, only every second, third, ... is drawn */ };

/** Kinds of time in a column: X(NAME, words, block character, letter, colour). The letter is drawn
 *  where there is no UTF-8. */
#define CALC_PLOT_KIND_LIST(X)                                                                     \
    X(FORWARD, "forward", "░", "F", CALC_PAINT_GREEN)                                              \
    X(BACKWARD, "backward", "█", "B", CALC_PAINT_BLUE)                                             \
    X(WGRAD, "weight gradient", "▒", "W", CALC_PAINT_MAGENTA)                                      \
    X(PAIR, "both at once", "▓", "X", CALC_PAINT_YELLOW)                                           \
    X(IDLE, "idle", "·", ".", NULL)

#define CALC_PLOT_KIND_NAME(name, text, block, letter, color) CALC_PLOT_##name,
typedef enum calc_plot_kind {
    CALC_PLOT_KIND_LIST(CALC_PLOT_KIND_NAME) CALC_PLOT_KINDS
} calc_plot_kind;
#undef CALC_PLOT_KIND_NAME

/** Shares of a column's time by kind. */
typedef struct calc_plot_share {
    double of[CALC_PLOT_KINDS];
} calc_plot_share;

/** Choose the kind drawn in each column of a row. Over a stretch of columns each kind appears as
 *  often as its share of the time; a column only shows a kind that occurs in it.
 *  @param share  [columns] each adds up to 1
 *  @param kind   [columns] */
void calc_plot_choose(const calc_plot_share *share, int columns, calc_plot_kind *kind);

/** Write the drawing with its legend, calc_paint_columns() wide.
 *  @return CALC_OK or CALC_ERR_NOMEM */
CALC_MUST_USE calc_status calc_plot_write(calc_output *out, const calc_report *report,
                                          const calc_simulation *simulation, calc_errors *errors);

#endif
