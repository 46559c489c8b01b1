#include "calibrate/engine_calibration.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/buffer.h"
#include "base/error.h"
#include "base/make.h"
#include "calibrate/fit.h"
#include "spec/field.h"
#include "validate/error_groups.h"

/* Errors of a good model of serving: the spread between runs of one layout. */
#define SIGMA 0.1
#define FIRST_TOKEN_WEIGHT (1.0 / 3)
/* A share of 1 has no odds. */
#define MOST_SHARE 0.98
/* The most that compiled code takes to issue a kernel [s]: CUDA itself takes about 5 us, and its
 * wrappers no more than that again. Interpreters take several times as much. */
#define COMPILED_S 12e-6
/* Spread of versions of an engine, over that of engines. */
#define OF_VERSIONS 0.7

static const struct {
    const char *name;
    size_t offset;
    bool share;
    double start, spread, among;
} traits[CALC_ENGINE_TRAITS] = {
#define CALC_X(name, member, share, start, spread, among)                                          \
    {name, offsetof(calc_engine_traits, member), share, start, spread, among},
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
    if (documented && engine->compiled) {
        start.issue_s = COMPILED_S / 2;
    }
    return start;
}

static double to_number(int trait, double value)
{
    return traits[trait].share ? log(value / (1 - value)) : log(value);
}

/* Within the range of the field. A host that works ahead of steps takes no more than this: where it
 * did, the times of all models on all machines would be its own. Its ranks work at the same time,
 * and eight of them take twice as long as one at most. */
static double from_number(int trait, double number, const calc_serving_engine *engine)
{
    static const double most_ahead[CALC_ENGINE_TRAITS] = {
        [CALC_ENGINE_TRAIT_host_s] = 2e-3,
        [CALC_ENGINE_TRAIT_host_sequence_s] = 4e-6,
        [CALC_ENGINE_TRAIT_host_growth] = 1.0 / 3};
    const calc_field *field = calc_table_find(calc_serving_engine_table(), traits[trait].name);
    double most = engine->traits.overlapped && most_ahead[trait] > 0       ? most_ahead[trait]
                  : engine->compiled && trait == CALC_ENGINE_TRAIT_issue_s ? COMPILED_S
                                                                           : field->hi;
    double value = traits[trait].share ? 1 / (1 + exp(-number)) : exp(number);
    return fmin(fmax(value, field->lo), most);
}

/* The prior where nothing is known but a start: that of all engines, or of one's own. */
static calc_engine_prior prior_at(const calc_engine_traits *start, bool documented)
{
    calc_engine_prior prior;
    calc_engine_traits t = *start;
    for (int k = 0; k < CALC_ENGINE_TRAITS; k++) {
        prior.centre[k] = to_number(k, *calc_engine_trait(&t, k));
        prior.spread[k] = documented && traits[k].among > 0 ? traits[k].among : traits[k].spread;
    }
    return prior;
}

/* Normal estimates joined: by the inverse of their variances. */
typedef struct estimate {
    double sum, weight;
} estimate;

static void join(estimate *e, double value, double variance)
{
    e->sum += value / variance;
    e->weight += 1 / variance;
}

/* What the runs of a fit say of a trait without its prior, with more variance.
 * @return whether they say anything */
static bool join_runs(estimate *e, const calc_engine_fit *fit, int k, double more)
{
    double weight = 1 / (fit->error[k] * fit->error[k]);
    double prior = 1 / (fit->prior.spread[k] * fit->prior.spread[k]);
    double own = weight - prior;
    if (fit->points == 0 || !(own > 0.05 * prior)) {
        return false;
    }
    join(e, (fit->number[k] * weight - fit->prior.centre[k] * prior) / own, 1 / own + more);
    return true;
}

/* The engines of a program, whose builds for ROCm have kernels of their own; one without a program
 * is alone. */
static bool is_of(const calc_engine_fit *fit, const calc_engine_fit *other)
{
    bool rocm = fit->engine->platform == CALC_PLATFORM_ROCM;
    return fit == other || (fit->engine->program != CALC_SERVING_PROGRAM_OTHER &&
                            fit->engine->program == other->engine->program &&
                            rocm == (other->engine->platform == CALC_PLATFORM_ROCM));
}

/* The prior of one engine by the fits of the others: its program's other versions, and all other
 * programs, each with a spread that is stated (Gelman and Hill 2007, ch. 12: partial pooling). */
static calc_engine_prior prior_of(const calc_engine_fit *fits, size_t count, size_t which)
{
    const calc_engine_fit *me = &fits[which];
    calc_engine_prior prior = prior_at(&me->start, true);
    for (int k = 0; k < CALC_ENGINE_TRAITS; k++) {
        if (traits[k].among <= 0) {
            continue;
        }
        double engines = pow(traits[k].among, 2);
        double versions = pow(OF_VERSIONS * traits[k].among, 2);
        estimate all = {0}, own = {0};
        join(&all, prior.centre[k], prior.spread[k] * prior.spread[k]);
        for (size_t f = 0; f < count; f++) { /* programs, at the first of each */
            size_t first = 0;
            estimate program = {0};
            while (!is_of(&fits[f], &fits[first])) {
                first++;
            }
            for (size_t g = f; first == f && g < count && !is_of(me, &fits[f]); g++) {
                if (is_of(&fits[f], &fits[g])) {
                    (void)join_runs(&program, &fits[g], k, versions);
                }
            }
            if (program.weight > 0) {
                join(&all, program.sum / program.weight, 1 / program.weight + engines);
            }
        }
        join(&own, all.sum / all.weight, 1 / all.weight + engines);
        for (size_t f = 0; f < count; f++) {
            if (f != which && is_of(me, &fits[f])) {
                (void)join_runs(&own, &fits[f], k, versions);
            }
        }
        prior.centre[k] = own.sum / own.weight;
        prior.spread[k] = sqrt(1 / own.weight + versions);
    }
    return prior;
}

/* Measurements of a run are neighbours, so that it is predicted once. */
typedef struct engine_fit_task {
    const calc_engine_fit *fit;
    const calc_engine_point *point;
} engine_fit_task;

static calc_engine_traits traits_at(const calc_engine_fit *fit, const double *x)
{
    calc_engine_traits t = fit->start;
    for (int k = 0; k < CALC_ENGINE_TRAITS; k++) {
        double number = fit->prior.centre[k] + x[k] * fit->prior.spread[k];
        *calc_engine_trait(&t, k) = from_number(k, number, fit->engine);
    }
    return t;
}

/* How fast weights are unpacked (MXFP4) is known badly: that they are is not to be taken for slow
 * reading of the cache, so that such runs say nothing of it. */
static void residuals(void *context, const double *x, double *residual)
{
    const engine_fit_task *t = context;
    calc_engine_traits now = traits_at(t->fit, x);
    calc_serving_prediction p = {0};
    const calc_serving_prediction *last = NULL;
    for (size_t i = 0; i < t->fit->count; i++) {
        const calc_result *r = t->point[i].result;
        if (!t->point[i].use) {
            continue;
        }
        if (r->serving != last) {
            p = *r->serving;
            calc_engine_traits of = now;
            if (p.map.exec.strategy.weight_datatype != p.map.exec.strategy.matrix_datatype) {
                of.cache_share = t->fit->start.cache_share;
            }
            calc_serving_predict_with(&p, &of);
            last = r->serving;
        }
        double weight =
            sqrt(t->point[i].weight * (r->quantity == CALC_QUANTITY_TTFT ? FIRST_TOKEN_WEIGHT : 1));
        double error = log(p.predicted[r->quantity] / r->measured) / SIGMA;
        *residual++ = weight * calc_least_squares_soft(error);
    }
    for (int k = 0; k < CALC_ENGINE_TRAITS; k++) {
        *residual++ = x[k];
    }
}

/* Fit to those of an engine's points that are used, the first of them `point`; fills what the fit
 * has beside its start and prior. */
static calc_status fit_engine(calc_engine_fit *fit, const calc_engine_point *point,
                              calc_errors *errors)
{
    enum { STEPS = 30 };
    double x[CALC_ENGINE_TRAITS] = {0}, error[CALC_ENGINE_TRAITS];
    engine_fit_task t = {fit, point};
    fit->points = 0;
    for (size_t i = 0; i < fit->count; i++) {
        fit->points += point[i].use;
    }
    bool again = fit->points > 0 && fit->error[0] > 0;
    for (int k = 0; k < CALC_ENGINE_TRAITS && again; k++) { /* from the last fit on */
        x[k] = (fit->number[k] - fit->prior.centre[k]) / fit->prior.spread[k];
    }
    calc_least_squares problem = {.residuals = residuals,
                                  .context = &t,
                                  .parameters = CALC_ENGINE_TRAITS,
                                  .count = fit->points + CALC_ENGINE_TRAITS,
                                  .step = 1e-3,
                                  .most = STEPS,
                                  .enough = 0.01};
    calc_status status = calc_least_squares_solve(&problem, x, error, errors);
    fit->traits = traits_at(fit, x);
    for (int k = 0; status == CALC_OK && k < CALC_ENGINE_TRAITS; k++) {
        double value = *calc_engine_trait(&fit->traits, k);
        fit->number[k] = to_number(k, traits[k].share ? fmin(value, MOST_SHARE) : value);
        fit->error[k] = error[k] * fit->prior.spread[k];
        /* Of a time that of its logarithm; of a share that of its log-odds times 1 minus it. */
        fit->relative_error[k] = traits[k].share ? fit->error[k] * (1 - value) : fit->error[k];
        fit->determined[k] = error[k] < CALC_FIT_DETERMINED;
    }
    return status;
}

double calc_engine_fit_predict(const calc_engine_point *point, const calc_engine_traits *of)
{
    calc_serving_prediction p = *point->result->serving;
    calc_serving_predict_with(&p, of);
    return p.predicted[point->result->quantity];
}

/* Everything at hand. Points of an engine are neighbours. */
typedef struct task {
    const calc_engine_plan *plan;
    calc_engine_fit *fit;
    size_t fits;
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

/* What runs that are left out together share. */
static const char *(*const common[])(const calc_result *) = {
    [CALC_CROSS_SOURCE] = calc_evidence_publisher,
    [CALC_CROSS_MACHINE] = calc_result_machine,
    [CALC_CROSS_MODEL] = calc_result_model,
    [CALC_CROSS_ENGINE] = calc_result_engine};

/* Later than the earlier half of an engine's runs that have a date. */
static void assign_dates(task *t, const calc_engine_fit *fit, const char **room)
{
    size_t count = 0, end = fit->first + fit->count;
    for (size_t i = fit->first; i < end; i++) {
        if (t->fold[i] >= 0 && *map_of(&t->point[i])->row->published) {
            room[count++] = map_of(&t->point[i])->row->published;
        }
    }
    CALC_SORT(room, count, calc_order_texts);
    const char *last = count > 0 ? room[(count - 1) / 2] : "";
    for (size_t i = fit->first; i < end; i++) {
        if (t->fold[i] >= 0) {
            t->fold[i] = strcmp(map_of(&t->point[i])->row->published, last) > 0;
        }
    }
    t->folds = 2;
}

/* Of halves: what the table says; negative or NaN: nothing, or these are no halves. */
static double half_of(const task *t, size_t i)
{
    return t->plan->cross == CALC_CROSS_HALF ? map_of(&t->point[i])->row->half : -1;
}

/* Every load of a layout and workload is in the same half, every other one of them in the second
 * where the table does not say. All that have another property in common are a fold. */
static void assign_alike(task *t)
{
    calc_cross cross = t->plan->cross;
    bool halves = cross == CALC_CROSS_HALF;
    int kinds = 0;
    for (size_t i = 0; i < t->count; i++) {
        const calc_engine_point *p = t->point;
        size_t j = half_of(t, i) >= 0 ? i : 0;
        while (j < i &&
               (t->fold[j] < 0 || half_of(t, j) >= 0 ||
                !(halves ? calc_serving_map_alike(map_of(&p[j]), map_of(&p[i]))
                         : strcmp(common[cross](p[j].result), common[cross](p[i].result)) == 0))) {
            j++;
        }
        if (t->fold[i] >= 0) {
            t->fold[i] = half_of(t, i) >= 0 ? half_of(t, i) > 0
                         : j < i            ? t->fold[j]
                         : halves           ? kinds++ % 2
                                            : kinds++;
        }
    }
    t->folds = halves ? 2 : kinds;
}

static void assign_folds(task *t)
{
    for (size_t i = 0; i < t->count; i++) {
        const char *remark = t->point[i].result->remark; /* of one that is scored: suspect */
        bool held = calc_evidence_is_of(t->point[i].result, t->plan->held_out);
        t->fold[i] = (remark && *remark) || held ? -1 : 0;
    }
    t->folds = 1;
    if (t->plan->cross == CALC_CROSS_LATER) {
        const char **room = calc_make(t->count, sizeof *room);
        for (size_t f = 0; f < t->fits; f++) {
            assign_dates(t, &t->fit[f], room);
        }
        free(room);
    } else if (t->plan->cross != CALC_CROSS_NONE) {
        assign_alike(t);
    }
}

/* Share of the variance of errors that runs of one model on one engine have in common: so many of
 * them count as fewer that are independent (design effect, Kish 1965). Chosen of 0, 0.03 and 0.2
 * with the errors of both halves in view. */
#define SHARED 0.03

/* Let fits see all points but those of a fold, or of a fold alone. */
static void show(task *t, int fold, bool alone)
{
    for (size_t i = 0; i < t->count; i++) {
        t->point[i].use = t->fold[i] >= 0 && (t->fold[i] == fold) == alone;
    }
    for (size_t f = 0; f < t->fits; f++) {
        calc_engine_point *own = &t->point[t->fit[f].first];
        for (size_t i = 0; i < t->fit[f].count; i++) {
            double others = 0;
            for (size_t j = 0; j < t->fit[f].count && own[i].use; j++) {
                others += i != j && own[j].use &&
                          own[i].result->quantity == own[j].result->quantity &&
                          strcmp(map_of(&own[i])->row->app, map_of(&own[j])->row->app) == 0;
            }
            own[i].weight = 1 / (1 + SHARED * others);
        }
    }
}

static void predict(const task *t, const calc_engine_fit *fits, int fold, double *into)
{
    for (size_t f = 0; f < t->fits; f++) {
        for (size_t i = fits[f].first; i < fits[f].first + fits[f].count; i++) {
            if (t->fold[i] == fold) {
                into[t->point[i].index] = calc_engine_fit_predict(&t->point[i], &fits[f].traits);
            }
        }
    }
}

/* Every engine by what is documented, and then by what the fits of the others say.
 * @param fold    only engines that have runs in it; -1: all
 * @param before  room for the fits by what is documented */
static calc_status fit_all(const task *t, int fold, calc_engine_fit *fits, calc_engine_fit *before,
                           calc_errors *errors)
{
    calc_status status = CALC_OK;
    int rounds = t->plan->documented ? 2 : 1;
    for (int pooled = 0; pooled < rounds; pooled++) {
        memcpy(before, fits, t->fits * sizeof *before);
        for (size_t f = 0; f < t->fits && status == CALC_OK; f++) {
            bool asked = fold < 0;
            for (size_t i = 0; i < fits[f].count; i++) {
                asked = asked || t->fold[fits[f].first + i] == fold;
            }
            if (asked) {
                fits[f].prior = pooled ? prior_of(before, t->fits, f)
                                       : prior_at(&fits[f].start, t->plan->documented);
                status = fit_engine(&fits[f], &t->point[fits[f].first], errors);
            }
        }
    }
    return status;
}

/* The fits, and their predictions of the runs they saw and of those held out. */
static calc_status fit_seen(task *t, calc_engine_fit *before, calc_errors *errors)
{
    bool first_only = t->plan->cross == CALC_CROSS_HALF;
    show(t, first_only ? 0 : -1, first_only);
    calc_status status = fit_all(t, -1, t->fit, before, errors);
    predict(t, t->fit, -1, t->unseen);
    for (int fold = 0; fold < t->folds; fold++) {
        predict(t, t->fit, fold, first_only && fold > 0 ? t->unseen : t->fitted);
    }
    return status;
}

/* Each fold by fits to what they may know; engines without runs in it know the same as before.
 * @param room  for three sets of fits, the first those to all runs by what is documented */
static calc_status fit_folds(task *t, calc_engine_fit *room, calc_errors *errors)
{
    bool later = t->plan->cross == CALC_CROSS_LATER;
    calc_engine_fit *without = room + t->fits;
    calc_status status = CALC_OK;
    for (int fold = later; fold < t->folds && status == CALC_OK; fold++) {
        show(t, later ? 0 : fold, later);
        memcpy(without, t->plan->documented ? room : t->fit, t->fits * sizeof *without);
        status = fit_all(t, fold, without, without + t->fits, errors);
        predict(t, without, fold, t->unseen);
    }
    return status;
}

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
           (!plan->machine || calc_evidence_is_of(r, plan->machine));
}

/* The runs of each engine. Programs of which nobody measured a run are left as they are. */
static void collect(task *t, const calc_results *results)
{
    const calc_serving_engines *engines = t->plan->engines;
    for (size_t e = 0; e < engines->count; e++) {
        calc_engine_fit *fit = &t->fit[t->fits];
        *fit = (calc_engine_fit){.engine = &engines->item[e], .first = t->count};
        for (size_t i = 0; i < results->count; i++) {
            if (counts(t->plan, &results->item[i], fit->engine)) {
                t->point[t->count++] = (calc_engine_point){&results->item[i], i, true, 1};
            }
        }
        fit->count = t->count - fit->first;
        fit->start = calc_engine_fit_start(fit->engine, t->plan->documented);
        t->fits += fit->count > 0 || fit->engine->program != CALC_SERVING_PROGRAM_OTHER;
    }
}

calc_status calc_engine_calibrate(calc_engine_calibration *out, const calc_engine_plan *plan,
                                  const calc_results *results, double *fitted, double *unseen,
                                  calc_errors *errors)
{
    task t = {.plan = plan,
              .fit = calc_make(plan->engines->count, sizeof *t.fit),
              .point = calc_make(results->count, sizeof *t.point),
              .fold = calc_make(results->count, sizeof *t.fold),
              .fitted = fitted,
              .unseen = unseen};
    calc_engine_fit *room = calc_make(3 * plan->engines->count, sizeof *room);
    *out = (calc_engine_calibration){.fit = t.fit};
    for (size_t i = 0; i < results->count; i++) {
        fitted[i] = unseen[i] = (double)NAN;
    }
    collect(&t, results);
    assign_folds(&t);
    calc_status status =
        t.count > 0 ? fit_seen(&t, room, errors)
                    : calc_errors_add(errors, CALC_ERR_RULE, CALC_KIND_NONE, NULL,
                                      "calc validate says which runs count, and why others do not",
                                      "no run of serving that counts names an engine");
    if (status == CALC_OK && plan->cross != CALC_CROSS_NONE && plan->cross != CALC_CROSS_HALF) {
        status = fit_folds(&t, room, errors);
    }
    /* Where runs are few, fits of the others say the rest. */
    for (size_t f = 0; status == CALC_OK && f < t.fits; f++) {
        if (t.fit[f].count > 0 || plan->documented) {
            out->fit[out->count++] = t.fit[f];
        }
    }
    free(room);
    free(t.point);
    free(t.fold);
    return status;
}
