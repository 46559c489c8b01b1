#include "model/schedule/schedule.h"

#include <math.h>

#include "model/operators/processor.h"
#include "spec/schedule.h"

calc_schedule_status calc_schedule_check(const calc_schedule_shape *s)
{
    if (s->stages < 1 || s->chunks < 1 || s->microbatches < 1) {
        return CALC_SCHEDULE_EMPTY;
    }
    if (s->chunks > UINT16_MAX) {
        return CALC_SCHEDULE_TOO_MANY_CHUNKS;
    }
    const calc_schedule_traits t = calc_schedule_traits_of(s->kind);
    if (t.chunks > 0 && s->chunks != t.chunks) {
        return t.chunks == 2 ? CALC_SCHEDULE_TWO_CHUNKS : CALC_SCHEDULE_ONE_CHUNK;
    }
    if (s->stages % t.even != 0 || s->microbatches % t.even != 0) {
        return CALC_SCHEDULE_ODD;
    }
    return t.least > 0 && s->microbatches / t.least < s->stages ? CALC_SCHEDULE_FEW_MICROBATCHES
                                                                : CALC_SCHEDULE_OK;
}

#define TEXT(name, text) text,
const char *calc_schedule_status_text(calc_schedule_status status)
{
    static const char *const texts[] = {CALC_SCHEDULE_STATUS_LIST(TEXT)};
    return texts[status];
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

/* Time of paths on a place before they go on. */
typedef struct stay {
    double slowest_s; /**< first chunk of this place, and of those before it */
    double step_s;    /**< of the next period's first round */
    double first_s;   /**< the first round */
    double rest_s;    /**< the rounds between the first and the last: here, or around */
    double last_s;    /**< all of the rounds where the last forward is here or further down, */
    double around_s;  /**< or before */
} stay;

static void set_stays(const calc_schedule_line *l, int count, const calc_schedule_way *go, stay *of)
{
    double p = l->p;
    double slowest_s = 0;
    for (int j = 0; j < count; j++) {
        double chunk_s = go->chunk_s[j];
        stay *x = &of[j];
        x->step_s = chunk_s + (j == 0 ? go->first_s : 0);
        slowest_s = calc_max(slowest_s, x->step_s);
        x->slowest_s = slowest_s;
        /* Round for round on stage j, or around; around the last one in any case... */
        x->rest_s = (l->v - 2) * calc_max(p * chunk_s, go->all_s);
        double skip_s = (p - 1) * slowest_s + go->all_s;
        x->around_s = x->rest_s + calc_max(0, skip_s);
        /* ... unless j comes before t. */
        x->first_s = calc_max((p - 1) * slowest_s + chunk_s, go->all_s);
        x->last_s = x->rest_s + calc_max(x->first_s + (p - 1) * chunk_s, skip_s);
    }
}

/* Draining is the same backwards in time, with the two ways changed.
 * @param go, back  of the line
 * @param next      micro-batches of the next period's first round: none, or p
 * Forwards only: a path goes down the stages, stays on one for some passes, and may go around to
 * the next chunk. */
static void calc_schedule_fill(const calc_schedule_line *l, double next,
                               const calc_schedule_way *go, const calc_schedule_way *back,
                               calc_schedule_filling *out)
{
    double p = l->p;
    const int count = l->count;
    const int end = count - 1;
    stay of[CALC_SCHEDULE_PLACES];
    double turn_s[CALC_SCHEDULE_PLACES];
    set_stays(l, count, go, of);
    for (int t = 0; t < count; t++) {
        double down_s = go->before_s[t] + go->chunk_s[t] + go->first_s;
        double more = 2 * (p - 1 - l->stage[t]);
        double here = calc_min(more, p - 1); /* passes of the last round */
        double beyond = calc_min(calc_max(0, more - p + 1), next);
        double to_turn_s = 0;
        double to_last_s = 0;
        for (int j = 0; j <= t; j++) {
            double go_s = of[j].first_s + here * go->chunk_s[j];
            double skip_s = here * of[j].slowest_s + go->all_s;
            double until_s = of[j].rest_s + calc_max(go_s, skip_s);
            to_turn_s = calc_max(to_turn_s, until_s + beyond * of[j].step_s);
            to_last_s = calc_max(to_last_s, of[j].last_s);
        }
        for (int j = t + 1; j <= end; j++) {
            double skip_s = here * of[j].slowest_s + go->all_s;
            to_turn_s = calc_max(to_turn_s, of[j].rest_s + calc_max(0, skip_s));
            to_last_s = calc_max(to_last_s, of[j].around_s);
        }
        turn_s[t] = down_s + to_turn_s + (t == end ? go->last_s : 0);
        out->last_s[t] = down_s + to_last_s + (t == end ? go->last_s : 0);
    }
    double around_s = go->all_s + go->first_s + (l->v - 1) * go->all_s;
    double last_s = go->last_s + (p - 1) * (go->chunk_s[end] + go->last_s);
    out->last_s[end] = calc_max(out->last_s[end], around_s + last_s);
    for (int s = 0; s < count; s++) {
        out->turn_s[s] = 0;
        for (int t = s; t < count; t++) {
            double up_s = back->before_s[t] + back->chunk_s[t] - back->before_s[s];
            out->turn_s[s] =
                calc_max(out->turn_s[s], turn_s[t] + up_s + (t == end ? back->last_s : 0));
        }
    }
}

/* Interleaved 1F1B in closed form.

   Stage i does w_i = 2(p-1-i) + (v-1)p forwards, and from then on a forward and a backward in turn:
   *slot* n of it is forward w_i + n and backward n, both counted from 0 over all chunks. A path
   through the operations stays on a stage from slot to slot, or changes to another one:

     up           along a backward that goes back through the stages, in the same slot
     down         along a forward, two slots later on each stage
     down around  up to the first stage, and on with the chunk before on the last one: p slots later
     up around    down to the last stage, and on with the next chunk on the first one: p-2 earlier

   With every p slots all stages change to the next chunk. After v of those *rounds*, a *period*,
   they are where they were. Two rounds of a period are special: in the first one the last stage
   has its last chunk (the head), both ways; in the last one the first stage has its first chunk
   (the embedding). Stages between them are alike within a class. So it is enough to follow paths
   over the first and the last stage of each class (*places*), and to let them change stages where a
   special round begins or ends. */

/** Where paths may change stages: the ends of the spans of a period. The middle span is empty with
 *  two chunks. */
typedef enum span { HEAD, MIDDLE, EMBEDDING, SPANS } span;

/** Longest paths to each place. */
typedef struct front {
    double at_s[CALC_SCHEDULE_PLACES];
    double late_s[CALC_SCHEDULE_PLACES]; /**< that arrive only within the next span, at its end */
} front;

/** Time to change stages, [to][from]. */
typedef double ways[CALC_SCHEDULE_PLACES][CALC_SCHEDULE_PLACES];

typedef struct moves {
    double stay_s[SPANS][CALC_SCHEDULE_PLACES];
    ways change_s[SPANS]; /**< at the end of a span */
    /** Leaving at the beginning of a span, further down: the way, and the rest of the span. */
    ways down_s[SPANS], left_s[SPANS];
    double slot_s[CALC_SCHEDULE_PLACES]; /**< the first slot of a period */
} moves;

bool calc_schedule_interleaved_fits(const calc_schedule_shape *s)
{
    return s->kind == CALC_PIPELINE_SCHEDULE_1F1B && s->chunks > 1 && s->stages > 2 &&
           s->microbatches % s->stages == 0;
}

/* ---- Places -----------------------------------------------------------------------------------*/

static void add_way(calc_schedule_way *w, int at, double chunk_s, double before_s)
{
    w->chunk_s[at] = chunk_s;
    w->before_s[at] = before_s;
    w->all_s = before_s + chunk_s;
}

/** @param turn  a stage that is a place in any case */
static void set_line(const calc_schedule_interleaved *x, double turn, calc_schedule_line *l)
{
    l->count = 0;
    l->p = x->stages;
    l->v = x->chunks;
    double stage = 0;
    calc_schedule_chunk before = {0, 0};
    for (int i = 0; i < CALC_SCHEDULE_CLASSES; i++) {
        const calc_schedule_chunk *chunk = &x->of[i].chunk;
        double n = x->of[i].stages;
        if (n <= 0) {
            continue;
        }
        double at[] = {stage, calc_min(calc_max(turn, stage), stage + n - 1), stage + n - 1};
        for (int k = 0; k < 3; k++) {
            if (k == 0 || at[k] > at[k - 1]) {
                double passed = at[k] - stage;
                l->stage[l->count] = at[k];
                l->slot_s[l->count] = chunk->fw_s + chunk->bw_s;
                add_way(&l->fw, l->count, chunk->fw_s, before.fw_s + passed * chunk->fw_s);
                add_way(&l->bw, l->count, chunk->bw_s, before.bw_s + passed * chunk->bw_s);
                l->count++;
            }
        }
        before.fw_s += n * chunk->fw_s;
        before.bw_s += n * chunk->bw_s;
        stage += n;
    }
    l->fw.first_s = x->first.fw_s;
    l->fw.last_s = x->last.fw_s;
    l->bw.first_s = x->first.bw_s;
    l->bw.last_s = x->last.bw_s;
}

static double if_first(int at, double s)
{
    return at == 0 ? s : 0;
}

static double if_last(const calc_schedule_line *l, int at, double s)
{
    return at == l->count - 1 ? s : 0;
}

static double head_s(const calc_schedule_line *l)
{
    return l->fw.last_s + l->bw.last_s;
}

/* ---- A round ----------------------------------------------------------------------------------*/

/** One round: as many micro-batches as stages. */
static double one_round_s(const calc_schedule_line *l)
{
    calc_schedule_filling in;
    calc_schedule_filling out;
    calc_schedule_fill(l, 0, &l->fw, &l->bw, &in);
    calc_schedule_fill(l, 0, &l->bw, &l->fw, &out);
    double step_s = 0;
    for (int i = 0; i < l->count; i++) {
        double head_fw_s = if_last(l, i, l->fw.last_s);
        double head_bw_s = if_last(l, i, l->bw.last_s);
        double slots = l->p - 2 - 2 * (l->p - 1 - l->stage[i]); /* between the first and the last */
        if (slots < 0) {
            step_s = calc_max(step_s, in.last_s[i] + out.last_s[i]);
            step_s = calc_max(step_s, in.turn_s[i] + out.last_s[i] - l->bw.chunk_s[i] - head_bw_s);
            step_s = calc_max(step_s, out.turn_s[i] + in.last_s[i] - l->fw.chunk_s[i] - head_fw_s);
        } else {
            double slot_s = l->slot_s[i] + head_fw_s + head_bw_s;
            step_s = calc_max(step_s, in.turn_s[i] + out.turn_s[i] + slots * slot_s);
        }
    }
    return step_s;
}

/* ---- Changing stages --------------------------------------------------------------------------*/

/* Each gives the time gained until the end of a span: the passes on the path, less the slots of the
 * span that it leaves out; -INFINITY if it cannot be. */

static double up_s(const calc_schedule_line *l, int from, int to, span end)
{
    return l->bw.before_s[from] - l->bw.before_s[to] +
           (end == EMBEDDING ? if_first(to, l->bw.first_s) : 0);
}

/** There is no next chunk where a period ends: then from the slot before that. */
static double up_around_s(const calc_schedule_line *l, int from, int to, span end)
{
    double p = l->p;
    double d = l->stage[from] - l->stage[to];
    double passed_s = l->fw.all_s - l->fw.before_s[from] + l->fw.before_s[to];
    if (end != EMBEDDING) {
        return 2 * d >= p ? passed_s + (2 * d - p) * l->slot_s[to] : -INFINITY;
    }
    double lost = 1 + 2 * (p - 1 - l->stage[from]);
    double again = p - 1 - 2 * l->stage[to];
    double special_s = if_first(to, (p - 2) * l->fw.first_s + (p - 1) * l->bw.first_s);
    return lost <= p && again >= 0
               ? passed_s - lost * l->slot_s[from] + again * l->slot_s[to] + special_s
               : -INFINITY;
}

static double down_s(const calc_schedule_line *l, int from, int to, span end)
{
    double p = l->p;
    double lost = 2 * (l->stage[to] - l->stage[from]);
    if (lost > p - (end == HEAD)) {
        return -INFINITY;
    }
    double passed_s = l->fw.before_s[to] - l->fw.before_s[from];
    double first_fw = end == HEAD ? calc_max(0, lost - p + 2) : calc_min(lost, p - 2);
    double first_bw = end == HEAD ? 0 : lost;
    double special_s = first_fw * l->fw.first_s + first_bw * l->bw.first_s;
    return passed_s - lost * l->slot_s[from] + if_first(from, calc_min(0, l->fw.first_s)) -
           (end == MIDDLE ? 0 : if_first(from, special_s));
}

static double down_around_s(const calc_schedule_line *l, int from, int to, span end)
{
    double p = l->p;
    if (2 * (l->stage[to] - l->stage[from]) < p || end == HEAD) {
        return -INFINITY;
    }
    double passed_s = l->bw.before_s[from] + l->bw.all_s - l->bw.before_s[to];
    double special_s = (p - 2) * l->fw.first_s + p * l->bw.first_s;
    return passed_s - p * l->slot_s[from] - (end == EMBEDDING ? if_first(from, special_s) : 0);
}

/* Leaving where a span ends and arriving within the next one, after some of its slots. */
static void set_late(const calc_schedule_line *l, int from, int to, span next, moves *restrict m)
{
    double slot_s = l->slot_s[to] + (next == HEAD ? if_last(l, to, head_s(l)) : 0);
    double missed = 2 * (l->stage[to] - l->stage[from]);
    double left_s = m->stay_s[next][to] - missed * slot_s;
    m->down_s[next][to][from] = l->fw.before_s[to] - l->fw.before_s[from] +
                                if_first(from, next == HEAD ? l->fw.first_s : 0);
    m->left_s[next][to][from] = missed <= l->p ? left_s : -INFINITY;
}

/* Inline with each span, so that common parts are computed once. */
__attribute__((always_inline)) static inline void set_down(const calc_schedule_line *l, int from,
                                                           int to, span at, moves *restrict m)
{
    m->change_s[at][to][from] = calc_max(down_s(l, from, to, at), down_around_s(l, from, to, at));
    set_late(l, from, to, at, m);
}

__attribute__((always_inline)) static inline void set_up(const calc_schedule_line *l, int from,
                                                         int to, span at, moves *restrict m)
{
    m->change_s[at][to][from] = calc_max(up_s(l, from, to, at), up_around_s(l, from, to, at));
}

static void set_moves(const calc_schedule_line *l, moves *restrict out)
{
    double p = l->p;
    for (int i = 0; i < l->count; i++) {
        double embedding_s = (p - 2) * l->fw.first_s + p * l->bw.first_s;
        out->stay_s[HEAD][i] =
            p * l->slot_s[i] + if_first(i, 2 * l->fw.first_s) + if_last(l, i, p * head_s(l));
        out->stay_s[MIDDLE][i] = (l->v - 2) * p * l->slot_s[i];
        out->stay_s[EMBEDDING][i] = p * l->slot_s[i] + if_first(i, embedding_s);
        out->slot_s[i] = l->slot_s[i] + if_first(i, l->fw.first_s) + if_last(l, i, head_s(l));
    }
    for (int to = 0; to < l->count; to++) {
        for (int from = 0; from < to; from++) {
            set_down(l, from, to, HEAD, out);
            set_down(l, from, to, MIDDLE, out);
            set_down(l, from, to, EMBEDDING, out);
        }
        out->change_s[HEAD][to][to] = out->change_s[MIDDLE][to][to] = 0;
        out->change_s[EMBEDDING][to][to] = 0;
        for (int from = to + 1; from < l->count; from++) {
            set_up(l, from, to, HEAD, out);
            set_up(l, from, to, MIDDLE, out);
            set_up(l, from, to, EMBEDDING, out);
        }
    }
}

/* ---- Periods ----------------------------------------------------------------------------------*/

/* Where a period ends, from a place up after the first slot of the next one, and around. */
static double around_s(const calc_schedule_line *l, const moves *m, int from, double at_s)
{
    return at_s + m->slot_s[from] + l->bw.before_s[from] + l->bw.all_s;
}

/** @param around_s  the longest of those */
static void arrive_around(const calc_schedule_line *l, int count, double longest_s, front *f)
{
    for (int to = 1; to < count; to++) {
        f->late_s[to] = calc_max(f->late_s[to], longest_s - l->bw.before_s[to] - l->slot_s[to]);
    }
}

/* Paths that leave where a period ends. */
static void leave_around(const calc_schedule_line *l, const moves *m, int count, front *f)
{
    double longest_s = -INFINITY;
    for (int i = 0; i < count; i++) {
        longest_s = calc_max(longest_s, around_s(l, m, i, f->at_s[i]));
    }
    arrive_around(l, count, longest_s, f);
}

/* Where a span ends: paths that arrive within the next one. */
static void leave(const moves *m, span next, int count, front *f)
{
    for (int to = 0; to < count; to++) {
        double late_s = -INFINITY;
        for (int from = 0; from < to; from++) {
            double down_s = f->at_s[from] + m->down_s[next][to][from];
            late_s = calc_max(late_s, down_s + m->left_s[next][to][from]);
        }
        f->late_s[to] = late_s;
    }
}

/* Where a path is at the end of a span. */
static double arrive_s(const moves *m, span at, int count, int to, const front *f)
{
    double at_s = -INFINITY;
    for (int from = 0; from < count; from++) {
        double stayed_s = f->at_s[from] + m->stay_s[at][from];
        at_s = calc_max(at_s, stayed_s + m->change_s[at][to][from]);
    }
    return calc_max(at_s, f->late_s[to]); /* which is known last */
}

/* A span, and the paths that leave at its end. */
static void pass_span(const moves *m, span at, span next, int count, front *f)
{
    double at_s[CALC_SCHEDULE_PLACES];
    for (int to = 0; to < count; to++) {
        at_s[to] = arrive_s(m, at, count, to, f);
    }
    for (int i = 0; i < count; i++) {
        f->at_s[i] = at_s[i];
    }
    leave(m, next, count, f);
}

/* The longest way from a place back to it in a period: the first span has one beginning, the last
 * one end. */
static double period_s(const calc_schedule_line *l, const moves *m, int count, int place)
{
    span second = l->v > 2 ? MIDDLE : EMBEDDING;
    double stayed_s = m->stay_s[HEAD][place];
    front f;
    for (int to = 0; to < count; to++) {
        f.late_s[to] =
            to > place ? m->down_s[HEAD][to][place] + m->left_s[HEAD][to][place] : -INFINITY;
    }
    arrive_around(l, count, around_s(l, m, place, 0), &f);
    for (int to = 0; to < count; to++) {
        f.at_s[to] = calc_max(f.late_s[to], stayed_s + m->change_s[HEAD][to][place]);
    }
    leave(m, second, count, &f);
    if (second == MIDDLE) {
        pass_span(m, MIDDLE, EMBEDDING, count, &f);
    }
    return arrive_s(m, EMBEDDING, count, place, &f);
}

/* Periods one by one, but for many of them if there are so many.
 * @param before_s  filled: where paths are one round before the end */
static void advance(const calc_schedule_line *l, const moves *m, int64_t periods, double *before_s,
                    front *f)
{
    const int count = l->count;
    enum { BEFORE = 2, AFTER = 2 }; /* followed one by one */
    span second = l->v > 2 ? MIDDLE : EMBEDDING;
    int64_t many = periods - BEFORE - AFTER;
    many = many > count ? many : 0;
    leave_around(l, m, count, f);
    for (int64_t i = 0; i < periods - many; i++) {
        pass_span(m, HEAD, second, count, f);
        if (second == MIDDLE) {
            pass_span(m, MIDDLE, EMBEDDING, count, f);
        }
        for (int k = 0; k < count; k++) {
            before_s[k] = f->at_s[k];
        }
        pass_span(m, EMBEDDING, HEAD, count, f);
        leave_around(l, m, count, f);
        /* Many alike: each place comes back to itself in the way that is longest in one period.
         * Where paths change for good, they do so in the periods before or after these. */
        if (many > 0 && i + 1 == BEFORE) {
            for (int k = 0; k < count; k++) {
                f->at_s[k] += (double)many * period_s(l, m, count, k);
            }
            leave(m, HEAD, count, f);
            leave_around(l, m, count, f);
        }
    }
}

/** Several rounds of p. */
static double rounds_s(const calc_schedule_line *l, double rounds)
{
    double p = l->p;
    calc_schedule_filling in;
    calc_schedule_filling out;
    calc_schedule_fill(l, p, &l->fw, &l->bw, &in);
    calc_schedule_fill(l, p, &l->bw, &l->fw, &out);
    moves m;
    set_moves(l, &m);
    double before_s[CALC_SCHEDULE_PLACES] = {0};
    front f;
    for (int i = 0; i < l->count; i++) {
        double special_s = if_first(i, l->fw.first_s) + if_last(l, i, head_s(l));
        f.at_s[i] = in.turn_s[i] - l->slot_s[i] - special_s; /* slot 0 is in the first span */
        f.late_s[i] = -INFINITY;
    }
    advance(l, &m, (int64_t)rounds - 1, before_s, &f);
    double step_s = 0;
    for (int i = 0; i < l->count; i++) {
        /* To the slot of the last forward: in the last head span, or in the one before it. */
        double slots = p - 1 - 2 * (p - 1 - l->stage[i]);
        double slot_s = l->slot_s[i] + if_last(l, i, head_s(l));
        double late = slots + p;
        double first_s = late * l->bw.first_s + calc_max(0, late - 2) * l->fw.first_s;
        double until_s = slots >= 0 ? f.at_s[i] + slots * slot_s
                                    : before_s[i] + late * l->slot_s[i] + if_first(i, first_s);
        step_s = calc_max(step_s, until_s + out.turn_s[i]);
    }
    return step_s;
}

double calc_schedule_interleaved_s(const calc_schedule_interleaved *x)
{
    calc_schedule_line l;
    double p = x->stages;
    double rounds = x->microbatches / p;
    /* A single round may turn on the first stage where all its forwards come first. */
    set_line(x, rounds > 1 ? 0 : p - 1 - floor((p - 1) / 2), &l);
    return rounds > 1 ? rounds_s(&l, rounds) : one_round_s(&l);
}
