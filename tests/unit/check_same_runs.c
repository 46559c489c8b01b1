/* Published runs of a layout's sizes. */
#include "shipped_case.h"
#include "validate/runs.h"

#include <string.h>

#include "frame.h"

enum { ROOM = 2 };

static calc_runs runs;
static shipped_case c;
static calc_same_run same[ROOM];

static void enter(void)
{
    calc_errors errors = {0};
    runs = (calc_runs){0};
    ck_assert_int_eq(
        calc_runs_read(&runs, CALC_DATA_DIR_SOURCE "/tests/measured/runs.csv", NULL, &errors),
        CALC_OK);
    c = load_case("llama3-405B", "h100_sxm", "llama3-405B_1024");
}

static void leave(void)
{
    calc_runs_free(&runs);
}

const calc_test_frame calc_tests = {.setup = enter, .teardown = leave};

static size_t find(void)
{
    return calc_same_runs_find(same, ROOM, &runs, &c.app, "h100_sxm", &c.exec);
}

CALC_TEST(a_shipped_layout_is_the_run_it_was_read_from)
{
    ck_assert_uint_eq(find(), 1);
    ck_assert_str_eq(same[0].row->id, "dgxc_v25.04.02_llama3.1-405b_H100_1024g_bf16_gbs512");
    ck_assert_double_eq_tol(same[0].step_s, 19.84, 1e-9); /* as it was printed */
    ck_assert_ptr_nonnull(strstr(same[0].row->source, "dgxc"));
}

CALC_TEST(what_differs_in_a_size_is_another)
{
    ck_assert_uint_eq(calc_same_runs_find(same, ROOM, &runs, &c.app, "h200", &c.exec), 0);
    calc_exec exec = c.exec;
    c.exec.microbatch_size *= 2;
    ck_assert_uint_eq(find(), 0);
    c.exec = exec;
    c.exec.strategy.matrix_datatype = CALC_FORMAT_FLOAT8; /* which was run, too */
    ck_assert_uint_gt(find(), 0);
    ck_assert_int_eq(same[0].row->document->exec.strategy.matrix_datatype, CALC_FORMAT_FLOAT8);
    c.exec = exec;
    c.exec.strategy.activation_recompute = CALC_ACTIVATION_RECOMPUTE_FULL;
    ck_assert_uint_eq(find(), 0);
    c.exec = exec;
    c.exec.seq_size = 4096;
    ck_assert_uint_eq(find(), 0);
    c.exec = exec;
    c.exec.training = false;
    ck_assert_uint_eq(find(), 0);
    c.exec = exec;
    c.app.hidden *= 2;
    ck_assert_uint_eq(find(), 0);
}

CALC_TEST(what_has_no_size_has_one_of_one)
{
    c.exec.strategy.context_par = c.exec.strategy.context_par > 1   ? c.exec.strategy.context_par
                                  : c.exec.strategy.context_par > 0 ? 0
                                                                    : 1;
    c.exec.strategy.expert_par = !c.exec.strategy.expert_par;
    ck_assert_uint_eq(find(), 1);
}

CALC_TEST(more_runs_than_there_is_room_for_are_counted)
{
    c = load_case("llama3-8B", "h100_sxm", "llama3-8B_8");
    size_t count = find();
    ck_assert_uint_gt(count, ROOM);
    ck_assert_str_ne(same[0].row->id, same[1].row->id);
}
