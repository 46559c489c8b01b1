#include "balance/flight.h"

#include <stdlib.h>
#include <string.h>

#include "balance/parts.h"
#include "model/operators/processor.h"

static bool both_ends(const calc_schedule_shape *s)
{
    return s->kind == CALC_PIPELINE_SCHEDULE_DUALPIPE;
}

int calc_balance_held_parts(const calc_schedule_shape *s)
{
    return both_ends(s) ? 2 : (int)s->chunks;
}

int calc_balance_part_place(const calc_schedule_shape *s, int stage, int part)
{
    return both_ends(s) && part == 1 ? (int)s->stages - 1 - stage
                                     : calc_balance_place_of(s, stage, part);
}

/* ---- Rows -------------------------------------------------------------------------------------*/

typedef struct walker {
    calc_balance_flights *out;
    int rows, room, first; /**< rows of all stages; the first of this one */
    int now[CALC_BALANCE_PLACES];
    bool no_memory;
} walker;

static bool no_more(const int *a, const int *b, int parts)
{
    for (int i = 0; i < parts; i++) {
        if (a[i] > b[i]) {
            return false;
        }
    }
    return true;
}

/* A forward begins. */
static void enter(walker *w, int64_t part)
{
    int parts = w->out->parts;
    size_t row_bytes = (size_t)parts * sizeof(int);
    w->now[part]++;
    int kept = w->first;
    for (int i = w->first; i < w->rows; i++) {
        const int *row = w->out->live + (size_t)i * (size_t)parts;
        if (no_more(w->now, row, parts)) {
            return; /* then no row is below this one */
        }
        if (!no_more(row, w->now, parts)) {
            memmove(w->out->live + (size_t)kept++ * (size_t)parts, row, row_bytes);
        }
    }
    if (kept == w->room) {
        int *grown = realloc(w->out->live, 2 * (size_t)(kept + 8) * row_bytes);
        if (grown == NULL) {
            w->no_memory = true;
            return;
        }
        w->out->live = grown;
        w->room = 2 * (kept + 8);
    }
    memcpy(w->out->live + (size_t)kept * (size_t)parts, w->now, row_bytes);
    w->rows = kept + 1;
}

static void walk_parts(const calc_balance_problem *p, int stage, walker *w)
{
    calc_balance_parts parts = calc_balance_parts_of(&p->shape, p->less_memory);
    int64_t passes = parts.chunks * parts.microbatches;
    int64_t warm_up = calc_balance_warm_up(&parts, stage);
    for (int64_t k = 0; k < passes; k++) {
        enter(w, calc_balance_forward(&parts, k).chunk);
        if (k >= warm_up) {
            w->now[calc_balance_backward(&parts, k - warm_up).chunk]--;
        }
    }
}

static void walk_order(const calc_schedule_op *op, int64_t count, walker *w)
{
    for (int64_t i = 0; i < count; i++) {
        if (op[i].kind == CALC_SCHEDULE_FW) {
            enter(w, op[i].chunk);
            if (op[i].paired) {
                w->now[1 - op[i].chunk]--;
            }
        } else if (op[i].kind != CALC_SCHEDULE_BW) {
            w->now[op[i].chunk]--;
        }
    }
}

calc_status calc_balance_flights_begin(calc_balance_flights *f, const calc_balance_problem *p)
{
    int stages = (int)p->shape.stages;
    *f = (calc_balance_flights){.parts = calc_balance_held_parts(&p->shape)};
    walker w = {.out = f};
    bool own_order = p->shape.kind == CALC_PIPELINE_SCHEDULE_1F1B;
    int64_t each = calc_schedule_ops_room(&p->shape);
    int64_t count[CALC_BALANCE_STAGES] = {0};
    calc_schedule_op *op = NULL;
    if (!own_order) {
        op = malloc((size_t)(stages * each) * sizeof *op);
        if (op == NULL) {
            return CALC_ERR_NOMEM;
        }
        calc_schedule_orders(&p->shape, op, count);
    }
    for (int s = 0; s < stages && !w.no_memory; s++) {
        f->first[s] = w.first = w.rows;
        memset(w.now, 0, sizeof w.now);
        if (own_order) {
            walk_parts(p, s, &w);
        } else {
            walk_order(op + s * each, count[s], &w);
        }
    }
    f->first[stages] = w.rows;
    free(op);
    return w.no_memory ? CALC_ERR_NOMEM : CALC_OK;
}

void calc_balance_flights_end(calc_balance_flights *f)
{
    free(f->live);
    f->live = NULL;
}

double calc_balance_flights_bytes(const calc_balance_flights *f, const calc_balance_problem *p,
                                  int stage, const calc_balance_share *share)
{
    double flight_bytes[CALC_BALANCE_PLACES];
    double bytes = p->stage[stage].fixed_bytes;
    bool again = false;
    for (int part = 0; part < f->parts; part++) {
        int place = calc_balance_part_place(&p->shape, stage, part);
        flight_bytes[part] = calc_balance_flight_bytes(p, place, &share[place]);
        bytes += calc_balance_held_bytes(p, place, &share[place]);
        again = again || share[place].full[0] + share[place].full[1] > 0;
    }
    double most_bytes = 0;
    for (int row = f->first[stage]; row < f->first[stage + 1]; row++) {
        double live_bytes = 0;
        for (int part = 0; part < f->parts; part++) {
            live_bytes += f->live[row * f->parts + part] * flight_bytes[part];
        }
        most_bytes = calc_max(most_bytes, live_bytes);
    }
    return bytes + (again ? p->stage[stage].working_bytes : 0) + most_bytes;
}
