/* What calc tune is worth, on published runs that it has not seen: scripts/make_tune puts the
 * tables into docs/tune.md.
 *
 * usage: study_tune prior | regret | calibration */
#include <stdint.h>

#include "bench/tune_runs.h"
#include "tune/replay.h"

enum { AFTER = 5, MOST = 10, SET = 64, BINS = 10 };
static const size_t after[AFTER] = {1, 2, 3, 5, 10};

static calc_tune_prior prior[CALC_TUNE_PUBLISHERS]; /* without each publisher */
static calc_tune_prior whole;

static bool learn(void)
{
    calc_errors errors = {0};
    calc_tune_known *known = tune_runs_known();
    calc_status status = calc_tune_learn(&whole, known, tune_runs.count, SIZE_MAX, &errors);
    for (size_t i = 0; status == CALC_OK && i < tune_runs.publishers; i++) {
        status = calc_tune_learn(&prior[i], known, tune_runs.count, i, &errors);
        fprintf(stderr, "without %s\n", tune_runs.publisher[i]);
    }
    free(known);
    return status == CALC_OK;
}

/* ---- Sets of competing layouts ----------------------------------------------------------------
 */

typedef struct set {
    size_t count, publisher;
    calc_tune_candidate candidate[SET];
    double step_s[SET];
} set;

/* The runs from `from` on that are one set, each layout once with its shortest time (they are
 * sorted).  @return where the next set starts */
static size_t read_set(size_t from, set *out)
{
    const tune_run *r = tune_runs.run;
    size_t i = from;
    out->count = 0;
    out->publisher = r[from].known.publisher;
    for (; i < tune_runs.count && strcmp(r[i].set, r[from].set) == 0; i++) {
        bool repeat = i > from && strcmp(r[i].layout, r[i - 1].layout) == 0;
        if (!isnan(r[i].measured_s) && !repeat && out->count < SET) {
            out->candidate[out->count] = r[i].known.candidate;
            out->candidate[out->count].capacity_bytes = (double)INFINITY; /* it did run */
            out->step_s[out->count++] = r[i].measured_s;
        }
    }
    return i;
}

static int by_size(const void *a, const void *b)
{
    double left = *(const double *)a;
    double right = *(const double *)b;
    return left < right ? -1 : left > right;
}

/* ---- Regret -----------------------------------------------------------------------------------
 */

typedef struct outcome {
    size_t count;
    double regret[AFTER][1024], needed[1024];
} outcome;

static outcome outcomes[CALC_TUNE_PUBLISHERS + 1][CALC_TUNE_CHOOSERS];

static void add(outcome *o, const calc_tune_replay *replay)
{
    double needed = (double)replay->measured;
    for (size_t i = replay->measured; i-- > 0;) {
        needed = replay->regret[i] <= 0.01 ? (double)(i + 1) : needed;
    }
    o->needed[o->count] = needed;
    for (int i = 0; i < AFTER; i++) {
        size_t n = after[i] < replay->measured ? after[i] : replay->measured;
        o->regret[i][o->count] = replay->regret[n - 1];
    }
    o->count++;
}

static double mean(const double *value, size_t count)
{
    double sum = 0;
    for (size_t i = 0; i < count; i++) {
        sum += value[i] / (double)count;
    }
    return sum;
}

static void print_outcome(const char *name, outcome *o, int chooser)
{
    printf("| %s | %zu | %s |", name, o->count, calc_tune_chooser_word((calc_tune_chooser)chooser));
    for (int i = 0; i < AFTER; i++) {
        qsort(o->regret[i], o->count, sizeof(double), by_size);
        printf(" %.2f / %.2f / %.1f |", 100 * o->regret[i][o->count / 2],
               100 * mean(o->regret[i], o->count), 100 * o->regret[i][o->count - 1]);
    }
    printf(" %.2f |\n", mean(o->needed, o->count));
}

static bool regret(void)
{
    static set s;
    calc_errors errors = {0};
    for (size_t from = 0; from < tune_runs.count;) {
        from = read_set(from, &s);
        for (int c = 0; s.count > 1 && c < CALC_TUNE_CHOOSERS; c++) {
            calc_tune_replay replay;
            calc_tune_options options = calc_tune_options_default(&prior[s.publisher]);
            options.chooser = (calc_tune_chooser)c;
            options.stop = 0;
            size_t most = s.count < MOST ? s.count : MOST;
            if (calc_tune_replay_play(&replay, s.candidate, s.step_s, NULL, s.count, most, false,
                                      &options, NULL, NULL, &errors) != CALC_OK) {
                return false;
            }
            add(&outcomes[s.publisher][c], &replay);
            add(&outcomes[CALC_TUNE_PUBLISHERS][c], &replay);
        }
    }
    for (size_t p = 0; p <= CALC_TUNE_PUBLISHERS; p++) {
        for (int c = 0; c < CALC_TUNE_CHOOSERS; c++) {
            if (outcomes[p][c].count > 0) {
                print_outcome(p < tune_runs.publishers ? tune_runs.publisher[p] : "all",
                              &outcomes[p][c], c);
            }
        }
    }
    return true;
}

/* ---- Calibration ------------------------------------------------------------------------------
 */

typedef struct calibrated {
    const set *set;
    size_t fastest;
    double said[BINS], right[BINS], count[BINS]; /* P(best): by what it said */
    double inside[MOST], seen[MOST];             /* times of layouts not measured, in their bands */
    double deciles[MOST][BINS];
} calibrated;

static void watch(void *context, const calc_tune_decision *d, size_t measured)
{
    calibrated *k = context;
    for (size_t i = 0; i < k->set->count; i++) {
        const calc_tune_outlook *o = &d->outlook[i];
        int bin = (int)fmin(o->best * BINS, BINS - 1);
        k->said[bin] += o->best;
        k->right[bin] += i == k->fastest;
        k->count[bin]++;
        if (!o->measured) {
            double spread = log(o->p95_s / o->p50_s) / 1.6448536269514722;
            double z = log(k->set->step_s[i] / o->p50_s) / spread;
            double below = erfc(-z / sqrt(2)) / 2;
            k->seen[measured]++;
            k->inside[measured] += k->set->step_s[i] >= o->p5_s && k->set->step_s[i] <= o->p95_s;
            k->deciles[measured][(int)fmin(below * BINS, BINS - 1)]++;
        }
    }
}

static bool calibration(void)
{
    static set s;
    static calibrated k;
    calc_errors errors = {0};
    for (size_t from = 0; from < tune_runs.count;) {
        from = read_set(from, &s);
        calc_tune_replay replay;
        calc_tune_options options = calc_tune_options_default(&prior[s.publisher]);
        options.stop = 0;
        k.set = &s;
        k.fastest = 0;
        for (size_t i = 1; i < s.count; i++) {
            k.fastest = s.step_s[i] < s.step_s[k.fastest] ? i : k.fastest;
        }
        size_t most = s.count < MOST ? s.count : MOST;
        if (s.count > 1 &&
            calc_tune_replay_play(&replay, s.candidate, s.step_s, NULL, s.count, most, false,
                                  &options, watch, &k, &errors) != CALC_OK) {
            return false;
        }
    }
    for (int i = 0; i < BINS; i++) {
        if (k.count[i] > 0) {
            printf("| %d to %d %% | %.0f | %.1f | %.1f |\n", 10 * i, 10 * i + 10, k.count[i],
                   100 * k.said[i] / k.count[i], 100 * k.right[i] / k.count[i]);
        }
    }
    for (int i = 0; i < MOST; i++) {
        if (k.seen[i] > 0) {
            printf("| %d | %.0f | %.1f |", i, k.seen[i], 100 * k.inside[i] / k.seen[i]);
            for (int d = 0; d < BINS; d++) {
                printf(" %.0f", 100 * k.deciles[i][d] / k.seen[i]);
            }
            printf(" |\n");
        }
    }
    return true;
}

/* ---- The prior --------------------------------------------------------------------------------
 */

static void print_prior(const calc_tune_prior *p)
{
    printf("| all layouts alike | %.4f |\n", p->common);
    for (int i = 0; i < CALC_TUNE_TERMS; i++) {
        printf("| %s | %.4f |\n", calc_tune_term_words((calc_tune_term)i), p->term[i]);
    }
    printf("| kernels of a shape | %.4f |\n| a schedule | %.4f |\n| one layout alone | %.4f |\n",
           p->kernels.sd, p->schedule.sd, p->own);
    printf("| memory: all | %.4f |\n", p->memory_common);
    for (int i = 0; i < CALC_TUNE_SPACES; i++) {
        printf("| memory: %s | %.4f |\n", calc_tune_space_words((calc_tune_space)i),
               p->memory_space[i]);
    }
    printf("| memory: one layout alone | %.4f |\n", p->memory_own);
    for (int i = 0; i < CALC_TUNE_COORDINATES; i++) {
        if (p->kernels.length[i] > 0 || p->schedule.length[i] > 0) {
            printf("| length: %s | %.3f |\n", calc_tune_coordinate_words((calc_tune_coordinate)i),
                   p->kernels.length[i] + p->schedule.length[i]);
        }
    }
}

int main(int argc, char **argv)
{
    const char *what = argc > 1 ? argv[1] : "prior";
    bool fine = tune_runs_read() && learn();
    if (fine && strcmp(what, "prior") == 0) {
        print_prior(&whole);
    } else if (fine && strcmp(what, "regret") == 0) {
        fine = regret();
    } else if (fine) {
        fine = calibration();
    }
    tune_runs_free();
    return fine ? EXIT_SUCCESS : EXIT_FAILURE;
}
