#include "validate/error_groups.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/buffer.h"
#include "base/error.h"
#include "base/make.h"
#include "io/csv_table.h"

double calc_spread_quantile(const double *sorted, size_t count, double q)
{
    if (count == 0) {
        return (double)NAN;
    }
    double place = q * (double)(count - 1);
    size_t below = (size_t)place;
    size_t above = below + 1 < count ? below + 1 : below;
    return sorted[below] + (place - (double)below) * (sorted[above] - sorted[below]);
}

calc_spread calc_spread_of(double *error, size_t count)
{
    double sum = 0, sum_abs = 0;
    for (size_t i = 0; i < count; i++) {
        sum += error[i];
        error[i] = fabs(error[i]);
        sum_abs += error[i];
    }
    CALC_SORT(error, count, calc_order_numbers);
    double n = count > 0 ? (double)count : (double)NAN;
    return (calc_spread){.count = count,
                         .bias = sum / n,
                         .mean_abs = sum_abs / n,
                         .median_abs = calc_spread_quantile(error, count, 0.5),
                         .p90_abs = calc_spread_quantile(error, count, 0.9),
                         .worst_abs = calc_spread_quantile(error, count, 1)};
}

bool calc_result_is_published(const calc_result *result)
{
    return *result->prediction->map.row->publisher != '\0';
}

static const calc_csv_column set_columns[] = {
    {.name = "set", CALC_CSV_MEMBER(calc_run_set, name)},
    {.name = "sources", CALC_CSV_MEMBER(calc_run_set, sources)},
    {.name = "family", CALC_CSV_MEMBER(calc_run_set, family)},
    {.name = "confidence", CALC_CSV_MEMBER(calc_run_set, confidence)}};

static const calc_csv_table set_table = CALC_CSV_TABLE(set_columns, calc_run_set, NULL);

CALC_CSV_LIST_READS(calc_run_sets, calc_run_sets_read, calc_run_sets_free, set_table)

static bool is(const char *wanted, const char *found)
{
    return !*wanted || strcmp(wanted, found) == 0;
}

bool calc_run_set_has(const calc_run_set *set, const calc_result *result)
{
    if (result->serving || !calc_result_is_published(result)) {
        return false;
    }
    const calc_runs_row *row = result->prediction->map.row;
    bool others = *set->sources == '!';
    bool source = !*set->sources || calc_is_word(set->sources + others, row->source) != others;
    return source && is(set->family, row->family) && is(set->confidence, row->confidence);
}

/* A text of the row that a result is of: a member of a run of serving, or of training. */
#define RESULT_TEXT(function, of_serving, of_training)                                             \
    const char *function(const calc_result *r)                                                     \
    {                                                                                              \
        return r->serving ? r->serving->map.row->of_serving : r->prediction->map.row->of_training; \
    }
RESULT_TEXT(calc_result_id, id, id)
RESULT_TEXT(calc_result_source, source, source)
RESULT_TEXT(calc_result_machine, sys, sys)
RESULT_TEXT(calc_result_model, app, model)
RESULT_TEXT(calc_result_confidence, confidence, confidence)

const char *calc_result_kind(const calc_result *r)
{
    return r->serving                               ? calc_serving_kind_words[r->serving->map.kind]
           : r->prediction->map.reason              ? "unknown"
           : r->prediction->map.app.num_experts > 0 ? "MoE"
                                                    : "dense";
}

const char *calc_result_engine(const calc_result *r)
{
    return r->serving && !r->serving->map.reason ? r->serving->map.exec.inference.engine.name
                                                 : NULL;
}

const char *calc_result_regime(const calc_result *r)
{
    return r->serving && !r->serving->map.reason ? calc_serving_regime_words[r->serving->map.regime]
                                                 : NULL;
}

const char *calc_result_period(const calc_result *r)
{
    int year = r->serving ? r->serving->map.year : 0;
    return year >= 2025 ? "2025 and later" : year > 0 ? "before 2025" : NULL;
}

enum { KEYS = 9, NAMES = 4 };

/* What decides who competes with whom: a problem; and, of a layout, which of its results are
 * repeats, measured on another release of the software, or with switches that the model does not
 * know. */
typedef struct identity {
    double problem[KEYS], layout[KEYS];
    const char *name[NAMES];
} identity;

static identity identity_of(const calc_result *r)
{
    const calc_exec *e = r->serving ? &r->serving->map.exec : &r->prediction->map.exec;
    identity is = {.layout = {r->predicted, (double)e->strategy.tensor_par, (double)e->pipeline_par,
                              (double)e->strategy.data_par, (double)e->strategy.context_par,
                              (double)e->strategy.expert_par, (double)e->inference.prefill_procs,
                              (double)e->microbatch_size, (double)e->pipeline_interleaving}};
    if (r->serving) {
        const calc_serving_map *map = &r->serving->map;
        const calc_inference *i = &map->exec.inference;
        const double problem[KEYS] = {map->kind == CALC_SERVING_KIND_ALL_AT_ONCE,
                                      i->arrival_rate,
                                      (double)map->requests,
                                      (double)i->prompt_size,
                                      (double)i->generate_size,
                                      (double)i->speculative_tokens,
                                      e->strategy.weight_datatype,
                                      e->strategy.datatype};
        memcpy(is.problem, problem, sizeof problem);
        is.name[0] = map->row->sys;
        is.name[1] = map->row->app;
        is.name[2] = map->row->source;
        is.name[3] = i->engine.name;
    } else {
        const calc_run_map *map = &r->prediction->map;
        const double problem[KEYS] = {(double)map->app.hidden,    (double)map->app.num_blocks,
                                      (double)map->app.seq_size,  (double)e->num_procs,
                                      (double)e->batch_size,      e->strategy.datatype,
                                      e->strategy.matrix_datatype};
        memcpy(is.problem, problem, sizeof problem);
        is.name[0] = map->row->sys;
        is.name[1] = is.name[2] = is.name[3] = "";
    }
    return is;
}

static int compare_numbers(const double *a, const double *b, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (a[i] != b[i]) {
            return a[i] < b[i] ? -1 : 1;
        }
    }
    return 0;
}

static int compare_problems(const identity *a, const identity *b)
{
    int order = compare_numbers(a->problem, b->problem, KEYS);
    for (size_t i = 0; i < NAMES && order == 0; i++) {
        order = strcmp(a->name[i], b->name[i]);
    }
    return order;
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

/* A result among those that it competes with. */
typedef struct competitor {
    identity is;
    double measured, predicted; /* costs */
    size_t place;               /* in the list of results */
} competitor;

static int compare_competitors(const void *left, const void *right)
{
    const competitor *a = left, *b = right;
    int order = compare_problems(&a->is, &b->is);
    order = order != 0 ? order : compare_numbers(a->is.layout, b->is.layout, KEYS);
    order = order != 0 ? order : compare_numbers(&a->measured, &b->measured, 1);
    return order != 0 ? order : (a->place > b->place) - (a->place < b->place);
}

/* Repeats of one layout, with their costs in ascending order. */
typedef struct repeats {
    const competitor *item;
    size_t count;
    size_t first; /* place of the first in the list of results */
} repeats;

/* Pairs in which an item of `a` costs more than one of `b`, by half a percent, which is less than
 * repeats of one run differ by. */
static size_t count_more(const repeats *a, const repeats *b)
{
    size_t pairs = 0, less = 0;
    for (size_t i = 0; i < a->count; i++) {
        while (less < b->count && log(a->item[i].measured / b->item[less].measured) >= 0.005) {
            less++;
        }
        pairs += less;
    }
    return pairs;
}

/* The layouts that compete with the one at `item`. @return how many */
static size_t list_layouts(const competitor *item, const competitor *end, repeats *layout)
{
    size_t count = 0;
    const competitor *first = item;
    for (; item < end && compare_problems(&item->is, &first->is) == 0; item++) {
        repeats *r = &layout[count - (count > 0)];
        if (count == 0 || compare_numbers(item->is.layout, r->item->is.layout, KEYS) != 0) {
            r = &layout[count++];
            *r = (repeats){.item = item, .first = item->place};
        }
        r->first = item->place < r->first ? item->place : r->first;
        r->count++;
    }
    return count;
}

/* Regret among competing layouts, at the place of their first result. */
static void place_regret(const repeats *layout, size_t count, double *regret)
{
    const repeats *chosen = layout;
    double least = layout->item->measured;
    size_t first = layout->first;
    for (size_t i = 1; i < count; i++) {
        double difference = layout[i].item->predicted - chosen->item->predicted;
        bool better = difference < 0 || (difference == 0 && layout[i].first < chosen->first);
        chosen = better ? &layout[i] : chosen;
        least = fmin(least, layout[i].item->measured);
        first = layout[i].first < first ? layout[i].first : first;
    }
    regret[first] = count > 1 ? chosen->item->measured / least - 1 : (double)NAN;
}

calc_ranking calc_ranking_of(const calc_result *const *result, size_t count)
{
    competitor *list = calc_make(count, sizeof *list);
    repeats *layout = calc_make(count, sizeof *layout);
    double *regret = calc_make(count, sizeof *regret);
    double score = 0, regrets = 0;
    size_t n = 0;
    calc_ranking out = {.regret_worst = (double)NAN};
    for (size_t i = 0; i < count; i++) {
        const calc_result *r = result[i];
        regret[i] = (double)NAN;
        if (!isnan(cost_of(r, 1))) {
            list[n++] = (competitor){.is = identity_of(r),
                                     .measured = cost_of(r, r->measured),
                                     .predicted = cost_of(r, r->predicted),
                                     .place = i};
        }
    }
    CALC_SORT(list, n, compare_competitors);
    for (size_t at = 0; at < n;) {
        size_t layouts = list_layouts(&list[at], &list[n], layout);
        for (size_t i = 0; i < layouts; i++) {
            for (size_t j = i + 1; j < layouts; j++) {
                size_t more = count_more(&layout[i], &layout[j]);
                size_t less = count_more(&layout[j], &layout[i]);
                double difference = layout[i].item->predicted - layout[j].item->predicted;
                double right = difference > 0 ? (double)more : difference < 0 ? (double)less : 0;
                score += 2 * right - (double)(more + less);
                out.pairs += more + less;
            }
            at += layout[i].count;
        }
        place_regret(layout, layouts, regret);
    }
    for (size_t i = 0; i < count; i++) {
        if (!isnan(regret[i])) {
            out.choices++;
            regrets += regret[i];
            out.regret_worst = fmax(out.regret_worst, regret[i]);
        }
    }
    out.tau = out.pairs > 0 ? score / (double)out.pairs : (double)NAN;
    out.regret_mean = out.choices > 0 ? regrets / (double)out.choices : (double)NAN;
    free(list);
    free(layout);
    free(regret);
    return out;
}

static const struct {
    const char *by;
    const char *(*name)(const calc_result *result); /* NULL: the result is in none */
} dimensions[] = {{"source", calc_result_source},   {"engine", calc_result_engine},
                  {"machine", calc_result_machine}, {"model", calc_result_model},
                  {"kind", calc_result_kind},       {"regime", calc_result_regime},
                  {"period", calc_result_period},   {"confidence", calc_result_confidence}};

/* The input of groups, and room for one of them. */
typedef struct maker {
    const calc_results *results;
    const calc_run_sets *sets;
    const double *then;
    const calc_result **member;
    double *error;
    const char **name; /* of groups of a dimension */
    size_t *group;     /* the one of each result; SIZE_MAX: none */
    size_t members;
    calc_error_groups *out;
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

/* Make a group of the members. */
static void add_group(maker *m, const char *by, const char *name, calc_quantity quantity)
{
    if (m->members == 0) {
        return;
    }
    m->out->item = calc_longer(m->out->item, m->out->count + 1, sizeof *m->out->item);
    calc_error_group *group = &m->out->item[m->out->count++];
    *group = (calc_error_group){.by = by, .name = name, .quantity = quantity};
    for (size_t i = 0; i < m->members; i++) {
        m->error[i] = m->member[i]->error;
    }
    group->spread = calc_spread_of(m->error, m->members);
    compare_with_baseline(m, group);
    group->ranking = calc_ranking_of(m->member, m->members);
}

static bool counts(const calc_result *r, calc_quantity quantity)
{
    return r->use == CALC_USE_SCORED && r->quantity == quantity;
}

/* Sets are of published tables. */
static void add_sets(maker *m, calc_quantity quantity)
{
    for (size_t s = 0; m->sets && s < m->sets->count; s++) {
        const calc_run_set *set = &m->sets->item[s];
        m->members = 0;
        for (size_t i = 0; i < m->results->count; i++) {
            const calc_result *r = &m->results->item[i];
            if (counts(r, quantity) && calc_run_set_has(set, r)) {
                m->member[m->members++] = r;
            }
        }
        add_group(m, "set", set->name, quantity);
    }
}

/* Names of a dimension, each once. */
typedef struct selection {
    const char *by; /* of the groups */
    const char *(*name)(const calc_result *result);
    calc_quantity quantity;
    bool own; /* of runs in no published table only */
} selection;

/* A group of each name, in the order in which names appear. */
static void add_dimension(maker *m, const selection *s)
{
    size_t names = 0, last = 0;
    for (size_t i = 0; i < m->results->count; i++) {
        const calc_result *r = &m->results->item[i];
        bool own = !s->own || r->serving || !calc_result_is_published(r);
        const char *name = own && counts(r, s->quantity) ? s->name(r) : NULL;
        m->group[i] = SIZE_MAX;
        if (name) {
            /* Results of a name often stand together. */
            bool again = last < names && strcmp(m->name[last], name) == 0;
            for (last = again ? last : 0; last < names && strcmp(m->name[last], name) != 0;) {
                last++;
            }
            names += last == names;
            m->name[last] = name;
            m->group[i] = last;
        }
    }
    for (size_t k = 0; k < names; k++) {
        m->members = 0;
        for (size_t i = 0; i < m->results->count; i++) {
            m->member[m->members] = &m->results->item[i];
            m->members += m->group[i] == k;
        }
        add_group(m, s->by, m->name[k], s->quantity);
    }
}

static const char *all_of(const calc_result *r)
{
    (void)r;
    return "all";
}

/* The sets of one's own runs: machines, sources and all; a set that would be the one before it is
 * left out. */
static void add_own_sets(maker *m, calc_quantity quantity)
{
    const char *(*const names[])(const calc_result *result) = {calc_result_machine,
                                                               calc_result_source, all_of};
    size_t last = 0; /* members of the largest set */
    for (size_t d = 0; d < sizeof names / sizeof *names; d++) {
        const selection s = {"set", names[d], quantity, true};
        size_t before = last;
        size_t known = m->out->count;
        add_dimension(m, &s);
        for (size_t i = known; i < m->out->count; i++) {
            size_t members = m->out->item[i].spread.count;
            last = members > last ? members : last;
        }
        /* One set of all that the largest one before has: the same one. */
        if (m->out->count == known + 1 && last == before) {
            m->out->count = known;
        }
    }
}

void calc_error_groups_make(calc_error_groups *out, const calc_results *results,
                            const calc_run_sets *sets, const double *then)
{
    *out = (calc_error_groups){0};
    maker m = {.results = results, .sets = sets, .then = then, .out = out};
    m.member = calc_make(results->count + 1, sizeof *m.member);
    m.error = calc_make(results->count, sizeof *m.error);
    m.name = calc_make(results->count, sizeof *m.name);
    m.group = calc_make(results->count, sizeof *m.group);
    for (calc_quantity q = 0; q < CALC_QUANTITY_COUNT; q++) {
        add_sets(&m, q);
        add_own_sets(&m, q);
        for (size_t d = 0; d < sizeof dimensions / sizeof *dimensions; d++) {
            const selection s = {dimensions[d].by, dimensions[d].name, q, false};
            add_dimension(&m, &s);
        }
    }
    free(m.member);
    free(m.error);
    free(m.name);
    free(m.group);
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

CALC_FREES(calc_error_groups_free, calc_error_groups, of->item)

/* One row of the file. */
typedef struct entry {
    const char *id, *status;
    calc_quantity quantity;
    double error; /* NaN: blank */
    int line;
} entry;

static const calc_csv_column columns[] = {
    {CALC_CSV_MEMBER(entry, line)},
    {.name = "id", CALC_CSV_MEMBER(entry, id)},
    {.name = "quantity", CALC_CSV_MEMBER(entry, quantity), .words = calc_quantity_words},
    {.name = "status", CALC_CSV_MEMBER(entry, status)},
    {.name = "error", .flags = CALC_CSV_BLANK, CALC_CSV_MEMBER(entry, error)}};

static const calc_csv_table table =
    CALC_CSV_TABLE(columns, entry, "a baseline is what calc validate --csv writes");

static calc_status take(calc_baseline *out, const calc_results *results, const entry *e,
                        const char *path, calc_errors *errors)
{
    if (strcmp(e->status, calc_use_words[CALC_USE_SCORED]) != 0) {
        return CALC_OK;
    }
    if (isnan(e->error)) {
        return calc_errors_at(errors, CALC_ERR_TYPE, path, e->line, 0, table.hint,
                              "a scored row has an error, this one has none");
    }
    for (size_t i = 0; i < results->count; i++) {
        const calc_result *r = &results->item[i];
        if (r->quantity == e->quantity && strcmp(calc_result_id(r), e->id) == 0) {
            out->error[i] = e->error;
            out->missing += r->use == CALC_USE_UNPREDICTED || r->use == CALC_USE_REFUSED;
            break;
        }
    }
    return CALC_OK;
}

calc_status calc_baseline_read(calc_baseline *out, const char *path, const calc_results *results,
                               calc_errors *errors)
{
    *out = (calc_baseline){.error = calc_make(results->count, sizeof *out->error)};
    for (size_t i = 0; i < results->count; i++) {
        out->error[i] = (double)NAN;
    }
    calc_csv_rows rows;
    calc_status status = calc_csv_table_read(&rows, &table, path, errors);
    const entry *entries = rows.item;
    for (size_t i = 0; status == CALC_OK && i < rows.count; i++) {
        status = take(out, results, &entries[i], path, errors);
    }
    calc_csv_rows_free(&rows);
    return status;
}

CALC_FREES(calc_baseline_free, calc_baseline, of->error)

static calc_covered cover(const calc_result *r, const calc_residuals *residuals, calc_unseen unseen)
{
    const calc_run_map *map = &r->prediction->map;
    const calc_residual *found = calc_residuals_find(residuals, map->row->id, r->quantity);
    bool fitted = !found || isnan(found->value[CALC_UNSEEN_SOFTWARE]);
    const calc_residual *own = fitted == (unseen != CALC_UNSEEN_SOFTWARE) ? found : NULL;
    /* A fit has seen its software; no release moves memory. */
    if ((unseen == CALC_UNSEEN_SOFTWARE && !own) ||
        (unseen == CALC_UNSEEN_RELEASE && r->quantity == CALC_QUANTITY_MEMORY)) {
        return (calc_covered){(double)NAN, (double)NAN};
    }
    const char *family = calc_residuals_family_of(residuals, map->row);
    const calc_band_query query = {.quantity = r->quantity,
                                   .traits = found ? found->traits
                                                   : calc_traits_of(&map->app, &map->exec, family),
                                   .unseen = unseen,
                                   .without = own};
    calc_band band = calc_band_of(residuals, &query);
    double value = own ? own->value[unseen] : log(r->measured / r->predicted);
    return (calc_covered){isnan(band.reach) ? (double)NAN : value, band.reach};
}

void calc_covered_make(calc_covered *out, const calc_results *results,
                       const calc_residuals *residuals, calc_unseen unseen)
{
    for (size_t i = 0; i < results->count; i++) {
        const calc_result *r = &results->item[i];
        out[i] = (calc_covered){(double)NAN, (double)NAN};
        if (r->use == CALC_USE_SCORED) {
            out[i] = cover(r, residuals, unseen);
        }
    }
}

/* The runs of one printed_table. */
typedef struct printed_table {
    const char *name;
    size_t count, inside;
} printed_table;

enum { PRINTED_MAX = 64 };

static double weighed(const printed_table *tables)
{
    double inside = 0, all = 0;
    for (int t = 0; t < PRINTED_MAX && tables[t].count > 0; t++) {
        double weight = calc_spread_weight(tables[t].count);
        inside += (double)tables[t].inside * weight;
        all += (double)tables[t].count * weight;
    }
    return inside / all;
}

calc_coverage calc_coverage_of(const calc_results *results, const calc_covered *covered,
                               calc_quantity quantity, calc_coverage_group of)
{
    printed_table tables[PRINTED_MAX] = {{NULL, 0, 0}};
    calc_coverage c = {0};
    for (size_t i = 0; i < results->count; i++) {
        const calc_result *r = &results->item[i];
        double value = covered[i].value;
        if (isnan(value) || r->quantity != quantity ||
            (of.family && strcmp(r->prediction->map.row->family, of.family) != 0) ||
            (of.kind && strcmp(calc_result_kind(r), of.kind) != 0) ||
            (of.set && !calc_run_set_has(of.set, r))) {
            continue;
        }
        /* Its table, new if there is none; those beyond the last are one. */
        printed_table *t = tables;
        const char *name = calc_result_source(r);
        while (t + 1 < tables + PRINTED_MAX && t->name && strcmp(t->name, name) != 0) {
            t++;
        }
        t->name = name;
        c.count++;
        c.below += value < -covered[i].reach;
        c.above += value > covered[i].reach;
        c.reach += covered[i].reach;
        t->count++;
        t->inside += fabs(value) <= covered[i].reach;
    }
    double n = c.count > 0 ? (double)c.count : (double)NAN;
    c.below /= n;
    c.above /= n;
    c.reach /= n;
    c.inside = 1 - c.below - c.above;
    c.weighed = weighed(tables);
    return c;
}
