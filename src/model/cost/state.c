#include "model/cost/state.h"

#include "spec/format.h"

int64_t calc_zero_stage(const calc_strategy *strategy)
{
    return strategy->zero_stage > 0 ? strategy->zero_stage : strategy->optimizer_sharding;
}

calc_state_bytes calc_state_bytes_of(const calc_strategy *s, const calc_shape *shape, bool training)
{
    bool twice =
        training && s->memory_model == CALC_MEMORY_MODEL_MEGATRON && shape->weight_bytes < 2;
    double computed =
        shape->weight_bytes < shape->element_bytes ? shape->weight_bytes : shape->element_bytes;
    double master = shape->weight_bytes < 4 ? 4 : 0;
    return (calc_state_bytes){
        .weight = shape->weight_bytes * (twice ? 2 : 1),
        .sent = calc_format_bytes_or(s->param_gather_datatype, shape->weight_bytes),
        .grad = shape->grad_bytes,
        .reduced = calc_format_bytes_or(s->grad_reduce_datatype, shape->grad_bytes),
        .master = calc_format_bytes_or(s->master_datatype, master),
        .moments = s->optimizer == CALC_OPTIMIZER_MUON ? 1 : 2,
        .moment = calc_format_bytes_or(s->optimizer_moment_datatype, 4),
        .gathered = calc_format_bytes_or(s->param_gather_datatype, computed),
    };
}
