#include "cli/as/taylor.h"

#include <dirent.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "balance/milp.h"
#include "base/buffer.h"
#include "base/clock.h"
#include "base/error.h"
#include "cli/as/flags.h"
#include "cli/shell/complain.h"
#include "cli/shell/inputs.h"
#include "io/csv_table.h"
#include "spec/field.h"
#include "taylor/memory.h"
#include "taylor/yaml.h"

calc_status calc_taylor_file_read(calc_taylor_file *out, const char *path, calc_errors *errors)
{
    calc_status status = calc_text_read(&out->text, path, errors);
    if (status == CALC_OK) {
        status =
            calc_taylor_config_parse(&out->config, out->text.data, out->text.length, path, errors);
        calc_taylor_place(errors, path);
    }
    return status;
}

calc_status calc_taylor_write(const calc_taylor_file *file, const char *yaml,
                              const calc_taylor_edits *edits, const char *path, calc_errors *errors)
{
    calc_text text;
    calc_status status = calc_yaml_edit_text(file->text.data, file->text.length, yaml, edits->item,
                                             edits->count, &text, errors);
    if (status == CALC_OK) {
        calc_output *out = calc_write_to(path);
        calc_output_write(out, text.data, text.length);
        status = calc_output_close(out, errors);
        calc_text_free(&text);
    }
    return status;
}

void calc_taylor_place(calc_errors *errors, const char *path)
{
    for (int i = 0; i < errors->count; i++) {
        if (!errors->item[i].file[0]) {
            calc_error_place(&errors->item[i], path, 0, 0);
        }
    }
}

void calc_taylor_tell(const calc_taylor_config *config, const char *path)
{
    if (!config->says_memory) {
        calc_say("%s: no context.max_device_memory: %g GB are taken\n", path,
                 config->memory_mb / 1024);
    }
}

const char *const calc_taylor_solvers[] = {"calc", "GLPK", "HIGHS", NULL};

calc_status calc_taylor_job_of(const calc_taylor_config *config, const calc_system *system,
                               int64_t batch, calc_taylor_job *out, calc_errors *errors)
{
    const calc_taylor_config *c = config;
    *out = (calc_taylor_job){.config = c,
                             .system = system,
                             .ask = calc_taylor_ask_of(c, batch),
                             .ratios = {.dense = 0.3, .backward = 2, .again = 1, .head = 1.5}};
    calc_status status = calc_taylor_ask_check(&out->ask, errors);
    if (status != CALC_OK) {
        return status;
    }
    int64_t sequences = out->ask.microbatches * c->data * c->exec.microbatch_size;
    out->exec = calc_taylor_config_exec(c, c->data, c->tensor, c->pipeline, c->expert, sequences,
                                        CALC_BALANCE_NONE);
    status = calc_check(&c->app, system, &out->exec, errors);
    if (status == CALC_OK) {
        calc_taylor_memory_of(c, system, &out->exec, &out->memory);
    }
    return status;
}

static calc_status solve_once(calc_taylor_job *j, calc_errors *errors)
{
    const calc_balance_options options = {.time_limit_s = j->time_limit_s};
    calc_taylor_problem(&j->ask, &j->ratios, &j->memory, &j->problem);
    if (j->solver != CALC_TAYLOR_SOLVER_GLPK) {
        j->solver = CALC_TAYLOR_SOLVER_CALC;
        return calc_balance_solve(&j->problem, &options, &j->solution);
    }
    return calc_solver_divide(&j->problem, j->time_limit_s, &j->solution, errors);
}

/* Compares the peaks by calc's model with the limit. Fills the largest excess of each end. @return
 * whether all stages fit */
static bool check(calc_taylor_job *j, double over_mb[CALC_TAYLOR_ENDS])
{
    bool fits = true;
    for (int end = 0; end < CALC_TAYLOR_ENDS; end++) {
        over_mb[end] = 0;
    }
    for (int64_t s = 0; s < j->ask.stages; s++) {
        calc_taylor_end end = calc_taylor_end_of(s, j->ask.stages);
        j->checked_mb[s] = calc_taylor_checked_mb(j->config, j->system, &j->exec, &j->problem,
                                                  j->solution.share, &j->solution.answer, s);
        double over = j->checked_mb[s] - j->ask.memory_mb;
        over_mb[end] = fmax(over_mb[end], over);
        fits = fits && over <= 0;
    }
    return fits;
}

static calc_status solve_rounds(calc_taylor_job *j, calc_errors *errors)
{
    double over_mb[CALC_TAYLOR_ENDS];
    calc_status status = solve_once(j, errors);
    while (status == CALC_OK && j->check && j->solution.feasible) {
        j->fits = check(j, over_mb);
        if (j->fits || j->rounds == CALC_TAYLOR_ROUNDS) {
            return status;
        }
        j->rounds++;
        for (int end = 0; end < CALC_TAYLOR_ENDS; end++) {
            j->ask.tighter_mb[end] += j->rounds * over_mb[end];
        }
        if (j->tells) {
            calc_say(
                "check %d: over by %.0f MB on the first stage, %.0f between, %.0f on the last: "
                "limits down by %.0f, %.0f and %.0f\n",
                j->rounds, over_mb[0], over_mb[1], over_mb[2], j->ask.tighter_mb[0],
                j->ask.tighter_mb[1], j->ask.tighter_mb[2]);
        }
        status = solve_once(j, errors);
    }
    j->fits = j->solution.feasible && !j->check;
    return status;
}

void calc_taylor_tell_solver(const calc_taylor_job *j, calc_taylor_solver wanted)
{
    if (j->solver != wanted) {
        calc_say("HIGHS is not run: by calc's own search\n");
    }
}

calc_status calc_taylor_solve(calc_taylor_job *j, calc_errors *errors)
{
    double start_s = calc_clock_s(CLOCK_MONOTONIC);
    calc_status status = solve_rounds(j, errors);
    j->took_s = calc_clock_s(CLOCK_MONOTONIC) - start_s;
    (void)calc_is_yes(status); /* without memory the command ends */
    return status;
}

char *calc_taylor_stem(const calc_taylor_job *j, char stem[CALC_TAYLOR_STEM_SIZE])
{
    const calc_taylor_config *c = j->config;
    snprintf(stem, CALC_TAYLOR_STEM_SIZE, "layers%jd_%jd_micro%jd_dp%jd_tp%jd_pp%jd_vp%jd_ep%jd",
             j->ask.layers[0], j->ask.layers[1], j->ask.microbatches, c->data, c->tensor,
             c->pipeline, j->ask.chunks, c->expert);
    return stem;
}

static void show_stages(const calc_taylor_job *j, calc_output *out)
{
    const calc_balance_solution *s = &j->solution;
    calc_output_printf(out, "%5s  %-16s%-16s%10s%10s%10s\n", "stage", "layers (dense)",
                       "recomputed", "peak MB", j->check ? "checked" : "", "limit MB");
    for (int64_t stage = 0; stage < j->ask.stages; stage++) {
        char layers[128] = "", again[128] = "";
        for (int64_t chunk = 0; chunk < j->ask.chunks; chunk++) {
            const calc_balance_share *one = &s->share[chunk * j->ask.stages + stage];
            const char *plus = chunk ? " + " : "";
            calc_append(layers, sizeof layers, "%s%d", plus, one->layers[0] + one->layers[1]);
            if (one->layers[0] > 0) {
                calc_append(layers, sizeof layers, " (%d)", one->layers[0]);
            }
            calc_append(again, sizeof again, "%s%d", plus, one->full[0] + one->full[1]);
            if (one->selective[0] + one->selective[1] > 0) {
                calc_append(again, sizeof again, ", %d in parts",
                            one->selective[0] + one->selective[1]);
            }
        }
        calc_output_printf(out, "%5jd  %-16s%-16s%10.0f%10s%10.0f\n", stage, layers, again,
                           s->answer.peak_bytes[stage],
                           j->check ? CALC_TEXT(32, "%.0f", j->checked_mb[stage]) : "",
                           j->problem.stage[stage].limit_bytes);
    }
}

void calc_taylor_show_lists(const calc_taylor_ask *ask, const calc_balance_share *share,
                            calc_output *out)
{
    char text[4096];
    calc_output_printf(out, "offset: %s\n",
                       calc_taylor_matrix_text(ask, share, CALC_TAYLOR_OFFSET, text, sizeof text));
    calc_output_printf(out, "recompute: %s\n",
                       calc_taylor_matrix_text(ask, share, CALC_TAYLOR_FULL, text, sizeof text));
    calc_taylor_matrix_text(ask, share, CALC_TAYLOR_SELECTIVE, text, sizeof text);
    if (ask->may_select || strpbrk(text, "123456789")) {
        calc_output_printf(out, "select_recompute: %s\n", text);
    }
}

static void show_none(const calc_taylor_job *j, calc_output *out)
{
    const calc_balance_solution *s = &j->solution;
    if (s->feasible) {
        calc_output_printf(out, "after %d rounds the check still fails: no solution\n", j->rounds);
    } else if (!s->proven) {
        calc_output_text(out, "no solution was found in the time\n");
    } else if (s->stage >= 0) {
        calc_output_printf(out, "no solution: stage %d needs %.0f MB at least, and may take %.0f\n",
                           s->stage, s->needs_bytes, j->problem.stage[s->stage].limit_bytes);
    } else {
        calc_output_text(out, "no solution: the stages have no room for all layers\n");
    }
}

void calc_taylor_show(const calc_taylor_job *j, calc_output *out)
{
    const calc_balance_solution *s = &j->solution;
    if (!j->fits) {
        show_none(j, out);
        return;
    }
    show_stages(j, out);
    calc_output_printf(out, "step: %.10g forwards of a layer, ", s->answer.step_s);
    if (s->proven) {
        calc_output_text(out, "and no division takes less\n");
    } else {
        calc_output_printf(out, "and no division takes less than %.10g (gap %.2g %%)\n", s->bound_s,
                           100 * (1 - s->bound_s / s->answer.step_s));
    }
    calc_taylor_show_lists(&j->ask, s->share, out);
}

/* ---- pipeline_tool.py: ranks candidates, each with its best pipeline, by the time per step ----
 */

typedef struct ranked {
    char path[CALC_AS_PATH_SIZE];
    calc_taylor_candidate candidate; /* as in the file's name */
    calc_taylor_file file;           /* without its text */
    calc_taylor_job job;
    double cost_ms;    /* time of a step; INFINITY: it fits nowhere, or failed */
    char failure[512]; /* reason for no solution; empty: it was solved */
} ranked;

enum { TEXT_SIZE = 8192 };

/* The columns; their names are part of the format. */
static const char columns[] =
    "test,layers,micro,dp,tp,pp,ep,vp,dense:moe,\xE5\x8F\x8D\xE5\x90\x91:\xE6\xAD\xA3\xE5\x90\x91,"
    "\xE9\x87\x8D\xE8\xAE\xA1\xE7\xAE\x97\xE5\xA2\x9E\xE5\x8A\xA0\xE6\xAF\x94\xE7\x8E\x87,mtp+head,"
    "moe\xE6\x97\xB6\xE9\x95\xBF,low_mem,\xE7\x9B\xAE\xE6\xA0\x87\xE5\x80\xBC,cost,x,offset,ra,"
    "\xE5\x86\x85\xE5\xAD\x98\xE4\xBF\xA1\xE6\x81\xAF,"
    "\xE5\x86\x85\xE5\xAD\x98\xE4\xB8\x8A\xE9\x99\x90(GB),"
    "\xE6\xB1\x82\xE8\xA7\xA3\xE5\x99\xA8,GAP,solution_status,model_status,"
    "\xE6\xB1\x82\xE8\xA7\xA3\xE8\x80\x97\xE6\x97\xB6/s,dryrun_check\n";

/* Writes nothing if it is not a number. */
static void put_number(calc_output *out, double value)
{
    calc_output_printf(out, isfinite(value) ? ",%.10g" : ",", value);
}

static void put_matrix(const calc_taylor_job *j, calc_taylor_matrix which, calc_output *out)
{
    char text[TEXT_SIZE] = "";
    if (j->fits) {
        calc_taylor_matrix_text(&j->ask, j->solution.share, which, text, sizeof text);
    }
    calc_csv_text(out, text, false);
}

static const char *model_status(const ranked *r)
{
    const calc_balance_solution *s = &r->job.solution;
    return r->failure[0] ? r->failure
           : r->job.fits ? (s->proven ? "Optimal" : "Feasible")
           : s->feasible ? "Check failed"
           : s->proven   ? "Infeasible"
                         : "Time limit";
}

static void put_row(const ranked *r, calc_output *out)
{
    const calc_taylor_job *j = &r->job;
    const calc_balance_solution *s = &j->solution;
    bool solved = !r->failure[0];
    double step = j->fits ? s->answer.step_s : INFINITY;
    calc_csv_text(out, r->path, true);
    const int64_t sizes[] = {j->ask.layers[0] + j->ask.layers[1],
                             j->ask.microbatches,
                             r->candidate.layout.data,
                             r->candidate.layout.tensor,
                             r->candidate.layout.pipeline,
                             r->candidate.expert,
                             j->ask.chunks};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        put_number(out, sizes[i] > 0 ? (double)sizes[i] : NAN);
    }
    const double ratios[] = {j->ratios.dense, j->ratios.backward, j->ratios.again, j->ratios.head,
                             j->ratios.layer_ms};
    for (size_t i = 0; i < sizeof ratios / sizeof *ratios; i++) {
        put_number(out, solved ? ratios[i] : NAN);
    }
    calc_csv_text(out, !solved ? "" : j->problem.less_memory ? "True" : "False", false);
    put_number(out, step);
    put_number(out, r->cost_ms);
    put_matrix(j, CALC_TAYLOR_LAYERS, out);
    put_matrix(j, CALC_TAYLOR_OFFSET, out);
    put_matrix(j, CALC_TAYLOR_FULL, out);
    if (solved) {
        char text[TEXT_SIZE] = "";
        const char *blank = "";
#define CALC_X(key, also, of)                                                                      \
    calc_append(text, sizeof text, "%s" key "=%.10g", blank, j->memory.of);                        \
    blank = " ";
        CALC_TAYLOR_MEMORY_LIST(CALC_X)
#undef CALC_X
        calc_csv_text(out, text, false);
    } else {
        calc_output_text(out, ",");
    }
    put_number(out, solved ? j->ask.memory_mb / 1024 : NAN);
    calc_csv_text(out, solved ? calc_taylor_solvers[j->solver] : "", false);
    put_number(out, j->fits ? fmax(0, 1 - s->bound_s / s->answer.step_s) : NAN);
    calc_csv_text(out, j->fits ? "Feasible" : "None", false);
    calc_csv_text(out, model_status(r), false);
    calc_output_printf(out, solved ? ",%.3f" : ",", j->took_s);
    char checked[TEXT_SIZE] = "";
    for (int64_t stage = 0; j->check && j->fits && stage < j->ask.stages; stage++) {
        calc_append(checked, sizeof checked, "%s%.0f", stage ? ", " : "[", j->checked_mb[stage]);
    }
    calc_csv_text(out, *checked ? calc_append(checked, sizeof checked, "]") : checked, false);
    calc_output_text(out, "\n");
}

static void put_table(ranked *const *results, size_t count, calc_output *out)
{
    calc_output_printf(out, "%5s%5s%5s%5s%5s%12s%12s  %s\n", "dp", "tp", "pp", "ep", "vp", "step",
                       "cost ms", "layers");
    for (size_t i = 0; i < count; i++) {
        const ranked *r = results[i];
        const calc_taylor_layout *l = &r->candidate.layout;
        calc_output_printf(out, "%5jd%5jd%5jd%5jd", l->data, l->tensor, l->pipeline,
                           r->candidate.expert);
        if (!r->job.fits) {
            calc_output_printf(out, "%5s%12s%12s  %s\n", "", "-", "-", model_status(r));
            continue;
        }
        char text[TEXT_SIZE];
        calc_output_printf(out, "%5jd%12.6g%12.6g  %s\n", r->job.ask.chunks,
                           r->job.solution.answer.step_s, r->cost_ms,
                           calc_taylor_matrix_text(&r->job.ask, r->job.solution.share,
                                                   CALC_TAYLOR_LAYERS, text, sizeof text));
    }
}

#define FLAGS(X)                                                                                   \
    X(YAML, "--yaml_path", "DIR", .preset = "./output/dryrun_yaml/",                               \
      .doc = "folder of configurations, DP<n>_TP<n>_PP<n>_EP<n>_pretrain.yaml")                    \
    X(MINDFORMERS, "--mindformers_dir", "PATH", .also = "--mindfomres_dir", .unused = true,        \
      .doc = "no effect: nothing is run")                                                          \
    X(PROFILES, "--parser_result", "FILE",                                                         \
      .doc =                                                                                       \
          "profiles: CSV, dp,tp,pp,ep,dmratio,bfratio,re_grow_ration,hratio,moe_bw; a blank is "   \
          "0.3, 2, 1, 1.5; moe_bw, the forward time of a layer with experts in milliseconds, "     \
          "is needed; without the file all are of calc's model on --system")                       \
    X(PROFILE_DATA, "--profile_data_dir", "PATH", .unused = true,                                  \
      .doc = "no effect: timelines are not read")                                                  \
    X(SOLVER, "--solver_name", "NAME", .preset = "calc", .choices = calc_taylor_solvers,           \
      .doc = "calc's own search, or GLPK's glpsol, if it is installed; HIGHS is calc's")           \
    X(GBS, "--gbs", "N", CALC_OPT_IS_WHOLE(1, 1e9), .preset = "1024", .doc = "global batch size")  \
    X(CANDIDATES, "--nd_path", "FILE", .doc = "only the layouts of this nd_candidate_config.csv")  \
    CALC_TAYLOR_SYSTEM_FLAG(X)                                                                     \
    X(TIME, "--time_limit", "SECONDS", CALC_OPT_IS_NUMBER(0.001, 1e9), .ours = true,               \
      .doc = "time limit of the solver for each layout; without it none")                          \
    X(CHECK, "--check", "YES|NO", .kind = CALC_OPT_BOOL, .preset = "yes", .ours = true,            \
      .doc = "check peaks with calc's model, and tighten the limits at most five times")           \
    X(COMPAT, "--taylor_compat", "YES|NO", .kind = CALC_OPT_BOOL, .preset = "no", .ours = true,    \
      .doc = "as shipped: a dense layer that recomputes takes a forward more, whatever its ratio") \
    X(OUTPUT, "--output_path", "DIR", .preset = "./pipeline_output/", .ours = true,                \
      .doc = "where test_result_<time>.csv goes")

CALC_OPTIONS(FLAGS);
static const calc_arg rows[] = {{0}};
static const char *const examples[] = {
    "calc as taylor rank --yaml_path ./output/dryrun_yaml/ --parser_result profiling_result.csv",
    NULL};

typedef struct ranking {
    const calc_args *flags;
    calc_system system;
    calc_csv_rows profiles, only;
    ranked **item;
    size_t count;
} ranking;

/* Whether --nd_path, if given, contains the layout. */
static bool is_wanted(const ranking *r, const calc_taylor_candidate *c)
{
    const calc_taylor_row *row = r->only.item;
    for (size_t i = 0; i < r->only.count; i++) {
        if (calc_taylor_row_is(&row[i], c)) {
            return true;
        }
    }
    return !calc_opt_given(r->flags, OPT_CANDIDATES);
}

static void add(ranking *r, const char *folder, const char *name)
{
    calc_taylor_candidate candidate;
    const char *ending = strrchr(name, '.');
    bool yaml = ending && (strcmp(ending, ".yaml") == 0 || strcmp(ending, ".yml") == 0);
    if (!yaml || !calc_taylor_file_layout(name, &candidate) || !is_wanted(r, &candidate)) {
        return;
    }
    ranked *one = calc_make(1, sizeof *one);
    r->item = calc_longer(r->item, r->count + 1, sizeof *r->item);
    one->candidate = candidate;
    calc_as_path(folder, name, one->path);
    r->item[r->count++] = one;
}

static int by_path(const void *a, const void *b)
{
    return strcmp((*(ranked *const *)a)->path, (*(ranked *const *)b)->path);
}

static calc_status list_candidates(ranking *r, calc_errors *errors)
{
    const char *path = calc_opt_value(r->flags, OPT_YAML);
    DIR *folder = opendir(path);
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
        return calc_errors_at(
            errors, CALC_ERR_NOT_FOUND, path, 0, 0, "calc as taylor nd writes them",
            "no DP<n>_TP<n>_PP<n>_EP<n>_pretrain.yaml%s",
            calc_opt_given(r->flags, OPT_CANDIDATES) ? " that --nd_path has" : "");
    }
    CALC_SORT(r->item, r->count, by_path);
    return CALC_OK;
}

static calc_taylor_solver wanted_solver(const ranking *r)
{
    return (calc_taylor_solver)calc_choice_index(calc_taylor_solvers,
                                                 calc_opt_value(r->flags, OPT_SOLVER));
}

/* Costs from the profile, or from calc's model if there are no profiles. */
static calc_status find_ratios(const ranking *r, const ranked *one, calc_taylor_ratios *out,
                               calc_errors *errors)
{
    const char *path = calc_opt_value(r->flags, OPT_PROFILES);
    const calc_taylor_candidate *c = &one->candidate;
    if (!path) {
        *out = calc_taylor_ratios_of(&one->file.config, &r->system, &one->job.exec);
        return CALC_OK;
    }
    bool profiled = calc_taylor_profiles_find(&r->profiles, c, out);
    return profiled && out->layer_ms > 0
               ? CALC_OK
               : calc_errors_at(errors, CALC_ERR_FIELD, path, 0, 0, NULL,
                                "%s dp,tp,pp,ep = %jd,%jd,%jd,%jd",
                                profiled ? "no moe_bw for" : "no row for", c->layout.data,
                                c->layout.tensor, c->layout.pipeline, c->expert);
}

/* Solves a candidate. An error affects this candidate only. */
static void solve(const ranking *r, ranked *one)
{
    calc_errors errors = {0};
    calc_taylor_ratios ratios = {.layer_ms = NAN};
    calc_status status = calc_taylor_file_read(&one->file, one->path, &errors);
    calc_text_free(&one->file.text);
    const calc_taylor_config *c = &one->file.config;
    const calc_taylor_candidate *named = &one->candidate;
    if (status == CALC_OK &&
        (c->data != named->layout.data || c->tensor != named->layout.tensor ||
         c->pipeline != named->layout.pipeline || c->expert != named->expert)) {
        status = calc_errors_at(&errors, CALC_ERR_RULE, one->path, 0, 0, NULL,
                                "its parallel_config is not that of its name");
    }
    if (status == CALC_OK) {
        status = calc_taylor_job_of(&one->file.config, &r->system,
                                    (int64_t)calc_opt_real(r->flags, OPT_GBS), &one->job, &errors);
        calc_taylor_place(&errors, one->path);
    }
    status = status ? status : find_ratios(r, one, &ratios, &errors);
    if (status == CALC_OK) {
        calc_taylor_job *j = &one->job;
        const char *less = getenv("ENABLE_LESS_MEM_VPP");
        j->ask.less_memory = less && strcmp(less, "1") == 0;
        j->ask.shipped = calc_opt_truth(r->flags, OPT_COMPAT);
        j->check = calc_opt_truth(r->flags, OPT_CHECK);
        j->solver = wanted_solver(r);
        j->time_limit_s = calc_opt_real(r->flags, OPT_TIME);
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
    double x = (*(ranked *const *)a)->cost_ms;
    double y = (*(ranked *const *)b)->cost_ms;
    return x < y ? -1 : x > y ? 1 : by_path(a, b);
}

static calc_status write_results(const ranking *r, calc_output *shown, calc_errors *errors)
{
    char stamp[32], name[64], path[CALC_AS_PATH_SIZE];
    time_t now = time(NULL);
    struct tm local;
    const char *folder = calc_opt_value(r->flags, OPT_OUTPUT);
    calc_status status = calc_as_make_folder(folder, errors);
    strftime(stamp, sizeof stamp, "%Y%m%d%H%M%S", localtime_r(&now, &local));
    snprintf(name, sizeof name, "test_result_%s.csv", stamp);
    if (status != CALC_OK) {
        return status;
    }
    calc_output *out = calc_write_to(calc_as_path(folder, name, path));
    calc_output_text(out, "\xEF\xBB\xBF");
    calc_output_text(out, columns);
    for (size_t i = 0; i < r->count; i++) {
        put_row(r->item[i], out);
    }
    status = calc_output_close(out, errors);
    if (status == CALC_OK) {
        calc_output_printf(shown, "%s\n", path);
    }
    return status;
}

static calc_status read_all(ranking *r, calc_errors *errors)
{
    const char *only = calc_opt_value(r->flags, OPT_CANDIDATES);
    calc_status status = calc_document_load(CALC_KIND_SYSTEM, calc_opt_value(r->flags, OPT_SYSTEM),
                                            &r->system, errors);
    if (status == CALC_OK && only) {
        status = calc_csv_table_read(&r->only, &calc_taylor_probes, only, errors);
    }
    status = status ? status : list_candidates(r, errors);
    if (status == CALC_OK && calc_opt_given(r->flags, OPT_PROFILES)) {
        /* Reports wrong rows and keeps the others. */
        status = calc_csv_table_read(&r->profiles, &calc_taylor_profiles,
                                     calc_opt_value(r->flags, OPT_PROFILES), errors);
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
        CALC_SORT(r.item, r.count, by_cost);
        found = isfinite(r.item[0]->cost_ms);
        if (found) {
            calc_taylor_tell_solver(&r.item[0]->job, wanted_solver(&r));
        }
        put_table(r.item, r.count, out);
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
    CALC_COMMAND_PARTS};
