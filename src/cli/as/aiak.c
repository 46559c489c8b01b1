#include "cli/as/aiak_text.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "aiak/pipeline.h"
#include "base/error.h"
#include "cli/as/flags.h"
#include "cli/run/simulation.h"
#include "cli/shell/complain.h"
#include "cli/shell/inputs.h"
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

static void open_list(writer *w, const char *key)
{
    put_key(w, key);
    open_with(w, "[");
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
    open_list(w, "pipeline-stage-chips");
    for (int i = 0; i < chain->kinds; i++) {
        for (int k = 0; k < (chain->kinds > 1 ? chain->stages[i] : 1); k++) {
            put_text_or_none(w, w->text->chip[chain->chip[i]]);
        }
    }
    close_with(w, "]");
    if (chain->kinds == 1) {
        return;
    }
    open_list(w, "pipeline-stage-layers");
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
    open_list(w, "recompute-granularity");
    for (int i = 0; i < s->chain.kinds; i++) {
        put_text_or_none(w, s->chain.selective[i] ? "selective" : s->again[i] > 0 ? "full" : NULL);
    }
    close_with(w, "]");
    open_list(w, "recompute-method");
    for (int i = 0; i < s->chain.kinds; i++) {
        bool full = !s->chain.selective[i] && s->again[i] > 0;
        const char *how = s->all_again[i] ? "uniform" : "block";
        put_text_or_none(w, full ? how : NULL);
    }
    close_with(w, "]");
    open_list(w, "recompute-num-layers");
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
    open_list(&w, "chip-order"); /* of this list and those of recomputation */
    for (int i = 0; i < s->chain.kinds; i++) {
        put_text_or_none(&w, text->chip[s->chain.chip[i]]);
    }
    close_with(&w, "]");
    open_list(&w, "max-use-mem-size");
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
    /* Time [s] of the message that ends a pass: the time of the place minus the ends of the model.
     */
    int stage = e->stage;
    const calc_balance_place *place = &s->problem.place[stage];
    const calc_stage_terms *t = &s->chip[s->problem.stage[stage].chip].full->terms;
    bool first = stage == 0;
    bool last = stage == s->strategy->sizes.stages - 1;
    double ends_s = forward ? first * t->embedding.fw_s + last * t->head.fw_s
                            : first * t->embedding.agrad_s + last * t->head.agrad_s;
    double sent_s = (forward ? place->fw_s : place->agrad_s) - ends_s;
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

/* Simulates into s->events. @return pipeline time [s] */
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
    s->events.event = calc_make((size_t)s->events.capacity, sizeof *s->events.event);
    void *room = calc_make(1, calc_schedule_sim_bytes(&sim.shape));
    double pipeline_s = calc_schedule_sim_s(&sim, room, NULL, &s->events);
    free(room);
    return pipeline_s;
}

/* Writes ./cache/MODEL_GPUS_ppP_tpT_mbsB_rankN.json; creates the folder if needed.
 * @param rank  0 is the best
 * @return CALC_OK; CALC_ERR_IO, CALC_ERR_RANGE or CALC_ERR_NOMEM, with an error */
static calc_status calc_aiak_trace_write(const calc_aiak_text *text,
                                         const calc_aiak_strategy *strategy, int rank,
                                         calc_errors *errors)
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
    step *s = calc_make(1, sizeof *s);
    s->text = text;
    s->strategy = strategy;
    snprintf(path, sizeof path, "cache/%s_%lld_pp%d_tp%d_mbs%d_rank%d.json", text->model,
             (long long)text->task->gpus, sizes->stages, sizes->tensor_par, sizes->microbatch,
             rank + 1);
    bool made = mkdir("cache", 0777) == 0 || errno == EEXIST;
    calc_status status =
        made ? CALC_OK
             : calc_errors_add(errors, CALC_ERR_IO, CALC_KIND_NONE, NULL, NULL,
                               "cannot make the folder ./cache: %s", strerror(errno));
    double pipeline_s = made ? simulate(s) : 0;
    status = made ? calc_output_open(&s->trace.out, path, errors) : status;
    if (status == CALC_OK) {
        put_trace(s, pipeline_s);
        status = calc_output_close(s->trace.out, errors);
    }
    free(s->events.event);
    free(s);
    return status;
}

enum { MULTIPLE = 512 /* for batches and sequences: sizes are multiples of it */ };

static const char *const models[] = {
    "llama-7b",  "llama-65b",      "llama-175b",    "llama-540b",     "llama-1800b",
    "llama2-7b", "llama2-13b",     "llama2-70b",    "llama2-35b",     "glm-130b",
    "glm-67b",   "galactica-6.7b", "galactica-30b", "galactica-120b", NULL};
static const char *const node_sizes[] = {"8", NULL};
static const char *const modes[] = {"fast", "analytic", NULL};
static const char *const formats[] = {"text", "json", NULL};

#define FLAGS(X)                                                                                   \
    X(MODEL, "--model-name", "NAME", TEXT, .choices = models, .preset = "llama2-70b",              \
      .doc = "the model")                                                                          \
    X(GPUS, "--num-gpus", "N", WHOLE, .lo = 1, .hi = 1048576, .preset = "256",                     \
      .doc = "processors of the job, a multiple of 8 or fewer")                                    \
    X(INFOS, "--gpu-infos", "TYPE[:MAX],...", TEXT, .preset = "a800",                              \
      .doc = "kinds of chips, and how many of each there are at most; without a number or with "   \
             "-1 as many as are needed: a800, h800, h100, kunlun3, ascend_910b")                   \
    X(NODE, "--nproc-per-node", "N", TEXT, .choices = node_sizes, .preset = "8",                   \
      .doc = "processors of a node")                                                               \
    X(BATCH, "--global-batch-size", "N", WHOLE, .lo = 512, .hi = 1048576, .preset = "1024",        \
      .doc = "sequences per step, a multiple of 512")                                              \
    X(SEQUENCE, "--sequence-length", "N", WHOLE, .lo = 512, .hi = 1048576, .preset = "4096",       \
      .doc = "tokens of a sequence, a multiple of 512")                                            \
    X(TOP, "--top", "N", WHOLE, .lo = 1, .hi = 1000, .preset = "5",                                \
      .doc = "strategies shown, those with the highest throughput")                                \
    X(MODE, "--mode", "MODE", TEXT, .choices = modes, .preset = "fast",                            \
      .doc = "analytic also writes a trace of each strategy to ./cache")                           \
    X(FORMAT, "--format", "FORMAT", TEXT, .choices = formats, .preset = "text", .ours = true,      \
      .doc = "a Python literal per line, or JSON")                                                 \
    X(MODEL_FILE, "--model-file", "FILE", TEXT, .ours = true,                                      \
      .doc = "a model of calc's instead: a path, or a name in models/")                            \
    X(CHIP_FILES, "--chip-files", "TYPE=FILE,...", TEXT, .ours = true,                             \
      .doc = "systems of calc's instead of its own: paths, or names in systems/")

enum { FLAGS(CALC_FLAG_NUMBER_OF) };
static const calc_opt rows[] = {FLAGS(CALC_FLAG_ROW){0}};
static const char *const examples[] = {
    "calc as aiak --model-name llama2-70b --num-gpus 256 --gpu-infos a800:128,h800:160 "
    "--global-batch-size 512 --top 3",
    "calc as aiak --gpu-infos kunlun3 --chip-files kunlun3=p800.json --format json",
    "calc as aiak --num-gpus 64 --mode analytic --top 1", NULL};

/* Everything that a request needs. */
typedef struct plan {
    const calc_args *flags;
    calc_app app;
    calc_system system[CALC_AIAK_CHIPS];
    calc_input input;
    calc_aiak_gpus gpus;
    calc_aiak_task task;
    calc_aiak_text text;
    calc_aiak_strategy *best;
    int top;
    calc_aiak_found found;
} plan;

static bool check_numbers(plan *p, char *complaint, size_t size)
{
    static const int multiples[] = {FLAG_BATCH, FLAG_SEQUENCE};
    for (int i = 0; i < 2; i++) {
        int64_t value = (int64_t)calc_opt_real(p->flags, multiples[i]);
        if (value % MULTIPLE != 0) {
            snprintf(complaint, size, "%s: %lld is not a multiple of %d", rows[multiples[i]].name,
                     (long long)value, MULTIPLE);
            return false;
        }
    }
    if (p->task.gpus > CALC_AIAK_NODE && p->task.gpus % CALC_AIAK_NODE != 0) {
        snprintf(complaint, size, "--num-gpus: %lld is neither a multiple of %d nor fewer",
                 (long long)p->task.gpus, CALC_AIAK_NODE);
        return false;
    }
    return true;
}

static bool check_gpus(plan *p, char *complaint, size_t size)
{
    char why[256];
    if (calc_aiak_gpus_parse(calc_opt_value(p->flags, FLAG_INFOS), &p->gpus, why, sizeof why) &&
        calc_aiak_gpus_suffice(&p->gpus, p->task.gpus, why, sizeof why)) {
        return true;
    }
    snprintf(complaint, size, "--gpu-infos: %s", why);
    return false;
}

/* The file given for a chip in TYPE=FILE,...; NULL if the chip is not listed. */
static const char *file_of(const char *list, const char *chip, char *buffer, size_t size)
{
    size_t named = strlen(chip);
    for (; list && *list; list += strcspn(list, ","), list += *list == ',') {
        if (strncmp(list, chip, named) == 0 && list[named] == '=') {
            snprintf(buffer, size, "%.*s", (int)strcspn(list, ",") - (int)named - 1,
                     list + named + 1);
            return buffer;
        }
    }
    return NULL;
}

/* Checks that every TYPE=FILE names a chip of the cluster. */
static bool check_files(plan *p, char *complaint, size_t size)
{
    const char *list = calc_opt_value(p->flags, FLAG_CHIP_FILES);
    for (; list && *list; list += strcspn(list, ","), list += *list == ',') {
        bool known = false;
        for (int i = 0; i < p->gpus.count; i++) {
            size_t named = strlen(p->gpus.of[i].chip->name);
            known = known || (strncmp(list, p->gpus.of[i].chip->name, named) == 0 &&
                              list[named] == '=' && list[named + 1] && list[named + 1] != ',');
        }
        if (!known) {
            snprintf(complaint, size,
                     "--chip-files: \"%.*s\" is not TYPE=FILE of a type in "
                     "--gpu-infos",
                     (int)strcspn(list, ","), list);
            return false;
        }
    }
    return true;
}

static calc_status load_chip(plan *p, int i, calc_errors *errors)
{
    char file[CALC_FIND_PATH_MAX];
    const calc_aiak_gpu *gpu = &p->gpus.of[i];
    const char *given =
        file_of(calc_opt_value(p->flags, FLAG_CHIP_FILES), gpu->chip->name, file, sizeof file);
    calc_status status = calc_input_load(&p->input, CALC_KIND_SYSTEM, &p->system[i],
                                         given ? given : gpu->chip->file, errors);
    if (status != CALC_OK) {
        return status;
    }
    if (strstr(p->input.text.data, "\"Unverified")) {
        calc_say("calc as aiak: the numbers of %s are unverified placeholders: give a file "
                 "with --chip-files %s=FILE\n",
                 gpu->chip->name, gpu->chip->name);
    }
    /* The cluster grows to the requested number of processors. */
    calc_network *last = &p->system[i].networks[p->system[i].networks_count - 1];
    last->size = last->size < p->task.gpus ? p->task.gpus : last->size;
    p->task.system[i] = &p->system[i];
    p->task.most[i] = gpu->most;
    p->text.chip[i] = gpu->chip->name;
    return CALC_OK;
}

/* Checks calc's rules on the first sizes only: all sizes give the same verdict. */
static calc_status check_rules(plan *p, calc_errors *errors)
{
    calc_aiak_sizes sizes;
    calc_exec exec;
    calc_status status = CALC_OK;
    if (p->app.num_experts > 0) {
        return calc_errors_add(errors, CALC_ERR_UNSUPPORTED, CALC_KIND_APP, "/num_experts",
                               "take a dense model", "AIAK's strategies have no experts");
    }
    if (calc_aiak_sizes_list(&p->task, &sizes, 1) == 0) {
        return CALC_OK;
    }
    calc_aiak_exec(&p->task, &sizes, CALC_BALANCE_NONE, &exec);
    for (int i = 0; i < p->task.chips && status == CALC_OK; i++) {
        status = calc_check(&p->app, &p->system[i], &exec, errors);
    }
    return status;
}

static calc_status load(plan *p, calc_errors *errors)
{
    const char *model = calc_opt_value(p->flags, FLAG_MODEL);
    const char *given = calc_opt_value(p->flags, FLAG_MODEL_FILE);
    const char *file = given ? given : calc_aiak_find(calc_aiak_models, model)->file;
    calc_status status = calc_input_load(&p->input, CALC_KIND_APP, &p->app, file, errors);
    p->task.app = &p->app;
    p->text.model = given ? "model" : model;
    for (int i = 0; i < p->gpus.count && status == CALC_OK; i++) {
        status = load_chip(p, i, errors);
    }
    p->task.chips = p->gpus.count;
    return status == CALC_OK ? check_rules(p, errors) : status;
}

static calc_status write_best(const plan *p, calc_errors *errors)
{
    bool json = strcmp(calc_opt_value(p->flags, FLAG_FORMAT), "json") == 0;
    calc_output *out = calc_write_to("-");
    calc_output_text(out, json ? "[" : "");
    for (int i = 0; i < p->found.count; i++) {
        calc_output_text(out, !json ? "" : i ? ",\n " : "\n ");
        calc_aiak_text_put(out, &p->text, &p->best[i], json);
        calc_output_text(out, json ? "" : "\n");
    }
    calc_output_text(out, json ? "\n]\n" : "");
    return calc_output_close(out, errors);
}

static calc_exit tell_none(const plan *p)
{
    if (p->found.candidates == 0) {
        calc_say("calc as aiak: no sizes are legal: replicas must divide the batch into as "
                 "many micro-batches as there are stages, tensor-parallel ranks the heads, "
                 "and stages of one kind of chips the layers\n");
    } else {
        calc_say("calc as aiak: no strategy fits: all of %lld need more memory than there "
                 "is; take more processors, or shorter sequences\n",
                 (long long)p->found.candidates);
    }
    return CALC_EXIT_INFEASIBLE;
}

static calc_exit answer(plan *p)
{
    calc_errors errors = {0};
    bool traced = strcmp(calc_opt_value(p->flags, FLAG_MODE), "analytic") == 0;
    calc_status status = load(p, &errors);
    status = status == CALC_OK && calc_aiak_search(&p->task, p->top, p->best, &p->found) != CALC_OK
                 ? calc_errors_add(&errors, CALC_ERR_NOMEM, CALC_KIND_NONE, NULL, NULL,
                                   "not enough memory to search")
                 : status;
    if (status == CALC_OK && p->found.count == 0) {
        return tell_none(p);
    }
    if (status == CALC_OK && p->found.cut) {
        calc_say("calc as aiak: so many mixes of chips are possible that not all were "
                 "tried: name fewer, or say how many there are\n");
    }
    calc_shape shape = {0};
    if (status == CALC_OK) {
        calc_exec exec;
        calc_aiak_exec(&p->task, &p->best[0].sizes, CALC_BALANCE_NONE, &exec);
        shape = calc_shape_of(&p->app, &exec.strategy, 1, exec.seq_size);
        p->text.rms = shape.rms;
        p->text.rope = shape.rope;
    }
    for (int i = 0; i < p->found.count && traced && status == CALC_OK; i++) {
        status = calc_aiak_trace_write(&p->text, &p->best[i], i, &errors);
    }
    if (status == CALC_OK) {
        write_best(p, &errors);
    }
    return calc_complain_errors(&errors);
}

static calc_exit run(const calc_args *flags)
{
    char complaint[512];
    calc_exit code;
    plan *p = calc_make(1, sizeof *p);
    p->flags = flags;
    p->top = (int)calc_opt_real(flags, FLAG_TOP);
    p->best = calc_make((size_t)p->top, sizeof *p->best);
    p->task.gpus = (int64_t)calc_opt_real(flags, FLAG_GPUS);
    p->task.batch = (int64_t)calc_opt_real(flags, FLAG_BATCH);
    p->task.sequence = (int64_t)calc_opt_real(flags, FLAG_SEQUENCE);
    p->text.task = &p->task;
    bool good = check_numbers(p, complaint, sizeof complaint) &&
                check_gpus(p, complaint, sizeof complaint) &&
                check_files(p, complaint, sizeof complaint);
    code = good ? answer(p) : calc_complain_usage(flags->command, complaint);
    calc_text_free(&p->input.text);
    free(p->best);
    free(p);
    return code;
}

const calc_command calc_as_aiak = {
    .name = "as aiak",
    .theirs = "main.py",
    .summary = "the fastest strategies of a cluster, of one kind of chips or several",
    .detail = "Finds pipeline and tensor parallelism, micro-batches, the chips and layers of each "
              "stage and the recomputation of each kind of chips with the highest throughput, and "
              "prints them as AIAK's planner does. Times and memory are calc's.",
    .args = (const calc_arg[]){{0}},
    .opts = rows,
    .examples = examples,
    .run = run};
