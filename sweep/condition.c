#include "condition.h"

#include <math.h>
#include <string.h>

#include "model/operators/parameters.h"
#include "model/run.h"

bool calc_condition_needs_run(const calc_sweep_options *o)
{
    bool needs = false;
    for (size_t i = 0; i < o->constraints; i++) {
        needs |= o->constraint[i].when == CALC_CONDITION_OTHER;
    }
    return needs;
}

static bool is_tier1(const calc_constraint *c)
{
    return strcmp(c->field->key, "proc_mem_tier1_cap_req") == 0;
}

static const calc_kernel_range any_step = {0, CALC_KERNEL_NEVER_S, 0, CALC_KERNEL_NEVER_S};
static const calc_kernel_range no_step = {CALC_KERNEL_NEVER_S, -1, CALC_KERNEL_NEVER_S, -1};

void calc_conditions_init(calc_conditions *conditions, const calc_sweep_options *o)
{
    conditions->steps = any_step;
    conditions->most_tier1_bytes = conditions->most_tier2_bytes = INFINITY;
    for (size_t i = 0; i < o->constraints; i++) {
        const calc_constraint *c = &o->constraint[i];
        bool upper = c->relation == CALC_RELATION_LE || c->relation == CALC_RELATION_LT;
        conditions->any[c->when] = true;
        if (c->when == CALC_CONDITION_MEMORY && upper) {
            double *most =
                is_tier1(c) ? &conditions->most_tier1_bytes : &conditions->most_tier2_bytes;
            *most = fmin(*most, c->value);
        }
    }
}

/* Whether the values meet all conditions of a kind. */
static bool all_met(const calc_sweep_options *o, calc_condition_kind kind, const calc_exec *exec,
                    const calc_stats *stats)
{
    for (size_t i = 0; i < o->constraints; i++) {
        if (o->constraint[i].when == kind && !calc_constraint_met(&o->constraint[i], exec, stats)) {
            return false;
        }
    }
    return true;
}

bool calc_condition_fields_met(const calc_sweep_options *o, calc_condition_kind kind,
                               const calc_exec *exec)
{
    return all_met(o, kind, exec, NULL);
}

/* ---- Memory ---------------------------------------------------------------------------------- */

void calc_condition_memory_met(const calc_sweep_options *o, const double *tier1_bytes,
                               const double *tier2_bytes, size_t count, bool *met)
{
    for (size_t k = 0; k < o->constraints; k++) {
        const calc_constraint *c = &o->constraint[k];
        const double *bytes = is_tier1(c) ? tier1_bytes : tier2_bytes;
        for (size_t i = 0; i < count && c->when == CALC_CONDITION_MEMORY; i++) {
            met[i] = met[i] && calc_relation_met(c->relation, bytes[i], c->value);
        }
    }
}

/* ---- Time ------------------------------------------------------------------------------------ */

/* The statistics that follow from a time. */
static void put_rates(const calc_app *app, const calc_system *system, const calc_exec *exec,
                      const calc_shape *shape, double total_s, calc_stats *s)
{
    s->total_time = total_s;
    s->model_flops = calc_parameters_step_flop(shape, exec, false);
    s->model_flops_square = calc_parameters_step_flop(shape, exec, true);
    s->hardware_flops = NAN; /* of no condition here */
    calc_run_rates(app, system, exec, s);
}

static calc_shape shape_of(const calc_app *app, const calc_exec *exec)
{
    return calc_shape_of(app, &exec->strategy, exec->microbatch_size, exec->seq_size);
}

bool calc_condition_time_met(const calc_sweep_options *o, const calc_app *app,
                             const calc_system *system, const calc_exec *exec, double total_s)
{
    calc_stats s;
    calc_shape shape = shape_of(app, exec);
    put_rates(app, system, exec, &shape, total_s, &s);
    return all_met(o, CALC_CONDITION_TIME, exec, &s);
}

/* The steps that meet one condition; value(t) is either value_1s * t or value_1s / t. */
static calc_kernel_range steps_of(const calc_constraint *c, double value_1s, double value_2s)
{
    /* Rounding is on the safe side. */
    static const double more = 1 + 1e-9;
    bool below = c->relation == CALC_RELATION_LE || c->relation == CALC_RELATION_LT;
    bool above = c->relation == CALC_RELATION_GE || c->relation == CALC_RELATION_GT;
    bool equal = c->relation == CALC_RELATION_EQ;
    bool grows = value_2s > value_1s;
    bool falls = value_2s < value_1s && c->value > 0;
    calc_kernel_range steps = any_step;
    if (isnan(value_1s)) {
        return no_step; /* NaN meets nothing */
    }
    double edge_s = grows ? c->value / value_1s : value_1s / c->value;
    if (!(grows || falls) || !(below || above || equal)) {
        steps.sure_to_s = -1;
        return steps;
    }
    if (equal || (grows ? below : above)) {
        steps.most_s = edge_s * more;
        steps.sure_to_s = edge_s / more;
    }
    if (equal || (grows ? above : below)) {
        steps.least_s = edge_s / more;
        steps.sure_from_s = edge_s * more;
    }
    return steps;
}

calc_kernel_range calc_condition_steps_of(const calc_sweep_options *o, const calc_app *app,
                                          const calc_system *system, const calc_exec *exec)
{
    calc_stats one, two;
    calc_shape shape = shape_of(app, exec);
    calc_kernel_range all = any_step;
    put_rates(app, system, exec, &shape, 1, &one);
    put_rates(app, system, exec, &shape, 2, &two);
    for (size_t i = 0; i < o->constraints; i++) {
        const calc_constraint *c = &o->constraint[i];
        if (c->when == CALC_CONDITION_TIME) {
            calc_kernel_range steps = steps_of(c, calc_constraint_value(c, exec, &one),
                                               calc_constraint_value(c, exec, &two));
            all.least_s = fmax(all.least_s, steps.least_s);
            all.most_s = fmin(all.most_s, steps.most_s);
            all.sure_from_s = fmax(all.sure_from_s, steps.sure_from_s);
            all.sure_to_s = fmin(all.sure_to_s, steps.sure_to_s);
        }
    }
    return all;
}

/* ---- The rest -------------------------------------------------------------------------------- */

bool calc_condition_other_met(const calc_sweep_options *o, const calc_app *app,
                              const calc_system *system, const calc_exec *exec)
{
    calc_stats s;
    calc_run(app, system, exec, o->compat, &s);
    return all_met(o, CALC_CONDITION_OTHER, exec, &s);
}
