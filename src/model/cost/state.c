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
    bool wide = shape->weight_bytes > shape->element_bytes;
    double held = wide && calc_zero_stage(s) == 2 ? computed : shape->weight_bytes;
    double master = held < 4 ? 4 : 0;
    bool own = s->master_datatype != CALC_FORMAT_AUTO &&
               calc_format_datatype(s->master_datatype, s->datatype) ==
                   calc_format_datatype(s->weight_datatype, s->datatype);
    return (calc_state_bytes){
        .weight = held * (twice ? 2 : 1),
        .sent = calc_format_bytes_or(s->param_gather_datatype, held),
        .grad = shape->grad_bytes,
        .reduced = calc_format_bytes_or(s->grad_reduce_datatype, shape->grad_bytes),
        .master = own && held == shape->weight_bytes
                      ? 0
                      : calc_format_bytes_or(s->master_datatype, master),
        .moments = s->optimizer == CALC_OPTIMIZER_MUON ? 1 : 2,
        .moment = calc_format_bytes_or(s->optimizer_moment_datatype, 4),
        .gathered = calc_format_bytes_or(s->param_gather_datatype, computed),
    };
}
