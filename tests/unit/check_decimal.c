#include "base/decimal.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/rng.h"
#include "frame.h"
#include "sampled.h"

enum { RANDOM = 200000 };

/* The text by definition, from the C library. */
static void expected(double value, char *text)
{
    int digits = 15;
    do {
        snprintf(text, CALC_DECIMAL_SIZE, "%.*g", digits, value);
    } while (strtod(text, NULL) != value && digits++ < 17);
    if (fabs(value) < 0x1p53 && strchr(text, 'e') && value == floor(value)) {
        snprintf(text, CALC_DECIMAL_SIZE, "%.0f", value);
    }
}

/* @return whether it was written */
static bool assert_text(double value)
{
    char want[CALC_DECIMAL_SIZE];
    char got[CALC_DECIMAL_SIZE];
    memset(got, 'x', sizeof got);
    if (!calc_decimal(value, got)) {
        return false;
    }
    expected(value, want);
    ck_assert_str_eq(got, want);
    return true;
}

static void assert_around(double value)
{
    assert_text(value);
    assert_text(-value);
    assert_text(nextafter(value, INFINITY));
    assert_text(nextafter(value, 0));
}

CALC_TEST_LOOP(texts_are_those_of_the_library_for_random_numbers, 0, 3)
{
    calc_rng rng;
    calc_rng_init(&rng, 1, (uint64_t)_i);
    int written = 0;
    for (int i = 0; i < sample_of(RANDOM); i++) {
        double value = ldexp(1 + calc_rng_real(&rng), (int)calc_rng_below(&rng, 160) - 36);
        written += assert_text(calc_rng_below(&rng, 2) ? value : -value);
    }
    ck_assert_int_gt(written, sample_of(RANDOM) / 10 * 9);
}

CALC_TEST_LOOP(texts_of_few_digits_are_those_digits, 0, 3)
{
    calc_rng rng;
    calc_rng_init(&rng, 2, (uint64_t)_i);
    for (int i = 0; i < sample_of(RANDOM); i++) {
        char mantissa[CALC_DECIMAL_SIZE];
        char text[CALC_DECIMAL_SIZE + 16];
        /* Up to 15 digits read back; with 16 and 17 it depends. */
        int digits = 1 + (int)calc_rng_below(&rng, 17);
        snprintf(mantissa, sizeof mantissa, "%.*f", digits, calc_rng_real(&rng));
        snprintf(text, sizeof text, "%se%d", mantissa, (int)calc_rng_below(&rng, 46) - 9);
        assert_text(strtod(text, NULL));
    }
}

CALC_TEST(boundaries_and_ties_are_as_in_the_library)
{
    for (int e = -40; e < 130; e++) {
        assert_around(ldexp(1, e));
        assert_around(ldexp(1, e) + 1);
        assert_around(ldexp(1, e) + 0.5);
        assert_around(ldexp(0x10000000000001p0, e - 52));
    }
    for (int e = -11; e < 37; e++) {
        char text[CALC_DECIMAL_SIZE];
        snprintf(text, sizeof text, "1e%d", e);
        assert_around(strtod(text, NULL));
        snprintf(text, sizeof text, "9.999999999999995e%d", e);
        assert_around(strtod(text, NULL));
        snprintf(text, sizeof text, "9.9999999999999999e%d", e);
        assert_around(strtod(text, NULL));
    }
    /* Halves of the last digit. */
    for (double value = 0x1p49; value < 0x1p53; value += 0x1.23456789ap44) {
        assert_around(floor(value) + 0.5);
        assert_around(floor(value) + 0.25);
        assert_around(floor(value) + 0.125);
        assert_around(floor(value) * 8 + 4);
    }
}

CALC_TEST(whole_numbers_have_no_exponent)
{
    static const struct {
        double value;
        const char *text;
    } cases[] = {{0, "0"},
                 {-0.0, "-0"},
                 {1e15, "1000000000000000"},
                 {-9007199254740991, "-9007199254740991"},
                 {123456789012345680, "1.2345678901234568e+17"},
                 {12345678901234568, "12345678901234568"},
                 {1e16, "1e+16"},
                 {0.0001, "0.0001"},
                 {0.00001, "1e-05"},
                 {0.1 + 0.2, "0.30000000000000004"},
                 {-1.5e-7, "-1.5e-07"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[CALC_DECIMAL_SIZE];
        ck_assert(calc_decimal(cases[i].value, text));
        ck_assert_str_eq(text, cases[i].text);
        ck_assert(assert_text(cases[i].value));
    }
}

CALC_TEST(the_rest_is_left_to_others)
{
    char text[CALC_DECIMAL_SIZE];
    ck_assert(!calc_decimal(NAN, text));
    ck_assert(!calc_decimal(INFINITY, text));
    ck_assert(!calc_decimal(9e-11, text));
    ck_assert(!calc_decimal(1.1e36, text));
    ck_assert(!calc_decimal(0x1p-1074, text));
    ck_assert(!calc_decimal(0.25, text));
    ck_assert(!calc_decimal(0x1p53, text));
}

CALC_TEST_LOOP(rounded_texts_are_those_of_printf, 1, 18)
{
    calc_rng rng;
    calc_rng_init(&rng, 3, (uint64_t)_i);
    const double fixed[] = {0,         -0.0,           1,    -1,   9.5,  0.5,  99.5, 0.25,  2.5,
                            1e9 - 0.5, 123456789012.0, 1e15, 1e16, 1e-4, 1e-5, 0.1,  9e-11, 1e37,
                            NAN,       0x1p53,         1e300};
    for (int i = 0; i < sample_of(RANDOM / 10); i++) {
        char want[CALC_DECIMAL_SIZE], got[CALC_DECIMAL_SIZE];
        double value = ldexp(1 + calc_rng_real(&rng), (int)calc_rng_below(&rng, 170) - 40);
        value = i < (int)(sizeof fixed / sizeof *fixed) ? fixed[i]
                : i % 3                                 ? value
                                                        : floor(value) / 8;
        snprintf(want, sizeof want, "%.*g", _i, value);
        ck_assert_str_eq(calc_decimal_rounded(value, _i, got), want);
    }
}

CALC_TEST(numbers_are_read_as_they_are_written_or_not_at_all)
{
    static const struct {
        const char *text;
        bool whole;
        double lo, hi, is; /* NAN: refused */
    } cases[] = {{"0", true, 0, 10, 0},
                 {"10", true, 0, 10, 10},
                 {"11", true, 0, 10, NAN},
                 {"-1", true, 0, 10, NAN},
                 {"-1", true, -1, 10, -1},
                 {"-0", true, 0, 10, NAN},
                 {"007", true, 0, 10, NAN},
                 {"2.5", true, 0, 10, NAN},
                 {"1e1", true, 0, 10, NAN},
                 {"2.5", false, 0, 10, 2.5},
                 {"1e1", false, 0, 10, 10},
                 {"1E+1", false, 0, 10, 10},
                 {".5", false, 0, 10, 0.5},
                 {"5.", false, 0, 10, 5},
                 {"+5", false, 0, 10, NAN},
                 {"-.5", false, -1, 10, -.5},
                 {"-+5", false, -9, 10, NAN},
                 {"--5", false, -9, 10, NAN},
                 {"", false, 0, 10, NAN},
                 {"-", true, -1, 10, NAN},
                 {"-", false, -1, 10, NAN},
                 {" 5", false, 0, 10, NAN},
                 {"5 ", true, 0, 10, NAN},
                 {"0x5", false, 0, 10, NAN},
                 {"nan", false, 0, 10, NAN},
                 {"inf", false, 0, INFINITY, NAN},
                 {"1e999", false, 0, INFINITY, NAN},
                 {"1e5", false, 0, INFINITY, 1e5},
                 {"1e", false, 0, 10, NAN},
                 {"1.2.3", false, 0, 10, NAN}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        double is = -7;
        bool fine = calc_decimal_read(cases[i].text, cases[i].whole, cases[i].lo, cases[i].hi, &is);
        ck_assert_msg(fine == !isnan(cases[i].is), "\"%s\"", cases[i].text);
        ck_assert_msg(is == (fine ? cases[i].is : -7), "\"%s\" is %g", cases[i].text, is);
    }
}

CALC_TEST(a_text_begins_with_a_decimal_number_or_with_none)
{
    static const struct {
        const char *text;
        double is;
        size_t length; /* 0: none */
    } cases[] = {{"8", 8, 1},     {"8 x", 8, 1},    {"-8,2", -8, 2},    {"8e2k", 800, 3},
                 {".5]", 0.5, 2}, {"-.5", -0.5, 3}, {"5.GiB", 5, 2},    {"0", 0, 1},
                 {"08", 0, 0},    {"1e", 1, 1},     {" 8", 0, 0},       {"+8", 0, 0},
                 {"0x8", 0, 0},   {"-0X8", 0, 0},   {"--8", 0, 0},      {"", 0, 0},
                 {"-", 0, 0},     {".", 0, 0},      {"-.", 0, 0},       {"..5", 0, 0},
                 {"inf", 0, 0},   {"-nan", 0, 0},   {"infinity", 0, 0}, {"e5", 0, 0}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char *end;
        double is = calc_decimal_at(cases[i].text, &end);
        ck_assert_msg(is == cases[i].is && end == cases[i].text + cases[i].length,
                      "\"%s\": %g and \"%s\"", cases[i].text, is, end);
    }
}
