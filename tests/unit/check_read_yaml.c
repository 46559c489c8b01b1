#include "formats/read.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "frame.h"

/* What a file says, as "key=value;..."; keys without a value are left out. */
static const char *said(const char *yaml)
{
    static char text[8192];
    calc_settings settings = {0};
    calc_errors errors = {0};
    ck_assert_int_eq(calc_settings_from_yaml(&settings, yaml, strlen(yaml), "f", &errors), CALC_OK);
    text[0] = '\0';
    for (size_t i = 0; i < settings.count; i++) {
        const calc_setting *setting = &settings.item[i];
        if (setting->value[0]) {
            strcat(strcat(strcat(strcat(text, setting->key), "="), setting->value), ";");
        }
    }
    calc_settings_free(&settings);
    return text;
}

static void fails(const char *yaml, const char *printed)
{
    calc_settings settings = {0};
    calc_errors errors = {0};
    char line[512];
    ck_assert_int_eq(calc_settings_from_yaml(&settings, yaml, strlen(yaml), "f.yaml", &errors),
                     CALC_ERR_SYNTAX);
    ck_assert_int_eq(errors.count, 1);
    calc_error_print(&errors.item[0], line, sizeof line);
    ck_assert_str_eq(line, printed);
    calc_settings_free(&settings);
}

CALC_TEST(nested_keys_get_dots)
{
    ck_assert_str_eq(said("a:\n  b: 1\n  c:\n    d: two\n  e: 3\nf: 4\n"),
                     "a.b=1;a.c.d=two;a.e=3;f=4;");
    ck_assert_str_eq(said("---\na:\n      b: 1\nc: 2"), "a.b=1;c=2;");
    ck_assert_str_eq(said("a: x:y\nb: http://z\r\n"), "a=x:y;b=http://z;");
    ck_assert_str_eq(said(""), "");
}

CALC_TEST(comments_quotes_and_null_are_understood)
{
    ck_assert_str_eq(said("a: 1 # one\n# b: 2\nc: 'x # y'\nd: \"z\"\n"), "a=1;c=x # y;d=z;");
    ck_assert_str_eq(said("a: null\nb: ~\nc:\nd: nullable\nnull: 1"), "d=nullable;null=1;");
    ck_assert_str_eq(said("a: &x 8\nb: !!int 9\nc: *x\nd: *y\n"), "a=8;b=9;c=8;d=*y;");
    ck_assert_str_eq(said("a: 'null'\n'b c': 'it''s'\nd: \"\\\"x\\\" \\u00e4\"\n"),
                     "a=null;b c=it's;d=\"x\" \xC3\xA4;");
}

/* https://yaml.org/type/merge.html: what a mapping says itself counts more. */
CALC_TEST(aliases_are_what_they_stand_for)
{
    ck_assert_str_eq(said("x: &b\n  p: 1\n  q: {r: [2, 3]}\ny:\n  <<: *b\n  p: 4\nz: *b\n"),
                     "x.p=1;x.q.r=2 3;y.q.r=2 3;y.p=4;z.p=1;z.q.r=2 3;");
    ck_assert_str_eq(said("x: &b {p: 1}\ny: &c {q: 2}\n<<: [*b, *c]\nl: &l [7, 8]\nm: *l\n"),
                     "x.p=1;y.q=2;p=1;q=2;l=7 8;m=7 8;");
    ck_assert_str_eq(said("x: &b\n  y: *b\n"), "x.y=*b;"); /* it stands for itself */
}

/* YAML 1.1, as PyYAML reads it. */
CALC_TEST(numbers_may_be_parted)
{
    ck_assert_str_eq(said("a: 500_000\nb: [1_0, 2]\nc: '1_0'\nd: 1_0b\n1_0: x"),
                     "a=500000;b=10 2;c=1_0;d=1_0b;1_0=x;");
}

CALC_TEST(lists_of_scalars_are_values)
{
    ck_assert_str_eq(said("a: [1, 2, 'x']\nb: 3"), "a=1 2 x;b=3;");
    ck_assert_str_eq(said("a: [1,\n    [2, 3],\n  ]\nb: 4"), "a=1 2 3;b=4;");
    ck_assert_str_eq(said("a:\n  - 1\n  - two\nb: 3"), "a=1 two;b=3;");
    ck_assert_str_eq(said("a:\n- 1\n- 2\nb: 3"), "a=1 2;b=3;");
    ck_assert_str_eq(said("a:\n- [1, 2]\n-\n  - 3\n  - [4]\n- ~\n- ''\nb: 5"), "a=1 2 3 4;b=5;");
}

/* A bracket, a comma or a colon in quotes is a letter like others, in lists and outside. */
CALC_TEST(quoted_text_is_kept_whole)
{
    ck_assert_str_eq(said("a: '[0]*3+[1]*58'\nb: 1"), "a=[0]*3+[1]*58;b=1;");
    ck_assert_str_eq(said("a: ['[x, y', \"z]\", 'u: v']\nb: 1"), "a=[x, y z] u: v;b=1;");
    ck_assert_str_eq(said("a:\n  - '{x, y'\n  - \"#z\"\nb: 1"), "a={x, y #z;b=1;");
    ck_assert_str_eq(said("a: ([0]*3+[1]*58)\n'b: c, [d': 1"), "a=([0]*3+[1]*58);b: c, [d=1;");
}

CALC_TEST(mappings_may_be_in_braces_and_texts_over_lines)
{
    ck_assert_str_eq(said("a: {b: 1, c: {d: [2, 3]}, e: }\nf: 4"), "a.b=1;a.c.d=2 3;f=4;");
    ck_assert_str_eq(said("a: one\n  two\nb: >-\n  three\n  four\nc: |\n  d: 1\n  e\nf: 2"),
                     "a=one two;b=three four;c=d: 1\ne\n;f=2;");
    ck_assert_str_eq(said("a: 1\n---\nb: 2\n...\n"), "a=1;b=2;");
    ck_assert_str_eq(said("# nothing\n---\n"), "");
}

CALC_TEST(what_is_deeper_in_a_list_is_passed_over)
{
    ck_assert_str_eq(said("a:\n  - type: x\n    n: 1\n  - type: y\nb: 3"), "b=3;");
    ck_assert_str_eq(said("a: [1, {x: [2, {y: 3}], z: 4}, 5]\nb: 6"), "a=1 5;b=6;");
}

CALC_TEST(lines_that_are_no_yaml_have_a_place)
{
    fails("*x\n", "f.yaml:1:1: expected \"key: value\"");
    fails("just words\n", "f.yaml:1:1: expected \"key: value\"");
    fails("# a list\n- 1\n", "f.yaml:2:1: expected \"key: value\"");
    fails("a:\n  b: 1\n : 1\n", "f.yaml:3:2: did not find expected key while parsing a block "
                                "mapping\n  hint: keys of one level are indented alike");
    fails("a: 1\njust words\n", "f.yaml:3:1: could not find expected ':' while scanning a simple "
                                "key\n  hint: a key ends with a colon and a blank");
    fails("a:\n\tb: 1\n",
          "f.yaml:2:1: found character that cannot start any token while scanning for the next "
          "token\n  hint: a tab cannot indent; a text that begins with %, @ or ` stands in quotes");
    fails("a: b: 1\n", "f.yaml:1:5: mapping values are not allowed in this context\n"
                       "  hint: keys of one level are indented alike; a text with a colon and "
                       "a blank stands in quotes");
    fails("a: [1, 2\nb: 3\n", "f.yaml:2:2: did not find expected ',' or ']' while parsing a flow "
                              "sequence");
    fails("\"\": 1\n", "f.yaml:1:1: expected \"key: value\"");
    fails("[a, b]: 1\n", "f.yaml:1:1: expected \"key: value\"");
    fails("a: 1\nb: \xE4\n", "f.yaml:2:4: incomplete UTF-8 octet sequence");
}

CALC_TEST(depth_has_a_limit)
{
    char yaml[4096] = "";
    for (int i = 0; i < 17; i++) {
        size_t length = strlen(yaml);
        snprintf(yaml + length, sizeof yaml - length, "%*sk:\n", i, "");
    }
    fails(yaml, "f.yaml:17:17: nested too deeply");
}

/* libyaml takes a minute for them, which is ours to prevent. */
CALC_TEST(a_hundred_thousand_brackets_end_quickly)
{
    enum { MANY = 100000 };
    char *yaml = calloc(MANY + 1, 1);
    memset(yaml, '[', MANY);
    memcpy(yaml, "a: ", 3);
    fails(yaml, "f.yaml:1:259: nested too deeply"); /* the mapping, and 255 lists */
    memset(yaml + 3 + 255, ']', 255);
    yaml[3 + 255 + 255] = '\0';
    ck_assert_str_eq(said(yaml), "");
    free(yaml);
}

CALC_TEST(a_hundred_thousand_keys_are_read_and_no_more)
{
    enum { MOST = 100000 };
    char *yaml = calloc(5 * (MOST + 1) + 1, 1);
    for (int i = 0; i <= MOST; i++) {
        memcpy(yaml + 5 * i, "a: 1\n", 5);
    }
    fails(yaml, "f.yaml:100001:1: more than 100000 keys");
    yaml[5 * MOST] = '\0';
    calc_settings settings = {0};
    ck_assert_int_eq(calc_settings_from_yaml(&settings, yaml, strlen(yaml), "f", NULL), CALC_OK);
    ck_assert_uint_eq(settings.count, MOST);
    calc_settings_free(&settings);
    free(yaml);
}
