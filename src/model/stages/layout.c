#include "model/stages/layout.h"
#include "model/stages/measured_block.h"
#include "model/stages/stage_parts.h"

void calc_layout_of(const calc_app *app, const calc_system *system, const calc_exec *exec,
                    calc_compat compat, const calc_kernel_table *measured,
                    const calc_stage_parts *parts, calc_layout *l)
{
    l->app = app;
    l->system = system;
    l->exec = exec;
    l->shape = calc_shape_of(app, &exec->strategy, exec->microbatch_size, exec->seq_size);
    l->context = calc_cost_context_of(system, exec, &l->shape, compat);
    l->context.measured = measured;
    l->stages = calc_stages_split(&l->shape, exec, compat);
    if (parts) {
        l->parts = *parts;
    } else {
        calc_stage_parts_of(&l->context, &l->parts);
        calc_measured_block_put(&l->context, 1 / calc_share_or(exec->software_efficiency, 1),
                                &l->parts);
    }
    l->lines = calc_stage_lines_of(system, exec, &exec->strategy, &l->context.groups,
                                   calc_stage_message_bytes(&l->shape));
    calc_stage_terms_of(&l->context, exec, &l->parts, &l->lines, &l->terms, &l->links);
    l->exposed = calc_stage_exposed_messages(&l->terms, &exec->strategy);
}

const calc_cost *calc_layout_block(const calc_layout *l)
{
    bool moe = l->shape.moe_blocks * 2 > l->shape.blocks;
    return &l->parts.block[moe ? CALC_MOE_BLOCK : CALC_DENSE_BLOCK];
}
