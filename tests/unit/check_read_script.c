#include "formats/read.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What a script says, as "key=value;key;..." */
static const char *said(const char *script)
{
    static char text[8192];
    calc_settings settings = {0};
    ck_assert_int_eq(calc_settings_from_script(&settings, script, strlen(script)), CALC_OK);
    text[0] = '\0';
    for (size_t i = 0; i < settings.count; i++) {
        const calc_setting *setting = &settings.item[i];
        strcat(strcat(text, setting->key), setting->value[0] ? "=" : "");
        strcat(strcat(text, setting->value), ";");
    }
    calc_settings_free(&settings);
    return text;
}

START_TEST(words_after_an_option_are_its_value)
{
    const char *words[] = {"torchrun",  "--nnodes",  "2", "pretrain.py",
                           "--bf16",    "--modules", "a", "b",
                           "--lr=1e-3", "--offset",  "-1"};
    calc_settings settings = {0};
    ck_assert_int_eq(calc_settings_from_words(&settings, words, 11), CALC_OK);
    ck_assert_uint_eq(settings.count, 5);
    ck_assert_str_eq(settings.item[0].value, "2 pretrain.py");
    ck_assert_int_eq(settings.item[0].argument, 2);
    ck_assert_str_eq(settings.item[1].key, "--bf16");
    ck_assert_str_eq(settings.item[1].value, "");
    ck_assert_str_eq(settings.item[2].value, "a b");
    ck_assert_str_eq(settings.item[3].key, "--lr");
    ck_assert_str_eq(settings.item[3].value, "1e-3");
    ck_assert_str_eq(settings.item[4].value, "-1");
    calc_settings_free(&settings);
}
END_TEST

START_TEST(lines_comments_and_arrays_are_read)
{
    ck_assert_str_eq(said("--a 1 \\\n --b 2 # --c 3\n#--d\nX=(\n --e 5\n --f\n)\n"),
                     "--a=1;--b=2;--e=5;--f;");
    ck_assert_str_eq(said("torchrun $X --a#b 1"), "--a#b=1;");
    ck_assert_str_eq(said(""), "");
    ck_assert_str_eq(said("no options"), "");
}
END_TEST

START_TEST(quotes_keep_values_together_and_options_apart)
{
    ck_assert_str_eq(said("--a '([0]*3+[1]*5)' --b \"x y\""), "--a=([0]*3+[1]*5);--b=x y;");
    ck_assert_str_eq(said("ARGS=\"\n  --a 1 --b 2\n\"\nARGS='--c'"), "--a=1;--b=2;--c;");
    ck_assert_str_eq(said("--a \"--b 1 --c '[2]'\" 3"), "--a;--b=1;--c=[2] 3;");
    ck_assert_str_eq(said("--a 'never closed"), "--a=never closed;");
    ck_assert_str_eq(said("--a \\$X"), "--a=$X;");
}
END_TEST

START_TEST(variables_of_the_text_are_filled_in)
{
    ck_assert_str_eq(said("TP=8\nPP=\"2\"\n--a $TP --b ${PP} --c=$TP$PP"), "--a=8;--b=2;--c=82;");
    ck_assert_str_eq(said("A=1; B=$A\nA=3\n--a $B"), "--a=1;");
    ck_assert_str_eq(said("A=${A:-\"4\"}\n--a $A --b ${B:-5}"), "--a=4;--b=5;");
    ck_assert_str_eq(said("--a $UNKNOWN --b ${ALSO} --c $((2*3))"),
                     "--a=$UNKNOWN;--b=${ALSO};--c=$ 2*3;");
    ck_assert_str_eq(said("A=1\n--a '$A' --b \"$A\""), "--a=$A;--b=1;");
}
END_TEST

START_TEST(places_are_those_of_the_options)
{
    const char *script = "X=1\n  --a \\\n     --b $X\n";
    calc_settings settings = {0};
    ck_assert_int_eq(calc_settings_from_script(&settings, script, strlen(script)), CALC_OK);
    ck_assert_uint_eq(settings.count, 2);
    ck_assert_int_eq(settings.item[0].line, 2);
    ck_assert_int_eq(settings.item[0].column, 3);
    ck_assert_int_eq(settings.item[1].line, 3);
    ck_assert_int_eq(settings.item[1].column, 6);
    calc_settings_free(&settings);
}
END_TEST

/* Each variable is twice the one before: 2^200 characters, were they all written. */
START_TEST(variables_that_double_each_other_end)
{
    char script[16384] = "A0=\n";
    for (int i = 1; i < 200; i++) {
        char line[64];
        snprintf(line, sizeof line, "A%d=$A%d$A%d\n", i, i - 1, i - 1);
        strcat(script, line);
    }
    strcat(script, "--a x$A199 --b 1");
    ck_assert_ptr_nonnull(strstr(said(script), "--b=1;"));
}
END_TEST

START_TEST(words_too_long_are_cut)
{
    char script[10000] = "--a ";
    memset(script + 4, 'x', 9000);
    strcpy(script + 9004, " --b 1");
    const char *text = said(script);
    ck_assert_uint_eq(strlen(text), strlen("--a=;--b=1;") + 4095);
}
END_TEST

/* Four MiB that would take hours if each word looked at all the others. */
START_TEST(hostile_texts_end)
{
    static const char *const unit[] = {"${",       "--a x x x ", "\"'", "A=$A ",
                                       "--a \\\n", "'--a ",      "x "};
    for (size_t i = 0; i < sizeof unit / sizeof *unit; i++) {
        size_t length = (size_t)4 << 20;
        char *text = malloc(length);
        calc_settings settings = {0};
        ck_assert_ptr_nonnull(text);
        for (size_t j = 0; j < length; j++) {
            text[j] = unit[i][j % strlen(unit[i])];
        }
        memcpy(text, "--b ", 4);
        ck_assert_int_eq(calc_settings_from_script(&settings, text, length), CALC_OK);
        calc_settings_free(&settings);
        free(text);
    }
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("read_script");
    TCase *tests = tcase_create("read_script");
    tcase_add_test(tests, words_after_an_option_are_its_value);
    tcase_add_test(tests, lines_comments_and_arrays_are_read);
    tcase_add_test(tests, quotes_keep_values_together_and_options_apart);
    tcase_add_test(tests, variables_of_the_text_are_filled_in);
    tcase_add_test(tests, places_are_those_of_the_options);
    tcase_add_test(tests, variables_that_double_each_other_end);
    tcase_add_test(tests, words_too_long_are_cut);
    tcase_add_test(tests, hostile_texts_end);
    suite_add_tcase(suite, tests);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_NORMAL);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
