/* Bounds on random lanes of random cells: nothing is below them, and nothing that matters is left
 * out by them at any level. */
#include "bound.h"

#include <string.h>

#include "bound_case.h"
#include "frame.h"

const calc_test_frame calc_tests = {.in_one_process = true};

enum { ROUNDS = 200 };

/* Nothing beside the passes of one stage: its time and its bound differ by the order of sums. */
static void make_tight(void)
{
    memset(links, 0, sizeof links);
    shared.stages = 1;
    shared.growth = 0;
    shared.lost_rounds = 0;
}

/* Whether the cell makes anything of a lane that matters; nothing is below its bound. */
static bool matters(size_t lane)
{
    calc_bound b = cell_bound(&panel, lane);
    bool any = false;
    for (size_t n = 0; n < cell.fitting; n++) {
        calc_stage_step step = step_of(&cell.shape[n], lane, false);
        for (int i = 0; i < 4; i++) {
            ck_assert_msg(step.total_s[i / 2][i % 2] >= b.total_s,
                          "lane %zu, chunking %zu: %.17g below %.17g", lane, n,
                          step.total_s[i / 2][i % 2], b.total_s);
        }
        ck_assert_double_ge(step.tier1_bytes, b.tier1_bytes);
        ck_assert_double_ge(step.tier2_bytes, b.tier2_bytes);
        any = any || least_s(&step) <= longest_s(step.tier1_bytes, step.tier2_bytes);
    }
    return any;
}

CALC_TEST_LOOP(bounds_leave_every_lane_that_matters_and_no_other_that_they_know_of, 0, ROUNDS)
{
    calc_kernel_level level[4];
    size_t levels = calc_kernel_levels(level);
    unsigned char alive[CALC_PANEL_LANES];
    unsigned char want[CALC_PANEL_LANES];
    calc_rng_init(&rng, (uint64_t)_i, 5);
    random_lanes();
    /* By rule nothing is known of the time without training, nor need random messages make sense.
     */
    shared.training = shared.training || shared.compat;
    if (_i % 3 == 0) {
        make_tight();
    }
    random_cell();
    random_capacities(&cell.shape[0]);
    random_screen(&cell.shape[0]);
    if (_i % 4 == 1) {
        job.most_s = cell_bound(&panel, 0).total_s; /* as long as may be */
    }
    /* All vectors, or every other one. */
    unsigned char vector[CALC_PANEL_LANES / CALC_PANEL_VECTOR];
    size_t step = _i % 5 == 2 ? 2 : 1;
    size_t vectors = 0;
    for (size_t v = 0; v < calc_panel_whole(panel.count) / CALC_PANEL_VECTOR; v += step) {
        vector[vectors++] = (unsigned char)v;
    }
    size_t count = 0;
    for (size_t i = 0; i < panel.count; i++) {
        if (i / CALC_PANEL_VECTOR % step > 0) {
            continue;
        }
        calc_bound b = cell_bound(&panel, i);
        bool left = fits(b.tier1_bytes, b.tier2_bytes) &&
                    b.total_s <= longest_s(b.tier1_bytes, b.tier2_bytes);
        bool matter = matters(i);
        ck_assert(left || !matter);
        want[count] = (unsigned char)i;
        count += left;
    }
    for (size_t l = 0; l < levels; l++) {
        memset(alive, 0xff, sizeof alive);
        ck_assert_uint_eq(level[l].run->bound(&job, &cell.floor, vector, vectors, alive), count);
        ck_assert_mem_eq(alive, want, count);
    }
}

/* By hand: without training the first micro-batch passes all stages, the others follow it on a
 * stage; with it a stage waits for the first chunks of those before it, forward and back. */
CALC_TEST(paths_are_the_way_to_a_stage_and_all_micro_batches_on_it)
{
    const calc_stage_class item[CALC_MAX_STAGE_CLASSES] = {
        {.stages = 3, .dense = 2, .first = 1}, {.stages = 1, .position = 3, .dense = 5, .last = 1}};
    for (int training = 0; training < 2; training++) {
        calc_floor_path path[CALC_FLOOR_PATHS];
        const calc_stage_terms t = {.stages = 4, .microbatches = 8, .training = training};
        calc_floor_paths(&t, CALC_PIPELINE_SCHEDULE_1F1B, 2, item, 1, path);
        ck_assert_double_eq(path[0].dense, (3 * 2 + 5) * 8 / 4.0);
        ck_assert_double_eq(path[1].dense, training ? 2 * 2 + 8 * 2 : 3 * 2 + 5 + 7 * 2);
        ck_assert_double_eq(path[1].head, training ? 0 : 1);
        ck_assert_double_eq(path[2].dense, training ? 3 * 2 + 8 * 5 : 3 * 2 + 5 + 7 * 5);
        ck_assert_double_eq(path[2].head, 8);
    }
}
