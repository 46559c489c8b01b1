/** @file sweep_watch.h  Handles progress on standard error, Ctrl-C and the time limit while a sweep
 *  runs. */
#ifndef CALC_CLI_SWEEP_SWEEP_WATCH_H
#define CALC_CLI_SWEEP_SWEEP_WATCH_H

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
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
    double share;            /**< share of the work done */
    atomic_bool interrupted; /**< by Ctrl-C or SIGTERM */
    bool timed_out;
    sigset_t signals, mask; /**< signals watched; signals blocked before */
    pthread_t guard;        /**< waits for one of them */
    bool is_guarded;
    atomic_bool ended;
    bool alone; /**< no other process waits for what this one has */
} calc_sweep_watch;

/** Begin to watch. From now on Ctrl-C and SIGTERM are told to the work that asks by
 *  calc_sweep_watch_progress(), which ends with what it has. A second one ends calc at once, and so
 *  does work that has not ended CALC_SWEEP_WATCH_GRACE_S seconds after the first. *watch must stay
 *  where it is until calc_sweep_watch_end().
 *  @param how    "auto": a bar if standard error is a terminal; "plain"; "none"
 *  @param alone  false: one of several ranks, which end together, however long that takes */
void calc_sweep_watch_begin(calc_sweep_watch *watch, const char *how, double limit_s, bool alone);

enum { CALC_SWEEP_WATCH_GRACE_S = 5 };

/** calc_sweep_options.progress. @param watch  a calc_sweep_watch */
bool calc_sweep_watch_progress(void *watch, const calc_sweep_progress *progress);

/** Restore the terminal and the signals. */
void calc_sweep_watch_end(calc_sweep_watch *watch);

#endif
