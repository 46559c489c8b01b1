#include "model/schedule/schedule.h"

#include "model/operators/processor.h"

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

/** One stage sets the pace; the bubble is the others' on average. */
static double paced_s(const calc_schedule_shape *shape, const calc_schedule_times *t, int pace)
{
    calc_schedule_even even = {
        .stages = (double)shape->stages,
        .chunks = (double)shape->chunks,
        .microbatches = (double)shape->microbatches,
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

double calc_schedule_s(const calc_schedule_shape *shape, const calc_schedule_times *times)
{
    if (shape->kind == CALC_PIPELINE_SCHEDULE_GPIPE) {
        return gpipe_s(times, (double)shape->microbatches);
    }
    double step_s = 0;
    for (int i = 0; i < CALC_SCHEDULE_CLASSES; i++) {
        if (times->of[i].stages > 0) {
            step_s = calc_max(step_s, paced_s(shape, times, i));
        }
    }
    return step_s;
}
