#include "validate/serving_predict.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define GIB 1073741824.0

/* The model of a name, read the first time; NULL: there is none. */
static const calc_app *app_of(calc_serving_apps *apps, const char *name)
{
    int i = 0;
    while (i < apps->count && strcmp(apps->entry[i].name, name) != 0) {
        i++;
    }
    if (i == apps->count) {
        /* More names than there is room for take the place of the last. */
        calc_errors ignored = {0};
        i = apps->count < CALC_SERVING_APPS_MAX ? apps->count++ : CALC_SERVING_APPS_MAX - 1;
        apps->entry[i].name = name;
        apps->entry[i].fine = apps->load(name, &apps->entry[i].app, &ignored) == CALC_OK;
    }
    return apps->entry[i].fine ? &apps->entry[i].app : NULL;
}

/* One phase. @return whether it could be computed; if not, with a reason */
static bool run(calc_serving_prediction *p, const calc_app *app, const calc_system *system,
                const calc_exec *exec, calc_stats *stats)
{
    calc_errors errors = {0};
    if (calc_check(app, system, exec, &errors) != CALC_OK) {
        snprintf(p->reason, sizeof p->reason, "%.60s: %.190s", errors.item[0].pointer,
                 errors.item[0].text);
        return false;
    }
    calc_verdict verdict = calc_run(app, system, exec, CALC_COMPAT_NONE, stats);
    bool full = verdict == CALC_VERDICT_MEM1_CAPACITY;
    if (verdict != CALC_VERDICT_OK && !full) {
        snprintf(p->reason, sizeof p->reason, "verdict %s", calc_verdict_text(verdict));
        return false;
    }
    if (full) {
        snprintf(p->misfit, sizeof p->misfit, "does not fit: %.4g of %.4g GiB",
                 stats->proc_mem_tier1_cap_req / GIB, stats->mem_tier1_capacity / GIB);
    }
    return true;
}

static void predict_batch(calc_serving_prediction *p, const calc_app *app,
                          const calc_system *system)
{
    const calc_serving_map *map = &p->map;
    double tokens = (double)map->exec.inference.generate_size;
    calc_stats stats;
    if (!run(p, app, system, &map->exec, &stats)) {
        return;
    }
    double prompts_s = stats.total_time;
    double step_s = (double)NAN;
    if (tokens > 1) {
        calc_exec decode = map->exec;
        decode.inference.phase = CALC_INFERENCE_PHASE_DECODE;
        decode.inference.prefill_batch = 0;
        if (!run(p, app, system, &decode, &stats)) {
            return;
        }
        step_s = stats.tpot;
    }
    p->ttft_s = prompts_s;
    p->tpot_s = step_s;
    p->e2e_s = prompts_s + (tokens > 1 ? (tokens - 1) * step_s : 0);
    p->output_tokens_per_s = map->requests * tokens / p->e2e_s;
}

static void predict_loop(calc_serving_prediction *p, const calc_app *app, const calc_system *system)
{
    const calc_exec *e = &p->map.exec;
    calc_stats stats;
    if (run(p, app, system, e, &stats)) {
        p->ttft_s = p->map.median ? stats.ttft_p50 : stats.ttft;
        p->tpot_s = stats.tpot;
        p->output_tokens_per_s =
            stats.output_tokens_per_s * p->map.requests / (double)e->inference.batch;
    }
}

static void predict_mapped(calc_serving_prediction *p)
{
    p->tpot_s = p->ttft_s = p->e2e_s = p->output_tokens_per_s = (double)NAN;
    if (p->map.kind == CALC_SERVING_KIND_STATIC_BATCH) {
        predict_batch(p, p->app, p->system);
    } else {
        predict_loop(p, p->app, p->system);
    }
}

void calc_serving_predict_with(calc_serving_prediction *p, const calc_engine_traits *traits)
{
    p->map.exec.inference.traits = *traits;
    predict_mapped(p);
}

void calc_serving_predict(calc_serving_prediction *out, const calc_serving_row *row,
                          calc_serving_apps *apps, calc_systems *systems)
{
    *out = (calc_serving_prediction){.tpot_s = (double)NAN,
                                     .ttft_s = (double)NAN,
                                     .e2e_s = (double)NAN,
                                     .output_tokens_per_s = (double)NAN};
    calc_serving_map *map = &out->map;
    calc_serving_map_row(map, row);
    const calc_app *app = map->reason ? NULL : app_of(apps, map->model.name);
    const calc_systems_entry *entry = app ? calc_systems_get(systems, map->system) : NULL;
    map->reason = map->reason              ? map->reason
                  : !app                   ? "no description of this model"
                  : !entry || !entry->fine ? "no description of this machine"
                                           : NULL;
    if (!map->reason) {
        calc_serving_map_complete(map, app, &entry->system);
    }
    if (map->reason) {
        snprintf(out->reason, sizeof out->reason, "%s", map->reason);
    } else {
        out->app = app;
        out->system = &entry->system;
        predict_mapped(out);
    }
}
