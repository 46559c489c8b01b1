#include "balance/milp.h"

#include <math.h>
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
