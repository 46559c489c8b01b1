/* Kernels and collectives of a serving pass, replayed as a graph, by the rates that a chip has for
 * them (serving in the system file). Weights and caches are streamed once and activations stay in
 * the second-level cache, so that constants differ from training's. The forms are those that fit
 * measured kernels of engines best: docs/inference.md, Kernels of serving. */
#include "model/cost/cost_kernel.h"

#include <math.h>

#include "model/operators/processor.h"

/* Cached tokens at which half of the term that grows with them is added. */
#define HALF_GROWN 1000.0

/* Time per score of a sequence to choose the largest of them, by one block of threads: 0.45 ns in
 * SGLang's kernels, 0.15 ns in vLLM's, on H200 and B200 alike (docs/models.md). */
#define CHOICE_S 0.3e-9

static double memory_s(const calc_cost_context *c, double bytes, double efficiency)
{
    return bytes / (c->chip->mem1.bytes_per_s * efficiency);
}

/* ---- Multiplications ------------------------------------------------------------------------- */

static bool multiply(const calc_cost_context *c, const calc_operator *o,
                     const calc_serving_matrix *r, calc_cost_kernel *out)
{
    if (r->memory_efficiency <= 0) {
        return false;
    }
    bool head = o->kind == CALC_OPERATOR_HEAD;
    const calc_engine *engine = head ? &c->chip->matrix[c->strategy->datatype] : c->matrix;
    double wide_bytes = c->shape->element_bytes;
    double input_bytes = head ? wide_bytes : c->shape->matrix_bytes;
    bool unpacks = !head && input_bytes >= 2 && c->shape->weight_bytes < input_bytes;
    bool scaled = c->strategy->scaling == CALC_SCALING_BLOCK;
    double in_8bit = calc_share_or(scaled ? r->block_scaled_efficiency : 0, r->efficiency_8bit);
    double own = input_bytes < 1 ? r->efficiency_4bit : input_bytes < 2 ? in_8bit : 0;
    double share = calc_share_or(own, calc_share_or(r->efficiency, 1)); /* of the peak */
    share = unpacks ? calc_share_or(r->unpacked_efficiency, share) : share;
    double read = unpacks ? calc_share_or(r->unpacked_memory_efficiency, r->memory_efficiency)
                          : r->memory_efficiency;
    double flop = o->flop[CALC_PASS_FW];
    double bytes = o->bytes[CALC_PASS_FW] - o->converted_bytes;
    double converted_s = memory_s(c, o->converted_bytes, r->memory_efficiency);
    double inner = o->outputs > 0 ? flop / (2 * o->outputs) : 0;
    /* Tensor scales are known before, and applied by the kernel before. */
    bool converts = input_bytes < wide_bytes && scaled;
    out->flop_s = flop / (engine->flop_per_s * share);
    out->mem_s = memory_s(c, bytes, read);
    out->all_s = calc_together_s(out->flop_s, out->mem_s) + converted_s + r->inner_s * inner +
                 (converts ? r->quantize_s : 0) + r->fixed_s * o->launches[CALC_PASS_FW];
    out->mem_s += converted_s;
    return true;
}

/* ---- Attention ------------------------------------------------------------------------------- */

static double wide_s(const calc_cost_context *c, double flop, double efficiency)
{
    return flop /
           (c->chip->matrix[c->strategy->datatype].flop_per_s * calc_share_or(efficiency, 1));
}

static bool decode(const calc_cost_context *c, const calc_operator *o, calc_cost_kernel *out)
{
    const calc_serving_decode *r = &c->serving->decode;
    if (r->memory_efficiency <= 0) {
        return false;
    }
    out->flop_s = wide_s(c, o->flop[CALC_PASS_FW], r->efficiency);
    out->mem_s = memory_s(c, o->bytes[CALC_PASS_FW], r->memory_efficiency);
    out->all_s = calc_together_s(out->flop_s, out->mem_s) + r->fixed_s +
                 r->growth_s * o->cached / (o->cached + HALF_GROWN) +
                 (o->chooses ? CHOICE_S * o->cached : 0);
    return true;
}

/* Heads of 128, for which the rate is given, have 256 multiplications per pair. */
static bool prefill(const calc_cost_context *c, const calc_operator *o, calc_cost_kernel *out)
{
    const calc_serving_prefill *r = &c->serving->prefill;
    if (r->memory_efficiency <= 0) {
        return false;
    }
    double width = c->shape->qk_size + c->shape->v_size;
    double with_softmax = (1 + r->softmax_size / width) / (1 + r->softmax_size / 256);
    out->flop_s = wide_s(c, o->flop[CALC_PASS_FW] * with_softmax, r->efficiency);
    out->mem_s = memory_s(c, o->bytes[CALC_PASS_FW], r->memory_efficiency);
    out->all_s = out->flop_s + out->mem_s + r->fixed_s;
    return true;
}

/* ---- Traffic --------------------------------------------------------------------------------- */

/* Kernels that move tokens only.
 * @param efficiency  of the memory; 0: there are no such rates */
static bool move(const calc_cost_context *c, const calc_operator *o, double efficiency,
                 double fixed_s, calc_cost_kernel *out)
{
    if (efficiency <= 0) {
        return false;
    }
    out->mem_s = memory_s(c, o->bytes[CALC_PASS_FW], efficiency);
    out->all_s = out->mem_s + (o->launches[CALC_PASS_FW] > 0 ? fixed_s : 0);
    return true;
}

bool calc_pass_kernel_of(const calc_cost_context *c, const calc_operator *o, calc_cost_kernel *out)
{
    const calc_serving_rates *r = c->serving;
    switch (o->kind) {
    case CALC_OPERATOR_MATRIX:
    case CALC_OPERATOR_HEAD:
        return multiply(c, o, &r->matrix, out);
    case CALC_OPERATOR_GROUPED:
        return multiply(c, o, &r->grouped, out);
    case CALC_OPERATOR_ATTENTION:
        return o->cached > 0 ? decode(c, o, out) : prefill(c, o, out);
    case CALC_OPERATOR_VECTOR:
        return move(c, o, r->vector.memory_efficiency, r->vector.fixed_s, out);
    case CALC_OPERATOR_SCAN: /* decoded: its state is streamed, else as a cache is */
        return o->flop[CALC_PASS_FW] <= 0 &&
               (move(c, o, r->state.memory_efficiency, r->state.fixed_s, out) ||
                move(c, o, r->decode.memory_efficiency, r->decode.fixed_s, out));
    case CALC_OPERATOR_PERMUTE:
        return move(c, o, r->grouped.memory_efficiency, 0, out);
    default:
        return false;
    }
}

/* ---- Collectives ----------------------------------------------------------------------------- */

double calc_pass_link_s(const calc_system *system, calc_collective_op op, const calc_group *group,
                        double bytes, double model_s)
{
    const calc_serving_rates *r = &system->chip.serving;
    bool inside = calc_collective_top_network(system, group) == 0;
    const calc_serving_latency *l = op == CALC_OP_ALL_TO_ALL ? &r->exchange : &r->collective;
    if (model_s <= 0) {
        return model_s;
    }
    if (l->fixed_s + l->doubling_s > 0 && (inside || op == CALC_OP_ALL_TO_ALL)) {
        double latency_s = calc_collective_line_of(system, op, group, bytes).latency_s;
        model_s += l->fixed_s + l->doubling_s * log2(group->ranks) - latency_s;
    }
    const calc_serving_all_reduce *own = &r->all_reduce;
    if (op == CALC_OP_ALL_REDUCE && inside && own->one_shot_efficiency > 0) {
        double rate = system->networks[0].bytes_per_s, ranks = group->ranks;
        double two_shot = calc_share_or(own->two_shot_efficiency, own->one_shot_efficiency);
        double one_s = (ranks - 1) * bytes / (rate * own->one_shot_efficiency);
        double two_s = 2 * (ranks - 1) / ranks * bytes / (rate * two_shot) + own->two_shot_s;
        double own_s = own->fixed_s + own->doubling_s * log2(ranks) + calc_min(one_s, two_s);
        model_s = calc_min(model_s, own_s);
    }
    return model_s;
}
