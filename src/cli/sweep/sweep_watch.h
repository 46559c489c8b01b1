/** @file sweep_watch.h  What happens while a sweep runs: progress on standard error, Ctrl-C, and
 *  the time limit. */
#ifndef CALC_CLI_SWEEP_SWEEP_WATCH_H
#define CALC_CLI_SWEEP_SWEEP_WATCH_H

#include <signal.h>
#include <stdbool.h>

#include "sweep.h"

/** How progress is shown. */
typedef enum calc_sweep_show {
    CALC_SWEEP_SHOW_NOTHING,
    CALC_SWEEP_SHOW_BAR,  /**< one line that changes */
    CALC_SWEEP_SHOW_PLAIN /**< a line now and then */
} calc_sweep_show;

typedef struct calc_sweep_watch {
    calc_sweep_show show;
    double limit_s; /**< infinity: none */
    double start_s, shown_s;
    double share;     /**< of the work that is done */
    bool interrupted; /**< by Ctrl-C or SIGTERM */
    bool timed_out;
    sigset_t signals, mask; /**< those watched; those blocked before */
} calc_sweep_watch;

/** Begin to watch. From now on Ctrl-C and SIGTERM wait until the sweep asks.
 *  @param how  "auto": a bar if standard error is a terminal; "plain"; "none" */
void calc_sweep_watch_begin(calc_sweep_watch *watch, const char *how, double limit_s);

/** calc_sweep_options.progress. @param watch  a calc_sweep_watch */
bool calc_sweep_watch_progress(void *watch, const calc_sweep_progress *progress);

/** Leave the terminal and the signals as they were. */
void calc_sweep_watch_end(calc_sweep_watch *watch);

#endif
