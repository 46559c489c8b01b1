#include "balance/solve.h"

#include <check.h>
#include <math.h>
#include <stdlib.h>

/* Costs in units of a forward of one layer of kind 1, as in the examples of the mixed-integer
   program: dense, that kind's share of it; backward and full recomputation likewise. */
typedef struct example {
    int stages, chunks, microbatches, dense, moe;
    double dense_ratio, back, head, again;
    double first, middle, last; /* limits */
} example;

static calc_balance_problem problem;
static calc_balance_solution solution;

static void pose(const example *e)
{
    problem = (calc_balance_problem){
        .shape = {CALC_PIPELINE_SCHEDULE_1F1B, e->stages, e->chunks, e->microbatches},
        .layers = {e->dense, e->moe},
        .chips = 1,
        .may_full = true,
        .least_layers = 1,
    };
    for (int kind = 0; kind < CALC_BALANCE_KINDS; kind++) {
        double fw_s = kind == 0 ? e->dense_ratio : 1;
        problem.layer[0][kind] = (calc_balance_layer){
            .fw_s = fw_s,
            .agrad_s = e->back * fw_s,
            .again_s = {0, 0.33 * fw_s, e->again * fw_s},
            .held_bytes = 3000,
            .flight_bytes = {800, 500, 50},
        };
    }
    for (int s = 0; s < e->stages; s++) {
        problem.stage[s].limit_bytes = s == 0               ? e->first
                                       : s == e->stages - 1 ? e->last
                                                            : e->middle;
    }
    calc_balance_place *end = &problem.place[e->stages * e->chunks - 1];
    end->fw_s = e->head;
    end->agrad_s = e->back * e->head;
}

static void solve(void)
{
    calc_balance_options options = {0};
    ck_assert_int_eq(calc_balance_solve(&problem, &options, &solution), CALC_OK);
}

static void expect(double step_s)
{
    solve();
    ck_assert(solution.feasible);
    ck_assert_double_eq_tol(solution.answer.step_s, step_s, 1e-9);
}

START_TEST(two_stages_are_divided_as_the_examples_say)
{
    example e = {2, 1, 4, 0, 6, 1, 2, 1.5, 1, 40000, 40000, 40000};
    pose(&e);
    expect(57);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("balance/solve");
    TCase *tcase = tcase_create("balance/solve");
    tcase_add_test(tcase, two_stages_are_divided_as_the_examples_say);
    suite_add_tcase(suite, tcase);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_NORMAL);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
