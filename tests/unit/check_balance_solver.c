#include "balance/solver.h"

#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "balance/mps.h"
#include "balance_case.h"
#include "frame.h"
#include "scratch.h"

static calc_milp milp;
static calc_solver_result result;
static calc_errors errors;

static void build(const calc_balance_problem *p)
{
    ck_assert_int_eq(calc_milp_build(p, NULL, &milp, NULL), CALC_OK);
}

static void build_example(int i)
{
    calc_balance_problem p = balance_problem(&balance_cases[i]);
    build(&p);
}

static void expect(calc_solver_outcome outcome, double objective_s)
{
    ck_assert_int_eq(result.outcome, outcome);
    if (isinf(objective_s)) {
        ck_assert(isinf(result.objective_s));
        ck_assert_ptr_null(result.value);
    } else {
        ck_assert_double_eq_tol(result.objective_s, objective_s, 1e-9 * objective_s);
        ck_assert_ptr_nonnull(result.value);
    }
}

static void done(void)
{
    calc_solver_free(&result);
    calc_milp_free(&milp);
    errors = (calc_errors){0};
}

/* ---- GLPK -------------------------------------------------------------------------------------*/

static bool stop_after(void *context)
{
    int *left = context;
    return (*left)-- <= 0;
}

CALC_TEST(glpk_stops_when_it_is_told)
{
    calc_balance_problem p = balance_large();
    int left = 0;
    calc_solver_options options = {.stop = stop_after, .context = &left};
    build(&p);
    ck_assert_int_eq(calc_solver_glpk(&milp, &options, &result, NULL), CALC_OK);
    expect(CALC_SOLVER_LIMIT, INFINITY);
    ck_assert(isinf(result.gap));
    calc_solver_free(&result);
    left = 20;
    ck_assert_int_eq(calc_solver_glpk(&milp, &options, &result, NULL), CALC_OK);
    expect(CALC_SOLVER_LIMIT, INFINITY);
    ck_assert_double_gt(result.bound_s, 900); /* of the relaxation */
    ck_assert_double_lt(result.bound_s, 1132.67);
    done();
}

CALC_TEST(glpk_heeds_the_time_limit)
{
    calc_balance_problem p = balance_large();
    calc_solver_options options = {.time_limit_s = 1e-3}; /* it takes seconds */
    build(&p);
    ck_assert_int_eq(calc_solver_glpk(&milp, &options, &result, NULL), CALC_OK);
    ck_assert_int_ne(result.outcome, CALC_SOLVER_OPTIMAL);
    ck_assert_int_ne(result.outcome, CALC_SOLVER_INFEASIBLE);
    done();
}

CALC_TEST(glpk_stops_within_the_gap)
{
    const balance_case *c = &balance_cases[8];
    calc_solver_options options = {.gap = .5};
    build_example(8);
    ck_assert_int_eq(calc_solver_glpk(&milp, &options, &result, NULL), CALC_OK);
    ck_assert_int_eq(result.outcome, CALC_SOLVER_OPTIMAL);
    ck_assert_double_gt(result.objective_s, c->optimum + .1); /* it would have found better */
    ck_assert_double_le(result.bound_s, c->optimum);
    ck_assert_double_gt(result.gap, 0);
    ck_assert_double_le(result.gap, .5);
    ck_assert_double_eq_tol(result.gap, 1 - result.bound_s / result.objective_s, 1e-12);
    done();
}

/* All that is printed meanwhile. */
static calc_status quietly(void)
{
    char folder[256];
    struct stat said;
    scratch_enter(folder, sizeof folder);
    fflush(NULL);
    int out = dup(1);
    int err = dup(2);
    int file = open("said", O_CREAT | O_WRONLY, 0600);
    dup2(file, 1);
    dup2(file, 2);
    calc_status status = calc_solver_glpk(&milp, NULL, &result, &errors);
    fflush(NULL);
    dup2(out, 1);
    dup2(err, 2);
    close(out);
    close(err);
    close(file);
    ck_assert_int_eq(stat("said", &said), 0);
    ck_assert_int_eq(said.st_size, 0);
    scratch_leave(folder);
    return status;
}

CALC_TEST(glpk_says_nothing)
{
    build_example(8);
    ck_assert_int_eq(quietly(), CALC_OK);
    expect(CALC_SOLVER_OPTIMAL, 103.02);
    done();
}

/* GLPK would end the program. */
CALC_TEST(a_program_that_glpk_refuses_is_an_error_and_no_end)
{
    for (int i = 0; i < 3; i++) {
        build_example(0);
        milp.term[5].column = (int)milp.columns;
        ck_assert_int_eq(quietly(), CALC_ERR_RULE);
        ck_assert_int_eq(errors.count, 1);
        ck_assert_msg(strncmp(errors.item[0].text, "GLPK gave up: ", 14) == 0 &&
                          strlen(errors.item[0].text) > 40,
                      "%s", errors.item[0].text);
        ck_assert_ptr_null(result.value);
        done();
        build_example(0); /* and it still works */
        ck_assert_int_eq(calc_solver_glpk(&milp, NULL, &result, NULL), CALC_OK);
        expect(CALC_SOLVER_OPTIMAL, 57);
        done();
    }
    build_example(0);
    milp.column[0].lower = 1.5; /* of an integer */
    ck_assert_int_eq(quietly(), CALC_ERR_RULE);
    ck_assert_str_eq(errors.item[0].text,
                     "GLPK gave up: no reason given (code 4)"); /* GLP_EBOUND */
    done();
}

CALC_TEST(glpk_has_a_version)
{
    ck_assert_int_ge(calc_solver_glpk_library()[0], '4');
    ck_assert_ptr_nonnull(strchr(calc_solver_glpk_library(), '.'));
}

/* ---- Like the search --------------------------------------------------------------------------*/

static calc_balance_solution solution;

CALC_TEST_LOOP(a_solver_divides_layers_as_the_search_does, 0, BALANCE_CASES)
{
    const balance_case *c = &balance_cases[_i];
    calc_balance_problem p = balance_problem(c);
    ck_assert_int_eq(calc_solver_divide(&p, NULL, &solution, NULL), CALC_OK);
    ck_assert(solution.proven);
    ck_assert_int_eq(solution.feasible, !isinf(c->optimum));
    ck_assert_int_eq(solution.stage, -1);
    if (solution.feasible) {
        ck_assert(solution.answer.fits);
        ck_assert_double_eq_tol(solution.answer.step_s, c->optimum, c->optimum * 1e-9);
        ck_assert_double_eq_tol(solution.bound_s, c->optimum, c->optimum * 1e-9);
        ck_assert_int_eq(solution.share[0].layers[1] > 0, 1);
    } else {
        ck_assert_double_eq(solution.bound_s, INFINITY);
    }
}

/* Three times a tenth is more than three tenths. */
CALC_TEST(what_a_solver_tolerates_does_not_fit)
{
    calc_balance_problem p = balance_problem(&balance_cases[0]);
    p.layer[0][1].held_bytes = .1;
    p.layer[0][1].flight_bytes[CALC_BALANCE_NONE] = 0;
    p.may_full = false;
    p.stage[0].limit_bytes = .3;
    p.stage[1].limit_bytes = .4;
    ck_assert_int_eq(calc_solver_divide(&p, NULL, &solution, NULL), CALC_OK);
    ck_assert(solution.feasible && solution.answer.fits && !solution.proven);
    ck_assert_int_eq(solution.share[0].layers[1], 2);
    ck_assert_int_eq(solution.share[1].layers[1], 4);
    ck_assert_double_eq_tol(solution.bound_s, 63, 1e-9); /* of 3 and 3 */
    p.stage[1].limit_bytes = .3;
    ck_assert_int_eq(calc_solver_divide(&p, NULL, &solution, NULL), CALC_OK);
    ck_assert(!solution.feasible && !solution.proven);
}

CALC_TEST(a_solver_divides_within_its_options)
{
    calc_balance_problem p = balance_large();
    int left = 20;
    calc_balance_options options = {.stop = stop_after, .context = &left};
    ck_assert_int_eq(calc_solver_divide(&p, &options, &solution, NULL), CALC_OK);
    ck_assert(!solution.feasible && !solution.proven);
    ck_assert_double_gt(solution.bound_s, 900);
    p = balance_problem(&balance_cases[8]);
    options = (calc_balance_options){.gap = .5};
    ck_assert_int_eq(calc_solver_divide(&p, &options, &solution, NULL), CALC_OK);
    ck_assert(solution.feasible && solution.proven);
    ck_assert_double_gt(solution.answer.step_s, 103.1);
    ck_assert_double_lt(solution.bound_s, 103.02);
    p.shape.kind = CALC_PIPELINE_SCHEDULE_ZB_H2;
    ck_assert_int_eq(calc_solver_divide(&p, NULL, &solution, &errors), CALC_ERR_UNSUPPORTED);
    ck_assert_int_eq(errors.count, 1);
}
