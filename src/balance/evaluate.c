#include "balance/evaluate.h"

#include <stdlib.h>

#include "balance/parts.h"
#include "balance/rounds.h"
#include "model/operators/processor.h"

/* What a micro-batch more may take beside the busiest stage and still count as rounding. */
#define SAME 1e-12

static bool interleaved(const calc_schedule_shape *s)
{
    return s->kind == CALC_PIPELINE_SCHEDULE_1F1B && s->chunks > 1;
}

/* ---- Time -------------------------------------------------------------------------------------*/

static double rounds_s(const calc_schedule_shape *s, const calc_schedule_pass *pass)
{
    double fw_s[CALC_BALANCE_STAGES];
    double bw_s[CALC_BALANCE_STAGES];
    for (int64_t i = 0; i < s->stages; i++) {
        fw_s[i] = pass[i].fw_s;
        bw_s[i] = pass[i].bw_s + pass[i].wgrad_s;
    }
    return calc_balance_rounds_s((int)s->stages, s->microbatches, fw_s, bw_s);
}

/* A workspace that grows. */
typedef struct room {
    void *bytes;
    size_t size;
} room;

static bool make_room(room *r, size_t size)
{
    if (size <= r->size) {
        return true;
    }
    void *bytes = realloc(r->bytes, size);
    if (bytes == NULL) {
        return false;
    }
    r->bytes = bytes;
    r->size = size;
    return true;
}

/* Every operation of a shape simulated; negative if there is no memory for that. */
static double simulated_s(const calc_balance_problem *p, int64_t microbatches,
                          const calc_schedule_pass *pass, room *r)
{
    calc_schedule_shape shape = p->shape;
    shape.microbatches = microbatches;
    if (interleaved(&shape)) {
        calc_balance_parts parts = calc_balance_parts_of(&shape, p->less_memory);
        return make_room(r, calc_balance_parts_bytes(&parts))
                   ? calc_balance_parts_s(&parts, pass, r->bytes)
                   : -1;
    }
    calc_schedule_sim sim = {.shape = shape, .pass = pass};
    return make_room(r, calc_schedule_sim_bytes(&shape))
               ? calc_schedule_sim_s(&sim, r->bytes, NULL, NULL)
               : -1;
}

static double pass_s(const calc_schedule_pass *p)
{
    return p->fw_s + p->bw_s + p->wgrad_s;
}

/* What a stage does for a micro-batch. DualPipe's stages do half of theirs for the opposite one. */
static double busy_s(const calc_schedule_shape *s, const calc_schedule_pass *pass, int stage)
{
    if (s->kind == CALC_PIPELINE_SCHEDULE_DUALPIPE) {
        return (pass_s(&pass[stage]) + pass_s(&pass[s->stages - 1 - stage])) / 2;
    }
    double all_s = 0;
    for (int chunk = 0; chunk < s->chunks; chunk++) {
        all_s += pass_s(&pass[calc_balance_place_of(s, stage, chunk)]);
    }
    return all_s;
}

/* As schedule_steady.h, for any number of stages: with a period of micro-batches more a step grows
 * by ever more, until it grows by what the busiest stage takes. */
static double steady_s(const calc_balance_problem *p, const calc_schedule_pass *pass, room *r)
{
    const calc_schedule_shape *s = &p->shape;
    int64_t m = s->microbatches;
    int64_t period = interleaved(s) ? s->stages : 1;
    if (s->kind == CALC_PIPELINE_SCHEDULE_DUALPIPE) {
        period = 2;
    }
    double most_s = 0;
    for (int stage = 0; stage < s->stages; stage++) {
        most_s = calc_max(most_s, busy_s(s, pass, stage));
    }
    for (int64_t few = 3 * s->stages + m % period; few + period < m / 2; few *= 2) {
        few += (m - few) % period;
        double few_s = simulated_s(p, few, pass, r);
        double more_s = few_s < 0 ? few_s : simulated_s(p, few + period, pass, r);
        double slope_s = (more_s - few_s) / (double)period;
        if (more_s < 0) {
            return more_s;
        }
        if (calc_max(slope_s - most_s, most_s - slope_s) * (double)period <= SAME * more_s) {
            return more_s + (double)(m - few - period) * most_s;
        }
    }
    return simulated_s(p, m, pass, r);
}

/* ---- Memory -----------------------------------------------------------------------------------*/

/* A chunk that a stage holds, or a copy of another stage's. */
typedef struct held {
    double flight_bytes;
    int64_t live;
} held;

typedef struct holder {
    held chunk[CALC_BALANCE_PLACES];
    int64_t chunks;
    double peak_bytes; /**< of activations */
} holder;

static void enter(holder *h, int64_t chunk)
{
    h->chunk[chunk].live++;
    double bytes = 0;
    for (int64_t c = 0; c < h->chunks; c++) {
        bytes += (double)h->chunk[c].live * h->chunk[c].flight_bytes;
    }
    h->peak_bytes = calc_max(h->peak_bytes, bytes);
}

static void walk_parts(const calc_balance_problem *p, int stage, holder *h)
{
    calc_balance_parts parts = calc_balance_parts_of(&p->shape, p->less_memory);
    int64_t passes = parts.chunks * parts.microbatches;
    int64_t warm_up = calc_balance_warm_up(&parts, stage);
    for (int64_t k = 0; k < passes; k++) {
        enter(h, calc_balance_forward(&parts, k).chunk);
        if (k >= warm_up) {
            h->chunk[calc_balance_backward(&parts, k - warm_up).chunk].live--;
        }
    }
}

static void walk_order(const calc_schedule_op *op, int64_t count, holder *h)
{
    for (int64_t i = 0; i < count; i++) {
        if (op[i].kind == CALC_SCHEDULE_FW) {
            enter(h, op[i].chunk);
            h->chunk[1 - op[i].chunk].live -= op[i].paired;
        } else if (op[i].kind != CALC_SCHEDULE_BW) {
            h->chunk[op[i].chunk].live--;
        }
    }
}

static void hold(const calc_balance_problem *p, const calc_balance_share *share, int stage,
                 const calc_schedule_op *op, int64_t count, calc_balance_answer *out)
{
    const calc_schedule_shape *s = &p->shape;
    bool both_ends = s->kind == CALC_PIPELINE_SCHEDULE_DUALPIPE;
    holder h = {.chunks = both_ends ? 2 : s->chunks};
    double bytes = p->stage[stage].fixed_bytes;
    bool again = false;
    for (int chunk = 0; chunk < h.chunks; chunk++) {
        int place = both_ends && chunk == 1 ? (int)s->stages - 1 - stage
                                            : calc_balance_place_of(s, stage, chunk);
        h.chunk[chunk].flight_bytes = calc_balance_flight_bytes(p, place, &share[place]);
        bytes += calc_balance_held_bytes(p, place, &share[place]);
        again = again || share[place].full[0] + share[place].full[1] > 0;
    }
    if (s->chunks == 1 && s->kind == CALC_PIPELINE_SCHEDULE_1F1B) {
        int64_t live = s->stages - stage;
        live = live < s->microbatches ? live : s->microbatches;
        h.peak_bytes = (double)live * h.chunk[0].flight_bytes;
    } else if (interleaved(s)) {
        walk_parts(p, stage, &h);
    } else {
        walk_order(op, count, &h);
    }
    out->peak_bytes[stage] = bytes + (again ? p->stage[stage].working_bytes : 0) + h.peak_bytes;
}

static bool walks(const calc_schedule_shape *s)
{
    return s->kind != CALC_PIPELINE_SCHEDULE_1F1B;
}

static bool memory(const calc_balance_problem *p, const calc_balance_share *share, room *r,
                   calc_balance_answer *out)
{
    int stages = (int)p->shape.stages;
    int64_t each = calc_schedule_ops_room(&p->shape);
    int64_t count[CALC_BALANCE_STAGES] = {0};
    calc_schedule_op *op = NULL;
    if (walks(&p->shape)) {
        if (!make_room(r, (size_t)(stages * each) * sizeof(calc_schedule_op))) {
            return false;
        }
        op = r->bytes;
        calc_schedule_orders(&p->shape, op, count);
    }
    double worst_bytes = -INFINITY;
    out->most_bytes = 0;
    for (int stage = 0; stage < stages; stage++) {
        hold(p, share, stage, op == NULL ? NULL : op + stage * each, count[stage], out);
        double over_bytes = out->peak_bytes[stage] - p->stage[stage].limit_bytes;
        if (over_bytes > worst_bytes || stage == 0) {
            worst_bytes = over_bytes;
            out->worst_stage = stage;
        }
        out->most_bytes = calc_max(out->most_bytes, out->peak_bytes[stage]);
    }
    out->lacks_bytes = calc_max(0, worst_bytes);
    out->fits = worst_bytes <= 0;
    return true;
}

calc_status calc_balance_evaluate(const calc_balance_problem *p, const calc_balance_share *share,
                                  calc_balance_answer *out)
{
    if (calc_schedule_check(&p->shape) != CALC_SCHEDULE_OK) {
        return CALC_ERR_RULE;
    }
    calc_schedule_pass pass[CALC_BALANCE_PLACES];
    int places = (int)(p->shape.stages * p->shape.chunks);
    for (int place = 0; place < places; place++) {
        pass[place] = calc_balance_pass_of(p, place, &share[place]);
    }
    room r = {NULL, 0};
    *out = (calc_balance_answer){0};
    bool plain = p->shape.kind == CALC_PIPELINE_SCHEDULE_1F1B && p->shape.chunks == 1;
    out->step_s = plain ? rounds_s(&p->shape, pass) : steady_s(p, pass, &r);
    bool done = out->step_s >= 0 && memory(p, share, &r, out);
    free(r.bytes);
    return done ? CALC_OK : CALC_ERR_NOMEM;
}
