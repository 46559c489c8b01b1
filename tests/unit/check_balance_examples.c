#include <glpk.h>
#include <stdio.h>
#include <stdlib.h>

#include "balance/evaluate.h"
#include "balance/solver.h"
#include "balance_case.h"
#include "frame.h"

static calc_milp milp;
static calc_solver_result result;

static void solve(void)
{
    calc_errors errors = {0};
    ck_assert_msg(calc_solver_glpk(&milp, NULL, &result, &errors) == CALC_OK, "%s",
                  errors.item[0].text);
}

static void done(void)
{
    calc_solver_free(&result);
    calc_milp_free(&milp);
}

static void expect(const char *name, double optimum)
{
    solve();
    if (isinf(optimum)) {
        ck_assert_int_eq(result.outcome, CALC_SOLVER_INFEASIBLE);
        ck_assert_ptr_null(result.value);
        return;
    }
    ck_assert_msg(result.outcome == CALC_SOLVER_OPTIMAL, "%s: outcome %d", name, result.outcome);
    ck_assert_msg(fabs(result.objective_s - optimum) < 1e-9 * optimum, "%s: %.12g, not %.12g", name,
                  result.objective_s, optimum);
    ck_assert_double_eq(result.bound_s, result.objective_s);
    ck_assert_double_eq(result.gap, 0);
}

/* What the values stand for takes as long when it is simulated, and fits. */
static void expect_shares(const calc_balance_problem *p, double optimum)
{
    calc_balance_share share[CALC_BALANCE_PLACES];
    calc_balance_answer answer;
    calc_milp_shares(&milp, result.value, share);
    ck_assert_int_eq(calc_balance_evaluate(p, share, &answer), CALC_OK);
    ck_assert(answer.fits);
    ck_assert_double_eq_tol(answer.step_s, optimum, 1e-9 * optimum);
}

CALC_TEST_LOOP(programs_of_the_examples_have_their_optima, 0, BALANCE_CASES)
{
    const balance_case *c = &balance_cases[_i];
    calc_balance_problem p = balance_problem(c);
    ck_assert_int_eq(calc_milp_build(&p, NULL, &milp, NULL), CALC_OK);
    expect(c->name, c->optimum);
    if (result.value) {
        expect_shares(&p, c->optimum);
    }
    done();
}

/* Seconds. */
CALC_TEST(the_large_program_has_the_published_optimum)
{
    calc_balance_problem p = balance_large();
    ck_assert_int_eq(calc_milp_build(&p, NULL, &milp, NULL), CALC_OK);
    expect("large", 1132.662249);
    expect_shares(&p, 1132.662249);
    done();
}

/* E5 and E11 are steady by then, and the others have too few micro-batches. */
CALC_TEST_LOOP(programs_of_few_microbatches_have_the_optima_of_all, 0, BALANCE_CASES)
{
    const balance_case *c = &balance_cases[_i];
    calc_balance_problem p = balance_problem(c);
    calc_milp_options reduce = {.reduce = true};
    ck_assert_int_eq(calc_milp_build(&p, &reduce, &milp, NULL), CALC_OK);
    int passes = 0;
    for (size_t i = 0; i < milp.columns; i++) {
        passes += milp.column[i].what == CALC_MILP_FW_START;
    }
    int left_out = c->microbatches / c->stages >= 6 ? c->microbatches / c->stages - 5 : 0;
    ck_assert_int_eq(passes, c->stages * c->chunks * (c->microbatches - left_out * c->stages));
    expect(c->name, c->optimum);
    if (result.value) {
        expect_shares(&p, c->optimum);
    }
    done();
}

CALC_TEST(few_microbatches_are_enough_with_chunks_and_a_rest_too)
{
    static const int microbatches[] = {12, 13, 31};
    for (int i = 0; i < 6; i++) {
        balance_case c = balance_cases[3];
        c.chunks = 1 + i % 2;
        c.microbatches = microbatches[i / 2];
        calc_balance_problem p = balance_problem(&c);
        calc_milp_options reduce = {.reduce = true};
        ck_assert_int_eq(calc_milp_build(&p, NULL, &milp, NULL), CALC_OK);
        size_t rows = milp.rows;
        solve();
        double all_s = result.objective_s;
        done();
        ck_assert_int_eq(calc_milp_build(&p, &reduce, &milp, NULL), CALC_OK);
        ck_assert_uint_lt(milp.rows, rows);
        expect("reduced", all_s);
        done();
    }
}

/* ---- Programs made by others ------------------------------------------------------------------*/

/* What GLPK's reader made of a file, as ours. */
static void from_glpk(glp_prob *problem)
{
    static int index[10000];
    static double factor[10000];
    milp = (calc_milp){.unit_s = 1, .unit_bytes = 1};
    milp.columns = (size_t)glp_get_num_cols(problem);
    milp.rows = (size_t)glp_get_num_rows(problem);
    milp.column = calloc(milp.columns, sizeof *milp.column);
    milp.row = calloc(milp.rows, sizeof *milp.row);
    milp.term = calloc((size_t)glp_get_num_nz(problem), sizeof *milp.term);
    for (int i = 1; i <= (int)milp.columns; i++) {
        milp.column[i - 1] = (calc_milp_column){
            .integer = glp_get_col_kind(problem, i) != GLP_CV,
            .lower = glp_get_col_lb(problem, i),
            .upper = glp_get_col_ub(problem, i),
            .cost = glp_get_obj_coef(problem, i),
        };
    }
    for (int i = 1; i <= (int)milp.rows; i++) {
        int type = glp_get_row_type(problem, i);
        milp.row[i - 1] =
            type == GLP_UP   ? (calc_milp_row){CALC_MILP_LESS, glp_get_row_ub(problem, i)}
            : type == GLP_LO ? (calc_milp_row){CALC_MILP_MORE, glp_get_row_lb(problem, i)}
                             : (calc_milp_row){CALC_MILP_EQUAL, glp_get_row_lb(problem, i)};
        int terms = glp_get_mat_row(problem, i, index, factor);
        for (int k = 1; k <= terms; k++) {
            milp.term[milp.terms++] = (calc_milp_term){i - 1, index[k] - 1, factor[k]};
        }
    }
}

CALC_TEST_LOOP(programs_made_by_others_have_the_same_optima, 0, BALANCE_CASES)
{
    const balance_case *c = &balance_cases[_i];
    char path[512];
    snprintf(path, sizeof path, "%s/golden/pipeline_ilp/%s.mps", CALC_TEST_DATA, c->name);
    glp_term_out(GLP_OFF);
    glp_prob *problem = glp_create_prob();
    ck_assert_int_eq(glp_read_mps(problem, GLP_MPS_FILE, NULL, path), 0);
    from_glpk(problem);
    glp_delete_prob(problem);
    glp_free_env();
    expect(c->name, c->optimum);
    done();
}
