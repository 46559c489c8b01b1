/* parallel_tool.py: finds the layouts that are legal and fit. The program measures memory with dry
 * runs; here calc's memory model or a table of peaks replaces them. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buffer.h"
#include "base/error.h"
#include "cli/as/flags.h"
#include "cli/as/taylor.h"
#include "cli/draw/human.h"
#include "cli/shell/complain.h"
#include "cli/shell/inputs.h"
#include "taylor/memory.h"
#include "taylor/yaml.h"

#define FLAGS(X)                                                                                   \
    X(YAML, "--yaml_path", "FILE", .preset = "./config/pretrain_deepseek3_128p.yaml",              \
      .doc = "the configuration of MindSpore Transformers")                                        \
    X(MINDFORMERS, "--mindformers_dir", "PATH", .also = "--mindfomres_dir", .unused = true,        \
      .doc = "no effect: nothing is run")                                                          \
    X(DRYRUN, "--dryrun_data_dir", "FILE",                                                         \
      .doc = "peaks that were measured, instead of calc's model: CSV, dp,tp,pp,ep,peak_mem [MB], " \
             "two rows with different ep for each dp,tp,pp; a folder of logs is not read")         \
    X(PROFILE_DATA, "--profile_data_dir", "PATH", .unused = true,                                  \
      .doc = "no effect: calc as taylor rank reads profiles")                                      \
    X(PARALLEL, "--parallel_num", "N", CALC_OPT_IS_WHOLE(1, 1e6), .unused = true,                  \
      .doc = "no effect: nothing is run")                                                          \
    X(RANKS, "--rank_num", "N", CALC_OPT_IS_WHOLE(1, 1e6), .preset = "64",                         \
      .doc = "processors for profiles, which files in --profile_path are cut down to")             \
    X(SOLVER, "--solver_name", "NAME", .unused = true,                                             \
      .doc = "no effect here: it is for the next step")                                            \
    X(REGISTER, "--register_path", "PATH", .unused = true, .doc = "no effect: nothing is run")     \
    X(SMALL, "--small_dataset", "PATH",                                                            \
      .doc = "data of profiles with dp up to 4; without it as --dataset")                          \
    X(DATASET, "--dataset", "PATH", .also = "--dataset_dir",                                       \
      .doc = "data that written files name; without it as in the configuration")                   \
    X(EXPERT, "--max_expert_parallel", "N", CALC_OPT_IS_WHOLE(1, 1e6), .preset = "64",             \
      .doc = "ep is at most that")                                                                 \
    X(OUTPUT, "--output_path", "DIR", .preset = "./output/nd_output/",                             \
      .doc = "where nd_candidate_config.csv goes")                                                 \
    X(ENV, "--env_json", "FILE", .unused = true, .doc = "no effect: nothing is run")               \
    X(GBS, "--gbs", "N", CALC_OPT_IS_WHOLE(1, 1e9), .preset = "1024", .doc = "global batch size")  \
    X(CONFIGS, "--config_path", "DIR", .preset = "./output/dryrun_yaml/", .ours = true,            \
      .doc = "where the configurations of the candidates go, for calc as taylor rank")             \
    X(PROFILES, "--profile_path", "DIR", .preset = "./output/profile_yaml/", .ours = true,         \
      .doc = "where those for profiles go")                                                        \
    CALC_TAYLOR_SYSTEM_FLAG(X)                                                                     \
    X(COMPAT, "--taylor_compat", "YES|NO", .kind = CALC_OPT_BOOL, .preset = "no", .ours = true,    \
      .doc = "filters as they are shipped: the number of experts does not bound ep, and tp "       \
             "divides 56 whatever the model's heads")                                              \
    X(HEADS, "--heads", "N", CALC_OPT_IS_WHOLE(0, 1e6), .ours = true,                              \
      .doc = "tp divides that; 0: need not; without it the attention heads of the model")          \
    X(TENSOR, "--max_tp", "N", CALC_OPT_IS_WHOLE(1, 1e6), .preset = "64", .ours = true,            \
      .doc = "tp is at most that: the processors of a fast domain, 64 in a 910C super node, 8 in " \
             "a node of 910B")                                                                     \
    X(CONTEXT, "--max_cp", "N", CALC_OPT_IS_WHOLE(1, 1), .preset = "1", .ours = true,              \
      .doc = "context parallelism is planned, not supported: 1")                                   \
    X(MIN_PIPELINE, "--min_pp", "N", CALC_OPT_IS_WHOLE(1, 256), .preset = "2", .ours = true,       \
      .doc = "fewest pipeline stages")                                                             \
    X(MAX_PIPELINE, "--max_pp", "N", CALC_OPT_IS_WHOLE(1, 256), .preset = "32", .ours = true,      \
      .doc = "most pipeline stages")                                                               \
    X(SEQUENCE, "--sp_from", "N", CALC_OPT_IS_WHOLE(1, 1e9), .preset = "1000", .ours = true,       \
      .doc = "from so many processors on sequence parallelism is on")                              \
    X(TOP, "--top", "N", CALC_OPT_IS_WHOLE(1, 1e9), .ours = true,                                  \
      .doc = "only the N candidates with the least peaks are written; without it all that fit")    \
    X(INDIVISIBLE, "--tp_not_multiple_of", "N", CALC_OPT_IS_WHOLE(0, 1e6), .preset = "3",          \
      .ours = true, .doc = "tp is no multiple of that; 0: may be")                                 \
    X(FILLS, "--fill_pipeline", "YES|NO", .kind = CALC_OPT_BOOL, .preset = "yes", .ours = true,    \
      .doc = "at least as many layers and micro-batches as stages")                                \
    X(DIVIDES, "--divide_batch", "YES|NO", .kind = CALC_OPT_BOOL, .preset = "yes", .ours = true,   \
      .doc = "dp divides the global batch")

CALC_OPTIONS(FLAGS);
static const calc_arg rows[] = {{0}};
static const char *const examples[] = {
    "calc as taylor nd --yaml_path pretrain_deepseek3.yaml --gbs 1024",
    "calc as taylor nd --yaml_path pretrain_deepseek3.yaml --taylor_compat yes --max_tp 8", NULL};

typedef struct search {
    const calc_args *flags;
    calc_taylor_file file;
    calc_system system;
    calc_taylor_space space;
    calc_csv_rows probes;
    int64_t batch;
    calc_taylor_layout *layout;
    size_t layouts, layout_capacity;
    calc_taylor_candidate *candidate;
    size_t candidates, candidate_capacity;
    bool elsewhere; /* a peak is that of another stage than the base */
} search;

static int64_t count_of(const calc_args *flags, int row)
{
    return (int64_t)calc_opt_real(flags, row);
}

static void take_layout(void *context, const calc_taylor_layout *layout)
{
    search *s = context;
    CALC_ADD(s->layout, s->layouts, s->layout_capacity, layout);
}

static calc_taylor_space space_of(const search *s)
{
    enum { SHIPPED_HEADS = 56 };
    const calc_args *f = s->flags;
    const calc_taylor_config *c = &s->file.config;
    bool compat = calc_opt_truth(f, OPT_COMPAT);
    calc_taylor_space space = {.world = calc_taylor_config_world(c),
                               .batch = s->batch,
                               .layers = c->layers,
                               .prediction = c->prediction,
                               .experts = compat ? 0 : (c->experts > 0 ? c->experts : 1),
                               .heads = compat ? SHIPPED_HEADS : c->heads,
                               .most_context = count_of(f, OPT_CONTEXT),
                               .most_tensor = count_of(f, OPT_TENSOR),
                               .most_expert = count_of(f, OPT_EXPERT),
                               .fewest_stages = count_of(f, OPT_MIN_PIPELINE),
                               .most_stages = count_of(f, OPT_MAX_PIPELINE),
                               .sequence_from = count_of(f, OPT_SEQUENCE),
                               .tensor_indivisible = count_of(f, OPT_INDIVISIBLE),
                               .fills = calc_opt_truth(f, OPT_FILLS),
                               .divides = calc_opt_truth(f, OPT_DIVIDES)};
    if (calc_opt_given(f, OPT_HEADS)) {
        space.heads = count_of(f, OPT_HEADS);
    }
    return space;
}

/* Collects the ep values of a layout that fit. */
static void take_experts(search *s, const calc_taylor_layout *l, const calc_taylor_fit *fit)
{
    const calc_taylor_config *c = &s->file.config;
    int64_t experts = s->probes.item ? s->space.experts : c->experts > 0 ? c->experts : 1;
    for (int64_t expert = 1; expert <= s->space.most_expert; expert *= 2) {
        if (!calc_taylor_tries(l, experts, s->space.most_expert, expert)) {
            continue;
        }
        char why[320];
        double mb = s->probes.item ? calc_taylor_fit_mb(fit, expert)
                                   : calc_taylor_estimate_mb(c, &s->system, l, expert, s->batch,
                                                             why, sizeof why);
        if (!(mb <= c->memory_mb)) {
            continue;
        }
        const calc_taylor_candidate fits = {.layout = *l, .expert = expert, .peak_mb = mb};
        CALC_ADD(s->candidate, s->candidates, s->candidate_capacity, &fits);
    }
}

static void weigh(search *s, calc_output *out)
{
    calc_output_printf(out, "%5s%5s%5s%14s%16s  %s\n", "dp", "tp", "pp", "base MB",
                       "expert_total MB", "peak MB by ep");
    for (size_t i = 0; i < s->layouts; i++) {
        const calc_taylor_layout *l = &s->layout[i];
        char why[320] = "";
        bool measured = s->probes.item != NULL;
        calc_taylor_fit fit = measured ? calc_taylor_probes_fit(&s->probes, l)
                                       : calc_taylor_estimate(&s->file.config, &s->system, l,
                                                              s->batch, why, sizeof why);
        calc_output_printf(out, "%5jd%5jd%5jd", l->data, l->tensor, l->pipeline);
        if (fit.probes < 2) {
            calc_output_printf(out, "%14s%16s  not known: %s\n", "-", "-",
                               !measured        ? why
                               : fit.probes > 0 ? "one probe of two is missing"
                                                : "no probes");
            continue;
        }
        size_t first = s->candidates;
        take_experts(s, l, &fit);
        calc_output_printf(out, "%14.0f%16.0f ", fit.base_mb, fit.expert_mb);
        for (size_t j = first; j < s->candidates; j++) {
            const calc_taylor_candidate *c = &s->candidate[j];
            bool elsewhere = fabs(c->peak_mb - calc_taylor_fit_mb(&fit, c->expert)) > 1;
            s->elsewhere = s->elsewhere || elsewhere;
            calc_output_printf(out, " %jd:%.0f%s", c->expert, c->peak_mb, elsewhere ? "*" : "");
        }
        calc_output_text(out, s->candidates > first ? "\n" : " none fits\n");
    }
    if (s->elsewhere) {
        calc_output_text(out, "*: of another stage, which is the fullest there, than base and "
                              "expert_total\n");
    }
}

static int by_peak(const void *a, const void *b)
{
    const calc_taylor_candidate *x = a, *y = b;
    return CALC_ORDER(x->peak_mb, y->peak_mb);
}

static calc_status write_csv(const search *s, calc_errors *errors)
{
    char path[CALC_AS_PATH_SIZE], number[40];
    const char *folder = calc_opt_value(s->flags, OPT_OUTPUT);
    calc_output *out = calc_write_to(calc_as_path(folder, "nd_candidate_config.csv", path));
    calc_output_text(out, "dp,tp,pp,ep,evaluate_mem\n");
    for (size_t i = 0; i < s->candidates; i++) {
        const calc_taylor_candidate *c = &s->candidate[i];
        snprintf(number, sizeof number, "%.15g", c->peak_mb);
        /* Python writes 47894.0. */
        calc_output_printf(out, "%jd,%jd,%jd,%jd,%s%s\n", c->layout.data, c->layout.tensor,
                           c->layout.pipeline, c->expert, number,
                           strpbrk(number, ".en") ? "" : ".0");
    }
    return calc_output_close(out, errors);
}

static calc_status write_edited(const search *s, const char *folder, const char *name,
                                const calc_taylor_edits *edits, calc_errors *errors)
{
    char path[CALC_AS_PATH_SIZE];
    return calc_taylor_write(&s->file, calc_opt_value(s->flags, OPT_YAML), edits,
                             calc_as_path(folder, name, path), errors);
}

/* The configuration of a candidate, and the one for its profile. */
static calc_status write_configs(const search *s, const calc_taylor_candidate *c, bool *profiled,
                                 calc_errors *errors)
{
    char name[CALC_TAYLOR_NAME_SIZE];
    const calc_taylor_config *config = &s->file.config;
    const char *dataset = calc_opt_value(s->flags, OPT_DATASET);
    calc_taylor_edits full = {.count = 0}, small = {.count = 0};
    calc_taylor_edits_layout(config, c, s->batch, dataset, &full);
    calc_status status = write_edited(s, calc_opt_value(s->flags, OPT_CONFIGS),
                                      calc_taylor_file_name(c, name), &full, errors);
    *profiled = status == CALC_OK &&
                calc_taylor_edits_profile(config, c, s->batch, count_of(s->flags, OPT_RANKS),
                                          dataset, calc_opt_value(s->flags, OPT_SMALL), &small);
    return *profiled ? write_edited(s, calc_opt_value(s->flags, OPT_PROFILES), name, &small, errors)
                     : status;
}

static calc_status write_all(const search *s, calc_output *out, calc_errors *errors)
{
    size_t profiles = 0;
    const char *configs = calc_opt_value(s->flags, OPT_CONFIGS);
    const char *profile_path = calc_opt_value(s->flags, OPT_PROFILES);
    calc_status status = write_csv(s, errors);
    if (status == CALC_OK && s->candidates > 0) {
        status = calc_as_make_folder(configs, errors);
    }
    if (status == CALC_OK && s->candidates > 0) {
        status = calc_as_make_folder(profile_path, errors);
    }
    for (size_t i = 0; i < s->candidates && status == CALC_OK; i++) {
        bool profiled;
        status = write_configs(s, &s->candidate[i], &profiled, errors);
        profiles += profiled;
    }
    if (status == CALC_OK) {
        char path[CALC_AS_PATH_SIZE];
        calc_output_printf(
            out, "%zu candidates fit %g GB: %s, %s\n", s->candidates,
            s->file.config.memory_mb / 1024,
            calc_as_path(calc_opt_value(s->flags, OPT_OUTPUT), "nd_candidate_config.csv", path),
            configs);
        calc_output_printf(out, "%zu of them can be profiled on %jd processors: %s\n", profiles,
                           count_of(s->flags, OPT_RANKS), profile_path);
    }
    return status;
}

static calc_status read_all(search *s, calc_errors *errors)
{
    const char *yaml = calc_opt_value(s->flags, OPT_YAML);
    const char *probes = calc_opt_value(s->flags, OPT_DRYRUN);
    calc_status status = calc_taylor_file_read(&s->file, yaml, errors);
    if (status == CALC_OK && calc_taylor_config_world(&s->file.config) > 1000000) {
        status = calc_errors_at(errors, CALC_ERR_RANGE, yaml, 0, 0, NULL,
                                "data_parallel * model_parallel * pipeline_stage = %jd: expected "
                                "at most 1000000",
                                calc_taylor_config_world(&s->file.config));
    }
    status = status ? status
                    : calc_document_load(CALC_KIND_SYSTEM, calc_opt_value(s->flags, OPT_SYSTEM),
                                         &s->system, errors);
    if (status == CALC_OK && probes) {
        status = calc_csv_table_read(&s->probes, &calc_taylor_probes, probes, errors);
    }
    status = status ? status : calc_as_make_folder(calc_opt_value(s->flags, OPT_OUTPUT), errors);
    return status;
}

static calc_status find(search *s, calc_output *out, calc_errors *errors)
{
    calc_status status = read_all(s, errors);
    if (status != CALC_OK) {
        return status;
    }
    calc_taylor_tell(&s->file.config, calc_opt_value(s->flags, OPT_YAML));
    s->space = space_of(s);
    calc_taylor_counts counts = calc_taylor_space_walk(&s->space, take_layout, s);
    calc_output_printf(out, "%s candidates on %jd processors, %s pass the filters: %jd layouts\n",
                       calc_human_integer((double)counts.total), s->space.world,
                       calc_human_integer((double)counts.kept), counts.layouts);
    weigh(s, out);
    size_t top = calc_opt_given(s->flags, OPT_TOP) ? (size_t)count_of(s->flags, OPT_TOP) : SIZE_MAX;
    if (s->candidates > top) {
        calc_output_printf(out, "%zu candidates fit; the %zu with the least peaks:\n",
                           s->candidates, top);
        CALC_SORT(s->candidate, s->candidates, by_peak);
        s->candidates = top;
    }
    return write_all(s, out, errors);
}

static calc_exit run(const calc_args *flags)
{
    search s = {.flags = flags, .batch = count_of(flags, OPT_GBS)};
    calc_errors errors = {0};
    calc_as_tell_unused(flags);
    calc_output *out = calc_write_to("-");
    (void)calc_is_yes(find(&s, out, &errors));
    (void)!calc_output_close(out, &errors);
    bool found = s.candidates > 0;
    calc_csv_rows_free(&s.probes);
    calc_text_free(&s.file.text);
    free(s.layout);
    free(s.candidate);
    calc_exit result = calc_complain_errors(&errors);
    return result == CALC_EXIT_OK && !found ? CALC_EXIT_INFEASIBLE : result;
}

const calc_command calc_as_taylor_nd = {
    .name = "as taylor nd",
    .theirs = "parallel_tool.py",
    .summary = "list the layouts (dp, tp, pp, ep) that are legal and fit, as parallel_tool.py does",
    .detail =
        "Counts the layouts of the configuration's processors, applies the filters, and keeps "
        "those whose fullest stage fits max_device_memory: by calc's model where Taylor makes "
        "dry runs, or by a table of peaks. Writes nd_candidate_config.csv, and for each "
        "candidate its configuration and one that is cut down for a profile. Counts are of "
        "(dp, tp, cp, pp), ep, optimizer shards, chunks from 0, micro-batches 1, 2 and 4, "
        "and sequence parallelism, as Taylor counts them; memory is that of one chunk, "
        "micro-batches of one sequence, and recomputation as in the configuration.",
    CALC_COMMAND_PARTS};
