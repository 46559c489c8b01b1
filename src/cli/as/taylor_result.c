#include "cli/as/taylor_result.h"

#include <math.h>
#include <stdio.h>

#include "base/buffer.h"
#include "io/csv.h"

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

static void put_checked(const calc_taylor_job *j, calc_output *out)
{
    char text[TEXT_SIZE] = "";
    for (int64_t s = 0; j->check && j->fits && s < j->ask.stages; s++) {
        calc_append(text, sizeof text, "%s%.0f", s ? ", " : "[", j->checked_mb[s]);
    }
    calc_csv_text(out, *text ? calc_append(text, sizeof text, "]") : text, false);
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
    put_checked(j, out);
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
