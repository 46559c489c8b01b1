#include "cli/as/taylor.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "balance/milp.h"
#include "base/buffer.h"
#include "base/clock.h"
#include "base/error.h"
#include "cli/shell/complain.h"
#include "cli/shell/inputs.h"
#include "io/csv_table.h"

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

calc_status calc_taylor_system_read(calc_system *out, const char *argument, calc_errors *errors)
{
    calc_input input = {.text = {0}};
    calc_status status = calc_input_load(&input, CALC_KIND_SYSTEM, out, argument, errors);
    calc_text_free(&input.text);
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

static void tell_round(const calc_taylor_job *j, const double over_mb[CALC_TAYLOR_ENDS])
{
    char line[256];
    snprintf(line, sizeof line,
             "check %d: over by %.0f MB on the first stage, %.0f between, %.0f on the last: limits "
             "down by %.0f, %.0f and %.0f",
             j->rounds, over_mb[0], over_mb[1], over_mb[2], j->ask.tighter_mb[0],
             j->ask.tighter_mb[1], j->ask.tighter_mb[2]);
    if (j->tell) {
        j->tell(line);
    }
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
        tell_round(j, over_mb);
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
    if (status == CALC_ERR_NOMEM && errors->count == 0) {
        calc_errors_no_memory(errors);
    }
    return status;
}

char *calc_taylor_stem(const calc_taylor_job *j, char stem[CALC_TAYLOR_STEM_SIZE])
{
    const calc_taylor_config *c = j->config;
    snprintf(stem, CALC_TAYLOR_STEM_SIZE,
             "layers%lld_%lld_micro%lld_dp%lld_tp%lld_pp%lld_vp%lld_ep%lld",
             (long long)j->ask.layers[0], (long long)j->ask.layers[1],
             (long long)j->ask.microbatches, (long long)c->data, (long long)c->tensor,
             (long long)c->pipeline, (long long)j->ask.chunks, (long long)c->expert);
    return stem;
}

enum { TEXT_SIZE = 8192 };

/* In order; the names are part of the format. */
static const char *const columns[] = {
    "test",
    "layers",
    "micro",
    "dp",
    "tp",
    "pp",
    "ep",
    "vp",
    "dense:moe",
    "\xE5\x8F\x8D\xE5\x90\x91:\xE6\xAD\xA3\xE5\x90\x91",
    "\xE9\x87\x8D\xE8\xAE\xA1\xE7\xAE\x97\xE5\xA2\x9E\xE5\x8A\xA0\xE6\xAF\x94\xE7\x8E\x87",
    "mtp+head",
    "moe\xE6\x97\xB6\xE9\x95\xBF",
    "low_mem",
    "\xE7\x9B\xAE\xE6\xA0\x87\xE5\x80\xBC",
    "cost",
    "x",
    "offset",
    "ra",
    "\xE5\x86\x85\xE5\xAD\x98\xE4\xBF\xA1\xE6\x81\xAF",
    "\xE5\x86\x85\xE5\xAD\x98\xE4\xB8\x8A\xE9\x99\x90(GB)",
    "\xE6\xB1\x82\xE8\xA7\xA3\xE5\x99\xA8",
    "GAP",
    "solution_status",
    "model_status",
    "\xE6\xB1\x82\xE8\xA7\xA3\xE8\x80\x97\xE6\x97\xB6/s",
    "dryrun_check"};

void calc_taylor_result_head(calc_output *out)
{
    calc_output_text(out, "\xEF\xBB\xBF");
    for (size_t i = 0; i < sizeof columns / sizeof *columns; i++) {
        calc_csv_text(out, columns[i], i == 0);
    }
    calc_output_text(out, "\n");
}

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

static void put_memory(const calc_taylor_memory *m, calc_output *out)
{
    char text[TEXT_SIZE] = "";
    const char *blank = "";
#define CALC_X(key, also, of)                                                                      \
    calc_append(text, sizeof text, "%s" key "=%.10g", blank, m->of);                               \
    blank = " ";
    CALC_TAYLOR_MEMORY_LIST(CALC_X)
#undef CALC_X
    calc_csv_text(out, text, false);
}

static const char *model_status(const calc_taylor_result *r)
{
    const calc_balance_solution *s = &r->job.solution;
    return r->failure[0] ? r->failure
           : r->job.fits ? (s->proven ? "Optimal" : "Feasible")
           : s->feasible ? "Check failed"
           : s->proven   ? "Infeasible"
                         : "Time limit";
}

void calc_taylor_result_row(const calc_taylor_result *r, calc_output *out)
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
        put_memory(&j->memory, out);
    } else {
        calc_output_text(out, ",");
    }
    put_number(out, solved ? j->ask.memory_mb / 1024 : NAN);
    calc_csv_text(out, solved ? calc_taylor_solvers[j->solver] : "", false);
    put_number(out, j->fits ? fmax(0, 1 - s->bound_s / s->answer.step_s) : NAN);
    calc_csv_text(out, j->fits ? "Feasible" : "None", false);
    calc_csv_text(out, model_status(r), false);
    calc_output_printf(out, solved ? ",%.3f" : ",", j->took_s);
    char text[TEXT_SIZE] = "";
    for (int64_t k = 0; j->check && j->fits && k < j->ask.stages; k++) {
        calc_append(text, sizeof text, "%s%.0f", k ? ", " : "[", j->checked_mb[k]);
    }
    calc_csv_text(out, *text ? calc_append(text, sizeof text, "]") : text, false);
    calc_output_text(out, "\n");
}

void calc_taylor_result_table(calc_taylor_result *const *results, size_t count, calc_output *out)
{
    calc_output_printf(out, "%5s%5s%5s%5s%5s%12s%12s  %s\n", "dp", "tp", "pp", "ep", "vp", "step",
                       "cost ms", "layers");
    for (size_t i = 0; i < count; i++) {
        const calc_taylor_result *r = results[i];
        const calc_taylor_layout *l = &r->candidate.layout;
        calc_output_printf(out, "%5lld%5lld%5lld%5lld", (long long)l->data, (long long)l->tensor,
                           (long long)l->pipeline, (long long)r->candidate.expert);
        if (!r->job.fits) {
            calc_output_printf(out, "%5s%12s%12s  %s\n", "", "-", "-", model_status(r));
            continue;
        }
        char text[TEXT_SIZE];
        calc_output_printf(out, "%5lld%12.6g%12.6g  %s\n", (long long)r->job.ask.chunks,
                           r->job.solution.answer.step_s, r->cost_ms,
                           calc_taylor_matrix_text(&r->job.ask, r->job.solution.share,
                                                   CALC_TAYLOR_LAYERS, text, sizeof text));
    }
}

static void show_stages(const calc_taylor_job *j, calc_output *out)
{
    const calc_balance_solution *s = &j->solution;
    calc_output_printf(out, "%5s  %-16s%-16s%10s%10s%10s\n", "stage", "layers (dense)",
                       "recomputed", "peak MB", j->check ? "checked" : "", "limit MB");
    for (int64_t stage = 0; stage < j->ask.stages; stage++) {
        char layers[128] = "", again[128] = "", checked[32] = "";
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
        if (j->check) {
            snprintf(checked, sizeof checked, "%.0f", j->checked_mb[stage]);
        }
        calc_output_printf(out, "%5lld  %-16s%-16s%10.0f%10s%10.0f\n", (long long)stage, layers,
                           again, s->answer.peak_bytes[stage], checked,
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
