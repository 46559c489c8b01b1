#include "balance/milp.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "balance/milp_make.h"
#include "base/error.h"
#include "spec/field.h"

#define CALC_MILP_WHAT_TEXT(name, text) text,
const char *const calc_milp_what_names[CALC_MILP_WHATS] = {
    CALC_MILP_WHAT_LIST(CALC_MILP_WHAT_TEXT)};
#undef CALC_MILP_WHAT_TEXT

char *calc_milp_column_name(size_t column, char name[CALC_MILP_NAME_SIZE])
{
    snprintf(name, CALC_MILP_NAME_SIZE, "C%06u", (unsigned)column % (CALC_MILP_MOST + 1U));
    return name;
}

char *calc_milp_row_name(size_t row, char name[CALC_MILP_NAME_SIZE])
{
    snprintf(name, CALC_MILP_NAME_SIZE, "R%06u", (unsigned)row % (CALC_MILP_MOST + 1U));
    return name;
}

void calc_milp_free(calc_milp *milp)
{
    free(milp->column);
    free(milp->row);
    free(milp->term);
    *milp = (calc_milp){0};
}

void calc_milp_shares(const calc_milp *milp, const double *value, calc_balance_share *share)
{
    memset(share, 0, (size_t)(milp->shape.stages * milp->shape.chunks) * sizeof *share);
    for (size_t i = 0; i < milp->columns; i++) {
        const calc_milp_column *c = &milp->column[i];
        if (c->what != CALC_MILP_LAYERS && c->what != CALC_MILP_SELECTIVE &&
            c->what != CALC_MILP_FULL) {
            continue;
        }
        calc_balance_share *at = &share[calc_balance_place_of(&milp->shape, c->stage, c->chunk)];
        int *counts = c->what == CALC_MILP_LAYERS      ? at->layers
                      : c->what == CALC_MILP_SELECTIVE ? at->selective
                                                       : at->full;
        counts[c->kind] = (int)lround(value[i]);
    }
}

/* ---- Units ------------------------------------------------------------------------------------*/

static double longest_layer_s(const calc_balance_problem *p)
{
    double most_s = 0;
    for (int chip = 0; chip < p->chips; chip++) {
        for (int kind = 0; kind < CALC_BALANCE_KINDS; kind++) {
            const calc_balance_layer *l = &p->layer[chip][kind];
            double again_s = fmax(p->may_select ? l->again_s[CALC_BALANCE_SELECTIVE] : 0,
                                  p->may_full ? l->again_s[CALC_BALANCE_FULL] : 0);
            double layer_s = p->layers[kind] > 0 ? l->fw_s + l->agrad_s + l->wgrad_s + again_s : 0;
            most_s = fmax(most_s, layer_s);
        }
    }
    return most_s;
}

static double largest_bytes(const calc_balance_problem *p)
{
    double most = 0;
    for (int stage = 0; stage < p->shape.stages; stage++) {
        const calc_balance_stage *s = &p->stage[stage];
        most = fmax(most, isfinite(s->limit_bytes) ? s->limit_bytes : 0);
    }
    return most;
}

/* Solvers tolerate errors of about 1e-7 where numbers are near one. */
static void choose_units(calc_milp_maker *m)
{
    double longest_s = longest_layer_s(m->problem);
    double bytes = largest_bytes(m->problem);
    m->out->unit_s = 1;
    while (longest_s > 0 && longest_s < 0.5 * m->out->unit_s && m->out->unit_s > 1e-12) {
        m->out->unit_s /= 1e3; /* milliseconds, microseconds */
    }
    m->out->unit_bytes = 1;
    while (bytes / m->out->unit_bytes >= 1 << 20) {
        m->out->unit_bytes *= 1024;
    }
}

/* All work, one operation after the other, on the slowest chip. */
static double horizon(const calc_milp_maker *m)
{
    const calc_balance_problem *p = m->problem;
    double micro_s = (p->layers[0] + p->layers[1]) * longest_layer_s(p);
    for (int place = 0; place < m->places; place++) {
        const calc_balance_place *at = &p->place[place];
        micro_s += at->fw_s + at->agrad_s + at->wgrad_s;
    }
    return ceil((double)(m->microbatches + 1) * micro_s / m->out->unit_s) + 1;
}

/* ---- The whole --------------------------------------------------------------------------------*/

static calc_status refuse(const calc_balance_problem *p, calc_errors *errors)
{
    const calc_schedule_shape *s = &p->shape;
    const char *name = calc_pipeline_schedule_names[s->kind];
    calc_schedule_status check = calc_schedule_check(s);
    if (check != CALC_SCHEDULE_OK) {
        return calc_errors_add(errors, CALC_ERR_UNSUPPORTED, CALC_KIND_NONE, NULL, NULL,
                               "the schedule %s %s", name, calc_schedule_status_text(check));
    }
    if (s->kind != CALC_PIPELINE_SCHEDULE_1F1B && s->kind != CALC_PIPELINE_SCHEDULE_GPIPE) {
        return calc_errors_add(errors, CALC_ERR_UNSUPPORTED, CALC_KIND_NONE, NULL,
                               "take 1f1b or gpipe, or calc's own search",
                               "there is no mixed-integer program of the schedule %s", name);
    }
    return CALC_OK;
}

static void reduce(calc_milp_maker *m)
{
    enum { FROM = 6, KEPT = 5 };
    int64_t stages = m->problem->shape.stages;
    int64_t rounds = m->microbatches / stages;
    if (rounds >= FROM) {
        m->left_out = rounds - KEPT;
        m->microbatches -= m->left_out * stages;
    }
}

/* The orders of the micro-batches that are in the program. */
static bool make_orders(calc_milp_maker *m)
{
    calc_schedule_shape shape = m->problem->shape;
    shape.microbatches = m->microbatches;
    m->room = calc_schedule_ops_room(&shape);
    m->op = malloc((size_t)(shape.stages * m->room) * sizeof *m->op);
    m->count = malloc((size_t)shape.stages * sizeof *m->count);
    if (!m->op || !m->count) {
        return false;
    }
    calc_balance_orders(&shape, m->problem->less_memory, m->op, m->count);
    return true;
}

static calc_status make(calc_milp_maker *m)
{
    const calc_schedule_shape *s = &m->problem->shape;
    if (s->stages > CALC_BALANCE_STAGES || s->stages * s->chunks > CALC_BALANCE_PLACES ||
        m->microbatches > CALC_MILP_MOST / (2 * s->stages * s->chunks)) {
        return CALC_ERR_RANGE;
    }
    if (!make_orders(m)) {
        return CALC_ERR_NOMEM;
    }
    m->places = (int)(s->stages * s->chunks);
    choose_units(m);
    m->horizon = horizon(m);
    calc_milp_make_layers(m);
    calc_milp_make_memory(m);
    calc_milp_make_times(m);
    return m->status;
}

calc_status calc_milp_build(const calc_balance_problem *problem, const calc_milp_options *options,
                            calc_milp *out, calc_errors *errors)
{
    *out = (calc_milp){.shape = problem->shape};
    calc_status status = refuse(problem, errors);
    if (status != CALC_OK) {
        return status;
    }
    calc_milp_maker *maker = malloc(sizeof *maker);
    if (!maker) {
        return calc_errors_no_memory(errors);
    }
    *maker = (calc_milp_maker){
        .problem = problem, .out = out, .microbatches = problem->shape.microbatches};
    if (options && options->reduce) {
        reduce(maker);
    }
    status = make(maker);
    free(maker->op);
    free(maker->count);
    free(maker);
    if (status == CALC_OK) {
        return CALC_OK;
    }
    calc_milp_free(out);
    return status == CALC_ERR_NOMEM
               ? calc_errors_no_memory(errors)
               : calc_errors_add(errors, status, CALC_KIND_NONE, NULL,
                                 "take fewer micro-batches, or reduce them",
                                 "the mixed-integer program is too large: at most %d rows and "
                                 "columns, and %d chunks of stages",
                                 CALC_MILP_MOST, CALC_BALANCE_PLACES);
}

typedef struct text {
    calc_mps_write write;
    void *context;
    bool stopped;
} text;

CALC_PRINTF(2, 3) static void put(text *t, const char *fmt, ...)
{
    char line[160];
    va_list args;
    va_start(args, fmt);
    int length = vsnprintf(line, sizeof line, fmt, args);
    va_end(args);
    t->stopped = t->stopped || !t->write(t->context, line, (size_t)length);
}

/* ---- Numbers ----------------------------------------------------------------------------------*/

/* "-0.5" as "-.5": a digit more. */
static void drop_zero(char *number)
{
    char *zero = number + (*number == '-');
    if (zero[0] == '0' && zero[1] == '.') {
        memmove(zero, zero + 1, strlen(zero));
    }
}

char *calc_mps_number(double value, char out[CALC_MPS_NUMBER_SIZE])
{
    char number[40];
    for (int digits = 17; digits > 0; digits--) {
        snprintf(number, sizeof number, "%.*g", digits, value);
        drop_zero(number);
        if (strlen(number) < CALC_MPS_NUMBER_SIZE) {
            break;
        }
    }
    memcpy(out, number, CALC_MPS_NUMBER_SIZE - 1);
    out[CALC_MPS_NUMBER_SIZE - 1] = '\0';
    return out;
}

/* ---- Sections ---------------------------------------------------------------------------------*/

static void put_rows(text *t, const calc_milp *milp)
{
    static const char sense[] = {
        [CALC_MILP_LESS] = 'L', [CALC_MILP_EQUAL] = 'E', [CALC_MILP_MORE] = 'G'};
    char name[CALC_MILP_NAME_SIZE];
    put(t, "ROWS\n N  OBJ\n");
    for (size_t row = 0; row < milp->rows; row++) {
        put(t, " %c  %s\n", sense[milp->row[row].sense], calc_milp_row_name(row, name));
    }
}

static void put_value(text *t, const char *set, const char *name, double value)
{
    char number[CALC_MPS_NUMBER_SIZE];
    put(t, "    %-8s  %-8s  %12s\n", set, name, calc_mps_number(value, number));
}

static void put_marker(text *t, size_t column, bool begins)
{
    put(t, "    M%06zu   'MARKER'                 '%s'\n", column, begins ? "INTORG" : "INTEND");
}

/* Places of terms by column: those of a column are from first[column] to first[column + 1]. */
static void sort_terms(const calc_milp *milp, size_t *first, size_t *sorted)
{
    for (size_t i = 0; i < milp->terms; i++) {
        first[milp->term[i].column + 2]++;
    }
    for (size_t column = 2; column < milp->columns + 2; column++) {
        first[column] += first[column - 1];
    }
    for (size_t i = 0; i < milp->terms; i++) {
        sorted[first[milp->term[i].column + 1]++] = i;
    }
}

static void put_columns(text *t, const calc_milp *milp, const size_t *first, const size_t *sorted)
{
    char name[CALC_MILP_NAME_SIZE];
    char row[CALC_MILP_NAME_SIZE];
    bool integer = false;
    put(t, "COLUMNS\n");
    for (size_t column = 0; column < milp->columns && !t->stopped; column++) {
        const calc_milp_column *c = &milp->column[column];
        if (c->integer != integer) {
            put_marker(t, column, c->integer);
            integer = c->integer;
        }
        calc_milp_column_name(column, name);
        if (c->cost != 0 || first[column] == first[column + 1]) {
            put_value(t, name, "OBJ", c->cost);
        }
        for (size_t i = first[column]; i < first[column + 1]; i++) {
            const calc_milp_term *term = &milp->term[sorted[i]];
            put_value(t, name, calc_milp_row_name((size_t)term->row, row), term->factor);
        }
    }
    if (integer) {
        put_marker(t, milp->columns, false);
    }
}

static void put_bounds(text *t, const calc_milp *milp)
{
    char name[CALC_MILP_NAME_SIZE];
    char number[CALC_MPS_NUMBER_SIZE];
    put(t, "RHS\n");
    for (size_t row = 0; row < milp->rows; row++) {
        if (milp->row[row].bound != 0) {
            put_value(t, "RHS", calc_milp_row_name(row, name), milp->row[row].bound);
        }
    }
    put(t, "BOUNDS\n");
    for (size_t column = 0; column < milp->columns; column++) {
        const calc_milp_column *c = &milp->column[column];
        calc_milp_column_name(column, name);
        if (c->lower != 0) {
            put(t, " LO BND       %-8s  %12s\n", name, calc_mps_number(c->lower, number));
        }
        put(t, " UP BND       %-8s  %12s\n", name, calc_mps_number(c->upper, number));
    }
}

calc_status calc_mps_program(const calc_milp *milp, calc_mps_write write, void *context)
{
    text t = {write, context, false};
    size_t *first = calloc(milp->columns + 2, sizeof *first);
    size_t *sorted = malloc((milp->terms + 1) * sizeof *sorted);
    bool fine = first && sorted;
    if (fine) {
        sort_terms(milp, first, sorted);
        put(&t, "NAME          CALC\n");
        put_rows(&t, milp);
        put_columns(&t, milp, first, sorted);
        put_bounds(&t, milp);
        put(&t, "ENDATA\n");
    }
    free(first);
    free(sorted);
    return !fine ? CALC_ERR_NOMEM : t.stopped ? CALC_ERR_IO : CALC_OK;
}

/* ---- Names ------------------------------------------------------------------------------------*/

static void put_index(text *t, int index, const char *end)
{
    if (index >= 0) {
        put(t, "%d", index);
    }
    put(t, "%s", end);
}

calc_status calc_mps_names(const calc_milp *milp, calc_mps_write write, void *context)
{
    text t = {write, context, false};
    char name[CALC_MILP_NAME_SIZE];
    put(&t, "name,variable,stage,chunk,microbatch\n");
    for (size_t column = 0; column < milp->columns && !t.stopped; column++) {
        const calc_milp_column *c = &milp->column[column];
        put(&t, "%s,%s%s", calc_milp_column_name(column, name), calc_milp_what_names[c->what],
            c->kind >= 0 ? "_" : "");
        put_index(&t, c->kind, ",");
        put_index(&t, c->stage, ",");
        put_index(&t, c->chunk, ",");
        put_index(&t, c->microbatch, "\n");
    }
    return t.stopped ? CALC_ERR_IO : CALC_OK;
}
