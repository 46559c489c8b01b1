#include "model/pipeline.h"

#include "small_case.h"

/* ---- The split ------------------------------------------------------------------------------- */

START_TEST(an_even_split_misses_no_blocks)
{
    calc_pipeline p = calc_pipeline_split(12, 4, 1, 8);
    ck_assert_double_eq(p.stages, 4);
    ck_assert_double_eq(p.chunks, 1);
    ck_assert_double_eq(p.microbatches, 8);
    ck_assert_double_eq(p.blocks_per_proc, 3);
    ck_assert_double_eq(p.missing_blocks, 0);
    ck_assert_double_eq(p.blocks_per_chunk, 3);
    ck_assert_double_eq(p.base_blocks, 2);
    ck_assert(p.chunks_fit);
}
END_TEST

START_TEST(an_uneven_split_gives_every_stage_the_ceiling)
{
    for (int64_t blocks = 1; blocks <= 40; blocks++) {
        for (int64_t stages = 1; stages <= blocks; stages++) {
            calc_pipeline p = calc_pipeline_split(blocks, stages, 1, 4);
            ck_assert_double_eq(p.blocks_per_proc, ceil((double)blocks / (double)stages));
            ck_assert_double_eq(p.missing_blocks,
                                p.blocks_per_proc * (double)stages - (double)blocks);
        }
    }
}
END_TEST

START_TEST(chunks_must_divide_the_blocks_of_a_stage)
{
    calc_pipeline p = calc_pipeline_split(24, 4, 3, 8);
    ck_assert(p.chunks_fit);
    ck_assert_double_eq(p.blocks_per_chunk, 2);
    ck_assert_double_eq(p.base_blocks, 1);
    ck_assert(!calc_pipeline_split(24, 4, 4, 8).chunks_fit);
    ck_assert(!calc_pipeline_split(24, 4, 12, 8).chunks_fit);
    /* 23 blocks are 6 on the first stage. */
    ck_assert(calc_pipeline_split(23, 4, 6, 8).chunks_fit);
}
END_TEST

START_TEST(a_stage_holds_no_more_micro_batches_than_there_are)
{
    ck_assert_double_eq(calc_pipeline_split(8, 4, 1, 3).in_flight, 3);
    ck_assert_double_eq(calc_pipeline_split(8, 4, 1, 4).in_flight, 4);
    ck_assert_double_eq(calc_pipeline_split(8, 4, 1, 5).in_flight, 4);
    ck_assert_double_eq(calc_pipeline_split(8, 1, 1, 5).in_flight, 1);
}
END_TEST

/* 10 micro-batches on 4 stages: rounds of 4, 4 and 2. */
START_TEST(the_last_round_is_what_full_rounds_leave)
{
    ck_assert_double_eq(calc_pipeline_split(8, 4, 2, 10).last_round, 2);
    ck_assert_double_eq(calc_pipeline_split(8, 4, 2, 8).last_round, 4);
    ck_assert_double_eq(calc_pipeline_split(8, 4, 2, 1).last_round, 1);
}
END_TEST

/* The places that the last round leaves empty are lost in every chunk but the last. */
START_TEST(an_incomplete_round_costs_bubbles_only_with_interleaving)
{
    ck_assert_double_eq(calc_pipeline_split(24, 4, 3, 10).extra_bubbles, 2 * 2);
    ck_assert_double_eq(calc_pipeline_split(24, 4, 3, 1).extra_bubbles, 2 * 3);
    ck_assert_double_eq(calc_pipeline_split(24, 4, 3, 8).extra_bubbles, 0);
    ck_assert_double_eq(calc_pipeline_split(24, 4, 1, 10).extra_bubbles, 0);
}
END_TEST

/* ---- Messages -------------------------------------------------------------------------------- */

/* 1 * 32 * 64 elements of 2 bytes; scattered over 4 ranks unless the type is all-reduce. */
START_TEST(a_message_is_the_residual_stream_or_a_share_of_it)
{
    calc_app app = small_app();
    calc_exec exec = small_exec(4, 2, 1);
    ck_assert_double_eq(calc_pipeline_message_bytes(&app, &exec), 4096);
    exec.tensor_par_comm_type = CALC_TENSOR_PAR_COMM_TYPE_P2P_RS_AG;
    ck_assert_double_eq(calc_pipeline_message_bytes(&app, &exec), 1024);
    exec.tensor_par_comm_type = CALC_TENSOR_PAR_COMM_TYPE_RS_AG;
    ck_assert_double_eq(calc_pipeline_message_bytes(&app, &exec), 1024);
    exec.microbatch_size = 2;
    exec.datatype = CALC_DATATYPE_FLOAT32;
    ck_assert_double_eq(calc_pipeline_message_bytes(&app, &exec), 4096);
    exec.pipeline_par = 1;
    ck_assert_double_eq(calc_pipeline_message_bytes(&app, &exec), 0);
}
END_TEST

START_TEST(a_message_that_is_not_sent_takes_no_time_but_calculons_latency)
{
    calc_network network = ring_network(1024, 8);
    network.latency_s = 0.5;
    ck_assert_double_eq(calc_pipeline_message_s(&network, 1024, 2, CALC_COMPAT_NONE), 1.5);
    ck_assert_double_eq(calc_pipeline_message_s(&network, 1024, 2, CALC_COMPAT_CALCULON), 1.5);
    ck_assert_double_eq(calc_pipeline_message_s(&network, 0, 2, CALC_COMPAT_NONE), 0);
    ck_assert_double_eq(calc_pipeline_message_s(&network, 0, 2, CALC_COMPAT_CALCULON), 0.5);
    ck_assert_double_eq(calc_pipeline_message_s(&network, 1024, 1, CALC_COMPAT_NONE), 0);
    ck_assert_double_eq(calc_pipeline_message_s(&network, 0, 1, CALC_COMPAT_NONE), 0);
    ck_assert_double_eq(calc_pipeline_message_s(&network, 0, 1, CALC_COMPAT_CALCULON), 0.5);
}
END_TEST

/* ---- The schedule, played ---------------------------------------------------------------------
 * Every stage works through its own list of forward and backward chunks in order, each as soon as
 * what it needs is there: the (interleaved) 1F1B schedule of Narayanan et al. 2021, figures 3 and
 * 4. */

enum {
    MAX_STAGES = 6,
    MAX_CHUNKS = 4,
    MAX_MICROBATCHES = 24,
    MAX_VIRTUAL = MAX_STAGES * MAX_CHUNKS
};

typedef struct schedule {
    int stages, chunks, microbatches;
    double fw_s, bw_s; /* of a chunk */
    double fw_end[MAX_VIRTUAL][MAX_MICROBATCHES];
    double bw_end[MAX_VIRTUAL][MAX_MICROBATCHES];
} schedule;

/* The n-th forward (or backward) of a stage: which chunk, which micro-batch. */
static void nth(const schedule *s, int n, bool forward, int *chunk, int *microbatch)
{
    int round = s->stages * s->chunks;
    int position = n % round / s->stages;
    *chunk = forward ? position : s->chunks - 1 - position;
    *microbatch = n / round * s->stages + n % s->stages;
    if (s->chunks == 1) {
        *microbatch = n;
    }
}

/* Forwards a stage starts with before it alternates. */
static int warmup(const schedule *s, int stage)
{
    int ahead = s->chunks == 1 ? s->stages - 1 - stage
                               : 2 * (s->stages - 1 - stage) + (s->chunks - 1) * s->stages;
    int all = s->chunks * s->microbatches;
    return ahead < all ? ahead : all;
}

/* When a forward (backward) can start: its input and, backward, its own forward are there. A
 * negative time: not yet known. */
static double ready_s(const schedule *s, int virtual_stage, int microbatch, bool forward)
{
    if (forward) {
        return virtual_stage == 0 ? 0 : s->fw_end[virtual_stage - 1][microbatch];
    }
    bool last = virtual_stage == s->stages * s->chunks - 1;
    return last ? s->fw_end[virtual_stage][microbatch] : s->bw_end[virtual_stage + 1][microbatch];
}

/* @param peak  filled with the most chunks the first stage holds at a time
 * @return the time until all is done [s] */
static double play(schedule *s, int *peak)
{
    int done[MAX_STAGES] = {0};
    double free_s[MAX_STAGES] = {0};
    int all = s->chunks * s->microbatches;
    for (int i = 0; i < MAX_VIRTUAL; i++) {
        for (int j = 0; j < MAX_MICROBATCHES; j++) {
            s->fw_end[i][j] = s->bw_end[i][j] = -1;
        }
    }
    *peak = 0;
    for (bool moved = true; moved;) {
        moved = false;
        for (int stage = 0; stage < s->stages; stage++) {
            int step = done[stage];
            if (step == 2 * all) {
                continue;
            }
            int first = warmup(s, stage);
            int alternating = step - first; /* forward, backward, forward, ... */
            bool forward = step < first || (alternating % 2 == 0 && first + alternating / 2 < all);
            int forwards = step < first ? step : first + (alternating + 1) / 2;
            forwards = forwards < all ? forwards : all;
            int n = forward ? forwards : step - forwards;
            int chunk;
            int microbatch;
            nth(s, n, forward, &chunk, &microbatch);
            int virtual_stage = chunk * s->stages + stage;
            double start_s = ready_s(s, virtual_stage, microbatch, forward);
            if (start_s < 0) {
                continue;
            }
            free_s[stage] = fmax(free_s[stage], start_s) + (forward ? s->fw_s : s->bw_s);
            (forward ? s->fw_end : s->bw_end)[virtual_stage][microbatch] = free_s[stage];
            done[stage]++;
            moved = true;
            int held = forward ? n + 1 - (step - forwards) : 0;
            *peak = stage == 0 && held > *peak ? held : *peak;
        }
    }
    double end_s = 0;
    for (int stage = 0; stage < s->stages; stage++) {
        ck_assert_int_eq(done[stage], 2 * all);
        end_s = fmax(end_s, free_s[stage]);
    }
    return end_s;
}

/* What the model says of a model with one block per chunk. */
static calc_pipeline split_of(const schedule *s)
{
    return calc_pipeline_split(s->stages * s->chunks, s->stages, s->chunks, s->microbatches);
}

static double bubble_s(const schedule *s)
{
    calc_pipeline p = split_of(s);
    return calc_pipeline_bubble_s(&p, s->fw_s + s->bw_s, 0);
}

START_TEST(the_bubble_is_what_the_schedule_leaves_idle)
{
    for (int stages = 1; stages <= MAX_STAGES; stages++) {
        for (int microbatches = 1; microbatches <= MAX_MICROBATCHES; microbatches++) {
            schedule s = {stages, 1, microbatches, .fw_s = 1, .bw_s = 2};
            int peak;
            double idle_s = play(&s, &peak) - microbatches * (s.fw_s + s.bw_s);
            ck_assert_double_eq(idle_s, (stages - 1) * (s.fw_s + s.bw_s));
            ck_assert_double_eq(bubble_s(&s), idle_s);
            ck_assert_double_eq(split_of(&s).in_flight, peak);
        }
    }
}
END_TEST

START_TEST(interleaving_divides_the_bubble_by_the_chunks)
{
    for (int stages = 2; stages <= MAX_STAGES; stages++) {
        for (int chunks = 2; chunks <= MAX_CHUNKS; chunks++) {
            for (int rounds = 1; rounds * stages <= MAX_MICROBATCHES; rounds++) {
                schedule s = {stages, chunks, rounds * stages, .fw_s = 1, .bw_s = 2};
                int peak;
                double work_s = s.microbatches * chunks * (s.fw_s + s.bw_s);
                double idle_s = play(&s, &peak) - work_s;
                ck_assert_double_eq(bubble_s(&s), idle_s);
                /* A stage's whole work per micro-batch is `chunks` times as long. */
                assert_near(idle_s, (stages - 1) * (chunks * (s.fw_s + s.bw_s)) / chunks);
                if (rounds > 1) {
                    assert_near(split_of(&s).in_flight, (double)peak / chunks);
                }
            }
        }
    }
}
END_TEST

/* ---- The bubble's other terms ---------------------------------------------------------------- */

START_TEST(missing_blocks_shorten_the_bubble)
{
    calc_pipeline p = {.stages = 4};
    ck_assert_double_eq(calc_pipeline_bubble_s(&p, 10, 0), 30);
    ck_assert_double_eq(calc_pipeline_bubble_s(&p, 10, 12), 18);
}
END_TEST

START_TEST(extra_bubbles_last_a_chunk_each)
{
    calc_pipeline p = {.stages = 4, .extra_bubbles = 2};
    ck_assert_double_eq(calc_pipeline_bubble_s(&p, 10, 0), 50);
    p = (calc_pipeline){.stages = 1};
    ck_assert_double_eq(calc_pipeline_bubble_s(&p, 10, 0), 0);
}
END_TEST

/* 10 micro-batches of 3 chunks, then 3 stages to drain, and 2 places empty in 2 of the chunks. */
START_TEST(a_step_has_a_round_per_chunk_and_one_per_bubble)
{
    ck_assert_double_eq(calc_pipeline_split(24, 4, 3, 10).rounds, 30 + 3 + 4);
    ck_assert_double_eq(calc_pipeline_split(24, 1, 1, 10).rounds, 10);
}
END_TEST

int main(void)
{
    TCase *cases = tcase_create("pipeline");
    tcase_add_test(cases, an_even_split_misses_no_blocks);
    tcase_add_test(cases, an_uneven_split_gives_every_stage_the_ceiling);
    tcase_add_test(cases, chunks_must_divide_the_blocks_of_a_stage);
    tcase_add_test(cases, a_stage_holds_no_more_micro_batches_than_there_are);
    tcase_add_test(cases, the_last_round_is_what_full_rounds_leave);
    tcase_add_test(cases, an_incomplete_round_costs_bubbles_only_with_interleaving);
    tcase_add_test(cases, a_message_is_the_residual_stream_or_a_share_of_it);
    tcase_add_test(cases, a_message_that_is_not_sent_takes_no_time_but_calculons_latency);
    tcase_add_test(cases, the_bubble_is_what_the_schedule_leaves_idle);
    tcase_add_test(cases, interleaving_divides_the_bubble_by_the_chunks);
    tcase_add_test(cases, missing_blocks_shorten_the_bubble);
    tcase_add_test(cases, extra_bubbles_last_a_chunk_each);
    tcase_add_test(cases, a_step_has_a_round_per_chunk_and_one_per_bubble);
    return run_cases(cases);
}
