/* Kernels at every level against calc_kernel_lane_step(), bit for bit, on random lanes; and that
 * against the step itself. */
#include "kernel.h"

#include <string.h>

#include "frame.h"
#include "lanes_case.h"
#include "sampled.h"

const calc_test_frame calc_tests = {.in_one_process = true};

enum { ROUNDS = 200 };

static calc_kernel_chunking chunking;
static calc_kernel_needs needs;
static calc_kernel_pipelines pipelines;
static calc_lanes best_s;

static void assert_needs(const char *level)
{
    size_t over1 = 0;
    size_t over2 = 0;
    for (size_t i = 0; i < panel.count; i++) {
        calc_stage_step step = step_of(&chunking, i, true);
        bool first = step.tier1_bytes <= job.tier1_capacity_bytes;
        ck_assert_msg(needs.tier1_bytes.of[i] == step.tier1_bytes, "%s, lane %zu", level, i);
        ck_assert_msg(needs.tier2_bytes.of[i] == step.tier2_bytes, "%s, lane %zu", level, i);
        over1 += !first;
        over2 += first && !fits(step.tier1_bytes, step.tier2_bytes);
    }
    ck_assert_uint_eq(needs.over_tier1, over1);
    ck_assert_uint_eq(needs.over_tier2, over2);
    ck_assert_uint_eq(needs.feasible, panel.count - over1 - over2);
}

static void assert_longest(const char *level)
{
    for (size_t i = 0; i < panel.count; i++) {
        double want_s = longest_s(needs.tier1_bytes.of[i], needs.tier2_bytes.of[i]);
        ck_assert_msg(needs.longest_s.of[i] == want_s, "%s, lane %zu: %.17g not %.17g", level, i,
                      needs.longest_s.of[i], want_s);
    }
}

/* Whether the kernel gives the step itself, and no lower bound. */
static bool exact(void)
{
    bool usual = job.schedule == CALC_PIPELINE_SCHEDULE_1F1B;
    bool even = calc_compat_has(shared.compat, CALC_COMPAT_EVEN_STAGES);
    return !shared.training || (usual && (even || chunking.chunks <= 1));
}

static void assert_steps(const char *level, size_t hits)
{
    size_t want = 0;
    for (size_t i = 0; i < panel.count; i++) {
        calc_stage_step less = step_of(&chunking, i, true);
        ck_assert_msg(pipelines.pipeline_s.of[i] == less.pipeline_s, "%s, lane %zu", level, i);
        ck_assert_msg(best_s.of[i] == least_s(&less), "%s, lane %zu: %.17g not %.17g", level, i,
                      best_s.of[i], least_s(&less));
        want += least_s(&less) <= needs.longest_s.of[i];
    }
    ck_assert_msg(hits == want, "%s: %zu not %zu", level, hits, want);
}

static void run_level(const calc_kernel_level *level)
{
    memset(&needs, 0xff, sizeof needs);
    memset(&pipelines, 0xff, sizeof pipelines);
    memset(&best_s, 0xff, sizeof best_s);
    level->run->needs(&job, &chunking, &needs);
    assert_needs(level->name);
    level->run->screen(&job, &needs);
    assert_longest(level->name);
    calc_screen_add(&screen, job.numerator, job.tier1_capacity_bytes / 2, 0);
    level->run->screen(&job, &needs);
    assert_longest(level->name);
    put_links(&chunking, &pipelines);
    level->run->pipeline(&job, &chunking, &links_of_all, &pipelines);
    size_t hits =
        level->run->step(&job, &chunking, &links_of_all, &needs, &pipelines, allowed, &best_s);
    assert_steps(level->name, hits);
}

CALC_TEST_LOOP(every_level_takes_the_shortest_allowed_step_of_each_lane_or_less, 0,
               sample_of(ROUNDS))
{
    calc_kernel_level level[4];
    size_t levels = calc_kernel_levels(level);
    calc_rng_init(&rng, (uint64_t)_i, 3);
    random_lanes();
    random_chunking(&chunking, true);
    random_capacities(&chunking);
    const calc_rng before = rng;
    for (size_t l = 0; l < levels; l++) {
        rng = before;
        random_screen(&chunking);
        run_level(&level[l]);
    }
    for (size_t i = 0; i < panel.count; i++) {
        calc_stage_step step = step_of(&chunking, i, false);
        calc_stage_step less = step_of(&chunking, i, true);
        /* By rule the last block of a chunk is of one kind; bounds do not know which. */
        bool known = !shared.compat || !chunking.experts;
        ck_assert_msg(exact() ? least_s(&less) == least_s(&step)
                              : !known || least_s(&less) <= least_s(&step),
                      "schedule %d, lane %zu: %.17g not %.17g", (int)job.schedule, i,
                      least_s(&less), least_s(&step));
        ck_assert(less.tier1_bytes == step.tier1_bytes && less.tier2_bytes == step.tier2_bytes);
    }
}

/* Classes that are not there change no bit. */
CALC_TEST_LOOP(some_classes_take_as_long_as_with_others_that_are_not_there, 0, sample_of(ROUNDS))
{
    calc_rng_init(&rng, (uint64_t)_i, 4);
    random_lanes();
    random_chunking(&chunking, true);
    calc_kernel_chunking more = chunking;
    more.classes = CALC_MAX_STAGE_CLASSES;
    for (size_t i = 0; i < panel.count; i++) {
        for (int least = 0; least < 2; least++) {
            calc_stage_step some = step_of(&chunking, i, least);
            calc_stage_step four = step_of(&more, i, least);
            ck_assert_int_eq(memcmp(&some, &four, sizeof some), 0);
        }
    }
}

CALC_TEST(every_level_has_a_kernel_of_its_own)
{
    calc_kernel_level level[4];
    size_t levels = calc_kernel_levels(level);
    for (size_t i = 1; i < levels; i++) {
        ck_assert(level[i].run->bound != level[i - 1].run->bound);
        ck_assert(level[i].run->needs != level[i - 1].run->needs);
        ck_assert(level[i].run->screen != level[i - 1].run->screen);
        ck_assert(level[i].run->pipeline != level[i - 1].run->pipeline);
        ck_assert(level[i].run->step != level[i - 1].run->step);
    }
}
