#include "model/schedule/schedule_sim.h"

#include "model/operators/processor.h"
#include "spec/schedule.h"

/** An order in the making. */
typedef struct order {
    calc_schedule_op *op;
    int64_t count;
} order;

static void put(order *o, calc_schedule_op_kind kind, int64_t chunk)
{
    o->op[o->count++] = (calc_schedule_op){.kind = (uint8_t)kind, .chunk = (uint16_t)chunk};
}

static void put_fw(order *o)
{
    put(o, CALC_SCHEDULE_FW, 0);
}

static int64_t smaller(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

int64_t calc_schedule_ops_room(const calc_schedule_shape *shape)
{
    return 3 * shape->chunks * shape->microbatches;
}

/* ---- One chunk per stage ----------------------------------------------------------------------*/

static void one_f_one_b(order *o, int64_t m, int64_t warmup)
{
    for (int64_t i = 0; i < warmup; i++) {
        put_fw(o);
    }
    for (int64_t i = 0; i < m; i++) {
        if (i + warmup < m) {
            put_fw(o);
        }
        put(o, CALC_SCHEDULE_BW_WHOLE, 0);
    }
}

/** Zero bubble: the forwards of a warm-up, then forwards and backwards in turn; at most `late`
 *  weight gradients wait until forwards have run out, and then fill the gaps between backwards. */
static void zero_bubble(order *o, int64_t m, int64_t warmup, int64_t late)
{
    int64_t wgrad = 0;
    warmup = smaller(warmup, m);
    for (int64_t i = 0; i < warmup; i++) {
        put_fw(o);
    }
    for (int64_t i = 0; i < m; i++) {
        bool forwards = i + warmup < m;
        if (forwards) {
            put_fw(o);
        }
        put(o, CALC_SCHEDULE_BW, 0);
        bool more = i + warmup + 1 < m;
        if (more ? i + 1 - wgrad > late : i + 1 < m) {
            put(o, CALC_SCHEDULE_WGRAD, 0);
            wgrad++;
        }
    }
    for (; wgrad < m; wgrad++) {
        put(o, CALC_SCHEDULE_WGRAD, 0);
    }
}

/* ---- Interleaving -----------------------------------------------------------------------------*/

/** The chunk whose turn the k-th pass of a stage is, forward; micro-batches come in rounds of one
 *  per stage. -1 in the last round, if it is not full, for a micro-batch that is not there. */
static int64_t turn(const calc_schedule_shape *s, int64_t k)
{
    int64_t round = k / (s->stages * s->chunks);
    int64_t microbatch = round * s->stages + k % s->stages;
    return microbatch < s->microbatches ? k / s->stages % s->chunks : -1;
}

static void interleaved(order *o, const calc_schedule_shape *s, int64_t stage)
{
    int64_t rounds = (s->microbatches + s->stages - 1) / s->stages;
    int64_t passes = rounds * s->stages * s->chunks;
    int64_t warmup = 2 * (s->stages - 1 - stage) + (s->chunks - 1) * s->stages;
    for (int64_t k = 0; k < passes + warmup; k++) {
        int64_t fw = k < passes ? turn(s, k) : -1;
        if (fw >= 0) {
            put(o, CALC_SCHEDULE_FW, fw);
        }
        int64_t bw = k >= warmup ? turn(s, k - warmup) : -1;
        if (bw >= 0) {
            put(o, CALC_SCHEDULE_BW_WHOLE, s->chunks - 1 - bw);
        }
    }
}

/* ---- Two chunks per stage: ZB-V, DualPipe, DualPipeV ------------------------------------------*/

/** A stage with two chunks in the making: chunk 0 is the one that the first micro-batch reaches
 *  first, here and below; in the order they change places if `swap` is 1. */
typedef struct dual {
    order o;
    int64_t microbatches; /**< of a chunk */
    int64_t swap;
    bool overlap;         /**< DualPipe: a forward and a backward run at once */
    int64_t fw[2], bw[2]; /**< done of each chunk */
    int64_t waiting;      /**< activation gradients whose weight gradient is still to do */
    int64_t oldest;       /**< place of the oldest of them in the order */
} dual;

/* Passes of micro-batches beyond the last are left out. That keeps an order executable, since
 * passes depend on others of the same micro-batch only. */

static void dual_fw(dual *d, int64_t chunk)
{
    if (d->fw[chunk] < d->microbatches) {
        d->fw[chunk]++;
        put(&d->o, CALC_SCHEDULE_FW, chunk ^ d->swap);
    }
}

static void dual_bw(dual *d, int64_t chunk, bool whole)
{
    if (d->bw[chunk] == d->microbatches) {
        return;
    }
    d->bw[chunk]++;
    if (!whole && d->waiting++ == 0) {
        d->oldest = d->o.count;
    }
    put(&d->o, whole ? CALC_SCHEDULE_BW_WHOLE : CALC_SCHEDULE_BW, chunk ^ d->swap);
}

/** The oldest weight gradient that waits. */
static void dual_wgrad(dual *d)
{
    if (d->waiting == 0) {
        return;
    }
    put(&d->o, CALC_SCHEDULE_WGRAD, d->o.op[d->oldest].chunk);
    if (--d->waiting > 0) {
        do {
            d->oldest++;
        } while (d->o.op[d->oldest].kind != CALC_SCHEDULE_BW);
    }
}

/** In the steady state: a forward, and a backward of the other chunk. */
static void dual_both(dual *d, int64_t fw_chunk)
{
    int64_t bw_chunk = 1 - fw_chunk;
    if (d->overlap) {
        d->fw[fw_chunk]++;
        d->bw[bw_chunk]++;
        put(&d->o, CALC_SCHEDULE_FW, fw_chunk ^ d->swap);
        d->o.op[d->o.count - 1].paired = 1;
        return;
    }
    dual_bw(d, bw_chunk, false);
    dual_wgrad(d);
    dual_fw(d, fw_chunk);
}

static void dual_steady(dual *d, int64_t rounds, bool turning)
{
    for (int64_t i = 0; i < rounds; i++) {
        if (i == 0 && turning && d->overlap) {
            /* Where micro-batches turn, the first two are not overlapped: others wait less. */
            dual_fw(d, 0);
            dual_bw(d, 1, true);
        } else {
            dual_both(d, 0);
        }
        dual_both(d, 1);
    }
}

/** @param outer   stages between this one and where micro-batches come in
 *  @param inner   stages between this one and where they turn, or meet those that come from the
 *                 other end */
static void dual_order(dual *d, int64_t outer, int64_t inner)
{
    int64_t filling = 2 * (outer + inner + 1);
    int64_t rounds = d->microbatches > filling ? d->microbatches : filling;
    for (int64_t i = 0; i < 2 * inner; i++) {
        dual_fw(d, 0);
    }
    for (int64_t i = 0; i <= outer; i++) {
        dual_fw(d, 0);
        dual_fw(d, 1);
    }
    for (int64_t i = 0; i < inner; i++) {
        dual_bw(d, 1, false);
        dual_wgrad(d);
        dual_fw(d, 1);
    }
    dual_steady(d, rounds - filling + outer + 1, inner == 0);
    for (int64_t i = 0; i < inner; i++) {
        dual_bw(d, 1, d->overlap);
        if (!d->overlap) {
            dual_wgrad(d);
        }
        dual_both(d, 1);
    }
    for (int64_t i = 0; i < 2 * (outer + 1); i++) {
        dual_bw(d, 1 - i % 2, d->overlap && i <= outer);
    }
    for (int64_t i = 0; i < inner; i++) {
        dual_wgrad(d);
        dual_bw(d, 0, false);
    }
    while (d->waiting > 0) {
        dual_wgrad(d);
    }
}

/* ---- All
 * ---------------------------------------------------------------------------------------*/

static void stage_order(order *o, const calc_schedule_shape *s, int64_t stage)
{
    int64_t after = s->stages - 1 - stage;
    switch (s->kind) {
    case CALC_PIPELINE_SCHEDULE_GPIPE:
        for (int64_t i = 0; i < s->microbatches; i++) {
            put_fw(o);
        }
        for (int64_t i = 0; i < s->microbatches; i++) {
            put(o, CALC_SCHEDULE_BW_WHOLE, 0);
        }
        return;
    case CALC_PIPELINE_SCHEDULE_ZB_H1:
        zero_bubble(o, s->microbatches, after, stage);
        return;
    case CALC_PIPELINE_SCHEDULE_ZB_H2:
        zero_bubble(o, s->microbatches, 2 * after, 2 * stage);
        return;
    case CALC_PIPELINE_SCHEDULE_ZB_V:
    case CALC_PIPELINE_SCHEDULE_DUALPIPE:
    case CALC_PIPELINE_SCHEDULE_DUALPIPE_V: {
        bool both_ends = s->kind == CALC_PIPELINE_SCHEDULE_DUALPIPE;
        bool second_half = both_ends && 2 * stage >= s->stages;
        dual d = {
            .o = *o,
            .microbatches = both_ends ? s->microbatches / 2 : s->microbatches,
            .swap = second_half,
            .overlap = s->kind != CALC_PIPELINE_SCHEDULE_ZB_V,
        };
        int64_t depth = both_ends ? s->stages / 2 : s->stages;
        int64_t outer = second_half ? after : stage;
        dual_order(&d, outer, depth - 1 - outer);
        *o = d.o;
        return;
    }
    default:
        break; /* 1f1b */
    }
    if (s->chunks > 1) {
        interleaved(o, s, stage);
    } else {
        one_f_one_b(o, s->microbatches, smaller(after, s->microbatches));
    }
}

void calc_schedule_orders(const calc_schedule_shape *shape, calc_schedule_op *op, int64_t *count)
{
    int64_t room = calc_schedule_ops_room(shape);
    for (int64_t stage = 0; stage < shape->stages; stage++) {
        order o = {.op = op + stage * room};
        stage_order(&o, shape, stage);
        count[stage] = o.count;
    }
}

enum { NOWHERE = -1 };

/** A chunk on a stage: where its input comes from and how long it takes. Counts say how many
 *  micro-batches it has done; the arrays of their times are [microbatches]. */
typedef struct slot {
    int64_t before, after; /**< slots that a micro-batch visits before and after, or NOWHERE */
    double fw_s, bw_s, wgrad_s;
    double fw_message_s, bw_message_s; /**< that it sends; 0 to its own stage */
    int64_t fw, bw, wgrad;
    double *fw_at_s, *bw_at_s; /**< when the receiver has the result */
} slot;

typedef struct worker {
    const calc_schedule_op *op;
    int64_t count, next;
    bool waits; /**< for another stage: not on the stack */
    double now_s;
    int64_t live, peak;
    calc_schedule_stage seen;
} worker;

typedef struct run {
    const calc_schedule_sim *sim;
    slot *slots;
    worker *workers;
    int64_t *stack;
    int64_t depth;
    int64_t chunks; /**< of a stage, the copy that DualPipe holds included */
    calc_schedule_events *events;
} run;

/* ---- The workspace ----------------------------------------------------------------------------*/

static bool both_ends(const calc_schedule_shape *shape)
{
    return calc_schedule_traits_of(shape->kind).copies > 1;
}

int64_t calc_schedule_held(const calc_schedule_shape *shape)
{
    return both_ends(shape) ? 2 : shape->chunks;
}

static int64_t on_the_way(const calc_schedule_shape *s, int64_t chunk, int64_t stage)
{
    bool back = chunk == 1 && s->kind != CALC_PIPELINE_SCHEDULE_1F1B;
    return back ? s->stages - 1 - stage : stage;
}

int64_t calc_schedule_place(const calc_schedule_shape *s, int64_t stage, int64_t chunk)
{
    return chunk * s->stages + on_the_way(s, chunk, stage);
}

int64_t calc_schedule_stage_at(const calc_schedule_shape *s, int64_t place)
{
    return on_the_way(s, place / s->stages, place % s->stages);
}

bool calc_schedule_joined(const calc_schedule_shape *s, int64_t place)
{
    return both_ends(s) ? place % s->stages < s->stages - 1 : place < s->stages * s->chunks - 1;
}

/** Micro-batches of a slot. */
static int64_t slot_microbatches(const calc_schedule_shape *shape)
{
    return both_ends(shape) ? shape->microbatches / 2 : shape->microbatches;
}

size_t calc_schedule_sim_bytes(const calc_schedule_shape *shape)
{
    size_t stages = (size_t)shape->stages;
    size_t slots = stages * (size_t)calc_schedule_held(shape);
    size_t times = 2 * slots * (size_t)slot_microbatches(shape);
    size_t ops = stages * (size_t)calc_schedule_ops_room(shape);
    return slots * sizeof(slot) + stages * (sizeof(worker) + 2 * sizeof(int64_t)) +
           times * sizeof(double) + ops * sizeof(calc_schedule_op);
}

/** The slot of a place in the model, places counted from where a micro-batch comes in. DualPipe's
 *  second half of places is the way of the micro-batches that come in at the last stage. */
static int64_t slot_at(const run *r, int64_t place)
{
    const calc_schedule_shape *s = &r->sim->shape;
    return calc_schedule_stage_at(s, place) * r->chunks + place / s->stages;
}

static void set_slots(run *r, double *times)
{
    const calc_schedule_sim *sim = r->sim;
    int64_t n = slot_microbatches(&sim->shape);
    int64_t places = sim->shape.stages * r->chunks;
    for (int64_t place = 0; place < places; place++) {
        int64_t here = slot_at(r, place);
        int64_t part = both_ends(&sim->shape) ? place % sim->shape.stages : place;
        r->slots[here] = (slot){
            .before = place > 0 && calc_schedule_joined(&sim->shape, place - 1)
                          ? slot_at(r, place - 1)
                          : NOWHERE,
            .after = calc_schedule_joined(&sim->shape, place) ? slot_at(r, place + 1) : NOWHERE,
            .fw_s = sim->pass[part].fw_s,
            .bw_s = sim->pass[part].bw_s,
            .wgrad_s = sim->pass[part].wgrad_s,
            .fw_at_s = times + 2 * here * n,
            .bw_at_s = times + (2 * here + 1) * n,
        };
        slot *s = &r->slots[here];
        bool sends_fw = s->after != NOWHERE && s->after / r->chunks != here / r->chunks;
        bool sends_bw = s->before != NOWHERE && s->before / r->chunks != here / r->chunks;
        s->fw_message_s = sends_fw ? sim->fw_message_s : 0;
        s->bw_message_s = sends_bw ? sim->bw_message_s : 0;
    }
}

static void set_workers(run *r, calc_schedule_op *ops, int64_t *counts)
{
    const calc_schedule_shape *shape = &r->sim->shape;
    calc_schedule_orders(shape, ops, counts);
    for (int64_t i = 0; i < shape->stages; i++) {
        r->workers[i] = (worker){
            .op = ops + i * calc_schedule_ops_room(shape),
            .count = counts[i],
        };
        r->stack[r->depth++] = shape->stages - 1 - i;
    }
}

/* ---- Operations -------------------------------------------------------------------------------*/

/** When the input of the next forward of a slot is there; false: not known yet. */
static bool fw_ready(const run *r, const slot *s, double *at_s)
{
    if (s->before == NOWHERE) {
        return true;
    }
    const slot *before = &r->slots[s->before];
    if (before->fw == s->fw) {
        return false;
    }
    *at_s = calc_max(*at_s, before->fw_at_s[s->fw]);
    return true;
}

static bool bw_ready(const run *r, const slot *s, double *at_s)
{
    if (s->after == NOWHERE) {
        return true; /* its forward is earlier in the order */
    }
    const slot *after = &r->slots[s->after];
    if (after->bw == s->bw) {
        return false;
    }
    *at_s = calc_max(*at_s, after->bw_at_s[s->bw]);
    return true;
}

static void wake(run *r, int64_t slot_index)
{
    if (slot_index == NOWHERE) {
        return;
    }
    int64_t stage = slot_index / r->chunks;
    if (r->workers[stage].waits) {
        r->workers[stage].waits = false;
        r->stack[r->depth++] = stage;
    }
}

static void record(run *r, int64_t slot_index, int64_t microbatch, calc_schedule_op_kind kind,
                   double start_s, double end_s)
{
    calc_schedule_events *e = r->events;
    if (e == NULL) {
        return;
    }
    if (e->count < e->capacity) {
        e->event[e->count] = (calc_schedule_event){
            .stage = (int32_t)(slot_index / r->chunks),
            .chunk = (int32_t)(slot_index % r->chunks),
            .microbatch = (int32_t)microbatch,
            .kind = kind,
            .start_s = start_s,
            .end_s = end_s,
        };
    }
    e->count++;
}

/** The passes of an operation: slots or NULL. */
typedef struct parts {
    slot *fw, *bw, *wgrad;
} parts;

static parts parts_of(const run *r, int64_t stage, calc_schedule_op op)
{
    slot *chunk = &r->slots[stage * r->chunks];
    slot *s = chunk + op.chunk;
    if (op.paired) {
        slot *other = chunk + (1 - op.chunk);
        return (parts){.fw = s, .bw = other, .wgrad = other};
    }
    switch (op.kind) {
    case CALC_SCHEDULE_FW:
        return (parts){.fw = s};
    case CALC_SCHEDULE_BW:
        return (parts){.bw = s};
    case CALC_SCHEDULE_WGRAD:
        return (parts){.wgrad = s};
    default:
        return (parts){.bw = s, .wgrad = s};
    }
}

/** Note the results of an operation, and wake those who wait for them. */
static void finish(run *r, worker *w, parts p, double start_s, double end_s)
{
    if (p.fw != NULL) {
        p.fw->fw_at_s[p.fw->fw] = end_s + (r->sim->overlap ? p.fw->fw_message_s : 0);
        record(r, p.fw - r->slots, p.fw->fw++, CALC_SCHEDULE_FW, start_s, end_s);
        w->live++;
        w->peak = w->live > w->peak ? w->live : w->peak;
        wake(r, p.fw->after);
    }
    if (p.bw != NULL) {
        p.bw->bw_at_s[p.bw->bw] = end_s + (r->sim->overlap ? p.bw->bw_message_s : 0);
        record(r, p.bw - r->slots, p.bw->bw++,
               p.wgrad != NULL ? CALC_SCHEDULE_BW_WHOLE : CALC_SCHEDULE_BW, start_s, end_s);
        wake(r, p.bw->before);
    }
    if (p.wgrad != NULL) {
        w->live--;
        if (p.bw == NULL) {
            record(r, p.wgrad - r->slots, p.wgrad->wgrad, CALC_SCHEDULE_WGRAD, start_s, end_s);
        }
        p.wgrad->wgrad++;
    }
}

/** Do the next operation of a stage; false if its input is not known yet. */
static bool step(run *r, worker *w)
{
    parts p = parts_of(r, w - r->workers, w->op[w->next]);
    double start_s = w->now_s;
    if ((p.fw != NULL && !fw_ready(r, p.fw, &start_s)) ||
        (p.bw != NULL && !bw_ready(r, p.bw, &start_s))) {
        return false;
    }
    double work_s = 0;
    double message_s = 0;
    if (p.fw != NULL) {
        work_s += p.fw->fw_s;
        message_s = p.fw->fw_message_s;
    }
    if (p.bw != NULL) {
        work_s += p.bw->bw_s;
        message_s = calc_max(message_s, p.bw->bw_message_s);
    }
    if (p.wgrad != NULL) {
        work_s += p.wgrad->wgrad_s;
    }
    if (p.fw != NULL && p.bw != NULL) {
        work_s -= r->sim->pair_saves_s;
    }
    double end_s = start_s + work_s + (r->sim->overlap ? 0 : message_s);
    if (w->next == 0) {
        w->seen.start_s = start_s;
    }
    w->seen.busy_s += end_s - start_s;
    w->now_s = end_s;
    w->next++;
    finish(r, w, p, start_s, end_s);
    return true;
}

/** Lay out the workspace: slots and their times, workers, their stack, counts and orders. */
static run start(const calc_schedule_sim *sim, void *workspace, calc_schedule_events *events)
{
    run r = {.sim = sim, .chunks = calc_schedule_held(&sim->shape), .events = events};
    int64_t stages = sim->shape.stages;
    int64_t slots = stages * r.chunks;
    r.slots = workspace;
    void *rest = r.slots + slots;
    double *times = rest;
    set_slots(&r, times);
    rest = times + 2 * slots * slot_microbatches(&sim->shape);
    r.workers = rest;
    rest = r.workers + stages;
    r.stack = rest;
    int64_t *counts = r.stack + stages;
    rest = counts + stages;
    set_workers(&r, rest, counts);
    return r;
}

double calc_schedule_sim_s(const calc_schedule_sim *sim, void *workspace,
                           calc_schedule_stage *stage, calc_schedule_events *events)
{
    if (events != NULL) {
        events->count = 0;
    }
    run r = start(sim, workspace, events);
    while (r.depth > 0) {
        worker *w = &r.workers[r.stack[--r.depth]];
        while (w->next < w->count && step(&r, w)) {
        }
        w->waits = w->next < w->count;
    }
    double end_s = 0;
    for (int64_t i = 0; i < sim->shape.stages; i++) {
        end_s = calc_max(end_s, r.workers[i].now_s);
    }
    for (int64_t i = 0; i < sim->shape.stages && stage; i++) {
        const worker *w = &r.workers[i];
        stage[i] = w->seen;
        stage[i].end_s = w->now_s;
        stage[i].bubble_s = end_s - w->seen.busy_s;
        stage[i].in_flight = (double)w->peak / (both_ends(&sim->shape) ? 1 : (double)r.chunks);
    }
    return end_s;
}
