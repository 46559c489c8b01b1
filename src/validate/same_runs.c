#include "validate/same_runs.h"

#include <math.h>
#include <string.h>

#include "spec/format.h"

static int64_t size_of(int64_t size)
{
    return size > 0 ? size : 1;
}

static bool same_model(const calc_app *a, const calc_app *b)
{
    return a->hidden == b->hidden && a->num_blocks == b->num_blocks &&
           a->feedforward == b->feedforward && a->attn_heads == b->attn_heads &&
           a->num_experts == b->num_experts && a->experts_per_token == b->experts_per_token &&
           a->expert_feedforward == b->expert_feedforward;
}

static bool same_strategy(const calc_strategy *a, const calc_strategy *b)
{
    return a->tensor_par == b->tensor_par && a->data_par == b->data_par &&
           size_of(a->context_par) == size_of(b->context_par) &&
           size_of(a->expert_par) == size_of(b->expert_par) &&
           size_of(a->expert_tensor_par) == size_of(b->expert_tensor_par) &&
           calc_format_datatype(a->matrix_datatype, a->datatype) ==
               calc_format_datatype(b->matrix_datatype, b->datatype) &&
           a->activation_recompute == b->activation_recompute &&
           a->recompute_modules == b->recompute_modules;
}

/* @param found  micro-batch and interleaving were not published */
static bool same_layout(const calc_exec *a, const calc_exec *b, bool found)
{
    return a->num_procs == b->num_procs && a->pipeline_par == b->pipeline_par &&
           a->batch_size == b->batch_size && same_strategy(&a->strategy, &b->strategy) &&
           (found || (a->microbatch_size == b->microbatch_size &&
                      a->pipeline_interleaving == b->pipeline_interleaving));
}

static double length_of(const calc_app *app, const calc_exec *exec)
{
    return (double)(exec->seq_size > 0 ? exec->seq_size : app->seq_size);
}

static bool is_same(const calc_run_map *map, const calc_app *app, const char *machine,
                    const calc_exec *exec)
{
    return !map->reason && strcmp(map->row->sys, machine) == 0 && map->step_s > 0 &&
           same_model(&map->app, app) && same_layout(&map->exec, exec, map->search) &&
           length_of(&map->app, &map->exec) == length_of(app, exec);
}

size_t calc_same_runs_find(calc_same_run *out, size_t room, const calc_runs *runs,
                           const calc_app *app, const char *machine, const calc_exec *exec)
{
    size_t count = 0;
    for (size_t i = 0; exec->training && i < runs->count; i++) {
        calc_run_map map;
        calc_run_map_row(&map, &runs->row[i]);
        if (is_same(&map, app, machine, exec)) {
            if (count < room) {
                out[count] = (calc_same_run){&runs->row[i], map.row->source, map.step_s};
            }
            count++;
        }
    }
    return count;
}
