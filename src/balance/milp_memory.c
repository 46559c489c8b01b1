#include "balance/milp_make.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/buffer.h"

/* Micro-batches in flight by chunk, where no other time has more of every chunk. */
typedef struct peaks {
    int *count; /* a row of `chunks` each */
    size_t rows, room;
    int chunks;
} peaks;

static bool no_more(const int *a, const int *b, int chunks)
{
    for (int chunk = 0; chunk < chunks; chunk++) {
        if (a[chunk] > b[chunk]) {
            return false;
        }
    }
    return true;
}

/* @return false if memory is short */
static bool add_peak(peaks *p, const int *now)
{
    size_t kept = 0;
    size_t width = (size_t)p->chunks;
    for (size_t i = 0; i < p->rows; i++) {
        if (no_more(now, p->count + i * width, p->chunks)) {
            return true;
        }
    }
    for (size_t i = 0; i < p->rows; i++) {
        if (!no_more(p->count + i * width, now, p->chunks)) {
            memmove(p->count + kept++ * width, p->count + i * width, width * sizeof *now);
        }
    }
    p->rows = kept;
    int *grown = calc_grown(p->count, p->rows, &p->room, width * sizeof *now);
    if (!grown) {
        return false;
    }
    p->count = grown;
    memcpy(p->count + p->rows++ * width, now, width * sizeof *now);
    return true;
}

/* All peaks of a stage's order; those before a backward pass are enough. */
static bool find_peaks(const calc_milp_maker *m, int stage, peaks *out)
{
    const calc_schedule_op *op = m->op + stage * m->room;
    int *now = calloc((size_t)out->chunks, sizeof *now);
    bool fine = now != NULL;
    for (int64_t i = 0; fine && i < m->count[stage]; i++) {
        if (op[i].kind == CALC_SCHEDULE_FW) {
            now[op[i].chunk]++;
            continue;
        }
        fine = i == 0 || op[i - 1].kind != CALC_SCHEDULE_FW || add_peak(out, now);
        now[op[i].chunk]--;
    }
    free(now);
    return fine;
}

/* Memory that a micro-batch in flight adds on a place. */
static void make_flight(calc_milp_maker *m, int place, int stage)
{
    const calc_balance_layer *layer = calc_milp_layers_of(m, place);
    calc_milp_place *at = &m->place[place];
    double unit = m->out->unit_bytes;
    double fixed = m->problem->place[place].flight_bytes / unit;
    calc_milp_column column = {.what = CALC_MILP_FLIGHT,
                               .kind = -1,
                               .stage = stage,
                               .chunk = place / (int)m->problem->shape.stages,
                               .microbatch = -1,
                               .upper = fixed};
    for (int kind = 0; kind < CALC_BALANCE_KINDS; kind++) {
        const double *each = layer[kind].flight_bytes;
        double most = fmax(each[CALC_BALANCE_NONE],
                           fmax(each[CALC_BALANCE_SELECTIVE], each[CALC_BALANCE_FULL]));
        column.upper += calc_milp_most_layers(m, kind) * most / unit;
    }
    column.upper = ceil(column.upper) + 1;
    at->flight = calc_milp_column_add(m, &column);
    calc_milp_row_add(m, CALC_MILP_EQUAL, fixed);
    calc_milp_term_add(m, at->flight, 1);
    for (int kind = 0; kind < CALC_BALANCE_KINDS; kind++) {
        const double *each = layer[kind].flight_bytes;
        double none = each[CALC_BALANCE_NONE];
        calc_milp_term_add(m, at->layers[kind], -none / unit);
        calc_milp_term_add(m, at->selective[kind], (none - each[CALC_BALANCE_SELECTIVE]) / unit);
        calc_milp_term_add(m, at->full[kind], (none - each[CALC_BALANCE_FULL]) / unit);
    }
}

/* Whether a layer of the stage recomputes in full: 1 if so. */
static int make_works(calc_milp_maker *m, int stage)
{
    const calc_balance_problem *p = m->problem;
    if (!p->may_full || p->stage[stage].working_bytes == 0) {
        return -1;
    }
    calc_milp_column column = {.what = CALC_MILP_WORKS,
                               .kind = -1,
                               .stage = stage,
                               .chunk = -1,
                               .microbatch = -1,
                               .integer = true,
                               .upper = 1};
    int works = calc_milp_column_add(m, &column);
    calc_milp_row_add(m, CALC_MILP_LESS, 0);
    for (int chunk = 0; chunk < p->shape.chunks; chunk++) {
        const calc_milp_place *at = &m->place[calc_balance_place_of(&p->shape, stage, chunk)];
        calc_milp_term_add(m, at->full[0], 1);
        calc_milp_term_add(m, at->full[1], 1);
    }
    calc_milp_term_add(m, works, -(p->layers[0] + p->layers[1]));
    return works;
}

static void make_limit(calc_milp_maker *m, int stage, const int *in_flight, int works)
{
    const calc_balance_problem *p = m->problem;
    const calc_balance_stage *s = &p->stage[stage];
    double unit = m->out->unit_bytes;
    calc_milp_row_add(m, CALC_MILP_LESS, (s->limit_bytes - s->fixed_bytes) / unit);
    for (int chunk = 0; chunk < p->shape.chunks; chunk++) {
        int place = calc_balance_place_of(&p->shape, stage, chunk);
        const calc_balance_layer *layer = calc_milp_layers_of(m, place);
        for (int kind = 0; kind < CALC_BALANCE_KINDS; kind++) {
            calc_milp_term_add(m, m->place[place].layers[kind], layer[kind].held_bytes / unit);
        }
        calc_milp_term_add(m, m->place[place].flight, in_flight[chunk]);
    }
    calc_milp_term_add(m, works, s->working_bytes / unit);
}

void calc_milp_make_memory(calc_milp_maker *m)
{
    const calc_schedule_shape *shape = &m->problem->shape;
    for (int place = 0; place < m->places; place++) {
        m->place[place].flight = -1;
    }
    for (int stage = 0; stage < shape->stages && m->status == CALC_OK; stage++) {
        if (isinf(m->problem->stage[stage].limit_bytes)) {
            continue;
        }
        for (int chunk = 0; chunk < shape->chunks; chunk++) {
            make_flight(m, calc_balance_place_of(shape, stage, chunk), stage);
        }
        int works = make_works(m, stage);
        peaks p = {.chunks = (int)shape->chunks};
        m->status = m->status == CALC_OK && !find_peaks(m, stage, &p) ? CALC_ERR_NOMEM : m->status;
        for (size_t i = 0; i < p.rows; i++) {
            make_limit(m, stage, p.count + i * (size_t)p.chunks, works);
        }
        free(p.count);
    }
}
