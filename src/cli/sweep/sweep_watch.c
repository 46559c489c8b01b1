#include "cli/sweep/sweep_watch.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "cli/draw/human.h"

/* Seconds between two updates, and width of the bar in columns. */
#define BAR_INTERVAL_S 0.2
#define PLAIN_INTERVAL_S 5.0
enum { BAR_WIDTH = 24 };

static double now_s(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* A thread: whatever the work does, a second signal ends calc, and so does time. */
static void *guard(void *context)
{
    calc_sweep_watch *watch = context;
    const struct timespec grace = {.tv_sec = CALC_SWEEP_WATCH_GRACE_S};
    int signal;
    if (sigwait(&watch->signals, &signal) == 0 && !atomic_load(&watch->ended)) {
        atomic_store(&watch->interrupted, true);
        if (!watch->alone) {
            sigwait(&watch->signals, &signal);
        } else {
            sigtimedwait(&watch->signals, NULL, &grace);
        }
        if (!atomic_load(&watch->ended)) {
            pthread_sigmask(SIG_UNBLOCK, &watch->signals, NULL);
            raise(signal);
        }
    }
    return NULL;
}

void calc_sweep_watch_begin(calc_sweep_watch *watch, const char *how, double limit_s, bool alone)
{
    bool plain = strcmp(how, "plain") == 0;
    bool bar = strcmp(how, "auto") == 0 && isatty(STDERR_FILENO);
    *watch = (calc_sweep_watch){.show = plain ? CALC_SWEEP_SHOW_PLAIN
                                        : bar ? CALC_SWEEP_SHOW_BAR
                                              : CALC_SWEEP_SHOW_NOTHING,
                                .limit_s = limit_s,
                                .start_s = now_s(),
                                .alone = alone};
    watch->shown_s = watch->start_s;
    /* Blocked signals stay pending; waiting for them needs neither a handler nor a global variable.
     * Threads that start now inherit the mask. */
    sigemptyset(&watch->signals);
    sigaddset(&watch->signals, SIGINT);
    sigaddset(&watch->signals, SIGTERM);
    pthread_sigmask(SIG_BLOCK, &watch->signals, &watch->mask);
    watch->is_guarded = pthread_create(&watch->guard, NULL, guard, watch) == 0;
    if (!watch->is_guarded) { /* then they end calc as they would without a watch */
        pthread_sigmask(SIG_SETMASK, &watch->mask, NULL);
    }
}

static void show(const calc_sweep_watch *watch, const calc_sweep_progress *progress,
                 double elapsed_s)
{
    const calc_sweep_counts *counts = &progress->counts;
    char best[CALC_HUMAN_MAX + 8] = "";
    char seen[CALC_HUMAN_MAX], rate[CALC_HUMAN_MAX], left[CALC_HUMAN_MAX] = "?";
    calc_human_count((double)counts->total, seen);
    calc_human_count(elapsed_s > 0 ? (double)counts->evaluated / elapsed_s : 0, rate);
    if (watch->share > 0) {
        double left_s = elapsed_s * (1 - watch->share) / watch->share;
        left_s < 1     ? snprintf(left, sizeof left, "0 s")
        : left_s < 600 ? snprintf(left, sizeof left, "%.0f s", left_s)
                       : snprintf(left, sizeof left, "%.0f min", left_s / 60);
    }
    if (!isnan(progress->best)) {
        char number[CALC_HUMAN_MAX];
        snprintf(best, sizeof best, "  best %s", calc_human_number(progress->best, number));
    }
    char text[6 * CALC_HUMAN_MAX];
    int length = snprintf(text, sizeof text, "%3.0f %%  %s layouts  %s evaluations/s%s  %s left",
                          100 * watch->share, seen, rate, best, left);
    if (watch->show == CALC_SWEEP_SHOW_BAR) {
        /* A line that fills the terminal would begin another. */
        const int columns = calc_paint_columns() - (int)sizeof "[] ", room = columns - length;
        const int width = room > BAR_WIDTH ? BAR_WIDTH : room > 0 ? room : 0;
        char bar[BAR_WIDTH + 1] = "";
        memset(bar, '.', (size_t)width);
        memset(bar, '#', (size_t)(watch->share * width));
        fprintf(stderr, "\r[%s] %.*s\033[K", bar, columns > 0 ? columns : 0, text);
    } else {
        fprintf(stderr, "%s\n", text);
    }
    fflush(stderr);
}

bool calc_sweep_watch_progress(void *context, const calc_sweep_progress *progress)
{
    calc_sweep_watch *watch = context;
    double at_s = now_s();
    double interval_s = watch->show == CALC_SWEEP_SHOW_BAR ? BAR_INTERVAL_S : PLAIN_INTERVAL_S;
    watch->share = progress->total > 0 ? fmin(progress->done / progress->total, 1) : 0;
    watch->timed_out = at_s - watch->start_s >= watch->limit_s;
    if (watch->show != CALC_SWEEP_SHOW_NOTHING && at_s - watch->shown_s >= interval_s) {
        watch->shown_s = at_s;
        show(watch, progress, at_s - watch->start_s);
    }
    return atomic_load(&watch->interrupted) || watch->timed_out;
}

void calc_sweep_watch_end(calc_sweep_watch *watch)
{
    if (watch->show == CALC_SWEEP_SHOW_BAR && watch->shown_s > watch->start_s) {
        fputs("\r\033[K", stderr);
    }
    if (watch->is_guarded) {
        const struct timespec no_time = {0};
        atomic_store(&watch->ended, true);
        pthread_kill(watch->guard, SIGINT); /* wakes it; the process does not get it */
        pthread_join(watch->guard, NULL);
        while (sigtimedwait(&watch->signals, NULL, &no_time) > 0) {
            /* too late to stop anything */
        }
    }
    pthread_sigmask(SIG_SETMASK, &watch->mask, NULL);
}
