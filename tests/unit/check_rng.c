#include "base/rng.h"

#include "frame.h"

/* Published with the generator: pcg32-demo of the PCG library, round 1 with seed 42, stream 54. */
CALC_TEST(the_first_numbers_are_the_published_ones)
{
    static const uint32_t published[] = {0xa15c02b7, 0x7b47f409, 0xba1d3330,
                                         0x83d2f293, 0xbfa4784b, 0xcbed606e};
    calc_rng rng;
    calc_rng_init(&rng, 42, 54);
    for (size_t i = 0; i < sizeof published / sizeof *published; i++) {
        ck_assert_uint_eq(calc_rng_next(&rng), published[i]);
    }
}

CALC_TEST(streams_of_one_seed_differ)
{
    calc_rng a;
    calc_rng b;
    calc_rng_init(&a, 1, 1);
    calc_rng_init(&b, 1, 2);
    int equal = 0;
    for (int i = 0; i < 1000; i++) {
        equal += calc_rng_next(&a) == calc_rng_next(&b);
    }
    ck_assert_int_le(equal, 1);
}

CALC_TEST(a_copy_continues_alike)
{
    calc_rng rng;
    calc_rng_init(&rng, 7, 0);
    calc_rng_next(&rng);
    calc_rng copy = rng;
    for (int i = 0; i < 100; i++) {
        ck_assert_uint_eq(calc_rng_next(&rng), calc_rng_next(&copy));
    }
}

CALC_TEST(integers_stay_below_their_bound)
{
    calc_rng rng;
    calc_rng_init(&rng, 3, 3);
    static const uint32_t bounds[] = {1, 2, 3, 10, 0x80000001u, UINT32_MAX};
    for (size_t i = 0; i < sizeof bounds / sizeof *bounds; i++) {
        for (int j = 0; j < 1000; j++) {
            ck_assert_uint_lt(calc_rng_below(&rng, bounds[i]), bounds[i]);
        }
    }
}

/* With bound = 3 * 2^30, plain `next % bound` would give the lowest third half of all numbers. */
CALC_TEST(integers_are_without_bias)
{
    calc_rng rng;
    calc_rng_init(&rng, 11, 0);
    int low = 0;
    for (int i = 0; i < 30000; i++) {
        low += calc_rng_below(&rng, 3u << 30) < 1u << 30;
    }
    ck_assert_int_gt(low, 9600);
    ck_assert_int_lt(low, 10400);
}

CALC_TEST(reals_fill_the_unit_interval_without_one)
{
    calc_rng rng;
    calc_rng_init(&rng, 8, 8);
    double sum = 0;
    double lowest = 1;
    double highest = 0;
    for (int i = 0; i < 100000; i++) {
        double real = calc_rng_real(&rng);
        ck_assert(real >= 0 && real < 1);
        sum += real;
        lowest = real < lowest ? real : lowest;
        highest = real > highest ? real : highest;
    }
    ck_assert_double_eq_tol(sum / 100000, 0.5, 0.005);
    ck_assert_double_lt(lowest, 0.001);
    ck_assert_double_gt(highest, 0.999);
}
