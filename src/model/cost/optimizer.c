#include "model/cost/optimizer.h"

#include <math.h>
#include <string.h>

#include "model/cost/cost_kernel.h"
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

/* Muon's step on the matrices of a block: five iterations of Newton and Schulz make the momentum
 * of each orthogonal. For a matrix of m rows and n >= m columns an iteration is three
 * multiplications, A = X X', B = b A + c A A, X = a X + B X: 4 m^2 n + 2 m^3 operations. Sources:
 * Jordan et al. 2024, https://kellerjordan.github.io/posts/muon; NVIDIA Emerging-Optimizers,
 * muon_utils.py (the multiplications take 16 bits, the momentum is in 32); Megatron-LM,
 * emerging_optimizers.py (`duplicated`: ranks of tensor parallelism gather the momentum of a
 * matrix that they split, and each makes all of it orthogonal; queries, keys and values by
 * themselves). */

enum {
    ITERATIONS = 5,
    /* Norm, scaled, narrowed, widened, scaled twice: bytes and kernels beside the iterations. */
    ELEMENT_BYTES = 4 + 8 + 6 + 6 + 8 + 8,
    ELEMENT_KERNELS = 6
};

static double kernel_s(const calc_cost_context *c, calc_operator_kind kind, double flop,
                       double bytes, double launches)
{
    const calc_operator o = {.kind = kind,
                             .flop = {[CALC_PASS_FW] = flop},
                             .bytes = {[CALC_PASS_FW] = bytes},
                             .launches = {[CALC_PASS_FW] = launches}};
    return calc_cost_kernel_model(c, &o, CALC_PASS_FW).all_s;
}

double calc_muon_matrix_s(const calc_cost_context *c, double inner, double columns,
                          const calc_group *group)
{
    double m = fmin(inner, columns);
    double n = fmax(inner, columns);
    double e = c->shape->element_bytes;
    double iteration_s = kernel_s(c, CALC_OPERATOR_HEAD, 2 * m * m * n, e * (m * n + m * m), 1) +
                         kernel_s(c, CALC_OPERATOR_HEAD, 2 * m * m * m, e * 3 * m * m, 1) +
                         kernel_s(c, CALC_OPERATOR_HEAD, 2 * m * m * n, e * (m * m + 3 * m * n), 1);
    double gather_s =
        group->ranks > 1 ? calc_collective_s(c->system, CALC_OP_ALL_GATHER, group, 4 * m * n) : 0;
    return ITERATIONS * iteration_s + gather_s +
           kernel_s(c, CALC_OPERATOR_VECTOR, 0, ELEMENT_BYTES * m * n, ELEMENT_KERNELS);
}

static void add(const calc_cost_context *c, double inner, double columns, double copies,
                const calc_group *group, bool expert, calc_muon *sum)
{
    double s = calc_muon_matrix_s(c, inner, columns, group);
    sum->dense_s += expert ? 0 : copies * s;
    sum->expert_s += expert ? copies * s : 0;
    sum->longest_s = calc_max(sum->longest_s, s);
}

/* The shape of the part that an operator belongs to. */
static calc_shape shape_of(const calc_shape *model, const calc_operator *o)
{
    for (int i = 0; o->part && i < model->stack->parts; i++) {
        if (strcmp(model->stack->part[i].name, o->part) == 0) {
            return calc_shape_of_part(model, &model->stack->part[i]);
        }
    }
    return *model;
}

calc_muon calc_muon_of(const calc_cost_context *c, const calc_operator *operators, size_t count)
{
    calc_muon sum = {0, 0, 0};
    for (size_t i = 0; i < count; i++) {
        const calc_operator *o = &operators[i];
        bool grouped = o->kind == CALC_OPERATOR_GROUPED;
        if ((!grouped && o->kind != CALC_OPERATOR_MATRIX && o->kind != CALC_OPERATOR_HEAD) ||
            o->weights <= 0) { /* frozen */
            continue;
        }
        const calc_group alone = {.ranks = 1};
        const calc_group *group = o->split == CALC_SPLIT_NONE ? &alone
                                  : grouped                   ? &c->groups.expert_tensor
                                                              : &c->groups.tensor;
        double inner = o->flop[CALC_PASS_FW] / (2 * o->outputs);
        double columns = o->flop[CALC_PASS_FW] / (2 * o->inputs);
        inner *= o->split == CALC_SPLIT_INNER ? group->ranks : 1;
        columns *= o->split == CALC_SPLIT_COLUMNS ? group->ranks : 1;
        double rank = (double)c->strategy->lora_rank;
        columns = o->adapter && inner != rank ? rank : columns; /* of lora_A, all pairs beside */
        if (o->products == 3 && o->split == CALC_SPLIT_COLUMNS) {
            double share = calc_operator_share(o) * (1 - o->untouched);
            const calc_shape s = shape_of(c->shape, o);
            add(c, s.hidden, s.heads * s.qk_size, share, group, false, &sum);
            add(c, s.hidden, s.kv_heads * s.qk_size, share, group, false, &sum);
            add(c, s.hidden, s.kv_heads * s.v_size, share, group, false, &sum);
        } else {
            double copies = o->adapter ? o->pairs
                            : grouped  ? c->shape->experts / c->shape->expert_par
                                       : 1;
            add(c, inner, columns, copies * calc_operator_share(o) * (1 - o->untouched), group,
                o->expert, &sum);
        }
    }
    return sum;
}
