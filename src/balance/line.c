#include "balance/line.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "balance/evaluate.h"
#include "balance/rounds.h"
#include "model/operators/processor.h"

bool calc_balance_is_line(const calc_schedule_shape *s)
{
    return s->chunks == 1 && s->kind != CALC_PIPELINE_SCHEDULE_DUALPIPE;
}

calc_status calc_balance_line_begin(calc_balance_line *l, const calc_balance_problem *p)
{
    int stages = (int)p->shape.stages;
    int layers = p->layers[0] + p->layers[1];
    *l = (calc_balance_line){
        .problem = p,
        .stages = stages,
        .layers = layers,
        .least = p->least_layers,
        .most = layers - (stages - 1) * p->least_layers,
    };
    if (p->most_layers > 0 && p->most_layers < l->most) {
        l->most = p->most_layers;
    }
    for (int s = 0; s < stages; s++) {
        l->flight[s] = calc_schedule_in_flight(&p->shape, s);
    }
    size_t each = (size_t)(layers + 1) * CALC_BALANCE_KINDS;
    l->pure = calloc((size_t)stages * each, sizeof *l->pure);
    calc_balance_range any[CALC_BALANCE_CHIPS];
    for (int chip = 0; chip < CALC_BALANCE_CHIPS; chip++) {
        any[chip] = CALC_BALANCE_ANY;
    }
    memcpy(l->full, any, sizeof any);
    return l->pure == NULL ? CALC_ERR_NOMEM : CALC_OK;
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

/* ---- Whole divisions --------------------------------------------------------------------------*/

static double busy_s(const calc_schedule_pass *p)
{
    return p->fw_s + p->bw_s + p->wgrad_s;
}

/* Give each stage as many layers as it can process in a period, leaving those behind the fewest
 * they must have; return whether that is all. A stage that can have many layers can also have
 * fewer. */
static bool fill(calc_balance_line *l, double period_s, int *layers)
{
    int from = 0;
    for (int s = 0; s < l->stages; s++) {
        int behind = l->stages - 1 - s;
        int most = l->layers - from - behind * l->least;
        most = most < l->most ? most : l->most;
        int n = l->least;
        while (n <= most) {
            calc_balance_option o = calc_balance_line_option(l, s, from, n);
            if (!o.fits || busy_s(&o.pass) > period_s) {
                break;
            }
            n++;
        }
        layers[s] = n - 1;
        if (layers[s] < l->least) {
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

static void go_on(calc_balance_line *l, int stage, int from, reach *r)
{
    for (int n = l->least; n <= l->most && from + n <= l->layers; n++) {
        if (!calc_balance_line_option(l, stage, from, n).fits) {
            return;
        }
        r->bits[stage + 1][(from + n) / 8] |= (uint8_t)(1 << (from + n) % 8);
    }
}

/* Layers of the stage whose last is the one before `to`; -1: none. */
static int come_from(calc_balance_line *l, int stage, int to, const reach *r)
{
    for (int n = l->least; n <= l->most && n <= to; n++) {
        if (is_reached(r, stage, to - n) && calc_balance_line_option(l, stage, to - n, n).fits) {
            return n;
        }
    }
    return -1;
}

/* With two kinds of layers, a stage with fewer layers may leave the next one a mixture that fits
 * there. */
static bool fill_in_any_way(calc_balance_line *l, int *layers)
{
    reach r = {{{1}}};
    for (int s = 0; s < l->stages; s++) {
        for (int from = 0; from <= l->layers; from++) {
            if (is_reached(&r, s, from)) {
                go_on(l, s, from, &r);
            }
        }
    }
    if (!is_reached(&r, l->stages, l->layers)) {
        return false;
    }
    int to = l->layers;
    for (int s = l->stages - 1; s >= 0; s--) {
        layers[s] = come_from(l, s, to, &r);
        to -= layers[s];
    }
    return true;
}

bool calc_balance_line_fits(calc_balance_line *l, int *layers)
{
    bool both = l->problem->layers[0] > 0 && l->problem->layers[1] > 0;
    return fill(l, INFINITY, layers) || (both && fill_in_any_way(l, layers));
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
        high_s = calc_max(high_s, busy_s(&o.pass));
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
        if (layers[s] < l->least || layers[s] > l->most) {
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
    calc_balance_room room = {NULL, 0};
    double step_s = calc_balance_step_s(p, share, &room);
    free(room.bytes);
    l->no_memory = l->no_memory || step_s < 0;
    return step_s < 0 ? INFINITY : step_s;
}
