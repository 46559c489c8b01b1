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

void calc_conditions_init(calc_conditions *conditions, const calc_sweep_options *o)
{
    conditions->most_s = CALC_KERNEL_NEVER_S;
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

/* Whether all conditions of a kind are met by what they look at. */
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

bool calc_condition_memory_met(const calc_sweep_options *o, double tier1_bytes, double tier2_bytes)
{
    calc_stats s;
    s.proc_mem_tier1_cap_req = tier1_bytes;
    s.proc_mem_tier2_cap_req = tier2_bytes;
    for (size_t i = 0; i < o->constraints; i++) {
        const calc_constraint *c = &o->constraint[i];
        if (c->when == CALC_CONDITION_MEMORY && !calc_constraint_met(c, NULL, &s)) {
            return false;
        }
    }
    return true;
}

/* ---- Time ------------------------------------------------------------------------------------ */

/* What of the statistics follows from a time. */
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

/* The longest step that meets one condition; value(t) is either value_1s * t or value_1s / t. */
static double longest_s(const calc_constraint *c, double value_1s, double value_2s)
{
    /* Rounding is on the safe side. */
    static const double more = 1 + 1e-9;
    bool below = c->relation == CALC_RELATION_LE || c->relation == CALC_RELATION_LT;
    bool above = c->relation == CALC_RELATION_GE || c->relation == CALC_RELATION_GT;
    bool equal = c->relation == CALC_RELATION_EQ;
    if (isnan(value_1s)) {
        return -1; /* what is not a number meets nothing */
    }
    if (value_2s > value_1s && (below || equal)) {
        return c->value / value_1s * more;
    }
    if (value_2s < value_1s && (above || equal) && c->value > 0) {
        return value_1s / c->value * more;
    }
    return CALC_KERNEL_NEVER_S;
}

double calc_condition_most_s(const calc_sweep_options *o, const calc_app *app,
                             const calc_system *system, const calc_exec *exec)
{
    calc_stats one, two;
    calc_shape shape = shape_of(app, exec);
    double most_s = CALC_KERNEL_NEVER_S;
    put_rates(app, system, exec, &shape, 1, &one);
    put_rates(app, system, exec, &shape, 2, &two);
    for (size_t i = 0; i < o->constraints; i++) {
        const calc_constraint *c = &o->constraint[i];
        if (c->when == CALC_CONDITION_TIME) {
            most_s = fmin(most_s, longest_s(c, calc_constraint_value(c, exec, &one),
                                            calc_constraint_value(c, exec, &two)));
        }
    }
    return most_s;
}

/* ---- The rest -------------------------------------------------------------------------------- */

bool calc_condition_other_met(const calc_sweep_options *o, const calc_app *app,
                              const calc_system *system, const calc_exec *exec)
{
    calc_stats s;
    calc_run(app, system, exec, o->compat, &s);
    return all_met(o, CALC_CONDITION_OTHER, exec, &s);
}
