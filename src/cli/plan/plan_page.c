#include "cli/plan/plan_page.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/error.h"
#include "cli/run/run_page.h"

static void fill(calc_run_outcome *o, const calc_plan_page_best *best)
{
    calc_input *input = o->inputs.input;
    calc_stage_list *list = &o->inputs.exec.stages;
    o->inputs.app = *best->app;
    o->inputs.system = *best->system;
    o->inputs.exec = *best->exec;
    for (int32_t i = 0; i < list->chips; i++) {
        list->system[i] = list->system[i] == best->system ? &o->inputs.system : list->system[i];
    }
    snprintf(input[CALC_KIND_APP].name, sizeof input->name, "%s", best->app_name);
    snprintf(input[CALC_KIND_SYSTEM].name, sizeof input->name, "%s", best->system_name);
    snprintf(input[CALC_KIND_EXEC].name, sizeof input->name, "plan");
}

calc_status calc_plan_page_write(const char *path, const calc_plan_page_best *best,
                                 const calc_text *plan, calc_errors *errors)
{
    calc_run_outcome *o = calloc(1, sizeof *o);
    if (!o) {
        return calc_errors_no_memory(errors);
    }
    fill(o, best);
    calc_status status = calc_run_outcome_evaluate(o, true, errors);
    status = status == CALC_OK && best->written
                 ? calc_run_outcome_same(o, best->written, "/found/0", "calc plan --html", errors)
                 : status;
    status = status == CALC_OK ? calc_run_outcome_stages(o, errors) : status;
    o->stage_count = o->stage_known;
    status = status == CALC_OK ? calc_run_page_write(path, o, NULL, plan, errors) : status;
    calc_run_outcome_free(o);
    free(o);
    return status;
}
