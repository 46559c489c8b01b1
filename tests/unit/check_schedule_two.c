/* Two interleaved stages: to the bit what the simulation of all operations says. */
#include "model/schedule/schedule_sim.h"

#include <math.h>
#include <stdlib.h>

#include "base/rng.h"
#include "frame.h"

const calc_test_frame calc_tests = {.in_one_process = true};

enum { ROUNDS = 500, CHUNKS = 12 };

static calc_rng rng;
static calc_schedule_pass pass[2 * CHUNKS];

/* Durations that differ wildly, or not at all. */
static double duration(void)
{
    switch (calc_rng_below(&rng, 4)) {
    case 0:
        return 0;
    case 1:
        return 1;
    default:
        return ldexp(1 + calc_rng_real(&rng), (int)calc_rng_below(&rng, 8));
    }
}

static calc_schedule_shape random_case(void)
{
    calc_schedule_shape s = {.kind = CALC_PIPELINE_SCHEDULE_1F1B, .stages = 2};
    s.chunks = 2 + (int64_t)calc_rng_below(&rng, CHUNKS - 1);
    s.microbatches = 2 * (1 + (int64_t)calc_rng_below(&rng, 10));
    for (int64_t i = 0; i < 2 * s.chunks; i++) {
        pass[i] = (calc_schedule_pass){duration(), duration(), duration()};
    }
    return s;
}

CALC_TEST_LOOP(a_step_takes_as_long_as_all_its_operations, 0, ROUNDS)
{
    calc_rng_init(&rng, (uint64_t)_i, 21);
    calc_schedule_shape s = random_case();
    ck_assert(calc_schedule_two_fits(&s));
    calc_schedule_sim sim = {.shape = s, .pass = pass};
    void *workspace = malloc(calc_schedule_sim_bytes(&s));
    ck_assert_ptr_nonnull(workspace);
    double want = calc_schedule_sim_s(&sim, workspace, NULL, NULL);
    free(workspace);
    double got = calc_schedule_two_s(&s, pass);
    ck_assert_msg(got == want, "%lld chunks, %lld micro-batches: %.17g not %.17g",
                  (long long)s.chunks, (long long)s.microbatches, got, want);
}

/* By hand: two chunks, a micro-batch of each parity. All take 1, backward 2: the last stage is
   never idle between its first input, at 1, and its last output, and the first then has its last
   one. */
CALC_TEST(of_equal_chunks_only_one_is_waited_for)
{
    const calc_schedule_shape s = {CALC_PIPELINE_SCHEDULE_1F1B, 2, 2, 2};
    for (int i = 0; i < 4; i++) {
        pass[i] = (calc_schedule_pass){1, 1, 1};
    }
    ck_assert_double_eq(calc_schedule_two_s(&s, pass), 1 + 2 * 2 * 3 + 2);
}

CALC_TEST(nothing_else_fits)
{
    const calc_schedule_shape fits = {CALC_PIPELINE_SCHEDULE_1F1B, 2, 2, 4};
    const calc_schedule_shape other[] = {
        {CALC_PIPELINE_SCHEDULE_ZB_V, 2, 2, 4}, {CALC_PIPELINE_SCHEDULE_1F1B, 3, 2, 6},
        {CALC_PIPELINE_SCHEDULE_1F1B, 1, 2, 4}, {CALC_PIPELINE_SCHEDULE_1F1B, 2, 1, 4},
        {CALC_PIPELINE_SCHEDULE_1F1B, 2, 2, 5},
    };
    ck_assert(calc_schedule_two_fits(&fits));
    for (size_t i = 0; i < sizeof other / sizeof *other; i++) {
        ck_assert(!calc_schedule_two_fits(&other[i]));
    }
}
