/* Operations of a step for a picture: src/report/run_data.c. */
#include "report/run_data.h"

#include <math.h>

#include "frame.h"

enum { MOST_PARTS = 4096 };

static calc_schedule_pass pass[MOST_PARTS];

/* Equal stages: 1 s forward, 2 s backward, of which half is of weights. */
static calc_schedule_shape make(calc_page_timeline *out, calc_pipeline_schedule kind,
                                int64_t stages, int64_t chunks, int64_t microbatches)
{
    const calc_schedule_shape shape = {kind, stages, chunks, microbatches};
    calc_errors errors = {0};
    double share = 1 / (double)chunks;
    for (int64_t i = 0; i < stages * chunks; i++) {
        pass[i] = (calc_schedule_pass){share, share, share};
    }
    *out = (calc_page_timeline){0};
    ck_assert_int_eq(calc_page_timeline_make(out, &shape, pass, &errors), CALC_OK);
    return shape;
}

/* m (F + B) and the bubble (p - 1) (F + B) / v of 1F1B. */
CALC_TEST(it_ends_when_the_closed_form_does)
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

/* The second chunk of a V goes back up: stage 3 does both its forwards one after the other. */
CALC_TEST(a_v_turns_on_the_last_stage)
{
    calc_page_timeline t;
    make(&t, CALC_PIPELINE_SCHEDULE_ZB_V, 4, 2, 8);
    double ends[2] = {0, 0};
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

CALC_TEST(inference_has_forward_passes_only)
{
    const calc_schedule_shape shape = {CALC_PIPELINE_SCHEDULE_GPIPE, 2, 1, 3};
    const calc_schedule_pass two[] = {{.fw_s = 1}, {.fw_s = 1}};
    calc_errors errors = {0};
    calc_page_timeline t = {0};
    ck_assert_int_eq(calc_page_timeline_make(&t, &shape, two, &errors), CALC_OK);
    ck_assert_double_eq_tol(t.end_s, 4, 1e-12);
    calc_page_timeline_free(&t);
}

CALC_TEST(of_very_many_operations_some_rounds_are_shown)
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

CALC_TEST(what_cannot_be_shown_has_a_reason)
{
    calc_page_timeline t;
    calc_errors errors = {0};
    calc_schedule_shape shape = make(&t, CALC_PIPELINE_SCHEDULE_DUALPIPE, 4, 1, 5);
    ck_assert_str_eq(t.reason, "needs an even number of stages and of micro-batches");
    calc_page_timeline_free(&t);
    t = (calc_page_timeline){0};
    ck_assert_int_eq(calc_page_timeline_make(&t, &shape, NULL, &errors), CALC_OK);
    ck_assert_str_eq(t.reason, "the stages of this layout are not known");
    shape = make(&t, CALC_PIPELINE_SCHEDULE_1F1B, 2, 1, 2);
    calc_page_timeline_free(&t);
    pass[1].fw_s = (double)NAN;
    t = (calc_page_timeline){0};
    ck_assert_int_eq(calc_page_timeline_make(&t, &shape, pass, &errors), CALC_OK);
    ck_assert_str_eq(t.reason, "its stages have no finite time");
    ck_assert_uint_eq(t.count, 0);
    calc_page_timeline_free(&t);
}
