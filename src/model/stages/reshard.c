#include "model/stages/reshard.h"

#include "model/operators/collective.h"
#include "model/operators/shape.h"
#include "spec/rules.h"

static bool is_sequence_parallel(const calc_strategy *s)
{
    return s->tensor_par_comm_type == CALC_TENSOR_PAR_COMM_TYPE_RS_AG;
}

static int64_t context_of(const calc_strategy *s)
{
    return s->context_par > 1 ? s->context_par : 1;
}

/* Ranks that share a sequence, and how many of them hold different tokens of it. */
static int64_t sharing(const calc_strategy *s)
{
    return s->tensor_par * context_of(s);
}

static int64_t shards(const calc_strategy *s)
{
    return is_sequence_parallel(s) ? sharing(s) : context_of(s);
}

/* Neighbouring ranks that have the same sequences with either strategy. */
static int64_t together(const calc_strategy *a, const calc_strategy *b)
{
    return sharing(a) / calc_gcd(sharing(a), sharing(b)) * sharing(b);
}

int64_t calc_reshard_ranks(const calc_exec *a, const calc_exec *b)
{
    const calc_strategy *s = &a->strategy;
    const calc_strategy *t = &b->strategy;
    return together(s, t) / sharing(s) * (shards(s) / calc_gcd(shards(s), shards(t)));
}

/* The network that a field names for the larger of two groups, the outer part of it. */
static int64_t network_of(const calc_strategy *a, const calc_strategy *b)
{
    const calc_strategy *s = sharing(a) >= sharing(b) ? a : b;
    bool context = context_of(s) > 1 && s->context_par_net >= 0;
    return context ? s->context_par_net : s->tensor_par_net;
}

static double gather_s(const calc_app *app, const calc_system *system, const calc_exec *a,
                       const calc_exec *b)
{
    const calc_strategy *s = &a->strategy;
    int64_t ranks = calc_reshard_ranks(a, b);
    if (ranks <= 1) {
        return 0;
    }
    calc_shape shape = calc_shape_of(app, s, a->microbatch_size, a->seq_size);
    double tokens = shape.tokens / (is_sequence_parallel(s) ? shape.tensor_par : 1);
    double held = tokens * shape.hidden * shape.element_bytes;
    int64_t stride =
        a->rank_order == CALC_RANK_ORDER_NETWORKS ? 0 : together(s, &b->strategy) / ranks;
    calc_group group = {
        .ranks = (double)ranks, .stride = (double)stride, .network = network_of(s, &b->strategy)};
    return calc_collective_s(system, CALC_OP_ALL_GATHER, &group, held * (double)ranks);
}

calc_reshard calc_reshard_of(const calc_app *app, const calc_system *system, const calc_exec *a,
                             const calc_exec *b)
{
    return (calc_reshard){.fw_s = gather_s(app, system, a, b),
                          .bw_s = a->training ? gather_s(app, system, b, a) : 0};
}
