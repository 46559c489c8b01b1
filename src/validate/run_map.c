#include "validate/run_map.h"

#include <math.h>
#include <string.h>

#include "model/operators/parameters.h"

static double length_of(const calc_run_map *map)
{
    return (double)(map->exec.seq_size > 0 ? map->exec.seq_size : map->app.seq_size);
}

/* The measured time from a rate of FLOP, as `tflops_counting` says they are counted: "model" counts
 * matrices and the whole square of attention ("causal": half of it); "recompute" and "hardware"
 * also count recomputation. @return NULL, or why the rate says nothing */
static const char *measure_flop_rate(calc_run_map *map)
{
    const calc_runs_row *r = map->row;
    const calc_exec *e = &map->exec;
    bool again = strstr(r->tflops_counting, "recompute") || strstr(r->tflops_counting, "hardware");
    if (!again && !strstr(r->tflops_counting, "model")) {
        return "FLOP/s are printed, but not how they are counted";
    }
    bool causal = strstr(r->tflops_counting, "causal") != NULL;
    bool full = e->strategy.activation_recompute == CALC_ACTIVATION_RECOMPUTE_FULL;
    calc_shape shape = calc_shape_of(&map->app, &e->strategy, e->microbatch_size, e->seq_size);
    double flop = calc_parameters_step_flop(&shape, e, !causal) * (again && full ? 4.0 / 3 : 1);
    map->step_s = flop / (r->measured_tflops_per_gpu * 1e12 * (double)e->num_procs);
    calc_assumptions_add(&map->assumed, causal ? "FLOP of matrices and of half of the square of "
                                                 "attention"
                                               : "FLOP of matrices and of the square of attention");
    return NULL;
}

/* Fill map->step_s; it stays NaN if no time and no rate was measured. */
static const char *measure(calc_run_map *map)
{
    const calc_runs_row *r = map->row;
    double tokens = (double)map->exec.batch_size * length_of(map);
    if (r->measured_s > 0) {
        map->step_s = r->measured_s;
    } else if (r->measured_tokens_per_s_per_gpu > 0) {
        map->step_s = tokens / (r->measured_tokens_per_s_per_gpu * (double)map->exec.num_procs);
    } else if (r->measured_tflops_per_gpu > 0) {
        return measure_flop_rate(map);
    }
    return isnan(map->step_s) && isnan(map->memory_bytes) && !calc_runs_is_oom(r)
               ? "no measured time or memory"
               : NULL;
}

void calc_run_map_row(calc_run_map *out, const calc_runs_row *row)
{
    const calc_run_documents *own = row->document;
    bool predicted = *row->unpredicted == '\0';
    *out = (calc_run_map){.row = row,
                          .network = row->inter_node_gbit > 0 ? row->inter_node_gbit * 1e9 / 8 : 0,
                          .step_s = predicted ? (double)NAN : row->measured_s,
                          .memory_bytes = row->measured_mem_gib * 1073741824.0,
                          .reason = predicted ? NULL : row->unpredicted,
                          .assumed = own->assumed};
    if (predicted) {
        out->app = own->app;
        out->exec = own->exec;
        out->search = own->by_fields && own->exec.microbatch_size == 0;
        out->exec.microbatch_size += out->search;
        out->exec.pipeline_interleaving += out->exec.pipeline_interleaving == 0;
        out->reason = measure(out);
        out->reason = isnan(out->step_s) && !isnan(out->memory_bytes) ? NULL : out->reason;
    }
}

const calc_system *calc_run_map_system(const calc_run_map *map, const calc_system *system,
                                       calc_system *own)
{
    if (!(map->network > 0) || system->networks_count < 2) {
        return system;
    }
    *own = *system;
    own->networks[own->networks_count - 1].bytes_per_s = map->network;
    return own;
}

bool calc_run_map_counts(const calc_run_map *map, const char *kind)
{
    return strstr(map->row->memory_counting, kind) != NULL;
}
