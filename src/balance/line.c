#include "balance/line.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "balance/evaluate.h"
#include "base/make.h"
#include "model/operators/processor.h"

void calc_balance_line_begin(calc_balance_line *l, const calc_balance_problem *p)
{
    int stages = (int)p->shape.stages;
    int layers = p->layers[0] + p->layers[1];
    *l = (calc_balance_line){
        .problem = p,
        .stages = stages,
        .layers = layers,
        .most = p->most_layers > 0 && p->most_layers < layers ? p->most_layers : layers,
        .grows = true,
    };
    for (int s = stages - 1, behind = 0; s >= 0; s--) {
        l->least[s] = calc_balance_least_of(p, s);
        l->behind[s] = behind;
        behind += l->least[s];
        l->grows = l->grows && p->stage[s].whole_bytes <= 0;
        l->flight[s] = calc_schedule_in_flight(&p->shape, s);
    }
    size_t each = (size_t)(layers + 1) * CALC_BALANCE_KINDS;
    l->pure = calc_make((size_t)stages * each, sizeof *l->pure);
    for (int chip = 0; chip < CALC_BALANCE_CHIPS; chip++) {
        l->full[chip] = CALC_BALANCE_ANY;
    }
}

void calc_balance_line_end(calc_balance_line *l)
{
    free(l->pure);
    l->pure = NULL;
}

void calc_balance_line_limit(calc_balance_line *l, const calc_balance_range *full,
                             double more_bytes)
{
    memcpy(l->full, full, sizeof l->full);
    l->more_bytes = more_bytes;
    size_t each = (size_t)(l->layers + 1) * CALC_BALANCE_KINDS;
    memset(l->pure, 0, (size_t)l->stages * each * sizeof *l->pure);
}

/* ---- Options ----------------------------------------------------------------------------------*/

static calc_balance_terms apart_terms(const calc_balance_line *l, const calc_schedule_pass *p,
                                      double warm_up)
{
    double m = (double)l->problem->shape.microbatches;
    double back_s = p->bw_s + p->wgrad_s;
    return (calc_balance_terms){
        .down_s = p->fw_s,
        .around_s = p->fw_s + p->bw_s,
        .at_s = {m * (p->fw_s + back_s),
                 p->fw_s + m * back_s + calc_max(m - 1 - warm_up, 0) * p->fw_s, -INFINITY},
    };
}

static calc_balance_terms terms_of(const calc_balance_line *l, int stage,
                                   const calc_schedule_pass *p)
{
    const calc_schedule_shape *s = &l->problem->shape;
    double behind = (double)(s->stages - 1 - stage);
    if (s->kind == CALC_PIPELINE_SCHEDULE_ZB_H1 || s->kind == CALC_PIPELINE_SCHEDULE_ZB_H2) {
        return apart_terms(l, p, s->kind == CALC_PIPELINE_SCHEDULE_ZB_H1 ? behind : 2 * behind);
    }
    double m = (double)s->microbatches;
    double b = p->bw_s + p->wgrad_s;
    double c = p->fw_s + b;
    calc_balance_terms t = {.down_s = c, .around_s = c, .at_s = {m * c, m * c, -INFINITY}};
    if (s->kind == CALC_PIPELINE_SCHEDULE_1F1B) {
        double left = calc_max(m - 1 - behind, 0);
        t.at_s[1] = c + calc_max((m - 1) * b + left * p->fw_s, (m - 1) * p->fw_s + left * b);
        t.at_s[2] = m >= behind + 2 ? (m - behind) * c : -INFINITY;
    }
    return t;
}

/* Layers of kind 0 among those. */
static int dense_of(const calc_balance_line *l, int from, int layers)
{
    int dense = l->problem->layers[0] - from;
    dense = dense > 0 ? dense : 0;
    return dense < layers ? dense : layers;
}

calc_balance_choice calc_balance_line_choice(const calc_balance_line *l, int stage, int from,
                                             int layers)
{
    const calc_balance_problem *p = l->problem;
    int dense = dense_of(l, from, layers);
    return calc_balance_choose(p, stage, dense, layers - dense, l->flight[stage],
                               l->full[p->stage[stage].chip], l->more_bytes);
}

static calc_balance_option option_of(const calc_balance_line *l, int stage, int from, int layers)
{
    calc_balance_choice c = calc_balance_line_choice(l, stage, from, layers);
    return (calc_balance_option){
        .terms = terms_of(l, stage, &c.pass),
        .pass = c.pass,
        .known = true,
        .fits = c.fits,
    };
}

calc_balance_option calc_balance_line_option(calc_balance_line *l, int stage, int from, int layers)
{
    int dense = dense_of(l, from, layers);
    if (dense > 0 && dense < layers) {
        return option_of(l, stage, from, layers);
    }
    int kind = dense > 0 ? 0 : 1;
    int row = stage * CALC_BALANCE_KINDS + kind;
    calc_balance_option *o = &l->pure[(int64_t)row * (l->layers + 1) + layers];
    if (!o->known) {
        *o = option_of(l, stage, from, layers);
    }
    return *o;
}

/* The most layers that a stage may take of those from `from` on. */
static int most_of(const calc_balance_line *l, int stage, int from)
{
    int most = l->layers - from - l->behind[stage];
    return most < l->most ? most : l->most;
}

/* ---- Whole divisions --------------------------------------------------------------------------*/

/* Give each stage as many layers as it can process in a period, leaving those behind the fewest
 * they must have; return whether that is all. A stage that can have many layers can also have
 * fewer. */
static bool fill(calc_balance_line *l, double period_s, int *layers)
{
    int from = 0;
    for (int s = 0; s < l->stages; s++) {
        int most = most_of(l, s, from);
        int n = l->least[s];
        while (n <= most) {
            calc_balance_option o = calc_balance_line_option(l, s, from, n);
            if (!o.fits || calc_schedule_pass_s(&o.pass) > period_s) {
                break;
            }
            n++;
        }
        layers[s] = n - 1;
        if (layers[s] < l->least[s]) {
            return false;
        }
        from += layers[s];
    }
    return from == l->layers;
}

/* Numbers of layers that the stages before each may have, as bits. */
typedef struct reach {
    uint8_t bits[CALC_BALANCE_STAGES + 1][CALC_BALANCE_MOST_LAYERS / 8 + 1];
} reach;

static bool is_reached(const reach *r, int stage, int from)
{
    return r->bits[stage][from / 8] >> (from % 8) & 1;
}

/* With two kinds of layers, a stage with fewer layers may leave the next one a mixture that fits
 * there; and a stage may have room for more layers and not for fewer (whole_bytes). */
static bool fill_in_any_way(calc_balance_line *l, int *layers)
{
    reach r = {{{1}}};
    for (int s = 0; s < l->stages; s++) {
        for (int from = 0; from <= l->layers; from++) {
            int most = is_reached(&r, s, from) ? most_of(l, s, from) : -1;
            for (int n = l->least[s]; n <= most; n++) {
                if (calc_balance_line_option(l, s, from, n).fits) {
                    r.bits[s + 1][(from + n) / 8] |= (uint8_t)(1 << (from + n) % 8);
                }
            }
        }
    }
    if (!is_reached(&r, l->stages, l->layers)) {
        return false;
    }
    int to = l->layers;
    for (int s = l->stages - 1; s >= 0; s--) {
        int n = l->least[s]; /* of the stage whose last is the one before `to` */
        while (!is_reached(&r, s, to - n) || !calc_balance_line_option(l, s, to - n, n).fits) {
            n++;
        }
        layers[s] = n;
        to -= n;
    }
    return true;
}

bool calc_balance_line_fits(calc_balance_line *l, int *layers)
{
    bool both = l->problem->layers[0] > 0 && l->problem->layers[1] > 0;
    return fill(l, INFINITY, layers) || ((both || !l->grows) && fill_in_any_way(l, layers));
}

bool calc_balance_line_even(calc_balance_line *l, int *layers)
{
    if (!calc_balance_line_fits(l, layers)) {
        return false;
    }
    double high_s = 0;
    int from = 0;
    for (int s = 0; s < l->stages; s++) {
        calc_balance_option o = calc_balance_line_option(l, s, from, layers[s]);
        high_s = calc_max(high_s, calc_schedule_pass_s(&o.pass));
        from += layers[s];
    }
    double low_s = 0;
    int tried[CALC_BALANCE_STAGES];
    for (int i = 0; i < 50; i++) {
        double middle_s = (low_s + high_s) / 2;
        if (fill(l, middle_s, tried)) {
            high_s = middle_s;
            memcpy(layers, tried, (size_t)l->stages * sizeof *layers);
        } else {
            low_s = middle_s;
        }
    }
    return true;
}

double calc_balance_line_s(calc_balance_line *l, const int *layers)
{
    const calc_balance_problem *p = l->problem;
    double fw_s[CALC_BALANCE_STAGES];
    double bw_s[CALC_BALANCE_STAGES];
    int from = 0;
    for (int s = 0; s < l->stages; s++) {
        if (layers[s] < l->least[s] || layers[s] > l->most) {
            return INFINITY;
        }
        calc_balance_option o = calc_balance_line_option(l, s, from, layers[s]);
        if (!o.fits) {
            return INFINITY;
        }
        fw_s[s] = o.pass.fw_s;
        bw_s[s] = o.pass.bw_s + o.pass.wgrad_s;
        from += layers[s];
    }
    if (p->shape.kind == CALC_PIPELINE_SCHEDULE_1F1B) {
        return calc_balance_rounds_s(l->stages, p->shape.microbatches, fw_s, bw_s);
    }
    calc_balance_share share[CALC_BALANCE_STAGES];
    from = 0;
    for (int s = 0; s < l->stages; s++) {
        share[s] = calc_balance_line_choice(l, s, from, layers[s]).share;
        from += layers[s];
    }
    calc_balance_room room = {0};
    double step_s = calc_balance_step_s(p, share, &room);
    calc_balance_room_end(&room);
    return step_s;
}

/* Relative difference that summing in another order may cause. */
#define SAME 1e-13

calc_balance_before calc_balance_before_on(const calc_balance_before *x,
                                           const calc_balance_terms *t)
{
    calc_balance_before y = {.down_s = x->down_s + t->down_s};
    for (int k = 0; k < CALC_BALANCE_VISITS; k++) {
        y.at_s[k] = calc_max(x->at_s[k] + k * t->around_s, x->down_s + t->at_s[k]);
    }
    return y;
}

static double path_s(const calc_balance_before *x, const calc_balance_behind *d)
{
    double s = calc_max(x->down_s + d->at_s, x->at_s[0]);
    for (int k = 1; k < CALC_BALANCE_VISITS; k++) {
        s = calc_max(s, x->at_s[k] + k * d->around_s);
    }
    return s;
}

static calc_balance_behind behind_on(const calc_balance_behind *d, const calc_balance_terms *t,
                                     int layers, int next)
{
    double at_s = t->down_s + d->at_s;
    for (int k = 0; k < CALC_BALANCE_VISITS; k++) {
        at_s = calc_max(at_s, t->at_s[k] + k * d->around_s);
    }
    return (calc_balance_behind){
        .around_s = d->around_s + t->around_s,
        .at_s = at_s,
        .layers = layers,
        .next = next,
    };
}

static int64_t state(const calc_balance_bound *b, int stage, int from)
{
    return (int64_t)stage * (b->line->layers + 1) + from;
}

void calc_balance_bound_begin(calc_balance_bound *b, calc_balance_line *l)
{
    size_t states = (size_t)(l->stages + 1) * (size_t)(l->layers + 1);
    *b = (calc_balance_bound){
        .line = l,
        .before = calc_make(states, sizeof *b->before),
        .first = calc_make(states, sizeof *b->first),
        .count = calc_make(states, sizeof *b->count),
    };
}

CALC_FREES(calc_balance_bound_end, calc_balance_bound, of->before, of->first, of->count, of->behind,
           of->scratch)

/* ---- Stages before ----------------------------------------------------------------------------*/

static void go_forward(calc_balance_bound *b, double below_s)
{
    calc_balance_line *l = b->line;
    const calc_balance_before none = {INFINITY, {INFINITY, INFINITY, INFINITY}};
    for (int64_t i = 0; i < state(b, l->stages + 1, 0); i++) {
        b->before[i] = none;
    }
    b->before[0] = CALC_BALANCE_NOTHING_BEFORE;
    for (int s = 0; s < l->stages; s++) {
        for (int from = 0; from <= l->layers; from++) {
            const calc_balance_before *x = &b->before[state(b, s, from)];
            int most = x->down_s < INFINITY ? most_of(l, s, from) : -1;
            for (int n = l->least[s]; n <= most; n++) {
                calc_balance_option o = calc_balance_line_option(l, s, from, n);
                if (o.fits ? o.terms.at_s[0] > below_s : l->grows) {
                    break;
                }
                if (!o.fits) {
                    continue;
                }
                calc_balance_before y = calc_balance_before_on(x, &o.terms);
                if (calc_max(y.at_s[0], calc_max(y.at_s[1], y.at_s[2])) > below_s) {
                    continue;
                }
                calc_balance_before *to = &b->before[state(b, s + 1, from + n)];
                to->down_s = calc_min(to->down_s, y.down_s);
                for (int k = 0; k < CALC_BALANCE_VISITS; k++) {
                    to->at_s[k] = calc_min(to->at_s[k], y.at_s[k]);
                }
            }
        }
    }
}

/* ---- Stages behind ----------------------------------------------------------------------------*/

static int compare(const void *a, const void *b)
{
    const calc_balance_behind *x = a, *y = b;
    return x->around_s != y->around_s ? CALC_ORDER(x->around_s, y->around_s)
           : x->at_s != y->at_s       ? CALC_ORDER(x->at_s, y->at_s)
                                      : CALC_ORDER(x->layers, y->layers);
}

/* Every way to divide the layers from `from` on, combined with the divisions of the rest: in
 * scratch. @return their number */
static size_t gather(calc_balance_bound *b, int stage, int from, double below_s)
{
    size_t count = 0;
    calc_balance_line *l = b->line;
    const calc_balance_before *x = &b->before[state(b, stage, from)];
    int most = x->down_s < INFINITY ? most_of(l, stage, from) : -1;
    for (int n = l->least[stage]; n <= most; n++) {
        calc_balance_option o = calc_balance_line_option(l, stage, from, n);
        if (o.fits ? o.terms.at_s[0] > below_s : l->grows) {
            break;
        }
        if (!o.fits) {
            continue;
        }
        int64_t rest = state(b, stage + 1, from + n);
        for (int i = 0; i < b->count[rest]; i++) {
            int next = b->first[rest] + i;
            calc_balance_behind d = behind_on(&b->behind[next], &o.terms, n, next);
            if (path_s(x, &d) <= below_s) {
                CALC_ADD(b->scratch, count, b->scratch_room, &d);
            }
        }
    }
    return count;
}

/* Keep those that no other dominates; the first `count` of scratch. */
static size_t best_of(calc_balance_bound *b, size_t count)
{
    CALC_SORT(b->scratch, count, compare);
    size_t kept = 0;
    for (size_t i = 0; i < count; i++) {
        const calc_balance_behind *d = &b->scratch[i];
        if (kept == 0 || d->at_s < b->scratch[kept - 1].at_s * (1 - SAME)) {
            b->scratch[kept++] = *d;
        }
    }
    return kept;
}

static size_t merged(calc_balance_bound *b, size_t count, size_t most)
{
    if (count <= most) {
        return count;
    }
    b->exact = false;
    for (size_t i = 0; i < most; i++) {
        calc_balance_behind d = b->scratch[i * count / most];
        d.at_s = b->scratch[(i + 1) * count / most - 1].at_s;
        b->scratch[i] = d;
    }
    return most;
}

void calc_balance_bound_find(calc_balance_bound *b, double below_s, int most)
{
    calc_balance_line *l = b->line;
    const calc_balance_behind nothing = {0, -INFINITY, 0, -1};
    b->used = 0;
    b->exact = true;
    b->least_s = INFINITY;
    go_forward(b, below_s);
    for (int s = l->stages; s >= 0; s--) {
        for (int from = 0; from <= l->layers; from++) {
            size_t count = s < l->stages ? gather(b, s, from, below_s) : 0;
            if (s == l->stages && from == l->layers) {
                CALC_ADD(b->scratch, count, b->scratch_room, &nothing);
            }
            if (count > 1) {
                count = merged(b, best_of(b, count), (size_t)most);
            }
            b->first[state(b, s, from)] = (int32_t)b->used;
            b->count[state(b, s, from)] = (int32_t)count;
            for (size_t i = 0; i < count; i++) {
                CALC_ADD(b->behind, b->used, b->room, &b->scratch[i]);
            }
        }
    }
    b->least_s = calc_balance_bound_behind(b, 0, 0, &CALC_BALANCE_NOTHING_BEFORE);
}

/* Index of the best division behind these stages, -1 if there is none. */
static int best_behind(const calc_balance_bound *b, int stage, int from,
                       const calc_balance_before *before, double *least_s)
{
    int64_t at = state(b, stage, from);
    int best = -1;
    *least_s = INFINITY;
    for (int i = b->first[at]; i < b->first[at] + b->count[at]; i++) {
        double s = path_s(before, &b->behind[i]);
        if (s < *least_s) {
            *least_s = s;
            best = i;
        }
    }
    return best;
}

double calc_balance_bound_behind(const calc_balance_bound *b, int stage, int from,
                                 const calc_balance_before *before)
{
    double least_s;
    best_behind(b, stage, from, before, &least_s);
    return least_s;
}

bool calc_balance_bound_layers(const calc_balance_bound *b, int *layers)
{
    calc_balance_before nothing = CALC_BALANCE_NOTHING_BEFORE;
    double least_s;
    int at = best_behind(b, 0, 0, &nothing, &least_s);
    if (at < 0) {
        return false;
    }
    for (int s = 0; s < b->line->stages; s++) {
        layers[s] = b->behind[at].layers;
        at = b->behind[at].next;
    }
    return true;
}
