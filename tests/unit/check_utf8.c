#include "io/utf8.h"

#include <string.h>

#include "frame.h"

CALC_TEST(characters_of_one_to_four_bytes_are_measured)
{
    ck_assert_uint_eq(calc_utf8_length("a", 1), 1);
    ck_assert_uint_eq(calc_utf8_length("\0", 1), 1);
    ck_assert_uint_eq(calc_utf8_length("\xc3\xa4", 2), 2);
    ck_assert_uint_eq(calc_utf8_length("\xe2\x82\xac", 3), 3);
    ck_assert_uint_eq(calc_utf8_length("\xf0\x9f\x98\x80", 4), 4);
    ck_assert_uint_eq(calc_utf8_length("\xed\x9f\xbf", 3), 3);     /* U+D7FF */
    ck_assert_uint_eq(calc_utf8_length("\xf4\x8f\xbf\xbf", 4), 4); /* U+10FFFF */
}

CALC_TEST(what_is_not_utf8_has_no_length)
{
    ck_assert_uint_eq(calc_utf8_length("", 0), 0);
    ck_assert_uint_eq(calc_utf8_length("\x80", 1), 0);
    ck_assert_uint_eq(calc_utf8_length("\xff", 1), 0);
    ck_assert_uint_eq(calc_utf8_length("\xc0\x80", 2), 0);         /* overlong */
    ck_assert_uint_eq(calc_utf8_length("\xe0\x9f\xbf", 3), 0);     /* overlong */
    ck_assert_uint_eq(calc_utf8_length("\xf0\x8f\xbf\xbf", 4), 0); /* overlong */
    ck_assert_uint_eq(calc_utf8_length("\xed\xa0\x80", 3), 0);     /* surrogate */
    ck_assert_uint_eq(calc_utf8_length("\xf4\x90\x80\x80", 4), 0); /* above U+10FFFF */
    ck_assert_uint_eq(calc_utf8_length("\xe2\x82\xac", 2), 0);     /* cut off */
    ck_assert_uint_eq(calc_utf8_length("\xc3(", 2), 0);
}

CALC_TEST(shown_text_stays_in_one_line)
{
    char shown[CALC_UTF8_SHOW_SIZE];
    ck_assert_str_eq(calc_utf8_show(shown, "caf\xc3\xa9", 5), "caf\xc3\xa9");
    ck_assert_str_eq(calc_utf8_show(shown, "a\nb\x7f\xff", 5), "a\\x0ab\\x7f\\xff");
    ck_assert_str_eq(calc_utf8_show(shown, "a\0b", 3), "a\\x00b");
    ck_assert_str_eq(calc_utf8_show(shown, "", 0), "");
}

CALC_TEST(shown_text_is_cut_between_characters)
{
    char shown[CALC_UTF8_SHOW_SIZE];
    char text[200];
    memset(text, 'x', sizeof text);
    calc_utf8_show(shown, text, 60);
    ck_assert_uint_eq(strlen(shown), 60);
    ck_assert_ptr_null(strchr(shown, '.'));
    calc_utf8_show(shown, text, 61);
    ck_assert_uint_eq(strlen(shown), 63);
    ck_assert_str_eq(shown + 60, "...");
    memcpy(text + 58, "\xe2\x82\xac", 3);
    calc_utf8_show(shown, text, sizeof text);
    ck_assert_str_eq(shown + 57, "x...");
}
