#include "validate/run_measure.h"

#include <math.h>
#include <string.h>

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
