#include "calibrate/calibration.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buffer.h"
#include "base/decimal.h"
#include "base/error.h"
#include "base/make.h"
#include "io/json_put.h"
#include "io/json_report.h"
#include "io/remark.h"
#include "spec/field.h"

enum { STEPS = 40 };

/* One calibration under way. */
typedef struct task {
    calc_calibration *c;
    const calc_calibration_plan *plan;
    const calc_measured_runs *runs;
    calc_results results;
    calc_evidence evidence;
    bool is_free[CALC_UNKNOWNS_MAX];
    bool *use; /* by index of evidence: part of the fit; NULL: all of it */
} task;

calc_status calc_calibration_start(calc_calibration *out, const char *const *machine,
                                   size_t machines, const calc_measured_runs *runs,
                                   calc_errors *errors)
{
    *out = (calc_calibration){0};
    if (machines > CALC_UNKNOWNS_MACHINES) {
        return calc_errors_add(errors, CALC_ERR_RANGE, CALC_KIND_NONE, NULL, NULL,
                               "more than %d machines in a family", CALC_UNKNOWNS_MACHINES);
    }
    for (size_t m = 0; m < machines; m++) {
        const calc_document *entry = calc_documents_get(runs->systems, machine[m]);
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

/* Predict with the values as they are; layouts that must be searched are found anew. */
static calc_status predict(task *t, calc_errors *errors)
{
    calc_family *family = &t->c->family;
    calc_unknowns_apply(&t->c->unknowns, family->system, family->machines);
    for (size_t m = 0; m < family->machines; m++) {
        for (int i = 0; i < t->runs->systems->count; i++) {
            calc_document *entry = &t->runs->systems->entry[i];
            if (strcmp(entry->name, family->machine[m]) == 0) {
                entry->system = family->system[m];
            }
        }
    }
    calc_evidence_free(&t->evidence);
    calc_results_free(&t->results);
    calc_status status = calc_results_make(&t->results, t->runs, errors);
    t->evidence = calc_evidence_of(&t->results, family->machine, family->machines);
    free(t->use);
    t->use = t->plan->held_out ? calc_make(t->evidence.count, sizeof *t->use) : NULL;
    for (size_t i = 0; t->use && i < t->evidence.count; i++) {
        t->use[i] = !calc_evidence_is_of(t->evidence.row[i].result, t->plan->held_out);
    }
    return status;
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

/* Fit, give up the unknown that matters least, and again: of several that only their combination is
 * determined, one remains. */
static calc_status select_unknowns(task *t, calc_errors *errors)
{
    calc_unknowns *u = &t->c->unknowns;
    size_t number = u->count; /* free ones */
    for (size_t i = 0; i < u->count; i++) {
        t->is_free[i] = true;
    }
    calc_status status = fit(t, t->use, u, errors);
    for (; status == CALC_OK && !t->plan->all; number--) {
        size_t least = least_worth(t, false);
        least = least < u->count || number <= t->plan->most ? least : least_worth(t, true);
        if (least == u->count) {
            break;
        }
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
    if (status != CALC_OK) {
        return status;
    }
    calc_family *family = calc_make(1, sizeof *family);
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
    int folds = t->plan->cross == CALC_CROSS_WIDTH    ? CALC_EVIDENCE_WIDTH_FOLDS
                : t->plan->cross == CALC_CROSS_SOURCE ? t->evidence.source_folds
                                                      : 0;
    bool *use = calc_make(t->evidence.count, sizeof *use);
    calc_status status = CALC_OK;
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
    calc_unknowns_make(&t->c->unknowns, &t->c->family, t->plan->fields, t->plan->starts);
    status = predict(t, errors);
    for (size_t i = 0; status == CALC_OK && i < t->evidence.count; i++) {
        const calc_evidence_row *row = &t->evidence.row[i];
        before[row->index] = row->result->predicted;
    }
    status = status == CALC_OK ? fit_all(t, errors) : status;
    const calc_fit f = {&t->evidence, t->use, &t->c->family, STEPS};
    status = status == CALC_OK
                 ? calc_influence_find(&t->c->outside, &f, &t->c->unknowns, t->is_free, errors)
                 : status;
    if (status == CALC_OK && t->c->outside.constant) {
        t->c->pull = t->evidence.row[t->c->outside.row].result->prediction->map.row;
        return CALC_OK;
    }
    return status == CALC_OK ? cross_validate(t, unseen, errors) : status;
}

static void end(task *t)
{
    calc_evidence_free(&t->evidence);
    calc_results_free(&t->results);
    free(t->use);
}

calc_status calc_calibrate(calc_calibration *c, const calc_calibration_plan *plan,
                           const calc_measured_runs *runs, double *before, double *unseen,
                           calc_errors *errors)
{
    task t = {.c = c, .plan = plan, .runs = runs};
    calc_status status = calibrate(&t, before, unseen, errors);
    end(&t);
    return status;
}

calc_status calc_calibration_cross(calc_calibration *c, calc_cross by,
                                   const calc_measured_runs *runs, double *unseen, int *fold,
                                   calc_errors *errors)
{
    const calc_calibration_plan plan = {.cross = by};
    task t = {.c = c, .plan = &plan, .runs = runs};
    for (size_t i = 0; i < c->unknowns.count; i++) {
        t.is_free[i] = !isnan(c->unknowns.item[i].error);
    }
    calc_status status = predict(&t, errors);
    for (size_t i = 0; fold && i < t.evidence.count; i++) {
        fold[t.evidence.row[i].index] = fold_of(&t, i);
    }
    status = status == CALC_OK ? cross_validate(&t, unseen, errors) : status;
    end(&t);
    return status;
}

/* By index of result. */
typedef struct unseen {
    double *predicted[CALC_UNSEEN_CROSSED]; /* NaN: none */
    int *fold[CALC_UNSEEN_CROSSED];
    bool *mine; /* scored, on a machine of the families */
} unseen;

static const calc_cross crosses[] = {
    [CALC_UNSEEN_WIDTH] = CALC_CROSS_WIDTH, [CALC_UNSEEN_SOURCE] = CALC_CROSS_SOURCE};

static bool has(const calc_calibration *family, const calc_result *result)
{
    bool found = false;
    for (size_t m = 0; m < family->family.machines; m++) {
        found = found || strcmp(family->family.machine[m], result->prediction->map.row->sys) == 0;
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

/* No fit uses memory. A publisher is one fold on machines of all families; the parts of a single
 * table stay apart. */
static void take(unseen *u, const calc_calibration *family, const calc_results *results, size_t i)
{
    const calc_result *r = &results->item[i];
    int *fold = &u->fold[CALC_UNSEEN_SOURCE][i];
    bool memory = r->quantity == CALC_QUANTITY_MEMORY;
    u->mine[i] = true;
    *fold =
        memory || family->sources > 1 ? fold_of_publisher(results, i) : (int)results->count + *fold;
    if (memory) {
        u->predicted[CALC_UNSEEN_WIDTH][i] = u->predicted[CALC_UNSEEN_SOURCE][i] = r->predicted;
        u->fold[CALC_UNSEEN_WIDTH][i] = calc_evidence_width_fold(r->prediction->map.app.hidden, 0);
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
                              const calc_measured_runs *runs, const calc_results *results,
                              calc_errors *errors)
{
    unseen u = {.mine = calc_make(results->count, sizeof *u.mine)};
    calc_status status = CALC_OK;
    for (int k = 0; k < CALC_UNSEEN_CROSSED; k++) {
        u.predicted[k] = calc_make(results->count, sizeof *u.predicted[k]);
        u.fold[k] = calc_make(results->count, sizeof *u.fold[k]);
        for (size_t i = 0; i < results->count; i++) {
            u.predicted[k][i] = (double)NAN;
        }
        for (size_t f = 0; f < families && status == CALC_OK; f++) {
            status = calc_calibration_cross(&family[f], crosses[k], runs, u.predicted[k], u.fold[k],
                                            errors);
        }
    }
    for (size_t i = 0; i < results->count && status == CALC_OK; i++) {
        for (size_t f = 0; f < families && !u.mine[i]; f++) {
            if (results->item[i].use == CALC_USE_SCORED && has(&family[f], &results->item[i])) {
                take(&u, &family[f], results, i);
            }
        }
    }
    if (status == CALC_OK) {
        calc_residuals_write_head(out);
    }
    for (size_t i = 0; i < results->count && status == CALC_OK; i++) {
        if (u.mine[i]) {
            write(out, &u, results, i);
        }
    }
    for (int k = 0; k < CALC_UNSEEN_CROSSED; k++) {
        free(u.predicted[k]);
        free(u.fold[k]);
    }
    free(u.mine);
    return status;
}

/* How far the runs vouch for a constant. */
typedef enum standing { DETERMINED, INDICATED, ASSUMED } standing;

static void write_constants(calc_output *out, const calc_calibration *c, size_t machine,
                            standing which, const char *title)
{
    const char *before = title;
    for (size_t i = 0; i < c->unknowns.count; i++) {
        const calc_unknown *p = &c->unknowns.item[i];
        standing is = isnan(p->error) ? ASSUMED : p->determined ? DETERMINED : INDICATED;
        if (!(p->machines >> machine & 1) || is != which) {
            continue;
        }
        calc_output_printf(out, "%s%s", before, p->constant->name);
        if (which != ASSUMED) {
            calc_output_printf(out, " (%.2g %%)", 100 * calc_unknown_relative_error(p));
        }
        before = ", ";
    }
    calc_output_text(out, before == title ? "" : ".");
}

/* A machine of a calibration, for its source. */
typedef struct calibrated {
    const calc_calibration *c;
    size_t machine;
    const char *date;
} calibrated;

static void write_calibrated(calc_output *out, const void *of)
{
    const calibrated *which = of;
    const calc_calibration *c = which->c;
    size_t machine = which->machine;
    calc_output_printf(out, CALC_SYSTEM_TEXT_MARKER "%s to %zu measured runs (", which->date,
                       c->runs);
    for (size_t i = 0; i < c->sources; i++) {
        calc_output_printf(out, "%s%s %zu", i ? ", " : "", c->source[i].name, c->source[i].count);
    }
    calc_output_text(out, ") on ");
    const char *comma = "";
    for (size_t m = 0; m < c->family.machines; m++) {
        if (c->family.measured >> m & 1) {
            calc_output_printf(out, "%s%s", comma, c->family.machine[m]);
            comma = ", ";
        }
    }
    calc_output_text(out, ".");
    write_constants(out, c, machine, DETERMINED, " Determined by them (standard error): ");
    write_constants(out, c, machine, INDICATED, " Adjusted, though they do not determine it: ");
    write_constants(out, c, machine, ASSUMED, " Assumed: ");
}

/* The source of a machine's file as its text has it, without quotes and still escaped, up to the
 * words `until` and the spaces before them; `length` bytes, 0 if there is none. */
static const char *source_of(const calc_text *old, const char *until, size_t *length)
{
    size_t start, end, mark = strlen(until);
    *length = 0;
    if (!calc_json_span(old->data, old->length, "/source", &start, &end) || end < start + 2) {
        return "";
    }
    const char *text = old->data + start + 1;
    *length = end - start - 2;
    for (size_t i = 0; i + mark <= *length; i++) {
        if (memcmp(text + i, until, mark) == 0) {
            *length = i;
        }
    }
    while (*length > 0 && text[*length - 1] == ' ') {
        (*length)--;
    }
    return text;
}

void calc_system_text_save(calc_output *out, const calc_system *system, const calc_text *old,
                           const char *until, calc_system_text_says says, const void *of)
{
    calc_put put = calc_put_to(out);
    size_t start, end, length;
    const char *before = source_of(old, until, &length);
    put.brief = true;
    calc_put_open(&put, CALC_KIND_SYSTEM, system);
    if (calc_json_span(old->data, old->length, "/names", &start, &end)) {
        calc_put_key(&put, "names");
        calc_output_write(out, old->data + start, end - start);
    }
    calc_put_key(&put, "source");
    calc_output_printf(out, "\"%.*s%s", (int)length, before, length > 0 ? " " : "");
    says(out, of);
    calc_output_text(out, "\"");
    calc_put_end(&put);
}

void calc_system_text_write(calc_output *out, const calc_text *old,
                            const calc_calibration *calibration, size_t machine, const char *date)
{
    const calibrated of = {calibration, machine, date};
    calc_system_text_save(out, &calibration->family.system[machine], old, CALC_SYSTEM_TEXT_MARKER,
                          write_calibrated, &of);
}

/* One name "(x %)" at `from`, at most `length` bytes. */
static void read_one(calc_standard_errors *out, const char *from, size_t length,
                     const char *percent)
{
    char name[64];
    char *end;
    double value = calc_decimal_at(percent, &end);
    if (length >= sizeof name || strncmp(end, " %)", 3) != 0 || !(value >= 0) || value > 1e6) {
        return;
    }
    snprintf(name, sizeof name, "%.*s", (int)length, from);
    const calc_constant *constant = calc_constant_find(name);
    if (constant && out->count < CALC_STANDARD_ERRORS_MAX) {
        out->item[out->count++] = (calc_standard_error){constant, value / 100};
    }
}

void calc_standard_errors_read(calc_standard_errors *out, const calc_text *text)
{
    *out = (calc_standard_errors){.count = 0};
    strcpy(out->machine, calc_remark_read(text).calibrated);
    const char *at = *out->machine ? strstr(text->data, CALC_SYSTEM_TEXT_MARKER) : NULL;
    at = at ? strstr(at, ") on ") : NULL;
    for (const char *open = at ? strstr(at, " (") : NULL; open; open = strstr(open + 1, " (")) {
        const char *name = open;
        while (name > at && name[-1] != ' ') {
            name--;
        }
        read_one(out, name, (size_t)(open - name), open + 2);
    }
}

void calc_standard_errors_assume(calc_standard_errors *out, const calc_system *system)
{
    const calc_constant *c;
    *out = (calc_standard_errors){.count = 0};
    for (size_t i = 0; (c = calc_constant_at(i)) && out->count < CALC_STANDARD_ERRORS_MAX; i++) {
        double value = calc_constant_get(c, system);
        double relative = c->scale == CALC_CONSTANT_LOG ? c->spread : c->spread * (1 - value);
        if (value > 0 && relative > 0) {
            out->item[out->count++] = (calc_standard_error){c, relative};
        }
    }
}

/* Log of the time of a step with a constant that is `shift` standard errors off. */
static double log_time(const calc_standard_error *e, double shift, const calc_app *app,
                       const calc_system *system, const calc_exec *exec)
{
    const calc_constant *c = e->constant;
    double value = calc_constant_get(c, system);
    double error = c->scale == CALC_CONSTANT_LOG ? e->relative : e->relative / (1 - value);
    double number = calc_constant_to_free(c, value) + shift * error;
    calc_stats stats;
    calc_system other = *system;
    calc_constant_set(c, &other, calc_constant_from_free(c, number));
    calc_run(app, &other, exec, CALC_COMPAT_NONE, &stats);
    return log(stats.total_time);
}

double calc_standard_errors_of_time(const calc_standard_errors *errors, const calc_app *app,
                                    const calc_system *system, const calc_exec *exec)
{
    double sum = 0;
    for (size_t i = 0; i < errors->count; i++) {
        const calc_standard_error *e = &errors->item[i];
        double value = calc_constant_get(e->constant, system);
        if (!(value > 0) || (e->constant->scale == CALC_CONSTANT_LOGIT && !(value < 1))) {
            continue;
        }
        double effect =
            (log_time(e, 1, app, system, exec) - log_time(e, -1, app, system, exec)) / 2;
        sum += effect * effect;
    }
    return sqrt(sum);
}
