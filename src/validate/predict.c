#include "validate/predict.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "model/run.h"
#include "validate/reserved.h"

enum { STAGES_MAX = 64 };

#define GIB 1073741824.0

/* Memory of tensors on the last rank, the only one in Megatron-LM's log: the last stage of the
 * pipeline. */
static double last_stage_of(const calc_run_map *map, const calc_system *system)
{
    calc_stage_stats stage[STAGES_MAX];
    size_t count =
        calc_each_stage(&map->app, system, &map->exec, CALC_COMPAT_NONE, stage, STAGES_MAX);
    const calc_stage_stats *last = &stage[count < STAGES_MAX ? count - 1 : STAGES_MAX - 1];
    return count > 0 ? last->mem_tier1 - last->mem_overhead : NAN;
}

/* Predicted memory of the kind that was measured: of tensors, taken by the allocator, or all that
 * the processor needs. */
static double memory_of(const calc_run_map *map, const calc_system *system, const calc_stats *stats)
{
    if (calc_run_map_counts(map, "last_rank") && map->exec.pipeline_par > 1) {
        return last_stage_of(map, system);
    }
    if (calc_run_map_counts(map, "reserved")) {
        return calc_reserved_of(map, system);
    }
    return calc_run_map_counts(map, "allocated") ? stats->mem_allocated
                                                 : stats->proc_mem_tier1_cap_req;
}

static void say_misfit(calc_prediction *p, calc_verdict verdict, const calc_stats *stats)
{
    bool first = verdict == CALC_VERDICT_MEM1_CAPACITY;
    double needed = first ? stats->proc_mem_tier1_cap_req : stats->proc_mem_tier2_cap_req;
    double there = first ? stats->mem_tier1_capacity : stats->mem_tier2_capacity;
    p->misfit[0] = '\0';
    if (verdict != CALC_VERDICT_OK) {
        snprintf(p->misfit, sizeof p->misfit, "does not fit: %.4g of %.4g GiB", needed / GIB,
                 there / GIB);
    }
}

/* The machine of a run, and its measured operators. */
typedef struct machine {
    const calc_system *system;
    const calc_kernel_table *measured;
} machine;

static calc_verdict evaluate(const calc_prediction *p, const machine *m, const calc_exec *exec,
                             calc_stats *stats)
{
    return m->measured ? calc_run_measured(&p->map.app, m->system, exec, m->measured, stats)
                       : calc_run(&p->map.app, m->system, exec, CALC_COMPAT_NONE, stats);
}

/* One layout. @return its step time; NaN with a reason if there is none */
static double try_layout(calc_prediction *p, const machine *m, const calc_exec *exec)
{
    calc_stats stats;
    calc_errors errors = {0};
    if (calc_check(&p->map.app, m->system, exec, &errors) != CALC_OK) {
        snprintf(p->reason, sizeof p->reason, "%.60s: %.190s", errors.item[0].pointer,
                 errors.item[0].text);
        return (double)NAN;
    }
    calc_verdict verdict = evaluate(p, m, exec, &stats);
    bool full = verdict == CALC_VERDICT_MEM1_CAPACITY || verdict == CALC_VERDICT_MEM2_CAPACITY;
    bool fine = verdict == CALC_VERDICT_OK || full;
    if (!fine || !(stats.total_time > 0) || !isfinite(stats.total_time)) {
        snprintf(p->reason, sizeof p->reason, "verdict %s", calc_verdict_text(verdict));
        return (double)NAN;
    }
    p->need_bytes = stats.proc_mem_tier1_cap_req;
    p->memory_bytes = memory_of(&p->map, m->system, &stats);
    say_misfit(p, verdict, &stats);
    if (full && !p->map.search) {
        calc_assumptions_add(&p->map.assumed, "predicted to need more memory than the machine has");
    }
    return stats.total_time;
}

/* Whether the sizes divide the numbers that they must. */
static bool is_candidate(const calc_exec *e, int64_t blocks, int64_t batch, int64_t chunks)
{
    int64_t stages = e->pipeline_par;
    int64_t together = e->strategy.data_par * batch;
    if (e->batch_size % together != 0 || (stages >= 8 && batch > 2)) {
        return false;
    }
    int64_t batches = e->batch_size / together;
    return chunks == 1 || (stages > 1 && blocks % (stages * chunks) == 0 && batches % stages == 0);
}

static double search(calc_prediction *p, const machine *m)
{
    double best_s = (double)NAN;
    calc_exec best = p->map.exec;
    for (int64_t batch = 1; batch <= 16; batch *= 2) {
        for (int64_t chunks = 1; chunks <= 4; chunks *= 2) {
            calc_exec e = p->map.exec;
            if (!is_candidate(&e, p->map.app.num_blocks, batch, chunks)) {
                continue;
            }
            e.microbatch_size = batch;
            e.pipeline_interleaving = chunks;
            double step_s = try_layout(p, m, &e);
            if (step_s < best_s || (isnan(best_s) && !isnan(step_s))) {
                best_s = step_s;
                best = e;
            }
        }
    }
    p->map.exec = best;
    p->memory_bytes = (double)NAN;
    return isnan(best_s) ? best_s : try_layout(p, m, &p->map.exec);
}

void calc_predict(calc_prediction *out, const calc_runs_row *row, calc_systems *systems)
{
    *out = (calc_prediction){
        .step_s = (double)NAN, .memory_bytes = (double)NAN, .need_bytes = (double)NAN};
    calc_run_map *map = &out->map;
    calc_run_map_row(map, row);
    if (map->reason) {
        snprintf(out->reason, sizeof out->reason, "%s", map->reason);
        return;
    }
    const calc_systems_entry *entry = calc_systems_get(systems, row->sys);
    if (!entry->fine) {
        snprintf(out->reason, sizeof out->reason, "%s", entry->reason);
        return;
    }
    if (row->document->by_fields) {
        /* The order of ranks decides, but the indices must be there. */
        int64_t outer = entry->system.networks_count > 1 ? 1 : 0;
        map->exec.pipeline_par_net = outer;
        map->exec.strategy.data_par_net = outer;
    }
    calc_system own;
    const machine m = {calc_run_map_system(map, &entry->system, &own), entry->measured};
    if (map->exec.software[0]) {
        calc_resolve(&map->app, m.system, &map->exec);
    }
    out->step_s = map->search ? search(out, &m) : try_layout(out, &m, &map->exec);
    if (!isnan(out->step_s)) {
        out->reason[0] = '\0';
    }
}
