#include "filter.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "model/operators/parameters.h"
#include "model/run.h"

/* Rounding keeps to the safe side. */
static const double more = 1 + 1e-9;

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

bool calc_conditions_met(const calc_sweep_options *o, calc_condition_kind kind,
                         const calc_exec *exec, const calc_stats *stats)
{
    for (size_t i = 0; i < o->constraints; i++) {
        if (o->constraint[i].when == kind && !calc_constraint_met(&o->constraint[i], exec, stats)) {
            return false;
        }
    }
    return true;
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

/* The statistics of a layout that follow from a time. */
static void put_rates(const calc_worker *w, const calc_exec *exec, double total_s, calc_stats *s)
{
    const calc_shape shape =
        calc_shape_of(w->app, &exec->strategy, exec->microbatch_size, exec->seq_size);
    s->total_time = total_s;
    s->model_flops = calc_parameters_step_flop(&shape, exec, false);
    s->model_flops_square = calc_parameters_step_flop(&shape, exec, true);
    s->hardware_flops = NAN; /* of no condition here */
    calc_run_rates(w->app, w->system, exec, s);
}

/* The steps that meet one condition; value(t) is either value_1s * t or value_1s / t. */
static calc_kernel_range steps_of(const calc_constraint *c, double value_1s, double value_2s)
{
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

/* The conditions on time for the layouts of a cell. @param exec  of the cell */
static calc_kernel_range cell_steps(const calc_worker *w, const calc_exec *exec)
{
    const calc_sweep_options *o = w->options;
    calc_stats one, two;
    calc_kernel_range all = any_step;
    put_rates(w, exec, 1, &one);
    put_rates(w, exec, 2, &two);
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

/* ---- In the loops of a worker ---------------------------------------------------------------- */

void calc_filter_cell(calc_worker *w)
{
    const calc_cell *c = &w->cell;
    calc_conditions *known = &w->conditions;
    if (known->any[CALC_CONDITION_TIME]) {
        known->steps = cell_steps(w, &c->exec);
    }
    for (size_t flag = 0; flag < c->reduces * c->gathers; flag++) {
        known->flag_met[flag] = true;
    }
    if (!known->any[CALC_CONDITION_FLAG]) {
        return;
    }
    calc_exec exec = c->exec;
    for (size_t flag = 0; flag < c->reduces * c->gathers; flag++) {
        exec.strategy.data_par_overlap = c->reduce[flag / c->gathers] != 0;
        exec.strategy.param_gather_overlap = (calc_choice)c->gather[flag % c->gathers];
        known->flag_met[flag] = calc_conditions_met(w->options, CALC_CONDITION_FLAG, &exec, NULL);
    }
}

bool calc_filter_tile(const calc_worker *w, const calc_exec *exec)
{
    return !w->conditions.any[CALC_CONDITION_TILE] || w->options->no_prune ||
           calc_conditions_met(w->options, CALC_CONDITION_TILE, exec, NULL);
}

bool calc_filter_flags(const calc_worker *w)
{
    return w->conditions.flags_met > 0 || w->options->no_prune;
}

bool calc_filter_place(const calc_worker *w, size_t chunking, size_t pair)
{
    calc_exec exec = w->cell.exec;
    calc_cell_put_point(&w->cell, pair, &w->cell.chunking[chunking], 0, &exec);
    return calc_conditions_met(w->options, CALC_CONDITION_LANE, &exec, NULL);
}

bool calc_filter_counts(const calc_worker *w)
{
    return w->options->no_prune && w->options->constraints > 0;
}

bool calc_filter_point(const calc_worker *w, const calc_exec *exec, double total_s)
{
    const calc_conditions *known = &w->conditions;
    calc_stats s;
    bool met = true;
    if (known->any[CALC_CONDITION_TIME]) { /* to the bit of calc_run() */
        put_rates(w, exec, total_s, &s);
        met = calc_conditions_met(w->options, CALC_CONDITION_TIME, exec, &s);
    }
    if (known->any[CALC_CONDITION_OTHER] && met) {
        calc_run(w->app, w->system, exec, w->options->compat, &s);
        met = calc_conditions_met(w->options, CALC_CONDITION_OTHER, exec, &s);
    }
    return met;
}

bool calc_filter_fields(const calc_worker *w, const calc_exec *exec)
{
    bool met = true;
    for (int kind = CALC_CONDITION_TILE; kind <= CALC_CONDITION_FLAG; kind++) {
        met = met && (!w->conditions.any[kind] ||
                      calc_conditions_met(w->options, (calc_condition_kind)kind, exec, NULL));
    }
    return met;
}

/* The screens of a worker: the screen of each group (bound.h) follows its front, where the
 * objectives are a rate or a time and needs of memory. */

static bool is_time(calc_objective_kind kind)
{
    return kind == CALC_OBJECTIVE_SAMPLE_RATE || kind == CALC_OBJECTIVE_TOTAL_TIME;
}

/* Whether a screen can say something: one objective is a time or a rate, the others are needs of
 * memory, and less of each is better. */
static bool screens(const calc_worker *w)
{
    const calc_sweep_options *o = w->options;
    size_t times = 0;
    bool fine = w->bounded && (o->top == 0 || is_time(o->top_by.kind));
    for (size_t i = 0; i < o->objectives; i++) {
        times += is_time(o->objective[i].kind);
    }
    return fine && (o->objectives == 0 || times == 1);
}

/* The rate of an objective that is a time or a rate. */
static double rate_of(const calc_objective *objective, double value)
{
    return objective->kind == CALC_OBJECTIVE_SAMPLE_RATE ? -value : 1 / value;
}

static double numerator_of(const calc_objective *objective, double batch)
{
    return objective->kind == CALC_OBJECTIVE_SAMPLE_RATE ? batch : 1;
}

static void add(calc_screen *screen, const calc_sweep_options *o, const double *objective)
{
    double rate = 0;
    double tier1_bytes = 0;
    double tier2_bytes = 0;
    for (size_t i = 0; i < o->objectives; i++) {
        if (is_time(o->objective[i].kind)) {
            rate = rate_of(&o->objective[i], objective[i]);
        } else if (o->objective[i].kind == CALC_OBJECTIVE_MEM1) {
            tier1_bytes = objective[i];
        } else {
            tier2_bytes = objective[i];
        }
    }
    calc_screen_add(screen, rate, tier1_bytes, tier2_bytes);
}

void calc_screening_begin(calc_worker *w)
{
    const calc_sweep_options *o = w->options;
    double tier1_bytes = 0; /* unless it is an objective, needs do not matter */
    double tier2_bytes = 0;
    for (size_t i = 0; i < o->objectives; i++) {
        calc_objective_kind kind = o->objective[i].kind;
        tier1_bytes =
            kind == CALC_OBJECTIVE_MEM1 ? w->system->chip.mem1.capacity_bytes : tier1_bytes;
        tier2_bytes =
            kind == CALC_OBJECTIVE_MEM2 ? w->system->chip.mem2.capacity_bytes : tier2_bytes;
    }
    for (size_t g = 0; g < w->groups_count; g++) {
        calc_screen_clear(&w->screens[g], tier1_bytes, tier2_bytes);
        if (o->objectives > 0 && screens(w)) {
            /* Finds in other designs. A screen without them excludes less, but nothing wrongly. */
            const calc_front *front = &w->groups[g].front;
            double(*list)[CALC_MAX_OBJECTIVES] =
                front->count > 0 ? calc_front_objectives(front) : NULL;
            for (size_t i = 0; list && i < front->count; i++) {
                add(&w->screens[g], o, list[i]);
            }
            free(list);
        } else if (screens(w)) {
            /* Nothing but the list of the best asks for anything. */
            calc_screen_add(&w->screens[g], 1e37, 0, 0);
        }
    }
}

void calc_screening_cell(calc_worker *w)
{
    const calc_sweep_options *o = w->options;
    double batch = (double)w->cell.exec.batch_size;
    bool known = screens(w);
    w->job.screen = w->screen;
    w->job.numerator = 1;
    for (size_t i = 0; i < o->objectives && known; i++) {
        if (is_time(o->objective[i].kind)) {
            w->job.numerator = numerator_of(&o->objective[i], batch) * more;
        }
    }
    w->job.least_longest_s = known ? 0 : CALC_KERNEL_NEVER_S;
    if (o->top > 0 && known) {
        double least = calc_top_threshold(&w->group->top, o->top);
        w->job.least_longest_s =
            isfinite(least) ? numerator_of(&o->top_by, batch) / rate_of(&o->top_by, least) * more
                            : CALC_KERNEL_NEVER_S;
    }
}

void calc_screening_enter(calc_worker *w, const double *objective)
{
    if (w->options->objectives > 0 && screens(w)) {
        add(w->screen, w->options, objective);
    }
    calc_screening_cell(w);
}
