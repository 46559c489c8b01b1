/** @file plot.h  The pipeline of a step as a drawing of characters: a row per stage, time to the
 *  right. */
#ifndef CALC_CLI_RUN_PLOT_H
#define CALC_CLI_RUN_PLOT_H

#include "cli/run/report.h"
#include "cli/run/simulation.h"

enum { CALC_PLOT_MAX_ROWS = 64 /**< of more stages every second, third ... is drawn */ };

/** What fills a column: X(NAME, words, block character, letter, colour). Without UTF-8
 *  the letter is drawn. */
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

/** What happens in a column, as shares of its time. */
typedef struct calc_plot_share {
    double of[CALC_PLOT_KINDS];
} calc_plot_share;

/** Choose what is drawn for each column of a row, so that over a stretch of columns each kind shows
 *  as often as its share of the time; a column only shows what happens in it.
 *  @param share  [columns] each adds up to 1
 *  @param kind   [columns] */
void calc_plot_choose(const calc_plot_share *share, int columns, calc_plot_kind *kind);

/** Write the drawing with its legend, calc_paint_columns() wide.
 *  @return CALC_OK or CALC_ERR_NOMEM */
CALC_MUST_USE calc_status calc_plot_write(calc_output *out, const calc_report *report,
                                          const calc_simulation *simulation, calc_errors *errors);

#endif
