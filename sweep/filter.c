#include "filter.h"

#include <math.h>
#include <stdlib.h>

void calc_filter_cell(calc_worker *w)
{
    const calc_cell *c = &w->cell;
    calc_conditions *known = &w->conditions;
    if (known->any[CALC_CONDITION_TIME]) {
        known->steps = calc_condition_steps_of(w->options, w->app, w->system, &c->exec);
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
        known->flag_met[flag] = calc_condition_fields_met(w->options, CALC_CONDITION_FLAG, &exec);
    }
}

bool calc_filter_tile(const calc_worker *w, const calc_exec *exec)
{
    return !w->conditions.any[CALC_CONDITION_TILE] || w->options->no_prune ||
           calc_condition_fields_met(w->options, CALC_CONDITION_TILE, exec);
}

void calc_filter_set_flags(calc_worker *w)
{
    w->conditions.flags_met = 0;
    for (size_t i = w->first_flag; i < w->first_flag + w->flags; i++) {
        w->conditions.flags_met += w->conditions.flag_met[i];
    }
}

bool calc_filter_flags(const calc_worker *w)
{
    return w->conditions.flags_met > 0 || w->options->no_prune;
}

bool calc_filter_place(const calc_worker *w, size_t chunking, size_t pair)
{
    calc_exec exec = w->cell.exec;
    calc_cell_put_point(&w->cell, pair, &w->cell.chunking[chunking], 0, &exec);
    return calc_condition_fields_met(w->options, CALC_CONDITION_LANE, &exec);
}

bool calc_filter_counts(const calc_worker *w)
{
    return w->options->no_prune && w->options->constraints > 0;
}

bool calc_filter_point(const calc_worker *w, const calc_exec *exec, double total_s)
{
    const calc_conditions *known = &w->conditions;
    return (!known->any[CALC_CONDITION_TIME] ||
            calc_condition_time_met(w->options, w->app, w->system, exec, total_s)) &&
           (!known->any[CALC_CONDITION_OTHER] ||
            calc_condition_other_met(w->options, w->app, w->system, exec));
}

bool calc_filter_fields(const calc_worker *w, const calc_exec *exec)
{
    bool met = true;
    for (int kind = CALC_CONDITION_TILE; kind <= CALC_CONDITION_FLAG; kind++) {
        met = met && (!w->conditions.any[kind] ||
                      calc_condition_fields_met(w->options, (calc_condition_kind)kind, exec));
    }
    return met;
}

/* The screens of a worker: the screen of each group (bound.h) follows its front, where the
 * objectives are a rate or a time and needs of memory. */

/* Rounding keeps to the safe side. */
static const double more = 1 + 1e-9;

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

double calc_screening_longest_s(calc_worker *w)
{
    calc_screening_cell(w);
    double screen_s = calc_screen_longest_s(w->screen, w->job.numerator, 0, 0);
    return fmin(fmax(screen_s, w->job.least_longest_s), w->conditions.steps.most_s);
}

void calc_screening_enter(calc_worker *w, const double *objective)
{
    if (w->options->objectives > 0 && screens(w)) {
        add(w->screen, w->options, objective);
    }
    calc_screening_cell(w);
}
