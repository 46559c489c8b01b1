/* Kernels at every level against calc_kernel_lane_s(), bit for bit, on numbers meant to hurt. */
#include "kernel.h"

#include <math.h>

#include "base/rng.h"
#include "small_case.h"

enum { ROUNDS = 300 };

static calc_rng rng;

/* All magnitudes, often 0 or 1, never negative. */
static double number(void)
{
    switch (calc_rng_below(&rng, 8)) {
    case 0:
        return 0;
    case 1:
        return 1;
    case 2:
        return 0x1p-1060; /* too small for all its bits */
    default:
        return ldexp(1 + calc_rng_real(&rng), (int)calc_rng_below(&rng, 80) - 60);
    }
}

static double small_count(void)
{
    return 1 + (double)calc_rng_below(&rng, 12);
}

/* Arrays of one tile. */
typedef struct lanes {
    _Alignas(CALC_KERNEL_ALIGN) double base_blocks[CALC_KERNEL_LANES];
    _Alignas(CALC_KERNEL_ALIGN) double chunks[CALC_KERNEL_LANES];
    _Alignas(CALC_KERNEL_ALIGN) double rounds[CALC_KERNEL_LANES];
    _Alignas(CALC_KERNEL_ALIGN) double fw_message_s[CALC_KERNEL_LANES];
    _Alignas(CALC_KERNEL_ALIGN) double bw_message_s[CALC_KERNEL_LANES];
    _Alignas(CALC_KERNEL_ALIGN) double uncharged_s[CALC_KERNEL_LANES];
    _Alignas(CALC_KERNEL_ALIGN) double collides[CALC_MAX_NETWORKS][CALC_KERNEL_LANES];
    _Alignas(CALC_KERNEL_ALIGN) double mask_s[CALC_MAX_NETWORKS][CALC_KERNEL_LANES];
} lanes;

static lanes in;
static calc_kernel_out out;

static void random_block(calc_step_block *block)
{
    double *member = (double *)block;
    for (size_t i = 0; i < sizeof *block / sizeof *member; i++) {
        member[i] = number();
    }
}

static calc_kernel_tile random_tile(size_t count, size_t reductions, int overlaps)
{
    calc_kernel_tile t = {
        .count = count,
        .fw_offload_s = number(),
        .bw_offload_s = number(),
        .optimizer_s = number(),
        .optimizer_window_s = number(),
        .compute_s = number(),
        .missing_blocks = (double)calc_rng_below(&rng, 3),
        .stages = small_count(),
        .last_round = (double)calc_rng_below(&rng, 4),
        .base_blocks = in.base_blocks,
        .chunks = in.chunks,
        .rounds = in.rounds,
        .fw_message_s = in.fw_message_s,
        .bw_message_s = in.bw_message_s,
        .uncharged_s = in.uncharged_s,
        .plain = overlaps != 2,
        .overlapped = overlaps != 1,
        .reductions = reductions,
    };
    random_block(&t.block);
    for (size_t i = 0; i < count; i++) {
        in.base_blocks[i] = small_count() - 1;
        in.chunks[i] = small_count();
        in.rounds[i] = small_count() * 100;
        in.fw_message_s[i] = number();
        in.bw_message_s[i] = number();
        in.uncharged_s[i] = number();
    }
    for (size_t d = 0; d < reductions; d++) {
        t.reduction[d] = (calc_kernel_reduction){
            .block_s = number(),
            .plain_s = number(),
            .usage = 0.9 * calc_rng_real(&rng),
            .link_base_s = number(),
            .link_edge_s = number(),
            .collides = in.collides[d],
            .mask_s = in.mask_s[d],
        };
        for (size_t i = 0; i < count; i++) {
            in.collides[d][i] = calc_rng_below(&rng, 2);
            in.mask_s[d][i] = calc_rng_below(&rng, 4) == 0 ? INFINITY : 0;
        }
    }
    return t;
}

static void assert_lanes(const calc_kernel_tile *t, const char *level)
{
    for (size_t lane = 0; lane < t->count; lane++) {
        double best_s = INFINITY;
        for (size_t d = 0; d < t->reductions; d++) {
            for (int overlapped = !t->plain; overlapped <= t->overlapped; overlapped++) {
                double total_s = calc_kernel_lane_s(t, lane, d, overlapped);
                best_s = total_s < best_s ? total_s : best_s;
            }
        }
        ck_assert_msg(out.best_s[lane] == best_s, "%s, lane %zu of %zu: %.17g, not %.17g", level,
                      lane, t->count, out.best_s[lane], best_s);
    }
}

START_TEST(kernels_take_the_shortest_of_the_layouts_of_each_lane)
{
    calc_kernel_level level[4];
    size_t levels = calc_kernel_levels(level);
    calc_rng_init(&rng, 7, 0);
    for (int round = 0; round < ROUNDS; round++) {
        size_t count = 4 * (1 + calc_rng_below(&rng, 40));
        size_t reductions = 1 + calc_rng_below(&rng, CALC_MAX_NETWORKS);
        calc_kernel_tile t = random_tile(count, reductions, (int)calc_rng_below(&rng, 3));
        for (size_t i = 0; i < levels; i++) {
            level[i].run(&t, &out);
            assert_lanes(&t, level[i].name);
        }
    }
}
END_TEST

START_TEST(full_tile_is_evaluated_to_its_last_lane)
{
    calc_kernel_level level[4];
    size_t levels = calc_kernel_levels(level);
    calc_rng_init(&rng, 7, 1);
    calc_kernel_tile t = random_tile(CALC_KERNEL_LANES, 2, 0);
    for (size_t i = 0; i < levels; i++) {
        level[i].run(&t, &out);
        assert_lanes(&t, level[i].name);
    }
}
END_TEST

START_TEST(lane_that_no_network_allows_takes_for_ever)
{
    calc_kernel_level level[4];
    size_t levels = calc_kernel_levels(level);
    calc_rng_init(&rng, 7, 2);
    calc_kernel_tile t = random_tile(8, 2, 0);
    for (size_t lane = 0; lane < 8; lane++) {
        in.mask_s[0][lane] = in.mask_s[1][lane] = lane == 5 ? INFINITY : 0;
    }
    for (size_t i = 0; i < levels; i++) {
        level[i].run(&t, &out);
        for (size_t lane = 0; lane < 8; lane++) {
            ck_assert_int_eq(isinf(out.best_s[lane]) != 0, lane == 5);
        }
    }
}
END_TEST

START_TEST(levels_go_up_from_one_that_every_machine_has)
{
    static const char *const names[] = {"generic", "x86-64-v3", "x86-64-v4"};
    calc_kernel_level level[4];
    size_t levels = calc_kernel_levels(level);
    ck_assert_uint_ge(levels, 1);
    ck_assert_uint_le(levels, 3);
    for (size_t i = 0; i < levels; i++) {
        ck_assert_str_eq(level[i].name, names[i]);
        ck_assert(level[i].run != NULL);
    }
}
END_TEST

int main(void)
{
    TCase *tests = tcase_create("kernel");
    tcase_add_test(tests, kernels_take_the_shortest_of_the_layouts_of_each_lane);
    tcase_add_test(tests, full_tile_is_evaluated_to_its_last_lane);
    tcase_add_test(tests, lane_that_no_network_allows_takes_for_ever);
    tcase_add_test(tests, levels_go_up_from_one_that_every_machine_has);
    return run_cases(tests);
}
