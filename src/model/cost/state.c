#include "model/cost/state.h"

#include "spec/format.h"

int64_t calc_zero_stage(const calc_exec *exec)
{
    return exec->strategy.zero_stage > 0 ? exec->strategy.zero_stage
                                         : exec->strategy.optimizer_sharding;
}

calc_state_bytes calc_state_bytes_of(const calc_exec *e, const calc_shape *shape)
{
    double master = shape->weight_bytes < 4 ? 4 : 0;
    return (calc_state_bytes){
        .weight = shape->weight_bytes,
        .grad = shape->grad_bytes,
        .reduced = calc_format_bytes_or(e->strategy.grad_reduce_datatype, shape->grad_bytes),
        .master = calc_format_bytes_or(e->strategy.master_datatype, master),
        .moment = calc_format_bytes_or(e->strategy.optimizer_moment_datatype, 4),
    };
}
