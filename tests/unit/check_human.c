/* Numbers for people: src/cli/draw/human.c. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/rng.h"
#include "cli/draw/human.h"
#include "frame.h"
#include "io/text.h"

#define assert_text(call, expected)                                                                \
    do {                                                                                           \
        char buffer[CALC_HUMAN_MAX];                                                               \
        ck_assert_str_eq(call, expected);                                                          \
    } while (0)

CALC_TEST(integers_have_commas)
{
    assert_text(calc_human_integer_in(0, buffer), "0");
    assert_text(calc_human_integer_in(999, buffer), "999");
    assert_text(calc_human_integer_in(1000, buffer), "1,000");
    assert_text(calc_human_integer_in(-123456, buffer), "-123,456");
    assert_text(calc_human_integer_in(1234567.4, buffer), "1,234,567");
    assert_text(calc_human_integer_in(999999.5, buffer), "1,000,000");
    assert_text(calc_human_integer_in(1e300, buffer), "1.000e+300");
}

CALC_TEST(numbers_have_four_significant_digits)
{
    assert_text(calc_human_number_in(0, buffer), "0");
    assert_text(calc_human_number_in(1, buffer), "1.000");
    assert_text(calc_human_number_in(159.49, buffer), "159.5");
    assert_text(calc_human_number_in(9.99949, buffer), "9.999");
    assert_text(calc_human_number_in(9.9996, buffer), "10.00");
    assert_text(calc_human_number_in(999.94, buffer), "999.9");
    assert_text(calc_human_number_in(999.95, buffer), "1,000");
    assert_text(calc_human_number_in(326701.3, buffer), "326,701");
    assert_text(calc_human_number_in(-0.012345, buffer), "-0.01235");
    assert_text(calc_human_number_in(1e-300, buffer), "0.000000000000");
}

CALC_TEST(units_change_where_four_digits_would_be_five)
{
    assert_text(calc_human_seconds_in(0, buffer), "0 s");
    assert_text(calc_human_seconds_in(19.2643, buffer), "19.26 s");
    assert_text(calc_human_seconds_in(0.9999, buffer), "999.9 ms");
    assert_text(calc_human_seconds_in(0.99996, buffer), "1.000 s");
    assert_text(calc_human_seconds_in(12e-6, buffer), "12.00 us");
    assert_text(calc_human_seconds_in(2.5e-10, buffer), "0.2500 ns");
    assert_text(calc_human_seconds_in(86400, buffer), "86,400 s");
    assert_text(calc_human_bytes_in(80 * 0x1p30, buffer), "80.00 GiB");
    assert_text(calc_human_bytes_in(1023 * 0x1p30, buffer), "1,023 GiB");
    assert_text(calc_human_bytes_in(0x1p40, buffer), "1.000 TiB");
    assert_text(calc_human_bytes_in(0, buffer), "0 B");
    assert_text(calc_human_count_in(174.6158e9, buffer), "174.6 B");
    assert_text(calc_human_count_in(1.008e12, buffer), "1.008 T");
    assert_text(calc_human_count_in(12, buffer), "12.00");
}

CALC_TEST(one_is_singular)
{
    assert_text(calc_human_counted_in(1, "block", buffer), "1 block");
    assert_text(calc_human_counted_in(0, "block", buffer), "0 blocks");
    assert_text(calc_human_counted_in(9600, "block", buffer), "9,600 blocks");
}

CALC_TEST(percentages_have_one_decimal)
{
    assert_text(calc_human_percent_in(0.38249, buffer), "38.2 %");
    assert_text(calc_human_percent_in(1, buffer), "100.0 %");
    assert_text(calc_human_percent_in(3.5, buffer), "350.0 %");
}

CALC_TEST(what_is_not_a_number_is_not_available)
{
    double nan = (double)NAN;
    assert_text(calc_human_integer_in(nan, buffer), "n/a");
    assert_text(calc_human_number_in(nan, buffer), "n/a");
    assert_text(calc_human_count_in(nan, buffer), "n/a");
    assert_text(calc_human_seconds_in(nan, buffer), "n/a");
    assert_text(calc_human_bytes_in(nan, buffer), "n/a");
    assert_text(calc_human_percent_in(nan, buffer), "n/a");
    assert_text(calc_human_percent_in((double)INFINITY, buffer), "n/a");
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

/* The lines of a listing at a width. */
static char *written(calc_listing *l, int width)
{
    calc_errors errors = {0};
    calc_output *out;
    calc_text text = {0};
    ck_assert_int_eq(calc_output_open_memory(&out, &text, &errors), CALC_OK);
    calc_listing_fit(l, width);
    calc_listing_write_head(l, out, 0);
    calc_listing_write_row(l, out, 0, 0);
    calc_listing_write_row(l, out, 1, 2);
    calc_listing_free(l);
    ck_assert_int_eq(calc_output_close(out, &errors), CALC_OK);
    return text.data;
}

/* Expect what a table of two rows looks like. */
static void expect(int width, int gap, const char *lines)
{
    calc_listing_column column[] = {CALC_COLUMN("name", .left = true), CALC_COLUMN("s"),
                                    CALC_COLUMN("GiB", .order = 1), CALC_COLUMN("MFU", .order = 2),
                                    CALC_COLUMN("words", .left = true, .cut = true)};
    calc_listing l = CALC_LISTING(column, gap);
    static const char *const cells[] = {
        "a",     "1.25", "80", "50", "as short as it is",
        "bcdef", "10",   "7",  "",   "words that go on, and on, and on"};
    for (size_t i = 0; i < sizeof cells / sizeof *cells; i++) {
        calc_listing_add(&l, cells[i]);
    }
    char *text = written(&l, width);
    ck_assert_str_eq(text, lines);
    free(text);
}

CALC_TEST(columns_are_as_wide_as_their_widest_cell)
{
    expect(80, 1,
           "name      s  GiB  MFU  words\n"
           "a      1.25   80   50  as short as it is\n"
           "  bcdef    10    7       words that go on, and on, and on\n");
}

CALC_TEST(the_text_at_the_end_is_cut_before_a_column_is_left_out)
{
    expect(50, 2,
           "name      s  GiB  MFU  words\n"
           "a      1.25   80   50  as short as it is\n"
           "  bcdef    10    7       words that go on, and o ...\n");
}

CALC_TEST(gaps_are_narrowed_before_a_column_is_left_out)
{
    expect(44, 1,
           "name     s GiB MFU words\n"
           "a     1.25  80  50 as short as it is\n"
           "  bcdef   10   7     words that go on, and ...\n");
}

CALC_TEST(columns_of_the_largest_order_are_left_out_first)
{
    expect(43, 2,
           "name      s  GiB  words\n"
           "a      1.25   80  as short as it is\n"
           "  bcdef    10    7  words that go on, and ...\n");
    expect(38, 2,
           "name      s  words\n"
           "a      1.25  as short as it is\n"
           "  bcdef    10  words that go on, and ...\n");
}

CALC_TEST(columns_of_order_0_stay)
{
    expect(1, 2,
           "name      s  words\n"
           "a      1.25  as short as it is\n"
           "  bcdef    10  words that go on, a ...\n");
}

CALC_TEST(a_cut_leaves_characters_whole)
{
    calc_listing_column column[] = {CALC_COLUMN("t", .left = true, .cut = true)};
    calc_listing l = CALC_LISTING(column, 1);
    calc_listing_add(&l, "0123456789012345678\xc3\xa9 and more than fits");
    calc_listing_add(&l, "short");
    char *text = written(&l, 1);
    ck_assert_str_eq(text, "t\n0123456789012345678 ...\n  short\n");
    free(text);
}

CALC_TEST(a_column_varies_if_two_rows_differ)
{
    calc_listing_column column[] = {CALC_COLUMN("a"), CALC_COLUMN("b")};
    calc_listing l = CALC_LISTING(column, 1);
    calc_listing_add(&l, "1");
    calc_listing_add(&l, "1");
    calc_listing_addf(&l, "%d", 1);
    calc_listing_addf(&l, "%d", 2);
    ck_assert(!column[0].varies);
    ck_assert(column[1].varies);
    ck_assert_str_eq(calc_listing_cell(&l, 1, 1), "2");
    calc_listing_free(&l);
}

static void folds(const char *text, int columns, const char *expected)
{
    calc_output *out;
    calc_text written = {0};
    ck_assert_int_eq(calc_output_open_memory(&out, &written, NULL), CALC_OK);
    calc_fold_write(out, text, strlen(text), columns);
    ck_assert_int_eq(calc_output_close(out, NULL), CALC_OK);
    ck_assert_str_eq(written.data ? written.data : "", expected);
    calc_text_free(&written);
}

CALC_TEST(a_line_that_fits_stays)
{
    folds("", 10, "");
    folds("0123456789\n", 10, "0123456789\n");
    folds("  a   b\n\n  c", 10, "  a   b\n\n  c");
}

CALC_TEST(a_longer_one_is_broken_between_columns_or_else_words)
{
    folds("  one two  three\n", 12, "  one two\n    three\n");
    folds("  one two three\n", 12, "  one two\n    three\n");
    folds("  one  two three\n", 12, "  one\n    two\n    three\n");
    folds("one two\nthree\n", 3, "one\n    two\nthree\n");
}

CALC_TEST(a_word_that_is_longer_stays_whole)
{
    folds("0123456789 a b\n", 8, "0123456789\n    a b\n");
    folds("  0123456789\n", 8, "  0123456789\n");
}

CALC_TEST(in_a_wide_line_it_goes_on_after_a_joint)
{
    folds("  run_of_0123456789_and_more\n", 24, "  run_of_0123456789_and_\n    more\n");
    folds("a run_of_0123456789_and_more\n", 24, "a\n    run_of_0123456789_\n    and_more\n");
    folds("0123456789012345678901234567 a\n", 24, "012345678901234567890123\n    4567 a\n");
}

CALC_TEST(characters_count_and_not_bytes)
{
    folds("\xe2\x96\x88\xe2\x96\x88 \033[31mab\033[0m\n", 5,
          "\xe2\x96\x88\xe2\x96\x88 \033[31mab\033[0m\n");
    folds("\xe2\x96\x88\xe2\x96\x88 \033[31mab\033[0m\n", 4,
          "\xe2\x96\x88\xe2\x96\x88\n    \033[31mab\033[0m\n");
}
