#include "cli/as/aiak_text.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "aiak/pipeline.h"
#include "base/error.h"
#include "cli/as/flags.h"
#include "cli/run/simulation.h"
#include "cli/shell/complain.h"
#include "cli/shell/inputs.h"
#include "io/json_put.h"
#include "spec/field.h"
#include "spec/stage_list.h"

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
            put_word(put, text->task->chip[chain->chip[i]]);
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
        put_word(put, text->task->chip[s->chain.chip[i]]);
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

/* A strategy as an execution that lists its stages. @return false if the list is too long */
static bool exec_of(const calc_aiak_text *text, const calc_aiak_strategy *strategy, calc_exec *out)
{
    const calc_aiak_task *task = text->task;
    const calc_aiak_chain *chain = &strategy->chain;
    calc_stage_run run[CALC_BALANCE_STAGES];
    int stage = 0;
    calc_aiak_exec(task, &strategy->sizes, CALC_BALANCE_NONE, out);
    for (int i = 0; i < chain->kinds; i++) {
        int chip = calc_stage_list_chip(&out->stages, text->task->chip[chain->chip[i]]);
        out->stages.system[chip - 1] = task->system[chain->chip[i]];
        for (int k = 0; k < chain->stages[i]; k++, stage++) {
            const calc_balance_share *share = &strategy->share[stage];
            int layers = share->layers[0] + share->layers[1],
                again = share->full[0] + share->full[1];
            run[stage] = (calc_stage_run){
                .places = 1,
                .blocks = (int16_t)layers,
                .recompute_blocks = (int16_t)(chain->selective[i] ? layers : again),
                .recompute = chain->selective[i] ? CALC_ACTIVATION_RECOMPUTE_ATTN_ONLY
                             : again > 0         ? CALC_ACTIVATION_RECOMPUTE_FULL
                                                 : CALC_STAGE_AS_EXEC,
                .chip = (int16_t)chip};
        }
    }
    return calc_stage_list_pack(run, stage, &out->stages);
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
    calc_status status = calc_as_make_folder("cache", errors);
    if (status != CALC_OK) {
        return status;
    }
    calc_inputs *in = calc_make(1, sizeof *in); /* too large for a stack */
    in->app = *text->task->app;
    in->system = *text->task->system[strategy->chain.chip[0]];
    const char *const names[] = {text->model, text->task->chip[strategy->chain.chip[0]], "aiak"};
    for (int kind = 0; kind < CALC_INPUTS; kind++) {
        snprintf(in->input[kind].name, sizeof in->input[kind].name, "%s", names[kind]);
    }
    snprintf(path, sizeof path, "cache/%s_%jd_pp%d_tp%d_mbs%d_rank%d.json", text->model,
             text->task->gpus, sizes->stages, sizes->tensor_par, sizes->microbatch, rank + 1);
    status =
        exec_of(text, strategy, &in->exec)
            ? calc_trace_write(path, in, 0, errors)
            : calc_errors_add(errors, CALC_ERR_RANGE, CALC_KIND_NONE, NULL, NULL,
                              "stages of more than %d kinds have no trace", CALC_MAX_STAGE_RUNS);
    free(in);
    return status;
}

enum { MULTIPLE = 512 /* for batches and sequences: sizes are multiples of it */ };

static const char *const node_sizes[] = {"8", NULL};
static const char *const modes[] = {"fast", "analytic", NULL};
static const char *const formats[] = {"text", "json", NULL};

#define FLAGS(X)                                                                                   \
    X(MODEL, "--model-name", "NAME", .choices = calc_aiak_models, .preset = "llama2-70b",          \
      .doc = "the model")                                                                          \
    X(GPUS, "--num-gpus", "N", CALC_OPT_IS_WHOLE(1, 1048576), .preset = "256",                     \
      .doc = "processors of the job, a multiple of 8 or fewer")                                    \
    X(INFOS, "--gpu-infos", "TYPE[:MAX],...", .preset = "a800",                                    \
      .doc = "kinds of chips, and how many of each there are at most; without a number or with "   \
             "-1 as many as are needed: a800, h800, h100, kunlun3, ascend_910b")                   \
    X(NODE, "--nproc-per-node", "N", .choices = node_sizes, .preset = "8",                         \
      .doc = "processors of a node")                                                               \
    X(BATCH, "--global-batch-size", "N", CALC_OPT_IS_WHOLE(512, 1048576), .preset = "1024",        \
      .doc = "sequences per step, a multiple of 512")                                              \
    X(SEQUENCE, "--sequence-length", "N", CALC_OPT_IS_WHOLE(512, 1048576), .preset = "4096",       \
      .doc = "tokens of a sequence, a multiple of 512")                                            \
    X(TOP, "--top", "N", CALC_OPT_IS_WHOLE(1, 1000), .preset = "5",                                \
      .doc = "strategies shown, those with the highest throughput")                                \
    X(MODE, "--mode", "MODE", .choices = modes, .preset = "fast",                                  \
      .doc = "analytic also writes a trace of each strategy to ./cache")                           \
    X(FORMAT, "--format", "FORMAT", .choices = formats, .preset = "text", .ours = true,            \
      .doc = "a Python literal per line, or JSON")                                                 \
    X(MODEL_FILE, "--model-file", "FILE", .ours = true,                                            \
      .doc = "a model of calc's instead: a path, or a name in models/")                            \
    X(CHIP_FILES, "--chip-files", "TYPE=FILE,...", .ours = true,                                   \
      .doc = "systems of calc's instead of its own: paths, or names in systems/")

CALC_OPTIONS(FLAGS);
static const calc_arg rows[] = {{0}};
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
    calc_aiak_task task;
    calc_aiak_text text;
    calc_aiak_strategy *best;
    char file[CALC_AIAK_CHIPS][CALC_FIND_PATH_MAX]; /* of --chip-files; "": none */
    int top;
    calc_aiak_found found;
} plan;

static bool check_numbers(plan *p, char *complaint, size_t size)
{
    static const int multiples[] = {OPT_BATCH, OPT_SEQUENCE};
    for (int i = 0; i < 2; i++) {
        int64_t value = (int64_t)calc_opt_real(p->flags, multiples[i]);
        if (value % MULTIPLE != 0) {
            snprintf(complaint, size, "%s: %jd is not a multiple of %d", opts[multiples[i]].name,
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
    if (calc_aiak_chips_parse(calc_opt_value(p->flags, OPT_INFOS), &p->task, why, sizeof why) &&
        calc_aiak_chips_suffice(&p->task, why, sizeof why)) {
        return true;
    }
    snprintf(complaint, size, "--gpu-infos: %s", why);
    return false;
}

/* Each TYPE=FILE of a list names a chip of the cluster; the first one of a chip counts. */
static bool take_files(plan *p, char *complaint, size_t size)
{
    const char *list = calc_opt_value(p->flags, OPT_CHIP_FILES);
    for (; list && *list; list += strcspn(list, ","), list += *list == ',') {
        int length = (int)strcspn(list, ","), named = (int)strcspn(list, "=,"), i = 0;
        while (i < p->task.chips &&
               (strncmp(list, p->task.chip[i], (size_t)named) != 0 || p->task.chip[i][named])) {
            i++;
        }
        if (i == p->task.chips || named + 1 >= length) {
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
    const char *chip = p->task.chip[i];
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
    const char *model = calc_opt_value(p->flags, OPT_MODEL);
    const char *given = calc_opt_value(p->flags, OPT_MODEL_FILE);
    char file[32];
    snprintf(file, sizeof file, "%.*sB", (int)strlen(model) - 1, model); /* llama-7B of llama-7b */
    calc_status status =
        calc_input_load(&p->input, CALC_KIND_APP, &p->app, given ? given : file, errors);
    p->task.app = &p->app;
    p->text.model = given ? "model" : model;
    for (int i = 0; i < p->task.chips && status == CALC_OK; i++) {
        status = load_chip(p, i, errors);
    }
    return status ? status : check_rules(p, errors);
}

static void write_best(const plan *p, calc_errors *errors)
{
    bool json = strcmp(calc_opt_value(p->flags, OPT_FORMAT), "json") == 0;
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
    bool traced = strcmp(calc_opt_value(p->flags, OPT_MODE), "analytic") == 0;
    calc_status status = load(p, &errors);
    if (status != CALC_OK) {
        return calc_complain_errors(&errors);
    }
    calc_aiak_search(&p->task, p->top, p->best, &p->found);
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
    int top = (int)calc_opt_real(flags, OPT_TOP);
    plan p = {.flags = flags,
              .best = calc_make((size_t)top, sizeof *p.best),
              .top = top,
              .task = {.gpus = (int64_t)calc_opt_real(flags, OPT_GPUS),
                       .batch = (int64_t)calc_opt_real(flags, OPT_BATCH),
                       .sequence = (int64_t)calc_opt_real(flags, OPT_SEQUENCE)}};
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
    CALC_COMMAND_PARTS};
