/* Kernels of stages at every level against calc_kernel_lane_least(), bit for bit, on random terms;
 * and that against the step itself. */
#include "kernel.h"

#include <string.h>

#include "base/rng.h"
#include "small_case.h"

enum { ROUNDS = 200 };

static calc_rng rng;
static calc_kernel_lanes lanes;
static calc_kernel_links links;
static calc_kernel_out out;

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
    part->spared_s = part->agrad_s * calc_rng_real(&rng); /* no pass takes less than nothing */
}

static calc_stage_terms random_terms(void)
{
    bool away = calc_rng_below(&rng, 2) > 0;
    calc_stage_terms t = {
        .stages = count_to(12),
        .microbatches = count_to(40),
        .lost_rounds = number(),
        .training = calc_rng_below(&rng, 4) > 0,
        .message_hidden = calc_rng_real(&rng),
        .recompute_blocks = (double)calc_rng_below(&rng, 3),
        .reduced_bytes = 4,
        .gathered_bytes = 2,
        .reductions = count_to(3),
        .window_share = calc_rng_real(&rng),
        .contention = calc_rng_real(&rng),
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
        .away = away,
        .weight_held_away = away ? number() : 0,
        .weight_owned_away = away ? number() : 0,
        .optimizer_held_away = away ? number() : 0,
        .optimizer_owned_away = away ? number() : 0,
    };
    random_part(&t.block[0]);
    random_part(&t.block[1]);
    random_part(&t.embedding);
    random_part(&t.head);
    t.block[0].away_bytes *= away;
    t.block[1].away_bytes *= away;
    return t;
}

static void copy_lane(size_t to, size_t from)
{
    lanes.chunks[to] = lanes.chunks[from];
    lanes.overlapped[to] = lanes.overlapped[from];
    for (int i = 0; i < CALC_MAX_STAGE_CLASSES; i++) {
        calc_kernel_class *c = &lanes.item[i];
#define CALC_X(member) c->member[to] = c->member[from];
        CALC_STAGE_CLASS_LIST(CALC_X)
#undef CALC_X
    }
}

/* One class of stages, or up to four, of which some may not be there. */
static void random_lanes(size_t count, double stages, size_t chunkings)
{
    memset(&lanes, 0, sizeof lanes);
    lanes.count = count;
    lanes.experts = calc_rng_below(&rng, 2) > 0;
    lanes.classes = calc_rng_below(&rng, 2) ? CALC_MAX_STAGE_CLASSES : 1;
    for (size_t lane = 0; lane < (count + 3) / 4 * 4; lane++) {
#define CALC_X(member) links.member[lane] = number();
        CALC_STAGE_LINK_LIST(CALC_X)
#undef CALC_X
        if (lane >= chunkings) { /* the same with other networks */
            copy_lane(lane, lane % chunkings);
            continue;
        }
        double left = stages;
        lanes.chunks[lane] = count_to(4);
        lanes.overlapped[lane] = (double)calc_rng_below(&rng, 2);
        for (int i = 0; i < CALC_MAX_STAGE_CLASSES; i++) {
            calc_kernel_class *c = &lanes.item[i];
            bool last = i + 1 == CALC_MAX_STAGE_CLASSES;
            bool all = lanes.classes == 1 || last;
            c->stages[lane] = all ? left : (double)calc_rng_below(&rng, (uint32_t)left + 1);
            c->position[lane] = stages - left;
            c->dense[lane] = c->stages[lane] > 0 ? (double)calc_rng_below(&rng, 4) : 0;
            c->moe[lane] =
                lanes.experts && c->stages[lane] > 0 ? (double)calc_rng_below(&rng, 4) : 0;
            bool there = c->stages[lane] > 0;
            c->first[lane] = there && i == 0;
            c->last[lane] = there && (lanes.classes == 1 ? i == 0 : last);
            left -= c->stages[lane];
        }
    }
}

static double least_s(const calc_kernel_tile *tile, const calc_stage_step *step)
{
    double least = CALC_KERNEL_NEVER_S;
    for (int i = 0; i < 4; i++) {
        double s = step->total_s[i / 2][i % 2];
        least = tile->allowed[i / 2][i % 2] && s < least ? s : least;
    }
    return least;
}

static void sum_up(const calc_kernel_tile *tile, double best_s, const calc_stage_step *step,
                   calc_kernel_out *sum)
{
    if (step->tier1_bytes > tile->tier1_capacity_bytes) {
        sum->over_tier1++;
    } else if (step->tier2_bytes > tile->tier2_capacity_bytes) {
        sum->over_tier2++;
    } else {
        sum->feasible++;
        sum->least_s = fmin(sum->least_s, best_s);
        sum->least_tier1_bytes = fmin(sum->least_tier1_bytes, step->tier1_bytes);
        sum->least_tier2_bytes = fmin(sum->least_tier2_bytes, step->tier2_bytes);
    }
}

/* Whether the kernel gives the step itself, and no lower bound. */
static bool exact(const calc_kernel_tile *tile, size_t lane)
{
    bool plain = tile->schedule == CALC_PIPELINE_SCHEDULE_1F1B && lanes.chunks[lane] <= 1;
    return !tile->terms->training || plain;
}

START_TEST(every_level_takes_the_shortest_allowed_step_of_each_lane_or_less)
{
    calc_kernel_level level[4];
    size_t levels = calc_kernel_levels(level);
    calc_rng_init(&rng, (uint64_t)_i, 3);
    calc_stage_terms terms = random_terms();
    calc_kernel_tile tile = {
        .terms = &terms,
        .lanes = &lanes,
        .links = &links,
        .tier1_capacity_bytes = number() * 1e4,
        .tier2_capacity_bytes = number() * 1e4,
        .schedule = (calc_pipeline_schedule)calc_rng_below(&rng, CALC_PIPELINE_SCHEDULE_COUNT)};
    if (tile.schedule == CALC_PIPELINE_SCHEDULE_DUALPIPE && fmod(terms.stages, 2) != 0) {
        tile.schedule = CALC_PIPELINE_SCHEDULE_DUALPIPE_V;
    }
    uint32_t allowed = 1 + calc_rng_below(&rng, 15);
    for (uint32_t i = 0; i < 4; i++) {
        tile.allowed[i / 2][i % 2] = (allowed >> i & 1) != 0;
    }
    size_t pairs = 1 + calc_rng_below(&rng, 4);
    tile.chunkings = 1 + calc_rng_below(&rng, 9);
    random_lanes(pairs * tile.chunkings, terms.stages, tile.chunkings);
    tile.first = calc_rng_below(&rng, (uint32_t)pairs) * tile.chunkings;
    tile.count = lanes.count - tile.first;
    for (size_t l = 0; l < levels; l++) {
        memset(&out, 0xff, sizeof out);
        level[l].run(&tile, &out);
        calc_kernel_out want = {.least_s = CALC_KERNEL_NEVER_S,
                                .least_tier1_bytes = CALC_KERNEL_NEVER_S,
                                .least_tier2_bytes = CALC_KERNEL_NEVER_S};
        for (size_t lane = tile.first; lane < lanes.count; lane++) {
            calc_stage_step step = calc_kernel_lane_step(&tile, lane);
            calc_stage_step less = calc_kernel_lane_least(&tile, lane);
            double want_s = least_s(&tile, &less);
            double whole_s = least_s(&tile, &step);
            ck_assert_msg(out.feasible == 0 || out.best_s[lane] == want_s,
                          "%s, lane %zu: %.17g not %.17g", level[l].name, lane, out.best_s[lane],
                          want_s);
            ck_assert_msg(exact(&tile, lane) ? want_s == whole_s : want_s <= whole_s,
                          "schedule %d, lane %zu: %.17g not %.17g", (int)tile.schedule, lane,
                          want_s, whole_s);
            ck_assert(out.tier1_bytes[lane % tile.chunkings] == step.tier1_bytes);
            ck_assert(out.tier2_bytes[lane % tile.chunkings] == step.tier2_bytes);
            bool fits = step.tier1_bytes <= tile.tier1_capacity_bytes &&
                        step.tier2_bytes <= tile.tier2_capacity_bytes;
            ck_assert((out.skip_s[lane % tile.chunkings] == 0) == fits);
            sum_up(&tile, want_s, &step, &want);
        }
        ck_assert_uint_eq(out.feasible, want.feasible);
        ck_assert_uint_eq(out.over_tier1, want.over_tier1);
        ck_assert_uint_eq(out.over_tier2, want.over_tier2);
        ck_assert(out.least_s == want.least_s);
        ck_assert(out.least_tier1_bytes == want.least_tier1_bytes);
        ck_assert(out.least_tier2_bytes == want.least_tier2_bytes);
    }
}
END_TEST

/* A class that is not there changes no bit. */
START_TEST(one_class_takes_as_long_as_with_three_that_are_not_there)
{
    calc_rng_init(&rng, (uint64_t)_i, 4);
    calc_stage_terms terms = random_terms();
    calc_kernel_tile tile = {.terms = &terms, .lanes = &lanes, .links = &links};
    tile.allowed[_i / 2 % 2][_i % 2] = true;
    random_lanes(9, terms.stages, 9);
    if (lanes.classes > 1) {
        return;
    }
    for (size_t lane = 0; lane < lanes.count; lane++) {
        lanes.classes = 1;
        calc_stage_step one = calc_kernel_lane_step(&tile, lane);
        calc_stage_step less = calc_kernel_lane_least(&tile, lane);
        lanes.classes = CALC_MAX_STAGE_CLASSES;
        calc_stage_step four = calc_kernel_lane_step(&tile, lane);
        calc_stage_step four_less = calc_kernel_lane_least(&tile, lane);
        ck_assert_int_eq(memcmp(&one, &four, sizeof one), 0);
        ck_assert_int_eq(memcmp(&less, &four_less, sizeof less), 0);
    }
}
END_TEST

START_TEST(every_level_has_a_kernel_of_its_own)
{
    calc_kernel_level level[4];
    size_t levels = calc_kernel_levels(level);
    for (size_t i = 1; i < levels; i++) {
        ck_assert(level[i].run != level[i - 1].run);
    }
}
END_TEST

int main(void)
{
    TCase *cases = tcase_create("kernel");
    tcase_add_loop_test(cases, every_level_takes_the_shortest_allowed_step_of_each_lane_or_less, 0,
                        ROUNDS);
    tcase_add_loop_test(cases, one_class_takes_as_long_as_with_three_that_are_not_there, 0, ROUNDS);
    tcase_add_test(cases, every_level_has_a_kernel_of_its_own);
    return run_cases(cases);
}
