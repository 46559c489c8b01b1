#include "calibrate/engine_calibration.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "calibrate/fit.h"
#include "calibrate/least_squares.h"

const char *calc_engine_cross_word(calc_engine_cross cross)
{
    static const char *const words[CALC_ENGINE_CROSS_COUNT] = {
#define CALC_X(name, word) word,
        CALC_ENGINE_CROSS_LIST(CALC_X)
#undef CALC_X
    };
    return words[cross];
}

/* The runs of an engine, and where predictions go. */
typedef struct task {
    const calc_engine_plan *plan;
    calc_engine_fit *fit;
    calc_engine_point *point;
    int *fold; /* of each point; -1: held out, or suspect: never seen */
    size_t count;
    int folds;
    double *fitted, *unseen;
} task;

static const calc_serving_map *map_of(const calc_engine_point *p)
{
    return &p->result->serving->map;
}

static bool is_among(const char *const *names, const char *name)
{
    while (names && *names && strcmp(*names, name) != 0) {
        names++;
    }
    return names && *names;
}

static const char *publisher_of(const calc_serving_row *row)
{
    return *row->publisher ? row->publisher : row->source;
}

bool calc_engine_run_is_of(const calc_result *result, const char *name)
{
    const calc_serving_row *row = result->serving->map.row;
    return strcmp(name, row->source) == 0 || strcmp(name, publisher_of(row)) == 0 ||
           strcmp(name, row->sys) == 0;
}

static bool is_held_out(const task *t, const calc_engine_point *p)
{
    const char *const *name = t->plan->held_out;
    while (name && *name && !calc_engine_run_is_of(p->result, *name)) {
        name++;
    }
    return name && *name;
}

/* ---- Which runs are together ----------------------------------------------------------------- */

/* Every load of a layout and workload is in the same half, which the table says, or else every
 * other one is in the second. */
static void assign_halves(task *t)
{
    int layouts = 0;
    for (size_t i = 0; i < t->count; i++) {
        size_t j = 0;
        if (t->fold[i] < 0) {
            continue;
        }
        if (map_of(&t->point[i])->row->half >= 0) {
            t->fold[i] = map_of(&t->point[i])->row->half > 0;
            continue;
        }
        while (j < i && (t->fold[j] < 0 || map_of(&t->point[j])->row->half >= 0 ||
                         !calc_serving_map_alike(map_of(&t->point[j]), map_of(&t->point[i])))) {
            j++;
        }
        t->fold[i] = j < i ? t->fold[j] : layouts++ % 2;
    }
    t->folds = 2;
}

/* The property shared by runs that are left out together. */
static const char *common_of(const task *t, const calc_engine_point *p)
{
    return t->plan->cross == CALC_ENGINE_CROSS_MACHINE ? map_of(p)->row->sys
                                                       : publisher_of(map_of(p)->row);
}

static int compare_dates(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* The last date of the earlier half of runs that have one; "": none has. */
static const char *median_date(const task *t, const char **room)
{
    size_t count = 0;
    for (size_t i = 0; i < t->count; i++) {
        if (t->fold[i] >= 0 && *map_of(&t->point[i])->row->published) {
            room[count++] = map_of(&t->point[i])->row->published;
        }
    }
    qsort(room, count, sizeof *room, compare_dates);
    return count > 0 ? room[(count - 1) / 2] : "";
}

static void assign_names(task *t)
{
    for (size_t i = 0; i < t->count; i++) {
        size_t j = 0;
        while (t->fold[i] >= 0 && j < i &&
               (t->fold[j] < 0 ||
                strcmp(common_of(t, &t->point[j]), common_of(t, &t->point[i])) != 0)) {
            j++;
        }
        if (t->fold[i] >= 0) {
            t->fold[i] = j < i ? t->fold[j] : t->folds++;
        }
    }
}

static void assign_dates(task *t, const char *last)
{
    for (size_t i = 0; i < t->count; i++) {
        if (t->fold[i] >= 0) {
            t->fold[i] = strcmp(map_of(&t->point[i])->row->published, last) > 0;
        }
    }
    t->folds = 2;
}

static calc_status assign_folds(task *t, calc_errors *errors)
{
    for (size_t i = 0; i < t->count; i++) {
        const char *remark = t->point[i].result->remark; /* of one that is scored: suspect */
        bool suspect = remark && *remark;
        t->fold[i] = suspect || is_held_out(t, &t->point[i]) ? -1 : 0;
    }
    t->folds = 1;
    if (t->plan->cross == CALC_ENGINE_CROSS_HALF) {
        assign_halves(t);
    } else if (t->plan->cross == CALC_ENGINE_CROSS_LATER) {
        const char **room = calloc(t->count + 1, sizeof *room);
        if (!room) {
            return calc_errors_no_memory(errors);
        }
        assign_dates(t, median_date(t, room));
        free(room);
    } else if (t->plan->cross != CALC_ENGINE_CROSS_NONE) {
        t->folds = 0;
        assign_names(t);
    }
    return CALC_OK;
}

/* ---- Fits ------------------------------------------------------------------------------------ */

/* Let a fit see all points but those of a fold, or of a fold alone. @return how many */
static size_t show(task *t, int fold, bool alone)
{
    size_t count = 0;
    for (size_t i = 0; i < t->count; i++) {
        t->point[i].use = t->fold[i] >= 0 && (t->fold[i] == fold) == alone;
        count += t->point[i].use;
    }
    return count;
}

static void predict(task *t, const calc_engine_fit *fit, int fold, double *into)
{
    for (size_t i = 0; i < t->count; i++) {
        if (t->fold[i] == fold) {
            into[t->point[i].index] = calc_engine_fit_predict(&t->point[i], &fit->traits);
        }
    }
}

/* The engine's own fit, and its predictions of the runs in the fit and of those held out.
 */
static calc_status fit_engine(task *t, calc_errors *errors)
{
    bool first_only = t->plan->cross == CALC_ENGINE_CROSS_HALF;
    show(t, first_only ? 0 : -1, first_only);
    calc_status status = calc_engine_fit_make(t->fit, t->point, t->count, errors);
    predict(t, t->fit, -1, t->unseen);
    for (int fold = 0; fold < t->folds; fold++) {
        predict(t, t->fit, fold, first_only && fold > 0 ? t->unseen : t->fitted);
    }
    return status;
}

/* Each fold by a fit to what it may know. Without any data the prediction uses the start of the
 * fit. */
static calc_status fit_folds(task *t, calc_errors *errors)
{
    calc_engine_fit without = {.engine = t->fit->engine, .start = t->fit->start};
    bool later = t->plan->cross == CALC_ENGINE_CROSS_LATER;
    calc_status status = CALC_OK;
    for (int fold = later; fold < t->folds && status == CALC_OK; fold++) {
        size_t seen = show(t, later ? 0 : fold, later);
        without.traits = without.start;
        if (seen > 0) {
            status = calc_engine_fit_make(&without, t->point, t->count, errors);
        }
        predict(t, &without, fold, t->unseen);
    }
    return status;
}

/* ---- Engines --------------------------------------------------------------------------------- */

/* Rates of loops follow from their times; those of static batches are all that is known of some.
 * How many drafts are accepted is assumed, and no trait of an engine. Where all requests come at
 * once their queue decides. */
static bool counts(const calc_engine_plan *plan, const calc_result *r,
                   const calc_serving_engine *engine)
{
    if (r->use != CALC_USE_SCORED ||
        strcmp(r->serving->map.exec.inference.engine.name, engine->name) != 0 ||
        r->quantity == CALC_QUANTITY_TPOT_SHAPE ||
        r->serving->map.kind == CALC_SERVING_KIND_ALL_AT_ONCE ||
        r->serving->map.exec.inference.speculative_tokens > 0) {
        return false;
    }
    bool rate = r->quantity == CALC_QUANTITY_OUTPUT_RATE;
    return (!rate || r->serving->map.kind == CALC_SERVING_KIND_STATIC_BATCH) &&
           (!plan->machine || is_among(plan->machine, r->serving->map.row->sys));
}

static calc_status calibrate_engine(task *t, const calc_results *results, calc_errors *errors)
{
    t->count = 0;
    for (size_t i = 0; i < results->count; i++) {
        if (counts(t->plan, &results->item[i], t->fit->engine)) {
            t->point[t->count++] = (calc_engine_point){&results->item[i], i, true};
        }
    }
    if (t->count == 0) {
        return CALC_OK;
    }
    t->fit->start = calc_engine_fit_start(t->fit->engine, t->plan->documented);
    calc_status status = assign_folds(t, errors);
    status = status == CALC_OK ? fit_engine(t, errors) : status;
    bool others = t->plan->cross >= CALC_ENGINE_CROSS_SOURCE;
    return status == CALC_OK && others ? fit_folds(t, errors) : status;
}

calc_status calc_engine_calibrate(calc_engine_calibration *out, const calc_engine_plan *plan,
                                  const calc_results *results, double *fitted, double *unseen,
                                  calc_errors *errors)
{
    *out = (calc_engine_calibration){.fit = calloc(plan->engines->count + 1, sizeof *out->fit)};
    task t = {.plan = plan,
              .point = calloc(results->count + 1, sizeof *t.point),
              .fold = calloc(results->count + 1, sizeof *t.fold),
              .fitted = fitted,
              .unseen = unseen};
    calc_status status = CALC_OK;
    if (!t.point || !t.fold || !out->fit) {
        free(t.point);
        free(t.fold);
        return calc_errors_no_memory(errors);
    }
    for (size_t i = 0; i < results->count; i++) {
        fitted[i] = unseen[i] = (double)NAN;
    }
    for (size_t e = 0; e < plan->engines->count && status == CALC_OK; e++) {
        t.fit = &out->fit[out->count];
        *t.fit = (calc_engine_fit){.engine = &plan->engines->item[e]};
        status = calibrate_engine(&t, results, errors);
        out->count += t.count > 0;
    }
    free(t.point);
    free(t.fold);
    if (status == CALC_OK && out->count == 0) {
        status = calc_errors_add(errors, CALC_ERR_RULE, CALC_KIND_NONE, NULL,
                                 "calc validate says which runs count, and why others do not",
                                 "no run of serving that counts names an engine");
    }
    return status;
}

/* Errors of a good model of serving: the spread between runs of one layout. */
#define SIGMA 0.1
#define FIRST_TOKEN_WEIGHT (1.0 / 3)
/* A share of 1 has no odds. */
#define MOST_SHARE 0.98

static const struct {
    const char *name;
    size_t offset;
    bool share;
    double start, spread;
} traits[CALC_ENGINE_TRAITS] = {
#define CALC_X(name, member, share, start, spread)                                                 \
    {name, offsetof(calc_engine_traits, member), share, start, spread},
    CALC_ENGINE_TRAIT_LIST(CALC_X)
#undef CALC_X
};

const char *calc_engine_trait_name(int trait)
{
    return traits[trait].name;
}

double *calc_engine_trait(calc_engine_traits *of, int trait)
{
    return (double *)(void *)((char *)of + traits[trait].offset);
}

calc_engine_traits calc_engine_fit_start(const calc_serving_engine *engine, bool documented)
{
    calc_engine_traits start = engine->traits;
    for (int k = 0; k < CALC_ENGINE_TRAITS; k++) {
        double *value = calc_engine_trait(&start, k);
        double nothing = traits[k].share ? MOST_SHARE : traits[k].start / 20;
        double known = *value > 0 ? *value : nothing;
        known = traits[k].share ? fmin(known, MOST_SHARE) : known;
        *value = documented ? traits[k].start : known;
    }
    return start;
}

/* ---- A fit ----------------------------------------------------------------------------------- */

/* Measurements of a run are neighbours, so that it is predicted once. */
typedef struct engine_fit_task {
    const calc_engine_fit *fit;
    const calc_engine_point *point;
    size_t count;
} engine_fit_task;

static double to_number(int trait, double value)
{
    return traits[trait].share ? log(value / (1 - value)) : log(value);
}

/* Clamp to the ranges of the fields. */
static double from_number(int trait, double number)
{
    return traits[trait].share
               ? fmax(1 / (1 + exp(-number)), 1e-3)
               : fmin(fmax(exp(number), 1e-4 * traits[trait].start), 1e2 * traits[trait].start);
}

static calc_engine_traits traits_at(const calc_engine_fit *fit, const double *x)
{
    calc_engine_traits t = fit->start;
    for (int k = 0; k < CALC_ENGINE_TRAITS; k++) {
        double *value = calc_engine_trait(&t, k);
        *value = from_number(k, to_number(k, *value) + x[k] * traits[k].spread);
    }
    return t;
}

static double of_quantity(const calc_serving_prediction *p, calc_quantity quantity)
{
    return quantity == CALC_QUANTITY_TPOT   ? p->tpot_s
           : quantity == CALC_QUANTITY_TTFT ? p->ttft_s
           : quantity == CALC_QUANTITY_E2E  ? p->e2e_s
                                            : p->output_tokens_per_s;
}

static double residual_of(const calc_result *r, const calc_serving_prediction *p)
{
    double weight = r->quantity == CALC_QUANTITY_TTFT ? sqrt(FIRST_TOKEN_WEIGHT) : 1;
    double predicted = of_quantity(p, r->quantity);
    return weight * calc_least_squares_soft(log(predicted / r->measured) / SIGMA);
}

static void residuals(void *context, const double *x, double *residual)
{
    const engine_fit_task *t = context;
    calc_engine_traits now = traits_at(t->fit, x);
    calc_serving_prediction p = {0};
    const calc_serving_prediction *last = NULL;
    for (size_t i = 0; i < t->count; i++) {
        const calc_result *r = t->point[i].result;
        if (!t->point[i].use) {
            continue;
        }
        if (r->serving != last) {
            p = *r->serving;
            calc_serving_predict_with(&p, &now);
            last = r->serving;
        }
        *residual++ = residual_of(r, &p);
    }
    for (int k = 0; k < CALC_ENGINE_TRAITS; k++) {
        *residual++ = x[k];
    }
}

/* The relative error of a time is the error of its logarithm; for a share, the error of its
 * log-odds times 1 minus the share. */
static double relative(int trait, double value, double error)
{
    return traits[trait].share ? error * (1 - value) : error;
}

calc_status calc_engine_fit_make(calc_engine_fit *fit, const calc_engine_point *point, size_t count,
                                 calc_errors *errors)
{
    enum { STEPS = 30 };
    double x[CALC_ENGINE_TRAITS] = {0}, error[CALC_ENGINE_TRAITS];
    engine_fit_task t = {fit, point, count};
    fit->points = 0;
    for (size_t i = 0; i < count; i++) {
        fit->points += point[i].use;
    }
    calc_least_squares problem = {.residuals = residuals,
                                  .context = &t,
                                  .parameters = CALC_ENGINE_TRAITS,
                                  .count = fit->points + CALC_ENGINE_TRAITS,
                                  .step = 1e-3,
                                  .most = STEPS};
    calc_status status = calc_least_squares_solve(&problem, x, error, errors);
    fit->traits = traits_at(fit, x);
    for (int k = 0; status == CALC_OK && k < CALC_ENGINE_TRAITS; k++) {
        fit->relative_error[k] =
            relative(k, *calc_engine_trait(&fit->traits, k), error[k] * traits[k].spread);
        fit->determined[k] = error[k] < CALC_FIT_DETERMINED;
    }
    return status;
}

double calc_engine_fit_predict(const calc_engine_point *point, const calc_engine_traits *of)
{
    calc_serving_prediction p = *point->result->serving;
    calc_serving_predict_with(&p, of);
    return of_quantity(&p, point->result->quantity);
}
