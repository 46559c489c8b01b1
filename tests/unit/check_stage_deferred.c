/* Weight gradients of the head that wait for the pipeline to drain: times and bytes by hand, with
 * unit/check_stage_deferred.txt. */
#include "model/stages/stage_types.h"

#include "model_formulas.h"

const calc_test_frame calc_tests = {.cases = "unit/check_stage_deferred.txt",
                                    .answer = formula_answer};

/* Four stages of two blocks, and the ends. */
static void deferring(stage_case *s, int64_t deferred)
{
    build(s, modern_app(), modern_exec(1, 4, 1));
    s->c.exec.batch_size = 16 * s->c.exec.microbatch_size;
    s->c.exec.deferred_head_wgrad = deferred;
    settle(s);
}

/* Three stages drain, one chunk each; the last one computes meanwhile. */
CALC_TEST(the_other_stages_hide_what_they_drain)
{
    const calc_stage_terms t = {.deferred = {true, 10, 0}};
    const calc_stage_class c[] = {{.stages = 3}, {.stages = 1, .last = 1}};
    const calc_stage_pass pass[] = {{.fw_s = 9, .agrad_s = 1, .wgrad_s = 1}, {.agrad_s = 90}};
    ck_assert_double_eq(calc_stage_deferred_s(&t, 2, c, pass, 1), 10 - 3 * 2);
    ck_assert_double_eq(calc_stage_deferred_s(&t, 2, c, pass, 2), 10 - 3 * 2 / 2.0);
    const calc_stage_terms little = {.deferred = {true, 5, 0}};
    ck_assert_double_eq(calc_stage_deferred_s(&little, 2, c, pass, 1), 0);
    const calc_stage_class alike = {.stages = 4, .first = 1, .last = 1};
    ck_assert_double_eq(calc_stage_deferred_s(&t, 1, &alike, pass, 1), 10 - 3 * 2);
    const calc_stage_terms none = {.deferred = {false, 10, 0}};
    ck_assert_double_eq(calc_stage_deferred_s(&none, 2, c, pass, 1), 0);
}

/* A step is no longer for it, as the head's stage is the slowest; and no shorter than all that the
 * last stage has to do. */
CALC_TEST(a_step_of_a_heavy_head_is_shorter)
{
    stage_case s;
    calc_stats plain, deferred;
    deferring(&s, 0);
    calc_run(&s.c.app, &s.c.system, &s.c.exec, CALC_COMPAT_NONE, &plain);
    deferring(&s, 1);
    calc_run(&s.c.app, &s.c.system, &s.c.exec, CALC_COMPAT_NONE, &deferred);
    /* One fits into the drain of three stages: its time is spared. */
    assert_near(plain.total_time - deferred.total_time, s.parts.head.wgrad_s);
    ck_assert_double_gt(deferred.proc_mem_tier1_cap_req, 0);
}
