#include "formats/read.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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

START_TEST(nested_keys_get_dots)
{
    ck_assert_str_eq(said("a:\n  b: 1\n  c:\n    d: two\n  e: 3\nf: 4\n"),
                     "a.b=1;a.c.d=two;a.e=3;f=4;");
    ck_assert_str_eq(said("---\na:\n      b: 1\nc: 2"), "a.b=1;c=2;");
    ck_assert_str_eq(said("a: x:y\nb: http://z\r\n"), "a=x:y;b=http://z;");
    ck_assert_str_eq(said(""), "");
}
END_TEST

START_TEST(comments_quotes_and_null_are_understood)
{
    ck_assert_str_eq(said("a: 1 # one\n# b: 2\nc: 'x # y'\nd: \"z\"\n"), "a=1;c=x # y;d=z;");
    ck_assert_str_eq(said("a: null\nb: ~\nc:\nd: nullable"), "d=nullable;");
    ck_assert_str_eq(said("a: &x 8\nb: !!int 9\n"), "a=8;b=9;");
}
END_TEST

START_TEST(lists_of_scalars_are_values)
{
    ck_assert_str_eq(said("a: [1, 2, 'x']\nb: 3"), "a=1 2 x;b=3;");
    ck_assert_str_eq(said("a: [1,\n    [2, 3],\n  ]\nb: 4"), "a=1 2 3;b=4;");
    ck_assert_str_eq(said("a:\n  - 1\n  - two\nb: 3"), "a=1 two;b=3;");
    ck_assert_str_eq(said("a:\n- 1\n- 2\nb: 3"), "a=1 2;b=3;");
}
END_TEST

START_TEST(what_is_deeper_in_a_list_is_passed_over)
{
    ck_assert_str_eq(said("a:\n  - type: x\n    n: 1\n  - type: y\nb: 3"), "b=3;");
    ck_assert_str_eq(said("a: |\n  b: 1\n  c\nd: 2"), "d=2;");
}
END_TEST

START_TEST(lines_that_are_no_yaml_have_a_place)
{
    fails("a: 1\n  just words\n", "f.yaml:2:3: expected \"key: value\"");
    fails("a:\n\tb: 1\n", "f.yaml:2:1: a tab cannot indent");
    fails(": 1\n", "f.yaml:1:1: expected \"key: value\"");
}
END_TEST

START_TEST(depth_has_a_limit)
{
    char yaml[4096] = "";
    for (int i = 0; i < 17; i++) {
        size_t length = strlen(yaml);
        snprintf(yaml + length, sizeof yaml - length, "%*sk:\n", i, "");
    }
    fails(yaml, "f.yaml:17:17: nested too deeply");
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("read_yaml");
    TCase *tests = tcase_create("read_yaml");
    tcase_set_timeout(tests, 60);
    tcase_add_test(tests, nested_keys_get_dots);
    tcase_add_test(tests, comments_quotes_and_null_are_understood);
    tcase_add_test(tests, lists_of_scalars_are_values);
    tcase_add_test(tests, what_is_deeper_in_a_list_is_passed_over);
    tcase_add_test(tests, lines_that_are_no_yaml_have_a_place);
    tcase_add_test(tests, depth_has_a_limit);
    suite_add_tcase(suite, tests);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_NORMAL);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
