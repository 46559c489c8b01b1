#include "balance/milp_make.h"

#include <math.h>

static calc_milp_column on_place(const calc_milp_maker *m, calc_milp_what what, int place)
{
    const calc_schedule_shape *s = &m->problem->shape;
    return (calc_milp_column){.what = what,
                              .kind = -1,
                              .stage = calc_balance_stage_of(s, place),
                              .chunk = place / (int)s->stages,
                              .microbatch = -1,
                              .upper = m->horizon};
}

/* How long a micro-batch takes, forward and backward. */
static void make_passes(calc_milp_maker *m, int place)
{
    const calc_balance_place *fixed = &m->problem->place[place];
    const calc_balance_layer *layer = calc_milp_layers_of(m, place);
    calc_milp_place *at = &m->place[place];
    double unit = m->out->unit_s;
    calc_milp_column fw = on_place(m, CALC_MILP_FW_TIME, place);
    calc_milp_column bw = on_place(m, CALC_MILP_BW_TIME, place);
    at->fw_time = calc_milp_column_add(m, &fw);
    at->bw_time = calc_milp_column_add(m, &bw);
    calc_milp_row_add(m, CALC_MILP_EQUAL, fixed->fw_s / unit);
    calc_milp_term_add(m, at->fw_time, 1);
    for (int kind = 0; kind < CALC_BALANCE_KINDS; kind++) {
        calc_milp_term_add(m, at->layers[kind], -layer[kind].fw_s / unit);
    }
    calc_milp_row_add(m, CALC_MILP_EQUAL, (fixed->agrad_s + fixed->wgrad_s) / unit);
    calc_milp_term_add(m, at->bw_time, 1);
    for (int kind = 0; kind < CALC_BALANCE_KINDS; kind++) {
        const calc_balance_layer *l = &layer[kind];
        calc_milp_term_add(m, at->layers[kind], -(l->agrad_s + l->wgrad_s) / unit);
        calc_milp_term_add(m, at->selective[kind], -l->again_s[CALC_BALANCE_SELECTIVE] / unit);
        calc_milp_term_add(m, at->full[kind], -l->again_s[CALC_BALANCE_FULL] / unit);
    }
}

static int make_starts(calc_milp_maker *m, calc_milp_what what, int place)
{
    calc_milp_column column = on_place(m, what, place);
    int first = -1;
    for (int64_t i = 0; i < m->microbatches; i++) {
        column.microbatch = (int)i;
        int added = calc_milp_column_add(m, &column);
        first = i == 0 ? added : first;
    }
    return first;
}

/* `next` starts when `start` has taken `time`. */
static void after(calc_milp_maker *m, int start, int time, int next)
{
    calc_milp_row_add(m, CALC_MILP_LESS, 0);
    calc_milp_term_add(m, start, 1);
    calc_milp_term_add(m, time, 1);
    calc_milp_term_add(m, next, -1);
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

/* Each omitted round of micro-batches takes the longest time on any stage from the first forward of
 * the second-to-last round to that of the last. */
static void make_period(calc_milp_maker *m)
{
    if (m->left_out == 0) {
        return;
    }
    int stages = (int)m->problem->shape.stages;
    calc_milp_column column = {.what = CALC_MILP_PERIOD,
                               .kind = -1,
                               .stage = -1,
                               .chunk = -1,
                               .microbatch = -1,
                               .upper = m->horizon,
                               .cost = (double)m->left_out};
    int period = calc_milp_column_add(m, &column);
    for (int place = 0; place < stages; place++) {
        int last = m->place[place].fw_start + (int)m->microbatches - stages;
        calc_milp_row_add(m, CALC_MILP_MORE, 0);
        calc_milp_term_add(m, period, 1);
        calc_milp_term_add(m, last - stages, 1);
        calc_milp_term_add(m, last, -1);
    }
}

void calc_milp_make_times(calc_milp_maker *m)
{
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
    for (int i = 0; i < (int)m->microbatches; i++) {
        make_way(m, i);
    }
    make_period(m);
    /* The last pass of all stages is the last micro-batch's backward at the model's beginning. */
    if (m->status == CALC_OK) {
        m->out->column[m->place[0].bw_start + (int)m->microbatches - 1].cost = 1;
        m->out->column[m->place[0].bw_time].cost = 1;
    }
}
