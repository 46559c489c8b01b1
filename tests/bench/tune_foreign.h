/** @file tune_foreign.h  Truths that are not drawn from the prior of calc tune: calc's prediction
 * of a biased machine by other rules, times factors that all layouts with one value of a field
 * share. */
#ifndef CALC_TESTS_TUNE_FOREIGN_H
#define CALC_TESTS_TUNE_FOREIGN_H

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/hash.h"
#include "bench/tune_replay.h"
#include "cli/tune/tune_task.h"
#include "gauss/process.h"
#include "spec/compat.h"

/** Standard deviations of the truth's logarithms. */
#define TUNE_FOREIGN_FACTOR 0.08 /**< of the factor of one value of a field */
#define TUNE_FOREIGN_OWN 0.01    /**< of one layout alone */

enum { TUNE_FOREIGN_MOST = 20 };

/** The candidates of `calc tune` with these words. Owns the task; must stay where it is. */
typedef struct tune_space {
    calc_args args;
    calc_tune_task task;
    double *step_s, *memory_bytes; /**< the truth of tune_foreign_draw() */
} tune_space;

static bool tune_space_open(tune_space *s, size_t count, char *const *words, calc_errors *errors)
{
    calc_sweep_watch watch;
    *s = (tune_space){0};
    if (calc_opt_parse(&s->args, &calc_cmd_tune, count, words) != CALC_EXIT_OK ||
        calc_tune_task_load(&s->task, &s->args, errors) != CALC_OK) {
        return false;
    }
    calc_sweep_watch_begin(&watch, "none", HUGE_VAL, true);
    calc_status status = calc_tune_task_sweep(&s->task, &watch, errors);
    calc_sweep_watch_end(&watch);
    s->step_s = calloc(s->task.layouts.count + 1, sizeof *s->step_s);
    s->memory_bytes = calloc(s->task.layouts.count + 1, sizeof *s->memory_bytes);
    return status == CALC_OK && s->step_s && s->memory_bytes;
}

static void tune_space_close(tune_space *s)
{
    free(s->step_s);
    free(s->memory_bytes);
    calc_tune_task_free(&s->task);
    calc_opt_free(&s->args);
}

static double tune_between(calc_rng *rng, double low, double high)
{
    return low + (high - low) * calc_rng_real(rng);
}

/* The logarithm of the factor of a value: normal, or with the tails of Student's t with three
 * degrees of freedom. */
static double tune_factor(uint64_t seed, uint64_t field, double value, bool heavy)
{
    double draw[4];
    calc_rng rng;
    calc_rng_init(&rng, seed, field << 32 | (uint64_t)value);
    calc_normal_draw(&rng, draw, 4);
    double square = draw[1] * draw[1] + draw[2] * draw[2] + draw[3] * draw[3];
    return TUNE_FOREIGN_FACTOR * draw[0] * (heavy ? 1 / sqrt(square) : 1);
}

/* The machine of a seed. @return memory that it has, as a share of what calc thinks */
static double tune_biased(calc_system *system, calc_rng *rng)
{
    for (int i = 0; i < system->networks_count; i++) {
        system->networks[i].efficiency *= tune_between(rng, 0.45, 0.95);
    }
    double matrix = tune_between(rng, 0.85, 1.03);
    for (int i = 0; i < CALC_DATATYPE_COUNT; i++) {
        system->chip.matrix[i].flop_per_s *= matrix;
    }
    system->chip.attention.bw_efficiency *= tune_between(rng, 0.7, 1.1);
    return tune_between(rng, 0.94, 1.02);
}

/** Fill the truth of a seed. Layouts that even stages cannot run keep their own.
 *  @param heavy  factors with heavy tails */
static bool tune_foreign_draw(tune_space *s, uint64_t seed, bool heavy, calc_errors *errors)
{
    const calc_tune_layouts *l = &s->task.layouts;
    calc_system system = s->task.system;
    calc_compat compat, rest;
    calc_rng rng;
    calc_rng_init(&rng, seed, 77);
    double memory = tune_biased(&system, &rng);
    system.chip.mem1.capacity_bytes *= 100;
    if (calc_compat_read("even-stages,mean-in-flight,optimizer-roofline", &compat, errors) !=
            CALC_OK ||
        calc_compat_read("mean-in-flight,optimizer-roofline", &rest, errors) != CALC_OK) {
        return false;
    }
    for (size_t i = 0; i < l->count; i++) {
        const calc_exec exec = calc_tune_layouts_exec(l, i);
        calc_stats stats;
        double own;
        bool fine = calc_run(&s->task.app, &system, &exec, compat, &stats) == CALC_VERDICT_OK ||
                    calc_run(&s->task.app, &system, &exec, rest, &stats) == CALC_VERDICT_OK;
        calc_rng_init(&rng, seed, l->hash[i]);
        calc_normal_draw(&rng, &own, 1);
        double factor = tune_factor(seed, 1, (double)exec.strategy.tensor_par, heavy) +
                        tune_factor(seed, 2, (double)exec.pipeline_par, heavy) +
                        tune_factor(seed, 3, (double)exec.microbatch_size, heavy) +
                        TUNE_FOREIGN_OWN * own;
        s->step_s[i] = fine ? stats.total_time * exp(factor) : (double)INFINITY;
        s->memory_bytes[i] = fine ? stats.proc_mem_tier1_cap_req / memory : (double)INFINITY;
    }
    return true;
}

/* ---- The study ------------------------------------------------------------------------------- */

/** What happened with the truths of a space. */
typedef struct tune_foreign {
    const tune_space *space;
    double seen[TUNE_FOREIGN_MOST]; /**< layouts that were not measured, after so many that were */
    double inside[TUNE_FOREIGN_MOST]; /**< those of them whose time is from P5 to P95 */
} tune_foreign;

static void tune_foreign_watch(void *context, const calc_tune_decision *d, size_t measured)
{
    tune_foreign *f = context;
    for (size_t i = 0; i < f->space->task.layouts.count; i++) {
        const calc_tune_outlook *o = &d->outlook[i];
        double time_s = f->space->step_s[i];
        if (!o->measured && o->fits > 0.5 && isfinite(time_s)) {
            f->seen[measured]++;
            f->inside[measured] += time_s >= o->p5_s && time_s <= o->p95_s;
        }
    }
}

/** Print what comes of tuning each of the truths `from` to `to` of a space: the first stop, if it
 *  stops within TUNE_FOREIGN_MOST measurements, and the regret after each. */
static bool tune_foreign_study(const char *name, size_t count, char *const *words, uint64_t from,
                               uint64_t to, bool heavy, calc_errors *errors)
{
    static const calc_tune_chooser choosers[] = {CALC_TUNE_CHOOSER_THOMPSON,
                                                 CALC_TUNE_CHOOSER_ORDER};
    static tune_space s;
    tune_foreign f = {.space = &s};
    bool fine = tune_space_open(&s, count, words, errors);
    for (uint64_t seed = from; fine && seed <= to; seed++) {
        fine = tune_foreign_draw(&s, seed, heavy, errors);
        for (int c = 0; fine && c < 2; c++) {
            calc_tune_options options = s.task.options;
            tune_replay r;
            options.chooser = choosers[c];
            options.seed = seed;
            fine = tune_replay_play(&r, s.task.layouts.candidate, s.step_s, s.memory_bytes,
                                    s.task.layouts.count, TUNE_FOREIGN_MOST, false, &options,
                                    c == 0 ? tune_foreign_watch : NULL, &f, errors) == CALC_OK;
            printf("foreign,%s,%zu,%d,%d,%s,%d", name, s.task.layouts.count, (int)seed, heavy,
                   calc_tune_chooser_words[choosers[c]],
                   r.stopped == SIZE_MAX ? -1 : (int)r.stopped);
            for (size_t i = 0; i < r.measured; i++) {
                printf(",%.5f", r.regret[i]);
            }
            printf("\n");
            fflush(stdout);
        }
    }
    for (int i = 0; i < TUNE_FOREIGN_MOST && f.seen[i] > 0; i++) {
        printf("inside,%s,%d,%.0f,%.4f\n", name, i, f.seen[i], f.inside[i] / f.seen[i]);
    }
    tune_space_close(&s);
    return fine;
}

#endif
