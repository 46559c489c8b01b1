#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/buffer.h"
#include "cli/as/flags.h"
#include "cli/draw/human.h"
#include "cli/shell/complain.h"
#include "cli/shell/inputs.h"
#include "formats/read.h"
#include "io/json_put.h"
#include "io/output.h"
#include "mindspeed/loop.h"

static const char *const generations[] = {"1", "2", NULL};
static const char *const models[] = {"mindspeed", "calc", NULL};
static const char *const formats[] = {"text", "json", NULL};
static const char *const modes[] = {"fast_mode", "full_precision", NULL};

#define NOTHING "accepted; nothing is started here"

/* MindSpeed's flags first. They are read as settings of the script and reported last. */
#define THEIRS(X)                                                                                  \
    X(PARALLEL, "--auto-parallel", NULL, .doc = NOTHING)                                           \
    X(NODES, "--nnodes", "N", .also = "--nodes", .doc = "nodes at hand")                           \
    X(EACH, "--nproc-per-node", "N", .also = "--nproc_per_node", .doc = "devices of a node")       \
    X(TARGET, "--target-nnodes", "N",                                                              \
      .doc = "nodes that are planned for, generation 2; without: those at hand")                   \
    X(MODE, "--search-algo", "MODE", .choices = modes,                                             \
      .doc = "what is measured next: one that may be the fastest, or any, in order")               \
    X(MASTER, "--master-addr", "HOST", .doc = NOTHING)                                             \
    X(PORT, "--master-port", "N", .doc = NOTHING)                                                  \
    X(RANK, "--node-rank", "N", .doc = NOTHING)                                                    \
    X(WORK, "--work-dir", "FOLDER", .doc = NOTHING)                                                \
    X(LAYERS, "--num-layers", "N", .doc = "Megatron's, as all that follow")                        \
    X(HIDDEN, "--hidden-size", "N", .doc = "width")                                                \
    X(FFN, "--ffn-hidden-size", "N", .doc = "width of the feed-forward layer")                     \
    X(HEADS, "--num-attention-heads", "N", .doc = "heads")                                         \
    X(SEQ, "--seq-length", "N", .doc = "tokens of a sequence")                                     \
    X(BATCH, "--global-batch-size", "N", .doc = "sequences of a step")                             \
    X(VOCAB, "--vocab-size", "N",                                                                  \
      .doc = "words; without: no embedding and no head, since only the tokenizer knows")           \
    X(SWIGLU, "--swiglu", NULL, .doc = "a gated feed-forward layer")                               \
    X(FP16, "--fp16", NULL, .doc = "numbers; this or --bf16")                                      \
    X(BF16, "--bf16", NULL, .doc = "numbers")                                                      \
    X(FLASH, "--use-flash-attn", NULL, .doc = "needed, as the planner needs it")

#define OURS(X)                                                                                    \
    X(GENERATION, "--generation", "N", .choices = generations, .preset = "2", .ours = true,        \
      .doc = "of the planner: of July 2024, or of January 2025")                                   \
    X(SYSTEM, "--system", "SYS", .preset = "ascend_910b", .ours = true,                            \
      .doc = "the device and its networks: a path, or a name in systems/")                         \
    X(PROFILES, "--profiles", "FOLDER", .ours = true,                                              \
      .doc = "what was measured: files ..._MODULE.json, kernel_details.csv, comm_prof.csv, "       \
             "operator_cache.csv")                                                                 \
    X(RESULTS, "--results", "FILE", .ours = true,                                                  \
      .doc = "runs, as in model_results.csv: they count more than any model")                      \
    X(SEED, "--seed", "N", CALC_OPT_IS_WHOLE(0, 1e9), .preset = "1", .ours = true,                 \
      .doc = "of draws")                                                                           \
    X(STOP, "--stop-threshold", "SHARE", CALC_OPT_IS_NUMBER(0, 1), .preset = "0.05", .ours = true, \
      .doc = "measure until the chance that one is faster by 1 % is below this")                   \
    X(TRIALS, "--max-trials", "N", CALC_OPT_IS_WHOLE(0, 1e6), .preset = "0", .ours = true,         \
      .doc = "runs, at most; 0: any number")                                                       \
    X(MEMORY, "--memory-model", "MODEL", .choices = models, .preset = "mindspeed", .ours = true,   \
      .doc = "what says which configurations fit")                                                 \
    X(CAPACITY, "--device-memory", "GIB", CALC_OPT_IS_NUMBER(1, 1e6), .ours = true,                \
      .doc = "memory of a device, instead of the system's")                                        \
    X(TOP, "--top", "N", CALC_OPT_IS_WHOLE(1, 1000000), .preset = "3", .ours = true,               \
      .doc = "configurations shown, the fastest")                                                  \
    X(LIST, "--list", NULL, .ours = true,                                                          \
      .doc = "the whole space as CSV instead, or in the JSON document: GiB and ms")                \
    X(FORMAT, "--format", "FORMAT", .choices = formats, .preset = "text", .ours = true,            \
      .doc = "what is printed")

#define FLAGS(X) THEIRS(X) OURS(X)

CALC_OPTIONS(FLAGS);
static const calc_arg rows[] = {{"SCRIPT", .optional = true}, {0}};
static const char *const examples[] = {
    "calc as mindspeed search_llama_7b.sh --vocab-size 32000",
    "calc as mindspeed search_llama_7b.sh --generation 1 --profiles autoparallel_temp_cache",
    "calc as mindspeed --num-layers 32 --hidden-size 4096 --ffn-hidden-size 11008 "
    "--num-attention-heads 32 --seq-length 8192 --global-batch-size 256 --swiglu --bf16 "
    "--use-flash-attn --nnodes 1 --nproc-per-node 8 --list",
    NULL};

typedef struct task {
    const calc_args *flags;
    calc_settings settings;
    calc_mindspeed_arguments arguments;
    calc_system system;
    calc_input input;
    calc_mindspeed_study study;
    calc_mindspeed_evidence evidence;
    calc_mindspeed_results results;
    calc_mindspeed_ranking ranking;
    char source[CALC_FIND_PATH_MAX + 256]; /* of the times, a few words */
} task;

#define GIB 1073741824.0

static size_t rows_of(const task *s)
{
    size_t top = (size_t)calc_opt_real(s->flags, OPT_TOP);
    return s->ranking.fit < top ? s->ranking.fit : top;
}

static double capacity_gib(const task *s)
{
    return s->study.system->chip.mem1.capacity_bytes / GIB;
}

static const char *memory_words(const task *s)
{
    return s->study.calc_memory         ? "calc's model"
           : s->ranking.peak.regression ? "MindSpeed's regression on five probes"
                                        : "MindSpeed's formulas";
}

/* MindSpeed's flags with their values. */
static void put_strategy(calc_put *put, const task *s, const calc_mindspeed_config *c)
{
    calc_putf(put,
              "optimal_parallel_strategy: {pipeline-model-parallel-size: %d, "
              "tensor-model-parallel-size: %d, data-parallel-size: %d, micro-batch-size: %d",
              c->pp, c->tp, c->dp, c->mbs);
    if (c->cp * c->up > 1) {
        bool both = c->cp > 1 && c->up > 1;
        calc_putf(put, "context-parallel-algo: %s, context-parallel-size: %d",
                  both        ? "hybrid_cp_algo"
                  : c->up > 1 ? "ulysses_cp_algo"
                              : "megatron_cp_algo",
                  c->cp * c->up);
        if (both) {
            calc_put_count(put, "ulysses-degree-in-cp", c->up);
        }
    }
    if (c->vpp > 1) {
        calc_put_count(put, "num-layers-per-virtual-pipeline-stage",
                       s->study.arguments->job.layers / c->pp / c->vpp);
    }
    if (c->ep > 0) {
        calc_put_count(put, "expert-model-parallel-size", c->ep);
    }
    calc_put_close(put);
}

static void show_job(const task *s, calc_output *out)
{
    const calc_mindspeed_job *job = &s->study.arguments->job;
    calc_output_printf(out, "job          %d layers of width %d, %d heads%s", job->layers,
                       job->hidden, job->heads, job->experts > 0 ? "" : "; ");
    if (job->experts > 0) {
        calc_output_printf(out, ", %d experts; ", job->experts);
    }
    calc_output_printf(out, "%s sequences of %s tokens, %s\n", calc_human_integer(job->batch),
                       calc_human_integer(job->seq), job->fp16 ? "fp16" : "bf16");
    calc_output_printf(out, "devices      %d: %d node%s of %d %s\n", calc_mindspeed_devices(job),
                       job->target_nodes, job->target_nodes == 1 ? "" : "s", job->per_node,
                       s->input.name);
}

static void show_space(const task *s, calc_output *out)
{
    const calc_mindspeed_ranking *r = &s->ranking;
    double prune = calc_mindspeed_peak_prune(&s->study);
    double final = calc_mindspeed_peak_final(&s->study);
    calc_output_printf(out, "space        generation %d: %zu configurations, ",
                       (int)s->study.generation, r->count);
    if (prune > final) {
        calc_output_printf(out, "%zu within %g times the memory, ", r->timed, prune);
    }
    calc_output_printf(out, "%zu fit", r->fit);
    if (final < 1) {
        calc_output_printf(out, " in %g of it", final);
    }
    calc_output_text(out, "\n");
    calc_output_printf(out, "memory       %s, of %g GiB\n", memory_words(s), capacity_gib(s));
    calc_output_printf(out, "time         %s\n\n", s->source);
}

static void show_row(const calc_mindspeed_candidate *c, calc_output *out)
{
    const calc_mindspeed_config *f = &c->config;
    calc_output_printf(out, "%4d %4d %4d %4d %4d %4d %4d %4d  %10s", f->pp, f->tp, f->dp, f->cp,
                       f->up, f->mbs, f->vpp, f->ep, calc_human_seconds(c->step_s));
    calc_output_printf(out, " %10s", calc_human_seconds(c->p5_s));
    calc_output_printf(out, " %10s", calc_human_seconds(c->p95_s));
    calc_output_printf(out, " %8s", calc_human_percent(c->best));
    calc_output_printf(out, " %9.1f %9s%s\n", c->peak_bytes / GIB,
                       isfinite(c->calc_bytes) ? CALC_TEXT(32, "%.1f", c->calc_bytes / GIB) : "-",
                       c->source == CALC_MINDSPEED_MEASURED ? "  measured" : "");
}

/* Why there is nothing to measure: for programs, and for people. */
static const char *const stop_words[][2] = {
    [CALC_MINDSPEED_GOES_ON] = {"goes_on"},
    [CALC_MINDSPEED_CONCENTRATED] = {"concentrated", "hardly any may be faster"},
    [CALC_MINDSPEED_EXHAUSTED] = {"exhausted", "all are measured, or failed"},
    [CALC_MINDSPEED_TRIALS] = {"trials", "as many as --max-trials"}};

static void show_next(const task *s, calc_output *out)
{
    char name[CALC_MINDSPEED_NAME];
    const calc_mindspeed_ranking *r = &s->ranking;
    calc_output_printf(out, "\nmeasured     %zu", r->trials);
    if (r->measured > 0) {
        calc_output_printf(out, "; %s chance that another is more than 1 %% faster",
                           calc_human_percent(r->chance));
    }
    if (r->stop == CALC_MINDSPEED_GOES_ON) {
        calc_output_printf(out, "\nnext         %s\n",
                           calc_mindspeed_config_name(&r->next, s->study.generation, name));
    } else {
        calc_output_printf(out, "\nnext         none: %s\n", stop_words[r->stop][1]);
    }
}

/* Writes a header, the top configurations as a table, and the line `{"optimal_parallel_strategy":
 *  {...}}`. */
static void mindspeed_show(const task *shown, calc_output *out)
{
    show_job(shown, out);
    show_space(shown, out);
    if (rows_of(shown) == 0) {
        return;
    }
    calc_output_printf(
        out, "  pp   tp   dp   cp   up  mbs  vpp   ep        step         P5        P95  P(best)  "
             "peak GiB    calc's\n");
    for (size_t i = 0; i < rows_of(shown); i++) {
        show_row(&shown->ranking.item[i], out);
    }
    show_next(shown, out);
    calc_output_text(out, "\n");
    calc_put put = {.out = out, .flat = true};
    calc_put_object(&put, NULL, CALC_PUT_LINE);
    put_strategy(&put, shown, &shown->ranking.item[0].config);
    calc_put_end(&put);
}

static void put_gib(calc_put *put, const char *key, double bytes)
{
    calc_put_number(put, key, bytes / GIB);
}

/* Writes everything as one JSON document. */
static void mindspeed_show_json(const task *shown, calc_output *out)
{
    const calc_mindspeed_ranking *r = &shown->ranking;
    size_t count = calc_opt_given(shown->flags, OPT_LIST) ? r->count : rows_of(shown);
    calc_put put = calc_put_to(out);
    calc_put_document(&put);
    calc_putf(&put,
              "system: %s, devices: %d, generation: %d, configurations: %zu, timed: %zu, fit: "
              "%zu, measured: %zu, memory_model: %s, capacity_gib: %g, times: %s",
              shown->input.name, calc_mindspeed_devices(&shown->study.arguments->job),
              shown->study.generation, r->count, r->timed, r->fit, r->measured, memory_words(shown),
              capacity_gib(shown), shown->source);
    if (r->fit > 0) {
        put_strategy(&put, shown, &r->item[0].config);
    } else {
        calc_put_raw(&put, "optimal_parallel_strategy", "null");
    }
    calc_put_array(&put, calc_opt_given(shown->flags, OPT_LIST) ? "space" : "top", CALC_PUT_LINES);
    for (size_t i = 0; i < count; i++) {
        static const char *const sources[] = {"none", "model", "measured"};
        const calc_mindspeed_config *f = &r->item[i].config;
        calc_putf(&put,
                  "{pp: %d, tp: %d, dp: %d, ring_attention: %d, ulysses: %d, mbs: %d, vpp: %d, "
                  "ep: %d, step_s: %g, p5_s: %g, p95_s: %g, p_best: %g",
                  f->pp, f->tp, f->dp, f->cp, f->up, f->mbs, f->vpp, f->ep, r->item[i].step_s,
                  r->item[i].p5_s, r->item[i].p95_s, r->item[i].best);
        put_gib(&put, "peak_gib", r->item[i].peak_bytes);
        put_gib(&put, "calc_peak_gib", r->item[i].calc_bytes);
        calc_putf(&put, "fits?: %d, time: %s}", r->item[i].fits, sources[r->item[i].source]);
    }
    calc_put_close(&put);
    if (r->count > 0) {
        char name[CALC_MINDSPEED_NAME];
        calc_putf(&put, "next: {stop: %s", stop_words[r->stop][0]);
        if (r->stop == CALC_MINDSPEED_GOES_ON) {
            calc_putf(&put, "measure: %s",
                      calc_mindspeed_config_name(&r->next, shown->study.generation, name));
        }
        calc_putf(&put, "chance: %g, trials: %zu}", r->chance, r->trials);
    }
    calc_as_put_notes(&put, &r->notes);
    calc_put_end(&put);
}

static void csv_number(double value, double unit, calc_output *out)
{
    calc_output_printf(out, isfinite(value) ? ",%.6g" : ",", value / unit);
}

/* Writes the space as CSV; the first columns are those of the planner's model_results.csv. */
static void mindspeed_show_csv(const task *shown, calc_output *out)
{
    calc_output_text(out, "pp,tp,dp,ring_attention,ulysses,mbs,vpp,ep,peak_memory,e2e_time,"
                          "calc_peak_memory,fits\n");
    for (size_t i = 0; i < shown->ranking.count; i++) {
        const calc_mindspeed_candidate *c = &shown->ranking.item[i];
        const calc_mindspeed_config *f = &c->config;
        calc_output_printf(out, "%d,%d,%d,%d,%d,%d,%d,%d", f->pp, f->tp, f->dp, f->cp, f->up,
                           f->mbs, f->vpp, f->ep);
        csv_number(c->peak_bytes, GIB, out);
        csv_number(c->step_s, 1e-3, out);
        csv_number(c->calc_bytes, GIB, out);
        calc_output_printf(out, ",%s\n", c->fits ? "yes" : "no");
    }
}

static void tell_none(const task *s)
{
    double least = INFINITY;
    for (size_t i = 0; i < s->ranking.count; i++) {
        least = fmin(least, s->ranking.item[i].peak_bytes);
    }
    if (s->ranking.timed > 0 || !isfinite(least) ||
        least > calc_mindspeed_peak_final(&s->study) * s->study.system->chip.mem1.capacity_bytes) {
        calc_say("calc as mindspeed: no configuration fits: the least that one needs are %.1f GiB "
                 "of %g\n",
                 least / GIB, capacity_gib(s));
    } else {
        calc_say("calc as mindspeed: no configuration has a time\n");
    }
}

/* Writes notes to standard error and, if there is no answer, the reason. */
static void mindspeed_show_notes(const task *shown)
{
    calc_as_tell_notes(shown->flags, &shown->ranking.notes);
    size_t listed = rows_of(shown), full = 0;
    for (size_t i = 0; i < listed; i++) {
        double bytes = shown->ranking.item[i].calc_bytes;
        full += bytes > shown->study.system->chip.mem1.capacity_bytes;
    }
    if (full > 0 && !shown->study.calc_memory) {
        calc_say("calc as mindspeed: by calc's model %zu of the %zu shown need more memory than "
                 "there is: --memory-model calc leaves such out\n",
                 full, listed);
    }
    if (shown->ranking.fit == 0) {
        tell_none(shown);
    }
}

/* Applies the settings of the script, then the command line's, which win. */
static calc_status read_settings(task *t, calc_errors *errors)
{
    const calc_args *f = t->flags;
    calc_text text = {0};
    calc_status status = f->argument[0] ? calc_text_read(&text, f->argument[0], errors) : CALC_OK;
    if (status == CALC_OK && f->argument[0]) {
        status = calc_settings_from_script(&t->settings, text.data, text.length, NULL);
    }
    calc_text_free(&text);
    for (int i = 0; i < OPT_GENERATION && status == CALC_OK; i++) {
        if (calc_opt_given(f, i) &&
            !calc_settings_put(&t->settings, opts[i].name, calc_opt_value(f, i))) {
            calc_end_without_memory();
        }
    }
    return status ? status : calc_settings_from_words(&t->settings, f->passed, f->passed_count);
}

static calc_status load(task *t, calc_errors *errors)
{
    const calc_args *f = t->flags;
    bool first = strcmp(calc_opt_value(f, OPT_GENERATION), "1") == 0;
    t->study =
        (calc_mindspeed_study){.arguments = &t->arguments,
                               .system = &t->system,
                               .generation = first ? CALC_MINDSPEED_GEN1 : CALC_MINDSPEED_GEN2,
                               .profiles = calc_opt_value(f, OPT_PROFILES),
                               .calc_memory = strcmp(calc_opt_value(f, OPT_MEMORY), "calc") == 0};
    calc_status status = read_settings(t, errors);
    status = status ? status
                    : calc_mindspeed_arguments_read(&t->arguments, &t->settings,
                                                    t->study.generation, f->argument[0], errors);
    status = status ? status
                    : calc_input_load(&t->input, CALC_KIND_SYSTEM, &t->system,
                                      calc_opt_value(f, OPT_SYSTEM), errors);
    if (status == CALC_OK && calc_opt_value(f, OPT_CAPACITY)) {
        t->system.chip.mem1.capacity_bytes = calc_opt_real(f, OPT_CAPACITY) * 1073741824.0;
    }
    return status;
}

/* Collects notes on the folder before its configurations are timed, and after. */
static void take_notes(task *t)
{
    calc_notes *notes = &t->evidence.notes;
    for (int i = 0; i < notes->count; i++) {
        calc_notes_add(&t->ranking.notes, "%s", notes->text[i]);
    }
    t->ranking.notes.dropped += notes->dropped;
    *notes = (calc_notes){0};
    const calc_mindspeed_comm *comm = &t->evidence.folder.comm;
    if (comm->count > 0 && comm->missing_count > 0) {
        calc_notes_add(&t->ranking.notes,
                       "comm_prof.csv lacks %zu of %zu collectives that were asked for: "
                       "those are calc's",
                       comm->missing_count, comm->missing_count + comm->found);
    }
}

static calc_status rank(task *t, calc_errors *errors)
{
    const calc_args *f = t->flags;
    const char *results = calc_opt_value(f, OPT_RESULTS);
    const calc_tune_prior prior = calc_tune_prior_default();
    calc_tune_options options = calc_tune_options_default(&prior);
    options.seed = (uint64_t)calc_opt_real(f, OPT_SEED);
    options.stop = t->arguments.every ? 0 : calc_opt_real(f, OPT_STOP);
    options.chooser = t->arguments.every ? CALC_TUNE_CHOOSER_ORDER : options.chooser;
    calc_status status =
        results ? calc_mindspeed_results_read(&t->results, results, errors) : CALC_OK;
    if (status == CALC_OK && t->study.profiles) {
        status = calc_mindspeed_evidence_start(&t->evidence, &t->study, errors);
    }
    status = status
                 ? status
                 : calc_mindspeed_rank(&t->study, t->study.profiles ? &t->evidence : NULL,
                                       &t->results, &options, (size_t)calc_opt_real(f, OPT_TRIALS),
                                       &t->ranking, errors);
    if (status == CALC_OK) {
        take_notes(t);
    }
    return status;
}

static void name_times(task *t)
{
    const calc_mindspeed_evidence *e = &t->evidence;
    const size_t size = sizeof t->source;
    char *text = t->source;
    if (t->ranking.measured > 0) {
        calc_append(text, size, "%zu measured; ", t->ranking.measured);
    }
    if (e->profiled > 0) {
        calc_append(text, size, "modules where profiled; ");
    }
    if (e->folder.kernels.count > 0) {
        calc_append(text, size, "%zu kernels learnt from; ", e->folder.kernels.count);
    }
    if (e->folder.comm.found > 0) {
        calc_append(text, size, "%zu collectives; ", e->folder.comm.count);
    }
    calc_append(text, size,
                *text ? "else calc's model of %s" : "calc's model of %s; nothing is measured",
                t->input.name);
}

static calc_status show(task *t, calc_errors *errors)
{
    bool json = strcmp(calc_opt_value(t->flags, OPT_FORMAT), "json") == 0;
    name_times(t);
    calc_output *out = calc_write_to("-");
    (json                                 ? mindspeed_show_json
     : calc_opt_given(t->flags, OPT_LIST) ? mindspeed_show_csv
                                          : mindspeed_show)(t, out);
    calc_status status = calc_output_close(out, errors);
    mindspeed_show_notes(t);
    return status;
}

static calc_exit answer(task *t)
{
    calc_errors errors = {0};
    calc_status status = load(t, &errors);
    if (status == CALC_OK) {
        if (*t->arguments.unused) {
            calc_say("calc as mindspeed: no effect here: %s\n", t->arguments.unused);
        }
        if (t->arguments.job.vocab == 0) {
            calc_say("calc as mindspeed: no vocabulary, which is the tokenizer's: embedding, head "
                     "and loss are left out of time and memory without --vocab-size\n");
        }
        status = rank(t, &errors);
    }
    status = status ? status : show(t, &errors);
    bool none = calc_is_yes(status) && t->ranking.fit == 0;
    return none ? CALC_EXIT_INFEASIBLE : calc_complain_errors(&errors);
}

static calc_exit run(const calc_args *flags)
{
    task *t = calc_make(1, sizeof *t);
    t->flags = flags;
    calc_exit code = answer(t);
    calc_mindspeed_rank_free(&t->ranking);
    calc_mindspeed_evidence_free(&t->evidence);
    calc_mindspeed_results_free(&t->results);
    calc_settings_free(&t->settings);
    calc_text_free(&t->input.text);
    free(t);
    return code;
}

const calc_command calc_as_mindspeed = {
    .name = "as mindspeed",
    .theirs = "MindSpeed",
    .summary = "the fastest parallel strategy of a launch script, as --auto-parallel finds it",
    .detail =
        "Takes a launch script of MindSpeed or Megatron-LM, its arguments, or both, of which "
        "the arguments count more; the sizes of its layout are what is searched. Other flags "
        "of Megatron-LM are understood too. SCRIPT comes first, or after a flag of this list.",
    .passes = true,
    CALC_COMMAND_PARTS};
