#include "cli/as/aiak_text.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/error.h"
#include "cli/run/trace_out.h"
#include "spec/field.h"

int64_t calc_aiak_throughput(int64_t batch, int64_t sequence, double total_s)
{
    return (int64_t)ceil((double)batch * (double)sequence / total_s);
}

typedef struct writer {
    calc_output *out;
    const calc_aiak_text *text;
    const calc_aiak_strategy *strategy;
    bool json;
    bool begun; /* a member or an element needs a comma before it */
} writer;

static void comma(writer *w)
{
    calc_output_text(w->out, w->begun ? ", " : "");
    w->begun = true;
}

static void put_text(const writer *w, const char *text)
{
    const char *quote = w->json ? "\"" : "'";
    calc_output_printf(w->out, "%s%s%s", quote, text, quote);
}

static void put_key(writer *w, const char *key)
{
    comma(w);
    put_text(w, key);
    calc_output_text(w->out, ": ");
}

/* Adds ".0" if needed: Python prints a float with a point or an exponent. */
static void put_float(const writer *w, double value)
{
    char number[32];
    calc_number_text(value, 1, number);
    calc_output_printf(w->out, "%s%s", number, strpbrk(number, ".e") ? "" : ".0");
}

static void open_with(writer *w, const char *bracket)
{
    calc_output_text(w->out, bracket);
    w->begun = false;
}

static void close_with(writer *w, const char *bracket)
{
    calc_output_text(w->out, bracket);
    w->begun = true;
}

static void put_count(writer *w, const char *key, int64_t value)
{
    put_key(w, key);
    calc_output_printf(w->out, "%lld", (long long)value);
}

/* Writes an empty text for a switch that is on, and nothing for one that is off. */
static void put_switch(writer *w, const char *key, bool on)
{
    if (on) {
        put_key(w, key);
        put_text(w, "");
    }
}

static void put_text_or_none(writer *w, const char *text)
{
    comma(w);
    if (text) {
        put_text(w, text);
    } else {
        calc_output_text(w->out, w->json ? "null" : "None");
    }
}

static void put_stages(writer *w)
{
    const calc_aiak_strategy *s = w->strategy;
    const calc_aiak_chain *chain = &s->chain;
    put_key(w, "pipeline-stage-chips");
    open_with(w, "[");
    for (int i = 0; i < chain->kinds; i++) {
        for (int k = 0; k < (chain->kinds > 1 ? chain->stages[i] : 1); k++) {
            put_text_or_none(w, w->text->chip[chain->chip[i]]);
        }
    }
    close_with(w, "]");
    if (chain->kinds == 1) {
        return;
    }
    put_key(w, "pipeline-stage-layers");
    open_with(w, "[");
    for (int i = 0; i < s->sizes.stages; i++) {
        comma(w);
        calc_output_printf(w->out, "%d", s->layers[i]);
    }
    close_with(w, "]");
}

/* Megatron-LM's terms: "block" recomputes the first layers of a stage, "uniform" recomputes all. */
static void put_recompute(writer *w)
{
    const calc_aiak_strategy *s = w->strategy;
    put_key(w, "recompute-granularity");
    open_with(w, "[");
    for (int i = 0; i < s->chain.kinds; i++) {
        put_text_or_none(w, s->chain.selective[i] ? "selective" : s->again[i] > 0 ? "full" : NULL);
    }
    close_with(w, "]");
    put_key(w, "recompute-method");
    open_with(w, "[");
    for (int i = 0; i < s->chain.kinds; i++) {
        bool full = !s->chain.selective[i] && s->again[i] > 0;
        const char *how = s->all_again[i] ? "uniform" : "block";
        put_text_or_none(w, full ? how : NULL);
    }
    close_with(w, "]");
    put_key(w, "recompute-num-layers");
    open_with(w, "[");
    for (int i = 0; i < s->chain.kinds; i++) {
        if (s->chain.selective[i] || s->again[i] == 0) {
            put_text_or_none(w, NULL);
        } else {
            comma(w);
            calc_output_printf(w->out, "%d", s->all_again[i] ? 1 : s->again[i]);
        }
    }
    close_with(w, "]");
}

static void put_strategy(writer *w)
{
    const calc_aiak_sizes *sizes = &w->strategy->sizes;
    put_key(w, "strategy");
    open_with(w, "{");
    put_count(w, "pipeline-model-parallel-size", sizes->stages);
    put_count(w, "tensor-model-parallel-size", sizes->tensor_par);
    put_count(w, "micro-batch-size", sizes->microbatch);
    put_switch(w, "use-flash-attn", true);
    put_switch(w, "sequence-parallel", sizes->tensor_par > 1);
    put_switch(w, "use-distributed-optimizer", sizes->data_par > 1);
    put_switch(w, "fused-rmsnorm", w->text->rms);
    put_switch(w, "apply-rotary-positional-embedding-kernel", w->text->rope);
    put_stages(w);
    put_recompute(w);
    close_with(w, "}");
}

void calc_aiak_text_put(calc_output *out, const calc_aiak_text *text, const calc_aiak_strategy *s,
                        bool json)
{
    writer w = {out, text, s, json, false};
    const calc_aiak_task *task = text->task;
    open_with(&w, "{");
    put_count(&w, "sim_throughput",
              calc_aiak_throughput(task->batch, task->sequence, s->step.total_s));
    put_key(&w, "sim_total_time_s");
    put_float(&w, s->step.total_s);
    put_key(&w, "max-use-mem-size");
    open_with(&w, "[");
    for (int i = 0; i < s->chain.kinds; i++) {
        comma(&w);
        put_float(&w, s->most_bytes[i] / 0x1p30);
    }
    close_with(&w, "]");
    put_strategy(&w);
    close_with(&w, "}");
}

enum { THREAD_COMPUTE = 1, THREAD_P2P, THREAD_COLLECTIVE };

/* A strategy, simulated once more for its trace. */
typedef struct step {
    const calc_aiak_text *text;
    const calc_aiak_strategy *strategy;
    calc_aiak_layouts layouts;
    calc_balance_chip chip[CALC_AIAK_CHIPS];
    calc_balance_problem problem;
    calc_schedule_pass pass[CALC_BALANCE_STAGES];
    calc_schedule_events events;
    calc_trace_out trace;
} step;

/* ---- Stages ---------------------------------------------------------------------------------- */

static calc_trace_track track_of(int stage, int thread)
{
    return (calc_trace_track){stage, thread};
}

/* One slice of a micro-batch. */
static void put_pass(step *s, const calc_schedule_event *e, int thread, const char *what,
                     double start_s, double end_s)
{
    int64_t start_ns = calc_trace_ns(start_s);
    int64_t end_ns = calc_trace_ns(end_s);
    if (end_ns <= start_ns) {
        return;
    }
    calc_output_printf(s->trace.out,
                       ",\n{\"ph\":\"X\",\"name\":\"%s %d\",\"cat\":\"%s\",\"pid\":%d,\"tid\":%d,"
                       "\"ts\":%lld.%03lld,\"dur\":%lld.%03lld,\"args\":{\"layers\":%d,"
                       "\"microbatch\":%d}}",
                       what, e->microbatch, what, e->stage, thread, (long long)(start_ns / 1000),
                       (long long)(start_ns % 1000), (long long)((end_ns - start_ns) / 1000),
                       (long long)((end_ns - start_ns) % 1000), s->strategy->layers[e->stage],
                       e->microbatch);
    s->trace.count++;
}

/* Time [s] of the message that ends a pass: the time of the place minus the ends of the model. */
static double message_s(const step *s, int stage, bool forward)
{
    const calc_balance_place *place = &s->problem.place[stage];
    const calc_stage_terms *t = &s->chip[s->problem.stage[stage].chip].full->terms;
    bool first = stage == 0;
    bool last = stage == s->strategy->sizes.stages - 1;
    double ends_s = forward ? first * t->embedding.fw_s + last * t->head.fw_s
                            : first * t->embedding.agrad_s + last * t->head.agrad_s;
    return (forward ? place->fw_s : place->agrad_s) - ends_s;
}

static double recompute_s(const step *s, int stage)
{
    const calc_balance_share *share = &s->strategy->share[stage];
    int chip = s->problem.stage[stage].chip;
    double all_s = 0;
    for (int kind = 0; kind < CALC_BALANCE_KINDS; kind++) {
        const calc_layout *some = s->chip[chip].selective;
        all_s += some ? share->layers[kind] * some->terms.block[kind].spared_s
                      : share->full[kind] * s->problem.layer[chip][kind].again_s[CALC_BALANCE_FULL];
    }
    return all_s;
}

static void put_event(step *s, const calc_schedule_event *e)
{
    bool forward = e->kind == CALC_SCHEDULE_FW;
    double sent_s = message_s(s, e->stage, forward);
    double done_s = e->end_s - (sent_s > 0 ? sent_s : 0);
    double again_s = forward ? 0 : recompute_s(s, e->stage);
    put_pass(s, e, THREAD_COMPUTE, "recompute", e->start_s, e->start_s + again_s);
    put_pass(s, e, THREAD_COMPUTE, forward ? "F" : "B", e->start_s + again_s, done_s);
    put_pass(s, e, THREAD_P2P, forward ? "send" : "send back", done_s, e->end_s);
}

/* Counts activations in flight: a forward pass adds one and its backward pass removes it. */
static void put_memory(step *s, const calc_schedule_event *e, int *live)
{
    bool forward = e->kind == CALC_SCHEDULE_FW;
    const calc_balance_stage *stage = &s->problem.stage[e->stage];
    const calc_balance_share *share = &s->strategy->share[e->stage];
    live[e->stage] += forward ? 1 : -1;
    double bytes = stage->fixed_bytes +
                   (share->full[0] + share->full[1] > 0 ? stage->working_bytes : 0) +
                   calc_balance_held_bytes(&s->problem, e->stage, share) +
                   live[e->stage] * calc_balance_flight_bytes(&s->problem, e->stage, share);
    calc_trace_counter(&s->trace, e->stage, "memory", "GiB", forward ? e->start_s : e->end_s,
                       bytes / 0x1p30);
}

/* Stragglers, reduction of gradients and gathering of weights, optimizer, and other time per step.
 * Each phase starts when all stages have finished the one before. */
static void put_end(step *s, int stage, double pipeline_s)
{
    const calc_balance_step *whole = &s->strategy->step;
    calc_balance_end end = calc_balance_end_of(s->chip, &s->problem, s->strategy->share, stage);
    calc_trace_track collective = track_of(stage, THREAD_COLLECTIVE);
    calc_trace_track compute = track_of(stage, THREAD_COMPUTE);
    bool ends = stage == 0 || stage == s->strategy->sizes.stages - 1;
    double at_s = pipeline_s + whole->straggler_s;
    calc_trace_slice(&s->trace, collective, "stragglers", "wait", pipeline_s, at_s);
    if (ends) {
        calc_trace_slice(&s->trace, collective, "tied embeddings", "collective", at_s,
                         at_s + whole->tied_s);
    }
    at_s += whole->tied_s;
    calc_trace_slice(&s->trace, collective, "gradients and weights", "collective", at_s,
                     at_s + end.reduction_s);
    at_s += whole->reduction_s;
    calc_trace_slice(&s->trace, compute, "optimizer", "optimizer", at_s, at_s + end.optimizer_s);
    at_s += whole->optimizer_s;
    calc_trace_slice(&s->trace, compute, "overhead", "overhead", at_s, at_s + whole->overhead_s);
}

static void put_names(step *s)
{
    const calc_aiak_strategy *strategy = s->strategy;
    for (int i = 0; i < strategy->sizes.stages; i++) {
        char name[64];
        int chip = strategy->chain.chip[s->problem.stage[i].chip];
        snprintf(name, sizeof name, "stage %d %s", i, s->text->chip[chip]);
        calc_trace_process(&s->trace, i, name);
        calc_trace_thread(&s->trace, track_of(i, THREAD_COMPUTE), "compute");
        calc_trace_thread(&s->trace, track_of(i, THREAD_P2P), "p2p");
        calc_trace_thread(&s->trace, track_of(i, THREAD_COLLECTIVE), "collective");
    }
}

static void put_trace(step *s, double pipeline_s)
{
    int live[CALC_BALANCE_STAGES] = {0};
    calc_output_text(s->trace.out, "{\"displayTimeUnit\":\"ms\",\"otherData\":");
    calc_aiak_text_put(s->trace.out, s->text, s->strategy, true);
    calc_output_text(s->trace.out, ",\n\"traceEvents\":[");
    put_names(s);
    for (int64_t i = 0; i < s->events.count; i++) {
        put_event(s, &s->events.event[i]);
        put_memory(s, &s->events.event[i], live);
    }
    for (int i = 0; i < s->strategy->sizes.stages; i++) {
        put_end(s, i, pipeline_s);
    }
    calc_output_text(s->trace.out, "\n]}\n");
}

/* ---- The file -------------------------------------------------------------------------------- */

static calc_status make_folder(calc_errors *errors)
{
    if (mkdir("cache", 0777) == 0 || errno == EEXIST) {
        return CALC_OK;
    }
    return calc_errors_add(errors, CALC_ERR_IO, CALC_KIND_NONE, NULL, NULL,
                           "cannot make the folder ./cache: %s", strerror(errno));
}

/* Simulates into s->events. @return pipeline time [s], negative if memory ran out */
static double simulate(step *s)
{
    const calc_aiak_strategy *strategy = s->strategy;
    calc_aiak_layouts_of(s->text->task, &strategy->sizes, &s->layouts);
    calc_aiak_chips_of(&s->layouts, &strategy->chain, s->chip);
    (void)calc_aiak_problem(s->text->task, &s->layouts, &strategy->chain, &s->problem);
    for (int i = 0; i < strategy->sizes.stages; i++) {
        s->pass[i] = calc_balance_pass_of(&s->problem, i, &strategy->share[i]);
    }
    calc_schedule_sim sim = {.shape = s->problem.shape, .pass = s->pass};
    s->events.capacity = 2 * sim.shape.stages * sim.shape.microbatches;
    s->events.event = malloc((size_t)s->events.capacity * sizeof *s->events.event);
    void *room = malloc(calc_schedule_sim_bytes(&sim.shape));
    double pipeline_s = -1;
    if (s->events.event && room) {
        pipeline_s = calc_schedule_sim_s(&sim, room, NULL, &s->events);
    }
    free(room);
    return pipeline_s;
}

static calc_status write_file(step *s, const char *path, calc_errors *errors)
{
    double pipeline_s = simulate(s);
    if (pipeline_s < 0) {
        return calc_errors_add(errors, CALC_ERR_NOMEM, CALC_KIND_NONE, NULL, NULL,
                               "not enough memory for a trace");
    }
    calc_status status = calc_output_open(&s->trace.out, path, errors);
    if (status != CALC_OK) {
        return status;
    }
    put_trace(s, pipeline_s);
    return calc_output_close(s->trace.out, errors);
}

calc_status calc_aiak_trace_write(const calc_aiak_text *text, const calc_aiak_strategy *strategy,
                                  int rank, calc_errors *errors)
{
    char path[256];
    const calc_aiak_sizes *sizes = &strategy->sizes;
    int64_t microbatches = text->task->batch / (sizes->data_par * sizes->microbatch);
    if (microbatches * sizes->stages > CALC_AIAK_TRACE_PASSES) {
        return calc_errors_add(errors, CALC_ERR_RANGE, CALC_KIND_NONE, NULL,
                               "lower --global-batch-size, or leave --mode analytic out",
                               "a trace of %lld micro-batches on %d stages is too long",
                               (long long)microbatches, sizes->stages);
    }
    step *s = calloc(1, sizeof *s);
    if (!s) {
        return calc_errors_add(errors, CALC_ERR_NOMEM, CALC_KIND_NONE, NULL, NULL,
                               "not enough memory for a trace");
    }
    s->text = text;
    s->strategy = strategy;
    snprintf(path, sizeof path, "cache/%s_%lld_pp%d_tp%d_mbs%d_rank%d.json", text->model,
             (long long)text->task->gpus, sizes->stages, sizes->tensor_par, sizes->microbatch,
             rank + 1);
    calc_status status = make_folder(errors);
    status = status == CALC_OK ? write_file(s, path, errors) : status;
    free(s->events.event);
    free(s);
    return status;
}
