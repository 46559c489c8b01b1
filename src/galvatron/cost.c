#include "galvatron/cost.h"

#include "galvatron/cost_terms.h"
#include "galvatron/paddle.h"

#include <math.h>

int64_t calc_galvatron_world(const calc_galvatron_request *request)
{
    return request->num_nodes * request->num_gpus_per_node;
}

int64_t calc_galvatron_layer_count(const calc_galvatron_request *request)
{
    int64_t count = 0;
    for (int type = 0; type < request->types; type++) {
        count += request->layers[type].layer_num;
    }
    return count;
}

int64_t calc_galvatron_local_batch(const calc_galvatron_case *c,
                                   const calc_galvatron_strategy *strategy)
{
    return c->gbsz / c->chunks / strategy->dp;
}

/* ---- A layer --------------------------------------------------------------------------------- */

/* Adds to `ms` the time of computing and messages that run at the same time. Each slows the other
 * down while both run; the longer one then finishes alone. [ms] */
static double with_overlapped(double ms, double mb, double ms_per_mb, double computing_ms,
                              double overlap)
{
    double message_ms = mb * (ms_per_mb * overlap);
    double slowed_ms = computing_ms * overlap;
    if (message_ms > slowed_ms) {
        return ms + slowed_ms + (mb - slowed_ms / (ms_per_mb * overlap)) * ms_per_mb;
    }
    return ms + message_ms + (computing_ms - message_ms / overlap);
}

/* Messages of tensor or sequence parallelism: their number times the time of one. [ms] */
static double tp_ms(const calc_galvatron_case *c, const calc_galvatron_strategy *s, int type)
{
    const calc_galvatron_profiles *p = c->profiles;
    double layers = (double)c->request->layers[type].layer_num;
    double mb =
        calc_galvatron_message_mb(c->request, (double)calc_galvatron_local_batch(c, s), type);
    if (s->tp > 1 && calc_galvatron_is_paddle(c)) {
        return layers * calc_galvatron_paddle_tp_ms(c, s, mb);
    }
    if (s->tp > 1) {
        return (s->checkpoint ? 9 : 6) * layers *
               calc_galvatron_collective_ms(&p->all_gather[calc_galvatron_doublings(s->tp)], mb);
    }
    if (s->sp > 1) {
        return (s->checkpoint ? 6 : 4) * layers *
               calc_galvatron_collective_ms(&p->all_to_all[calc_galvatron_doublings(s->sp)], mb);
    }
    return 0;
}

/* Activations between stages in both directions. The amount is that of one layer and is added to
 * the sum over all layers. [ms] */
static double p2p_ms(const calc_galvatron_case *c, const calc_galvatron_strategy *s, int type)
{
    const calc_galvatron_layers *layers = &c->request->layers[type];
    double mb = (double)s->pp * 2 * (double)calc_galvatron_local_batch(c, s) *
                (double)layers->seq_len * (double)layers->hidden_size * 4 / 1048576;
    return (calc_galvatron_mixed(c->request) ? mb / 2 : mb) *
           c->profiles->p2p[calc_galvatron_doublings(s->pp)];
}

/* Times of all layers of a type, in ms. */
typedef struct parts {
    double forward, backward, tp, gradient_mb, ms_per_mb;
} parts_ms;

static double total_ms(const calc_galvatron_case *c, const calc_galvatron_strategy *s, int type,
                       const parts_ms *parts, double reduced_mb)
{
    double hiding = calc_galvatron_is_paddle(c) ? calc_galvatron_paddle_hiding(s) : 1;
    double ms = s->dp > 1 ? with_overlapped(parts->forward, reduced_mb, parts->ms_per_mb,
                                            hiding * parts->backward, c->profiles->overlap) +
                                (1 - hiding) * parts->backward
                          : parts->forward + parts->backward;
    ms += parts->tp;
    if (s->type == CALC_GALVATRON_ZERO3) { /* parameters are gathered once, before the
                                            * computation */
        ms += parts->gradient_mb * 0.5 * parts->ms_per_mb;
    }
    return s->pp > 1 ? ms + p2p_ms(c, s, type) : ms;
}

calc_galvatron_layer_cost calc_galvatron_layer_cost_of(const calc_galvatron_case *c,
                                                       const calc_galvatron_strategy *s, int type)
{
    const calc_galvatron_profiles *p = c->profiles;
    double layers = (double)c->request->layers[type].layer_num;
    double samples = (double)calc_galvatron_local_batch(c, s) / calc_galvatron_tpsp(s);
    double sdp = calc_galvatron_sdp(s);
    double coefficient = 0.001 * c->request->debug_costmodel_coe;
    parts_ms parts = {.forward = calc_galvatron_compute_ms(&p->layer[type], samples) * layers,
                      .tp = tp_ms(c, s, type),
                      .ms_per_mb = calc_galvatron_gradients_ms_per_mb(p, s)};
    parts.backward = parts.forward * 2;
    if (s->checkpoint) {
        parts.backward += parts.forward;
    }
    parts.gradient_mb = 2 * (sdp - 1) / sdp * (p->memory[type].parameter_mb / s->tp) * layers;
    if (calc_galvatron_mixed(c->request) && !calc_galvatron_is_paddle(c)) {
        parts.gradient_mb /= 2;
    }
    return (calc_galvatron_layer_cost){
        .forward_s = parts.forward * coefficient / layers,
        .backward_s = parts.backward * coefficient / layers,
        .tp_s = parts.tp * coefficient / layers,
        .sync_s = total_ms(c, s, type, &parts, parts.gradient_mb) * coefficient / layers,
        .nosync_s = total_ms(c, s, type, &parts, 0) * coefficient / layers};
}

/* ---- A step ---------------------------------------------------------------------------------- */

int64_t calc_galvatron_stage_layers(const calc_galvatron_request *request, int pp, int stage)
{
    int64_t layers = calc_galvatron_layer_count(request);
    int64_t each = layers / pp;
    return stage == pp - 1 ? layers - each * (pp - 1) : each;
}

/* Sums over the stages of a pipeline. */
typedef struct line {
    double first_s, last_s, sum_s; /**< of micro-batches that do not reduce gradients */
    double exposed_s;              /**< reduction that no earlier work hides */
} stage_line;

static void add_stage(stage_line *line, int stage, double sync_s, double nosync_s)
{
    line->first_s = stage == 0 ? nosync_s : line->first_s;
    line->last_s = nosync_s;
    line->sum_s += nosync_s;
    line->exposed_s = fmax(line->exposed_s, sync_s - line->sum_s);
}

/* The longer of two times: either the last stage or the first stage works without a break. */
static double line_s(const stage_line *line, int pp, int64_t chunks)
{
    double micros = (double)chunks;
    double last = line->sum_s + line->last_s * (micros - 1);
    double filled = fmin(pp - 1, micros - 1) * line->first_s;
    double first =
        fmax(filled, line->sum_s - line->first_s) + line->first_s * fmax(0, micros + 1 - pp);
    return fmax(last, first) + line->exposed_s;
}

double calc_galvatron_pipeline_s(int pp, int64_t chunks, const double *sync_s,
                                 const double *nosync_s)
{
    stage_line line = {0};
    for (int stage = 0; stage < pp; stage++) {
        add_stage(&line, stage, sync_s[stage], nosync_s[stage]);
    }
    return line_s(&line, pp, chunks);
}

static bool is_same(const calc_galvatron_strategy *a, const calc_galvatron_strategy *b)
{
    return a->pp == b->pp && a->tp == b->tp && a->sp == b->sp && a->cp == b->cp && a->dp == b->dp &&
           a->type == b->type && a->checkpoint == b->checkpoint;
}

double calc_galvatron_step_s(const calc_galvatron_case *c, const calc_galvatron_strategy *layers,
                             const calc_galvatron_strategy *ends)
{
    calc_galvatron_layer_cost cost = {0};
    stage_line line = {0};
    int64_t at = 0, end = 0; /* layer index; end of the current type */
    int type = -1;
    for (int stage = 0; stage < ends->pp; stage++) {
        int64_t stop = at + calc_galvatron_stage_layers(c->request, ends->pp, stage);
        double sync_s = 0, nosync_s = 0;
        for (; at < stop; at++) {
            bool next = at == end;
            while (at == end) {
                end += c->request->layers[++type].layer_num;
            }
            if (next || !is_same(&layers[at], &layers[at - 1])) {
                cost = calc_galvatron_layer_cost_of(c, &layers[at], type);
            }
            sync_s += cost.sync_s;
            nosync_s += cost.nosync_s;
        }
        nosync_s += calc_galvatron_ends_cost_of(c, ends, stage).nosync_s;
        add_stage(&line, stage, sync_s, nosync_s);
    }
    return line_s(&line, ends->pp, c->chunks);
}

/* ---- Between layers -------------------------------------------------------------------------- */

/* Small constants that break ties between equal costs; later rules override earlier ones. */
static double tie(const calc_galvatron_strategy *from, const calc_galvatron_strategy *to)
{
    bool types = from->type == to->type, checkpoints = from->checkpoint == to->checkpoint;
    bool zero3 = to->type == CALC_GALVATRON_ZERO3;
    double cost = 0;
    if (from->dp != to->dp) {
        return 0;
    }
    if (types && checkpoints && from->sp != to->sp && to->sp > 1 &&
        calc_galvatron_tpsp(from) == calc_galvatron_tpsp(to)) {
        cost = 1e-10;
    }
    if (from->pp != to->pp || from->tp != to->tp || from->sp != to->sp) {
        return cost;
    }
    if (checkpoints && !types && zero3) {
        cost = 1e-9;
    }
    if (types && !checkpoints && to->checkpoint) {
        cost = 2e-9;
    }
    if (!(types && checkpoints) && zero3 && to->checkpoint) {
        cost = 3e-9;
    }
    if (!types && !checkpoints && from->type == CALC_GALVATRON_ZERO3 && to->checkpoint) {
        cost = 1e-9;
    }
    return cost;
}

double calc_galvatron_transition(const calc_galvatron_case *c, const calc_galvatron_strategy *from,
                                 const calc_galvatron_strategy *to, int type)
{
    int before = calc_galvatron_tpsp(from), after = calc_galvatron_tpsp(to);
    if (!c->request->sequence_parallel || before == after) {
        return tie(from, to);
    }
    const calc_galvatron_layers *layers = &c->request->layers[type];
    double g = before > after ? before : after;
    double dp = (double)calc_galvatron_world(c->request) / to->pp / g;
    double bytes = (g - 1) / g * ((double)c->gbsz / (double)c->chunks / dp) *
                   (double)layers->seq_len * (double)layers->hidden_size *
                   (calc_galvatron_mixed(c->request) ? 2 : 4);
    return bytes * c->profiles->consecutive[calc_galvatron_doublings((int64_t)g)] * 1e-7;
}
