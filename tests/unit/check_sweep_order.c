/* How sure it is that the best of a sweep is better: src/cli/sweep/sweep_order.c. */
#include "cli/sweep/sweep_order.h"

#include <math.h>

#include "gauss/normal.h"
#include "sweep_case.h"
#include "tune/model.h"

static sweep_case example;
static calc_sweep_study study;
static calc_sweep_result result;
static calc_errors errors;

static void set_up(void)
{
    sweep_case_init(&example);
    study = (calc_sweep_study){
        .space = example.space, .designs = example.designs, .options = example.options};
    errors = (calc_errors){0};
    result = (calc_sweep_result){0};
    ck_assert_int_eq(calc_sweep(&study.space, &study.designs, &study.options, &result, &errors),
                     CALC_OK);
}

static void tear_down(void)
{
    calc_sweep_result_free(&result);
    calc_space_free(&example.space);
}

static double sure_of(const calc_sweep_order *order, const calc_found *layout)
{
    calc_sweep_found found;
    calc_sweep_found_run(&study, layout, &found);
    return calc_sweep_order_sure(order, found.design, &found.exec, &found.stats);
}

/* By steps, as all have one batch. */
START_TEST(it_is_what_the_errors_of_both_say)
{
    const calc_front *top = &result.group[0].top;
    const calc_tune_prior prior = calc_tune_prior_default();
    const calc_sweep_order order = calc_sweep_order_of(&study, &top->item[0]);
    calc_tune_candidate best, other;
    calc_exec exec = calc_found_exec(&top->item[0]);
    ck_assert(order.known);
    ck_assert(calc_tune_candidate_of(&best, &example.app, &example.system, &exec));
    ck_assert_double_eq(sure_of(&order, &top->item[0]), 0.5);
    ck_assert_uint_eq(top->count, 20);
    for (size_t i = 1; i < top->count; i++) {
        exec = calc_found_exec(&top->item[i]);
        ck_assert(calc_tune_candidate_of(&other, &example.app, &example.system, &exec));
        double sd = calc_tune_model_difference(&prior, &best, &other, true);
        ck_assert_double_eq_tol(sure_of(&order, &top->item[i]),
                                calc_normal_below(log(other.step_s / best.step_s) / sd), 1e-9);
    }
}
END_TEST

START_TEST(equals_are_those_of_which_it_is_not_sure)
{
    const calc_front *front = &result.group[0].front;
    const calc_sweep_order order = calc_sweep_order_of(&study, &result.group[0].top.item[0]);
    size_t equals = 0;
    for (size_t i = 0; i < front->count; i++) {
        calc_sweep_found found;
        calc_sweep_found_run(&study, &front->item[i], &found);
        bool equal = calc_sweep_order_equal(&order, &found);
        ck_assert_int_eq(equal, sure_of(&order, &front->item[i]) < CALC_SWEEP_ORDER_SURE);
        equals += equal;
    }
    ck_assert_uint_gt(equals, 0);
    ck_assert_uint_lt(equals, front->count);
}
END_TEST

/* By memory, or by Calculon's rules: an equal is what is within 1 %. */
START_TEST(where_nothing_is_known_equals_are_near)
{
    calc_sweep_found found;
    const calc_found *best = &result.group[0].top.item[0];
    study.options.compat = CALC_COMPAT_CALCULON;
    ck_assert(!calc_sweep_order_of(&study, best).known);
    ck_assert(!calc_sweep_order_of(&study, NULL).known);
    study.options.compat = CALC_COMPAT_NONE;
    sweep_case_objective(&study.options.top_by, "mem1");
    const calc_sweep_order order = calc_sweep_order_of(&study, best);
    ck_assert(!order.known);
    ck_assert_double_nan(sure_of(&order, best));
    calc_sweep_found_run(&study, best, &found);
    ck_assert(calc_sweep_order_equal(&order, &found));
    found.stats.proc_mem_tier1_cap_req *= 1.009;
    ck_assert(calc_sweep_order_equal(&order, &found));
    found.stats.proc_mem_tier1_cap_req *= 1.009;
    ck_assert(!calc_sweep_order_equal(&order, &found));
}
END_TEST

int main(void)
{
    TCase *cases = tcase_create("sweep_order");
    tcase_add_checked_fixture(cases, set_up, tear_down);
    tcase_set_timeout(cases, 60);
    tcase_add_test(cases, it_is_what_the_errors_of_both_say);
    tcase_add_test(cases, equals_are_those_of_which_it_is_not_sure);
    tcase_add_test(cases, where_nothing_is_known_equals_are_near);
    Suite *suite = suite_create("sweep_order");
    suite_add_tcase(suite, cases);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_NORMAL);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
