#include "cli/run/run_page_serving.h"

#include <math.h>

#include "io/put_answer.h"
#include "spec/field.h"
#include "spec/prefill_pool.h"

/* ---- Passes ---------------------------------------------------------------------------------- */

static void put_pass(calc_put *put, const char *name, const calc_app *app,
                     const calc_system *system, const calc_exec *exec, calc_compat compat)
{
    calc_layer_stats layer[CALC_MAX_LAYERS];
    calc_put_object(put, NULL, CALC_PUT_LINES);
    calc_put_text(put, "name", name);
    calc_put_layers(put, layer, calc_layers(app, system, exec, compat, layer, CALC_MAX_LAYERS));
    calc_put_close(put);
}

/* The execution from which the operators of the prefill are listed. */
static void prefill_of(const calc_exec *exec, calc_exec *out)
{
    if (exec->inference.phase == CALC_INFERENCE_PHASE_DISAGGREGATED) {
        calc_prefill_pool_of(exec, out);
    } else {
        *out = *exec;
    }
    out->inference.phase = CALC_INFERENCE_PHASE_PREFILL;
}

void calc_run_page_put_passes(calc_put *put, const calc_app *app, const calc_system *system,
                              const calc_exec *exec, calc_compat compat)
{
    calc_inference_phase phase = exec->inference.phase;
    bool decodes = phase != CALC_INFERENCE_PHASE_NONE && phase != CALC_INFERENCE_PHASE_PREFILL;
    calc_put_array(put, "passes", CALC_PUT_LINES);
    if (phase == CALC_INFERENCE_PHASE_NONE) {
        put_pass(put, "micro-batch", app, system, exec, compat);
    }
    if (decodes) {
        put_pass(put, "decoding step", app, system, exec, compat);
    }
    if (phase != CALC_INFERENCE_PHASE_NONE && phase != CALC_INFERENCE_PHASE_DECODE) {
        calc_exec prefill;
        prefill_of(exec, &prefill);
        put_pass(put, exec->inference.chunk_size > 0 ? "chunk of a prompt" : "prompt", app,
                 calc_prefill_pool_system(system, exec), &prefill, compat);
    }
    calc_put_close(put);
}

/* ---- Concurrency ----------------------------------------------------------------------------- */

enum { POINTS = 40 /* at most */ };

static const char *const stat_keys[] = {"ttft",           "ttft_p99",
                                        "tpot",           "request_time",
                                        "prefill_time",   "tokens_per_s",
                                        "requests_per_s", "output_tokens_per_s",
                                        "max_batch",      "output_tokens_per_s_per_proc",
                                        "total_time",     "proc_mem_tier1_cap_req"};

/* The layout with so many requests, if that is allowed. @return whether it can run */
static bool put_point(calc_put *put, const calc_app *app, const calc_system *system,
                      const calc_exec *exec, double requests, calc_stats *stats)
{
    calc_errors ignored = {0};
    if (calc_check(app, system, exec, &ignored) != CALC_OK ||
        calc_run(app, system, exec, CALC_COMPAT_NONE, stats) != CALC_VERDICT_OK) {
        return false;
    }
    const calc_table *table = calc_table_of(CALC_KIND_STATS);
    calc_put_object(put, NULL, CALC_PUT_LINE);
    calc_put_number(put, "requests", requests);
    for (size_t i = 0; i < sizeof stat_keys / sizeof *stat_keys; i++) {
        const calc_field *field = calc_table_find(table, stat_keys[i]);
        calc_put_number(put, field->key,
                        calc_member_number(field, (const char *)stats + field->offset));
    }
    calc_put_close(put);
    return true;
}

/* Requests in flight: powers of two per replica, and the layout's own number between them. */
static void put_batches(calc_put *put, const calc_app *app, const calc_system *system,
                        const calc_exec *exec)
{
    int64_t own = exec->inference.batch > 0 ? exec->inference.batch : exec->batch_size;
    int64_t batch = exec->strategy.data_par;
    calc_exec e = *exec;
    calc_stats stats = {.max_batch = INFINITY};
    for (int i = 0; i < POINTS && (batch <= own || (double)batch <= 2 * stats.max_batch); i++) {
        int64_t next = 2 * batch;
        if (batch < own && own < next) {
            e.inference.batch = batch;
            (void)put_point(put, app, system, &e, (double)batch, &stats);
            batch = own;
        }
        e.inference.batch = batch;
        if (!put_point(put, app, system, &e, (double)batch, &stats)) {
            break;
        }
        batch = next;
    }
}

/* Arrival rates of requests [1/s]: steps of the square root of two around the layout's own rate, up
 * to the first that exceeds the service rate, where the queue grows for ever. */
static void put_rates(calc_put *put, const calc_app *app, const calc_system *system,
                      const calc_exec *exec)
{
    enum { BELOW = 6 };
    calc_exec e = *exec;
    calc_stats stats = {0};
    for (int i = 0; i < POINTS; i++) {
        e.inference.arrival_rate = exec->inference.arrival_rate * pow(2, 0.5 * (i - BELOW));
        if (!put_point(put, app, system, &e, e.inference.arrival_rate, &stats) ||
            !isfinite(stats.ttft)) {
            break;
        }
    }
}

void calc_run_page_put_concurrency(calc_put *put, const calc_app *app, const calc_system *system,
                                   const calc_exec *exec)
{
    const calc_inference *i = &exec->inference;
    if (i->phase == CALC_INFERENCE_PHASE_NONE) {
        calc_put_raw(put, "concurrency", "null");
        return;
    }
    bool open = i->arrival_rate > 0;
    calc_put_object(put, "concurrency", CALC_PUT_LINES);
    calc_put_text(put, "by", open ? "arrival_rate" : "batch");
    calc_put_array(put, "points", CALC_PUT_LINES);
    (open ? put_rates : put_batches)(put, app, system, exec);
    calc_put_close(put);
    calc_put_close(put);
}
