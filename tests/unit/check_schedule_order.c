#include "model/schedule/schedule_sim.h"

#include <string.h>

#include "frame.h"

enum { ROOM = 8 * 3 * 4 * 24 };

/** The order of a stage as text: F forward, B activation gradient, W weight gradient, X both
 *  gradients; small letters of the second chunk; & joins a pair. */
static const char *order(calc_pipeline_schedule kind, int64_t stages, int64_t chunks,
                         int64_t microbatches, int64_t stage)
{
    static calc_schedule_op op[ROOM];
    static char text[ROOM];
    calc_schedule_shape s = {kind, stages, chunks, microbatches};
    ck_assert_int_eq(calc_schedule_check(&s), CALC_SCHEDULE_OK);
    ck_assert_int_le(stages * calc_schedule_ops_room(&s), ROOM);
    int64_t count[8];
    calc_schedule_orders(&s, op, count);
    const calc_schedule_op *o = op + stage * calc_schedule_ops_room(&s);
    char *end = text;
    for (int64_t i = 0; i < count[stage]; i++) {
        *end++ = (o[i].chunk ? "fbwx" : "FBWX")[o[i].kind];
        if (o[i].paired) {
            *end++ = '&';
            *end++ = o[i].chunk ? 'X' : 'x';
        }
    }
    *end = '\0';
    return text;
}

CALC_TEST(gpipe_does_all_forwards_first)
{
    ck_assert_str_eq(order(CALC_PIPELINE_SCHEDULE_GPIPE, 2, 1, 3, 0), "FFFXXX");
    ck_assert_str_eq(order(CALC_PIPELINE_SCHEDULE_GPIPE, 2, 1, 3, 1), "FFFXXX");
}

CALC_TEST(one_f_one_b_alternates_after_the_way_down_is_full)
{
    ck_assert_str_eq(order(CALC_PIPELINE_SCHEDULE_1F1B, 3, 1, 4, 0), "FFFXFXXX");
    ck_assert_str_eq(order(CALC_PIPELINE_SCHEDULE_1F1B, 3, 1, 4, 1), "FFXFXFXX");
    ck_assert_str_eq(order(CALC_PIPELINE_SCHEDULE_1F1B, 3, 1, 4, 2), "FXFXFXFX");
    ck_assert_str_eq(order(CALC_PIPELINE_SCHEDULE_1F1B, 3, 1, 1, 0), "FX");
}

/* Narayanan et al. 2021, figure 4, with two stages. */
CALC_TEST(interleaving_takes_a_round_through_each_chunk)
{
    ck_assert_str_eq(order(CALC_PIPELINE_SCHEDULE_1F1B, 2, 2, 4, 0), "FFffFxFxfXfXxxXX");
    ck_assert_str_eq(order(CALC_PIPELINE_SCHEDULE_1F1B, 2, 2, 4, 1), "FFfxfxFXFXfxfxXX");
    /* The micro-batch that is not there is left out. */
    ck_assert_str_eq(order(CALC_PIPELINE_SCHEDULE_1F1B, 2, 2, 3, 0), "FFffFxxfXXxX");
}

/* Qi et al. 2023, figures 2 and 3. */
CALC_TEST(weight_gradients_wait_for_gaps)
{
    ck_assert_str_eq(order(CALC_PIPELINE_SCHEDULE_ZB_H1, 3, 1, 4, 0), "FFFBWFBWBWBW");
    ck_assert_str_eq(order(CALC_PIPELINE_SCHEDULE_ZB_H1, 3, 1, 4, 2), "FBFBFBWFBWWW");
    ck_assert_str_eq(order(CALC_PIPELINE_SCHEDULE_ZB_H2, 3, 1, 6, 0), "FFFFFBWFBWBWBWBWBW");
    ck_assert_str_eq(order(CALC_PIPELINE_SCHEDULE_ZB_H2, 3, 1, 6, 2), "FBFBFBFBFBWFBWWWWW");
    /* One at most waits on the middle stage, two with ZB-H2; after the last forward none does. */
    ck_assert_str_eq(order(CALC_PIPELINE_SCHEDULE_ZB_H1, 3, 1, 5, 1), "FFBFBWFBWFBWBWW");
    ck_assert_str_eq(order(CALC_PIPELINE_SCHEDULE_ZB_H2, 3, 1, 6, 1), "FFFBFBFBWFBWBWBWWW");
    ck_assert_str_eq(order(CALC_PIPELINE_SCHEDULE_ZB_H2, 3, 1, 2, 0), "FFBWBW");
}

/* Qi et al. 2023, appendix: the V of two chunks. */
CALC_TEST(zb_v_fills_with_both_chunks)
{
    ck_assert_str_eq(order(CALC_PIPELINE_SCHEDULE_ZB_V, 2, 2, 4, 0), "FFFfbwfbwFBWfbwBWfbBwBWW");
    /* One of four micro-batches: the others are left out. */
    ck_assert_str_eq(order(CALC_PIPELINE_SCHEDULE_ZB_V, 2, 2, 1, 1), "FfbwBW");
}

/* The authors' example, 4 stages and 8 micro-batches: both ends are mirror images. */
CALC_TEST(dualpipe_overlaps_forward_and_backward)
{
    ck_assert_str_eq(order(CALC_PIPELINE_SCHEDULE_DUALPIPE, 4, 1, 8, 0), "FFFfbwfF&xf&Xxf&XxBWBW");
    ck_assert_str_eq(order(CALC_PIPELINE_SCHEDULE_DUALPIPE, 4, 1, 8, 3), "fffFBWFf&XF&xXF&xXbwbw");
    ck_assert_str_eq(order(CALC_PIPELINE_SCHEDULE_DUALPIPE, 4, 1, 8, 1), "FfFfFxf&XF&xf&XxXbBwW");
    ck_assert_str_eq(order(CALC_PIPELINE_SCHEDULE_DUALPIPE_V, 2, 2, 4, 0),
                     "FFFfbwfF&xf&Xxf&XxBWBW");
}

CALC_TEST(every_micro_batch_passes_every_chunk)
{
    for (int kind = 0; kind < CALC_PIPELINE_SCHEDULE_COUNT; kind++) {
        for (int64_t m = 1; m <= 24; m++) {
            calc_schedule_shape s = {(calc_pipeline_schedule)kind, 4, 2, m};
            if (calc_schedule_check(&s) == CALC_SCHEDULE_ONE_CHUNK) {
                s.chunks = 1;
            }
            if (calc_schedule_check(&s) != CALC_SCHEDULE_OK) {
                continue;
            }
            for (int64_t stage = 0; stage < 4; stage++) {
                const char *text = order(s.kind, 4, s.chunks, m, stage);
                int64_t fw = 0;
                int64_t bw = 0;
                int64_t wgrad = 0;
                for (const char *c = text; *c != '\0'; c++) {
                    fw += *c == 'F' || *c == 'f';
                    bw += strchr("BbXx", *c) != NULL;
                    wgrad += strchr("WwXx", *c) != NULL;
                    ck_assert_int_ge(fw, bw);
                    ck_assert_int_ge(bw, wgrad);
                }
                ck_assert_int_eq(fw, m * s.chunks);
                ck_assert_int_eq(bw, fw);
                ck_assert_int_eq(wgrad, fw);
            }
        }
    }
}
