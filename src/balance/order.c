#include "balance/order.h"

#include "balance/parts.h"

static calc_schedule_op op_of(calc_schedule_op_kind kind, calc_balance_turn turn)
{
    return (calc_schedule_op){.kind = (uint8_t)kind, .chunk = (uint16_t)turn.chunk};
}

static int64_t order(const calc_balance_parts *parts, int64_t stage, calc_schedule_op *op)
{
    int64_t passes = parts->chunks * parts->microbatches;
    int64_t warm_up = calc_balance_warm_up(parts, stage);
    int64_t count = 0;
    for (int64_t k = 0; k < passes + warm_up; k++) {
        if (k < passes) {
            op[count++] = op_of(CALC_SCHEDULE_FW, calc_balance_forward(parts, k));
        }
        if (k >= warm_up) {
            op[count++] = op_of(CALC_SCHEDULE_BW_WHOLE, calc_balance_backward(parts, k - warm_up));
        }
    }
    return count;
}

void calc_balance_orders(const calc_schedule_shape *s, bool less_memory, calc_schedule_op *op,
                         int64_t *count)
{
    if (s->kind != CALC_PIPELINE_SCHEDULE_1F1B || s->chunks == 1) {
        calc_schedule_orders(s, op, count);
        return;
    }
    calc_balance_parts parts = calc_balance_parts_of(s, less_memory);
    int64_t room = calc_schedule_ops_room(s);
    for (int64_t stage = 0; stage < s->stages; stage++) {
        count[stage] = order(&parts, stage, op + stage * room);
    }
}
