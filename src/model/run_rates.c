/* Rates, utilization, cost and energy of a step. */
#include <math.h>

#include "model/operators/parameters.h"
#include "model/run.h"

calc_run_chips calc_run_chips_of(const calc_system *system, const calc_exec *exec)
{
    calc_run_chips sum = {0, 0, 0};
    int64_t places = 0;
    const calc_stage_run all = {.places = 1};
    const calc_stage_list *list = &exec->stages;
    for (int32_t i = 0; i == 0 || i < list->count; i++) {
        const calc_stage_run *run = list->count > 0 ? &list->run[i] : &all;
        const calc_chip *chip = &(run->chip == 0 ? system : list->system[run->chip - 1])->chip;
        bool priced = i == 0 || sum.usd_per_hour > 0;
        bool powered = i == 0 || sum.watts > 0;
        places += run->places;
        sum.flop_per_s += run->places * chip->matrix[exec->strategy.datatype].flop_per_s;
        /* A value absent for one of them is unknown for all. */
        sum.usd_per_hour = priced && chip->usd_per_hour > 0
                               ? sum.usd_per_hour + run->places * chip->usd_per_hour
                               : 0;
        sum.watts = powered && chip->watts > 0 ? sum.watts + run->places * chip->watts : 0;
    }
    double n = (double)places;
    return (calc_run_chips){sum.flop_per_s / n, sum.usd_per_hour / n, sum.watts / n};
}

void calc_run_rates(const calc_app *app, const calc_system *system, const calc_exec *exec,
                    calc_stats *s)
{
    calc_run_chips chips = calc_run_chips_of(system, exec);
    double procs = (double)exec->num_procs;
    double seq = (double)(exec->seq_size > 0 ? exec->seq_size : app->seq_size);
    double tokens = (double)exec->batch_size * seq * (1 - exec->strategy.padding_share);
    double could = s->total_time * chips.flop_per_s * procs;
    double trillion_s = 1e12 / tokens * s->total_time;
    s->sample_rate = (double)exec->batch_size / s->total_time;
    s->tokens_per_s = tokens / s->total_time;
    s->tokens_per_s_per_proc = s->tokens_per_s / procs;
    s->model_flops_utilization = s->model_flops / could;
    s->model_flops_utilization_square = s->model_flops_square / could;
    s->hardware_flops_utilization = s->hardware_flops / could;
    s->days_per_trillion_tokens = trillion_s / 86400;
    s->proc_hours_per_trillion_tokens = trillion_s / 3600 * procs;
    s->usd_per_trillion_tokens =
        chips.usd_per_hour > 0 ? s->proc_hours_per_trillion_tokens * chips.usd_per_hour : NAN;
    s->job_usd_per_hour = chips.usd_per_hour > 0 ? procs * chips.usd_per_hour : NAN;
    s->energy_per_token = chips.watts > 0 ? chips.watts * procs * s->total_time / tokens : NAN;
}

void calc_step_put_rates(const calc_app *app, const calc_system *system, const calc_exec *exec,
                         double perfect_s, calc_stats *s)
{
    double compute_s = s->fw_time + s->bw_time + s->head_time + s->optim_step_time;
    bool frozen = exec->training && exec->strategy.trained != CALC_TRAINED_ALL;
    s->trained_parameters = frozen ? calc_parameters_trained(app, exec) : (double)NAN;
    s->compute_efficiency = perfect_s / compute_s;
    s->system_efficiency = compute_s / s->total_time;
    s->total_efficiency = perfect_s / s->total_time;
    calc_run_rates(app, system, exec, s);
}
