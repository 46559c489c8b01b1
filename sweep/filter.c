#include "filter.h"

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
