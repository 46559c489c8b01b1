#include "validate/serving_predict.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "io/csv_table.h"
#include "spec/serving_engine.h"

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
        calc_status status = apps->load(name, &apps->entry[i].app, &ignored);
        apps->entry[i].fine = status == CALC_OK;
        if (apps->failed == CALC_OK && calc_systems_is_failure(status)) {
            apps->failed = status;
        }
    }
    return apps->entry[i].fine ? &apps->entry[i].app : NULL;
}

/* A run of so many requests that arrive at random is simulated: it may end before its queue is what
 * it would be for ever, and more may arrive than are served. */
static calc_verdict run_or_simulate(const calc_app *app, const calc_system *system,
                                    const calc_exec *exec, calc_stats *stats)
{
    size_t bytes;
    calc_errors ignored = {0};
    bool ends = exec->inference.arrival_rate > 0 && exec->inference.requests > 0;
    void *workspace =
        ends && calc_exact_bytes(exec, &bytes, &ignored) == CALC_OK ? malloc(bytes) : NULL;
    calc_verdict verdict = workspace ? calc_run_exact(app, system, exec, workspace, stats)
                                     : calc_run(app, system, exec, CALC_COMPAT_NONE, stats);
    free(workspace);
    return verdict;
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
    calc_verdict verdict = run_or_simulate(app, system, exec, stats);
    bool full = verdict == CALC_VERDICT_MEM1_CAPACITY;
    if (verdict == CALC_VERDICT_OVERLOADED) {
        snprintf(p->reason, sizeof p->reason,
                 "more requests arrive than are served: %.4g of %.4g a second",
                 stats->requests_per_s, exec->inference.arrival_rate);
        return false;
    }
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

/* A batch that is served by itself, or a part of one. */
typedef struct wave {
    double prompts_s, step_s, e2e_s;
    double room; /* sequences of full length that the memory holds */
} wave;

/* The prefill of `requests` prompts, and then their steps. @return whether it could be computed */
static bool run_wave(calc_serving_prediction *p, int64_t requests, wave *out)
{
    calc_exec e = p->map.exec;
    double tokens = (double)e.inference.generate_size;
    int64_t each = requests / e.strategy.data_par;
    calc_stats stats;
    e.inference.batch = e.batch_size = requests;
    e.inference.prefill_batch = each < e.inference.prefill_batch ? each : e.inference.prefill_batch;
    if (!run(p, p->app, p->system, &e, &stats)) {
        return false;
    }
    *out = (wave){stats.total_time, (double)NAN, stats.total_time, stats.max_batch};
    if (tokens > 1) {
        e.inference.phase = CALC_INFERENCE_PHASE_DECODE;
        e.inference.prefill_batch = 0;
        if (!run(p, p->app, p->system, &e, &stats)) {
            return false;
        }
        out->step_s = stats.tpot;
        out->e2e_s += (tokens - 1) * stats.tpot;
        out->room = fmin(out->room, stats.max_batch);
    }
    return true;
}

/* How many requests at a time the memory holds: to their end, or at their mean length, as where
 * requests queue (serving_memory.h). */
static int64_t held_at_once(const calc_serving_prediction *p, const wave *whole)
{
    const calc_inference *i = &p->map.exec.inference;
    double prompt = (double)i->prompt_size, generated = (double)i->generate_size;
    double longer = i->engine.reserves ? 1 : (prompt + generated) / (prompt + generated / 2);
    int64_t replicas = p->map.exec.strategy.data_par;
    return (int64_t)(whole->room * longer / (double)replicas) * replicas;
}

/* A batch that the memory does not hold at once runs in parts. */
static void run_parts(calc_serving_prediction *p, wave *whole)
{
    int64_t batch = p->map.exec.inference.batch;
    int64_t most = held_at_once(p, whole);
    wave part, rest = {0};
    if (whole->room < (double)p->map.exec.strategy.data_par) {
        return;
    }
    if (most >= batch) {
        *p->misfit = '\0';
        return;
    }
    if (!run_wave(p, most, &part) || (batch % most > 0 && !run_wave(p, batch % most, &rest))) {
        return;
    }
    int64_t full = batch / most;
    double parts = (double)full;
    double last_s = rest.e2e_s > 0 ? 0 : part.e2e_s - part.prompts_s;
    whole->prompts_s = parts * part.e2e_s - last_s + rest.prompts_s;
    whole->e2e_s = parts * part.e2e_s + rest.e2e_s;
    whole->step_s = part.step_s;
    *p->misfit = '\0';
    calc_assumptions_add(&p->map.assumed,
                         "the batch does not fit at once: it runs in parts, one after the other");
}

static void predict_batch(calc_serving_prediction *p)
{
    wave whole;
    if (!run_wave(p, p->map.exec.inference.batch, &whole)) {
        return;
    }
    if (*p->misfit) {
        run_parts(p, &whole);
    }
    p->ttft_s = whole.prompts_s;
    p->tpot_s = whole.step_s;
    p->e2e_s = whole.e2e_s;
    p->output_tokens_per_s =
        p->map.requests * (double)p->map.exec.inference.generate_size / p->e2e_s;
}

static void predict_loop(calc_serving_prediction *p)
{
    calc_exec *e = &p->map.exec;
    calc_stats stats;
    bool fine = run(p, p->app, p->system, e, &stats);
    if (fine && *p->misfit && e->inference.memory_share == 0) {
        /* Some take more than the engine's default. */
        *p->misfit = '\0';
        e->inference.memory_share = 1;
        fine = run(p, p->app, p->system, e, &stats);
        calc_assumptions_add(&p->map.assumed,
                             "all of the memory: the engine's share is too little");
    }
    if (fine) {
        p->ttft_s = p->map.median ? stats.ttft_p50 : stats.ttft;
        p->tpot_s = stats.tpot;
        bool loop = e->inference.batch > 0;
        p->output_tokens_per_s =
            !loop ? stats.output_tokens_per_s
                  : stats.output_tokens_per_s * p->map.requests / (double)e->inference.batch;
    }
}

static void predict_mapped(calc_serving_prediction *p)
{
    p->tpot_s = p->ttft_s = p->e2e_s = p->output_tokens_per_s = (double)NAN;
    if (p->map.kind == CALC_SERVING_KIND_STATIC_BATCH) {
        predict_batch(p);
    } else {
        predict_loop(p);
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
    const calc_app *app = app_of(apps, row->app);
    const calc_systems_entry *entry = calc_systems_get(systems, row->sys);
    const calc_system *system = entry && entry->fine ? &entry->system : NULL;
    calc_serving_map_row(map, row, app, system, apps->engines);
    map->reason = map->reason ? map->reason
                  : !app      ? "no description of this model"
                  : !system   ? "no description of this machine"
                              : NULL;
    if (map->reason) {
        snprintf(out->reason, sizeof out->reason, "%s", map->reason);
    } else {
        out->app = app;
        out->system = system;
        predict_mapped(out);
    }
}

typedef struct reach_run {
    const char *id, *engine;
    double half;
} reach_run;

static const calc_csv_column run_columns[] = {
    {.name = "id", CALC_CSV_MEMBER(reach_run, id)},
    {.name = "inference.engine", CALC_CSV_MEMBER(reach_run, engine)},
    {.name = "half", CALC_CSV_MEMBER(reach_run, half), .flags = CALC_CSV_BLANK, .lo = 0, .hi = 1}};

typedef struct result {
    const char *id, *quantity, *status;
    double error;
} result;

static const calc_csv_column result_columns[] = {
    {.name = "id", CALC_CSV_MEMBER(result, id)},
    {.name = "quantity", CALC_CSV_MEMBER(result, quantity)},
    {.name = "status", CALC_CSV_MEMBER(result, status)},
    {.name = "error",
     CALC_CSV_MEMBER(result, error),
     .flags = CALC_CSV_BLANK,
     .lo = -1,
     .hi = 1e9}};

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* The logarithms of the runs of an engine; NULL: of all. Both files are in the order of the runs.
 */
static size_t collect(double *off, const calc_csv_rows *runs, const calc_csv_rows *results,
                      const char *engine)
{
    const reach_run *r = runs->item, *end = r + runs->count;
    const result *item = results->item;
    size_t count = 0;
    for (size_t i = 0; i < results->count && r < end; i++) {
        while (r < end && strcmp(r->id, item[i].id) != 0) {
            r++;
        }
        if (r < end && r->half == 1 && (!engine || strcmp(r->engine, engine) == 0) &&
            strcmp(item[i].quantity, "tpot") == 0 && strcmp(item[i].status, "scored") == 0) {
            off[count++] = fabs(log1p(item[i].error));
        }
    }
    qsort(off, count, sizeof *off, by_value);
    return count;
}

calc_status calc_serving_reach_read(calc_serving_reach *out, const char *engine, const char *runs,
                                    const char *results, calc_errors *errors)
{
    static const char hint[] = "calc validate serving_runs reads and writes such files";
    static const calc_csv_table run_table = CALC_CSV_TABLE(run_columns, reach_run, hint);
    static const calc_csv_table result_table = CALC_CSV_TABLE(result_columns, result, hint);
    calc_csv_rows measured = {0}, errors_of = {0};
    *out = (calc_serving_reach){.reach = NAN};
    calc_status status = calc_csv_table_read(&measured, &run_table, runs, errors);
    status = status == CALC_OK ? calc_csv_table_read(&errors_of, &result_table, results, errors)
                               : status;
    double *off = malloc((errors_of.count + 1) * sizeof *off);
    status = off || status != CALC_OK ? status : calc_errors_no_memory(errors);
    if (status == CALC_OK && off) {
        out->runs = collect(off, &measured, &errors_of, engine);
        out->own = out->runs >= CALC_SERVING_REACH_RUNS;
        out->runs = out->own ? out->runs : collect(off, &measured, &errors_of, NULL);
        size_t at =
            (size_t)ceil(0.9 * (double)(out->runs + 1)); /* from 1, and one reach_run more */
        out->reach = at > 0 && at <= out->runs ? off[at - 1] : NAN;
    }
    free(off);
    calc_csv_rows_free(&measured);
    calc_csv_rows_free(&errors_of);
    return status;
}
