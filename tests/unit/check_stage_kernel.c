/* Kernels of stages at every level against calc_stage_lane_step(), bit for bit where they are no
 * bound, on random terms. */
#include "stage_kernel.h"

#include <string.h>

#include "base/rng.h"
#include "small_case.h"

enum { ROUNDS = 200 };

static calc_rng rng;
static calc_stage_lanes lanes;
static calc_stage_out out;

/* All magnitudes, often 0 or 1, never negative. */
static double number(void)
{
    switch (calc_rng_below(&rng, 6)) {
    case 0:
        return 0;
    case 1:
        return 1;
    default:
        return ldexp(1 + calc_rng_real(&rng), (int)calc_rng_below(&rng, 60) - 40);
    }
}

static double count_to(uint32_t most)
{
    return 1 + (double)calc_rng_below(&rng, most);
}

static void random_part(calc_stage_part *part)
{
    double *member = (double *)part;
    for (size_t i = 0; i < sizeof *part / sizeof *member; i++) {
        member[i] = number();
    }
    part->spared_s = calc_rng_real(&rng) * part->agrad_s;
}

static calc_stage_terms random_terms(void)
{
    calc_stage_terms t = {
        .stages = count_to(12),
        .microbatches = count_to(40),
        .training = calc_rng_below(&rng, 4) > 0,
        .message_s = number(),
        .message_hidden = calc_rng_real(&rng),
        .recompute_blocks = (double)calc_rng_below(&rng, 3),
        .reduced_bytes = 4,
        .gathered_bytes = 2,
        .reductions = count_to(3),
        .window_share = calc_rng_real(&rng),
        .contention = calc_rng_real(&rng),
        .tied_s = number(),
        .optimizer_s = number(),
        .optimizer_owned_s = number(),
        .growth = calc_rng_real(&rng),
        .overhead_s = number(),
        .dense_shards = count_to(8),
        .expert_shards = count_to(8),
        .held_bytes = 6,
        .owned_bytes = 12,
        .gathered_ahead = number(),
        .whole_block_bytes = number(),
        .used_share = 1 + calc_rng_real(&rng),
        .reserved_bytes = number(),
    };
    calc_collective_line *const line[] = {&t.reduce_dense, &t.reduce_expert, &t.gather_dense,
                                          &t.gather_expert};
    random_part(&t.block[0]);
    random_part(&t.block[1]);
    random_part(&t.embedding);
    random_part(&t.head);
    for (size_t i = 0; i < sizeof line / sizeof *line; i++) {
        *line[i] = (calc_collective_line){.s_per_byte = number(), .latency_s = number()};
    }
    return t;
}

/* Up to four classes of stages, of which some may not be there. */
static void random_lanes(size_t count, double stages)
{
    memset(&lanes, 0, sizeof lanes);
    lanes.count = count;
    for (size_t lane = 0; lane < (count + 3) / 4 * 4; lane++) {
        double left = stages;
        lanes.chunks[lane] = count_to(4);
        lanes.overlapped[lane] = (double)calc_rng_below(&rng, 2);
        for (int i = 0; i < CALC_MAX_STAGE_CLASSES; i++) {
            calc_stage_lane_class *c = &lanes.item[i];
            bool last = i + 1 == CALC_MAX_STAGE_CLASSES;
            c->stages[lane] = last ? left : (double)calc_rng_below(&rng, (uint32_t)left + 1);
            c->position[lane] = stages - left;
            c->dense[lane] = c->stages[lane] > 0 ? (double)calc_rng_below(&rng, 4) : 0;
            c->moe[lane] = c->stages[lane] > 0 ? (double)calc_rng_below(&rng, 4) : 0;
            c->first[lane] = i == 0 && c->stages[lane] > 0;
            c->last[lane] = last && c->stages[lane] > 0;
            left -= c->stages[lane];
        }
    }
}

static double least_s(const calc_stage_tile *tile, const calc_stage_step *step)
{
    double least = CALC_STAGE_NEVER_S;
    for (int i = 0; i < 4; i++) {
        double s = step->total_s[i / 2][i % 2];
        least = tile->allowed[i / 2][i % 2] && s < least ? s : least;
    }
    return least;
}

START_TEST(every_level_takes_the_shortest_allowed_step_of_each_lane_or_less)
{
    calc_kernel_level level[4];
    size_t levels = calc_kernel_levels(level);
    calc_rng_init(&rng, (uint64_t)_i, 3);
    calc_stage_terms terms = random_terms();
    calc_stage_tile tile = {
        .terms = &terms,
        .lanes = &lanes,
        .schedule = (calc_pipeline_schedule)calc_rng_below(&rng, CALC_PIPELINE_SCHEDULE_COUNT)};
    if (tile.schedule == CALC_PIPELINE_SCHEDULE_DUALPIPE && fmod(terms.stages, 2) != 0) {
        tile.schedule = CALC_PIPELINE_SCHEDULE_DUALPIPE_V;
    }
    uint32_t allowed = 1 + calc_rng_below(&rng, 15);
    for (uint32_t i = 0; i < 4; i++) {
        tile.allowed[i / 2][i % 2] = (allowed >> i & 1) != 0;
    }
    random_lanes(1 + calc_rng_below(&rng, 30), terms.stages);
    for (size_t l = 0; l < levels; l++) {
        memset(&out, 0xff, sizeof out);
        calc_stage_kernel_beside(level[l].run)(&tile, &out);
        for (size_t lane = 0; lane < lanes.count; lane++) {
            calc_stage_step step = calc_stage_lane_step(&tile, lane);
            double want_s = least_s(&tile, &step);
            bool exact = !terms.training ||
                         (tile.schedule == CALC_PIPELINE_SCHEDULE_1F1B && lanes.chunks[lane] <= 1);
            bool right = exact ? out.best_s[lane] == want_s : out.best_s[lane] <= want_s;
            ck_assert_msg(right, "%s, lane %zu: %.17g not %.17g", level[l].name, lane,
                          out.best_s[lane], want_s);
            ck_assert(out.tier1_bytes[lane] == step.tier1_bytes);
        }
    }
}
END_TEST

START_TEST(every_level_has_a_kernel_of_its_own)
{
    calc_kernel_level level[4];
    size_t levels = calc_kernel_levels(level);
    for (size_t i = 1; i < levels; i++) {
        ck_assert(calc_stage_kernel_beside(level[i].run) !=
                  calc_stage_kernel_beside(level[i - 1].run));
    }
}
END_TEST

int main(void)
{
    TCase *cases = tcase_create("stage_kernel");
    tcase_add_loop_test(cases, every_level_takes_the_shortest_allowed_step_of_each_lane_or_less, 0,
                        ROUNDS);
    tcase_add_test(cases, every_level_has_a_kernel_of_its_own);
    return run_cases(cases);
}
