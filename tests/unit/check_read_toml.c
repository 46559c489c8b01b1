#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "formats/read.h"
#include "frame.h"

const calc_test_frame calc_tests = {.timeout_s = 60};

/* Read a text as "key=value;" in order. */
static void reads(const char *text, const char *expected)
{
    calc_settings settings = {0};
    calc_errors errors = {0};
    char found[1024] = "";
    ck_assert_msg(calc_settings_from_toml(&settings, text, strlen(text), "t.toml", &errors) ==
                      CALC_OK,
                  "%s", errors.item[0].text);
    for (size_t i = 0; i < settings.count; i++) {
        size_t used = strlen(found);
        snprintf(found + used, sizeof found - used, "%s=%s;", settings.item[i].key,
                 settings.item[i].value);
    }
    ck_assert_str_eq(found, expected);
    calc_settings_free(&settings);
}

static void fails(const char *text, const char *printed)
{
    calc_settings settings = {0};
    calc_errors errors = {0};
    char line[512];
    ck_assert_int_eq(calc_settings_from_toml(&settings, text, strlen(text), "t.toml", &errors),
                     CALC_ERR_SYNTAX);
    ck_assert_int_eq(errors.count, 1);
    calc_error_print(&errors.item[0], line, sizeof line);
    ck_assert_str_eq(line, printed);
    calc_settings_free(&settings);
}

CALC_TEST(tables_and_keys_become_dotted_keys)
{
    reads("", "");
    reads("a = 1\n[b]\nc = 2\nd.e = 3\n[b.f]\ng = 4 # five\n[ h . \"i\" ]\nj = 6",
          "a=1;b.c=2;b.d.e=3;b.f.g=4;h.i.j=6;");
    reads("\r\n# nothing\r\n[a]\r\nb = true\r\n", "a.b=true;");
}

CALC_TEST(values_lose_their_quotes_and_underscores)
{
    reads("a = \"x y\"\nb = 'C:\\z'\nc = \"\"\nd = 1_000\ne = -1.5e3\nf = 1979-05-27",
          "a=x y;b=C:\\z;c=;d=1000;e=-1.5e3;f=1979-05-27;");
    reads("a = \"\"\"one\ntwo\"\"\"\nb = '''q'''\nc = \"an \\\" end\" # \"",
          "a=one\ntwo;b=q;c=an \\\" end;");
}

CALC_TEST(arrays_are_lists_of_their_items)
{
    reads("a = [1, 2,\n  # three\n 3,\n]\nb = []\nc = [\"x\", 'y']\nd = [[1, 2], [3]]",
          "a=1 2 3;b=;c=x y;d=1 2 3;");
}

CALC_TEST(what_is_deeper_is_passed_over)
{
    reads("a = {b = 1, c = \"}\"}\nd = [{e = 1}, 2]", "a=;d=2;");
    reads("[[a]]\nb = 1\nc = [2]\n[[a]]\nb = 3\n[d]\ne = 4", "d.e=4;");
}

CALC_TEST(places_are_those_of_the_keys)
{
    const char *text = "[a]\n\n  b = \"\"\"\n\n\"\"\"\nc = 1";
    calc_settings settings = {0};
    ck_assert_int_eq(calc_settings_from_toml(&settings, text, strlen(text), "", NULL), CALC_OK);
    ck_assert_uint_eq(settings.count, 2);
    ck_assert_int_eq(settings.item[0].line, 3);
    ck_assert_int_eq(settings.item[0].column, 3);
    ck_assert_int_eq(settings.item[1].line, 6);
    ck_assert_int_eq(settings.item[1].column, 1);
    calc_settings_free(&settings);
}

CALC_TEST(errors_name_their_place)
{
    fails("a", "t.toml:1:2: expected = after a key");
    fails("a = 1\n= 2", "t.toml:2:1: expected the name of a key");
    fails("a =", "t.toml:1:4: expected a value");
    fails("a = \nb = 1", "t.toml:1:5: expected a value");
    fails("a = 1 2", "t.toml:1:7: expected the end of the line");
    fails("a = \"b\nc = 1", "t.toml:1:5: this text has no closing quote");
    fails("a = '''b", "t.toml:1:5: this text has no closing quote");
    fails("\na = [1, 2\n", "t.toml:2:5: this array has no closing bracket");
    fails("a = {b = 1", "t.toml:1:5: this table has no closing brace");
    fails("[a\nb = 1", "t.toml:1:3: expected ] after the name of a table");
    fails("[[a]\nb = 1", "t.toml:1:4: expected ] after the name of a table");
    fails("\"a = 1", "t.toml:1:7: expected the name of a key");
}

CALC_TEST(keys_have_a_limit)
{
    char text[700];
    memset(text, 'k', sizeof text);
    snprintf(text + 600, sizeof text - 600, " = 1");
    fails(text, "t.toml:1:601: the keys above this place are too long");
    snprintf(text + 512, sizeof text - 512, " = 1");
    calc_settings settings = {0};
    ck_assert_int_eq(calc_settings_from_toml(&settings, text, strlen(text), "", NULL), CALC_OK);
    calc_settings_free(&settings);
}

CALC_TEST(more_keys_than_a_configuration_has_are_refused)
{
    enum { MOST = 100000 };
    char *text = calloc(4 * (MOST + 1) + 1, 1);
    for (int i = 0; i <= MOST; i++) {
        memcpy(text + 4 * i, "a=1\n", 4);
    }
    calc_settings settings = {0};
    calc_errors errors = {0};
    ck_assert_int_eq(calc_settings_from_toml(&settings, text, strlen(text), "t.toml", &errors),
                     CALC_ERR_SYNTAX);
    ck_assert_str_eq(errors.item[0].text, "more than 100000 keys");
    ck_assert_int_eq(errors.item[0].line, MOST + 1);
    calc_settings_free(&settings);
    free(text);
}
