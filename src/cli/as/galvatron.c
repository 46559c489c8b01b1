#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buffer.h"
#include "base/error.h"
#include "cli/as/flags.h"
#include "cli/draw/human.h"
#include "cli/shell/complain.h"
#include "cli/shell/inputs.h"
#include "galvatron/arguments.h"
#include "galvatron/layout.h"
#include "galvatron/search.h"
#include "galvatron/synthesis.h"
#include "io/json_put.h"
#include "spec/field.h"

/* A search, and its answer. */
typedef struct task {
    const calc_args *flags;
    calc_galvatron_arguments arguments;
    calc_app app; /* of --model and --system */
    calc_system system;
    calc_galvatron_profiles profiles;
    calc_galvatron_found found;
    calc_galvatron_layout layout; /* of the best answer, if it is feasible */
    char file[CALC_AS_PATH_SIZE]; /* the written file; "": none */
} task;

enum { RUNS_SIZE = 4096 };

static const char *const mode_words[] = {"tp_only", "sp_only", "tp_with_sp"};

/* Upstream's notation, which has no mark for ZeRO-2; for the port, a z before the remaining marks
 * denotes it. */
static char *notation(const task *s, const calc_galvatron_strategy *strategy,
                      char text[CALC_GALVATRON_STRATEGY_SIZE])
{
    calc_galvatron_strategy_text(strategy, text);
    if (s->arguments.request.dialect == CALC_GALVATRON_PADDLE &&
        strategy->type == CALC_GALVATRON_ZERO2) {
        size_t numbers = strspn(text, "0123456789-*x");
        numbers -= text[numbers - 1] == '-';
        memmove(text + numbers + 1, text + numbers, strlen(text + numbers) + 1);
        text[numbers] = 'z';
    }
    return text;
}

/* The layers of a stage: "8 x 4-1-2-c + 3 x 4-2*-1". */
static char *runs_of(const task *s, int first, int end, char *text)
{
    const calc_galvatron_layout *layout = &s->layout;
    char one[CALC_GALVATRON_STRATEGY_SIZE];
    text[0] = '\0';
    for (int at = first, run; at < end; at += run) {
        run = calc_galvatron_layout_run(layout, at, end);
        calc_append(text, RUNS_SIZE, "%s%d x %s", at > first ? " + " : "", run,
                    notation(s, &layout->layer[at], one));
    }
    return text;
}

/* How much shorter the time per sample could be with unlimited memory. */
static double memory_costs(const calc_galvatron_found *f)
{
    return f->unlimited_s > 0 ? fmax(0, 1 - f->unlimited_s / (1 / f->best.throughput)) : 0;
}

static int fullest(const calc_galvatron_answer *a)
{
    int stage = 0;
    for (int i = 1; i < a->task.pp; i++) {
        stage = a->remain_mb[i] < a->remain_mb[stage] ? i : stage;
    }
    return stage;
}

static void show_step(const task *s, calc_output *out)
{
    const calc_galvatron_answer *a = &s->found.best;
    calc_output_printf(out, "throughput   %s samples/s\n", calc_human_number(a->throughput));
    calc_output_printf(out, "step         %s: %jd samples in %jd micro-batch%s",
                       calc_human_seconds(a->step_s), a->task.gbsz, a->task.chunks,
                       a->task.chunks == 1 ? "" : "es");
    if (a->reshard_s > 0) {
        calc_output_printf(out, "; %s of it between layers that differ",
                           calc_human_seconds(a->reshard_s));
    }
    calc_output_text(out, "\n");
}

static void show_stages(const task *s, calc_output *out)
{
    char text[RUNS_SIZE];
    const calc_galvatron_answer *a = &s->found.best;
    calc_output_printf(out, "ends         %s: embedding and head\n", notation(s, &a->ends, text));
    for (int i = 0, first = 0; i < a->task.pp; first += s->layout.division[i++]) {
        calc_output_printf(out, "%-12s %s MB: %s\n", CALC_TEXT(32, "stage %d", i),
                           calc_human_integer(a->used_mb[i]),
                           runs_of(s, first, first + s->layout.division[i], text));
    }
    calc_output_printf(
        out, "             pp-tpsp-dp: * several ranks, %sf ZeRO-3, -c recomputed, -sp Ulysses\n",
        s->arguments.request.dialect == CALC_GALVATRON_PADDLE ? "z ZeRO-2, " : "");
}

static void show_search(const task *s, calc_output *out)
{
    const calc_galvatron_found *f = &s->found;
    const calc_galvatron_task *t = &f->best.task;
    calc_output_printf(
        out, "search       %s, a layer on %d rank%s at most; %d of %d tasks solved\n",
        mode_words[t->mode], t->buffer_tp, t->buffer_tp == 1 ? "" : "s", f->solved, f->tasks);
    calc_output_text(out, "proof        ");
    if (s->arguments.request.compat) {
        calc_output_text(out, "none: --compat answers as upstream does\n");
    } else if (f->proven) {
        calc_output_text(out, "nothing in the space is faster\n");
    } else {
        calc_output_printf(out, "none: a step could be %s shorter, at most\n",
                           calc_human_percent(f->gap));
    }
}

static void show_limit(const task *s, calc_output *out)
{
    const calc_galvatron_found *f = &s->found;
    int stage = fullest(&f->best);
    double costs = memory_costs(f);
    if (costs >= 0.0005) {
        calc_output_printf(out,
                           "limit        memory: without one a sample would take up to %s less",
                           calc_human_percent(costs));
    } else {
        calc_output_text(out, "limit        time, not memory");
    }
    calc_output_printf(out, "; stage %d has %s MB left of %s", stage,
                       calc_human_integer(f->best.remain_mb[stage]),
                       calc_human_integer(f->limit_mb));
    if (f->reserve_mb > 0) {
        calc_output_printf(out, ", and %s are reserved", calc_human_integer(f->reserve_mb));
    }
    calc_output_text(out, "\n");
}

static void show_second(const task *s, calc_output *out)
{
    char ends[CALC_GALVATRON_STRATEGY_SIZE];
    const calc_galvatron_answer *a = &s->found.second;
    if (!a->feasible) {
        calc_output_text(out, "runner-up    none: no other batch, micro-batches or stages fit\n");
        return;
    }
    calc_output_printf(
        out, "runner-up    %s samples/s, %s less: %jd samples in %jd, %d stage%s, embedding %s\n",
        calc_human_number(a->throughput),
        calc_human_percent(1 - a->throughput / s->found.best.throughput), a->task.gbsz,
        a->task.chunks, a->task.pp, a->task.pp == 1 ? "" : "s", notation(s, &a->ends, ends));
}

static void show_none(const task *s, calc_output *out)
{
    const calc_galvatron_found *f = &s->found;
    const calc_galvatron_request *r = &s->arguments.request;
    int64_t samples = r->settle_chunk > 0 ? r->settle_bsz / r->settle_chunk : 0;
    int64_t most = 1;
    while (2 * most <= calc_galvatron_world(r) && 2 * most <= samples) {
        most *= 2;
    }
    calc_output_text(out, "No valid configuration found.\n");
    if (!r->compat && samples % most != 0) {
        calc_output_printf(out,
                           "No strategy divides %jd samples of a micro-batch over %jd ranks; these "
                           "numbers of micro-batches do:",
                           samples, most);
        for (int64_t chunks = 1; chunks * most <= r->settle_bsz; chunks++) {
            if (r->settle_bsz % (chunks * most) == 0) {
                calc_output_printf(out, " %jd", chunks);
            }
        }
        calc_output_text(out, "\n");
    }
    if (f->tasks == 0) {
        calc_output_text(out, "Nothing is left to search: the options allow no strategy\n");
    } else if (f->least_mb > 0 && f->least_mb < INFINITY) {
        calc_output_printf(out,
                           "The least that a layout needs on its fullest stage are %s MB; %s are "
                           "there for layers, embedding and head\n",
                           calc_human_integer(ceil(f->least_mb)), calc_human_integer(f->limit_mb));
    }
}

static void show(const task *shown, calc_output *out)
{
    if (!shown->found.best.feasible) {
        show_none(shown, out);
        return;
    }
    const calc_galvatron_request *r = &shown->arguments.request;
    calc_output_printf(out, "%s: ", r->model);
    for (int i = 0; i < r->types; i++) {
        const calc_galvatron_layers *l = &r->layers[i];
        calc_output_printf(out, "%s%jd layers of width %jd on %jd tokens", i ? ", " : "",
                           l->layer_num, l->hidden_size, l->seq_len);
    }
    calc_output_printf(out, "; %jd GPUs of %g GB\n\n", calc_galvatron_world(r),
                       r->memory_constraint);
    show_step(shown, out);
    show_stages(shown, out);
    show_search(shown, out);
    show_limit(shown, out);
    show_second(shown, out);
    calc_output_printf(out, "written      %s\n", shown->file);
}

static void put_task(calc_put *put, const task *s, const calc_galvatron_answer *a)
{
    char text[CALC_GALVATRON_STRATEGY_SIZE];
    calc_putf(put,
              "throughput: %g, step_s: %g, reshard_s: %g, global_bsz: %jd, chunks: %jd, pp_deg: "
              "%d, mode: %s, buffer_tp: %d, embedding: %s",
              a->throughput, a->step_s, a->reshard_s, a->task.gbsz, a->task.chunks, a->task.pp,
              mode_words[a->task.mode], a->task.buffer_tp, notation(s, &a->ends, text));
}

static void put_stages(calc_put *put, const task *s)
{
    const calc_galvatron_answer *a = &s->found.best;
    calc_put_array(put, "stages", CALC_PUT_LINES);
    for (int i = 0, first = 0; i < a->task.pp; first += s->layout.division[i++]) {
        int end = first + s->layout.division[i];
        char text[CALC_GALVATRON_STRATEGY_SIZE];
        calc_putf(put, "{used_mb: %g, remain_mb: %g, layers: [", a->used_mb[i], a->remain_mb[i]);
        for (int at = first, run; at < end; at += run) {
            run = calc_galvatron_layout_run(&s->layout, at, end);
            calc_putf(put, "[%s, %d]", notation(s, &s->layout.layer[at], text), run);
        }
        calc_putf(put, "]}");
    }
    calc_put_close(put);
}

static void put_best(calc_put *put, const task *s)
{
    const calc_galvatron_found *f = &s->found;
    put_task(put, s, &f->best);
    put_stages(put, s);
    calc_putf(put, "memory_costs: %g, file: %s", memory_costs(f), s->file);
    if (f->second.feasible) {
        calc_put_object(put, "runner_up", CALC_PUT_LINES);
        put_task(put, s, &f->second);
        calc_put_close(put);
    }
}

static void show_json(const task *shown, calc_output *out)
{
    const calc_galvatron_found *f = &shown->found;
    calc_put put = calc_put_to(out);
    calc_put_document(&put);
    calc_putf(&put,
              "model: %s, feasible?: %d, compat?: %d, proven?: %d, gap: %g, tasks: %d, solved: "
              "%d, limit_mb: %g, reserve_mb: %g",
              shown->arguments.request.model, f->best.feasible, shown->arguments.request.compat,
              f->proven, f->proven ? 0 : f->gap, f->tasks, f->solved, f->limit_mb, f->reserve_mb);
    if (f->best.feasible) {
        put_best(&put, shown);
    } else {
        calc_put_number(&put, "least_mb", f->least_mb);
    }
    calc_as_put_notes(&put, &shown->profiles.notes);
    calc_put_end(&put);
}

static void tell(const task *shown)
{
    const calc_galvatron_request *r = &shown->arguments.request;
    calc_notes notes = shown->profiles.notes;
    const calc_galvatron_layout *l = &shown->layout;
    if (shown->found.best.feasible) {
        const calc_galvatron_case of = {r, &shown->profiles, l->gbsz, l->chunks};
        int at = 0;
        for (int type = 0; type < r->types; type++) {
            int end = at + (int)r->layers[type].layer_num;
            for (int run; at < end; at += run) {
                run = calc_galvatron_layout_run(l, at, end);
                calc_galvatron_cost_notes(&of, &l->layer[at], type, &notes);
            }
        }
        calc_galvatron_cost_notes(&of, &l->ends, -1, &notes);
        int64_t multiple = calc_galvatron_layout_multiple(l);
        if (l->gbsz % multiple != 0) {
            calc_notes_add(&notes, CALC_GALVATRON_MULTIPLE, (long long)l->gbsz,
                           (long long)multiple);
        }
    }
    calc_as_tell_notes(shown->flags, &notes);
}

/* Searches with the profiles, writes the answer to folder/name and shows it.
 * @param options  written below the summary, as options of the trainer; NULL: none */
static calc_exit job_run(task *t, const char *folder, const char *name, const char *format,
                         void (*write)(const calc_galvatron_layout *layout, calc_output *out),
                         void (*options)(const calc_galvatron_layout *layout, calc_output *out),
                         calc_errors *errors)
{
    const calc_galvatron_request *r = &t->arguments.request;
    bool json = strcmp(format, "json") == 0;
    calc_status status =
        calc_errors_status(errors, calc_galvatron_search(r, &t->profiles, &t->found));
    if (status == CALC_OK && t->found.best.feasible) {
        calc_galvatron_layout_answer(r, &t->found.best, &t->layout);
        calc_as_path(folder, name, t->file);
        status = calc_as_make_folder(folder, errors);
        if (status == CALC_OK) {
            calc_output *out = calc_write_to(t->file);
            write(&t->layout, out);
            status = calc_output_close(out, errors);
        }
    }
    if (status == CALC_OK) {
        calc_output *out = calc_write_to("-");
        (json ? show_json : show)(t, out);
        if (t->found.best.feasible && !json && options) {
            calc_output_text(out, "\nOptions of the trainer:\n");
            options(&t->layout, out);
        }
        status = calc_output_close(out, errors);
        tell(t);
    }
    return status == CALC_OK ? calc_complain_errors(errors) : calc_complain_failure(errors);
}

static const char *const formats[] = {"text", "json", NULL};

/* Upstream's arguments keep their row numbers in both tables. */
#define TAKES_COUNT .value = "N"
#define TAKES_LIMIT .value = "N"
#define TAKES_REAL .value = "X"
#define TAKES_TRUTH .value = "0|1", .lone = true
#define TAKES_WORD .value = "WORD"
#define TAKES_TEXT .value = "TEXT"
#define TAKES_LAYERS .value = "N[,N]..."
#define TAKES_UNUSED .value = "VALUE", .lone = true, .unused = true

#define OWN(X)                                                                                     \
    X(COMPAT, "--compat", NULL, .ours = true,                                                      \
      .doc = "answer as upstream does: its budget, whole MB, objective and ties")                  \
    X(FORMAT, "--format", "FORMAT", .choices = formats, .preset = "text", .ours = true,            \
      .doc = "what is printed")                                                                    \
    X(MODEL, "--model", "APP", .ours = true,                                                       \
      .doc = "no profiles: a model of calc's, with --system; a path, or a name in models/")        \
    X(SYSTEM, "--system", "SYS", .ours = true, .doc = "likewise, a name in systems/")

enum {
#define CALC_ARGUMENT(in, key, ...) FLAG_##key,
#include "galvatron/arguments.fields.h"
#undef CALC_ARGUMENT
    OWN(CALC_OPT_NUMBER)
};
static const calc_arg rows[] = {{"FILE", .optional = true}, {0}};
static const calc_opt opts[] = {
#define CALC_ARGUMENT(in, key, kind_, where, ...) {.name = "--" #key, TAKES_##kind_, __VA_ARGS__},
#include "galvatron/arguments.fields.h"
#undef CALC_ARGUMENT
    OWN(CALC_OPT_ROW){0}};
static const char *const examples[] = {
    "calc as galvatron search search_dist.yaml",
    "calc as galvatron search --model llama2-7B --system a100_sxm_40g --memory_constraint 36 "
    "--settle_bsz 64 --default_dp_type zero2 --pipeline_type pipedream_flush",
    "calc as galvatron search search_dist.yaml --memory_constraint 24 --compat", NULL};

static calc_status read_file(task *t, calc_errors *errors)
{
    calc_text text = {0};
    if (!t->flags->argument[0]) {
        return CALC_OK;
    }
    calc_status status = calc_text_read(&text, t->flags->argument[0], errors);
    status = status ? status
                    : calc_galvatron_arguments_read(&t->arguments, text.data, text.length,
                                                    t->flags->argument[0], errors);
    calc_text_free(&text);
    return status;
}

/* Applies the flags after the file, so that flags win. */
static bool take_flags(task *t, char *complaint, size_t size)
{
    char why[400];
    for (int i = 0; i < OPT_COMPAT; i++) {
        const calc_galvatron_argument *row = &calc_galvatron_argument_rows[i];
        /* Unused arguments of flags and files are reported later, in one line each. */
        bool takes = calc_opt_given(t->flags, i) && row->kind != CALC_GALVATRON_TAKES_UNUSED;
        if (takes && !calc_galvatron_arguments_set(&t->arguments, row, calc_opt_value(t->flags, i),
                                                   why, sizeof why)) {
            snprintf(complaint, size, "%s: %s", opts[i].name, why);
            return false;
        }
    }
    t->arguments.request.compat = calc_opt_given(t->flags, OPT_COMPAT);
    return true;
}

static void take_size(calc_galvatron_sizes *sizes, int64_t value)
{
    if (sizes->count == 0) {
        *sizes = (calc_galvatron_sizes){1, {value}};
    }
}

/* Loads a calc model, which supplies values that are not given elsewhere. */
static calc_status take_model(task *t, calc_errors *errors)
{
    calc_galvatron_arguments *a = &t->arguments;
    calc_input app = {.text = {0}};
    calc_status status =
        calc_input_load(&app, CALC_KIND_APP, &t->app, calc_opt_value(t->flags, OPT_MODEL), errors);
    calc_status other = calc_document_load(CALC_KIND_SYSTEM, calc_opt_value(t->flags, OPT_SYSTEM),
                                           &t->system, errors);
    if (!status && !other) {
        calc_galvatron_request of = a->request;
        of.layers[0].seq_len = a->seq_length.count > 0 ? a->seq_length.of[0] : 0;
        calc_galvatron_layers_of_app(&t->app, &of);
        take_size(&a->hidden_size, of.layers[0].hidden_size);
        take_size(&a->num_layers, of.layers[0].layer_num);
        take_size(&a->seq_length, of.layers[0].seq_len);
        if (!*a->model_size && !*a->hf_model_name_or_path) {
            snprintf(a->model_size, sizeof a->model_size, "%s", app.name);
        }
    }
    calc_text_free(&app.text);
    return status ? status : other;
}

/* @return CALC_EXIT_COUNT to continue */
static calc_exit prepare(task *t, calc_errors *errors)
{
    char complaint[512];
    const calc_args *f = t->flags;
    bool model = calc_opt_value(f, OPT_MODEL);
    if (model != (calc_opt_value(f, OPT_SYSTEM) != NULL)) {
        return calc_complain_usage(f->command, "--model and --system are given together");
    }
    calc_galvatron_arguments_start(&t->arguments);
    if (read_file(t, errors) != CALC_OK) {
        return calc_complain_failure(errors);
    }
    if (!take_flags(t, complaint, sizeof complaint)) {
        return calc_complain_usage(f->command, complaint);
    }
    if (model && take_model(t, errors) != CALC_OK) {
        return calc_complain_failure(errors);
    }
    calc_as_tell_unused(f);
    if (*t->arguments.unused) {
        calc_say("%s: no effect here: %s\n", f->argument[0], t->arguments.unused);
    }
    return calc_galvatron_arguments_finish(&t->arguments, complaint, sizeof complaint)
               ? CALC_EXIT_COUNT
               : calc_complain_usage(f->command, complaint);
}

static calc_exit run(const calc_args *flags)
{
    calc_errors errors = {0};
    task t = {.flags = flags};
    calc_exit code = prepare(&t, &errors);
    if (code != CALC_EXIT_COUNT) {
        return code;
    }
    char name[CALC_GALVATRON_NAME_SIZE];
    const calc_galvatron_arguments *a = &t.arguments;
    calc_galvatron_paths paths = calc_galvatron_arguments_paths(a);
    calc_status status =
        calc_opt_value(flags, OPT_MODEL)
            ? calc_galvatron_profiles_of_model(&t.app, &t.system, &a->request, &t.profiles, &errors)
            : calc_galvatron_profiles_load(&t.profiles, &a->request, &paths, &errors);
    return status == CALC_OK
               ? job_run(&t, a->output_config_path, calc_galvatron_layout_name(&a->request, name),
                         calc_opt_value(flags, OPT_FORMAT), calc_galvatron_layout_write, NULL,
                         &errors)
               : calc_complain_failure(&errors);
}

const calc_command calc_as_galvatron = {
    .name = "as galvatron search",
    .theirs = "search_dist.py",
    .summary = "the fastest strategy of every layer, from profiles or without",
    .detail =
        "Finds how each layer is split over GPUs, sharded and recomputed, so that a sample "
        "takes least in the memory there is, and writes the strategy file that Galvatron "
        "trains from. FILE has a search_engine block, as YAML or JSON; flags count more. With "
        "--model and --system nothing need have been profiled.",
    CALC_COMMAND_PARTS};

/* ---- PaddleNLP's port ------------------------------------------------------------------------ */

static const char *const grains[] = {"fine-grained", "coarse-grained", NULL};
static const char *const spaces[] = {"tp", "tp+sp", NULL};
static const char *const offs[] = {"0", "1", NULL};

#define PADDLE(X)                                                                                  \
    X(TIME_MODE, "--time_profile_mode", "MODE", .choices = calc_galvatron_time_words,              \
      .preset = "static", .doc = "how times follow from the profile")                              \
    X(MEMORY_MODE, "--memory_profile_mode", "MODE", .choices = calc_galvatron_memory_words,        \
      .also = "--profile_mode", .preset = "static", .doc = "how memory follows from the profile")  \
    X(TYPES, "--num_layertype", "N", CALC_OPT_IS_WHOLE(1, CALC_GALVATRON_TYPES), .preset = "1",    \
      .doc = "types of layers")                                                                    \
    X(HIDDEN, "--hidden_size_list", "N[,N]...", .needed = true, .doc = "width of each type")       \
    X(LAYERS, "--layernum_list", "N[,N]...", .also = "--layer_num_list", .needed = true,           \
      .doc = "layers of each type")                                                                \
    X(SEQ, "--seqlen_list", "N[,N]...", .needed = true, .doc = "tokens of a sequence")             \
    X(PROFILED, "--profile_gpu_num", "N", CALC_OPT_IS_WHOLE(1, 65536),                             \
      .doc = "GPUs of the profiles; those of --world_size")                                        \
    X(TIME, "--time_profile_data_path", "FILE", .needed = true,                                    \
      .doc = "computation_profiling_*.json")                                                       \
    X(MEMORY, "--memory_profile_data_path", "FILE", .needed = true,                                \
      .doc = "memory_profiling_*.json")                                                            \
    X(OVERLAP, "--overlap_coe_path", "FILE", .needed = true, .doc = "overlap_coefficient.json")    \
    X(ALLREDUCE, "--allreduce_coe_path", "FILE", .needed = true,                                   \
      .doc = "allreduce_bandwidth_*.json")                                                         \
    X(P2P, "--p2p_coe_path", "FILE", .needed = true, .doc = "p2p_bandwidth_*.json")                \
    X(COLLECTIVES, "--sp_time_path", "FILE", .needed = true, .doc = "sp_time_*.json")              \
    X(GRAIN, "--search_granularity", "WORD", .choices = grains, .preset = "fine-grained",          \
      .doc = "layers may differ, or not")                                                          \
    X(WORLD, "--world_size", "N", CALC_OPT_IS_WHOLE(1, 65536), .preset = "8", .doc = "GPUs")       \
    X(MIN_BATCH, "--min_bsz", "N", CALC_OPT_IS_WHOLE(1, 1e8), .preset = "8",                       \
      .doc = "first global batch")                                                                 \
    X(MAX_BATCH, "--max_bsz", "N", CALC_OPT_IS_WHOLE(1, 1e8), .preset = "8",                       \
      .doc = "last global batch")                                                                  \
    X(STEP, "--bsz_step", "N", CALC_OPT_IS_WHOLE(1, 1e8), .preset = "8",                           \
      .doc = "step between them")                                                                  \
    X(MAX_TP, "--max_tp_size", "N", CALC_OPT_IS_WHOLE(1, 65536), .preset = "8",                    \
      .doc = "largest degree of tensor parallelism, and of Ulysses")                               \
    X(MAX_PP, "--max_pp_size", "N", CALC_OPT_IS_WHOLE(1, 65536), .preset = "8",                    \
      .doc = "most stages")                                                                        \
    X(PRECISION, "--mixed_precision_type", "WORD", .choices = calc_galvatron_precision_words,      \
      .preset = "bf16", .doc = "number format")                                                    \
    X(LIMIT, "--memory_upper_limit", "GB", CALC_OPT_IS_NUMBER(1, 65536), .preset = "24",           \
      .doc = "memory of a GPU, in GB of 1,024 MB; over 20, 30 % are reserved")                     \
    X(SPACE, "--sp_space", "WORD", .choices = spaces, .preset = "tp",                              \
      .doc = "tensor parallelism, or Ulysses too")                                                 \
    X(LAYER_COUNT, "--layernum", "N", CALC_OPT_IS_WHOLE(1, 4000),                                  \
      .doc = "layers; those of --layernum_list")                                                   \
    X(NO_SDP, "--disable_sdp", "0|1", .choices = offs, .preset = "0", .doc = "no stage 3")         \
    X(NO_VTP, "--disable_vtp", "0|1", .choices = offs, .preset = "0",                              \
      .doc = "embedding and head are not split")                                                   \
    X(PARALLEL, "--parallel_search", "0|1", .unused = true,                                        \
      .doc = "without effect: the search needs no helpers")                                        \
    X(LOG, "--log_dir", "DIR", .unused = true, .doc = "without effect: there is no log")           \
    X(OUT, "--output_path", "DIR", .ours = true, .preset = "configs",                              \
      .doc = "folder of fine_grained_config.json")                                                 \
    X(PADDLE_FORMAT, "--format", "FORMAT", .choices = formats, .preset = "text", .ours = true,     \
      .doc = "what is printed")

enum { PADDLE(CALC_OPT_NUMBER) };
static const calc_opt paddle_rows[] = {PADDLE(CALC_OPT_ROW){0}};
static const char *const paddle_examples[] = {
    "calc as galvatron-paddle --hidden_size_list 5120 --layernum_list 72 --seqlen_list 32768 "
    "--world_size 64 --memory_upper_limit 95 --time_profile_mode sequence ...",
    NULL};

static int word(const calc_args *f, int row)
{
    return calc_choice_index(paddle_rows[row].choices, calc_opt_value(f, row));
}

static int64_t count(const calc_args *f, int row)
{
    return (int64_t)calc_opt_real(f, row);
}

/* Takes lists of sizes as the arguments of the search do. */
static bool take_lists(task *t, char *complaint, size_t size)
{
    static const struct {
        int row;
        const char *name;
    } lists[] = {{OPT_HIDDEN, "hidden_size"}, {OPT_LAYERS, "num_layers"}, {OPT_SEQ, "seq_length"}};
    char why[400];
    for (size_t i = 0; i < 3; i++) {
        const calc_galvatron_argument *at = calc_galvatron_argument_rows;
        while (strcmp(at->name, lists[i].name) != 0) {
            at++;
        }
        if (!calc_galvatron_arguments_set(&t->arguments, at, calc_opt_value(t->flags, lists[i].row),
                                          why, sizeof why)) {
            snprintf(complaint, size, "%s: %s", paddle_rows[lists[i].row].name, why);
            return false;
        }
    }
    if (t->arguments.num_layers.count != count(t->flags, OPT_TYPES)) {
        snprintf(complaint, size, "--layernum_list: %d values, and --num_layertype says %jd",
                 t->arguments.num_layers.count, count(t->flags, OPT_TYPES));
        return false;
    }
    return true;
}

static void take_request(task *t)
{
    enum { NODE = 8 };
    const calc_args *f = t->flags;
    calc_galvatron_request *r = &t->arguments.request;
    int64_t world = count(f, OPT_WORLD);
    r->dialect = CALC_GALVATRON_PADDLE;
    r->num_gpus_per_node = world < NODE ? world : NODE;
    r->num_nodes = world % r->num_gpus_per_node == 0 ? world / r->num_gpus_per_node : 0;
    r->memory_constraint = calc_opt_real(f, OPT_LIMIT);
    r->default_dp_type = CALC_GALVATRON_ZERO2;
    r->pipeline_type = CALC_GALVATRON_PIPEDREAM_FLUSH;
    r->mixed_precision = (calc_galvatron_precision)word(f, OPT_PRECISION);
    r->time_profile_mode = (calc_galvatron_time_mode)word(f, OPT_TIME_MODE);
    r->memory_profile_mode = (calc_galvatron_memory_mode)word(f, OPT_MEMORY_MODE);
    r->min_bsz = count(f, OPT_MIN_BATCH);
    r->max_bsz = count(f, OPT_MAX_BATCH);
    r->bsz_scale = count(f, OPT_STEP);
    r->max_tp_deg = r->max_sp_deg = count(f, OPT_MAX_TP);
    r->max_pp_deg = count(f, OPT_MAX_PP);
    r->disable_sp = word(f, OPT_SPACE) == 0;
    r->disable_fsdp = word(f, OPT_NO_SDP);
    r->disable_embedding_lmhead_tp = r->disable_embedding_lmhead_sp = word(f, OPT_NO_VTP);
    r->fine_grained = word(f, OPT_GRAIN) == 0;
    strcpy(t->arguments.model_size, "llama");
}

/* Checks that values given in two places agree. */
static bool check_twins(const task *t, char *complaint, size_t size)
{
    const calc_args *f = t->flags;
    int64_t world = count(f, OPT_WORLD);
    if ((world & (world - 1)) != 0) {
        snprintf(complaint, size, "--world_size: %jd is not a power of two", world);
        return false;
    }
    int64_t layers = 0;
    for (int i = 0; i < t->arguments.num_layers.count; i++) {
        layers += t->arguments.num_layers.of[i];
    }
    if (calc_opt_given(f, OPT_PROFILED) && count(f, OPT_PROFILED) != count(f, OPT_WORLD)) {
        snprintf(complaint, size, "--profile_gpu_num: %jd, and --world_size is %jd",
                 count(f, OPT_PROFILED), count(f, OPT_WORLD));
        return false;
    }
    if (calc_opt_given(f, OPT_LAYER_COUNT) && count(f, OPT_LAYER_COUNT) != layers) {
        snprintf(complaint, size, "--layernum: %jd, and --layernum_list has %jd",
                 count(f, OPT_LAYER_COUNT), layers);
        return false;
    }
    return true;
}

static calc_exit run_paddle(const calc_args *flags)
{
    char complaint[512];
    calc_errors errors = {0};
    task t = {.flags = flags};
    calc_galvatron_arguments_start(&t.arguments);
    take_request(&t);
    if (!take_lists(&t, complaint, sizeof complaint) ||
        !check_twins(&t, complaint, sizeof complaint) ||
        !calc_galvatron_arguments_finish(&t.arguments, complaint, sizeof complaint)) {
        return calc_complain_usage(flags->command, complaint);
    }
    const calc_galvatron_paths paths = {
        {calc_opt_value(flags, OPT_TIME), calc_opt_value(flags, OPT_MEMORY),
         calc_opt_value(flags, OPT_ALLREDUCE), calc_opt_value(flags, OPT_P2P),
         calc_opt_value(flags, OPT_OVERLAP), calc_opt_value(flags, OPT_COLLECTIVES)}};
    calc_as_tell_unused(flags);
    if (calc_galvatron_profiles_load(&t.profiles, &t.arguments.request, &paths, &errors) !=
        CALC_OK) {
        return calc_complain_failure(&errors);
    }
    calc_exit code = job_run(&t, calc_opt_value(flags, OPT_OUT), CALC_GALVATRON_PADDLE_FILE,
                             calc_opt_value(flags, OPT_PADDLE_FORMAT), calc_galvatron_paddle_write,
                             calc_galvatron_paddle_options, &errors);
    if (t.found.best.feasible && !calc_galvatron_paddle_uniform(&t.layout)) {
        calc_say("calc as galvatron-paddle: layers differ; options of the trainer are those "
                 "of the first one: --search_granularity coarse-grained finds what it can "
                 "do\n");
    }
    return code;
}

const calc_command calc_as_galvatron_paddle = {
    .name = "as galvatron-paddle",
    .theirs = "search_dist.py of the port in PaddleNLP",
    .summary = "the same for PaddleNLP, with the cost model of its port",
    .detail =
        "Finds how each layer is split over GPUs, sharded and recomputed, with the profiles "
        "and the cost model of PaddleNLP's port of Galvatron, writes fine_grained_config.json "
        "and prints the options of the trainer that follow from it.",
    .args = (const calc_arg[]){{0}},
    .opts = paddle_rows,
    .examples = paddle_examples,
    .run = run_paddle};
