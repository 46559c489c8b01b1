
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "balance/milp.h"
#include "balance_case.h"
#include "frame.h"
#include "scratch.h"

const calc_test_frame calc_tests = {.needs = "glpsol"};

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

/* ---- glpsol -----------------------------------------------------------------------------------*/

CALC_TEST(glpsol_heeds_the_time_limit)
{
    calc_balance_problem p = balance_large();
    p.shape.microbatches *= 8; /* it takes minutes */
    build(&p);
    ck_assert_int_eq(calc_solver_glpsol(&milp, .1, &result, NULL), CALC_OK);
    expect(CALC_SOLVER_LIMIT, INFINITY);
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
    calc_status status = calc_solver_glpsol(&milp, 0, &result, &errors);
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

CALC_TEST(glpsol_says_nothing)
{
    build_example(8);
    ck_assert_int_eq(quietly(), CALC_OK);
    expect(CALC_SOLVER_OPTIMAL, 103.02);
    done();
}

static void expect_error(const char *text)
{
    ck_assert_int_eq(quietly(), CALC_ERR_IO);
    ck_assert_int_eq(errors.count, 1);
    ck_assert_str_eq(errors.item[0].text, text);
    ck_assert_ptr_null(result.value);
    done();
}

CALC_TEST(a_program_that_glpsol_refuses_is_an_error_with_its_last_words)
{
    build_example(0);
    milp.term[5].row = (int)milp.rows;
    expect_error("glpsol gave up: MPS file processing error");
}

CALC_TEST(without_glpsol_an_error_says_where_it_is)
{
    build_example(0);
    ck_assert_int_eq(setenv("PATH", "/nowhere", 1), 0);
    expect_error("glpsol is not installed: apt-get install glpk-utils");
}

/* ---- Like the search --------------------------------------------------------------------------*/

static calc_balance_solution solution;

CALC_TEST_LOOP(a_solver_divides_layers_as_the_search_does, 0, BALANCE_CASES)
{
    const balance_case *c = &balance_cases[_i];
    calc_balance_problem p = balance_problem(c);
    ck_assert_int_eq(calc_solver_divide(&p, 0, &solution, NULL), CALC_OK);
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
    ck_assert_int_eq(calc_solver_divide(&p, 0, &solution, NULL), CALC_OK);
    ck_assert(solution.feasible && solution.answer.fits && !solution.proven);
    ck_assert_int_eq(solution.share[0].layers[1], 2);
    ck_assert_int_eq(solution.share[1].layers[1], 4);
    ck_assert_double_eq_tol(solution.bound_s, 63, 1e-9); /* of 3 and 3 */
    p.stage[1].limit_bytes = .3;
    ck_assert_int_eq(calc_solver_divide(&p, 0, &solution, NULL), CALC_OK);
    ck_assert(!solution.feasible && !solution.proven);
}

CALC_TEST(schedules_without_a_program_are_refused)
{
    calc_balance_problem p = balance_problem(&balance_cases[8]);
    p.shape.kind = CALC_PIPELINE_SCHEDULE_ZB_H2;
    ck_assert_int_eq(calc_solver_divide(&p, 0, &solution, &errors), CALC_ERR_UNSUPPORTED);
    ck_assert_int_eq(errors.count, 1);
}
