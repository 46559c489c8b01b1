#include "validate/run_measure.h"

#include <math.h>
#include <string.h>

#include "model/operators/parameters.h"

/* FLOP of a step with full recomputation, GPT: Narayanan et al. 2021 (arXiv 2104.04473), eq. 3,
 * with their vocabulary of 51,200. */
static double gpt_recomputed_flop(const calc_runs_row *r)
{
    double seq = r->seq, hidden = r->hidden, layers = r->layers;
    double shape = 1 + seq / (6 * hidden) + 51200 / (16 * layers * hidden);
    return 96 * r->global_batch * seq * layers * hidden * hidden * shape;
}

/* 6 FLOP per parameter and token, and causal attention: Llama 3 405B, 405.9e9 parameters. */
static double llama3_flop(const calc_runs_row *r)
{
    return r->global_batch * r->seq * (6 * 405.9e9 + 6 * r->layers * r->hidden * r->seq);
}

/* How sources that print FLOP/s alone count FLOP. */
static const struct {
    const char *source;
    double (*flop)(const calc_runs_row *row);
    const char *assumption;
} conventions[] = {
    {"mlm_sc21_tab1", gpt_recomputed_flop, "FLOP counted with full recomputation, as printed"},
    {"mlm_sc21_tab2", gpt_recomputed_flop, "FLOP counted with full recomputation, as printed"},
    {"seqsel_abs", gpt_recomputed_flop, "FLOP counted with full recomputation"},
    {"llama3_paper", llama3_flop, "FLOP: 6 per parameter and token, causal attention"}};

void calc_run_measure_step(calc_run_map *map)
{
    const calc_runs_row *r = map->row;
    double tokens = r->global_batch * r->seq;
    if (r->measured_iteration_s > 0) {
        map->step_s = r->measured_iteration_s;
        map->printed = "measured_iteration_s";
        return;
    }
    if (r->measured_tokens_per_s_per_gpu > 0) {
        map->step_s = tokens / (r->measured_tokens_per_s_per_gpu * r->num_gpus);
        map->printed = "measured_tokens_per_s_per_gpu";
        return;
    }
    for (size_t i = 0; i < sizeof conventions / sizeof *conventions; i++) {
        if (r->measured_tflops_per_gpu > 0 &&
            strcmp(conventions[i].source, map->source->name) == 0) {
            double flop_per_s = r->measured_tflops_per_gpu * 1e12 * r->num_gpus;
            map->step_s = conventions[i].flop(r) / flop_per_s;
            map->printed = "measured_tflops_per_gpu";
            calc_run_assume(map, conventions[i].assumption);
        }
    }
}

bool calc_run_measure_has_rate(const calc_run_map *map)
{
    return isnan(map->step_s) && map->row->measured_tflops_per_gpu > 0;
}

const char *calc_run_measure_rate(calc_run_map *map)
{
    const calc_runs_row *r = map->row;
    const calc_exec *e = &map->exec;
    bool again = calc_runs_has_any_case(r->tflops_counting, "recompute") ||
                 calc_runs_has_any_case(r->tflops_counting, "hardware");
    if (!again && !calc_runs_has_any_case(r->tflops_counting, "model")) {
        return "FLOP/s are printed, but not how they are counted";
    }
    bool causal = calc_runs_has_any_case(r->tflops_counting, "causal");
    bool full = e->strategy.activation_recompute == CALC_ACTIVATION_RECOMPUTE_FULL;
    calc_shape shape = calc_shape_of(&map->app, &e->strategy, e->microbatch_size, e->seq_size);
    double flop = calc_parameters_step_flop(&shape, e, !causal) * (again && full ? 4.0 / 3 : 1);
    map->step_s = flop / (r->measured_tflops_per_gpu * 1e12 * r->num_gpus);
    map->printed = "measured_tflops_per_gpu";
    calc_run_assume(map, causal ? "FLOP of matrices and of half of the square of attention"
                                : "FLOP of matrices and of the square of attention");
    return NULL;
}
