#include "cli/plan/layers_plan.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "cli/draw/human.h"
#include "cli/plan/layers_table.h"
#include "cli/plan/plan_room.h"
#include "cli/plan/plan_write.h"
#include "cli/shell/complain.h"

const char *calc_plan_layers_complaint(const calc_args *args)
{
    static const struct {
        calc_plan_opt opt;
        const char *text;
    } without[] = {
        {CALC_PLAN_OPT_BALANCE_ONLY, "--layers searches layouts: give --procs and --batch instead "
                                     "of --balance-only"},
        {CALC_PLAN_OPT_CHIPS, "--layers is for processors of one kind, --chips for several"},
        {CALC_PLAN_OPT_KEEP_ORDER, "--layers is for processors of one kind, --keep-order for "
                                   "several"},
        {CALC_PLAN_OPT_SOLVER, "--solver divides layers that are alike: it does not go with "
                               "--layers"},
        {CALC_PLAN_OPT_MPS, "--mps has a program of layers that are alike: it does not go with "
                            "--layers"},
    };
    bool layers = calc_opt_value(args, CALC_PLAN_OPT_LAYERS) != NULL;
    const char *recompute = calc_opt_value(args, CALC_PLAN_OPT_RECOMPUTE);
    for (size_t i = 0; i < sizeof without / sizeof *without && layers; i++) {
        if (calc_opt_value(args, (int)without[i].opt)) {
            return without[i].text;
        }
    }
    if (layers && recompute && strcmp(recompute, "none") != 0) {
        return "--recompute says it of stages, --layers of each layer: none is all that goes with "
               "it";
    }
    return NULL;
}

/* Reports, if nothing fits, the need of the layout that lacks the least memory. */
static void tell_lack(const calc_plan_task *t, const calc_planner_layers_result *r)
{
    char needs[CALC_HUMAN_MAX], has[CALC_HUMAN_MAX];
    fprintf(stderr, "calc plan: no layout fits");
    if (r->candidates == 0) {
        fprintf(stderr, ": no layout of this many processors and this batch is legal\n");
    } else if (r->has_bytes > 0) {
        const calc_exec *e = &r->lacking;
        fprintf(
            stderr,
            ": the nearest whose layers are alike, tensor_par %lld, pipeline_par %lld, data_par "
            "%lld, needs %s of %s%s\n",
            (long long)e->strategy.tensor_par, (long long)e->pipeline_par,
            (long long)e->strategy.data_par, calc_human_bytes(r->needs_bytes, needs),
            calc_human_bytes(r->has_bytes, has), calc_plan_room_left(t) ? " to be 90 % sure" : "");
        fprintf(stderr, "  hint: more processors, a smaller micro-batch, or more memory%s\n",
                calc_plan_room_left(t) ? "; --all-memory fills all there is" : "");
    } else {
        fprintf(stderr, "\n");
    }
}

/* The best step time with one GiB more. */
static calc_status plan_more(const calc_plan_task *t, calc_planner_layers_result *more,
                             calc_errors *errors)
{
    calc_planner_layers p = t->layers;
    calc_system *system = malloc(sizeof *system);
    *more = (calc_planner_layers_result){0};
    if (!system) {
        return calc_errors_no_memory(errors);
    }
    *system = t->planned[0].system;
    system->chip.mem1.capacity_bytes += 0x1p30;
    p.system = system;
    p.top = 1;
    p.curve = false;
    p.progress = NULL;
    calc_status status = calc_planner_layers_run(&p, more, errors);
    free(system);
    return status;
}

/* The files know layouts, with lists of layers or of stages. */
static calc_status write_files(calc_plan_task *t, const calc_planner_layers_result *r,
                               calc_errors *errors)
{
    calc_planner_result found = {.count = r->count,
                                 .found = calloc(r->count, sizeof *found.found),
                                 .candidates = r->candidates,
                                 .balanced = r->solved,
                                 .complete = r->complete,
                                 .bound_s = r->bound_s};
    if (!found.found) {
        return calc_errors_no_memory(errors);
    }
    for (size_t i = 0; i < r->count; i++) {
        const calc_planner_layers_found *f = &r->found[i];
        found.found[i] = (calc_planner_found){.exec = f->exec,
                                              .stats = f->stats,
                                              .planned_s = f->planned_s,
                                              .bound_s = f->bound_s,
                                              .proven = f->proven};
    }
    t->layered = r;
    calc_status status = calc_plan_write(t, &found, errors);
    calc_planner_result_free(&found);
    return status;
}

static calc_exit tell(calc_plan_task *t, const calc_planner_layers_result *r, calc_errors *errors)
{
    calc_planner_layers_result more = {0};
    calc_output *out;
    bool quiet = calc_plan_write_takes_stdout(t->args);
    calc_status status = write_files(t, r, errors);
    if (status == CALC_OK && !quiet) {
        status = plan_more(t, &more, errors);
    }
    if (status == CALC_OK && !quiet && calc_output_open(&out, "-", errors) == CALC_OK) {
        calc_layers_table_write(out, t, r, &more);
        calc_layers_plot_write(out, t, r);
        (void)!calc_output_close(out, errors);
    }
    calc_planner_layers_result_free(&more);
    return errors->count > 0 ? calc_complain_errors(errors) : CALC_EXIT_OK;
}

calc_exit calc_plan_layers(calc_plan_task *t, calc_sweep_watch *watch, calc_errors *errors)
{
    calc_planner_layers_result r = {0};
    calc_status status = calc_planner_layers_run(&t->layers, &r, errors);
    calc_sweep_watch_end(watch);
    calc_exit code = CALC_EXIT_OK;
    if (status != CALC_OK) {
        code = calc_complain_errors(errors);
    } else if (r.count == 0) {
        tell_lack(t, &r);
        code = CALC_EXIT_INFEASIBLE;
    } else {
        for (size_t i = 0; i < r.count; i++) {
            calc_plan_room_give(t, 0, &r.found[i].exec, &r.found[i].stats);
        }
        code = tell(t, &r, errors);
    }
    calc_planner_layers_result_free(&r);
    return code;
}
