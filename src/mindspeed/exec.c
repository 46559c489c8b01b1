#include "mindspeed/exec.h"

#include <math.h>
#include <stdio.h>

/* Settings of stages in scripts, which the planner decides or does not know. */
static const calc_plan_member dropped[] = {
    CALC_PLAN_NODES,        CALC_PLAN_NODE_PROCS,   CALC_PLAN_CONTEXT_TYPE, CALC_PLAN_CONTEXT_INNER,
    CALC_PLAN_EVEN_CHUNKS,  CALC_PLAN_CHUNK_BLOCKS, CALC_PLAN_STAGE_BLOCKS, CALC_PLAN_STAGE_COUNT,
    CALC_PLAN_FIRST_BLOCKS, CALC_PLAN_LAST_BLOCKS,  CALC_PLAN_ENDS,         CALC_PLAN_EVEN_ENDS,
    CALC_PLAN_EVEN_HEAD,    CALC_PLAN_SCHEDULE,     CALC_PLAN_LOOPED,       CALC_PLAN_MICROBATCHES,
    CALC_PLAN_LOCAL_BATCH};

static void put_context(calc_plan *plan, const calc_mindspeed_config *c)
{
    plan->value[CALC_PLAN_CONTEXT] = (double)c->cp * c->up;
    if (c->cp > 1 && c->up > 1) {
        plan->value[CALC_PLAN_CONTEXT_TYPE] = CALC_CONTEXT_PAR_TYPE_HIERARCHICAL;
        plan->value[CALC_PLAN_CONTEXT_INNER] = c->up;
    } else {
        plan->value[CALC_PLAN_CONTEXT_TYPE] =
            c->up > 1 ? CALC_CONTEXT_PAR_TYPE_ULYSSES : CALC_CONTEXT_PAR_TYPE_RING;
    }
}

calc_status calc_mindspeed_exec_of(const calc_plan *said, const calc_mindspeed_config *config,
                                   calc_app *app, calc_exec *exec, calc_errors *errors)
{
    calc_plan plan = *said;
    for (size_t i = 0; i < sizeof dropped / sizeof *dropped; i++) {
        plan.value[dropped[i]] = NAN;
    }
    plan.blocks.count = plan.offsets.count = plan.recomputed.count = 0;
    put_context(&plan, config);
    plan.value[CALC_PLAN_PROCS] =
        (double)config->pp * config->tp * config->dp * config->cp * config->up;
    plan.value[CALC_PLAN_TENSOR] = config->tp;
    plan.value[CALC_PLAN_SEQ_PAR] = 1;
    plan.value[CALC_PLAN_PIPELINE] = config->pp;
    plan.value[CALC_PLAN_DATA] = config->dp;
    plan.value[CALC_PLAN_CHUNKS] = config->vpp > 0 ? config->vpp : 1;
    plan.value[CALC_PLAN_EXPERT] = config->ep > 0 ? config->ep : 1;
    plan.value[CALC_PLAN_MICROBATCH] = config->mbs;
    return calc_plan_apply(&plan, app, exec, errors);
}

calc_mindspeed_modelled calc_mindspeed_modelled_of(const calc_plan *plan, const calc_system *system,
                                                   const calc_mindspeed_config *config)
{
    calc_mindspeed_modelled m = {
        .step_s = INFINITY, .peak_bytes = INFINITY, .layer_bytes = INFINITY};
    calc_errors errors = {0};
    calc_stats stats;
    calc_app app;
    calc_exec exec;
    calc_status status = calc_mindspeed_exec_of(plan, config, &app, &exec, &errors);
    status = status ? status : calc_check(&app, system, &exec, &errors);
    if (status != CALC_OK) {
        snprintf(m.why, sizeof m.why, "%s", errors.count > 0 ? errors.item[0].text : "");
        return m;
    }
    calc_verdict verdict = calc_run(&app, system, &exec, CALC_COMPAT_NONE, &stats);
    m.fits = verdict == CALC_VERDICT_OK;
    if (isfinite(stats.total_time)) {
        m.step_s = stats.total_time;
        m.peak_bytes = stats.proc_mem_tier1_cap_req;
        m.layer_bytes = stats.block_act_storage_space;
    } else {
        snprintf(m.why, sizeof m.why, "%s", calc_verdict_text(verdict));
    }
    return m;
}
