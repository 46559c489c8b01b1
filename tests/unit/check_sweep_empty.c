/* What is said of a space without a layout. */
#include "plan/sweep_more.h"
#include "sweep_case.h"

static sweep_case c;
static calc_errors errors;

static void enter(void)
{
    sweep_case_init(&c);
}

static void leave(void)
{
    calc_space_free(&c.space);
}

static void set(calc_axis axis, int64_t value)
{
    ck_assert_int_eq(calc_space_set(&c.space, axis, &value, 1), CALC_OK);
}

static bool is_empty(void)
{
    const calc_sweep_study study = {.space = c.space, .designs = c.designs};
    return calc_sweep_empty(&study, &errors);
}

START_TEST(a_size_that_does_not_divide_is_named)
{
    set(CALC_AXIS_tensor_par, 5);
    set(CALC_AXIS_num_procs, 80);
    set(CALC_AXIS_batch_size, 80);
    ck_assert(is_empty());
    ck_assert_str_eq(errors.item[0].pointer, "/tensor_par");
}
END_TEST

START_TEST(sizes_that_nobody_chose_are_not_complained_of)
{
    /* With 16 replicas on 64 processors four are left for tensors or stages. */
    set(CALC_AXIS_data_par, 16);
    ck_assert_msg(!is_empty(), "%s", errors.item[0].text);
    set(CALC_AXIS_batch_size, 10);
    ck_assert(is_empty());
    ck_assert_int_eq(errors.count, 1);
    ck_assert_str_eq(errors.item[0].pointer, "/batch_size");
}
END_TEST

START_TEST(sizes_that_leave_processors_over_are)
{
    set(CALC_AXIS_tensor_par, 8);
    set(CALC_AXIS_pipeline_par, 16);
    ck_assert(is_empty());
    ck_assert_str_eq(errors.item[0].pointer, "/num_procs");
}
END_TEST

int main(void)
{
    TCase *cases = tcase_create("sweep_empty");
    tcase_add_checked_fixture(cases, enter, leave);
    tcase_add_test(cases, a_size_that_does_not_divide_is_named);
    tcase_add_test(cases, sizes_that_nobody_chose_are_not_complained_of);
    tcase_add_test(cases, sizes_that_leave_processors_over_are);
    Suite *suite = suite_create("sweep_empty");
    suite_add_tcase(suite, cases);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_NORMAL);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
