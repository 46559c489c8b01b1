#include "cli/run/run_page.h"

#include <math.h>
#include <stdlib.h>

#include "base/error.h"
#include "calc.h"
#include "cli/draw/breakdown.h"
#include "cli/draw/changes.h"
#include "cli/draw/stage_words.h"
#include "cli/shell/complain.h"
#include "io/json_put.h"
#include "io/put_answer.h"
#include "model/timeline.h"
#include "plan/why.h"
#include "report/page.h"
#include "report/page_timeline.h"
#include "spec/field.h"
#include "spec/prefill_pool.h"
#include "spec/stage_list.h"
#include "validate/same_runs.h"

/* ---- Serving --------------------------------------------------------------------------------- */

/* Writes the parts of the page that only serving layouts have: their passes, and latency against
 * throughput. */

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
static void run_page_put_passes(calc_put *put, const calc_app *app, const calc_system *system,
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
static void run_page_put_concurrency(calc_put *put, const calc_app *app, const calc_system *system,
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

/* ---- The page -------------------------------------------------------------------------------- */

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
static calc_status put_more(calc_put *put, const calc_run_outcome *o, calc_errors *errors)
{
    calc_status status = CALC_OK;
    calc_exec exec;
    bool used = calc_inputs_own_stages(&o->inputs, &exec);
    size_t rates = used ? calc_resources_rates(&o->inputs.system) : 0;
    calc_put_array(put, "ten_percent_more", CALC_PUT_LINES);
    for (size_t i = 0; i < rates && status == CALC_OK; i++) {
        calc_run_outcome more = {.inputs = o->inputs, .compat = o->compat, .exact = o->exact};
        more.inputs.exec = exec;
        char text[CALC_RESOURCE_TEXT];
        if (!calc_resource_there(&o->inputs.system, i)) {
            continue;
        }
        calc_resource_grow(&more.inputs.system, i);
        status = calc_run_outcome_evaluate(&more, false, errors);
        calc_put_object(put, NULL, CALC_PUT_LINE);
        calc_put_text(put, "resource", calc_resource_text(&o->inputs.system, i, text));
        calc_put_number(put, "total_time", more.stats.total_time);
        calc_put_close(put);
    }
    calc_put_close(put);
    return status;
}

/* The best changes to make next; under Calculon's rules changes are not evaluated. */
static calc_status put_changes(calc_put *put, const calc_run_outcome *o, calc_errors *errors)
{
    const calc_inputs *in = &o->inputs;
    if (o->compat == CALC_COMPAT_NONE) {
        return calc_changes_put(put, "changes", &in->app, &in->system, &in->exec, errors);
    }
    calc_put_raw(put, "changes", "null");
    return CALC_OK;
}

/* The band if the machine or its family was measured, else null. */
static calc_status put_band(calc_put *put, const calc_run_outcome *o, calc_errors *errors)
{
    calc_run_band band = {0};
    char path[CALC_FIND_PATH_MAX];
    calc_errors ignored = {0};
    bool asked = o->compat == CALC_COMPAT_NONE && o->stats.verdict == CALC_VERDICT_OK &&
                 calc_is_yes(calc_find_data(CALC_FIND_RESIDUALS, path, &ignored));
    calc_status status = asked ? calc_run_band_make(&band, &o->inputs, errors) : CALC_OK;
    if (asked && status == CALC_OK && band.machine != CALC_RUN_BAND_MACHINE_UNMEASURED) {
        calc_run_band_put(put, &band, &o->stats);
    } else {
        calc_put_raw(put, "band", "null");
    }
    calc_run_band_free(&band);
    return status;
}

/* Published runs of the same sizes, and their times. */
static void put_measured(calc_put *put, const calc_run_outcome *o)
{
    enum { MOST = 8 };
    const calc_inputs *in = &o->inputs;
    calc_same_run same[MOST];
    calc_runs runs = {0};
    calc_errors ignored = {0};
    char path[CALC_FIND_PATH_MAX];
    bool there = o->compat == CALC_COMPAT_NONE &&
                 calc_is_yes(calc_find_data("measured/runs.csv", path, &ignored)) &&
                 calc_is_yes(calc_runs_read(&runs, path, NULL, &ignored));
    size_t count = there ? calc_same_runs_find(same, MOST, &runs, &in->app,
                                               in->input[CALC_KIND_SYSTEM].name, &in->exec)
                         : 0;
    calc_put_array(put, "measured", CALC_PUT_LINES);
    for (size_t i = 0; i < count && i < MOST; i++) {
        calc_put_object(put, NULL, CALC_PUT_LINE);
        calc_put_text(put, "id", same[i].row->id);
        calc_put_text(put, "source", same[i].source);
        calc_put_number(put, "step_s", same[i].step_s);
        calc_put_close(put);
    }
    calc_put_close(put);
    calc_runs_free(&runs);
}

/* System and recomputation of each stage, if stages list them; otherwise null. */
static void put_listed(calc_put *put, const calc_inputs *in)
{
    const calc_exec *e = &in->exec;
    const char *name = in->input[CALC_KIND_SYSTEM].name;
    char text[CALC_STAGE_WORDS_SIZE];
    calc_stage_run place[CALC_MAX_PLACES];
    if (e->stages.count == 0) {
        calc_put_raw(put, "listed", "null");
        return;
    }
    int64_t places = calc_stage_list_expand(&e->stages, place);
    calc_put_object(put, "listed", CALC_PUT_LINES);
    calc_put_text(put, "machine", calc_stage_words_machine(e, name, text));
    calc_put_array(put, "stages", CALC_PUT_LINES);
    for (int64_t stage = 0; stage < e->pipeline_par; stage++) {
        calc_exec own = *e;
        own.stages.count = 0;
        for (int64_t i = stage; i < places && own.stages.count < CALC_MAX_STAGE_RUNS;
             i += e->pipeline_par) {
            own.stages.run[own.stages.count++] = place[i];
        }
        int chip = place[stage].chip;
        calc_put_object(put, NULL, CALC_PUT_LINE);
        calc_put_text(put, "system", chip > 0 ? e->stages.name[chip - 1] : name);
        calc_put_text(put, "recompute", calc_stage_words_recompute(&own, text));
        calc_put_close(put);
    }
    calc_put_close(put);
    calc_put_close(put);
}

/* Time of operations by kind and the phases after the pipeline; null under Calculon's rules and
 * without a picture. */
static void put_step(calc_put *put, const calc_run_outcome *o, const calc_page_timeline *drawn)
{
    const calc_inputs *in = &o->inputs;
    calc_timeline t;
    if (drawn->count == 0 || o->compat != CALC_COMPAT_NONE || !in->exec.training) {
        calc_put_raw(put, "step", "null");
        return;
    }
    calc_timeline_of(&in->app, &in->system, &in->exec, o->compat, &t);
    calc_page_step_put(put, &t, drawn->end_s);
}

static calc_status write_page(calc_output *out, const calc_run_outcome *o, const calc_text *json,
                              const calc_text *plan, const calc_page_timeline *timeline,
                              calc_errors *errors)
{
    const calc_inputs *in = &o->inputs;
    bool ours = o->compat == CALC_COMPAT_NONE;
    calc_page page = plan ? CALC_PAGE_PLAN : CALC_PAGE_RUN;
    calc_put put = calc_page_begin(out, page);
    if (plan) {
        calc_put_key(&put, "plan");
        calc_output_write(out, plan->data, plan->length);
    }
    calc_put_key(&put, "run");
    if (json) {
        calc_output_write(out, json->data, json->length);
    } else {
        calc_run_write_json(out, o);
    }
    run_page_put_passes(&put, &in->app, &in->system, &in->exec, o->compat);
    run_page_put_concurrency(&put, &in->app, &in->system, &in->exec);
    calc_put_stages(&put, o->stage, o->stage_known);
    put_listed(&put, in);
    calc_breakdown_put_time(&put, "time", &o->stats);
    calc_breakdown_put_losses(&put, "losses", &o->stats);
    calc_breakdown_put_memory(&put, "memory1", &in->exec, &o->stats, 1, ours);
    calc_breakdown_put_memory(&put, "memory2", &in->exec, &o->stats, 2, ours);
    put_parameters(&put, &in->app);
    put_measured(&put, o);
    calc_status status = put_band(&put, o, errors);
    status = status == CALC_OK ? put_changes(&put, o, errors) : status;
    status = status == CALC_OK ? put_more(&put, o, errors) : status;
    calc_put_flag(&put, "ours", ours);
    calc_page_timeline_put(&put, timeline);
    put_step(&put, o, timeline);
    calc_page_end(&put, page);
    return status;
}

/* The timeline of the stages. Without backward passes there is no order to show. */
static calc_status make_timeline(calc_page_timeline *out, const calc_run_outcome *o,
                                 calc_errors *errors)
{
    const calc_inputs *in = &o->inputs;
    calc_timeline t;
    calc_timeline_of(&in->app, &in->system, &in->exec, o->compat, &t);
    if (!in->exec.training) {
        t.shape.kind = CALC_PIPELINE_SCHEDULE_GPIPE;
        t.shape.chunks = 1;
    }
    if (o->stage_known == 0) {
        t.shape.microbatches = (int64_t)o->stats.num_microbatches;
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

calc_status calc_run_page_write(const char *path, const calc_run_outcome *o, const calc_text *json,
                                const calc_text *plan, calc_errors *errors)
{
    calc_output *out = NULL;
    calc_page_timeline timeline = {0};
    calc_status status = make_timeline(&timeline, o, errors);
    status = status == CALC_OK ? calc_output_open(&out, path, errors) : status;
    if (status == CALC_OK) {
        status = write_page(out, o, json, plan, &timeline, errors);
        status = calc_output_end(out, status, errors);
    }
    calc_page_timeline_free(&timeline);
    return status;
}
