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
#include "io/json_put.h"
#include "spec/field.h"

int64_t calc_aiak_throughput(int64_t batch, int64_t sequence, double total_s)
{
    return (int64_t)ceil((double)batch * (double)sequence / total_s);
}

/* Adds ".0" if needed: Python prints a float with a point or an exponent. */
static void put_float(calc_put *put, const char *key, double value)
{
    char number[40];
    calc_number_text(value, 1, number);
    calc_put_raw(put, key, strcat(number, strpbrk(number, ".e") ? "" : ".0"));
}

static void put_word(calc_put *put, const char *word)
{
    if (word) {
        calc_put_text(put, NULL, word);
    } else {
        calc_put_raw(put, NULL, "null");
    }
}

static void put_stages(calc_put *put, const calc_aiak_text *text, const calc_aiak_strategy *s)
{
    const calc_aiak_chain *chain = &s->chain;
    calc_putf(put, "pipeline-stage-chips: [");
    for (int i = 0; i < chain->kinds; i++) {
        for (int k = 0; k < (chain->kinds > 1 ? chain->stages[i] : 1); k++) {
            put_word(put, text->chip[chain->chip[i]]);
        }
    }
    calc_put_close(put);
    if (chain->kinds > 1) {
        calc_putf(put, "pipeline-stage-layers: [");
        for (int i = 0; i < s->sizes.stages; i++) {
            calc_put_count(put, NULL, s->layers[i]);
        }
        calc_put_close(put);
    }
    /* Megatron-LM's terms: "block" recomputes the first layers of a stage, "uniform" all. */
    calc_putf(put, "recompute-granularity: [");
    for (int i = 0; i < chain->kinds; i++) {
        put_word(put, chain->selective[i] ? "selective" : s->again[i] > 0 ? "full" : NULL);
    }
    calc_putf(put, "], recompute-method: [");
    for (int i = 0; i < chain->kinds; i++) {
        bool full = !chain->selective[i] && s->again[i] > 0;
        put_word(put, !full ? NULL : s->all_again[i] ? "uniform" : "block");
    }
    calc_putf(put, "], recompute-num-layers: [");
    for (int i = 0; i < chain->kinds; i++) {
        if (chain->selective[i] || s->again[i] == 0) {
            put_word(put, NULL);
        } else {
            calc_put_count(put, NULL, s->all_again[i] ? 1 : s->again[i]);
        }
    }
    calc_put_close(put);
}

static void put_strategy(calc_put *put, const calc_aiak_text *text, const calc_aiak_strategy *s)
{
    const calc_aiak_task *task = text->task;
    const calc_aiak_sizes *sizes = &s->sizes;
    /* Switches that are on have an empty text, and those that are off are not there. */
    const struct {
        const char *key;
        bool on;
    } switches[] = {{"use-flash-attn", true},
                    {"sequence-parallel", sizes->tensor_par > 1},
                    {"use-distributed-optimizer", sizes->data_par > 1},
                    {"fused-rmsnorm", text->rms},
                    {"apply-rotary-positional-embedding-kernel", text->rope}};
    calc_putf(put, "{sim_throughput: %jd",
              calc_aiak_throughput(task->batch, task->sequence, s->step.total_s));
    put_float(put, "sim_total_time_s", s->step.total_s);
    calc_putf(put, "chip-order: ["); /* of this list and those of recomputation */
    for (int i = 0; i < s->chain.kinds; i++) {
        put_word(put, text->chip[s->chain.chip[i]]);
    }
    calc_putf(put, "], max-use-mem-size: [");
    for (int i = 0; i < s->chain.kinds; i++) {
        put_float(put, NULL, s->most_bytes[i] / 0x1p30);
    }
    calc_putf(put,
              "], strategy: {pipeline-model-parallel-size: %d, tensor-model-parallel-size: %d, "
              "micro-batch-size: %d",
              sizes->stages, sizes->tensor_par, sizes->microbatch);
    for (size_t i = 0; i < sizeof switches / sizeof *switches; i++) {
        if (switches[i].on) {
            calc_put_text(put, switches[i].key, "");
        }
    }
    put_stages(put, text, s);
    calc_putf(put, "}}");
}

void calc_aiak_text_put(calc_output *out, const calc_aiak_text *text, const calc_aiak_strategy *s,
                        bool json)
{
    calc_text made = {0};
    calc_output *memory = calc_write_to_memory(&made);
    calc_put put = {.out = memory, .flat = true};
    put_strategy(&put, text, s);
    (void)calc_is_yes(calc_output_close(memory, NULL));
    for (char *at = made.data; !json && *at; at++) {
        if (strncmp(at, "null", 4) == 0) {
            memcpy(at, "None", 4);
        }
        *at = *at == '"' ? '\'' : *at; /* no name has a quote in it */
    }
    calc_output_text(out, made.data);
    calc_text_free(&made);
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

/* One slice of a micro-batch. */
static void put_pass(step *s, const calc_schedule_event *e, int thread, const char *what,
                     double start_s, double end_s)
{
    int64_t start_ns = calc_trace_ns(start_s), end_ns = calc_trace_ns(end_s);
    if (end_ns <= start_ns) {
        return;
    }
    calc_output_printf(s->trace.out,
                       ",\n{\"ph\":\"X\",\"name\":\"%s %d\",\"cat\":\"%s\",\"pid\":%d,\"tid\":%d,"
                       "\"ts\":%jd.%03jd,\"dur\":%jd.%03jd,\"args\":{\"layers\":%d,"
                       "\"microbatch\":%d}}",
                       what, e->microbatch, what, e->stage, thread, (start_ns / 1000),
                       (start_ns % 1000), ((end_ns - start_ns) / 1000),
                       ((end_ns - start_ns) % 1000), s->strategy->layers[e->stage], e->microbatch);
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
    const calc_balance_place *place = &s->problem.place[e->stage];
    const calc_stage_terms *t = &s->chip[s->problem.stage[e->stage].chip].full->terms;
    bool first = e->stage == 0, last = e->stage == s->strategy->sizes.stages - 1;
    double ends_s = forward ? first * t->embedding.fw_s + last * t->head.fw_s
                            : first * t->embedding.agrad_s + last * t->head.agrad_s;
    double sent_s = (forward ? place->fw_s : place->agrad_s) - ends_s;
    double done_s = e->end_s - (sent_s > 0 ? sent_s : 0);
    double again_s = forward ? 0 : recompute_s(s, e->stage);
    put_pass(s, e, THREAD_COMPUTE, "recompute", e->start_s, e->start_s + again_s);
    put_pass(s, e, THREAD_COMPUTE, forward ? "F" : "B", e->start_s + again_s, done_s);
    put_pass(s, e, THREAD_P2P, forward ? "send" : "send back", done_s, e->end_s);
}

/* Stragglers, reduction of gradients and gathering of weights, optimizer, and other time per step.
 * Each phase starts when all stages have finished the one before. */
static void put_end(step *s, int stage, double pipeline_s)
{
    const calc_balance_step *whole = &s->strategy->step;
    calc_balance_end end = calc_balance_end_of(s->chip, &s->problem, s->strategy->share, stage);
    calc_trace_track collective = {stage, THREAD_COLLECTIVE};
    calc_trace_track compute = {stage, THREAD_COMPUTE};
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

static void put_trace(step *s, double pipeline_s)
{
    static const char *const threads[] = {"compute", "p2p", "collective"};
    const calc_aiak_strategy *strategy = s->strategy;
    int live[CALC_BALANCE_STAGES] = {0};
    calc_output_text(s->trace.out, "{\"displayTimeUnit\":\"ms\",\"otherData\":");
    calc_aiak_text_put(s->trace.out, s->text, strategy, true);
    calc_output_text(s->trace.out, ",\n\"traceEvents\":[");
    for (int i = 0; i < strategy->sizes.stages; i++) {
        char name[64];
        int chip = strategy->chain.chip[s->problem.stage[i].chip];
        snprintf(name, sizeof name, "stage %d %s", i, s->text->chip[chip]);
        calc_trace_process(&s->trace, i, name);
        for (int k = 0; k < 3; k++) {
            calc_trace_thread(&s->trace, (calc_trace_track){i, THREAD_COMPUTE + k}, threads[k]);
        }
    }
    for (int64_t i = 0; i < s->events.count; i++) {
        put_event(s, &s->events.event[i]);
        /* Counts activations in flight: a forward pass adds one and its backward pass removes it.
         */
        bool forward = s->events.event[i].kind == CALC_SCHEDULE_FW;
        const calc_balance_stage *stage = &s->problem.stage[s->events.event[i].stage];
        const calc_balance_share *share = &s->strategy->share[s->events.event[i].stage];
        live[s->events.event[i].stage] += forward ? 1 : -1;
        double bytes = stage->fixed_bytes +
                       (share->full[0] + share->full[1] > 0 ? stage->working_bytes : 0) +
                       calc_balance_held_bytes(&s->problem, s->events.event[i].stage, share) +
                       live[s->events.event[i].stage] *
                           calc_balance_flight_bytes(&s->problem, s->events.event[i].stage, share);
        calc_trace_counter(&s->trace, s->events.event[i].stage, "memory", "GiB",
                           forward ? s->events.event[i].start_s : s->events.event[i].end_s,
                           bytes / 0x1p30);
    }
    for (int i = 0; i < strategy->sizes.stages; i++) {
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
 * @return CALC_OK; CALC_ERR_IO or CALC_ERR_RANGE with an error */
static calc_status write_trace(const calc_aiak_text *text, const calc_aiak_strategy *strategy,
                               int rank, calc_errors *errors)
{
    char path[256];
    const calc_aiak_sizes *sizes = &strategy->sizes;
    int64_t microbatches = text->task->batch / (sizes->data_par * sizes->microbatch);
    if (microbatches * sizes->stages > CALC_AIAK_TRACE_PASSES) {
        return calc_errors_add(errors, CALC_ERR_RANGE, CALC_KIND_NONE, NULL,
                               "lower --global-batch-size, or leave --mode analytic out",
                               "a trace of %jd micro-batches on %d stages is too long",
                               microbatches, sizes->stages);
    }
    if (mkdir("cache", 0777) != 0 && errno != EEXIST) {
        return calc_errors_add(errors, CALC_ERR_IO, CALC_KIND_NONE, NULL, NULL,
                               "cannot make the folder ./cache: %s", strerror(errno));
    }
    step *s = calc_make(1, sizeof *s); /* too large for a stack */
    s->text = text;
    s->strategy = strategy;
    double pipeline_s = simulate(s);
    snprintf(path, sizeof path, "cache/%s_%jd_pp%d_tp%d_mbs%d_rank%d.json", text->model,
             text->task->gpus, sizes->stages, sizes->tensor_par, sizes->microbatch, rank + 1);
    s->trace.out = calc_write_to(path);
    put_trace(s, pipeline_s);
    calc_status status = calc_output_close(s->trace.out, errors);
    free(s->events.event);
    free(s);
    return status;
}

enum { MULTIPLE = 512 /* for batches and sequences: sizes are multiples of it */ };

static const char *const node_sizes[] = {"8", NULL};
static const char *const modes[] = {"fast", "analytic", NULL};
static const char *const formats[] = {"text", "json", NULL};

#define FLAGS(X)                                                                                   \
    X(MODEL, "--model-name", "NAME", TEXT, .choices = calc_aiak_models, .preset = "llama2-70b",    \
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
    char file[CALC_AIAK_CHIPS][CALC_FIND_PATH_MAX]; /* of --chip-files; "": none */
    int top;
    calc_aiak_found found;
} plan;

static bool check_numbers(plan *p, char *complaint, size_t size)
{
    static const int multiples[] = {FLAG_BATCH, FLAG_SEQUENCE};
    for (int i = 0; i < 2; i++) {
        int64_t value = (int64_t)calc_opt_real(p->flags, multiples[i]);
        if (value % MULTIPLE != 0) {
            snprintf(complaint, size, "%s: %jd is not a multiple of %d", rows[multiples[i]].name,
                     value, MULTIPLE);
            return false;
        }
    }
    if (p->task.gpus > CALC_AIAK_NODE && p->task.gpus % CALC_AIAK_NODE != 0) {
        snprintf(complaint, size, "--num-gpus: %jd is neither a multiple of %d nor fewer",
                 p->task.gpus, CALC_AIAK_NODE);
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

/* Each TYPE=FILE of a list names a chip of the cluster; the first one of a chip counts. */
static bool take_files(plan *p, char *complaint, size_t size)
{
    const char *list = calc_opt_value(p->flags, FLAG_CHIP_FILES);
    for (; list && *list; list += strcspn(list, ","), list += *list == ',') {
        int length = (int)strcspn(list, ","), named = (int)strcspn(list, "=,"), i = 0;
        while (i < p->gpus.count && (strncmp(list, p->gpus.of[i].chip, (size_t)named) != 0 ||
                                     p->gpus.of[i].chip[named])) {
            i++;
        }
        if (i == p->gpus.count || named + 1 >= length) {
            snprintf(complaint, size,
                     "--chip-files: \"%.*s\" is not TYPE=FILE of a type in --gpu-infos", length,
                     list);
            return false;
        }
        if (!*p->file[i]) {
            snprintf(p->file[i], sizeof p->file[i], "%.*s", length - named - 1, list + named + 1);
        }
    }
    return true;
}

static calc_status load_chip(plan *p, int i, calc_errors *errors)
{
    const char *chip = p->gpus.of[i].chip;
    const char *own = strcmp(chip, "h100") == 0 ? "h100_sxm" : chip;
    calc_status status = calc_input_load(&p->input, CALC_KIND_SYSTEM, &p->system[i],
                                         *p->file[i] ? p->file[i] : own, errors);
    if (status != CALC_OK) {
        return status;
    }
    if (strstr(p->input.text.data, "\"Unverified")) {
        calc_say("calc as aiak: the numbers of %s are unverified placeholders: give a file "
                 "with --chip-files %s=FILE\n",
                 chip, chip);
    }
    /* The cluster grows to the requested number of processors. */
    calc_network *last = &p->system[i].networks[p->system[i].networks_count - 1];
    last->size = last->size < p->task.gpus ? p->task.gpus : last->size;
    p->task.system[i] = &p->system[i];
    p->task.most[i] = p->gpus.of[i].most;
    p->text.chip[i] = chip;
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
    char file[32];
    snprintf(file, sizeof file, "%.*sB", (int)strlen(model) - 1, model); /* llama-7B of llama-7b */
    calc_status status =
        calc_input_load(&p->input, CALC_KIND_APP, &p->app, given ? given : file, errors);
    p->task.app = &p->app;
    p->text.model = given ? "model" : model;
    for (int i = 0; i < p->gpus.count && status == CALC_OK; i++) {
        status = load_chip(p, i, errors);
    }
    p->task.chips = p->gpus.count;
    return status ? status : check_rules(p, errors);
}

static void write_best(const plan *p, calc_errors *errors)
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
    (void)!calc_output_close(out, errors);
}

static calc_exit answer(plan *p)
{
    calc_errors errors = {0};
    bool traced = strcmp(calc_opt_value(p->flags, FLAG_MODE), "analytic") == 0;
    calc_status status = load(p, &errors);
    if (status != CALC_OK) {
        return calc_complain_errors(&errors);
    }
    (void)calc_is_yes(calc_aiak_search(&p->task, p->top, p->best, &p->found));
    if (p->found.count == 0) {
        if (p->found.candidates == 0) {
            calc_say("calc as aiak: no sizes are legal: replicas must divide the batch into as "
                     "many micro-batches as there are stages, tensor-parallel ranks the heads, "
                     "and stages of one kind of chips the layers\n");
        } else {
            calc_say("calc as aiak: no strategy fits: all of %jd need more memory than there "
                     "is; take more processors, or shorter sequences\n",
                     p->found.candidates);
        }
        return CALC_EXIT_INFEASIBLE;
    }
    if (p->found.cut) {
        calc_say("calc as aiak: so many mixes of chips are possible that not all were "
                 "tried: name fewer, or say how many there are\n");
    }
    calc_exec exec;
    calc_aiak_exec(&p->task, &p->best[0].sizes, CALC_BALANCE_NONE, &exec);
    const calc_shape shape = calc_shape_of(&p->app, &exec.strategy, 1, exec.seq_size);
    p->text.rms = shape.rms;
    p->text.rope = shape.rope;
    for (int i = 0; i < p->found.count && traced && status == CALC_OK; i++) {
        status = write_trace(&p->text, &p->best[i], i, &errors);
    }
    if (status == CALC_OK) {
        write_best(p, &errors);
    }
    return calc_complain_errors(&errors);
}

static calc_exit run(const calc_args *flags)
{
    char complaint[512];
    int top = (int)calc_opt_real(flags, FLAG_TOP);
    plan p = {.flags = flags,
              .best = calc_make((size_t)top, sizeof *p.best),
              .top = top,
              .task = {.gpus = (int64_t)calc_opt_real(flags, FLAG_GPUS),
                       .batch = (int64_t)calc_opt_real(flags, FLAG_BATCH),
                       .sequence = (int64_t)calc_opt_real(flags, FLAG_SEQUENCE)}};
    p.text.task = &p.task;
    bool good = check_numbers(&p, complaint, sizeof complaint) &&
                check_gpus(&p, complaint, sizeof complaint) &&
                take_files(&p, complaint, sizeof complaint);
    calc_exit code = good ? answer(&p) : calc_complain_usage(flags->command, complaint);
    calc_text_free(&p.input.text);
    free(p.best);
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
