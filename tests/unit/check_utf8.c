#include "io/utf8.h"

#include <stdbool.h>
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

static void append(void *text, const char *bytes, size_t length)
{
    strncat(text, bytes, length);
}

/* What a terminal is given for a text. */
static const char *given(const char *text)
{
    static char out[256];
    out[0] = '\0';
    calc_utf8_for_terminal(text, strlen(text), append, out);
    return out;
}

CALC_TEST(no_text_commands_a_terminal)
{
    ck_assert_str_eq(given("a\tb\n"), "a\tb\n");
    ck_assert_str_eq(given("caf\xc3\xa9 \xe2\x96\x88 \xf0\x9f\x98\x80"),
                     "caf\xc3\xa9 \xe2\x96\x88 \xf0\x9f\x98\x80");
    ck_assert_str_eq(given("\x1b[2Ja\rb\x7f\b"), "\\x1b[2Ja\\x0db\\x7f\\x08");
    ck_assert_str_eq(given("\xc2\x9b"
                           "31m"),
                     "\\xc2\\x9b31m"); /* U+009B is ESC [ */
    ck_assert_str_eq(given("\xc2\xa0"), "\xc2\xa0");
    ck_assert_str_eq(given("\xff\xc3"), "\\xff\\xc3");
    ck_assert_str_eq(given(""), "");
}

CALC_TEST(no_text_changes_the_direction_of_what_follows)
{
    static const struct {
        unsigned first, last;
    } ranges[] = {{0x61c, 0x61c}, {0x200e, 0x200f}, {0x202a, 0x202e}, {0x2066, 0x2069}};
    for (unsigned c = 0x600; c < 0x2100; c++) {
        char text[4] = {0};
        size_t step;
        bool hostile = false;
        for (size_t i = 0; i < sizeof ranges / sizeof *ranges; i++) {
            hostile |= c >= ranges[i].first && c <= ranges[i].last;
        }
        text[0] = (char)(c < 0x800 ? 0xc0 | c >> 6 : 0xe0 | c >> 12);
        text[1] = (char)(0x80 | (c < 0x800 ? c & 0x3f : c >> 6 & 0x3f));
        text[2] = c < 0x800 ? '\0' : (char)(0x80 | (c & 0x3f));
        ck_assert_msg((calc_utf8_hostile(text, 3, &step) > 0) == hostile, "U+%04X", c);
        ck_assert_uint_eq(step, c < 0x800 ? 2 : 3);
    }
    ck_assert_str_eq(given("a\xe2\x80\xae"
                           "b"),
                     "a\\xe2\\x80\\xaeb");
    char shown[CALC_UTF8_SHOW_SIZE];
    ck_assert_str_eq(calc_utf8_show(shown,
                                    "a\xe2\x80\xae"
                                    "b",
                                    5),
                     "a\\xe2\\x80\\xaeb");
}
