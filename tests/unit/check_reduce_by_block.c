#include "model/stages/stage_types.h"

#include "base/rng.h"
#include "frame.h"
#include "small_case.h"

/* ---- Whole number of times ------------------------------------------------------------------- */

static const double no_limit = 0x1p19;

/* fma() rounds once, so the sign of fma(n, b, -a) is that of n * b - a, exactly.
 * @return whether a / b alone would have said one too many */
static bool assert_whole(double a, double b)
{
    double n = calc_reduce_fits(a, b, no_limit);
    /* Asserting each of a million pairs would take Check seconds. */
    if (n != floor(n) || fma(n, b, -a) > 0 || fma(n + 1, b, -a) <= 0) {
        ck_abort_msg("%.17g is not %.17g whole times %.17g", a, n, b);
    }
    return floor(a / b) > n;
}

CALC_TEST(whole_numbers_of_random_pairs_are_exact)
{
    calc_rng rng;
    calc_rng_init(&rng, 53, 0);
    for (int i = 0; i < 200000; i++) {
        double b = ldexp(1 + calc_rng_real(&rng), (int)calc_rng_below(&rng, 40) - 30);
        double a = b * (calc_rng_real(&rng) * ldexp(1, (int)calc_rng_below(&rng, 19)));
        assert_whole(a, b);
    }
}

/* The products n * b, rounded, and their neighbours: there a / b rounds up to n although n * b is
 * more than a. */
CALC_TEST(whole_numbers_are_exact_where_the_quotient_rounds_up)
{
    calc_rng rng;
    calc_rng_init(&rng, 53, 1);
    int rounded_up = 0;
    for (int i = 0; i < 200000; i++) {
        double low_bits = ldexp(calc_rng_real(&rng), -32);
        double b = ldexp(1 + calc_rng_real(&rng) + low_bits, (int)calc_rng_below(&rng, 40) - 30);
        double product = b * (1 + calc_rng_below(&rng, (1 << 19) - 1));
        rounded_up += assert_whole(product, b);
        rounded_up += assert_whole(nextafter(product, 0), b);
        rounded_up += assert_whole(nextafter(product, INFINITY), b);
    }
    ck_assert_int_gt(rounded_up, 10000);
}

CALC_TEST(whole_numbers_stop_at_the_limit)
{
    ck_assert_double_eq(calc_reduce_fits(0, 1, 4), 0);
    ck_assert_double_eq(calc_reduce_fits(3.5, 1, 4), 3);
    ck_assert_double_eq(calc_reduce_fits(4, 1, 4), 4);
    ck_assert_double_eq(calc_reduce_fits(4.5, 1, 4), 4);
    ck_assert_double_eq(calc_reduce_fits(1e30, 1, 4), 4);
    ck_assert_double_eq(calc_reduce_fits(nextafter(4, 0), 1, 4), 3);
}

/* ---- Overlap --------------------------------------------------------------------------------- */

/* 4 stages of 2 chunks of 2 blocks: a backward block takes 5 s, all of it a window, with 3 s of
 * arithmetic. */
static calc_reduce_overlap overlap_of(double block_s)
{
    return (calc_reduce_overlap){.block_s = block_s,
                                 .base_bw_s = 5,
                                 .edge_bw_s = 5,
                                 .chunk_bw_s = 10,
                                 .compute_s = 3,
                                 .stages = 4,
                                 .chunks = 2,
                                 .base_blocks = 1,
                                 .last_round = 4};
}

CALC_TEST(a_fast_network_exposes_only_the_last_block)
{
    calc_reduce_overlap o = overlap_of(1);
    ck_assert_double_eq(calc_reduce_overlapped(&o).exposed_s, 1);
    o = overlap_of(0);
    ck_assert_double_eq(calc_reduce_overlapped(&o).exposed_s, 0);
}

/* The first chunk has a window of 4 * 10 s for its two blocks, the last one of 5 s for one. */
CALC_TEST(what_is_longer_than_its_window_is_exposed)
{
    calc_reduce_overlap o = overlap_of(100);
    ck_assert_double_eq(calc_reduce_overlapped(&o).exposed_s, 100 + (200 - 40) + (100 - 5));
    o = overlap_of(20);
    ck_assert_double_eq(calc_reduce_overlapped(&o).exposed_s, 20 + 0 + (20 - 5));
    o = overlap_of(5);
    ck_assert_double_eq(calc_reduce_overlapped(&o).exposed_s, 5);
}

CALC_TEST(the_windows_are_reported)
{
    calc_reduce_overlap o = overlap_of(1);
    calc_reduce_times times = calc_reduce_overlapped(&o);
    ck_assert_double_eq(times.chunks_window_s, 40);
    ck_assert_double_eq(times.tail_window_s, 5);
    o.chunks = 3;
    ck_assert_double_eq(calc_reduce_overlapped(&o).chunks_window_s, 80);
}

CALC_TEST(every_chunk_but_the_last_counts)
{
    calc_reduce_overlap o = overlap_of(100);
    o.chunks = 1;
    ck_assert_double_eq(calc_reduce_overlapped(&o).exposed_s, 100 + 0 + 95);
    o.chunks = 4;
    ck_assert_double_eq(calc_reduce_overlapped(&o).exposed_s, 100 + 3 * 160 + 95);
}

/* Half of the processor drives the network: hidden time costs half of itself; where it is too long
 * the arithmetic beside it is late by half: 4 stages * 2 blocks * 3 s, and 3 s in the tail. */
CALC_TEST(driving_the_network_takes_its_share_of_the_processor)
{
    calc_reduce_overlap o = overlap_of(1);
    o.usage = 0.5;
    calc_reduce_times times = calc_reduce_overlapped(&o);
    ck_assert_double_eq(times.exposed_s, 1 + 2 * 0.5 + 1 * 0.5);
    ck_assert_double_eq(times.chunks_window_s, 40 + 12);
    ck_assert_double_eq(times.tail_window_s, 5 + 0.5);
    o.block_s = 100;
    ck_assert_double_eq(calc_reduce_overlapped(&o).exposed_s,
                        100 + (200 - 40 + 12) + (100 - 5 + 1.5));
}

/* 200 s of reduction meet a message of 1 s per chunk of 10 s backward, but no more than the
 * micro-batches of the last round. The tail always leaves out its own message. */
CALC_TEST(pipeline_messages_on_the_same_network_shorten_the_window)
{
    calc_reduce_overlap o = overlap_of(100);
    o.message_s = 1;
    ck_assert_double_eq(calc_reduce_overlapped(&o).exposed_s, 100 + 160 + (95 + 1));
    o.collides = 1;
    ck_assert_double_eq(calc_reduce_overlapped(&o).exposed_s, 100 + (160 + 4) + (95 + 1));
    o.last_round = 3;
    ck_assert_double_eq(calc_reduce_overlapped(&o).exposed_s, 100 + (160 + 3) + (95 + 1));
    ck_assert_double_eq(calc_reduce_overlapped(&o).chunks_window_s, 40 - 1);
    /* 50 s of reduction meet 5 messages, 49.8 s meet 4. */
    o.last_round = 8;
    o.block_s = 25;
    ck_assert_double_eq(calc_reduce_overlapped(&o).exposed_s, 25 + (50 - 40 + 5) + (20 + 1));
    o.block_s = 24.9;
    assert_near(calc_reduce_overlapped(&o).exposed_s, 24.9 + (49.8 - 40 + 4) + (19.9 + 1));
}

CALC_TEST(an_optimizer_step_that_may_start_early_lengthens_the_tail)
{
    calc_reduce_overlap o = overlap_of(100);
    o.optimizer_window_s = 2;
    /* 2 s more behind each of the two blocks, and 2 s after the last. */
    ck_assert_double_eq(calc_reduce_overlapped(&o).exposed_s,
                        100 + (200 - 4 * (10 + 4)) + (100 - (5 + 4 + 2)));
}

/* As in Calculon the arithmetic of that block is charged as late all the same. */
CALC_TEST(a_chunk_of_one_block_has_no_tail_to_hide)
{
    calc_reduce_overlap o = overlap_of(1);
    o.base_blocks = 0;
    calc_reduce_times times = calc_reduce_overlapped(&o);
    ck_assert_double_eq(times.exposed_s, 1);
    ck_assert_double_eq(times.tail_window_s, 0);
    o.usage = 0.5;
    ck_assert_double_eq(calc_reduce_overlapped(&o).exposed_s, 1 + 0.5 + 1.5);
}

/* A chunk of 3 blocks takes 100 s backward, of which each has 5 s of traffic. */
CALC_TEST(gradients_hide_behind_arithmetic_and_other_networks)
{
    calc_reduce_overlap o = overlap_of(1);
    o.chunk_bw_s = 100;
    o.base_blocks = 2;
    o.busy_s = 5;
    ck_assert_double_eq(calc_reduce_overlapped(&o).chunks_window_s, 4 * (100 - 3 * 5));
    o.link_s = 4;
    o.edge_link_s = 7;
    ck_assert_double_eq(calc_reduce_overlapped(&o).chunks_window_s,
                        4 * (100 - 3 * 5 - (2 * 4 + 7)));
    o.link_s = o.edge_link_s = 0;
    o.optimizer_window_s = 1;
    ck_assert_double_eq(calc_reduce_overlapped(&o).chunks_window_s, 4 * (100 - 3 * 5 + 3 * 1));
}
