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
#include "model/schedule/schedule_interleaved.h"

#include <math.h>
#include <string.h>

#include "model/operators/processor.h"
#include "model/schedule/schedule_fill.h"

/** Where paths may change stages: the ends of the spans of a period. The middle span is empty with
 *  two chunks. */
typedef enum span { HEAD, MIDDLE, EMBEDDING, SPANS } span;

/** Longest paths to each place. */
typedef struct front {
    double at_s[CALC_SCHEDULE_PLACES];
    double late_s[CALC_SCHEDULE_PLACES]; /**< that arrive only within the next span, at its end */
} front;

typedef struct moves {
    double stay_s[SPANS][CALC_SCHEDULE_PLACES];
    double change_s[SPANS][CALC_SCHEDULE_PLACES]
                   [CALC_SCHEDULE_PLACES]; /**< [from][to], at the end of a span */
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

static void add_place(calc_schedule_line *l, double stage, const calc_schedule_chunk *chunk,
                      double first, const calc_schedule_chunk *before_first)
{
    int at = l->count++;
    double n = stage - first;
    l->stage[at] = stage;
    l->slot_s[at] = chunk->fw_s + chunk->bw_s;
    add_way(&l->fw, at, chunk->fw_s, before_first->fw_s + n * chunk->fw_s);
    add_way(&l->bw, at, chunk->bw_s, before_first->bw_s + n * chunk->bw_s);
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
                add_place(l, at[k], chunk, stage, &before);
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

/* Each gives the time gained until the end of a span: what the path passes, less the slots of the
   span that it leaves out; -INFINITY if it cannot be. */

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

static void set_moves(const calc_schedule_line *l, moves *out)
{
    double p = l->p;
    for (int i = 0; i < l->count; i++) {
        double embedding_s = (p - 2) * l->fw.first_s + p * l->bw.first_s;
        out->stay_s[HEAD][i] =
            p * l->slot_s[i] + if_first(i, 2 * l->fw.first_s) + if_last(l, i, p * head_s(l));
        out->stay_s[MIDDLE][i] = (l->v - 2) * p * l->slot_s[i];
        out->stay_s[EMBEDDING][i] = p * l->slot_s[i] + if_first(i, embedding_s);
    }
    for (span end = HEAD; end < SPANS; end++) {
        for (int from = 0; from < l->count; from++) {
            double *to_s = out->change_s[end][from];
            for (int to = 0; to < from; to++) {
                to_s[to] = calc_max(up_s(l, from, to, end), up_around_s(l, from, to, end));
            }
            to_s[from] = 0;
            for (int to = from + 1; to < l->count; to++) {
                to_s[to] = calc_max(down_s(l, from, to, end), down_around_s(l, from, to, end));
            }
        }
    }
}

/* ---- Periods ----------------------------------------------------------------------------------*/

static void nowhere(double *at_s)
{
    for (int i = 0; i < CALC_SCHEDULE_PLACES; i++) {
        at_s[i] = -INFINITY;
    }
}

static span next_of(const calc_schedule_line *l, span at)
{
    return at == EMBEDDING ? HEAD : at == HEAD && l->v > 2 ? MIDDLE : EMBEDDING;
}

/* Leaving where a span ends and arriving within the next one, after some of its slots. */
static void leave_down(const calc_schedule_line *l, const moves *m, span next, front *f)
{
    double first_s = next == HEAD ? l->fw.first_s : 0;
    for (int to = 0; to < l->count; to++) {
        double special_s = next == HEAD ? if_last(l, to, head_s(l)) : 0;
        for (int from = 0; from < to; from++) {
            double missed = 2 * (l->stage[to] - l->stage[from]);
            double down_s = l->fw.before_s[to] - l->fw.before_s[from] + if_first(from, first_s);
            double left_s = m->stay_s[next][to] - missed * (l->slot_s[to] + special_s);
            double late_s = f->at_s[from] + down_s + left_s;
            f->late_s[to] = missed <= l->p ? calc_max(f->late_s[to], late_s) : f->late_s[to];
        }
    }
}

/* Where a period ends, up after the first slot of the next one, and around. */
static void leave_around(const calc_schedule_line *l, front *f)
{
    double around_s = -INFINITY;
    for (int i = 0; i < l->count; i++) {
        double slot_s = l->slot_s[i] + if_first(i, l->fw.first_s) + if_last(l, i, head_s(l));
        around_s = calc_max(around_s, f->at_s[i] + slot_s + l->bw.before_s[i] + l->bw.all_s);
    }
    for (int to = 1; to < l->count; to++) {
        f->late_s[to] = calc_max(f->late_s[to], around_s - l->bw.before_s[to] - l->slot_s[to]);
    }
}

static void advance_span(const calc_schedule_line *l, const moves *m, span at, front *f)
{
    double stayed_s[CALC_SCHEDULE_PLACES];
    for (int i = 0; i < l->count; i++) {
        stayed_s[i] = f->at_s[i] + m->stay_s[at][i];
        f->at_s[i] = calc_max(stayed_s[i], f->late_s[i]);
    }
    for (int from = 0; from < l->count; from++) {
        for (int to = 0; to < l->count; to++) {
            f->at_s[to] = calc_max(f->at_s[to], stayed_s[from] + m->change_s[at][from][to]);
        }
    }
    nowhere(f->late_s);
    leave_down(l, m, next_of(l, at), f);
    if (at == EMBEDDING) {
        leave_around(l, f);
    }
}

/** A period. @param before_s  the same one round before its end, or NULL */
static void advance(const calc_schedule_line *l, const moves *m, front *f, double *before_s)
{
    advance_span(l, m, HEAD, f);
    if (l->v > 2) {
        advance_span(l, m, MIDDLE, f);
    }
    if (before_s) {
        memcpy(before_s, f->at_s, sizeof f->at_s);
    }
    advance_span(l, m, EMBEDDING, f);
}

/* Many periods alike: each place comes back to itself in the way that is longest in one period.
 * Where paths change for good, they do so in the periods before or after these. */
static void repeat(const calc_schedule_line *l, const moves *m, double periods, front *f)
{
    double period_s[CALC_SCHEDULE_PLACES];
    for (int i = 0; i < l->count; i++) {
        front one;
        nowhere(one.at_s);
        one.at_s[i] = 0;
        nowhere(one.late_s);
        leave_down(l, m, HEAD, &one);
        leave_around(l, &one);
        advance(l, m, &one, NULL);
        period_s[i] = one.at_s[i];
    }
    for (int i = 0; i < l->count; i++) {
        f->at_s[i] += periods * period_s[i];
    }
    nowhere(f->late_s);
    leave_down(l, m, HEAD, f);
    leave_around(l, f);
}

/** Several rounds of p. */
static double rounds_s(const calc_schedule_line *l, double rounds)
{
    enum { BEFORE = 2, AFTER = 2 }; /* periods followed one by one */
    double p = l->p;
    calc_schedule_filling in;
    calc_schedule_filling out;
    calc_schedule_fill(l, p, &l->fw, &l->bw, &in);
    calc_schedule_fill(l, p, &l->bw, &l->fw, &out);
    moves m;
    set_moves(l, &m);
    front f;
    nowhere(f.late_s);
    for (int i = 0; i < l->count; i++) {
        double special_s = if_first(i, l->fw.first_s) + if_last(l, i, head_s(l));
        f.at_s[i] = in.turn_s[i] - l->slot_s[i] - special_s; /* slot 0 is in the first span */
    }
    leave_around(l, &f);
    double before_s[CALC_SCHEDULE_PLACES] = {0};
    int64_t periods = (int64_t)rounds - 1;
    int64_t many = periods - BEFORE - AFTER;
    many = many > l->count ? many : 0;
    for (int64_t i = 0; i < periods - many; i++) {
        advance(l, &m, &f, before_s);
        if (many > 0 && i + 1 == BEFORE) {
            repeat(l, &m, (double)many, &f);
        }
    }
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
