#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "aiak/gpus.h"
#include "aiak/pipeline.h"
#include "base/error.h"
#include "cli/as/aiak_text.h"
#include "cli/as/flags.h"
#include "cli/shell/complain.h"
#include "cli/shell/inputs.h"

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
static const calc_flag rows[] = {FLAGS(CALC_FLAG_ROW){0}};
static const char *const examples[] = {
    "calc as aiak --model-name llama2-70b --num-gpus 256 --gpu-infos a800:128,h800:160 "
    "--global-batch-size 512 --top 3",
    "calc as aiak --gpu-infos kunlun3 --chip-files kunlun3=p800.json --format json",
    "calc as aiak --num-gpus 64 --mode analytic --top 1", NULL};

/* Everything that a request needs. */
typedef struct plan {
    const calc_flags *flags;
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

/* ---- The request ----------------------------------------------------------------------------- */

static bool check_numbers(plan *p, char *complaint, size_t size)
{
    static const int multiples[] = {FLAG_BATCH, FLAG_SEQUENCE};
    for (int i = 0; i < 2; i++) {
        int64_t value = (int64_t)calc_flags_number(p->flags, multiples[i]);
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
    if (calc_aiak_gpus_parse(calc_flags_text(p->flags, FLAG_INFOS), &p->gpus, why, sizeof why) &&
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
    const char *list = calc_flags_text(p->flags, FLAG_CHIP_FILES);
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

/* ---- Documents ------------------------------------------------------------------------------- */

static calc_status load_chip(plan *p, int i, calc_errors *errors)
{
    char file[CALC_FIND_PATH_MAX];
    const calc_aiak_gpu *gpu = &p->gpus.of[i];
    const char *given =
        file_of(calc_flags_text(p->flags, FLAG_CHIP_FILES), gpu->chip->name, file, sizeof file);
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
    const char *model = calc_flags_text(p->flags, FLAG_MODEL);
    const char *given = calc_flags_text(p->flags, FLAG_MODEL_FILE);
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

/* ---- The answer ------------------------------------------------------------------------------ */

static calc_status write_best(const plan *p, calc_errors *errors)
{
    calc_output *out;
    bool json = strcmp(calc_flags_text(p->flags, FLAG_FORMAT), "json") == 0;
    calc_status status = calc_output_open(&out, "-", errors);
    if (status != CALC_OK) {
        return status;
    }
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
    bool traced = strcmp(calc_flags_text(p->flags, FLAG_MODE), "analytic") == 0;
    calc_status status = load(p, &errors);
    if (status == CALC_OK && calc_aiak_search(&p->task, p->top, p->best, &p->found) != CALC_OK) {
        status = calc_errors_add(&errors, CALC_ERR_NOMEM, CALC_KIND_NONE, NULL, NULL,
                                 "not enough memory to search");
    }
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

static calc_exit run(const calc_flags *flags)
{
    char complaint[512];
    calc_exit code;
    plan *p = calloc(1, sizeof *p);
    int top = (int)calc_flags_number(flags, FLAG_TOP);
    calc_aiak_strategy *best = calloc((size_t)top, sizeof *best);
    if (!p || !best) {
        free(best);
        free(p);
        calc_errors errors = {0};
        calc_errors_add(&errors, CALC_ERR_NOMEM, CALC_KIND_NONE, NULL, NULL, "not enough memory");
        return calc_complain_errors(&errors);
    }
    p->flags = flags;
    p->best = best;
    p->top = top;
    p->task.gpus = (int64_t)calc_flags_number(flags, FLAG_GPUS);
    p->task.batch = (int64_t)calc_flags_number(flags, FLAG_BATCH);
    p->task.sequence = (int64_t)calc_flags_number(flags, FLAG_SEQUENCE);
    p->text.task = &p->task;
    bool good = check_numbers(p, complaint, sizeof complaint) &&
                check_gpus(p, complaint, sizeof complaint) &&
                check_files(p, complaint, sizeof complaint);
    code = good ? answer(p) : calc_flags_complain(flags, complaint);
    calc_text_free(&p->input.text);
    free(best);
    free(p);
    return code;
}

const calc_as_tool calc_as_aiak = {
    .planner = "aiak",
    .theirs = "main.py",
    .summary = "the fastest strategies of a cluster, of one kind of chips or several",
    .detail = "Finds pipeline and tensor parallelism, micro-batches, the chips and layers of each "
              "stage and the recomputation of each kind of chips with the highest throughput, and "
              "prints them as AIAK's planner does. Times and memory are calc's.",
    .flags = rows,
    .examples = examples,
    .run = run};
