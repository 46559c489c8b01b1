#include "model/schedule/schedule_order.h"

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

static void gpipe(order *o, int64_t m)
{
    for (int64_t i = 0; i < m; i++) {
        put_fw(o);
    }
    for (int64_t i = 0; i < m; i++) {
        put(o, CALC_SCHEDULE_BW_WHOLE, 0);
    }
}

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
        gpipe(o, s->microbatches);
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
