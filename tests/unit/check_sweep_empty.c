/* What is said of a space without a layout. */
#include "plan/sweep_more.h"
#include "sweep_case.h"

#include "frame.h"

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

const calc_test_frame calc_tests = {.setup = enter, .teardown = leave};

static void set(calc_axis axis, int64_t value)
{
    ck_assert_int_eq(calc_space_set(&c.space, axis, &value, 1), CALC_OK);
}

static bool is_empty(void)
{
    const calc_sweep_study study = {.space = c.space, .designs = c.designs};
    return calc_sweep_empty(&study, &errors);
}

CALC_TEST(a_size_that_does_not_divide_is_named)
{
    set(CALC_AXIS_tensor_par, 5);
    set(CALC_AXIS_num_procs, 80);
    set(CALC_AXIS_batch_size, 80);
    ck_assert(is_empty());
    ck_assert_str_eq(errors.item[0].pointer, "/tensor_par");
}

CALC_TEST(sizes_that_nobody_chose_are_not_complained_of)
{
    /* With 16 replicas on 64 processors four are left for tensors or stages. */
    set(CALC_AXIS_data_par, 16);
    ck_assert_msg(!is_empty(), "%s", errors.item[0].text);
    set(CALC_AXIS_batch_size, 10);
    ck_assert(is_empty());
    ck_assert_int_eq(errors.count, 1);
    ck_assert_str_eq(errors.item[0].pointer, "/batch_size");
}

CALC_TEST(sizes_that_leave_processors_over_are)
{
    set(CALC_AXIS_tensor_par, 8);
    set(CALC_AXIS_pipeline_par, 16);
    ck_assert(is_empty());
    ck_assert_str_eq(errors.item[0].pointer, "/num_procs");
}
