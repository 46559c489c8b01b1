#include "report/run_data.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/buffer.h"
#include "base/error.h"
#include "formats/export.h"
#include "io/json_put.h"
#include "model/operators/processor.h"
#include "model/timeline.h"
#include "plan/why.h"
#include "spec/field.h"
#include "spec/serving_engine.h"
#include "spec/stage_list.h"
#include "spec/value_text.h"

static const struct {
    const char *label;
    size_t member;
} times[CALC_BREAKDOWN_TIMES] = {
#define CALC_X(label, member, kind) {label, offsetof(calc_stats, member)},
    CALC_BREAKDOWN_TIME_LIST(CALC_X)
#undef CALC_X
};

static const char *const space_labels[CALC_BREAKDOWN_SPACES] = {
    "weights",   "activations", "checkpoints", "activation gradients",   "weight gradients",
    "optimizer", "head",        "framework",   "fragmentation, reserve", "cached keys and values",
};

const char *calc_breakdown_time_label(size_t part)
{
    return times[part].label;
}

const char *calc_breakdown_space_label(size_t part)
{
    return space_labels[part];
}

const char *calc_breakdown_space_name(size_t part, bool ours)
{
    enum { AT_HAND = 3 };
    return ours && part == AT_HAND ? "block at hand" : space_labels[part];
}

void calc_breakdown_times(const calc_stats *s, double time_s[CALC_BREAKDOWN_TIMES])
{
    for (size_t i = 0; i < CALC_BREAKDOWN_TIMES; i++) {
        time_s[i] = *(const double *)(const void *)((const char *)s + times[i].member);
    }
}

void calc_breakdown_spaces(const calc_exec *exec, const calc_stats *s, int tier,
                           double space_bytes[CALC_BREAKDOWN_SPACES])
{
    bool weights = exec->strategy.weight_offload;
    bool modules = exec->strategy.offload_modules != 0;
    bool activations = exec->strategy.activations_offload || modules;
    bool optimizer = exec->strategy.optimizer_offload;
    bool full = exec->strategy.activation_recompute == CALC_ACTIVATION_RECOMPUTE_FULL;
    double share = exec->strategy.offload_share > 0 ? exec->strategy.offload_share : 1;
    /* Gradients are offloaded with the state only where the model computes which part of them
     * stays. */
    bool gradients = optimizer && !isnan(s->act_grad_space_with_offload);
    const double tier1[CALC_BREAKDOWN_SPACES] = {
        weights ? s->weight_space_with_offload : s->weight_space,
        activations ? s->act_space_with_offload : s->act_space,
        !activations ? s->act_checkpoint_size
        : full       ? s->act_checkpoint_size_with_offload
                     : 0,
        s->act_grad_space,
        optimizer ? s->weight_grad_space_with_offload : s->weight_grad_space,
        optimizer ? s->optimizer_space_with_offload : s->optimizer_space,
        s->head_space,
        s->framework_space,
        s->mem_overhead,
        s->kv_cache_space,
    };
    const double tier2[CALC_BREAKDOWN_SPACES] = {
        weights ? s->weight_space * share : 0,
        modules                ? s->act_space - s->act_space_with_offload
        : activations && !full ? s->act_space * share
                               : 0,
        activations && full ? s->act_checkpoint_size * share : 0,
        0,
        optimizer && exec->strategy.grad_offload ? s->weight_grad_space * share
        : gradients                              ? s->block_weight_grad_space * s->blocks_per_proc
                                                 : 0,
        optimizer ? s->optimizer_space * share : 0,
    };
    memcpy(space_bytes, tier == 1 ? tier1 : tier2, sizeof tier1);
}

/* ---- Losses of peak performance -------------------------------------------------------------- */

static const char *const loss_labels[CALC_BREAKDOWN_LOSSES] = {
    "kernels below peak",   "recomputation", "exposed communication", "offload", "pipeline bubble",
    "waiting for the host", "optimizer",     "stragglers, overhead",
};

void calc_breakdown_losses(const calc_stats *s, double share[CALC_BREAKDOWN_LOSSES])
{
    const double lost_s[CALC_BREAKDOWN_LOSSES] = {
        s->fw_time + s->bw_time + s->head_time - s->model_flops_utilization * s->total_time,
        s->recompute_time,
        s->recomm_exposed_time + s->tp_comm_exposed_time + s->cp_comm_exposed_time +
            s->ep_comm_exposed_time + s->pp_comm_exposed_time + s->dp_comm_exposed_time,
        s->fw_offload_exposed_time + s->bw_offload_exposed_time,
        s->bubble_time,
        s->host_time,
        s->optim_step_time,
        s->straggler_time + s->overhead_time,
    };
    for (int i = 0; i < CALC_BREAKDOWN_LOSSES; i++) {
        share[i] = lost_s[i] / s->total_time;
    }
}

/* ---- JSON ------------------------------------------------------------------------------------ */

static void put_part(calc_put *put, const char *label, double value)
{
    if (value != 0 && isfinite(value)) {
        calc_put_number(put, label, value);
    }
}

void calc_breakdown_put_time(calc_put *put, const char *key, const calc_stats *stats)
{
    double time_s[CALC_BREAKDOWN_TIMES];
    calc_breakdown_times(stats, time_s);
    calc_put_object(put, key, CALC_PUT_LINE);
    for (size_t i = 0; i < CALC_BREAKDOWN_TIMES; i++) {
        put_part(put, times[i].label, time_s[i]);
    }
    calc_put_close(put);
}

void calc_breakdown_put_memory(calc_put *put, const char *key, const calc_exec *exec,
                               const calc_stats *stats, int tier, bool ours)
{
    double space_bytes[CALC_BREAKDOWN_SPACES];
    calc_breakdown_spaces(exec, stats, tier, space_bytes);
    calc_put_object(put, key, CALC_PUT_LINE);
    for (size_t i = 0; i < CALC_BREAKDOWN_SPACES; i++) {
        put_part(put, calc_breakdown_space_name(i, ours), space_bytes[i]);
    }
    calc_put_close(put);
}

/* Statistics that a page compares: time and memory; for serving, latency and throughput. */
static const char stat_keys[] =
    "total_time proc_mem_tier1_cap_req proc_mem_tier2_cap_req sample_rate request_time "
    "output_tokens_per_s";

/* The last members of the open object. */
static void put_stats(calc_put *put, const char *keys, const calc_stats *stats)
{
    for (size_t length; (length = calc_next_word(&keys, " ")) > 0;) {
        const char *key = CALC_TEXT(64, "%.*s", (int)length, keys - length);
        const calc_field *field = calc_table_find(calc_table_of(CALC_KIND_STATS), key);
        calc_put_number(put, field->key,
                        calc_member_number(field, (const char *)stats + field->offset));
    }
    calc_put_close(put);
}

/* An assignment in the form of --set. */
static void put_assignment(void *context, const char *path, const calc_field *field,
                           const char *from, const char *to)
{
    (void)field, (void)from;
    calc_put_text(context, NULL, CALC_TEXT(CALC_VALUE_TEXT + 64, "%s=%s", path, to));
}

calc_status calc_changes_put(calc_put *put, const char *key, const calc_app *app,
                             const calc_system *system, const calc_exec *exec, calc_errors *errors)
{
    calc_why *why = malloc(sizeof *why);
    if (!why) {
        return calc_errors_no_memory(errors);
    }
    bool starts;
    calc_status status = calc_export_starts(app, system, exec, NULL, &starts);
    calc_why_find(app, system, exec, why);
    calc_put_object(put, key, CALC_PUT_LINES);
    calc_putf(put, "tried: %zu, items: [\n", (size_t)why->tried);
    for (size_t i = 0; i < why->count; i++) {
        const calc_why_change *change = &why->change[i];
        calc_stats stats;
        bool does = true;
        calc_run(app, system, &change->exec, CALC_COMPAT_NONE, &stats);
        status = status == CALC_OK && starts
                     ? calc_export_starts(app, system, &change->exec, NULL, &does)
                     : status;
        calc_putf(put, "{change: %s, set: [", change->text);
        calc_value_differences(CALC_KIND_EXEC, exec, &change->exec, put_assignment, put);
        calc_putf(put, "], starts?: %d, stats: {", does);
        put_stats(put, stat_keys, &stats);
        calc_put_close(put);
    }
    calc_putf(put, "]}");
    free(why);
    return status == CALC_ERR_NOMEM ? calc_errors_no_memory(errors) : status;
}

/* At most three operations per micro-batch and chunk: forward and two gradients. */
static double events_of(const calc_schedule_shape *shape)
{
    return 3.0 * (double)shape->stages * (double)shape->chunks * (double)shape->microbatches;
}

/* Drops rounds of the steady state until the rest can be shown. */
static bool shorten(calc_schedule_shape *shape)
{
    int64_t round = 2 * shape->stages;
    calc_schedule_shape least = *shape;
    if (events_of(shape) <= CALC_TIMELINE_EVENTS) {
        return true;
    }
    least.microbatches = shape->microbatches < round ? shape->microbatches : round;
    if (events_of(&least) > CALC_TIMELINE_MOST) {
        return false;
    }
    int64_t rounds = CALC_TIMELINE_EVENTS / (3 * shape->stages * shape->chunks * round);
    if (round * rounds > least.microbatches) {
        least.microbatches = round * rounds;
    }
    *shape = least;
    return true;
}

/* Runs the schedule. @return false: out of memory */
static bool simulate(calc_page_timeline *out, const calc_schedule_pass *pass)
{
    calc_schedule_events events = {.capacity = (int64_t)events_of(&out->shape)};
    void *workspace = malloc(calc_schedule_sim_bytes(&out->shape));
    out->event = calloc((size_t)events.capacity, sizeof *out->event);
    out->reason = "its stages have no finite time";
    bool room = workspace && out->event;
    if (room) {
        events.event = out->event;
        const calc_schedule_sim sim = {.shape = out->shape, .pass = pass};
        out->end_s = calc_schedule_sim_s(&sim, workspace, NULL, &events);
        bool timed = isfinite(out->end_s) && out->end_s > 0;
        out->count = timed ? (size_t)events.count : 0;
        out->reason = timed ? NULL : out->reason;
    }
    free(workspace);
    return room;
}

calc_status calc_page_timeline_make(calc_page_timeline *out, const calc_schedule_shape *shape,
                                    const calc_schedule_pass *pass, calc_errors *errors)
{
    out->shape = *shape;
    out->microbatches = shape->microbatches;
    if (!pass) {
        out->reason = "the stages of this layout are not known";
        return CALC_OK;
    }
    calc_schedule_status fits = calc_schedule_check(&out->shape);
    if (fits != CALC_SCHEDULE_OK) {
        out->reason = calc_schedule_status_text(fits);
        return CALC_OK;
    }
    if (!shorten(&out->shape)) {
        out->reason = "there are too many operations to show";
        return CALC_OK;
    }
    return simulate(out, pass) ? CALC_OK : calc_errors_no_memory(errors);
}

/* ---- Writing --------------------------------------------------------------------------------- */

/* Precision of the drawn times: 1 ns up to 1 s, and 10 ns up to 100 s. */
enum { DIGITS = 10 };

/* Kinds in the order of calc_schedule_op_kind. */
static const char *const columns[] = {"stage", "kind", "chunk", "microbatch", "start", "dur"};

/* Writes the member "timeline" of the open object: shape and arrays of equal length, or the reason
 * why there is none. */
static void calc_page_timeline_put(calc_put *put, const calc_page_timeline *t)
{
    calc_putf(put,
              "timeline: {\nschedule: %s, stages: %jd, chunks: %jd, microbatches: %jd, shown: %jd, "
              "end_s: %g",
              calc_pipeline_schedule_names[t->shape.kind], (intmax_t)t->shape.stages,
              (intmax_t)t->shape.chunks, (intmax_t)t->microbatches, (intmax_t)t->shape.microbatches,
              t->count > 0 ? t->end_s : 0);
    if (t->reason) {
        calc_put_text(put, "reason", t->reason);
    }
    for (size_t c = 0; c < sizeof columns / sizeof *columns; c++) {
        calc_put_array(put, columns[c], CALC_PUT_LINE);
        for (size_t i = 0; i < t->count; i++) {
            const calc_schedule_event *e = &t->event[i];
            const double values[] = {e->stage,      e->kind,    e->chunk,
                                     e->microbatch, e->start_s, e->end_s - e->start_s};
            calc_put_rounded(put, NULL, values[c], DIGITS);
        }
        calc_put_close(put);
    }
    calc_put_close(put);
}

CALC_FREES(calc_page_timeline_free, calc_page_timeline, of->event)

enum { PAGE_STEP_DIGITS = 7 };

static void put_spent(calc_put *put, const char *key, const double *spent_s)
{
    calc_put_array(put, key, CALC_PUT_LINE);
    for (int i = 0; i < CALC_SPENT_PARTS; i++) {
        calc_put_rounded(put, NULL, spent_s[i], PAGE_STEP_DIGITS);
    }
    calc_put_close(put);
}

static void put_stage_passes(calc_put *put, const calc_timeline *t, int64_t stage)
{
    calc_put_array(put, "passes", CALC_PUT_LINE);
    for (int64_t chunk = 0; chunk < calc_schedule_held(&t->shape); chunk++) {
        calc_stage_spent spent;
        calc_timeline_spent_of(t, stage, chunk, &spent);
        calc_put_object(put, NULL, CALC_PUT_LINE);
        put_spent(put, "fw", spent.fw_s);
        put_spent(put, "bw", spent.bw_s);
        put_spent(put, "wgrad", spent.wgrad_s);
        calc_put_close(put);
    }
    calc_put_close(put);
}

/* @return end of the last phase [s] */
static double put_after(calc_put *put, const calc_timeline *t, int64_t stage, double pipeline_s)
{
    calc_timeline_slice slice[CALC_TIMELINE_AFTER];
    double end_s = pipeline_s;
    calc_timeline_after(t, stage, pipeline_s, pipeline_s * t->growth, slice);
    calc_put_array(put, "after", CALC_PUT_LINE);
    for (int i = 0; i < CALC_TIMELINE_AFTER; i++) {
        const calc_timeline_slice *s = &slice[i];
        if (s->end_s > s->start_s) {
            calc_putf(put, "{name: %s, link?: %d, start: %g, end: %g}", s->name, s->link,
                      s->start_s, s->end_s);
            end_s = calc_max(end_s, s->end_s);
        }
    }
    calc_put_close(put);
    return end_s;
}

void calc_page_step_put(calc_put *put, const calc_timeline *t, double pipeline_s)
{
    double end_s = 0;
    calc_putf(put, "step: {\nparts: [");
    for (int i = 0; i < CALC_SPENT_PARTS; i++) {
        calc_put_text(put, NULL, calc_spent_part_text((calc_spent_part)i));
    }
    calc_putf(put, "], stages: [\n");
    for (int64_t stage = 0; stage < t->shape.stages; stage++) {
        calc_timeline_memory memory = calc_timeline_memory_of(t, stage);
        calc_put_object(put, NULL, CALC_PUT_LINE);
        put_stage_passes(put, t, stage);
        end_s = calc_max(end_s, put_after(put, t, stage, pipeline_s));
        calc_putf(put, "fixed: %g, flight: %g}", memory.fixed_bytes, memory.flight_bytes);
    }
    calc_putf(put, "], overhead_s: %g, end_s: %g}", t->overhead_s, end_s + t->overhead_s);
}

/* ---- Passes ---------------------------------------------------------------------------------- */

static void put_pass(calc_put *put, const char *name, const calc_run_data *d,
                     const calc_system *system, const calc_exec *exec)
{
    calc_layer_stats layer[CALC_MAX_LAYERS];
    calc_putf(put, "{\nname: %s", name);
    calc_put_layers(put, layer,
                    calc_layers(d->app, system, exec, d->compat, layer, CALC_MAX_LAYERS));
    calc_put_close(put);
}

/* The member "passes" of the open object, each with its name and its operators: a decoding step
 * and the prefill of a layout that serves, as far as its phase has them; otherwise one pass of a
 * micro-batch. */
static void put_passes(calc_put *put, const calc_run_data *d)
{
    const calc_exec *exec = d->exec;
    calc_inference_phase phase = exec->inference.phase;
    bool decodes = phase != CALC_INFERENCE_PHASE_NONE && phase != CALC_INFERENCE_PHASE_PREFILL;
    calc_put_array(put, "passes", CALC_PUT_LINES);
    if (phase == CALC_INFERENCE_PHASE_NONE) {
        put_pass(put, "micro-batch", d, d->system, exec);
    }
    if (decodes) {
        put_pass(put, "decoding step", d, d->system, exec);
    }
    if (phase != CALC_INFERENCE_PHASE_NONE && phase != CALC_INFERENCE_PHASE_DECODE) {
        calc_exec prefill = *exec; /* from which its operators are listed */
        if (phase == CALC_INFERENCE_PHASE_DISAGGREGATED) {
            calc_prefill_pool_of(exec, &prefill);
        }
        prefill.inference.phase = CALC_INFERENCE_PHASE_PREFILL;
        put_pass(put, exec->inference.chunk_size > 0 ? "chunk of a prompt" : "prompt", d,
                 calc_prefill_pool_system(d->system, exec), &prefill);
    }
    calc_put_close(put);
}

/* ---- Concurrency ----------------------------------------------------------------------------- */

enum { POINTS = 40 /* at most */ };

static const char serving_keys[] =
    "ttft ttft_p99 tpot request_time prefill_time tokens_per_s requests_per_s "
    "output_tokens_per_s max_batch output_tokens_per_s_per_proc total_time "
    "proc_mem_tier1_cap_req";

/* The layout with so many requests, if that is allowed. @return whether it can run */
static bool put_point(calc_put *put, const calc_run_data *d, const calc_exec *exec, double requests,
                      calc_stats *stats)
{
    calc_errors ignored = {0};
    if (calc_check(d->app, d->system, exec, &ignored) != CALC_OK ||
        calc_run(d->app, d->system, exec, CALC_COMPAT_NONE, stats) != CALC_VERDICT_OK) {
        return false;
    }
    calc_putf(put, "{requests: %g", requests);
    put_stats(put, serving_keys, stats);
    return true;
}

/* Requests in flight: powers of two per replica, and the layout's own number between them. */
static void put_batches(calc_put *put, const calc_run_data *d)
{
    const calc_exec *exec = d->exec;
    int64_t own = exec->inference.batch > 0 ? exec->inference.batch : exec->batch_size;
    int64_t batch = exec->strategy.data_par;
    calc_exec e = *exec;
    calc_stats stats = {.max_batch = INFINITY};
    for (int i = 0; i < POINTS && (batch <= own || (double)batch <= 2 * stats.max_batch); i++) {
        int64_t next = 2 * batch;
        if (batch < own && own < next) {
            e.inference.batch = batch;
            (void)put_point(put, d, &e, (double)batch, &stats);
            batch = own;
        }
        e.inference.batch = batch;
        if (!put_point(put, d, &e, (double)batch, &stats)) {
            break;
        }
        batch = next;
    }
}

/* Arrival rates of requests [1/s]: steps of the square root of two around the layout's own rate, up
 * to the first that exceeds the service rate, where the queue grows for ever. */
static void put_rates(calc_put *put, const calc_run_data *d)
{
    const calc_exec *exec = d->exec;
    enum { BELOW = 6 };
    calc_exec e = *exec;
    calc_stats stats = {0};
    for (int i = 0; i < POINTS; i++) {
        e.inference.arrival_rate = exec->inference.arrival_rate * pow(2, 0.5 * (i - BELOW));
        if (!put_point(put, d, &e, e.inference.arrival_rate, &stats) || !isfinite(stats.ttft)) {
            break;
        }
    }
}

/* The member "concurrency": the layout with fewer and more requests, in flight or arriving per
 * second, up to twice the number that fit in memory, or until arrivals exceed the service rate;
 * null without inference. Waiting times are in closed form. */
static void put_concurrency(calc_put *put, const calc_run_data *d)
{
    const calc_inference *i = &d->exec->inference;
    if (i->phase == CALC_INFERENCE_PHASE_NONE) {
        calc_put_raw(put, "concurrency", "null");
        return;
    }
    bool open = i->arrival_rate > 0;
    calc_putf(put, "concurrency: {\nby: %s, points: [\n", open ? "arrival_rate" : "batch");
    (open ? put_rates : put_batches)(put, d);
    calc_putf(put, "]}");
}

/* ---- All of it ------------------------------------------------------------------------------- */

/* The time of a step with each rate raised by 10 %. */
static calc_status put_more(calc_put *put, const calc_run_data *d, calc_errors *errors)
{
    calc_status status = CALC_OK;
    calc_exec own; /* whose stages follow changes of the system */
    size_t rates =
        calc_stage_list_own(d->exec, d->system, &own) ? calc_resources_rates(d->system) : 0;
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
            status = d->run(d->context, &more, &own, &stats, errors);
        } else {
            calc_run(d->app, &more, &own, d->compat, &stats);
        }
        calc_putf(put, "{resource: %s, total_time: %g}",
                  calc_resource_text(d->system, i, true, text), stats.total_time);
    }
    calc_put_close(put);
    return status;
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
    put_passes(put, d);
    put_concurrency(put, d);
    calc_put_stages(put, d->stage, d->stages);
    calc_breakdown_put_time(put, "time", d->stats);
    /* Write the losses as a JSON object of label and share, in their order; null where they are not
     * known. */
    double share[CALC_BREAKDOWN_LOSSES];
    calc_breakdown_losses(d->stats, share);
    calc_put_object(put, "losses", CALC_PUT_LINE);
    for (int i = 0; i < CALC_BREAKDOWN_LOSSES; i++) {
        calc_put_number(put, loss_labels[i], share[i]);
    }
    calc_put_close(put);
    calc_breakdown_put_memory(put, "memory1", d->exec, d->stats, 1, ours);
    calc_breakdown_put_memory(put, "memory2", d->exec, d->stats, 2, ours);
    calc_parameters p;
    calc_count_parameters(d->app, &p);
    calc_putf(put, "parameters: {total: %g, active: %g}, ours?: %d", p.total, p.active, ours);
    calc_status status = CALC_OK;
    if (ours) { /* under Calculon's rules changes are not evaluated */
        status = calc_changes_put(put, "changes", d->app, d->system, d->exec, errors);
    } else {
        calc_put_raw(put, "changes", "null");
    }
    status = status == CALC_OK ? put_more(put, d, errors) : status;
    return status == CALC_OK ? put_pipeline(put, d, errors) : status;
}
