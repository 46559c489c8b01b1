/* Weight gradients of the head that wait for the pipeline to drain: times and bytes by hand. */
#include "model/stages/stage_types.h"

#include "frame.h"
#include "stage_case.h"

enum { STAGES = 4, MICROBATCHES = 16 };

static const double tokens = 32, words = 512, width = 64;

/* Four stages of two blocks, and the ends. */
static void deferring(stage_case *s, int64_t deferred)
{
    build(s, modern_app(), modern_exec(1, STAGES, 1));
    s->c.exec.batch_size = MICROBATCHES * s->c.exec.microbatch_size;
    s->c.exec.deferred_head_wgrad = deferred;
    settle(s);
}

CALC_TEST(those_of_all_micro_batches_leave_the_last_stage)
{
    stage_case plain, s;
    deferring(&plain, 0);
    deferring(&s, -1);
    double one_s = plain.parts.head.wgrad_s;
    ck_assert(!plain.terms.deferred.any && s.terms.deferred.any);
    assert_near(plain.terms.head.wgrad_s, one_s);
    ck_assert(fabs(s.terms.head.wgrad_s) <= ROUNDING * one_s);
    assert_near(s.terms.deferred.all_s, MICROBATCHES * one_s);
}

CALC_TEST(a_limit_leaves_the_rest_where_it_was)
{
    stage_case plain, s;
    deferring(&plain, 0);
    deferring(&s, 4);
    double one_s = plain.parts.head.wgrad_s;
    assert_near(s.terms.deferred.all_s, 4 * one_s);
    assert_near(s.terms.head.wgrad_s, one_s * 12 / 16);
    deferring(&s, 1000); /* more than there are: all */
    assert_near(s.terms.deferred.all_s, MICROBATCHES * one_s);
}

/* Of every micro-batch but the one at hand: the input of the head and the gradient of its output,
 * 2 bytes each. */
CALC_TEST(inputs_and_gradients_are_kept)
{
    stage_case s;
    deferring(&s, -1);
    assert_near(s.terms.deferred.bytes, (MICROBATCHES - 1) * tokens * (width + words) * 2);
    calc_stage_class last = {.stages = 1, .last = 1};
    calc_stage_class first = {.stages = 1, .first = 1};
    assert_near(calc_stage_deferred_bytes(&s.terms, &last), s.terms.deferred.bytes);
    ck_assert_double_eq(calc_stage_deferred_bytes(&s.terms, &first), 0);
    deferring(&s, 3);
    assert_near(s.terms.deferred.bytes, 3 * tokens * (width + words) * 2);
    s.c.exec.strategy.tensor_par = 2;
    s.c.exec.num_procs = 2 * STAGES;
    settle(&s); /* sequence parallelism splits the input, too */
    assert_near(s.terms.deferred.bytes, 3 * tokens * (width + words) / 2 * 2);
    s.c.exec.strategy.tensor_par_comm_type = CALC_TENSOR_PAR_COMM_TYPE_AR;
    settle(&s);
    assert_near(s.terms.deferred.bytes, 3 * tokens * (width + words / 2) * 2);
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

/* Without a pipeline, head or training, and with other schedules, there is nothing to defer. */
CALC_TEST(it_is_for_pipelines_in_training)
{
    stage_case s;
    deferring(&s, -1);
    s.c.exec.training = false;
    settle(&s);
    ck_assert(!s.terms.deferred.any);
    deferring(&s, -1);
    s.c.exec.pipeline_schedule = CALC_PIPELINE_SCHEDULE_ZB_H1;
    settle(&s);
    ck_assert(!s.terms.deferred.any);
    deferring(&s, -1);
    s.c.app.vocab_size = 0;
    settle(&s);
    ck_assert(!s.terms.deferred.any);
    deferring(&s, -1);
    s.c.exec.pipeline_par = s.c.exec.num_procs = 1;
    settle(&s);
    ck_assert(!s.terms.deferred.any);
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
