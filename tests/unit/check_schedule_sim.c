#include "model/schedule/schedule_sim.h"

#include "frame.h"

enum { BYTES = 1 << 16, EVENTS = 64 };

static calc_schedule_stage stage[8];
static calc_schedule_event event[EVENTS];
static calc_schedule_events events;

static double run_on(calc_schedule_sim sim, int64_t capacity)
{
    static _Alignas(16) char workspace[BYTES];
    ck_assert_int_eq(calc_schedule_check(&sim.shape), CALC_SCHEDULE_OK);
    ck_assert_uint_le(calc_schedule_sim_bytes(&sim.shape), BYTES);
    events = (calc_schedule_events){.event = event, .capacity = capacity, .count = -1};
    return calc_schedule_sim_s(&sim, workspace, stage, &events);
}

static void expect(int64_t i, int32_t at, int32_t chunk, int32_t microbatch,
                   calc_schedule_op_kind kind, double start_s, double end_s)
{
    const calc_schedule_event *e = &event[i];
    ck_assert_msg(e->stage == at && e->chunk == chunk && e->microbatch == microbatch &&
                      e->kind == kind && e->start_s == start_s && e->end_s == end_s,
                  "event %d: stage %d chunk %d micro-batch %d kind %d from %g to %g", (int)i,
                  e->stage, e->chunk, e->microbatch, (int)e->kind, e->start_s, e->end_s);
}

static const calc_schedule_pass slow_last[] = {{1, 0.5, 0.5}, {3, 1, 2}};
static const calc_schedule_shape two_by_two = {CALC_PIPELINE_SCHEDULE_1F1B, 2, 1, 2};

/* By hand:
     0: F0 0-1  F1 1-2                 B0 7-8   B1 13-14
     1:         F0 1-4  B0 4-7  F1 7-10  B1 10-13 */
CALC_TEST(operations_start_when_the_one_before_is_done_and_their_input_is_there)
{
    double end_s = run_on((calc_schedule_sim){.shape = two_by_two, .pass = slow_last}, EVENTS);
    ck_assert_double_eq(end_s, 14);
    ck_assert_int_eq(events.count, 8);
    expect(0, 0, 0, 0, CALC_SCHEDULE_FW, 0, 1);
    expect(1, 0, 0, 1, CALC_SCHEDULE_FW, 1, 2);
    expect(2, 1, 0, 0, CALC_SCHEDULE_FW, 1, 4);
    expect(3, 1, 0, 0, CALC_SCHEDULE_BW_WHOLE, 4, 7);
    expect(4, 1, 0, 1, CALC_SCHEDULE_FW, 7, 10);
    expect(5, 1, 0, 1, CALC_SCHEDULE_BW_WHOLE, 10, 13);
    expect(6, 0, 0, 0, CALC_SCHEDULE_BW_WHOLE, 7, 8);
    expect(7, 0, 0, 1, CALC_SCHEDULE_BW_WHOLE, 13, 14);
}

CALC_TEST(a_stage_is_busy_or_idle)
{
    run_on((calc_schedule_sim){.shape = two_by_two, .pass = slow_last}, EVENTS);
    ck_assert_double_eq(stage[0].start_s, 0);
    ck_assert_double_eq(stage[0].end_s, 14);
    ck_assert_double_eq(stage[0].busy_s, 4);
    ck_assert_double_eq(stage[0].bubble_s, 10);
    ck_assert_double_eq(stage[0].in_flight, 2);
    ck_assert_double_eq(stage[1].start_s, 1);
    ck_assert_double_eq(stage[1].end_s, 13);
    ck_assert_double_eq(stage[1].busy_s, 12);
    ck_assert_double_eq(stage[1].bubble_s, 2);
    ck_assert_double_eq(stage[1].in_flight, 1);
}

/* The second stage does not wait, but for its first input; the first receives both late. */
CALC_TEST(an_overlapped_message_delays_the_receiver_only)
{
    calc_schedule_sim sim = {
        .shape = two_by_two,
        .pass = slow_last,
        .fw_message_s = 0.5,
        .bw_message_s = 0.25,
        .overlap = true,
    };
    ck_assert_double_eq(run_on(sim, EVENTS), 14.75);
    ck_assert_double_eq(stage[0].busy_s, 4);
    ck_assert_double_eq(stage[1].busy_s, 12);
}

/* 0: F0 0-1.5  F1 1.5-3                        B0 8.75..
   1:           F0 1.5-4.5  B0 4.5-7.75  F1 7.75-10.75  B1 10.75-14, then B1 14-15 above. */
CALC_TEST(a_message_that_does_not_overlap_occupies_the_sender)
{
    calc_schedule_sim sim = {
        .shape = two_by_two, .pass = slow_last, .fw_message_s = 0.5, .bw_message_s = 0.25};
    ck_assert_double_eq(run_on(sim, EVENTS), 15);
    ck_assert_double_eq(stage[0].busy_s, 4 + 2 * 0.5);
    ck_assert_double_eq(stage[1].busy_s, 12 + 2 * 0.25);
}

/* ZB-V, two stages, one micro-batch: the turn between the chunks of the last stage is free. */
CALC_TEST(chunks_of_the_same_stage_send_no_message)
{
    static const calc_schedule_pass pass[] = {{1, 1, 1}, {1, 1, 1}, {1, 1, 1}, {1, 1, 1}};
    calc_schedule_sim sim = {
        .shape = {CALC_PIPELINE_SCHEDULE_ZB_V, 2, 2, 1},
        .pass = pass,
        .fw_message_s = 0.5,
        .bw_message_s = 0.25,
        .overlap = true,
    };
    /* Down and up: 2 messages forward, 2 back; weight gradients at the turn and at the end. */
    ck_assert_double_eq(run_on(sim, EVENTS), 8 + 2 * 0.5 + 2 * 0.25 + 2);
    sim.shape.kind = CALC_PIPELINE_SCHEDULE_1F1B;
    ck_assert_double_eq(run_on(sim, EVENTS), 12 + 3 * 0.5 + 3 * 0.25);
}

CALC_TEST(each_part_of_the_model_has_its_own_times)
{
    static const calc_schedule_pass pass[] = {{1, 2, 4}, {8, 16, 32}, {64, 128, 256}, {512, 1, 1}};
    calc_schedule_sim sim = {.shape = {CALC_PIPELINE_SCHEDULE_1F1B, 2, 2, 1}, .pass = pass};
    ck_assert_double_eq(run_on(sim, EVENTS), 1 + 2 + 4 + 8 + 16 + 32 + 64 + 128 + 256 + 512 + 2);
    ck_assert_double_eq(stage[0].busy_s, 1 + 2 + 4 + 64 + 128 + 256);
    /* The V: the first stage has the first and the last part. */
    sim.shape.kind = CALC_PIPELINE_SCHEDULE_ZB_V;
    run_on(sim, EVENTS);
    ck_assert_double_eq(stage[0].busy_s, 1 + 2 + 4 + 512 + 1 + 1);
}

/* DualPipe with two stages and four micro-batches, two from each end; stage 1 mirrors stage 0:
   F f, then F alone, x alone, f & X, x, B, W of those apart. */
CALC_TEST(a_pair_takes_less_than_its_parts)
{
    static const calc_schedule_pass pass[] = {{1, 1, 1}, {1, 1, 1}};
    calc_schedule_sim sim = {
        .shape = {CALC_PIPELINE_SCHEDULE_DUALPIPE, 2, 1, 4},
        .pass = pass,
        .pair_saves_s = 0.25,
    };
    ck_assert_double_eq(run_on(sim, EVENTS), 12 - 0.25);
    ck_assert_double_eq(stage[0].busy_s, 12 - 0.25);
    /* An event for each part of the pair. */
    ck_assert_int_eq(events.count, 2 * (4 + 4 + 1));
    int pairs = 0;
    for (int64_t i = 0; i + 1 < events.count; i++) {
        pairs += event[i].kind == CALC_SCHEDULE_FW && event[i + 1].kind == CALC_SCHEDULE_BW_WHOLE &&
                 event[i].stage == event[i + 1].stage && event[i].chunk != event[i + 1].chunk &&
                 event[i].start_s == event[i + 1].start_s &&
                 event[i].end_s == event[i].start_s + 2.75;
    }
    ck_assert_int_eq(pairs, 2);
}

CALC_TEST(events_beyond_the_capacity_are_counted_but_not_written)
{
    calc_schedule_sim sim = {.shape = two_by_two, .pass = slow_last};
    event[3].stage = 77;
    run_on(sim, 3);
    ck_assert_int_eq(events.count, 8);
    ck_assert_int_eq(event[3].stage, 77);
    expect(2, 1, 0, 0, CALC_SCHEDULE_FW, 1, 4);
    run_on(sim, 0);
    ck_assert_int_eq(events.count, 8);
}

CALC_TEST(stages_and_events_need_not_be_asked_for)
{
    static _Alignas(16) char workspace[BYTES];
    calc_schedule_sim sim = {.shape = two_by_two, .pass = slow_last};
    ck_assert_double_eq(calc_schedule_sim_s(&sim, workspace, NULL, NULL), 14);
}
