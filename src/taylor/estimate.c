#include "taylor/estimate.h"

#include <math.h>
#include <stdio.h>

#include "taylor/memory.h"

double calc_taylor_estimate_mb(const calc_taylor_config *c, const calc_system *system,
                               const calc_taylor_layout *l, int64_t expert, int64_t batch,
                               char *why, size_t size)
{
    calc_exec exec =
        calc_taylor_config_exec(c, l->data, l->tensor, l->pipeline, expert, batch, c->again);
    calc_errors errors = {0};
    exec.microbatch_size = 1;
    if (calc_check(&c->app, system, &exec, &errors) != CALC_OK) {
        snprintf(why, size, "%s", errors.item[0].text);
        return NAN;
    }
    calc_taylor_memory memory;
    calc_taylor_memory_of(c, system, &exec, &memory);
    return calc_taylor_initial_mb(c, &memory, &exec, (calc_balance_recompute)c->again, -1);
}

calc_taylor_fit calc_taylor_estimate(const calc_taylor_config *c, const calc_system *system,
                                     const calc_taylor_layout *l, int64_t batch, char *why,
                                     size_t size)
{
    enum { PROBED = 8 };
    int64_t experts = c->experts > 0 ? c->experts : 1;
    int64_t most = l->data * l->tensor;
    int64_t expert = 1;
    while (expert < PROBED && calc_taylor_tries(l, experts, most, 4 * expert)) {
        expert *= 2;
    }
    double first_mb = calc_taylor_estimate_mb(c, system, l, expert, batch, why, size);
    calc_taylor_fit fit = {.probes = isnan(first_mb) ? 0 : 2, .base_mb = first_mb};
    if (fit.probes == 2 && calc_taylor_tries(l, experts, most, 2 * expert)) {
        double second_mb = calc_taylor_estimate_mb(c, system, l, 2 * expert, batch, why, size);
        fit = calc_taylor_fit_of(expert, first_mb, 2 * expert, second_mb);
        fit.probes = isnan(second_mb) ? 0 : 2;
    }
    return fit;
}
