#include "formats/yaml_edit.h"

#include <string.h>

#include "formats/read.h"
#include "frame.h"

#include <stdio.h>

const calc_test_frame calc_tests = {.timeout_s = 60};

static void edits(const char *text, const char *key, const char *value, const char *expected)
{
    const calc_yaml_edit edit = {key, value};
    calc_text out = {0};
    calc_errors errors = {0};
    calc_status status = calc_yaml_edit_text(text, strlen(text), "file", &edit, 1, &out, &errors);
    ck_assert_msg(status == CALC_OK, "%s: %s", text, errors.item[0].text);
    ck_assert_str_eq(out.data, expected);
    ck_assert_uint_eq(out.length, strlen(expected));
    calc_text_free(&out);
}

static void fails(const char *text, const char *key, const char *printed)
{
    const calc_yaml_edit edit = {key, "1"};
    calc_text out = {0};
    calc_errors errors = {0};
    char line[1024];
    ck_assert_int_ne(calc_yaml_edit_text(text, strlen(text), "file", &edit, 1, &out, &errors),
                     CALC_OK);
    ck_assert_ptr_null(out.data);
    calc_error_print(&errors.item[0], line, sizeof line);
    ck_assert_str_eq(line, printed);
}

CALC_TEST(only_the_value_changes)
{
    edits("# head\na:   16   # why\nb: {x: 1, y: 2}\n", "a", "3",
          "# head\na:   3   # why\nb: {x: 1, y: 2}\n");
    edits("a: 'x: # y'\n", "a", "z", "a: z\n");
    edits("a: 1\nb:\n  a: 2\n  c: 3\n", "b.a", "[1, 0]", "a: 1\nb:\n  a: [1, 0]\n  c: 3\n");
    edits("a: [1,\n  2] # two\nb: 3\n", "a", "0", "a: 0 # two\nb: 3\n");
    edits("b: {x: 1, y: 2}\n", "b.y", "[3]", "b: {x: 1, y: [3]}\n");
    edits("a: 1\r\nb: 2\r\n", "a", "9", "a: 9\r\nb: 2\r\n");
    edits("a: 1", "a", "2", "a: 2");
}

CALC_TEST(places_are_bytes_behind_wide_characters)
{
    edits("# \xE6\xB3\xA8\xE9\x87\x8A\na: \"\xE5\x80\xBC\" # \xE2\x82\xAC\nb: 2\n", "b", "3",
          "# \xE6\xB3\xA8\xE9\x87\x8A\na: \"\xE5\x80\xBC\" # \xE2\x82\xAC\nb: 3\n");
    edits("\xEF\xBB\xBF"
          "a: 1\nb: 2\n",
          "b", "3",
          "\xEF\xBB\xBF"
          "a: 1\nb: 3\n");
}

CALC_TEST(values_below_their_key_go_beside_it)
{
    edits("a: # lists\n  - 1\n  - 2 # last\n\n# next\nb: 3\n", "a", "[5]",
          "a: [5] # lists\n\n# next\nb: 3\n");
    edits("a:\n- 1\n- 2\nb: 3\n", "a", "7", "a: 7\nb: 3\n");
    edits("a:\n  x: 1\n  y: 2\n", "a", "no", "a: no\n");
    edits("a: |\n  text\n  more\nb: 1\n", "a", "x", "a: x\nb: 1\n");
}

CALC_TEST(values_elsewhere_are_replaced_where_they_are)
{
    edits("? a\n: 1 # x\nb: 2\n", "a", "7", "? a\n: 7 # x\nb: 2\n");
    edits("{a:\n  1, b: 2,\n c: 3}\n", "a", "7", "{a:\n  7, b: 2,\n c: 3}\n");
    edits("\"a\" : [1,\n2] # x\n", "a", "7", "\"a\" : 7 # x\n");
    edits("a: !!seq\n  - 1\nb: 2\n", "a", "7", "a: 7\nb: 2\n");
    edits("--- # one\na: 1\n", "b", "7", "--- # one\na: 1\nb: 7\n");
}

CALC_TEST(keys_that_are_not_there_are_added_at_the_end_of_their_mapping)
{
    edits("a: 1\n", "b", "2", "a: 1\nb: 2\n");
    edits("a: 1", "b", "2", "a: 1\nb: 2");
    edits("m:\n    x: 1 # one\n\nb: 2\n", "m.y", "3", "m:\n    x: 1 # one\n    y: 3\n\nb: 2\n");
    edits("m: {x: 1}\n", "m.y", "3", "m: {x: 1, y: 3}\n");
    edits("m: {}\n", "m.y", "3", "m: {y: 3}\n");
    edits("a: 1\n", "m.n.y", "3", "a: 1\nm: {n: {y: 3}}\n");
    edits("m:\nb: 1\n", "m.y", "3", "m: {y: 3}\nb: 1\n");
    edits("m:\n  x:\n    - 1\n    - 2\nb: 1\n", "m.y", "3",
          "m:\n  x:\n    - 1\n    - 2\n  y: 3\nb: 1\n");
}

CALC_TEST(a_mapping_may_stand_far_to_the_right)
{
    char text[512], expected[1024];
    snprintf(text, sizeof text, "%*s: 1\n", 300, "a");
    snprintf(expected, sizeof expected, "%*s: 1\n%*s: 2\n", 300, "a", 300, "b");
    edits(text, "b", "2", expected);
}

CALC_TEST(anchors_stay_and_aliases_go)
{
    edits("a: &dp 16\nb: *dp\n", "a", "8", "a: &dp 8\nb: *dp\n");
    edits("a: &dp 16\nb: *dp\n", "b", "8", "a: &dp 16\nb: 8\n");
}

CALC_TEST(empty_values_get_one_and_the_last_of_equal_keys_counts)
{
    edits("a:\nb: 1\n", "a", "2", "a: 2\nb: 1\n");
    edits("a: null\n", "a", "2", "a: 2\n");
    edits("a: 1\na: 2\n", "a", "3", "a: 1\na: 3\n");
    edits("m: {x: 1}\nm: {y: 2}\n", "m.x", "3", "m: {x: 1}\nm: {y: 2, x: 3}\n");
}

CALC_TEST(several_edits_follow_each_other)
{
    const calc_yaml_edit all[] = {{"a", "[1, 2, 3]"}, {"c", "4"}, {"b", "5"}};
    const char text[] = "a: 1 # x\nb: 2 # y\n";
    calc_text out = {0};
    calc_errors errors = {0};
    ck_assert_int_eq(calc_yaml_edit_text(text, strlen(text), "f", all, 3, &out, &errors), CALC_OK);
    ck_assert_str_eq(out.data, "a: [1, 2, 3] # x\nb: 5 # y\nc: 4\n");
    calc_text_free(&out);
}

CALC_TEST(what_cannot_be_edited_is_refused_with_its_place)
{
    fails("a: 1\n", "a.b", "file:1:4: a: expected keys below it, to put b there");
    fails("a: [1\n", "b",
          "file:2:1: did not find expected ',' or ']' while parsing a flow sequence");
    fails("{b}\n", "b",
          "file:1:1: b cannot be changed in this text\n"
          "  hint: write each key on a line of its own, and its value beside it");
    fails("? b\n", "b",
          "file:1:1: b cannot be changed in this text\n"
          "  hint: write each key on a line of its own, and its value beside it");
    fails("- 1\n", "b", "file:1:1: expected \"key: value\"");
    fails("", "b", "file:1:1: expected \"key: value\", to put b there");
    fails("\xFF\xFE"
          "a",
          "b", "file:1:1: expected UTF-8");
}
