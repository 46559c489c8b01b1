/* Numbers for people: src/cli/draw/human.c. */
#include <math.h>

#include "base/rng.h"
#include "cli/draw/human.h"
#include "frame.h"

#define assert_text(call, expected)                                                                \
    do {                                                                                           \
        char buffer[CALC_HUMAN_MAX];                                                               \
        ck_assert_str_eq(call, expected);                                                          \
    } while (0)

CALC_TEST(integers_have_commas)
{
    assert_text(calc_human_integer(0, buffer), "0");
    assert_text(calc_human_integer(999, buffer), "999");
    assert_text(calc_human_integer(1000, buffer), "1,000");
    assert_text(calc_human_integer(-123456, buffer), "-123,456");
    assert_text(calc_human_integer(1234567.4, buffer), "1,234,567");
    assert_text(calc_human_integer(999999.5, buffer), "1,000,000");
    assert_text(calc_human_integer(1e300, buffer), "1.000e+300");
}

CALC_TEST(numbers_have_four_significant_digits)
{
    assert_text(calc_human_number(0, buffer), "0");
    assert_text(calc_human_number(1, buffer), "1.000");
    assert_text(calc_human_number(159.49, buffer), "159.5");
    assert_text(calc_human_number(9.99949, buffer), "9.999");
    assert_text(calc_human_number(9.9996, buffer), "10.00");
    assert_text(calc_human_number(999.94, buffer), "999.9");
    assert_text(calc_human_number(999.95, buffer), "1,000");
    assert_text(calc_human_number(326701.3, buffer), "326,701");
    assert_text(calc_human_number(-0.012345, buffer), "-0.01235");
    assert_text(calc_human_number(1e-300, buffer), "0.000000000000");
}

CALC_TEST(units_change_where_four_digits_would_be_five)
{
    assert_text(calc_human_seconds(0, buffer), "0 s");
    assert_text(calc_human_seconds(19.2643, buffer), "19.26 s");
    assert_text(calc_human_seconds(0.9999, buffer), "999.9 ms");
    assert_text(calc_human_seconds(0.99996, buffer), "1.000 s");
    assert_text(calc_human_seconds(12e-6, buffer), "12.00 us");
    assert_text(calc_human_seconds(2.5e-10, buffer), "0.2500 ns");
    assert_text(calc_human_seconds(86400, buffer), "86,400 s");
    assert_text(calc_human_bytes(80 * 0x1p30, buffer), "80.00 GiB");
    assert_text(calc_human_bytes(1023 * 0x1p30, buffer), "1,023 GiB");
    assert_text(calc_human_bytes(0x1p40, buffer), "1.000 TiB");
    assert_text(calc_human_bytes(0, buffer), "0 B");
    assert_text(calc_human_count(174.6158e9, buffer), "174.6 B");
    assert_text(calc_human_count(1.008e12, buffer), "1.008 T");
    assert_text(calc_human_count(12, buffer), "12.00");
}

CALC_TEST(one_is_singular)
{
    assert_text(calc_human_counted(1, "block", buffer), "1 block");
    assert_text(calc_human_counted(0, "block", buffer), "0 blocks");
    assert_text(calc_human_counted(9600, "block", buffer), "9,600 blocks");
}

CALC_TEST(percentages_have_one_decimal)
{
    assert_text(calc_human_percent(0.38249, buffer), "38.2 %");
    assert_text(calc_human_percent(1, buffer), "100.0 %");
    assert_text(calc_human_percent(3.5, buffer), "350.0 %");
}

CALC_TEST(what_is_not_a_number_is_not_available)
{
    double nan = (double)NAN;
    assert_text(calc_human_integer(nan, buffer), "n/a");
    assert_text(calc_human_number(nan, buffer), "n/a");
    assert_text(calc_human_count(nan, buffer), "n/a");
    assert_text(calc_human_seconds(nan, buffer), "n/a");
    assert_text(calc_human_bytes(nan, buffer), "n/a");
    assert_text(calc_human_percent(nan, buffer), "n/a");
    assert_text(calc_human_percent((double)INFINITY, buffer), "n/a");
}

CALC_TEST(the_largest_remainders_are_rounded_up)
{
    const double thirds[] = {1, 1, 1};
    const double mixed[] = {2, 0, 5.6, 2.4};
    int64_t share[4];
    calc_human_apportion(thirds, 3, 1000, share);
    ck_assert_int_eq(share[0], 334);
    ck_assert_int_eq(share[1], 333);
    ck_assert_int_eq(share[2], 333);
    calc_human_apportion(mixed, 4, 10, share);
    ck_assert_int_eq(share[0], 2);
    ck_assert_int_eq(share[1], 0);
    ck_assert_int_eq(share[2], 6);
    ck_assert_int_eq(share[3], 2);
}

CALC_TEST(a_negative_part_keeps_the_sum)
{
    const double parts[] = {-0.25, 1.0, 0.5};
    int64_t share[3];
    calc_human_apportion(parts, 3, 1000, share);
    ck_assert_int_eq(share[0], -200);
    ck_assert_int_eq(share[1], 800);
    ck_assert_int_eq(share[2], 400);
}

CALC_TEST(shares_add_up_and_are_less_than_one_step_off)
{
    enum { PARTS = 11, CASES = 10000 };
    calc_rng rng;
    calc_rng_init(&rng, 1, 2);
    for (int i = 0; i < CASES; i++) {
        double part[PARTS];
        double sum = 0;
        int64_t share[PARTS];
        int64_t total = 0;
        for (int k = 0; k < PARTS; k++) {
            /* Zeros and very different sizes are the rule in a breakdown. */
            double size = pow(10, -(double)calc_rng_below(&rng, 12));
            part[k] = calc_rng_below(&rng, 3) == 0 ? 0 : size * calc_rng_real(&rng);
            sum += part[k];
        }
        if (sum == 0) {
            continue;
        }
        calc_human_apportion(part, PARTS, 1000, share);
        for (int k = 0; k < PARTS; k++) {
            total += share[k];
            ck_assert_msg(fabs((double)share[k] - part[k] / sum * 1000) < 1, "case %d, part %d", i,
                          k);
            ck_assert_msg(part[k] > 0 || share[k] == 0, "case %d: part %d is 0", i, k);
        }
        ck_assert_msg(total == 1000, "case %d: the sum is %lld", i, (long long)total);
    }
}
