#include "galvatron/cost.h"

#include <math.h>
#include <stdio.h>

#include "galvatron/profiles.h"
#include "galvatron/search.h"

enum { GPUS_MAX = 65536, BATCHES_MAX = 100000000 /* sum over all batches */ };

static bool check_layers(const calc_galvatron_request *r, char *why, size_t size)
{
    static const char *const keys[] = {"num_layers", "hidden_size", "seq_length"};
    for (int i = 0; i < r->types || i == 0; i++) {
        const calc_galvatron_layers *l = &r->layers[i];
        const int64_t values[] = {l->layer_num, l->hidden_size, l->seq_len};
        for (int k = 0; k < 3; k++) {
            if (r->types < 1 || values[k] < 1) {
                snprintf(why, size, "%s is missing: the model has none to search for", keys[k]);
                return false;
            }
        }
    }
    int64_t layers = calc_galvatron_layer_count(r);
    if (layers > CALC_GALVATRON_LAYERS) {
        snprintf(why, size, "num_layers: %jd are more than %d, which are searched at most", layers,
                 CALC_GALVATRON_LAYERS);
        return false;
    }
    return true;
}

static bool check_gpus(const calc_galvatron_request *r, char *why, size_t size)
{
    int64_t gpus = r->num_nodes * r->num_gpus_per_node;
    if (gpus < 1 || gpus > GPUS_MAX || (gpus & (gpus - 1)) != 0) {
        snprintf(why, size,
                 "num_nodes * num_gpus_per_node: %jd GPUs are not a power of two from 1 to %d",
                 gpus, GPUS_MAX);
        return false;
    }
    return true;
}

static bool check_batch(const calc_galvatron_request *r, char *why, size_t size)
{
    int64_t first = r->min_bsz > r->bsz_scale ? r->min_bsz : r->bsz_scale;
    if (r->settle_bsz < 1 && first > r->max_bsz) {
        snprintf(why, size,
                 "max_bsz: %jd is below the first batch, %jd, the larger of min_bsz and "
                 "bsz_scale (bsz_step): raise it, or give settle_bsz",
                 r->max_bsz, first);
        return false;
    }
    int64_t batches = (r->max_bsz - first) / r->bsz_scale + 1;
    if (r->settle_bsz < 1 && batches > BATCHES_MAX / r->max_bsz) {
        snprintf(why, size,
                 "max_bsz: %jd batches up to %jd are too many to search: raise bsz_scale, or "
                 "give settle_bsz",
                 batches, r->max_bsz);
        return false;
    }
    if (r->settle_bsz > 0 && r->settle_chunk > 0 && r->settle_bsz % r->settle_chunk != 0) {
        snprintf(why, size, "settle_chunk: %jd does not divide settle_bsz, %jd", r->settle_chunk,
                 r->settle_bsz);
        return false;
    }
    return true;
}

static bool check_options(const calc_galvatron_request *r, char *why, size_t size)
{
    bool wide = r->num_nodes * r->num_gpus_per_node > 1 && r->max_tp_deg != 1;
    if (!r->sequence_parallel && !r->disable_tp && wide) {
        snprintf(why, size,
                 "disable_tp: without sequence_parallel there are no costs of tensor "
                 "parallelism: set disable_tp 1, or sequence_parallel");
        return false;
    }
    if (r->memory_profile_mode == CALC_GALVATRON_MEMORY_SEQUENCE &&
        (!r->sequence_parallel || r->types > 1)) {
        snprintf(why, size,
                 "memory_profile_mode: sequence needs sequence_parallel and one type of layers");
        return false;
    }
    if (r->compat && r->memory_constraint != (double)(int64_t)r->memory_constraint) {
        snprintf(why, size, "memory_constraint: %g GB are not whole, as --compat needs them to be",
                 r->memory_constraint);
        return false;
    }
    return true;
}

bool calc_galvatron_request_check(const calc_galvatron_request *request, char *why, size_t size)
{
    return check_layers(request, why, size) && check_gpus(request, why, size) &&
           check_batch(request, why, size) && check_options(request, why, size);
}

double calc_galvatron_paddle_states(const calc_galvatron_case *c)
{
    return c->chunks == 1 ? 7 : 9;
}

double calc_galvatron_paddle_ratio(const calc_galvatron_case *c, calc_galvatron_dp type, int sdp)
{
    double each = 1.0 / sdp;
    if (type == CALC_GALVATRON_DDP) {
        return 1;
    }
    if (c->chunks == 1) {
        return type == CALC_GALVATRON_ZERO2 ? 1.0 / 7 + 6.0 / 7 * each : each;
    }
    return type == CALC_GALVATRON_ZERO2 ? 1.0 / 3 + 2.0 / 3 * each : 2.0 / 9 + 7.0 / 9 * each;
}

double calc_galvatron_paddle_tp_ms(const calc_galvatron_case *c, const calc_galvatron_strategy *s,
                                   double mb)
{
    const calc_galvatron_profiles *p = c->profiles;
    int n = calc_galvatron_doublings(s->tp);
    if (!c->request->disable_sp) {
        return (s->checkpoint ? 6 : 4) * calc_galvatron_collective_ms(&p->all_gather[n], mb);
    }
    double tp = s->tp;
    return 4 * 2 * (tp - 1) / tp * mb * p->consecutive[n];
}

double calc_galvatron_paddle_hiding(const calc_galvatron_strategy *s)
{
    return 2 * s->tp >= s->tp * s->dp ? 0.5 : 1;
}

/* MB that the framework occupies on every GPU. */
static double context_mb(const calc_galvatron_case *c)
{
    return calc_galvatron_is_paddle(c) ? 0 : 1024;
}

/* Share of states when gradients are temporarily whole: fp32 gradients are a quarter of the states
 * in one precision and an eighth in mixed precision. */
static double with_whole_gradients(double sharded, bool mixed)
{
    return mixed ? 7.0 / 8 * sharded + 1.0 / 8 : 3.0 / 4 * sharded + 1.0 / 4;
}

/* Share of all states on a rank. */
static double states_ratio(const calc_galvatron_case *c, const calc_galvatron_strategy *s)
{
    bool mixed = calc_galvatron_mixed(c->request), zero3 = s->type == CALC_GALVATRON_ZERO3;
    /* Share of the optimizer's states on a rank, with the overhead of sharding. */
    double sharded = 1.0 / calc_galvatron_sdp(s) + 0.003;
    if (calc_galvatron_is_paddle(c)) {
        return calc_galvatron_paddle_ratio(c, s->type, calc_galvatron_sdp(s));
    }
    if (s->type == CALC_GALVATRON_DDP) {
        return 1;
    }
    if (c->chunks == 1) {
        return zero3 ? sharded : with_whole_gradients(sharded, mixed);
    }
    if (c->request->async_grad_reduce) {
        return zero3   ? with_whole_gradients(sharded, mixed)
               : mixed ? 6.0 / 8 * sharded + 2.0 / 8
                       : 2.0 / 4 * sharded + 2.0 / 4;
    }
    if (zero3) {
        return sharded * 5 / 4;
    }
    double ratio = with_whole_gradients(sharded, mixed);
    return mixed ? ratio * 5 / 4 : ratio;
}

static double ends_mb(const calc_galvatron_case *c, const calc_galvatron_strategy *s, int stage,
                      int place)
{
    const calc_galvatron_other_memory *memory = &c->profiles->other_memory[place];
    double samples =
        (double)calc_galvatron_local_batch(c, s) * calc_galvatron_in_flight(c, s->pp, stage);
    /* Share of the ends' states on a rank. The port shards them with every strategy. */
    double share =
        calc_galvatron_is_paddle(c)
            ? calc_galvatron_paddle_states(c) / 9 *
                  calc_galvatron_paddle_ratio(c, CALC_GALVATRON_ZERO3, calc_galvatron_sdp(s))
            : states_ratio(c, s);
    return memory->states_mb[calc_galvatron_doublings(s->tp)] * share +
           memory->activation_mb[calc_galvatron_doublings(calc_galvatron_degree(s))] * samples +
           context_mb(c);
}

/* Time [ms] of messages and computing at the same time. */
static double hidden_ms(double message_ms, double computing_ms, double overlap)
{
    return overlap * computing_ms > message_ms ? message_ms + computing_ms - message_ms / overlap
                                               : message_ms;
}

/* Time [ms] to all-gather the activations of a layer of a type; 0 without tensor parallelism. */
static double gather_ms(const calc_galvatron_case *c, const calc_galvatron_strategy *s, int type)
{
    double samples = (double)calc_galvatron_local_batch(c, s);
    return s->tp == 1 ? 0
                      : calc_galvatron_collective_ms(
                            &c->profiles->all_gather[calc_galvatron_doublings(s->tp)],
                            calc_galvatron_message_mb(c->request, samples, type));
}

calc_galvatron_ends_cost calc_galvatron_ends_cost_of(const calc_galvatron_case *c,
                                                     const calc_galvatron_strategy *s, int stage)
{
    const calc_galvatron_profiles *p = c->profiles;
    int place = s->pp == 1   ? CALC_GALVATRON_OFF
                : stage == 0 ? CALC_GALVATRON_FIRST
                             : CALC_GALVATRON_LAST;
    if (s->pp > 1 && stage > 0 && stage < s->pp - 1) { /* neither is on it */
        return (calc_galvatron_ends_cost){.mb = context_mb(c)};
    }
    double sdp = calc_galvatron_sdp(s);
    double samples = (double)calc_galvatron_local_batch(c, s) / calc_galvatron_degree(s) / s->cp;
    double forward = calc_galvatron_compute_ms(&p->other, samples) / (s->pp == 1 ? 1 : 2);
    double states_mb = p->other_memory[place].states_mb[calc_galvatron_doublings(s->tp)];
    double parameter_mb = calc_galvatron_is_paddle(c)
                              ? states_mb / 9
                              : states_mb / 4 * (calc_galvatron_mixed(c->request) ? 0.5 : 1);
    double reduced = parameter_mb * calc_galvatron_gradients_ms_per_mb(p, s) * (sdp - 1) / sdp;
    bool zero3 = s->type == CALC_GALVATRON_ZERO3;
    double first_ms = place == CALC_GALVATRON_LAST ? 0 : gather_ms(c, s, 0);
    double last_ms = place == CALC_GALVATRON_FIRST ? 0 : gather_ms(c, s, c->request->types - 1);
    double tp = first_ms + last_ms;
    double front = hidden_ms(reduced * (zero3 ? 0.5 : 0), forward, p->overlap);
    double sync = hidden_ms(reduced * (zero3 ? 1 : 0.5), forward * 2, p->overlap);
    double nosync = hidden_ms(reduced * (zero3 ? 0.5 : 0), forward * 2, p->overlap);
    return (calc_galvatron_ends_cost){.sync_s = 0.001 * (front + sync + tp),
                                      .nosync_s = 0.001 * (front + nosync + tp),
                                      .mb = ends_mb(c, s, stage, place)};
}

double calc_galvatron_in_flight(const calc_galvatron_case *c, int pp, int stage)
{
    if (pp == 1) {
        return 1;
    }
    if (calc_galvatron_is_paddle(c) && pp - stage > c->chunks) {
        return (double)c->chunks;
    }
    return c->request->pipeline_type == CALC_GALVATRON_GPIPE ? (double)c->chunks : pp - stage;
}

double calc_galvatron_layer_states_mb(const calc_galvatron_case *c,
                                      const calc_galvatron_strategy *s, int type)
{
    double states = calc_galvatron_is_paddle(c) ? calc_galvatron_paddle_states(c) : 4;
    return states * (c->profiles->memory[type].parameter_mb / s->tp) * states_ratio(c, s);
}

double calc_galvatron_layer_mb(const calc_galvatron_case *c, const calc_galvatron_strategy *s,
                               int type, int stage)
{
    const calc_galvatron_layer_memory *memory = &c->profiles->memory[type];
    int tpsp = calc_galvatron_degree(s);
    double samples =
        (double)calc_galvatron_local_batch(c, s) * calc_galvatron_in_flight(c, s->pp, stage);
    double activation = memory->activation_mb[calc_galvatron_doublings(tpsp)] * samples;
    if (s->checkpoint) {
        bool divided = s->sp > 1 || (s->tp > 1 && c->request->sequence_parallel);
        activation = memory->checkpoint_mb * samples / (divided ? tpsp : 1);
    }
    return calc_galvatron_layer_states_mb(c, s, type) + activation;
}

double calc_galvatron_buffer_mb(const calc_galvatron_case *c, int pp, int tp)
{
    const calc_galvatron_request *request = c->request;
    int64_t hidden = 0, seq = 0;
    if (!request->sequence_parallel || !request->global_memory_buffer ||
        calc_galvatron_is_paddle(c)) {
        return 0;
    }
    for (int type = 0; type < request->types; type++) {
        const calc_galvatron_layers *layers = &request->layers[type];
        hidden = layers->hidden_size > hidden ? layers->hidden_size : hidden;
        seq = layers->seq_len > seq ? layers->seq_len : seq;
    }
    int64_t groups = calc_galvatron_world(request) / pp / tp;
    return (double)c->gbsz / (double)c->chunks / (double)groups * (double)hidden * (double)seq * 4 /
           1048576 / 2;
}

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
    /* Activations between stages in both directions. The amount is that of one layer and is added
     * to the sum over all layers. */
    const calc_galvatron_layers *layers = &c->request->layers[type];
    double mb = (double)s->pp * 2 * (double)calc_galvatron_local_batch(c, s) *
                (double)layers->seq_len * (double)layers->hidden_size * 4 / 1048576;
    double sent_mb = calc_galvatron_mixed(c->request) ? mb / 2 : mb;
    return s->pp > 1 ? ms + sent_mb * c->profiles->p2p[calc_galvatron_doublings(s->pp)] : ms;
}

calc_galvatron_layer_cost calc_galvatron_layer_cost_of(const calc_galvatron_case *c,
                                                       const calc_galvatron_strategy *s, int type)
{
    const calc_galvatron_profiles *p = c->profiles;
    double layers = (double)c->request->layers[type].layer_num;
    double samples = (double)calc_galvatron_local_batch(c, s) / calc_galvatron_degree(s);
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

int64_t calc_galvatron_stage_layers(const calc_galvatron_request *request, int pp, int stage)
{
    int64_t layers = calc_galvatron_layer_count(request), each = layers / pp;
    return stage == pp - 1 ? layers - each * (pp - 1) : each;
}

/* The longer of two times: either the last stage or the first stage works without a break. */
double calc_galvatron_pipeline_s(int pp, int64_t chunks, const double *sync_s,
                                 const double *nosync_s)
{
    double micros = (double)chunks, first_s = nosync_s[0], sum_s = 0;
    double exposed_s = 0; /* reduction that no earlier work hides */
    for (int stage = 0; stage < pp; stage++) {
        sum_s += nosync_s[stage];
        exposed_s = fmax(exposed_s, sync_s[stage] - sum_s);
    }
    double last = sum_s + nosync_s[pp - 1] * (micros - 1);
    double filled = fmin(pp - 1, micros - 1) * first_s;
    double first = fmax(filled, sum_s - first_s) + first_s * fmax(0, micros + 1 - pp);
    return fmax(last, first) + exposed_s;
}

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
        calc_galvatron_degree(from) == calc_galvatron_degree(to)) {
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
    int before = calc_galvatron_degree(from), after = calc_galvatron_degree(to);
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
