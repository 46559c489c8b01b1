#include "validate/run_map.h"

#include <math.h>

#include "validate/own_runs.h"
#include "validate/run_arguments.h"
#include "validate/run_layout.h"
#include "validate/run_measure.h"
#include "validate/run_models.h"

static const char nothing_measured[] = "no measured time or memory";

static bool is_measured(const calc_run_map *map)
{
    return !isnan(map->step_s) || !isnan(map->memory_bytes);
}

/* The column that the row lacks; NULL if it has all. */
static const char *what_is_missing(const calc_run_map *map)
{
    const calc_runs_row *row = map->row;
    bool shape = row->layers > 0 && row->hidden > 0 && row->heads > 0 && row->seq > 0;
    bool hybrid = calc_runs_has(row->id, "nemotron-3") || calc_runs_has(row->id, "nemotron3_super");
    return map->source->reason        ? map->source->reason
           : !map->machine            ? "no description of this machine"
           : !shape                   ? "model shape not published, or a hybrid model"
           : hybrid                   ? "hybrid Mamba model"
           : !(row->num_gpus > 0)     ? "number of GPUs not published"
           : !(row->global_batch > 0) ? "global batch not published"
                                      : NULL;
}

void calc_run_map_row(calc_run_map *out, const calc_runs_row *row)
{
    const calc_run_source *source = calc_run_source_of(row);
    bool complete = row->own && row->own->complete;
    *out = (calc_run_map){.row = row,
                          .source = source,
                          .machine = calc_run_machine_of(row, source),
                          .network = complete ? 0 : calc_run_machine_network(row),
                          .step_s = (double)NAN,
                          .memory_bytes = row->measured_memory_gib * 1073741824.0};
    if (complete) {
        out->app = row->own->app;
        out->exec = row->own->exec;
        calc_run_measure_step(out);
        out->reason = is_measured(out) ? NULL : nothing_measured;
        return;
    }
    calc_run_words_read(&out->words, row);
    out->reason = what_is_missing(out);
    if (out->reason) {
        return;
    }
    calc_run_models_app(out);
    calc_run_measure_step(out);
    if (!is_measured(out) && !calc_run_measure_has_rate(out)) {
        out->reason = nothing_measured;
        return;
    }
    out->reason = calc_run_layout_exec(out);
    out->reason = out->reason ? out->reason : calc_run_arguments_apply(out);
    if (!out->reason && calc_run_measure_has_rate(out)) {
        const char *reason = calc_run_measure_rate(out);
        out->reason = is_measured(out) ? NULL : reason;
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
