#include "spec/value_text.h"

#include <stdio.h>

#include "frame.h"

static void is(const char *text, const char *unit, double number)
{
    double found = -77;
    ck_assert_msg(calc_amount_read(text, unit, &found) == CALC_AMOUNT_UNIT, "%s", text);
    ck_assert_msg(found == number, "%s: %.17g instead of %.17g %s", text, found, number,
                  unit ? unit : "");
}

static void fails(const char *text, const char *unit, calc_amount amount)
{
    double found = -77;
    ck_assert_msg(calc_amount_read(text, unit, &found) == amount, "%s in %s", text,
                  unit ? unit : "nothing");
    ck_assert_double_eq(found, -77);
}

CALC_TEST(a_bare_number_is_in_the_unit_of_the_field)
{
    double found = 0;
    ck_assert_int_eq(calc_amount_read("80", "GiB", &found), CALC_AMOUNT_BARE);
    ck_assert_double_eq(found, 80);
    ck_assert_int_eq(calc_amount_read("-1e3", NULL, &found), CALC_AMOUNT_BARE);
    ck_assert_double_eq(found, -1000);
}

CALC_TEST(bytes_and_bits_have_prefixes_of_1000_and_1024)
{
    is("80GiB", "GiB", 80);
    is("80 GiB", "GiB", 80);
    is("80GB", "GiB", 80e9 / 0x1p30);
    is("80G", "GiB", 80e9 / 0x1p30);
    is("1TiB", "GiB", 1024);
    is("60GiB", "bytes", 60 * 0x1p30);
    is("1.5KB", "bytes", 1500);
    is("1kB", "bytes", 1000);
    is("8b", "bytes", 1);
    is("60B", "bytes", 60);
    is("400Gb/s", "GB/s", 50);
    is("400Gbit/s", "GB/s", 50);
    is("400Gbps", "GB/s", 50);
    is("3.35TB/s", "GB/s", 3350);
    is("450GB/s", "GB/s", 450);
    is("450G", "GB/s", 450);
}

/* 10 * 1e-6 is not 1e-05, but 10us is what a file would have as 1e-05. */
CALC_TEST(decimal_prefixes_give_the_number_that_was_meant)
{
    is("10us", "s", 1e-5);
    is("10\xc2\xb5s", "s", 1e-5);
    is("3ns", "s", 3e-9);
    is("0.7ms", "s", 0.7e-3);
    is("1.1e1us", "s", 1.1e-5);
    is("0.3K", NULL, 300);
    is("40%", NULL, 0.4);
    is("989.5TFLOP/s", "TFLOP/s", 989.5);
    is("989.5T", "TFLOP/s", 989.5);
    is("0.9895PFLOPS", "TFLOP/s", 989.5);
}

CALC_TEST(times_and_tokens_have_units_of_their_own)
{
    is("1.5min", "s", 90);
    is("2h", "s", 7200);
    is("2days", "h", 48);
    is("36h", "days", 1.5);
    is("4Mtokens", "tokens", 4e6);
    is("4M", "tokens", 4e6);
    is("4Mitokens", "tokens", 4194304);
    is("32Ki", "tokens", 32768);
    is("15T", "tokens", 15e12);
    is("15Btokens", "tokens", 15e9);
    is("300B", "tokens", 300e9);
    is("2.5USD/h", "USD/h", 2.5);
    is("10Ktokens/s", "tokens/s", 10e3);
}

CALC_TEST(what_does_not_fit_is_refused)
{
    fails("60ms", "bytes", CALC_AMOUNT_WRONG_UNIT);
    fails("60GB", "GB/s", CALC_AMOUNT_WRONG_UNIT);
    fails("60GB/s", "bytes", CALC_AMOUNT_WRONG_UNIT);
    fails("10m", "s", CALC_AMOUNT_WRONG_UNIT); /* minutes or a thousandth? */
    fails("10K", "s", CALC_AMOUNT_WRONG_UNIT);
    fails("10Kmin", "s", CALC_AMOUNT_WRONG_UNIT);
    fails("3GiB", NULL, CALC_AMOUNT_WRONG_UNIT);
    fails("3x", NULL, CALC_AMOUNT_WRONG_UNIT);
    fails("3 parsecs", "light years", CALC_AMOUNT_WRONG_UNIT);
    fails("", "bytes", CALC_AMOUNT_NO_NUMBER);
    fails("GiB", "bytes", CALC_AMOUNT_NO_NUMBER);
    fails("0x10", "bytes", CALC_AMOUNT_NO_NUMBER);
    fails("inf", "bytes", CALC_AMOUNT_NO_NUMBER);
    fails("1e999B", "bytes", CALC_AMOUNT_NO_NUMBER);
    fails("8 ", "bytes", CALC_AMOUNT_NO_NUMBER);
}

/* A field whose unit is unknown could be given none. */
CALC_TEST(every_unit_of_a_field_is_known)
{
    for (calc_kind kind = CALC_KIND_APP; kind < CALC_KIND_COUNT; kind++) {
        const calc_table *table = calc_table_of(kind);
        for (size_t i = 0; i < table->count; i++) {
            const char *unit = table->rows[i].unit;
            char text[64];
            double found = 0;
            if (!unit) {
                continue;
            }
            snprintf(text, sizeof text, "3 %s", unit);
            ck_assert_msg(calc_amount_read(text, unit, &found) <= CALC_AMOUNT_UNIT, "%s", text);
            ck_assert_double_eq(found, 3);
        }
    }
}

CALC_TEST(bytes_and_flop_say_little_without_a_prefix)
{
    ck_assert(calc_amount_is_large("bytes"));
    ck_assert(calc_amount_is_large("bytes/s"));
    ck_assert(calc_amount_is_large("FLOP"));
    ck_assert(!calc_amount_is_large("GiB"));
    ck_assert(!calc_amount_is_large("s"));
    ck_assert(!calc_amount_is_large(NULL));
}
