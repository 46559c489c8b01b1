#include "calibrate/calibration.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buffer.h"
#include "base/error.h"

enum { STEPS = 40 };

/* One calibration under way. */
typedef struct task {
    calc_calibration *c;
    const calc_calibration_plan *plan;
    const calc_calibration_runs *runs;
    calc_results results;
    calc_evidence evidence;
    bool is_free[CALC_UNKNOWNS_MAX];
    bool *use; /* by index of evidence: part of the fit; NULL: all of it */
} task;

calc_status calc_calibration_start(calc_calibration *out, const char *const *machine,
                                   size_t machines, const calc_calibration_runs *runs,
                                   calc_errors *errors)
{
    *out = (calc_calibration){0};
    if (machines > CALC_UNKNOWNS_MACHINES) {
        return calc_errors_add(errors, CALC_ERR_RANGE, CALC_KIND_NONE, NULL, NULL,
                               "more than %d machines in a family", CALC_UNKNOWNS_MACHINES);
    }
    for (size_t m = 0; m < machines; m++) {
        const calc_systems_entry *entry = calc_systems_get(runs->systems, machine[m]);
        if (!entry->fine) {
            return calc_errors_add(errors, CALC_ERR_NOT_FOUND, CALC_KIND_NONE, NULL, NULL, "%s",
                                   entry->reason);
        }
        out->family.machine[m] = machine[m];
        out->family.system[m] = entry->system;
    }
    out->family.machines = machines;
    return CALC_OK;
}

/* Which evidence is not held out. */
static calc_status choose(task *t, calc_errors *errors)
{
    free(t->use);
    t->use = NULL;
    if (!t->plan->held_out) {
        return CALC_OK;
    }
    t->use = calloc(t->evidence.count + 1, sizeof *t->use);
    if (!t->use) {
        return calc_errors_no_memory(errors);
    }
    for (size_t i = 0; i < t->evidence.count; i++) {
        t->use[i] = !calc_evidence_is_of(t->evidence.row[i].result, t->plan->held_out);
    }
    return CALC_OK;
}

/* Predict with the values as they are; layouts that must be searched are found anew. */
static calc_status predict(task *t, calc_errors *errors)
{
    calc_family *family = &t->c->family;
    calc_unknowns_apply(&t->c->unknowns, family->system, family->machines);
    for (size_t m = 0; m < family->machines; m++) {
        for (int i = 0; i < t->runs->systems->count; i++) {
            calc_systems_entry *entry = &t->runs->systems->entry[i];
            if (strcmp(entry->name, family->machine[m]) == 0) {
                entry->system = family->system[m];
            }
        }
    }
    calc_evidence_free(&t->evidence);
    calc_results_free(&t->results);
    calc_status status = calc_results_make(&t->results, t->runs->runs, t->runs->files,
                                           t->runs->remarks, t->runs->systems, errors);
    if (status == CALC_OK) {
        status = calc_evidence_make(&t->evidence, &t->results, family->machine, family->machines,
                                    errors);
    }
    return status == CALC_OK ? choose(t, errors) : status;
}

static void count_runs(task *t)
{
    calc_calibration *c = t->c;
    for (size_t i = 0; i < t->evidence.count; i++) {
        /* A machine whose runs are all held out starts from the prior, too. */
        c->family.measured |= 1U << t->evidence.row[i].machine;
        if (t->use && !t->use[i]) {
            continue;
        }
        c->runs++;
        const char *name = t->evidence.row[i].result->prediction->map.row->source;
        size_t k = 0;
        while (k < c->sources && strcmp(c->source[k].name, name) != 0) {
            k++;
        }
        if (k == c->sources && k < CALC_CALIBRATION_SOURCES) {
            c->source[c->sources++] = (calc_calibration_source){name, 0};
        }
        if (k < CALC_CALIBRATION_SOURCES) {
            c->source[k].count++;
        }
    }
}

/* The machines that have runs, for a hint. @return whether there is one */
static bool list_machines(const task *t, char *text, size_t size)
{
    const calc_result *item = t->results.item;
    bool some = false;
    snprintf(text, size, "the runs are on");
    for (size_t i = 0; i < t->results.count; i++) {
        bool first = item[i].use == CALC_USE_SCORED;
        for (size_t k = 0; k < i && first; k++) {
            first = item[k].use != CALC_USE_SCORED ||
                    strcmp(item[k].prediction->map.row->sys, item[i].prediction->map.row->sys) != 0;
        }
        if (first) {
            calc_append(text, size, "%s %s", some ? "," : "", item[i].prediction->map.row->sys);
            some = true;
        }
    }
    return some;
}

static calc_status fit(task *t, const bool *use, calc_unknowns *unknowns, calc_errors *errors)
{
    calc_fit f = {&t->evidence, use, &t->c->family, STEPS};
    return calc_fit_unknowns(&f, unknowns, t->is_free, errors);
}

/* How much the sum of squares grows if the unknown goes back to its prior, approximately: the
 * square of its distance in standard errors. */
static double worth(const calc_unknown *p)
{
    const calc_constant *c = p->constant;
    double moved = calc_constant_to_free(c, p->value) - calc_constant_to_free(c, p->start);
    return moved * moved / (p->error * p->error);
}

/* The free unknown whose value matters least; of those alone that the runs neither determine nor
 * contradict unless `any`. @return its index; `count` if there is none */
static size_t least_worth(const task *t, bool any)
{
    const calc_unknowns *u = &t->c->unknowns;
    size_t least = u->count;
    for (size_t i = 0; i < u->count; i++) {
        bool idle = !u->item[i].determined && !u->item[i].indicated;
        if (t->is_free[i] && (any || idle) &&
            (least == u->count || worth(&u->item[i]) < worth(&u->item[least]))) {
            least = i;
        }
    }
    return least;
}

/* The free unknown to give up next; `count` if all may stay. */
static size_t next_to_give_up(const task *t)
{
    const calc_unknowns *u = &t->c->unknowns;
    size_t number = 0;
    for (size_t i = 0; i < u->count; i++) {
        number += t->is_free[i];
    }
    size_t least = least_worth(t, false);
    return least < u->count || number <= t->plan->most ? least : least_worth(t, true);
}

/* Fit, give up the unknown that matters least, and again: of several that only their combination is
 * determined, one remains. */
static calc_status select_unknowns(task *t, calc_errors *errors)
{
    calc_unknowns *u = &t->c->unknowns;
    for (size_t i = 0; i < u->count; i++) {
        t->is_free[i] = true;
    }
    calc_status status = fit(t, t->use, u, errors);
    size_t least;
    while (status == CALC_OK && !t->plan->all && (least = next_to_give_up(t)) < u->count) {
        t->is_free[least] = false;
        u->item[least].value = u->item[least].start;
        u->item[least].error = (double)NAN;
        status = fit(t, t->use, u, errors);
    }
    return status;
}

static calc_status fit_all(task *t, calc_errors *errors)
{
    calc_status status = select_unknowns(t, errors);
    status = status == CALC_OK ? predict(t, errors) : status;
    status = status == CALC_OK ? fit(t, t->use, &t->c->unknowns, errors) : status;
    for (size_t i = 0; i < t->c->unknowns.count; i++) {
        char text[32];
        calc_unknown *p = &t->c->unknowns.item[i];
        snprintf(text, sizeof text, "%.3g", p->value);
        p->value = p->value == p->start ? p->start : strtod(text, NULL);
    }
    return status == CALC_OK ? predict(t, errors) : status;
}

static calc_status check_range(task *t, calc_errors *errors)
{
    calc_calibration *c = t->c;
    const calc_fit f = {&t->evidence, t->use, &c->family, STEPS};
    calc_status status = calc_influence_find(&c->outside, &f, &c->unknowns, t->is_free, errors);
    if (status == CALC_OK && c->outside.constant) {
        c->pull = t->evidence.row[c->outside.row].result->prediction->map.row;
    }
    return status;
}

static int fold_of(const task *t, size_t row)
{
    const calc_evidence_row *r = &t->evidence.row[row];
    return t->plan->cross == CALC_CROSS_WIDTH ? r->width_fold : r->source_fold;
}

static calc_status cross_fold(task *t, int fold, bool *use, double *unseen, calc_errors *errors)
{
    size_t left = 0;
    for (size_t i = 0; i < t->evidence.count; i++) {
        use[i] = fold_of(t, i) != fold && (!t->use || t->use[i]);
        left += use[i];
    }
    if (left == 0 || left == t->evidence.count) {
        return CALC_OK;
    }
    calc_unknowns unknowns = t->c->unknowns;
    calc_status status = fit(t, use, &unknowns, errors);
    calc_family *family = malloc(sizeof *family);
    if (status != CALC_OK || !family) {
        free(family);
        return status != CALC_OK ? status : CALC_ERR_NOMEM;
    }
    *family = t->c->family;
    calc_unknowns_apply(&unknowns, family->system, family->machines);
    for (size_t i = 0; i < t->evidence.count; i++) {
        const calc_evidence_row *row = &t->evidence.row[i];
        if (fold_of(t, i) == fold) {
            unseen[row->index] = calc_evidence_predict_s(row, &family->system[row->machine]);
        }
    }
    free(family);
    return CALC_OK;
}

static calc_status cross_validate(task *t, double *unseen, calc_errors *errors)
{
    int folds = t->plan->cross == CALC_CROSS_WIDTH    ? t->evidence.width_folds
                : t->plan->cross == CALC_CROSS_SOURCE ? t->evidence.source_folds
                                                      : 0;
    bool *use = calloc(t->evidence.count + 1, sizeof *use);
    calc_status status = use ? CALC_OK : CALC_ERR_NOMEM;
    for (int fold = 0; fold < folds && status == CALC_OK; fold++) {
        status = cross_fold(t, fold, use, unseen, errors);
    }
    free(use);
    return status;
}

static calc_status calibrate(task *t, double *before, double *unseen, calc_errors *errors)
{
    calc_status status = predict(t, errors);
    if (status != CALC_OK) {
        return status;
    }
    count_runs(t);
    if (t->c->runs == 0) {
        char others[160];
        bool held_out = t->evidence.count > 0;
        bool hint = !held_out && list_machines(t, others, sizeof others);
        return calc_errors_add(errors, CALC_ERR_RULE, CALC_KIND_NONE, NULL, hint ? others : NULL,
                               "no measured run on %s%s", t->c->family.machine[0],
                               held_out ? " that is not held out" : "");
    }
    const char *family = t->evidence.row[0].result->prediction->map.row->family;
    t->c->family.name = *family ? family : NULL;
    calc_unknowns_make(&t->c->unknowns, &t->c->family, t->plan->fields, t->plan->documented);
    status = predict(t, errors);
    for (size_t i = 0; status == CALC_OK && i < t->evidence.count; i++) {
        const calc_evidence_row *row = &t->evidence.row[i];
        before[row->index] = row->result->predicted;
    }
    status = status == CALC_OK ? fit_all(t, errors) : status;
    status = status == CALC_OK ? check_range(t, errors) : status;
    bool more = status == CALC_OK && !t->c->outside.constant;
    return more ? cross_validate(t, unseen, errors) : status;
}

static calc_status cross(task *t, double *unseen, int *fold, calc_errors *errors)
{
    for (size_t i = 0; i < t->c->unknowns.count; i++) {
        t->is_free[i] = !isnan(t->c->unknowns.item[i].error);
    }
    calc_status status = predict(t, errors);
    for (size_t i = 0; fold && i < t->evidence.count; i++) {
        fold[t->evidence.row[i].index] = fold_of(t, i);
    }
    return status == CALC_OK ? cross_validate(t, unseen, errors) : status;
}

/* Free a task's memory, and add an error for its status if there is none yet. */
static calc_status end(task *t, calc_status status, calc_errors *errors)
{
    calc_evidence_free(&t->evidence);
    calc_results_free(&t->results);
    free(t->use);
    if (status == CALC_ERR_NOMEM && errors && errors->count == 0) {
        calc_errors_no_memory(errors);
    }
    return status;
}

calc_status calc_calibrate(calc_calibration *c, const calc_calibration_plan *plan,
                           const calc_calibration_runs *runs, double *before, double *unseen,
                           calc_errors *errors)
{
    task t = {.c = c, .plan = plan, .runs = runs};
    return end(&t, calibrate(&t, before, unseen, errors), errors);
}

calc_status calc_calibration_cross(calc_calibration *c, calc_cross by,
                                   const calc_calibration_runs *runs, double *unseen, int *fold,
                                   calc_errors *errors)
{
    const calc_calibration_plan plan = {.cross = by};
    task t = {.c = c, .plan = &plan, .runs = runs};
    return end(&t, cross(&t, unseen, fold, errors), errors);
}

/* By index of result. */
typedef struct unseen {
    double *predicted[CALC_UNSEEN_CROSSED]; /* NaN: none */
    int *fold[CALC_UNSEEN_CROSSED];
} unseen;

static const calc_cross crosses[] = {
    [CALC_UNSEEN_WIDTH] = CALC_CROSS_WIDTH, [CALC_UNSEEN_SOURCE] = CALC_CROSS_SOURCE};

static calc_status allocate(unseen *u, size_t count)
{
    for (int k = 0; k < CALC_UNSEEN_CROSSED; k++) {
        u->predicted[k] = calloc(count + 1, sizeof *u->predicted[k]);
        u->fold[k] = calloc(count + 1, sizeof *u->fold[k]);
        if (!u->predicted[k] || !u->fold[k]) {
            return CALC_ERR_NOMEM;
        }
        for (size_t i = 0; i < count; i++) {
            u->predicted[k][i] = (double)NAN;
        }
    }
    return CALC_OK;
}

static bool has(const calc_calibration *family, const calc_result *result)
{
    bool found = false;
    for (size_t m = 0; m < family->family.machines; m++) {
        found = found || strcmp(family->family.machine[m], result->prediction->map.row->sys) == 0;
    }
    return found;
}

static bool is_calibrated(const calc_calibration *family, size_t families,
                          const calc_result *result)
{
    bool found = false;
    for (size_t f = 0; f < families; f++) {
        found = found || has(&family[f], result);
    }
    return found;
}

/* Runs of one publisher have the number of its first run. */
static int fold_of_publisher(const calc_results *results, size_t index)
{
    const char *name = calc_evidence_publisher(&results->item[index]);
    size_t first = 0;
    while (strcmp(calc_evidence_publisher(&results->item[first]), name) != 0) {
        first++;
    }
    return (int)first;
}

/* A publisher is one fold on machines of all families; the parts of a single table stay apart. */
static void number_sources(unseen *u, const calc_calibration *family, const calc_results *results)
{
    int *fold = u->fold[CALC_UNSEEN_SOURCE];
    for (size_t i = 0; i < results->count; i++) {
        const calc_result *r = &results->item[i];
        if (r->use == CALC_USE_SCORED && has(family, r)) {
            fold[i] =
                family->sources > 1 ? fold_of_publisher(results, i) : (int)results->count + fold[i];
        }
    }
}

static void add_memory(unseen *u, const calc_results *results)
{
    for (size_t i = 0; i < results->count; i++) {
        const calc_result *r = &results->item[i];
        if (r->quantity == CALC_QUANTITY_MEMORY && r->use == CALC_USE_SCORED) {
            u->predicted[CALC_UNSEEN_WIDTH][i] = u->predicted[CALC_UNSEEN_SOURCE][i] = r->predicted;
            u->fold[CALC_UNSEEN_WIDTH][i] =
                calc_evidence_width_fold(r->prediction->map.app.hidden, 0);
            u->fold[CALC_UNSEEN_SOURCE][i] = fold_of_publisher(results, i);
        }
    }
}

static void write(calc_output *out, const unseen *u, const calc_results *results, size_t index)
{
    const calc_result *r = &results->item[index];
    const calc_run_map *map = &r->prediction->map;
    calc_residual residual = {.id = map->row->id,
                              .source = map->row->source,
                              .machine = map->row->sys,
                              .quantity = r->quantity,
                              .traits = calc_traits_of(&map->app, &map->exec, map->row->family)};
    for (int k = 0; k < CALC_UNSEEN_CROSSED; k++) {
        residual.value[k] = log(r->measured / u->predicted[k][index]);
        residual.fold[k] = u->fold[k][index];
    }
    /* A run that every fit has seen has none. */
    if (isfinite(residual.value[CALC_UNSEEN_WIDTH]) &&
        isfinite(residual.value[CALC_UNSEEN_SOURCE])) {
        calc_residuals_write(out, &residual);
    }
}

calc_status calc_unseen_write(calc_output *out, calc_calibration *family, size_t families,
                              const calc_calibration_runs *runs, const calc_results *results,
                              calc_errors *errors)
{
    unseen u = {{NULL}, {NULL}};
    calc_status status = allocate(&u, results->count);
    if (status != CALC_OK) {
        calc_errors_no_memory(errors);
    }
    for (int k = 0; k < CALC_UNSEEN_CROSSED; k++) {
        for (size_t f = 0; f < families && status == CALC_OK; f++) {
            status = calc_calibration_cross(&family[f], crosses[k], runs, u.predicted[k], u.fold[k],
                                            errors);
        }
    }
    for (size_t f = 0; f < families && status == CALC_OK; f++) {
        number_sources(&u, &family[f], results);
    }
    if (status == CALC_OK) {
        add_memory(&u, results);
        calc_residuals_write_head(out);
    }
    for (size_t i = 0; i < results->count && status == CALC_OK; i++) {
        const calc_result *r = &results->item[i];
        if (r->use == CALC_USE_SCORED && is_calibrated(family, families, r)) {
            write(out, &u, results, i);
        }
    }
    for (int k = 0; k < CALC_UNSEEN_CROSSED; k++) {
        free(u.predicted[k]);
        free(u.fold[k]);
    }
    return status;
}

calc_status calc_view_make(calc_results *out, const calc_results *results, const double *predicted,
                           calc_errors *errors)
{
    *out = *results;
    out->item = calloc(results->count + 1, sizeof *out->item);
    if (!out->item) {
        return calc_errors_no_memory(errors);
    }
    for (size_t i = 0; i < results->count; i++) {
        calc_result *r = &out->item[i];
        *r = results->item[i];
        if (isnan(predicted[i]) || r->quantity == CALC_QUANTITY_MEMORY) {
            r->use = r->use == CALC_USE_SCORED ? CALC_USE_UNSCORED : r->use;
            continue;
        }
        r->predicted = predicted[i];
        r->error = r->predicted / r->measured - 1;
    }
    return CALC_OK;
}
