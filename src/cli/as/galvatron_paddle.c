#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "cli/as/flags.h"
#include "cli/as/galvatron_show.h"
#include "cli/shell/complain.h"
#include "spec/field.h"

static const char *const grains[] = {"fine-grained", "coarse-grained", NULL};
static const char *const spaces[] = {"tp", "tp+sp", NULL};
static const char *const formats[] = {"text", "json", NULL};
static const char *const offs[] = {"0", "1", NULL};

#define FLAGS(X)                                                                                   \
    X(TIME_MODE, "--time_profile_mode", "MODE", TEXT, .choices = calc_galvatron_time_words,        \
      .preset = "static", .doc = "how times follow from the profile")                              \
    X(MEMORY_MODE, "--memory_profile_mode", "MODE", TEXT, .choices = calc_galvatron_memory_words,  \
      .also = "--profile_mode", .preset = "static", .doc = "how memory follows from the profile")  \
    X(TYPES, "--num_layertype", "N", WHOLE, .lo = 1, .hi = CALC_GALVATRON_TYPES, .preset = "1",    \
      .doc = "types of layers")                                                                    \
    X(HIDDEN, "--hidden_size_list", "N[,N]...", TEXT, .needed = true, .doc = "width of each type") \
    X(LAYERS, "--layernum_list", "N[,N]...", TEXT, .also = "--layer_num_list", .needed = true,     \
      .doc = "layers of each type")                                                                \
    X(SEQ, "--seqlen_list", "N[,N]...", TEXT, .needed = true, .doc = "tokens of a sequence")       \
    X(PROFILED, "--profile_gpu_num", "N", WHOLE, .lo = 1, .hi = 65536,                             \
      .doc = "GPUs of the profiles; those of --world_size")                                        \
    X(TIME, "--time_profile_data_path", "FILE", TEXT, .needed = true,                              \
      .doc = "computation_profiling_*.json")                                                       \
    X(MEMORY, "--memory_profile_data_path", "FILE", TEXT, .needed = true,                          \
      .doc = "memory_profiling_*.json")                                                            \
    X(OVERLAP, "--overlap_coe_path", "FILE", TEXT, .needed = true,                                 \
      .doc = "overlap_coefficient.json")                                                           \
    X(ALLREDUCE, "--allreduce_coe_path", "FILE", TEXT, .needed = true,                             \
      .doc = "allreduce_bandwidth_*.json")                                                         \
    X(P2P, "--p2p_coe_path", "FILE", TEXT, .needed = true, .doc = "p2p_bandwidth_*.json")          \
    X(COLLECTIVES, "--sp_time_path", "FILE", TEXT, .needed = true, .doc = "sp_time_*.json")        \
    X(GRAIN, "--search_granularity", "WORD", TEXT, .choices = grains, .preset = "fine-grained",    \
      .doc = "layers may differ, or not")                                                          \
    X(WORLD, "--world_size", "N", WHOLE, .lo = 1, .hi = 65536, .preset = "8", .doc = "GPUs")       \
    X(MIN_BATCH, "--min_bsz", "N", WHOLE, .lo = 1, .hi = 1e8, .preset = "8",                       \
      .doc = "first global batch")                                                                 \
    X(MAX_BATCH, "--max_bsz", "N", WHOLE, .lo = 1, .hi = 1e8, .preset = "8",                       \
      .doc = "last global batch")                                                                  \
    X(STEP, "--bsz_step", "N", WHOLE, .lo = 1, .hi = 1e8, .preset = "8",                           \
      .doc = "step between them")                                                                  \
    X(MAX_TP, "--max_tp_size", "N", WHOLE, .lo = 1, .hi = 65536, .preset = "8",                    \
      .doc = "largest degree of tensor parallelism, and of Ulysses")                               \
    X(MAX_PP, "--max_pp_size", "N", WHOLE, .lo = 1, .hi = 65536, .preset = "8",                    \
      .doc = "most stages")                                                                        \
    X(PRECISION, "--mixed_precision_type", "WORD", TEXT,                                           \
      .choices = calc_galvatron_precision_words, .preset = "bf16", .doc = "number format")         \
    X(LIMIT, "--memory_upper_limit", "GB", NUMBER, .lo = 1, .hi = 65536, .preset = "24",           \
      .doc = "memory of a GPU, in GB of 1,024 MB; over 20, 30 % are reserved")                     \
    X(SPACE, "--sp_space", "WORD", TEXT, .choices = spaces, .preset = "tp",                        \
      .doc = "tensor parallelism, or Ulysses too")                                                 \
    X(LAYER_COUNT, "--layernum", "N", WHOLE, .lo = 1, .hi = 4000,                                  \
      .doc = "layers; those of --layernum_list")                                                   \
    X(NO_SDP, "--disable_sdp", "0|1", TEXT, .choices = offs, .preset = "0", .doc = "no stage 3")   \
    X(NO_VTP, "--disable_vtp", "0|1", TEXT, .choices = offs, .preset = "0",                        \
      .doc = "embedding and head are not split")                                                   \
    X(PARALLEL, "--parallel_search", "0|1", TEXT, .unused = true,                                  \
      .doc = "without effect: the search needs no helpers")                                        \
    X(LOG, "--log_dir", "DIR", TEXT, .unused = true, .doc = "without effect: there is no log")     \
    X(OUT, "--output_path", "DIR", TEXT, .ours = true, .preset = "configs",                        \
      .doc = "folder of fine_grained_config.json")                                                 \
    X(FORMAT, "--format", "FORMAT", TEXT, .choices = formats, .preset = "text", .ours = true,      \
      .doc = "what is printed")

enum { FLAGS(CALC_FLAG_NUMBER_OF) };
static const calc_opt rows[] = {FLAGS(CALC_FLAG_ROW){0}};
static const char *const examples[] = {
    "calc as galvatron-paddle --hidden_size_list 5120 --layernum_list 72 --seqlen_list 32768 "
    "--world_size 64 --memory_upper_limit 95 --time_profile_mode sequence ...",
    NULL};

typedef calc_galvatron_job task;

static int word(const calc_args *f, int row)
{
    return calc_choice_index(rows[row].choices, calc_opt_value(f, row));
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
    } lists[] = {
        {FLAG_HIDDEN, "hidden_size"}, {FLAG_LAYERS, "num_layers"}, {FLAG_SEQ, "seq_length"}};
    char why[400];
    for (size_t i = 0; i < 3; i++) {
        const calc_galvatron_argument *at = calc_galvatron_argument_rows;
        while (strcmp(at->name, lists[i].name) != 0) {
            at++;
        }
        if (!calc_galvatron_arguments_set(&t->arguments, at, calc_opt_value(t->flags, lists[i].row),
                                          why, sizeof why)) {
            snprintf(complaint, size, "%s: %s", rows[lists[i].row].name, why);
            return false;
        }
    }
    if (t->arguments.num_layers.count != count(t->flags, FLAG_TYPES)) {
        snprintf(complaint, size, "--layernum_list: %d values, and --num_layertype says %lld",
                 t->arguments.num_layers.count, (long long)count(t->flags, FLAG_TYPES));
        return false;
    }
    return true;
}

static void take_request(task *t)
{
    enum { NODE = 8 };
    const calc_args *f = t->flags;
    calc_galvatron_request *r = &t->arguments.request;
    int64_t world = count(f, FLAG_WORLD);
    r->dialect = CALC_GALVATRON_PADDLE;
    r->num_gpus_per_node = world < NODE ? world : NODE;
    r->num_nodes = world % r->num_gpus_per_node == 0 ? world / r->num_gpus_per_node : 0;
    r->memory_constraint = calc_opt_real(f, FLAG_LIMIT);
    r->default_dp_type = CALC_GALVATRON_ZERO2;
    r->pipeline_type = CALC_GALVATRON_PIPEDREAM_FLUSH;
    r->mixed_precision = (calc_galvatron_precision)word(f, FLAG_PRECISION);
    r->time_profile_mode = (calc_galvatron_time_mode)word(f, FLAG_TIME_MODE);
    r->memory_profile_mode = (calc_galvatron_memory_mode)word(f, FLAG_MEMORY_MODE);
    r->min_bsz = count(f, FLAG_MIN_BATCH);
    r->max_bsz = count(f, FLAG_MAX_BATCH);
    r->bsz_scale = count(f, FLAG_STEP);
    r->max_tp_deg = r->max_sp_deg = count(f, FLAG_MAX_TP);
    r->max_pp_deg = count(f, FLAG_MAX_PP);
    r->disable_sp = word(f, FLAG_SPACE) == 0;
    r->disable_fsdp = word(f, FLAG_NO_SDP);
    r->disable_embedding_lmhead_tp = r->disable_embedding_lmhead_sp = word(f, FLAG_NO_VTP);
    r->fine_grained = word(f, FLAG_GRAIN) == 0;
    strcpy(t->arguments.model_size, "llama");
}

/* Checks that values given in two places agree. */
static bool check_twins(const task *t, char *complaint, size_t size)
{
    const calc_args *f = t->flags;
    int64_t world = count(f, FLAG_WORLD);
    if ((world & (world - 1)) != 0) {
        snprintf(complaint, size, "--world_size: %lld is not a power of two", (long long)world);
        return false;
    }
    int64_t layers = 0;
    for (int i = 0; i < t->arguments.num_layers.count; i++) {
        layers += t->arguments.num_layers.of[i];
    }
    if (calc_opt_given(f, FLAG_PROFILED) && count(f, FLAG_PROFILED) != count(f, FLAG_WORLD)) {
        snprintf(complaint, size, "--profile_gpu_num: %lld, and --world_size is %lld",
                 (long long)count(f, FLAG_PROFILED), (long long)count(f, FLAG_WORLD));
        return false;
    }
    if (calc_opt_given(f, FLAG_LAYER_COUNT) && count(f, FLAG_LAYER_COUNT) != layers) {
        snprintf(complaint, size, "--layernum: %lld, and --layernum_list has %lld",
                 (long long)count(f, FLAG_LAYER_COUNT), (long long)layers);
        return false;
    }
    return true;
}

static calc_exit run(const calc_args *flags)
{
    char complaint[512];
    calc_errors errors = {0};
    task *t = calc_make(1, sizeof *t);
    t->flags = flags;
    calc_galvatron_arguments_start(&t->arguments);
    take_request(t);
    calc_exit code;
    if (take_lists(t, complaint, sizeof complaint) && check_twins(t, complaint, sizeof complaint) &&
        calc_galvatron_arguments_finish(&t->arguments, complaint, sizeof complaint)) {
        const calc_galvatron_paths paths = {
            {calc_opt_value(flags, FLAG_TIME), calc_opt_value(flags, FLAG_MEMORY),
             calc_opt_value(flags, FLAG_ALLREDUCE), calc_opt_value(flags, FLAG_P2P),
             calc_opt_value(flags, FLAG_OVERLAP), calc_opt_value(flags, FLAG_COLLECTIVES)}};
        calc_as_tell_unused(flags);
        code = calc_galvatron_profiles_load(&t->profiles, &t->arguments.request, &paths, &errors) ==
                       CALC_OK
                   ? calc_galvatron_job_run(
                         t, calc_opt_value(flags, FLAG_OUT), CALC_GALVATRON_PADDLE_FILE,
                         calc_opt_value(flags, FLAG_FORMAT), calc_galvatron_paddle_write,
                         calc_galvatron_paddle_options, &errors)
                   : calc_complain_failure(&errors);
        if (t->found.best.feasible && !calc_galvatron_paddle_uniform(&t->layout)) {
            calc_say("calc as galvatron-paddle: layers differ; options of the trainer are those "
                     "of the first one: --search_granularity coarse-grained finds what it can "
                     "do\n");
        }
    } else {
        code = calc_complain_usage(flags->command, complaint);
    }
    free(t);
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
    .opts = rows,
    .examples = examples,
    .run = run};
