#include "report/run_data.h"

#include <math.h>
#include <stdlib.h>

#include "base/error.h"
#include "io/put_answer.h"
#include "model/timeline.h"
#include "plan/why.h"
#include "report/breakdown.h"
#include "report/changes.h"
#include "report/page_timeline.h"
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

/* The member "passes" of the open object, each with its name and its operators: a decoding step
 *  and the prefill of a layout that serves, as far as its phase has them; otherwise one pass of a
 *  micro-batch. */
static void put_passes(calc_put *put, const calc_app *app, const calc_system *system,
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

/* The member "concurrency": the layout with fewer and more requests, in flight or arriving per
 *  second, up to twice the number that fit in memory, or until arrivals exceed the service rate;
 *  null without inference. Waiting times are in closed form. */
static void put_concurrency(calc_put *put, const calc_app *app, const calc_system *system,
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

/* ---- All of it ------------------------------------------------------------------------------- */

static void put_parameters(calc_put *put, const calc_app *app)
{
    calc_parameters p;
    calc_count_parameters(app, &p);
    calc_put_object(put, "parameters", CALC_PUT_LINE);
    calc_put_number(put, "total", p.total);
    calc_put_number(put, "active", p.active);
    calc_put_close(put);
}

/* The time of a step with each rate raised by 10 %. */
static calc_status put_more(calc_put *put, const calc_run_data *d, calc_errors *errors)
{
    calc_status status = CALC_OK;
    size_t rates = d->own ? calc_resources_rates(d->system) : 0;
    calc_put_array(put, "ten_percent_more", CALC_PUT_LINES);
    for (size_t i = 0; i < rates && status == CALC_OK; i++) {
        calc_system more = *d->system;
        calc_stats stats;
        char text[CALC_RESOURCE_TEXT];
        if (!calc_resource_there(d->system, i)) {
            continue;
        }
        calc_resource_scale(&more, i, CALC_RESOURCE_MORE);
        if (d->run) {
            status = d->run(d->context, &more, d->own, &stats, errors);
        } else {
            calc_run(d->app, &more, d->own, d->compat, &stats);
        }
        calc_put_object(put, NULL, CALC_PUT_LINE);
        calc_put_text(put, "resource", calc_resource_text(d->system, i, text));
        calc_put_number(put, "total_time", stats.total_time);
        calc_put_close(put);
    }
    calc_put_close(put);
    return status;
}

/* The best changes to make next; under Calculon's rules changes are not evaluated. */
static calc_status put_changes(calc_put *put, const calc_run_data *d, calc_errors *errors)
{
    if (d->compat == CALC_COMPAT_NONE) {
        return calc_changes_put(put, "changes", d->app, d->system, d->exec, errors);
    }
    calc_put_raw(put, "changes", "null");
    return CALC_OK;
}

/* The timeline of the stages. Without backward passes there is no order to show. */
static calc_status make_timeline(calc_page_timeline *out, const calc_run_data *d,
                                 const calc_timeline *timeline, calc_errors *errors)
{
    calc_timeline t = *timeline;
    if (!d->exec->training) {
        t.shape.kind = CALC_PIPELINE_SCHEDULE_GPIPE;
        t.shape.chunks = 1;
    }
    if (d->stages == 0) {
        t.shape.microbatches = (int64_t)d->stats->num_microbatches;
        return calc_page_timeline_make(out, &t.shape, NULL, errors);
    }
    calc_schedule_pass *pass = calloc((size_t)(t.shape.stages * t.shape.chunks), sizeof *pass);
    if (!pass) {
        return calc_errors_no_memory(errors);
    }
    calc_timeline_passes(&t, pass);
    calc_status status = calc_page_timeline_make(out, &t.shape, pass, errors);
    free(pass);
    return status;
}

/* The picture of the pipeline, and, unless under Calculon's rules, the time of operations by kind
 * and the phases after it. */
static calc_status put_pipeline(calc_put *put, const calc_run_data *d, calc_errors *errors)
{
    calc_page_timeline drawn = {0};
    calc_timeline t;
    calc_timeline_of(d->app, d->system, d->exec, d->compat, &t);
    calc_status status = make_timeline(&drawn, d, &t, errors);
    if (status == CALC_OK) {
        calc_page_timeline_put(put, &drawn);
        if (drawn.count == 0 || d->compat != CALC_COMPAT_NONE || !d->exec->training) {
            calc_put_raw(put, "step", "null");
        } else {
            calc_page_step_put(put, &t, drawn.end_s);
        }
    }
    calc_page_timeline_free(&drawn);
    return status;
}

calc_status calc_run_data_put(calc_put *put, const calc_run_data *d, calc_errors *errors)
{
    bool ours = d->compat == CALC_COMPAT_NONE;
    put_passes(put, d->app, d->system, d->exec, d->compat);
    put_concurrency(put, d->app, d->system, d->exec);
    calc_put_stages(put, d->stage, d->stages);
    calc_breakdown_put_time(put, "time", d->stats);
    calc_breakdown_put_losses(put, "losses", d->stats);
    calc_breakdown_put_memory(put, "memory1", d->exec, d->stats, 1, ours);
    calc_breakdown_put_memory(put, "memory2", d->exec, d->stats, 2, ours);
    put_parameters(put, d->app);
    calc_put_flag(put, "ours", ours);
    calc_status status = put_changes(put, d, errors);
    status = status == CALC_OK ? put_more(put, d, errors) : status;
    return status == CALC_OK ? put_pipeline(put, d, errors) : status;
}
