#include "mindspeed/time.h"

#include <math.h>

/* @return whether the samples are valid times */
static bool fill(const calc_mindspeed_judge *judge, const calc_mindspeed_config *config,
                 double *samples_s, size_t count)
{
    calc_app app;
    calc_exec exec;
    calc_errors ignored = {0};
    calc_mindspeed_module_times modules;
    if (!judge->exec(judge->exec_context, config, &app, &exec) ||
        calc_check(&app, judge->system, &exec, &ignored) != CALC_OK) {
        return false;
    }
    const calc_mindspeed_layout layout = {config, &app, judge->system, &exec};
    if (judge->modules && judge->modules(judge->modules_context, config, &modules)) {
        double step_s = calc_mindspeed_compose_modules_s(&layout, &modules);
        for (size_t i = 0; i < count; i++) {
            samples_s[i] = step_s;
        }
    } else if (calc_mindspeed_compose(&layout, judge->operators, judge->comm, samples_s, count) !=
               CALC_OK) {
        return false;
    }
    bool finite = true;
    for (size_t i = 0; i < count; i++) {
        finite = finite && isfinite(samples_s[i]);
    }
    return finite;
}

bool calc_mindspeed_time(const calc_mindspeed_judge *judge, const calc_mindspeed_config *config,
                         double *samples_s, size_t count)
{
    bool good = fill(judge, config, samples_s, count);
    for (size_t i = 0; i < count && !good; i++) {
        samples_s[i] = INFINITY;
    }
    return good;
}
