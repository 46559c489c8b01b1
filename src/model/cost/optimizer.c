#include "model/cost/optimizer.h"

#include "model/operators/processor.h"

/** Adam with weight decay: arithmetic per weight. */
#define FLOP_PER_WEIGHT 11

calc_optimizer_step calc_optimizer_layer(const calc_cost_context *c, double state_bytes,
                                         double weights, double shards)
{
    calc_optimizer_step s = {.flop = weights / shards * FLOP_PER_WEIGHT,
                             .bytes = weights * state_bytes / shards};
    s.flop_s = calc_engine_s(c->vector, s.flop);
    s.mem_s = calc_memory_tier_s(&c->chip->mem1, s.bytes);
    s.step_s = calc_processing_s(c->chip->processing_mode, s.flop_s, s.mem_s);
    return s;
}

calc_optimizer_step calc_optimizer_block(const calc_cost_context *c, double state_bytes,
                                         const double *weights, size_t count, double shards)
{
    calc_optimizer_step sum = {0};
    for (size_t i = 0; i < count; i++) {
        calc_optimizer_step s = calc_optimizer_layer(c, state_bytes, weights[i], shards);
        sum.flop += s.flop;
        sum.flop_s += s.flop_s;
        sum.bytes += s.bytes;
        sum.mem_s += s.mem_s;
        sum.step_s += s.step_s;
    }
    return sum;
}
