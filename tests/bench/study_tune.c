/* What calc tune is worth, on published runs that it has not seen: each publisher's layouts are
 * tuned with what the others' errors say. Rows of comma-separated values; scripts/make_tune.py
 * makes the tables of docs/tune.md from them. */
#include <stdint.h>

#include "bench/tune_foreign.h"
#include "bench/tune_replay.h"
#include "bench/tune_runs.h"
#include "bench/tune_words.h"
#include "plan/sweep_more.h"

enum { MOST = 10, SET = 64, BINS = 10, SETS = 1024 };

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

/* ---- Sets of competing layouts --------------------------------------------------------------- */

typedef struct set {
    size_t count, publisher;
    calc_tune_candidate candidate[SET];
    double step_s[SET];
    const calc_exec *exec[SET];
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
            out->exec[out->count] = r[i].exec;
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

/* ---- Regret ---------------------------------------------------------------------------------- */

typedef struct outcome {
    size_t count;
    double regret[MOST][SETS], needed[SETS];
} outcome;

/* By publisher, then of all; by chooser. */
static outcome outcomes[CALC_TUNE_PUBLISHERS + 1][CALC_TUNE_CHOOSERS];

static void add(outcome *o, const tune_replay *replay)
{
    double needed = (double)replay->measured;
    for (size_t i = replay->measured; i-- > 0;) {
        needed = replay->regret[i] <= 0.01 ? (double)(i + 1) : needed;
    }
    o->needed[o->count] = needed;
    size_t last = replay->measured > 0 ? replay->measured - 1 : 0;
    for (size_t i = 0; i < MOST; i++) {
        o->regret[i][o->count] = replay->regret[i < last ? i : last];
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
    const char *word = calc_tune_chooser_words[chooser];
    for (int i = 0; i < MOST; i++) {
        qsort(o->regret[i], o->count, sizeof(double), by_size);
        printf("regret,%s,%s,%zu,%d,%.5f,%.5f,%.5f\n", name, word, o->count, i + 1,
               o->regret[i][o->count / 2], mean(o->regret[i], o->count),
               o->regret[i][o->count - 1]);
    }
    qsort(o->needed, o->count, sizeof(double), by_size);
    printf("needed,%s,%s,%.0f,%.3f,%.0f\n", name, word, o->needed[o->count / 2],
           mean(o->needed, o->count), o->needed[o->count - 1]);
}

static bool regret(void)
{
    static set s;
    calc_errors errors = {0};
    for (size_t from = 0; from < tune_runs.count;) {
        from = read_set(from, &s);
        for (int c = 0; s.count > 1 && c < CALC_TUNE_CHOOSERS; c++) {
            tune_replay replay;
            calc_tune_options options = calc_tune_options_default(&prior[s.publisher]);
            options.chooser = (calc_tune_chooser)c;
            options.stop = 0;
            size_t most = s.count < MOST ? s.count : MOST;
            if (tune_replay_play(&replay, s.candidate, s.step_s, NULL, s.count, most, false,
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

/* ---- Calibration ----------------------------------------------------------------------------- */

typedef struct calibrated {
    const set *set;
    size_t fastest;
    double said[BINS], right[BINS], count[BINS]; /* P(best): by what it said */
    double inside[MOST], seen[MOST];             /* times of layouts not measured, in their bands */
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
            k->seen[measured]++;
            k->inside[measured] += k->set->step_s[i] >= o->p5_s && k->set->step_s[i] <= o->p95_s;
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
        tune_replay replay;
        calc_tune_options options = calc_tune_options_default(&prior[s.publisher]);
        options.stop = 0;
        k.set = &s;
        k.fastest = 0;
        for (size_t i = 1; i < s.count; i++) {
            k.fastest = s.step_s[i] < s.step_s[k.fastest] ? i : k.fastest;
        }
        size_t most = s.count < MOST ? s.count : MOST;
        if (s.count > 1 && tune_replay_play(&replay, s.candidate, s.step_s, NULL, s.count, most,
                                            false, &options, watch, &k, &errors) != CALC_OK) {
            return false;
        }
    }
    for (int i = 0; i < BINS; i++) {
        if (k.count[i] > 0) {
            printf("best,%d,%.0f,%.4f,%.4f\n", i, k.count[i], k.said[i] / k.count[i],
                   k.right[i] / k.count[i]);
        }
    }
    for (int i = 0; i < MOST; i++) {
        if (k.seen[i] > 0) {
            printf("band,%d,%.0f,%.4f\n", i, k.seen[i], k.inside[i] / k.seen[i]);
        }
    }
    return true;
}

/* ---- Pairs ----------------------------------------------------------------------------------- */

enum { SURE = 5 };

/* What is said of the order of two layouts, and what was measured. */
typedef struct pairs {
    double count, inside; /* in the band of nine in ten of their difference */
    double score;         /* sum of logarithms of the probabilities of what was measured */
    double of[SURE], said[SURE], right[SURE];
} pairs;

static void compare(pairs *p, const calc_tune_prior *before, const set *s, size_t i, size_t j)
{
    static const double upto[SURE] = {0.6, 0.75, 0.9, 0.95, 1.01};
    const calc_tune_candidate *a = &s->candidate[i];
    const calc_tune_candidate *b = &s->candidate[j];
    double predicted = log(a->step_s / b->step_s);
    double measured = log(s->step_s[i] / s->step_s[j]);
    double sure = calc_tune_model_sure(before, a, b, true, fabs(predicted));
    int bin = 0;
    while (sure >= upto[bin]) {
        bin++;
    }
    p->count++;
    p->inside += calc_tune_model_sure(before, a, b, true, fabs(measured - predicted)) <= 0.95;
    p->score += log(predicted * measured > 0 ? sure : 1 - sure);
    p->of[bin]++;
    p->said[bin] += sure;
    p->right[bin] += predicted * measured > 0;
}

static void print_pairs(const char *name, const pairs *p)
{
    if (p->count > 0) {
        printf("pairs,%s,%.0f,%.4f,%.4f\n", name, p->count, p->inside / p->count,
               p->score / p->count);
    }
    for (int i = 0; i < SURE; i++) {
        if (p->of[i] > 0) {
            printf("order,%s,%d,%.0f,%.4f,%.4f\n", name, i, p->of[i], p->said[i] / p->of[i],
                   p->right[i] / p->of[i]);
        }
    }
}

/* Pairs of publishers from `first` on, whose runs their priors have not seen. */
static void compare_all(size_t first, const char *all)
{
    static set s;
    static pairs of[CALC_TUNE_PUBLISHERS + 1];
    memset(of, 0, sizeof of);
    for (size_t from = 0; from < tune_runs.count;) {
        from = read_set(from, &s);
        for (size_t i = 0; i < s.count && s.publisher >= first; i++) {
            for (size_t j = 0; j < i; j++) {
                compare(&of[s.publisher], &prior[s.publisher], &s, i, j);
                compare(&of[CALC_TUNE_PUBLISHERS], &prior[s.publisher], &s, i, j);
            }
        }
    }
    for (size_t k = first; k < tune_runs.publishers; k++) {
        print_pairs(tune_runs.publisher[k], &of[k]);
    }
    print_pairs(all, &of[CALC_TUNE_PUBLISHERS]);
}

/* ---- Choices --------------------------------------------------------------------------------- */

/* A rule takes the simplest of some layouts: of those that are predicted to be at most `within`
 * slower than the best, or that the best is faster than with a probability below `sure`. `micro`:
 * smaller micro-batches are simpler, too. Of the others the one that is predicted to be fastest. */
typedef struct rule {
    const char *name;
    double within, sure;
    bool micro;
} rule;

static int simpler(const rule *r, const calc_exec *a, const calc_exec *b)
{
    int parts = calc_sweep_found_simpler(a, b);
    return parts == 0 && r->micro ? (a->microbatch_size > b->microbatch_size) -
                                        (a->microbatch_size < b->microbatch_size)
                                  : parts;
}

static size_t choose(const rule *r, const set *s)
{
    size_t best = 0;
    for (size_t i = 1; i < s->count; i++) {
        best = s->candidate[i].step_s < s->candidate[best].step_s ? i : best;
    }
    size_t chosen = best;
    for (size_t i = 0; i < s->count; i++) {
        double ahead = log(s->candidate[i].step_s / s->candidate[best].step_s);
        bool near = r->sure > 0 ? calc_tune_model_sure(&prior[s->publisher], &s->candidate[best],
                                                       &s->candidate[i], true, ahead) < r->sure
                                : ahead <= log(1 + r->within);
        int less = simpler(r, s->exec[i], s->exec[chosen]);
        bool faster = s->candidate[i].step_s < s->candidate[chosen].step_s;
        chosen = near && (less < 0 || (less == 0 && faster)) ? i : chosen;
    }
    return chosen;
}

/* How much slower than the fastest of its set what each rule chooses is, on average; and in how
 * many sets it is another layout than the best predicted one: faster, or slower. */
static void choices(void)
{
    static const rule rules[] = {
        {"best", 0, 0, false},         {"1 %", 0.01, 0, false},      {"2 %", 0.02, 0, false},
        {"3 %", 0.03, 0, false},       {"5 %", 0.05, 0, false},      {"8 %", 0.08, 0, false},
        {"2 % micro", 0.02, 0, true},  {"3 % micro", 0.03, 0, true}, {"5 % micro", 0.05, 0, true},
        {"sure 55 %", 0, 0.55, false}, {"sure 60 %", 0, 0.6, false}, {"sure 75 %", 0, 0.75, false}};
    enum { RULES = sizeof rules / sizeof *rules };
    static set s;
    for (size_t p = 0; p < tune_runs.publishers; p++) {
        double sets = 0, regret[RULES] = {0}, faster[RULES] = {0}, slower[RULES] = {0};
        for (size_t from = 0; from < tune_runs.count;) {
            from = read_set(from, &s);
            if (s.publisher != p || s.count < 2) {
                continue;
            }
            double least = s.step_s[0];
            for (size_t i = 1; i < s.count; i++) {
                least = fmin(least, s.step_s[i]);
            }
            double best_s = s.step_s[choose(&rules[0], &s)];
            sets++;
            for (int k = 0; k < RULES; k++) {
                double chosen_s = s.step_s[choose(&rules[k], &s)];
                regret[k] += chosen_s / least - 1;
                faster[k] += chosen_s < best_s;
                slower[k] += chosen_s > best_s;
            }
        }
        for (int k = 0; k < RULES && sets > 0; k++) {
            printf("choice,%s,%s,%.0f,%.5f,%.0f,%.0f\n", tune_runs.publisher[p], rules[k].name,
                   sets, regret[k] / sets, faster[k], slower[k]);
        }
    }
}

/* ---- The prior ------------------------------------------------------------------------------- */

static void print_prior(const calc_tune_prior *p)
{
    printf("prior,all layouts alike,%.4f\n", p->common);
    for (int i = 0; i < CALC_TUNE_TERMS; i++) {
        printf("prior,%s,%.4f\n", tune_term_words((calc_tune_term)i), p->term[i]);
    }
    printf("prior,kernels of a shape,%.4f\nprior,a schedule,%.4f\nprior,one layout alone,%.4f\n",
           p->kernels.sd, p->schedule.sd, p->own);
    for (int i = 0; i < CALC_TUNE_COORDINATES; i++) {
        if (p->kernels.length[i] > 0 || p->schedule.length[i] > 0) {
            printf("length,%s,%.3f\n", tune_coordinate_words((calc_tune_coordinate)i),
                   p->kernels.length[i] + p->schedule.length[i]);
        }
    }
    printf("memory,all layouts alike,%.4f\n", p->memory_common);
    for (int i = 0; i < CALC_TUNE_SPACES; i++) {
        printf("memory,%s,%.4f\n", tune_space_words((calc_tune_space)i), p->memory_space[i]);
    }
    printf("memory,one layout alone,%.4f\n", p->memory_own);
}

/* What the spaces of `narrow` leave out: all that a sweep tried by default when calc tune was first
 * judged by such truths (commit 46e261ab) is in them, and little more. */
#define NARROW                                                                                     \
    "--axis", "tensor_par=*", "--axis", "microbatch_size=*", "--axis",                             \
        "activation_recompute=none,full", "--axis", "tensor_par_overlap=none,async", "--axis",     \
        "grad_datatype=float32", "--axis", "context_par=1", "--axis", "cuda_graph=0"

/* Truths that are not drawn from the prior. @param kind  words: heavy, narrow */
static bool foreign(uint64_t from, uint64_t to, int kinds, char *const *kind)
{
    static char *const words[][26] = {
        {"llama2-70B", "h100_sxm", "--procs", "64", "--batch", "512", NARROW},
        {"mixtral-8x7B", "h100_sxm", "--procs", "64", "--batch", "256", NARROW, "--axis",
         "dispatch_type=all_to_all", "--axis", "expert_par_overlap=none", "--axis",
         "delayed_wgrad=false"},
        {"llama3-8B", "a100_sxm_40g", "--procs", "32", "--batch", "128", NARROW}};
    calc_errors errors = {0};
    bool fine = true, heavy = false;
    size_t count[] = {6, 6, 6};
    for (int i = 0; i < kinds; i++) {
        heavy = heavy || strcmp(kind[i], "heavy") == 0;
        for (int k = 0; k < 3 && strcmp(kind[i], "narrow") == 0; k++) {
            while (count[k] < 26 && words[k][count[k]]) {
                count[k]++;
            }
        }
    }
    for (int i = 0; i < 3 && fine; i++) {
        fine = tune_foreign_study(words[i][0], count[i], words[i], from, to, heavy, &errors);
    }
    if (!fine) {
        fprintf(stderr, "%s\n", errors.item[0].text);
    }
    return fine;
}

/* Arguments: further files of runs, beside those of this folder that nothing was fitted to; or
 * "foreign FROM TO [heavy] [narrow]": instead, truths that are not drawn from the prior, of these
 * seeds. */
int main(int count, char **argument)
{
    if (count >= 4 && strcmp(argument[1], "foreign") == 0) {
        return foreign(strtoul(argument[2], NULL, 10), strtoul(argument[3], NULL, 10), count - 4,
                       argument + 4)
                   ? EXIT_SUCCESS
                   : EXIT_FAILURE;
    }
    bool fine = tune_runs_read() && learn();
    size_t publishers = tune_runs.publishers;
    if (fine) {
        print_prior(&whole);
        compare_all(0, "all");
        fine = regret() && calibration();
    }
    for (size_t i = publishers; i < CALC_TUNE_PUBLISHERS; i++) {
        prior[i] = whole;
    }
    fine = fine && tune_runs_more(CALC_DATA_DIR_SOURCE "/tests/measured/unfitted_runs.csv.gz");
    for (int i = 1; i < count && fine; i++) {
        fine = tune_runs_more(argument[i]);
    }
    if (fine) {
        compare_all(publishers, "unfitted");
        choices();
    }
    tune_runs_free();
    return fine ? EXIT_SUCCESS : EXIT_FAILURE;
}
