#include "galvatron/cost.h"

#include "galvatron/cost_terms.h"
#include "galvatron/paddle.h"

/* ---- Sharding -------------------------------------------------------------------------------- */

/* Share of the optimizer's states on a rank, with the overhead of sharding. */
static double shard(int sdp)
{
    return 1.0 / sdp + 0.003;
}

/* Share of states when gradients are temporarily whole: fp32 gradients are a quarter of the states
 * in one precision and an eighth in mixed precision. */
static double with_whole_gradients(double sharded, bool mixed)
{
    return mixed ? 7.0 / 8 * sharded + 1.0 / 8 : 3.0 / 4 * sharded + 1.0 / 4;
}

/* Share of states with whole parameters and gradients. */
static double with_whole_both(double sharded, bool mixed)
{
    return mixed ? 6.0 / 8 * sharded + 2.0 / 8 : 2.0 / 4 * sharded + 2.0 / 4;
}

double calc_galvatron_states_ratio(const calc_galvatron_case *c, const calc_galvatron_strategy *s)
{
    bool mixed = calc_galvatron_mixed(c->request);
    bool zero3 = s->type == CALC_GALVATRON_ZERO3;
    double sharded = shard(calc_galvatron_sdp(s));
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
        return zero3 ? with_whole_gradients(sharded, mixed) : with_whole_both(sharded, mixed);
    }
    if (zero3) {
        return sharded * 5 / 4;
    }
    double ratio = with_whole_gradients(sharded, mixed);
    return mixed ? ratio * 5 / 4 : ratio;
}

/* ---- A layer --------------------------------------------------------------------------------- */

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
    return states * (c->profiles->memory[type].parameter_mb / s->tp) *
           calc_galvatron_states_ratio(c, s);
}

double calc_galvatron_layer_mb(const calc_galvatron_case *c, const calc_galvatron_strategy *s,
                               int type, int stage)
{
    const calc_galvatron_layer_memory *memory = &c->profiles->memory[type];
    int tpsp = calc_galvatron_tpsp(s);
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
