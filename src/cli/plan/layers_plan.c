#include "cli/plan/layers_plan.h"

#include <stdio.h>

calc_exit calc_plan_layers(calc_plan_task *t, calc_errors *errors)
{
    calc_planner_layers_result r;
    if (calc_planner_layers_run(&t->layers, &r, errors) != CALC_OK) return CALC_EXIT_INFEASIBLE;
    printf("layouts %zu candidates %zu solved %zu bound %g complete %d\n", r.layouts, r.candidates, r.solved, r.bound_s, r.complete);
    if (r.uniform) printf("uniform %g GiB %g tp%d pp%d\n", r.uniform_stats.total_time, r.uniform_stats.proc_mem_tier1_cap_req/0x1p30,(int)r.uniform_exec.strategy.tensor_par,(int)r.uniform_exec.pipeline_par);
    for (size_t i = 0; i < r.count; i++) {
        const calc_planner_layers_found *f = &r.found[i];
        printf("%zu: step %g planned %g bound %g GiB %.2f pp %d vp %d m %g rounds %d cand %zu runs %d:", i, f->stats.total_time, f->planned_s, f->bound_s, f->stats.proc_mem_tier1_cap_req/0x1p30, (int)f->exec.pipeline_par, (int)f->exec.pipeline_interleaving, f->stats.num_microbatches, f->rounds, f->candidate, f->exec.layers.count);
        for (int k = -1; k < f->exec.layers.count; k++) {
            const calc_layer_strategy *s = k < 0 ? &f->exec.layers.ends : &f->exec.layers.run[k].strategy;
            printf(" %dx(tp%d cp%d z%d r%d)", k < 0 ? 0 : f->exec.layers.run[k].blocks, s->tensor_par, s->context_par, s->zero_stage, s->recompute);
        }
        printf("  base tp%d dp%d mb%d z%d r%d\n", (int)f->exec.strategy.tensor_par, (int)f->exec.strategy.data_par,(int)f->exec.microbatch_size,(int)f->exec.strategy.zero_stage,f->exec.strategy.activation_recompute);
    }
    calc_planner_layers_result_free(&r);
    return CALC_EXIT_OK;
}
