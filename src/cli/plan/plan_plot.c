#include "cli/plan/plan_plot.h"

#include <stdlib.h>

#include "base/error.h"
#include "cli/plan/plan_even.h"
#include "cli/run/plot.h"

static calc_status draw(calc_output *out, calc_inputs *in, const calc_stats *stats,
                        calc_errors *errors)
{
    calc_report report = {.inputs = in, .stats = stats, .paint = calc_paint_stdout("auto")};
    calc_simulation *s = calloc(1, sizeof *s);
    if (!s) {
        return calc_errors_no_memory(errors);
    }
    calc_status status = calc_simulation_run(s, in, errors);
    status = status == CALC_OK ? calc_plot_write(out, &report, s, errors) : status;
    calc_simulation_free(s);
    free(s);
    return status;
}

calc_status calc_plan_plot_write(calc_output *out, const calc_plan_task *t,
                                 const calc_planner_found *f, calc_errors *errors)
{
    calc_stats even;
    calc_exec exec;
    calc_inputs *in = calc_opt_value(t->args, CALC_PLAN_OPT_PLOT) ? calloc(1, sizeof *in) : NULL;
    if (!in) {
        return CALC_OK;
    }
    in->app = t->app;
    in->system = t->chip[f->chip].system;
    calc_status status = CALC_OK;
    if (calc_plan_even(t, f, &exec, &even)) {
        calc_output_printf(out, "\nWith %s:\n", calc_plan_even_words(f));
        in->exec = exec;
        status = draw(out, in, &even, errors);
    }
    if (status == CALC_OK) {
        calc_output_text(out, "\nAs planned:\n");
        in->exec = f->exec;
        status = draw(out, in, &f->stats, errors);
    }
    free(in);
    return status;
}
