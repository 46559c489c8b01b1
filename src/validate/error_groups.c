#include "validate/error_groups.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/buffer.h"
#include "base/error.h"
#include "validate/result_labels.h"
#include "validate/sets.h"

/* ---- Ranking --------------------------------------------------------------------------------- */

static bool compete_training(const calc_result *a, const calc_result *b)
{
    const calc_run_map *left = &a->prediction->map;
    const calc_run_map *right = &b->prediction->map;
    return left->app.hidden == right->app.hidden && left->app.num_blocks == right->app.num_blocks &&
           left->app.seq_size == right->app.seq_size &&
           left->exec.num_procs == right->exec.num_procs &&
           left->exec.batch_size == right->exec.batch_size &&
           left->exec.strategy.datatype == right->exec.strategy.datatype &&
           left->exec.strategy.matrix_datatype == right->exec.strategy.matrix_datatype &&
           strcmp(left->row->sys, right->row->sys) == 0;
}

static bool compete_serving(const calc_result *a, const calc_result *b)
{
    const calc_serving_map *left = &a->serving->map;
    const calc_serving_map *right = &b->serving->map;
    const calc_inference *l = &left->exec.inference;
    const calc_inference *r = &right->exec.inference;
    bool once = left->kind == CALC_SERVING_KIND_ALL_AT_ONCE;
    return once == (right->kind == CALC_SERVING_KIND_ALL_AT_ONCE) &&
           l->arrival_rate == r->arrival_rate && left->requests == right->requests &&
           l->prompt_size == r->prompt_size && l->generate_size == r->generate_size &&
           l->engine == r->engine && l->speculative_tokens == r->speculative_tokens &&
           left->exec.strategy.weight_datatype == right->exec.strategy.weight_datatype &&
           left->exec.strategy.datatype == right->exec.strategy.datatype &&
           strcmp(left->system, right->system) == 0 &&
           strcmp(left->model.name, right->model.name) == 0 &&
           strcmp(left->row->source, right->row->source) == 0;
}

static bool compete(const calc_result *a, const calc_result *b)
{
    return a->serving ? compete_serving(a, b) : compete_training(a, b);
}

static const calc_exec *exec_of(const calc_result *r)
{
    return r->serving ? &r->serving->map.exec : &r->prediction->map.exec;
}

/* Whether two competitors are the same layout, measured twice: on another release of the software,
 * or with switches that the model does not know. */
static bool repeat(const calc_result *a, const calc_result *b)
{
    const calc_exec *left = exec_of(a);
    const calc_exec *right = exec_of(b);
    return a->predicted == b->predicted &&
           left->strategy.tensor_par == right->strategy.tensor_par &&
           left->pipeline_par == right->pipeline_par &&
           left->strategy.data_par == right->strategy.data_par &&
           left->strategy.context_par == right->strategy.context_par &&
           left->strategy.expert_par == right->strategy.expert_par &&
           left->inference.prefill_procs == right->inference.prefill_procs &&
           left->microbatch_size == right->microbatch_size &&
           left->pipeline_interleaving == right->pipeline_interleaving;
}

/* The cost of a value of its quantity: the less, the better a layout is. Times; of throughput the
 * time of a GPU per token. NaN: layouts are not ranked by it. */
static double cost_of(const calc_result *r, double value)
{
    switch (r->quantity) {
    case CALC_QUANTITY_STEP_TIME:
    case CALC_QUANTITY_TPOT:
        return value;
    case CALC_QUANTITY_E2E:
        return value * r->serving->map.gpus;
    case CALC_QUANTITY_OUTPUT_RATE:
        return r->serving->map.gpus / value;
    default:
        return (double)NAN;
    }
}

static double measured_cost(const calc_result *r)
{
    return cost_of(r, r->measured);
}

static double predicted_cost(const calc_result *r)
{
    return cost_of(r, r->predicted);
}

static bool is_ranked(const calc_result *r)
{
    return !isnan(cost_of(r, 1));
}

/* Half a percent is less than repeats of one run differ by. */
static bool differ(const calc_result *a, const calc_result *b)
{
    return fabs(log(measured_cost(a) / measured_cost(b))) >= 0.005;
}

/* Pairs of result[i] with later ones. */
static void rank_pairs(const calc_result *const *result, size_t count, size_t i, double *score,
                       size_t *pairs)
{
    const calc_result *a = result[i];
    for (size_t j = i + 1; j < count; j++) {
        const calc_result *b = result[j];
        if (is_ranked(b) && compete(a, b) && differ(a, b) && !repeat(a, b)) {
            double left = predicted_cost(a), other = predicted_cost(b);
            bool right = (measured_cost(a) > measured_cost(b)) == (left > other);
            *score += right && left != other ? 1 : -1;
            ++*pairs;
        }
    }
}

/* The least measured cost of a layout among its repeats. */
static double least_repeat(const calc_result *const *result, size_t count,
                           const calc_result *chosen)
{
    double least = measured_cost(chosen);
    for (size_t i = 0; i < count; i++) {
        if (is_ranked(result[i]) && compete(chosen, result[i]) && repeat(chosen, result[i])) {
            least = fmin(least, measured_cost(result[i]));
        }
    }
    return least;
}

/* Regret among result[i] and its competitors; NaN if an earlier result stands for them, or all are
 * the same layout. */
static double regret_of(const calc_result *const *result, size_t count, size_t i)
{
    const calc_result *chosen = result[i];
    double least = measured_cost(chosen);
    size_t others = 0;
    for (size_t j = 0; j < count; j++) {
        const calc_result *b = result[j];
        if (j == i || !is_ranked(b) || !compete(result[i], b)) {
            continue;
        }
        if (j < i) {
            return (double)NAN;
        }
        others += !repeat(result[i], b);
        chosen = predicted_cost(b) < predicted_cost(chosen) ? b : chosen;
        least = fmin(least, measured_cost(b));
    }
    return others > 0 ? least_repeat(result, count, chosen) / least - 1 : (double)NAN;
}

calc_ranking calc_ranking_of(const calc_result *const *result, size_t count)
{
    calc_ranking ranking = {.regret_worst = (double)NAN};
    double score = 0;
    double regrets = 0;
    for (size_t i = 0; i < count; i++) {
        if (!is_ranked(result[i])) {
            continue;
        }
        rank_pairs(result, count, i, &score, &ranking.pairs);
        double regret = regret_of(result, count, i);
        if (!isnan(regret)) {
            ranking.choices++;
            regrets += regret;
            ranking.regret_worst = fmax(ranking.regret_worst, regret);
        }
    }
    ranking.tau = ranking.pairs > 0 ? score / (double)ranking.pairs : (double)NAN;
    ranking.regret_mean = ranking.choices > 0 ? regrets / (double)ranking.choices : (double)NAN;
    return ranking;
}

/* ---- Dimensions ------------------------------------------------------------------------------ */

static const struct {
    const char *by;
    const char *(*name)(const calc_result *result); /* NULL: the result is in none */
} dimensions[] = {{"source", calc_result_source},   {"engine", calc_result_engine},
                  {"machine", calc_result_machine}, {"model", calc_result_model},
                  {"kind", calc_result_kind},       {"regime", calc_result_regime},
                  {"period", calc_result_period},   {"confidence", calc_result_confidence}};

/* ---- One group ------------------------------------------------------------------------------- */

/* The input of groups, and room for one of them. */
typedef struct maker {
    const calc_results *results;
    const double *then;
    const calc_result **member;
    double *error;
    size_t members;
    calc_error_groups *out;
    size_t capacity;
} maker;

static void compare_with_baseline(const maker *m, calc_error_group *group)
{
    double now = 0, then = 0;
    for (size_t i = 0; m->then && i < m->members; i++) {
        double before = m->then[m->member[i] - m->results->item];
        if (!isnan(before)) {
            now += fabs(m->member[i]->error);
            then += fabs(before);
            group->shared++;
        }
    }
    double n = group->shared > 0 ? (double)group->shared : (double)NAN;
    group->mean_abs_now = now / n;
    group->mean_abs_then = then / n;
}

/* Make a group of the members. @return false without memory */
static bool add_group(maker *m, const char *by, const char *name, calc_quantity quantity)
{
    if (m->members == 0) {
        return true;
    }
    calc_error_group *grown = calc_grown(m->out->item, m->out->count, &m->capacity, sizeof *grown);
    if (!grown) {
        return false;
    }
    m->out->item = grown;
    calc_error_group *group = &m->out->item[m->out->count++];
    *group = (calc_error_group){.by = by, .name = name, .quantity = quantity};
    for (size_t i = 0; i < m->members; i++) {
        m->error[i] = m->member[i]->error;
    }
    group->spread = calc_spread_of(m->error, m->members);
    group->ranking = calc_ranking_of(m->member, m->members);
    compare_with_baseline(m, group);
    return true;
}

static bool counts(const calc_result *r, calc_quantity quantity)
{
    return r->use == CALC_USE_SCORED && r->quantity == quantity;
}

/* ---- All of them ----------------------------------------------------------------------------- */

/* Sets are of published tables. */
static bool add_sets(maker *m, calc_quantity quantity)
{
    bool fine = true;
    for (size_t s = 0; fine && calc_sets_name(s); s++) {
        m->members = 0;
        for (size_t i = 0; i < m->results->count; i++) {
            const calc_result *r = &m->results->item[i];
            if (counts(r, quantity) && calc_sets_has(s, r)) {
                m->member[m->members++] = r;
            }
        }
        fine = add_group(m, "set", calc_sets_name(s), quantity);
    }
    return fine;
}

/* Names of a dimension, each once. */
typedef struct selection {
    const char *by; /* of the groups */
    const char *(*name)(const calc_result *result);
    calc_quantity quantity;
    bool own; /* of runs in no published table only */
} selection;

/* A result of no published table of training. */
static bool is_own(const calc_result *r)
{
    return r->serving || !calc_sets_is_published(r);
}

static bool is_selected(const selection *s, const calc_result *r)
{
    return counts(r, s->quantity) && (!s->own || is_own(r));
}

/* The members of the name that the result at `first` has; none if an earlier one has it. */
static void select_members(maker *m, const selection *s, size_t first)
{
    const calc_result *item = m->results->item;
    const char *name = is_selected(s, &item[first]) ? s->name(&item[first]) : NULL;
    m->members = 0;
    for (size_t i = 0; name && i < m->results->count; i++) {
        const char *other = is_selected(s, &item[i]) ? s->name(&item[i]) : NULL;
        if (other && strcmp(other, name) == 0) {
            if (i < first) {
                return;
            }
            m->member[m->members++] = &item[i];
        }
    }
}

static bool add_dimension(maker *m, const selection *s)
{
    bool fine = true;
    for (size_t first = 0; fine && first < m->results->count; first++) {
        select_members(m, s, first);
        fine = m->members == 0 || add_group(m, s->by, s->name(m->member[0]), s->quantity);
    }
    return fine;
}

static const char *all_of(const calc_result *r)
{
    (void)r;
    return "all";
}

/* The sets of one's own runs: machines, sources and all; a set that would be the one before it is
 * left out. */
static bool add_own_sets(maker *m, calc_quantity quantity)
{
    const char *(*const names[])(const calc_result *result) = {calc_result_machine,
                                                               calc_result_source, all_of};
    bool fine = true;
    size_t last = 0; /* members of the largest set */
    for (size_t d = 0; fine && d < sizeof names / sizeof *names; d++) {
        const selection s = {"set", names[d], quantity, true};
        size_t before = last;
        size_t sets = m->out->count;
        fine = add_dimension(m, &s);
        for (size_t i = sets; i < m->out->count; i++) {
            size_t members = m->out->item[i].spread.count;
            last = members > last ? members : last;
        }
        /* One set of all that the largest one before has: the same one. */
        if (m->out->count == sets + 1 && last == before) {
            m->out->count = sets;
        }
    }
    return fine;
}

calc_status calc_error_groups_make(calc_error_groups *out, const calc_results *results,
                                   const double *then, calc_errors *errors)
{
    *out = (calc_error_groups){0};
    maker m = {.results = results, .then = then, .out = out};
    m.member = calloc(results->count + 1, sizeof *m.member);
    m.error = calloc(results->count + 1, sizeof *m.error);
    bool fine = m.member && m.error;
    for (int q = 0; fine && q < CALC_QUANTITY_COUNT; q++) {
        fine = add_sets(&m, (calc_quantity)q) && add_own_sets(&m, (calc_quantity)q);
        for (size_t d = 0; fine && d < sizeof dimensions / sizeof *dimensions; d++) {
            const selection s = {dimensions[d].by, dimensions[d].name, (calc_quantity)q, false};
            fine = add_dimension(&m, &s);
        }
    }
    free(m.member);
    free(m.error);
    if (!fine) {
        calc_error_groups_free(out);
        return calc_errors_no_memory(errors);
    }
    return CALC_OK;
}

const calc_error_group *calc_error_groups_like(const calc_error_groups *groups,
                                               const calc_error_group *like)
{
    for (size_t i = 0; i < groups->count; i++) {
        const calc_error_group *g = &groups->item[i];
        if (strcmp(g->by, like->by) == 0 && strcmp(g->name, like->name) == 0 &&
            g->quantity == like->quantity) {
            return g;
        }
    }
    return NULL;
}

void calc_error_groups_free(calc_error_groups *groups)
{
    free(groups->item);
    *groups = (calc_error_groups){0};
}
