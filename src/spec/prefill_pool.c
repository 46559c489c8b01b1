#include "spec/prefill_pool.h"

#include "spec/field.h"

static int64_t or_that(int64_t own, int64_t otherwise)
{
    return own > 0 ? own : otherwise;
}

static int64_t at_least_one(int64_t ranks)
{
    return ranks > 1 ? ranks : 1;
}

/* How tokens reach the experts of a pool. */
static void spread_experts(const calc_strategy *decoding, calc_strategy *s)
{
    bool together = decoding->dispatch_type == CALC_DISPATCH_TYPE_REPLICATED;
    bool whole = s->tensor_par_comm_type == CALC_TENSOR_PAR_COMM_TYPE_AR;
    bool experts = together || s->expert_par > 1 || s->expert_tensor_par > 1;
    if (experts && whole && s->tensor_par > 1) {
        s->dispatch_type = CALC_DISPATCH_TYPE_REPLICATED;
        s->expert_tensor_par = s->tensor_par / at_least_one(s->expert_par);
    } else if (together) {
        s->dispatch_type = CALC_DISPATCH_TYPE_NODE_LIMITED;
        s->expert_tensor_par = 1;
    }
}

void calc_prefill_pool_of(const calc_exec *exec, calc_exec *pool)
{
    const calc_inference *i = &exec->inference;
    const calc_strategy *decoding = &exec->strategy;
    *pool = *exec;
    pool->num_procs = i->prefill_procs;
    pool->inference.prefill_system = (calc_other_system){{0}, NULL};
    calc_strategy *s = &pool->strategy;
    s->tensor_par = or_that(i->prefill_tensor_par, decoding->tensor_par);
    s->expert_par = or_that(i->prefill_expert_par, decoding->expert_par);
    s->data_par = at_least_one(pool->num_procs / (s->tensor_par * pool->pipeline_par));
    if (s->tensor_par <= 1) {
        s->tensor_par_overlap = CALC_TENSOR_PAR_OVERLAP_NONE;
    }
    spread_experts(decoding, s);
}

const calc_system *calc_prefill_pool_system(const calc_system *system, const calc_exec *exec)
{
    const calc_system *named = exec->inference.prefill_system.system;
    bool other =
        named && named != system && !calc_same(calc_table_of(CALC_KIND_SYSTEM), named, system);
    return other ? named : system;
}
