#include "mindspeed/loop.h"

#include <math.h>

#include "frame.h"
#include "scratch.h"

static char folder[512];
static calc_mindspeed_results results;

static void enter(void)
{
    scratch_enter(folder, sizeof folder);
}

static void leave(void)
{
    calc_mindspeed_results_free(&results);
    scratch_leave(folder);
}

const calc_test_frame calc_tests = {.setup = enter, .teardown = leave};

static calc_status read_text(const char *text, calc_errors *errors)
{
    scratch_write("r.csv", text, strlen(text));
    calc_mindspeed_results_free(&results);
    return calc_mindspeed_results_read(&results, "r.csv", errors);
}

#define HEAD "pp,tp,dp,ring_attention,ulysses,mbs,vpp,ep,peak_memory,e2e_time\n"

CALC_TEST(results_are_read)
{
    static const char text[] = HEAD "1,8,1,1,1,2,1,0,41.5,1234.5\n"
                                    "2,4,1,1,1,1,2,0,,oom\n"
                                    "4,2,1,1,1,1,1,0,60,failed\n";
    calc_errors errors = {0};
    ck_assert_int_eq(read_text(text, &errors), CALC_OK);
    ck_assert_uint_eq(results.count, 3);
    const calc_mindspeed_config second = {2, 4, 1, 1, 1, 1, 2, 0};
    const calc_mindspeed_config none = {2, 4, 1, 1, 1, 1, 1, 0};
    const calc_mindspeed_result *r = calc_mindspeed_results_find(&results, &second);
    ck_assert_ptr_nonnull(r);
    ck_assert_int_eq(r->end, CALC_MINDSPEED_OUT_OF_MEMORY);
    ck_assert(isnan(r->peak_bytes));
    ck_assert_ptr_null(calc_mindspeed_results_find(&results, &none));
    ck_assert_double_eq_tol(results.item[0].step_s, 1.2345, 1e-15);
    ck_assert_int_eq(results.item[0].end, CALC_MINDSPEED_RAN);
    ck_assert_double_eq_tol(results.item[0].peak_bytes, 41.5e9, 1);
    ck_assert_int_eq(results.item[2].end, CALC_MINDSPEED_FAILED);
    ck_assert_double_eq_tol(results.item[2].peak_bytes, 60e9, 1);
}

/* The first generation's configurations have no chunks and no experts. */
CALC_TEST(columns_that_may_be_missing)
{
    calc_errors errors = {0};
    ck_assert_int_eq(
        read_text("e2e_time,pp,tp,dp,ring_attention,ulysses,mbs\n5,1,2,3,4,5,6\n", &errors),
        CALC_OK);
    const calc_mindspeed_config c = {1, 2, 3, 4, 5, 6, 1, 0};
    ck_assert_ptr_nonnull(calc_mindspeed_results_find(&results, &c));
}

CALC_TEST(bad_rows_are_one_line_each)
{
    static const struct {
        const char *row, *error;
    } cases[] = {
        {"1,8,1,1,1,2,1,0,41.5,-3\n",
         "r.csv:2:22: e2e_time: expected milliseconds above 0, oom or failed, found \"-3\""},
        {"1,8,1,1,1,2,1,0,41.5,12s\n",
         "r.csv:2:22: e2e_time: expected milliseconds above 0, oom or failed, found \"12s\""},
        {"1,8,1,1,1,2,1.5,0,41.5,12\n", "r.csv:2: vpp: expected a whole number, found 1.5"},
        {"0,8,1,1,1,2,1,0,41.5,12\n",
         "r.csv:2:1: pp: expected a whole number from 1 to 1e9, found \"0\""},
        {"1,8,1,1,1,2,1,0,4,12\n\n1,8,1,1,1,2,1,0,,13\n",
         "r.csv:4: the configuration was measured in line 2 already\n  hint: keep one row of each, "
         "or their mean"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        calc_errors errors = {0};
        char text[512], error[640];
        snprintf(text, sizeof text, "%s%s", HEAD, cases[i].row);
        ck_assert_int_ne(read_text(text, &errors), CALC_OK);
        ck_assert_int_eq(errors.count, 1);
        calc_error_print(&errors.item[0], error, sizeof error);
        ck_assert_str_eq(error, cases[i].error);
    }
}
