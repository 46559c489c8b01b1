#include "spec/serving_program.h"

static int64_t at_least_one(int64_t ranks)
{
    return ranks > 1 ? ranks : 1;
}

bool calc_serving_program_replicates(const calc_strategy *s)
{
    int64_t ranks = at_least_one(s->expert_par) * at_least_one(s->expert_tensor_par);
    return s->tensor_par > 1 && ranks == s->tensor_par;
}

void calc_serving_program_spread(calc_strategy *s)
{
    bool replicated = calc_serving_program_replicates(s);
    bool scattered = !replicated && s->tensor_par > 1 && s->expert_par > 1;
    s->dispatch_type = replicated ? CALC_DISPATCH_TYPE_REPLICATED : CALC_DISPATCH_TYPE_NODE_LIMITED;
    s->tensor_par_comm_type =
        scattered ? CALC_TENSOR_PAR_COMM_TYPE_RS_AG : CALC_TENSOR_PAR_COMM_TYPE_AR;
}
