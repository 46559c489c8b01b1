#include "mindspeed/modelled.h"

#include <math.h>
#include <stdio.h>

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
