/** @file sweep_watch.h  Handles progress on standard error, Ctrl-C and the time limit while a sweep
 *  runs. */
#ifndef CALC_CLI_SWEEP_SWEEP_WATCH_H
#define CALC_CLI_SWEEP_SWEEP_WATCH_H

#include <signal.h>
#include <stdbool.h>

#include "sweep.h"

/** How progress is shown. */
typedef enum calc_sweep_show {
    CALC_SWEEP_SHOW_NOTHING,
    CALC_SWEEP_SHOW_BAR,  /**< one line, updated in place */
    CALC_SWEEP_SHOW_PLAIN /**< a new line now and then */
} calc_sweep_show;

typedef struct calc_sweep_watch {
    calc_sweep_show show;
    double limit_s; /**< infinity: no limit */
    double start_s, shown_s;
    double share;     /**< share of the work done */
    bool interrupted; /**< by Ctrl-C or SIGTERM */
    bool timed_out;
    sigset_t signals, mask; /**< signals watched; signals blocked before */
} calc_sweep_watch;

/** Begin to watch. From now on Ctrl-C and SIGTERM stay pending until the sweep asks.
 *  @param how  "auto": a bar if standard error is a terminal; "plain"; "none" */
void calc_sweep_watch_begin(calc_sweep_watch *watch, const char *how, double limit_s);

/** calc_sweep_options.progress. @param watch  a calc_sweep_watch */
bool calc_sweep_watch_progress(void *watch, const calc_sweep_progress *progress);

/** Restore the terminal and the signals. */
void calc_sweep_watch_end(calc_sweep_watch *watch);

#endif
