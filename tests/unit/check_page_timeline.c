/* Operations of a step for a picture: src/report/timeline.c. */
#include "report/page_timeline.h"

#include <check.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_STAGES = 4096 };

static calc_stage_stats stage[MOST_STAGES];

/* Equal stages: 1 s forward, 2 s backward, of which half is of weights. */
static calc_exec make(calc_page_timeline *out, calc_pipeline_schedule kind, int64_t stages,
                      int64_t chunks, int64_t microbatches)
{
    calc_exec exec = {.pipeline_par = stages,
                      .pipeline_interleaving = chunks,
                      .pipeline_schedule = kind,
                      .training = true};
    calc_stats stats = {.num_microbatches = (double)microbatches};
    calc_errors errors = {0};
    for (int64_t i = 0; i < stages; i++) {
        stage[i] = (calc_stage_stats){.stage = i, .fw_time = 1, .bw_time = 2, .wgrad_time = 1};
    }
    *out = (calc_page_timeline){0};
    ck_assert_int_eq(calc_page_timeline_make(out, &exec, &stats, stage, &errors), CALC_OK);
    return exec;
}

/* m (F + B) and the bubble (p - 1) (F + B) / v of 1F1B. */
START_TEST(it_ends_when_the_closed_form_does)
{
    for (int64_t chunks = 1; chunks <= 3; chunks++) {
        calc_page_timeline t;
        make(&t, CALC_PIPELINE_SCHEDULE_1F1B, 4, chunks, 8);
        ck_assert_ptr_null(t.reason);
        ck_assert_double_eq_tol(t.end_s, 8 * 3 + 3 * 3 / (double)chunks, 1e-12);
        ck_assert_uint_eq(t.count, (size_t)(2 * 4 * 8 * chunks));
        calc_page_timeline_free(&t);
    }
}
END_TEST

/* The second chunk of a V goes back up: stage 3 does both its forwards one after the other. */
START_TEST(a_v_turns_on_the_last_stage)
{
    calc_page_timeline t;
    make(&t, CALC_PIPELINE_SCHEDULE_ZB_V, 4, 1, 8);
    double ends[2] = {0, 0};
    ck_assert_int_eq(t.shape.chunks, 2);
    for (size_t i = 0; i < t.count; i++) {
        const calc_schedule_event *e = &t.event[i];
        if (e->stage == 3 && e->microbatch == 0 && e->kind == CALC_SCHEDULE_FW) {
            ends[e->chunk] = e->end_s;
        }
    }
    ck_assert_double_eq_tol(ends[0], 2, 1e-12);
    ck_assert_double_eq_tol(ends[1], 2.5, 1e-12);
    calc_page_timeline_free(&t);
}
END_TEST

/* How long the first forward of a chunk takes on a stage. */
static double forward_s(const calc_page_timeline *t, int32_t on, int32_t chunk)
{
    for (size_t i = 0; i < t->count; i++) {
        const calc_schedule_event *e = &t->event[i];
        if (e->stage == on && e->chunk == chunk && e->microbatch == 0 &&
            e->kind == CALC_SCHEDULE_FW) {
            return e->end_s - e->start_s;
        }
    }
    return (double)NAN;
}

START_TEST(the_head_is_in_the_last_chunk_and_later_stages_may_have_fewer_blocks)
{
    calc_page_timeline t;
    calc_errors errors = {0};
    calc_exec exec = make(&t, CALC_PIPELINE_SCHEDULE_1F1B, 4, 2, 4);
    calc_page_timeline_free(&t);
    stage[3] = (calc_stage_stats){.fw_time = 2, .bw_time = 4, .wgrad_time = 2, .head_time = 3};
    calc_stats stats = {.num_microbatches = 4};
    t = (calc_page_timeline){0};
    ck_assert_int_eq(calc_page_timeline_make(&t, &exec, &stats, stage, &errors), CALC_OK);
    ck_assert_double_eq_tol(forward_s(&t, 2, 1), 0.5, 1e-12);
    ck_assert_double_eq_tol(forward_s(&t, 3, 0), 0.5, 1e-12);
    ck_assert_double_eq_tol(forward_s(&t, 3, 1), 1.5, 1e-12);
    calc_page_timeline_free(&t);
    /* 6 blocks on 4 stages: 2, 2, 1, 1. */
    exec = make(&t, CALC_PIPELINE_SCHEDULE_1F1B, 4, 1, 4);
    calc_page_timeline_free(&t);
    stats.missing_blocks = 2;
    stats.blocks_per_proc = 2;
    t = (calc_page_timeline){0};
    ck_assert_int_eq(calc_page_timeline_make(&t, &exec, &stats, stage, &errors), CALC_OK);
    ck_assert_double_eq_tol(forward_s(&t, 1, 0), 1, 1e-12);
    ck_assert_double_eq_tol(forward_s(&t, 2, 0), 0.5, 1e-12);
    ck_assert_double_eq_tol(forward_s(&t, 3, 0), 0.5, 1e-12);
    calc_page_timeline_free(&t);
}
END_TEST

START_TEST(inference_has_forward_passes_only)
{
    calc_exec exec = {.pipeline_par = 2, .pipeline_interleaving = 1};
    calc_stats stats = {.num_microbatches = 3};
    calc_errors errors = {0};
    calc_page_timeline t = {0};
    const calc_stage_stats two[] = {{.fw_time = 1}, {.fw_time = 1}};
    ck_assert_int_eq(calc_page_timeline_make(&t, &exec, &stats, two, &errors), CALC_OK);
    ck_assert_double_eq_tol(t.end_s, 4, 1e-12);
    calc_page_timeline_free(&t);
}
END_TEST

START_TEST(of_very_many_operations_some_rounds_are_shown)
{
    calc_page_timeline t;
    make(&t, CALC_PIPELINE_SCHEDULE_1F1B, 16, 1, 100000);
    ck_assert_int_eq(t.microbatches, 100000);
    ck_assert_int_eq(t.shape.microbatches % 32, 0);
    ck_assert_int_ge(t.shape.microbatches, 32);
    ck_assert_uint_le(t.count, CALC_TIMELINE_EVENTS);
    ck_assert_uint_gt(t.count, CALC_TIMELINE_EVENTS / 2);
    calc_page_timeline_free(&t);
    /* 1,024 stages: two rounds are too many. */
    make(&t, CALC_PIPELINE_SCHEDULE_1F1B, 1024, 1, 100000);
    ck_assert_str_eq(t.reason, "there are too many operations to show");
    ck_assert_uint_eq(t.count, 0);
    calc_page_timeline_free(&t);
}
END_TEST

START_TEST(what_cannot_be_shown_has_a_reason)
{
    calc_page_timeline t;
    calc_exec exec = make(&t, CALC_PIPELINE_SCHEDULE_DUALPIPE, 4, 1, 5);
    calc_stats stats = {.num_microbatches = 5};
    calc_errors errors = {0};
    ck_assert_str_eq(t.reason, "needs an even number of stages and of micro-batches");
    calc_page_timeline_free(&t);
    t = (calc_page_timeline){0};
    ck_assert_int_eq(calc_page_timeline_make(&t, &exec, &stats, NULL, &errors), CALC_OK);
    ck_assert_str_eq(t.reason, "the stages of this layout are not known");
    make(&t, CALC_PIPELINE_SCHEDULE_1F1B, 2, 1, 2);
    calc_page_timeline_free(&t);
    exec.pipeline_schedule = CALC_PIPELINE_SCHEDULE_1F1B;
    stage[1].fw_time = (double)NAN;
    t = (calc_page_timeline){0};
    ck_assert_int_eq(calc_page_timeline_make(&t, &exec, &stats, stage, &errors), CALC_OK);
    ck_assert_str_eq(t.reason, "its stages have no finite time");
    ck_assert_uint_eq(t.count, 0);
    calc_page_timeline_free(&t);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("page_timeline");
    TCase *tcase = tcase_create("timeline");
    tcase_add_test(tcase, it_ends_when_the_closed_form_does);
    tcase_add_test(tcase, a_v_turns_on_the_last_stage);
    tcase_add_test(tcase, the_head_is_in_the_last_chunk_and_later_stages_may_have_fewer_blocks);
    tcase_add_test(tcase, inference_has_forward_passes_only);
    tcase_add_test(tcase, of_very_many_operations_some_rounds_are_shown);
    tcase_add_test(tcase, what_cannot_be_shown_has_a_reason);
    suite_add_tcase(suite, tcase);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_NORMAL);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
