#include "cli/plan/plan_judge.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "balance/mps.h"
#include "balance/solver.h"
#include "base/error.h"
#include "cli/draw/human.h"
#include "plan/planner_balance.h"

/* The problem of the layout, with the limits that its memory has at first. */
static calc_planner_bench *bench_of(const calc_plan_task *t, const calc_planner_found *f,
                                    calc_errors *errors)
{
    calc_planner_bench *b = malloc(sizeof *b);
    if (!b) {
        (void)!calc_errors_no_memory(errors);
        return NULL;
    }
    calc_planner_layouts_of(&t->planner, &f->base, &b->layouts);
    const char *why =
        calc_planner_problem(&t->planner, &b->layouts, &f->place, b->chip, &b->problem);
    if (why) {
        calc_errors_add(errors, CALC_ERR_UNSUPPORTED, CALC_KIND_NONE, NULL, NULL,
                        "no program can be made of a layout %s", why);
        free(b);
        return NULL;
    }
    return b;
}

/* ---- The program ----------------------------------------------------------------------------- */

static bool write_text(void *out, const char *text, size_t length)
{
    calc_output_write(out, text, length);
    return true;
}

static calc_status write_names(const calc_milp *milp, const char *path, calc_errors *errors)
{
    char name[4096];
    calc_output *out;
    snprintf(name, sizeof name, "%s.names.csv", path);
    calc_status status = calc_output_open(&out, name, errors);
    if (status == CALC_OK) {
        (void)!calc_mps_names(milp, write_text, out);
        status = calc_output_close(out, errors);
    }
    return status;
}

calc_status calc_plan_judge_mps(const calc_plan_task *t, const calc_planner_found *f,
                                calc_errors *errors)
{
    const char *path = calc_opt_value(t->args, CALC_PLAN_OPT_MPS);
    calc_milp milp = {0};
    calc_output *out;
    calc_planner_bench *b = path ? bench_of(t, f, errors) : NULL;
    if (!b) {
        return calc_errors_first(errors);
    }
    calc_status status = calc_milp_build(&b->problem, NULL, &milp, errors);
    if (status == CALC_OK) {
        status = calc_output_open(&out, path, errors);
    }
    if (status == CALC_OK) {
        status = calc_mps_program(&milp, write_text, out);
        if (status == CALC_ERR_NOMEM) {
            calc_output_discard(out);
            status = calc_errors_no_memory(errors);
        } else {
            status = calc_output_close(out, errors);
        }
    }
    if (status == CALC_OK && strcmp(path, "-") != 0) {
        status = write_names(&milp, path, errors);
    }
    calc_milp_free(&milp);
    free(b);
    return status;
}

/* ---- Its solution ---------------------------------------------------------------------------- */

calc_status calc_plan_judge_write(calc_output *out, const calc_plan_task *t,
                                  const calc_planner_found *f, calc_errors *errors)
{
    const char *name = calc_opt_value(t->args, CALC_PLAN_OPT_SOLVER);
    double limit_s = 0;
    char own[CALC_HUMAN_MAX], text[CALC_HUMAN_MAX], bound[CALC_HUMAN_MAX];
    calc_planner_bench *b = name ? bench_of(t, f, errors) : NULL;
    calc_balance_solution *solved = b ? calloc(1, sizeof *solved) : NULL;
    if (!solved) {
        free(b);
        return calc_errors_first(errors);
    }
    (void)calc_opt_number(calc_opt_value(t->args, CALC_PLAN_OPT_TIME_LIMIT), false, 0, HUGE_VAL,
                          &limit_s);
    const calc_balance_options options = {.time_limit_s = limit_s};
    const calc_balance_options search = {.evaluations = 0};
    calc_status status = calc_solver_divide(
        &b->problem, strcmp(name, "glpk") == 0 ? calc_solver_glpk : calc_solver_highs, &options,
        solved, errors);
    if (status == CALC_OK && calc_balance_solve(&b->problem, &search, &b->solution) == CALC_OK) {
        calc_output_printf(out, "The pipeline by the search: %s%s; ",
                           calc_human_seconds(b->solution.answer.step_s, own),
                           b->solution.proven ? ", proven" : "");
        if (solved->feasible) {
            calc_output_printf(out, "by %s: %s, %s.\n", name,
                               calc_human_seconds(solved->answer.step_s, text),
                               solved->proven ? "proven" : "not proven in this time");
        } else {
            calc_output_printf(out, "%s found nothing in this time, and no less than %s.\n", name,
                               calc_human_seconds(fmax(solved->bound_s, 0), bound));
        }
    }
    free(solved);
    free(b);
    return calc_errors_first(errors);
}
