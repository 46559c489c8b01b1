/* Columns, rows and terms, one after the other. */
#include "balance/milp.h"

#include <math.h>
#include <string.h>

#include "balance/evaluate.h"
#include "base/make.h"

static int64_t order(const calc_balance_parts *parts, int64_t stage, calc_schedule_op *op)
{
    int64_t passes = parts->chunks * parts->microbatches;
    int64_t warm_up = calc_balance_warm_up(parts, stage);
    int64_t count = 0;
    for (int64_t k = 0; k < passes + warm_up; k++) {
        if (k < passes) {
            uint16_t chunk = (uint16_t)calc_balance_forward(parts, k).chunk;
            op[count++] = (calc_schedule_op){.kind = CALC_SCHEDULE_FW, .chunk = chunk};
        }
        if (k >= warm_up) {
            uint16_t chunk = (uint16_t)calc_balance_backward(parts, k - warm_up).chunk;
            op[count++] = (calc_schedule_op){.kind = CALC_SCHEDULE_BW_WHOLE, .chunk = chunk};
        }
    }
    return count;
}

void calc_balance_orders(const calc_schedule_shape *s, bool less_memory, calc_schedule_op *op,
                         int64_t *count)
{
    if (s->kind != CALC_PIPELINE_SCHEDULE_1F1B || s->chunks == 1) {
        calc_schedule_orders(s, op, count);
        return;
    }
    calc_balance_parts parts = calc_balance_parts_of(s, less_memory);
    int64_t room = calc_schedule_ops_room(s);
    for (int64_t stage = 0; stage < s->stages; stage++) {
        count[stage] = order(&parts, stage, op + stage * room);
    }
}

/* Most layers of a kind on a place. */
static int most_layers(const calc_milp_maker *m, int kind)
{
    int all = m->problem->layers[kind];
    int most = m->problem->most_layers;
    return most > 0 && most < all ? most : all;
}

/* Whether a program with so many columns, or rows, takes one more. */
static bool takes_more(calc_milp_maker *maker, size_t count)
{
    maker->too_large = maker->too_large || count == CALC_MILP_MOST;
    return !maker->too_large;
}

/* Add a column, or a row, or a term to the last row; column -1 or factor 0: none.
 * @return index of the column */
static int milp_column_add(calc_milp_maker *maker, const calc_milp_column *column)
{
    calc_milp *out = maker->out;
    if (!takes_more(maker, out->columns)) {
        return -1;
    }
    CALC_ADD(out->column, out->columns, out->column_room, column);
    return (int)out->columns - 1;
}

static void milp_row_add(calc_milp_maker *maker, calc_milp_sense sense, double bound)
{
    calc_milp *out = maker->out;
    const calc_milp_row row = {sense, bound};
    if (takes_more(maker, out->rows)) {
        CALC_ADD(out->row, out->rows, out->row_room, &row);
    }
}

static void milp_term_add(calc_milp_maker *maker, int column, double factor)
{
    calc_milp *out = maker->out;
    const calc_milp_term term = {(int)out->rows - 1, column, factor};
    if (!maker->too_large && column >= 0 && factor != 0) {
        CALC_ADD(out->term, out->terms, out->term_room, &term);
    }
}

/* Add terms: a factor times the layers of a place that recompute in full, and a factor times all
 * its layers. */
static void place_terms(calc_milp_maker *m, int place, double full, double layers)
{
    for (int kind = 0; kind < CALC_BALANCE_KINDS; kind++) {
        milp_term_add(m, m->place[place].full[kind], full);
        milp_term_add(m, m->place[place].layers[kind], layers);
    }
}

/* ---- Columns ----------------------------------------------------------------------------------*/

/* @param place  -1: of none */
static calc_milp_column on_place(const calc_milp_maker *m, calc_milp_what what, int place)
{
    const calc_schedule_shape *s = &m->problem->shape;
    return (calc_milp_column){.what = what,
                              .kind = -1,
                              .stage = place < 0 ? -1 : calc_balance_stage_of(s, place),
                              .chunk = place < 0 ? -1 : place / (int)s->stages,
                              .microbatch = -1,
                              .upper = m->horizon};
}

static int whole(calc_milp_maker *m, calc_milp_what what, int kind, int place, double upper)
{
    calc_milp_column column = on_place(m, what, place);
    column.kind = kind;
    column.integer = true;
    column.upper = upper;
    return milp_column_add(m, &column);
}

static void add_columns(calc_milp_maker *m, int place)
{
    const calc_balance_problem *p = m->problem;
    calc_milp_place *at = &m->place[place];
    for (int kind = 0; kind < CALC_BALANCE_KINDS; kind++) {
        int most = most_layers(m, kind);
        bool any = p->layers[kind] > 0;
        at->layers[kind] = any ? whole(m, CALC_MILP_LAYERS, kind, place, most) : -1;
        at->selective[kind] =
            any && p->may_select ? whole(m, CALC_MILP_SELECTIVE, kind, place, most) : -1;
        at->full[kind] = any && p->may_full ? whole(m, CALC_MILP_FULL, kind, place, most) : -1;
    }
    /* Layers of kind 0 always reach the first place. */
    bool both = p->layers[0] > 0 && p->layers[1] > 0 && place > 0;
    at->reaches = both ? whole(m, CALC_MILP_REACHES, -1, place, 1) : -1;
    bool chooses = p->may_select && p->may_full && !p->may_mix;
    at->selects = chooses ? whole(m, CALC_MILP_SELECTS, -1, place, 1) : -1;
}

/* ---- Rows of a place --------------------------------------------------------------------------*/

/* Layers of kind 0 only where they reach, those of kind 1 only where they do not reach beyond. */
static void keep_order(calc_milp_maker *m, int place)
{
    const calc_milp_place *at = &m->place[place];
    if (at->reaches >= 0) {
        milp_row_add(m, CALC_MILP_LESS, 0);
        milp_term_add(m, at->layers[0], 1);
        milp_term_add(m, at->reaches, -most_layers(m, 0));
    }
    int beyond = place + 1 < m->places ? m->place[place + 1].reaches : -1;
    if (beyond < 0) {
        return;
    }
    int most = most_layers(m, 1);
    milp_row_add(m, CALC_MILP_LESS, most);
    milp_term_add(m, at->layers[1], 1);
    milp_term_add(m, beyond, most);
    if (at->reaches >= 0) {
        milp_row_add(m, CALC_MILP_LESS, 0);
        milp_term_add(m, beyond, 1);
        milp_term_add(m, at->reaches, -1);
    }
}

static void bound_layers(calc_milp_maker *m, int place)
{
    const calc_balance_problem *p = m->problem;
    int most = most_layers(m, 0) + most_layers(m, 1);
    int least = calc_balance_least_of(p, place);
    if (least > 0) {
        milp_row_add(m, CALC_MILP_MORE, least);
        place_terms(m, place, 0, 1);
    }
    if (p->most_layers > 0 && p->most_layers < most) {
        milp_row_add(m, CALC_MILP_LESS, p->most_layers);
        place_terms(m, place, 0, 1);
    }
}

static void bound_recompute(calc_milp_maker *m, int place)
{
    const calc_milp_place *at = &m->place[place];
    for (int kind = 0; kind < CALC_BALANCE_KINDS; kind++) {
        if (at->selective[kind] < 0 && at->full[kind] < 0) {
            continue;
        }
        milp_row_add(m, CALC_MILP_LESS, 0);
        milp_term_add(m, at->selective[kind], 1);
        milp_term_add(m, at->full[kind], 1);
        milp_term_add(m, at->layers[kind], -1);
        if (at->selects >= 0) {
            int most = most_layers(m, kind);
            milp_row_add(m, CALC_MILP_LESS, 0);
            milp_term_add(m, at->selective[kind], 1);
            milp_term_add(m, at->selects, -most);
            milp_row_add(m, CALC_MILP_LESS, most);
            milp_term_add(m, at->full[kind], 1);
            milp_term_add(m, at->selects, most);
        }
    }
}

/* ---- Alike on a chip --------------------------------------------------------------------------*/

/* r of a place is the smaller of r of the chip and its layers x: r <= both, and one of r >= r of
 * the chip, r >= x. r <= x is already stated by kind. */
static void alike(calc_milp_maker *m, int place, int chip)
{
    double all = m->problem->layers[0] + m->problem->layers[1];
    int partly = whole(m, CALC_MILP_PARTLY, -1, place, 1);
    milp_row_add(m, CALC_MILP_LESS, 0);
    place_terms(m, place, 1, 0);
    milp_term_add(m, chip, -1);
    milp_row_add(m, CALC_MILP_MORE, -all);
    place_terms(m, place, 1, 0);
    milp_term_add(m, chip, -1);
    milp_term_add(m, partly, -all);
    milp_row_add(m, CALC_MILP_MORE, 0);
    place_terms(m, place, 1, -1);
    milp_term_add(m, partly, all);
}

static void make_alike(calc_milp_maker *m)
{
    const calc_balance_problem *p = m->problem;
    int chip[CALC_BALANCE_CHIPS];
    memset(chip, -1, sizeof chip);
    for (int place = 0; place < m->places; place++) {
        int at = p->stage[calc_balance_stage_of(&p->shape, place)].chip;
        if (chip[at] < 0) {
            chip[at] = whole(m, CALC_MILP_CHIP_FULL, at, -1, p->layers[0] + p->layers[1]);
        }
        alike(m, place, chip[at]);
    }
}

/* ---- All --------------------------------------------------------------------------------------*/

/* The layers of a place's stage on its chip. */
static const calc_balance_layer *milp_layers_of(const calc_milp_maker *m, int place)
{
    const calc_balance_problem *p = m->problem;
    return p->layer[p->stage[calc_balance_stage_of(&p->shape, place)].chip];
}

void calc_milp_make_layers(calc_milp_maker *m)
{
    const calc_balance_problem *p = m->problem;
    for (int place = 0; place < m->places; place++) {
        add_columns(m, place);
    }
    for (int kind = 0; kind < CALC_BALANCE_KINDS; kind++) {
        if (p->layers[kind] > 0) {
            milp_row_add(m, CALC_MILP_EQUAL, p->layers[kind]);
            for (int place = 0; place < m->places; place++) {
                milp_term_add(m, m->place[place].layers[kind], 1);
            }
        }
    }
    for (int place = 0; place < m->places; place++) {
        keep_order(m, place);
        bound_layers(m, place);
        bound_recompute(m, place);
    }
    if (p->alike_on_chip && p->may_full) {
        make_alike(m);
    }
}

/* Memory that a micro-batch in flight adds on a place. */
static void make_flight(calc_milp_maker *m, int place)
{
    const calc_balance_layer *layer = milp_layers_of(m, place);
    calc_milp_place *at = &m->place[place];
    double unit = m->out->unit_bytes;
    double fixed = m->problem->place[place].flight_bytes / unit;
    calc_milp_column column = on_place(m, CALC_MILP_FLIGHT, place);
    column.upper = fixed;
    for (int kind = 0; kind < CALC_BALANCE_KINDS; kind++) {
        const double *each = layer[kind].flight_bytes;
        double most = fmax(each[CALC_BALANCE_NONE],
                           fmax(each[CALC_BALANCE_SELECTIVE], each[CALC_BALANCE_FULL]));
        column.upper += most_layers(m, kind) * most / unit;
    }
    column.upper = ceil(column.upper) + 1;
    at->flight = milp_column_add(m, &column);
    milp_row_add(m, CALC_MILP_EQUAL, fixed);
    milp_term_add(m, at->flight, 1);
    for (int kind = 0; kind < CALC_BALANCE_KINDS; kind++) {
        const double *each = layer[kind].flight_bytes;
        double none = each[CALC_BALANCE_NONE];
        milp_term_add(m, at->layers[kind], -none / unit);
        milp_term_add(m, at->selective[kind], (none - each[CALC_BALANCE_SELECTIVE]) / unit);
        milp_term_add(m, at->full[kind], (none - each[CALC_BALANCE_FULL]) / unit);
    }
}

/* Whether a layer of the stage recomputes in full: 1 if so. */
static int make_works(calc_milp_maker *m, int stage)
{
    const calc_balance_problem *p = m->problem;
    if (!p->may_full || p->stage[stage].working_bytes == 0) {
        return -1;
    }
    calc_milp_column column = on_place(m, CALC_MILP_WORKS, stage);
    column.chunk = -1;
    column.integer = true;
    column.upper = 1;
    int works = milp_column_add(m, &column);
    milp_row_add(m, CALC_MILP_LESS, 0);
    for (int chunk = 0; chunk < p->shape.chunks; chunk++) {
        place_terms(m, calc_balance_place_of(&p->shape, stage, chunk), 1, 0);
    }
    milp_term_add(m, works, -(p->layers[0] + p->layers[1]));
    return works;
}

static void make_limit(calc_milp_maker *m, int stage, const int *in_flight, int works)
{
    const calc_balance_problem *p = m->problem;
    const calc_balance_stage *s = &p->stage[stage];
    double unit = m->out->unit_bytes;
    const double even[] = {p->layers[0] / (double)p->shape.stages,
                           p->layers[1] / (double)p->shape.stages};
    double fixed_bytes = calc_balance_once_bytes(p, stage, even, false);
    milp_row_add(m, CALC_MILP_LESS, (s->limit_bytes - fixed_bytes) / unit);
    for (int chunk = 0; chunk < p->shape.chunks; chunk++) {
        int place = calc_balance_place_of(&p->shape, stage, chunk);
        const calc_balance_layer *layer = milp_layers_of(m, place);
        for (int kind = 0; kind < CALC_BALANCE_KINDS; kind++) {
            milp_term_add(m, m->place[place].layers[kind], layer[kind].held_bytes / unit);
        }
        milp_term_add(m, m->place[place].flight, in_flight[chunk]);
    }
    milp_term_add(m, works, s->working_bytes / unit);
}

void calc_milp_make_memory(calc_milp_maker *m)
{
    const calc_schedule_shape *shape = &m->problem->shape;
    calc_balance_flights flights;
    for (int place = 0; place < m->places; place++) {
        m->place[place].flight = -1;
    }
    calc_balance_flights_begin(&flights, m->problem);
    for (int stage = 0; stage < shape->stages && !m->too_large; stage++) {
        if (isinf(m->problem->stage[stage].limit_bytes)) {
            continue;
        }
        for (int chunk = 0; chunk < shape->chunks; chunk++) {
            make_flight(m, calc_balance_place_of(shape, stage, chunk));
        }
        int works = make_works(m, stage);
        if (shape->chunks == 1) {
            int most = (int)calc_schedule_in_flight(shape, stage);
            make_limit(m, stage, &most, works);
            continue;
        }
        for (int row = flights.first[stage]; row < flights.first[stage + 1]; row++) {
            make_limit(m, stage, flights.live + row * flights.parts, works);
        }
    }
    calc_balance_flights_end(&flights);
}

/* How long a micro-batch takes, forward and backward. */
static void make_passes(calc_milp_maker *m, int place)
{
    const calc_balance_place *fixed = &m->problem->place[place];
    const calc_balance_layer *layer = milp_layers_of(m, place);
    calc_milp_place *at = &m->place[place];
    double unit = m->out->unit_s;
    calc_milp_column fw = on_place(m, CALC_MILP_FW_TIME, place);
    calc_milp_column bw = on_place(m, CALC_MILP_BW_TIME, place);
    at->fw_time = milp_column_add(m, &fw);
    at->bw_time = milp_column_add(m, &bw);
    milp_row_add(m, CALC_MILP_EQUAL, fixed->fw_s / unit);
    milp_term_add(m, at->fw_time, 1);
    for (int kind = 0; kind < CALC_BALANCE_KINDS; kind++) {
        milp_term_add(m, at->layers[kind], -layer[kind].fw_s / unit);
    }
    milp_row_add(m, CALC_MILP_EQUAL, (fixed->agrad_s + fixed->wgrad_s) / unit);
    milp_term_add(m, at->bw_time, 1);
    for (int kind = 0; kind < CALC_BALANCE_KINDS; kind++) {
        const calc_balance_layer *l = &layer[kind];
        milp_term_add(m, at->layers[kind], -(l->agrad_s + l->wgrad_s) / unit);
        milp_term_add(m, at->selective[kind], -l->again_s[CALC_BALANCE_SELECTIVE] / unit);
        milp_term_add(m, at->full[kind], -l->again_s[CALC_BALANCE_FULL] / unit);
    }
}

static int make_starts(calc_milp_maker *m, calc_milp_what what, int place)
{
    calc_milp_column column = on_place(m, what, place);
    int first = -1;
    for (int64_t i = 0; i < m->problem->shape.microbatches; i++) {
        column.microbatch = (int)i;
        int added = milp_column_add(m, &column);
        first = i == 0 ? added : first;
    }
    return first;
}

/* `next` starts when `start` has taken `time`. */
static void after(calc_milp_maker *m, int start, int time, int next)
{
    milp_row_add(m, CALC_MILP_LESS, 0);
    milp_term_add(m, start, 1);
    milp_term_add(m, time, 1);
    milp_term_add(m, next, -1);
}

static void make_order(calc_milp_maker *m, int stage)
{
    int done[CALC_BALANCE_PLACES][2] = {{0}}; /* micro-batches by chunk, forward and backward */
    int start = -1;
    int time = -1;
    for (int64_t i = 0; i < m->count[stage]; i++) {
        const calc_schedule_op *op = &m->op[stage * m->room + i];
        int place = calc_balance_place_of(&m->problem->shape, stage, op->chunk);
        const calc_milp_place *at = &m->place[place];
        bool back = op->kind != CALC_SCHEDULE_FW;
        int next = (back ? at->bw_start : at->fw_start) + done[op->chunk][back]++;
        if (start >= 0) {
            after(m, start, time, next);
        }
        start = next;
        time = back ? at->bw_time : at->fw_time;
    }
}

/* From chunk to chunk; the order of a stage covers passes on the same one. */
static void make_way(calc_milp_maker *m, int microbatch)
{
    const calc_schedule_shape *s = &m->problem->shape;
    for (int place = 0; place + 1 < m->places; place++) {
        const calc_milp_place *at = &m->place[place];
        const calc_milp_place *next = &m->place[place + 1];
        if (calc_balance_stage_of(s, place) != calc_balance_stage_of(s, place + 1)) {
            after(m, at->fw_start + microbatch, at->fw_time, next->fw_start + microbatch);
            after(m, next->bw_start + microbatch, next->bw_time, at->bw_start + microbatch);
        }
    }
}

void calc_milp_make_times(calc_milp_maker *m)
{
    int microbatches = (int)m->problem->shape.microbatches;
    for (int place = 0; place < m->places; place++) {
        make_passes(m, place);
    }
    for (int place = 0; place < m->places; place++) {
        m->place[place].fw_start = make_starts(m, CALC_MILP_FW_START, place);
        m->place[place].bw_start = make_starts(m, CALC_MILP_BW_START, place);
    }
    for (int stage = 0; stage < m->problem->shape.stages; stage++) {
        make_order(m, stage);
    }
    for (int i = 0; i < microbatches; i++) {
        make_way(m, i);
    }
    /* The last pass of all stages is the last micro-batch's backward at the model's beginning. */
    if (!m->too_large) {
        m->out->column[m->place[0].bw_start + microbatches - 1].cost = 1;
        m->out->column[m->place[0].bw_time].cost = 1;
    }
}
