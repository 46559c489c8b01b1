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
    double memory;                 /**< that it has, as a share of what calc thinks */
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

/** Fill the times of a seed's machine by other rules, without the factors of values. Layouts that
 *  even stages cannot run keep their own. */
static bool tune_foreign_base(tune_space *s, uint64_t seed, calc_errors *errors)
{
    const calc_tune_layouts *l = &s->task.layouts;
    calc_system system = s->task.system;
    calc_compat compat, rest;
    calc_rng rng;
    calc_rng_init(&rng, seed, 77);
    s->memory = tune_biased(&system, &rng);
    system.chip.mem1.capacity_bytes *= 100;
    if (calc_compat_read("even-stages,mean-in-flight,optimizer-roofline", &compat, errors) !=
            CALC_OK ||
        calc_compat_read("mean-in-flight,optimizer-roofline", &rest, errors) != CALC_OK) {
        return false;
    }
    for (size_t i = 0; i < l->count; i++) {
        const calc_exec exec = calc_tune_layouts_exec(l, i);
        calc_stats stats;
        bool fine = calc_run(&s->task.app, &system, &exec, compat, &stats) == CALC_VERDICT_OK ||
                    calc_run(&s->task.app, &system, &exec, rest, &stats) == CALC_VERDICT_OK;
        s->step_s[i] = fine ? stats.total_time : (double)INFINITY;
        s->memory_bytes[i] = fine ? stats.proc_mem_tier1_cap_req / s->memory : (double)INFINITY;
    }
    return true;
}

/** Fill the truth of a seed. @param heavy  factors with heavy tails */
static bool tune_foreign_draw(tune_space *s, uint64_t seed, bool heavy, calc_errors *errors)
{
    const calc_tune_layouts *l = &s->task.layouts;
    bool fine = tune_foreign_base(s, seed, errors);
    for (size_t i = 0; fine && i < l->count; i++) {
        const calc_exec exec = calc_tune_layouts_exec(l, i);
        calc_rng rng;
        double own;
        calc_rng_init(&rng, seed, l->hash[i]);
        calc_normal_draw(&rng, &own, 1);
        double factor = tune_factor(seed, 1, (double)exec.strategy.tensor_par, heavy) +
                        tune_factor(seed, 2, (double)exec.pipeline_par, heavy) +
                        tune_factor(seed, 3, (double)exec.microbatch_size, heavy) +
                        TUNE_FOREIGN_OWN * own;
        s->step_s[i] *= exp(factor);
    }
    return fine;
}

/* ---- The oracle ------------------------------------------------------------------------------ */

/* How well these truths can be tuned by someone who knows their distribution: the mean and the
 * covariance of the times of other truths, the sizes of the factors, and the range of the memory's
 * bias. It always measures the largest expected improvement. */

enum { TUNE_ORACLE_TRUTHS = 100, TUNE_ORACLE_SEED = 1000000 };

/** What is known before anything is measured. Owns its lists. */
typedef struct tune_oracle {
    const tune_space *space;
    size_t count;
    double *mean;  /**< of the log of a time, by candidate */
    double *apart; /**< by candidate, then truth: how far that truth is from the mean */
    double *need;  /**< of memory, were it as large as calc thinks [bytes] */
} tune_oracle;

static bool tune_oracle_make(tune_oracle *o, tune_space *s, calc_errors *errors)
{
    size_t n = s->task.layouts.count;
    *o = (tune_oracle){s, n, calloc(n, sizeof(double)),
                       calloc(n * TUNE_ORACLE_TRUTHS, sizeof(double)), calloc(n, sizeof(double))};
    bool fine = o->mean && o->apart && o->need;
    for (uint64_t k = 0; fine && k < TUNE_ORACLE_TRUTHS; k++) {
        fine = tune_foreign_base(s, TUNE_ORACLE_SEED + k, errors);
        for (size_t i = 0; i < n; i++) {
            o->apart[i * TUNE_ORACLE_TRUTHS + k] = log(s->step_s[i]);
            o->mean[i] += log(s->step_s[i]) / TUNE_ORACLE_TRUTHS;
            o->need[i] = s->memory_bytes[i] * s->memory;
        }
    }
    for (size_t i = 0; fine && i < n * TUNE_ORACLE_TRUTHS; i++) {
        o->apart[i] = (o->apart[i] - o->mean[i / TUNE_ORACLE_TRUTHS]) / sqrt(TUNE_ORACLE_TRUTHS);
    }
    return fine;
}

static void tune_oracle_free(tune_oracle *o)
{
    free(o->mean);
    free(o->apart);
    free(o->need);
}

static double tune_oracle_covariance(const tune_oracle *o, size_t a, size_t b)
{
    const calc_tune_layouts *l = &o->space->task.layouts;
    const calc_exec x = calc_tune_layouts_exec(l, a), y = calc_tune_layouts_exec(l, b);
    double same = (x.strategy.tensor_par == y.strategy.tensor_par) +
                  (x.pipeline_par == y.pipeline_par) + (x.microbatch_size == y.microbatch_size);
    double sum = same * TUNE_FOREIGN_FACTOR * TUNE_FOREIGN_FACTOR +
                 (a == b ? TUNE_FOREIGN_OWN * TUNE_FOREIGN_OWN : 0);
    for (size_t k = 0; k < TUNE_ORACLE_TRUTHS; k++) {
        sum += o->apart[a * TUNE_ORACLE_TRUTHS + k] * o->apart[b * TUNE_ORACLE_TRUTHS + k];
    }
    return sum;
}

/* The candidate with the largest expected improvement of the log of the best time, after `seen`
 * were measured; before one ran, the one expected to be fastest of those that are sure to fit. */
static size_t tune_oracle_pick(const tune_oracle *o, const size_t *seen, const double *log_s,
                               size_t count, const bool *tried, double best, double low,
                               double high)
{
    double factor[TUNE_FOREIGN_MOST * TUNE_FOREIGN_MOST], white[TUNE_FOREIGN_MOST];
    double reach[TUNE_FOREIGN_MOST], most = -HUGE_VAL;
    size_t chosen = SIZE_MAX;
    for (size_t a = 0; a < count; a++) {
        white[a] = log_s[a] - o->mean[seen[a]];
        for (size_t b = 0; b < count; b++) {
            factor[a * count + b] = tune_oracle_covariance(o, seen[a], seen[b]);
        }
    }
    bool fine = calc_gauss_factor(factor, count);
    calc_gauss_solve_lower(factor, count, white);
    for (size_t i = 0; fine && i < o->count; i++) {
        double mean = o->mean[i], variance = tune_oracle_covariance(o, i, i);
        double least = o->need[i] / o->space->task.layouts.candidate[i].capacity_bytes;
        double fits = least <= low ? 1 : least > high ? 0 : (high - least) / (high - low);
        if (tried[i] || !isfinite(mean) || fits == 0) {
            continue;
        }
        for (size_t k = 0; k < count; k++) {
            reach[k] = tune_oracle_covariance(o, i, seen[k]);
        }
        calc_gauss_solve_lower(factor, count, reach);
        for (size_t k = 0; k < count; k++) {
            mean += reach[k] * white[k];
            variance -= reach[k] * reach[k];
        }
        double sd = sqrt(fmax(variance, 1e-12)), z = (best - mean) / sd;
        double gain = isinf(best) ? (fits == 1 ? 0 : -100) - mean
                                  : fits * sd * (z * calc_normal_below(z) + calc_normal_density(z));
        if (gain > most) {
            most = gain;
            chosen = i;
        }
    }
    return chosen;
}

/** Play the truth that the space holds. @param regret  filled, TUNE_FOREIGN_MOST */
static void tune_oracle_play(const tune_oracle *o, double *regret)
{
    const tune_space *s = o->space;
    const calc_tune_candidate *candidate = s->task.layouts.candidate;
    bool *tried = calloc(o->count, sizeof *tried);
    size_t seen[TUNE_FOREIGN_MOST], count = 0;
    double log_s[TUNE_FOREIGN_MOST], best = HUGE_VAL, low = 0.94, high = 1.02;
    double least = log(tune_replay_shortest(candidate, s->step_s, s->memory_bytes, o->count));
    for (size_t n = 0; n < TUNE_FOREIGN_MOST; n++) {
        size_t i = tune_oracle_pick(o, seen, log_s, count, tried, best, low, high);
        if (i == SIZE_MAX) {
            regret[n] = n > 0 ? regret[n - 1] : HUGE_VAL;
            continue;
        }
        tried[i] = true;
        if (s->memory_bytes[i] <= candidate[i].capacity_bytes) {
            low = high = s->memory;
            seen[count] = i;
            log_s[count++] = log(s->step_s[i]);
            best = fmin(best, log(s->step_s[i]));
        } else {
            high = fmin(high, o->need[i] / candidate[i].capacity_bytes);
        }
        regret[n] = exp(best - least) - 1;
    }
    free(tried);
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

static void tune_foreign_print(const char *name, const tune_space *s, uint64_t seed, bool heavy,
                               const char *chooser, int stopped, const double *regret, size_t count)
{
    printf("foreign,%s,%zu,%d,%d,%s,%d", name, s->task.layouts.count, (int)seed, heavy, chooser,
           stopped);
    for (size_t i = 0; i < count; i++) {
        printf(",%.5f", regret[i]);
    }
    printf("\n");
    fflush(stdout);
}

/** Print what comes of tuning each of the truths `from` to `to` of a space: the first stop, if it
 *  stops within TUNE_FOREIGN_MOST measurements, and the regret after each. */
static bool tune_foreign_study(const char *name, size_t count, char *const *words, uint64_t from,
                               uint64_t to, bool heavy, calc_errors *errors)
{
    static const calc_tune_chooser choosers[] = {CALC_TUNE_CHOOSER_IMPROVEMENT,
                                                 CALC_TUNE_CHOOSER_ORDER};
    static tune_space s;
    tune_foreign f = {.space = &s};
    tune_oracle oracle = {0};
    bool fine = tune_space_open(&s, count, words, errors) && tune_oracle_make(&oracle, &s, errors);
    for (uint64_t seed = from; fine && seed <= to; seed++) {
        double least[TUNE_FOREIGN_MOST];
        fine = tune_foreign_draw(&s, seed, heavy, errors);
        if (fine) {
            tune_oracle_play(&oracle, least);
            tune_foreign_print(name, &s, seed, heavy, "oracle", -1, least, TUNE_FOREIGN_MOST);
        }
        for (int c = 0; fine && c < 2; c++) {
            calc_tune_options options = s.task.options;
            tune_replay r;
            options.chooser = choosers[c];
            options.seed = seed;
            fine = tune_replay_play(&r, s.task.layouts.candidate, s.step_s, s.memory_bytes,
                                    s.task.layouts.count, TUNE_FOREIGN_MOST, false, &options,
                                    c == 0 ? tune_foreign_watch : NULL, &f, errors) == CALC_OK;
            tune_foreign_print(name, &s, seed, heavy, calc_tune_chooser_words[choosers[c]],
                               r.stopped == SIZE_MAX ? -1 : (int)r.stopped, r.regret, r.measured);
        }
    }
    for (int i = 0; i < TUNE_FOREIGN_MOST && f.seen[i] > 0; i++) {
        printf("inside,%s,%d,%.0f,%.4f\n", name, i, f.seen[i], f.inside[i] / f.seen[i]);
    }
    tune_oracle_free(&oracle);
    tune_space_close(&s);
    return fine;
}

#endif
