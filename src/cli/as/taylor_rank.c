/* pipeline_tool.py: ranks candidates, each with its best pipeline, by the time per step. */
#include <dirent.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/buffer.h"
#include "base/error.h"
#include "cli/as/flags.h"
#include "cli/as/taylor.h"
#include "cli/shell/complain.h"
#include "spec/field.h"
#include "taylor/memory.h"
#include "taylor/yaml.h"

#define FLAGS(X)                                                                                   \
    X(YAML, "--yaml_path", "DIR", TEXT, .preset = "./output/dryrun_yaml/",                         \
      .doc = "folder of configurations, DP<n>_TP<n>_PP<n>_EP<n>_pretrain.yaml")                    \
    X(MINDFORMERS, "--mindformers_dir", "PATH", TEXT, .also = "--mindfomres_dir", .unused = true,  \
      .doc = "no effect: nothing is run")                                                          \
    X(PROFILES, "--parser_result", "FILE", TEXT,                                                   \
      .doc =                                                                                       \
          "profiles: CSV, dp,tp,pp,ep,dmratio,bfratio,re_grow_ration,hratio,moe_bw; a blank is "   \
          "0.3, 2, 1, 1.5; moe_bw, the forward time of a layer with experts in milliseconds, "     \
          "is needed; without the file all are of calc's model on --system")                       \
    X(PROFILE_DATA, "--profile_data_dir", "PATH", TEXT, .unused = true,                            \
      .doc = "no effect: timelines are not read")                                                  \
    X(SOLVER, "--solver_name", "NAME", TEXT, .preset = "calc", .choices = calc_taylor_solvers,     \
      .doc = "calc's own search, or GLPK's glpsol, if it is installed; HIGHS is calc's")           \
    X(GBS, "--gbs", "N", WHOLE, .lo = 1, .hi = 1e9, .preset = "1024", .doc = "global batch size")  \
    X(CANDIDATES, "--nd_path", "FILE", TEXT,                                                       \
      .doc = "only the layouts of this nd_candidate_config.csv")                                   \
    CALC_TAYLOR_SYSTEM_FLAG(X)                                                                     \
    X(TIME, "--time_limit", "SECONDS", NUMBER, .lo = 0.001, .hi = 1e9, .ours = true,               \
      .doc = "time limit of the solver for each layout; without it none")                          \
    X(CHECK, "--check", "YES|NO", BOOL, .preset = "yes", .ours = true,                             \
      .doc = "check peaks with calc's model, and tighten the limits at most five times")           \
    X(COMPAT, "--taylor_compat", "YES|NO", BOOL, .preset = "no", .ours = true,                     \
      .doc = "as shipped: a dense layer that recomputes takes a forward more, whatever its ratio") \
    X(OUTPUT, "--output_path", "DIR", TEXT, .preset = "./pipeline_output/", .ours = true,          \
      .doc = "where test_result_<time>.csv goes")

enum { FLAGS(CALC_FLAG_NUMBER_OF) };
static const calc_opt rows[] = {FLAGS(CALC_FLAG_ROW){0}};
static const char *const examples[] = {
    "calc as taylor rank --yaml_path ./output/dryrun_yaml/ --parser_result profiling_result.csv",
    NULL};

typedef struct ranking {
    const calc_args *flags;
    calc_system system;
    calc_csv_rows profiles, only;
    calc_taylor_result **item;
    size_t count;
} ranking;

/* Whether --nd_path, if given, contains the layout. */
static bool is_wanted(const ranking *r, const calc_taylor_candidate *c)
{
    const calc_taylor_probe *row = r->only.item;
    for (size_t i = 0; i < r->only.count; i++) {
        if (row[i].data == c->layout.data && row[i].tensor == c->layout.tensor &&
            row[i].pipeline == c->layout.pipeline && row[i].expert == c->expert) {
            return true;
        }
    }
    return !calc_opt_given(r->flags, FLAG_CANDIDATES);
}

static void add(ranking *r, const char *folder, const char *name)
{
    calc_taylor_candidate candidate;
    const char *ending = strrchr(name, '.');
    bool yaml = ending && (strcmp(ending, ".yaml") == 0 || strcmp(ending, ".yml") == 0);
    if (!yaml || !calc_taylor_file_layout(name, &candidate) || !is_wanted(r, &candidate)) {
        return;
    }
    calc_taylor_result *one = calc_make(1, sizeof *one);
    one->candidate = candidate;
    calc_as_path(folder, name, one->path);
    r->item = calc_longer(r->item, r->count + 1, sizeof *r->item);
    r->item[r->count++] = one;
}

static int by_path(const void *a, const void *b)
{
    return strcmp((*(calc_taylor_result *const *)a)->path, (*(calc_taylor_result *const *)b)->path);
}

static calc_status list_candidates(ranking *r, calc_errors *errors)
{
    const char *path = calc_opt_value(r->flags, FLAG_YAML);
    DIR *folder = opendir(path);
    calc_status status = CALC_OK;
    if (!folder) {
        return calc_errors_at(errors, errno == ENOENT ? CALC_ERR_NOT_FOUND : CALC_ERR_IO, path, 0,
                              0, "calc as taylor nd makes it", "cannot read the folder: %s",
                              strerror(errno));
    }
    for (struct dirent *entry; (entry = readdir(folder));) {
        add(r, path, entry->d_name);
    }
    closedir(folder);
    if (r->count == 0) {
        status =
            calc_errors_at(errors, CALC_ERR_NOT_FOUND, path, 0, 0, "calc as taylor nd writes them",
                           "no DP<n>_TP<n>_PP<n>_EP<n>_pretrain.yaml%s",
                           calc_opt_given(r->flags, FLAG_CANDIDATES) ? " that --nd_path has" : "");
    }
    if (r->count > 0) {
        qsort(r->item, r->count, sizeof *r->item, by_path);
    }
    return status;
}

/* Whether a configuration describes the layout that its name states. */
static bool agrees(const calc_taylor_result *one)
{
    const calc_taylor_config *c = &one->file.config;
    const calc_taylor_candidate *named = &one->candidate;
    return c->data == named->layout.data && c->tensor == named->layout.tensor &&
           c->pipeline == named->layout.pipeline && c->expert == named->expert;
}

static calc_taylor_solver wanted_solver(const ranking *r)
{
    return (calc_taylor_solver)calc_choice_index(calc_taylor_solvers,
                                                 calc_opt_value(r->flags, FLAG_SOLVER));
}

/* Costs from the profile, or from calc's model if there are no profiles. */
static calc_status find_ratios(const ranking *r, const calc_taylor_result *one,
                               calc_taylor_ratios *out, calc_errors *errors)
{
    const char *path = calc_opt_value(r->flags, FLAG_PROFILES);
    const calc_taylor_candidate *c = &one->candidate;
    if (!path) {
        *out = calc_taylor_ratios_of(&one->file.config, &r->system, &one->job.exec);
        return CALC_OK;
    }
    bool profiled = calc_taylor_profiles_find(&r->profiles, c, out);
    return profiled && out->layer_ms > 0
               ? CALC_OK
               : calc_errors_at(errors, CALC_ERR_FIELD, path, 0, 0, NULL,
                                "%s dp,tp,pp,ep = %lld,%lld,%lld,%lld",
                                profiled ? "no moe_bw for" : "no row for",
                                (long long)c->layout.data, (long long)c->layout.tensor,
                                (long long)c->layout.pipeline, (long long)c->expert);
}

/* Solves a candidate. An error affects this candidate only. */
static void solve(const ranking *r, calc_taylor_result *one)
{
    calc_errors errors = {0};
    calc_taylor_ratios ratios = {.layer_ms = NAN};
    calc_status status = calc_taylor_file_read(&one->file, one->path, &errors);
    calc_text_free(&one->file.text);
    status = status == CALC_OK && !agrees(one)
                 ? calc_errors_at(&errors, CALC_ERR_RULE, one->path, 0, 0, NULL,
                                  "its parallel_config is not that of its name")
                 : status;
    if (status == CALC_OK) {
        status = calc_taylor_job_of(&one->file.config, &r->system,
                                    (int64_t)calc_opt_real(r->flags, FLAG_GBS), &one->job, &errors);
        calc_taylor_place(&errors, one->path);
    }
    status = status == CALC_OK ? find_ratios(r, one, &ratios, &errors) : status;
    if (status == CALC_OK) {
        calc_taylor_job *j = &one->job;
        const char *less = getenv("ENABLE_LESS_MEM_VPP");
        j->ask.less_memory = less && strcmp(less, "1") == 0;
        j->ask.shipped = calc_opt_truth(r->flags, FLAG_COMPAT);
        j->check = calc_opt_truth(r->flags, FLAG_CHECK);
        j->solver = wanted_solver(r);
        j->time_limit_s = calc_opt_real(r->flags, FLAG_TIME);
        one->job.ratios = ratios;
        status = calc_taylor_solve(&one->job, &errors);
    }
    if (status != CALC_OK && errors.count == 0) {
        calc_errors_status(&errors, status);
    }
    if (errors.count > 0) {
        calc_error_print(&errors.item[0], one->failure, sizeof one->failure);
    }
    one->cost_ms = status == CALC_OK && one->job.fits
                       ? one->job.solution.answer.step_s * ratios.layer_ms
                       : INFINITY;
}

static int by_cost(const void *a, const void *b)
{
    double x = (*(calc_taylor_result *const *)a)->cost_ms;
    double y = (*(calc_taylor_result *const *)b)->cost_ms;
    return x < y ? -1 : x > y ? 1 : by_path(a, b);
}

static calc_status write_results(const ranking *r, calc_output *shown, calc_errors *errors)
{
    char stamp[32], name[64], path[CALC_AS_PATH_SIZE];
    time_t now = time(NULL);
    struct tm local;
    const char *folder = calc_opt_value(r->flags, FLAG_OUTPUT);
    calc_status status = calc_as_make_folder(folder, errors);
    strftime(stamp, sizeof stamp, "%Y%m%d%H%M%S", localtime_r(&now, &local));
    snprintf(name, sizeof name, "test_result_%s.csv", stamp);
    if (status != CALC_OK) {
        return status;
    }
    calc_output *out = calc_write_to(calc_as_path(folder, name, path));
    calc_taylor_result_head(out);
    for (size_t i = 0; i < r->count; i++) {
        calc_taylor_result_row(r->item[i], out);
    }
    status = calc_output_close(out, errors);
    if (status == CALC_OK) {
        calc_output_printf(shown, "%s\n", path);
    }
    return status;
}

static calc_status read_all(ranking *r, calc_errors *errors)
{
    const char *only = calc_opt_value(r->flags, FLAG_CANDIDATES);
    calc_status status =
        calc_taylor_system_read(&r->system, calc_opt_value(r->flags, FLAG_SYSTEM), errors);
    status = status == CALC_OK && only
                 ? calc_csv_table_read(&r->only, &calc_taylor_probes, only, errors)
                 : status;
    status = status == CALC_OK ? list_candidates(r, errors) : status;
    if (status == CALC_OK && calc_opt_given(r->flags, FLAG_PROFILES)) {
        /* Reports wrong rows and keeps the others. */
        status = calc_csv_table_read(&r->profiles, &calc_taylor_profiles,
                                     calc_opt_value(r->flags, FLAG_PROFILES), errors);
        status = r->profiles.count > 0 ? CALC_OK : status;
    }
    return status;
}

static calc_exit run(const calc_args *flags)
{
    ranking r = {.flags = flags};
    calc_errors errors = {0};
    calc_as_tell_unused(flags);
    calc_output *out = calc_write_to("-");
    calc_status status = read_all(&r, &errors);
    for (size_t i = 0; i < r.count && status == CALC_OK; i++) {
        solve(&r, r.item[i]);
    }
    bool found = false;
    if (status == CALC_OK) {
        qsort(r.item, r.count, sizeof *r.item, by_cost);
        found = isfinite(r.item[0]->cost_ms);
        if (found) {
            calc_taylor_tell_solver(&r.item[0]->job, wanted_solver(&r));
        }
        calc_taylor_result_table(r.item, r.count, out);
        (void)!write_results(&r, out, &errors);
    }
    (void)!calc_output_close(out, &errors);
    for (size_t i = 0; i < r.count; i++) {
        free(r.item[i]);
    }
    free(r.item);
    calc_csv_rows_free(&r.profiles);
    calc_csv_rows_free(&r.only);
    calc_exit result = calc_complain_errors(&errors);
    return result == CALC_EXIT_OK && !found ? CALC_EXIT_INFEASIBLE : result;
}

const calc_command calc_as_taylor_rank = {
    .name = "as taylor rank",
    .theirs = "pipeline_tool.py",
    .summary = "rank candidates by the step of their best pipeline, as pipeline_tool.py does",
    .detail =
        "Divides the layers of each configuration of a folder as calc as taylor balance does, "
        "with the times of its profile, and writes test_result_<time>.csv: columns as Taylor "
        "has them, cheapest first, those that fail or fit nowhere last. One that fails does "
        "not stop the others; its reason is in model_status. cost is milliseconds. Ends with "
        "status 1 if none fits.",
    .args = (const calc_arg[]){{0}},
    .opts = rows,
    .examples = examples,
    .run = run};
