#include "model/schedule.h"

#include "model/processor.h"

calc_schedule_status calc_schedule_check(const calc_schedule_shape *s)
{
    if (s->stages < 1 || s->chunks < 1 || s->microbatches < 1) {
        return CALC_SCHEDULE_EMPTY;
    }
    if (s->chunks > UINT16_MAX) {
        return CALC_SCHEDULE_TOO_MANY_CHUNKS;
    }
    bool v_shaped =
        s->kind == CALC_PIPELINE_SCHEDULE_ZB_V || s->kind == CALC_PIPELINE_SCHEDULE_DUALPIPE_V;
    if (v_shaped && s->chunks != 2) {
        return CALC_SCHEDULE_TWO_CHUNKS;
    }
    if (!v_shaped && s->kind != CALC_PIPELINE_SCHEDULE_1F1B && s->chunks != 1) {
        return CALC_SCHEDULE_ONE_CHUNK;
    }
    bool both_ends = s->kind == CALC_PIPELINE_SCHEDULE_DUALPIPE;
    if (both_ends && (s->stages % 2 != 0 || s->microbatches % 2 != 0)) {
        return CALC_SCHEDULE_ODD;
    }
    if ((both_ends || s->kind == CALC_PIPELINE_SCHEDULE_DUALPIPE_V) &&
        s->microbatches / 2 < s->stages) {
        return CALC_SCHEDULE_FEW_MICROBATCHES;
    }
    return CALC_SCHEDULE_OK;
}

#define TEXT(name, text) text,
const char *calc_schedule_status_text(calc_schedule_status status)
{
    static const char *const texts[] = {CALC_SCHEDULE_STATUS_LIST(TEXT)};
    return texts[status];
}

double calc_schedule_in_flight(const calc_schedule_shape *s, int64_t stage)
{
    double p = (double)s->stages;
    double v = (double)s->chunks;
    double m = (double)s->microbatches;
    double before = (double)stage;
    double after = p - 1 - before;
    switch (s->kind) {
    case CALC_PIPELINE_SCHEDULE_GPIPE:
        return m;
    case CALC_PIPELINE_SCHEDULE_ZB_H1:
        return calc_min(m, p);
    case CALC_PIPELINE_SCHEDULE_ZB_H2:
        return calc_min(m, 2 * p - 1);
    case CALC_PIPELINE_SCHEDULE_ZB_V:
        return (calc_min(m, p + after) + calc_min(m, before + 1)) / 2;
    case CALC_PIPELINE_SCHEDULE_DUALPIPE:
        return p + 1;
    case CALC_PIPELINE_SCHEDULE_DUALPIPE_V:
        return p + 0.5;
    default:
        break;
    }
    if (v > 1) {
        return ((v - 1) * calc_min(m, p) + calc_min(m, 2 * after + 1)) / v;
    }
    return calc_min(m, after + 1);
}

int64_t calc_schedule_fullest(const calc_schedule_shape *s, int64_t first, int64_t last)
{
    /* No stage after another holds more, but of ZB-V: the first pass of its micro-batches keeps
     * fewer on later stages and the second pass more, so that with m < 2p it is the middle. */
    bool middle = s->kind == CALC_PIPELINE_SCHEDULE_ZB_V && s->microbatches < 2 * s->stages;
    if (!middle || last <= first) {
        return first;
    }
    int64_t fw_all = 2 * s->stages - 1 - s->microbatches; /* the last that keeps all of the first */
    int64_t bw_all = s->microbatches - 1;                 /* the first that keeps all of both */
    int64_t most = fw_all < bw_all ? fw_all : bw_all;
    most = most < last ? most : last;
    return most > first ? most : first;
}

/* ---- Unequal stages ---------------------------------------------------------------------------*/

/** GPipe: the slowest stage sets the pace of forwards, and of backwards. */
static double gpipe_s(const calc_schedule_times *t, double m)
{
    double way_s = 0;
    double fw_s = 0;
    double bw_s = 0;
    for (int i = 0; i < CALC_SCHEDULE_CLASSES; i++) {
        const calc_schedule_class *c = &t->of[i];
        if (c->stages > 0) {
            way_s += c->stages * (c->fw_s + c->bw_s + c->wgrad_s);
            fw_s = calc_max(fw_s, c->fw_s);
            bw_s = calc_max(bw_s, c->bw_s + c->wgrad_s);
        }
    }
    return way_s + (m - 1) * (fw_s + bw_s);
}

/** Walk of the longest path from the first stage down. */
typedef struct walk {
    double stage;      /**< where it is */
    double fw_s, bw_s; /**< of all stages before */
    double fw_max_s, bw_max_s;
} walk;

static void walk_on(walk *w, const calc_schedule_class *c, double stages)
{
    w->stage += stages;
    w->fw_s += stages * c->fw_s;
    w->bw_s += stages * (c->bw_s + c->wgrad_s);
}

static void walk_meets(walk *w, const calc_schedule_class *c)
{
    w->fw_max_s = calc_max(w->fw_max_s, c->fw_s);
    w->bw_max_s = calc_max(w->bw_max_s, c->bw_s + c->wgrad_s);
}

/** 1F1B through stage s = `at.stage`, the first of class `i` or a later one: between filling and
 *  draining the path stays there. While the pipeline fills it may go down to any stage j >= s,
 *  passing p-1-j forwards on the slowest stage above j, before it comes back up to s; and likewise
 *  with backwards while it drains. The best j is the first or the last of a class. */
static double through_s(const calc_schedule_times *t, int i, walk at, double left, double p,
                        double m)
{
    const walk s = at;
    double c_s = t->of[i].fw_s + t->of[i].bw_s + t->of[i].wgrad_s;
    double fill_s = 0;
    double drain_s = 0;
    for (int j = i; j < CALC_SCHEDULE_CLASSES; j++) {
        const calc_schedule_class *c = &t->of[j];
        double stages = j == i ? left : c->stages;
        if (stages <= 0) {
            continue;
        }
        walk_meets(&at, c);
        for (int last = 0; last < 2; last++) {
            walk_on(&at, c, last ? stages - 1 : 1);
            double below = p - at.stage;
            double way_s = at.fw_s + at.bw_s;
            fill_s = calc_max(fill_s, way_s - s.bw_s + below * at.fw_max_s);
            drain_s = calc_max(drain_s, way_s - s.fw_s + below * at.bw_max_s);
        }
    }
    return fill_s + drain_s + (m - 1 - p + s.stage) * c_s;
}

static double one_f_one_b_s(const calc_schedule_times *t, double p, double m)
{
    walk at = {0};
    double step_s = 0;
    for (int i = 0; i < CALC_SCHEDULE_CLASSES; i++) {
        const calc_schedule_class *c = &t->of[i];
        if (c->stages <= 0) {
            continue;
        }
        /* Only stages that come out of filling before they drain. */
        double skip = calc_max(0, p + 1 - m - at.stage);
        if (skip < c->stages) {
            walk s = at;
            walk_on(&s, c, skip);
            step_s = calc_max(step_s, through_s(t, i, s, c->stages - skip, p, m));
        }
        walk_meets(&at, c);
        walk_on(&at, c, c->stages);
        step_s = calc_max(step_s, at.fw_s + at.bw_s + (m - 1) * (c->fw_s + c->bw_s + c->wgrad_s));
    }
    return calc_max(step_s, at.fw_s + at.bw_s + (m - 1) * calc_max(at.fw_max_s, at.bw_max_s));
}

/** zb_h1 and zb_h2 if stage s = `at.stage` of class `c` sets the pace: it waits for the stages
 *  before it to fill, and for those after it to bring back the first micro-batch beyond the
 * forwards that it has meanwhile, the last one beyond its weight gradients; and the stages before
 * it drain while it does the weight gradients that are late. */
static double zero_bubble_at_s(const walk *at, const walk *all, const calc_schedule_class *c,
                               double m, double factor)
{
    double below = all->stage - 1 - at->stage;
    double fill = calc_min(factor * below, m - 1);
    double late = calc_min(factor * at->stage, m - 1);
    double way_s = all->fw_s + all->bw_s - at->fw_s - at->bw_s - c->fw_s - c->bw_s;
    return m * (c->fw_s + c->bw_s + c->wgrad_s) + at->fw_s + calc_max(0, way_s - fill * c->fw_s) +
           calc_max(0, way_s - fill * (c->bw_s + c->wgrad_s)) +
           calc_max(0, at->bw_s - late * c->wgrad_s);
}

/** The longest over all stages; of equal ones, over the first and the last.
 *  @param factor  1: zb_h1, 2: zb_h2, as many more forwards and late weight gradients */
static double zero_bubble_s(const calc_schedule_times *t, double m, double factor)
{
    calc_schedule_times apart = *t; /* activation gradients only: weight gradients are apart */
    walk all = {0};
    for (int i = 0; i < CALC_SCHEDULE_CLASSES; i++) {
        apart.of[i].wgrad_s = 0;
        walk_on(&all, &apart.of[i], calc_max(0, t->of[i].stages));
    }
    walk at = {0};
    double step_s = 0;
    for (int i = 0; i < CALC_SCHEDULE_CLASSES; i++) {
        if (t->of[i].stages > 0) {
            step_s = calc_max(step_s, zero_bubble_at_s(&at, &all, &t->of[i], m, factor));
            walk_on(&at, &apart.of[i], t->of[i].stages - 1);
            step_s = calc_max(step_s, zero_bubble_at_s(&at, &all, &t->of[i], m, factor));
            walk_on(&at, &apart.of[i], 1);
        }
    }
    return step_s;
}

/** One stage sets the pace, the bubble is that of the others on average. */
static double paced_s(const calc_schedule_shape *shape, const calc_schedule_times *t, int pace)
{
    calc_schedule_even even = {
        .stages = (double)shape->stages,
        .chunks = (double)shape->chunks,
        .microbatches = (double)shape->microbatches,
        .pair_saves_s = t->pair_saves_s,
    };
    double others = calc_max(1, even.stages - 1);
    for (int i = 0; i < CALC_SCHEDULE_CLASSES; i++) {
        const calc_schedule_class *c = &t->of[i];
        double share = (c->stages - (i == pace)) / others;
        if (share > 0) {
            even.fw_s += share * c->fw_s;
            even.bw_s += share * c->bw_s;
            even.wgrad_s += share * c->wgrad_s;
        }
    }
    const calc_schedule_class *c = &t->of[pace];
    return even.microbatches * (c->fw_s + c->bw_s + c->wgrad_s) +
           calc_schedule_bubble_s(shape->kind, &even);
}

/** Interleaved: what a micro-batch takes longer because chunks of a stage differ [s]. If all stages
 *  worked in step, each chunk would take as long as the slowest stage's: they do so half the way.
 */
static double out_of_step_s(const calc_schedule_times *t, double chunks)
{
    double busiest_s = 0;
    double others_chunk_s = 0;
    double last_s = 0;
    for (int i = 0; i < CALC_SCHEDULE_CLASSES; i++) {
        const calc_schedule_class *c = &t->of[i];
        if (c->stages > 0) {
            others_chunk_s = calc_max(others_chunk_s, last_s / chunks);
            last_s = c->fw_s + c->bw_s + c->wgrad_s;
            busiest_s = calc_max(busiest_s, last_s);
        }
    }
    double usual_s = (last_s - t->last_chunk_s) / chunks;
    double slowest_s = calc_max(others_chunk_s, usual_s);
    double in_step_s = (chunks - 1) * slowest_s + calc_max(slowest_s, usual_s + t->last_chunk_s);
    return calc_max(0, in_step_s - busiest_s) / 2;
}

static double others_s(const calc_schedule_shape *shape, const calc_schedule_times *t)
{
    double step_s = 0;
    for (int i = 0; i < CALC_SCHEDULE_CLASSES; i++) {
        if (t->of[i].stages > 0) {
            step_s = calc_max(step_s, paced_s(shape, t, i));
        }
    }
    if (shape->kind == CALC_PIPELINE_SCHEDULE_1F1B && t->last_chunk_s > 0) {
        step_s += (double)shape->microbatches * out_of_step_s(t, (double)shape->chunks);
    }
    return step_s;
}

double calc_schedule_s(const calc_schedule_shape *shape, const calc_schedule_times *times)
{
    double p = (double)shape->stages;
    double m = (double)shape->microbatches;
    calc_schedule_hops hops = calc_schedule_hops_of(shape->kind, p, (double)shape->chunks, m);
    double messages_s = hops.fw * times->fw_message_s + hops.bw * times->bw_message_s;
    if (shape->kind == CALC_PIPELINE_SCHEDULE_GPIPE) {
        return gpipe_s(times, m) + messages_s;
    }
    if (shape->kind == CALC_PIPELINE_SCHEDULE_1F1B && shape->chunks == 1) {
        return one_f_one_b_s(times, p, m) + messages_s;
    }
    if (shape->kind == CALC_PIPELINE_SCHEDULE_ZB_H1 && m >= p) {
        return zero_bubble_s(times, m, 1) + messages_s;
    }
    if (shape->kind == CALC_PIPELINE_SCHEDULE_ZB_H2 && m >= p) {
        return zero_bubble_s(times, m, 2) + messages_s;
    }
    return others_s(shape, times) + messages_s;
}
