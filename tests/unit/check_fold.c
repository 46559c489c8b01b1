#include "cli/draw/fold.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>

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

START_TEST(a_line_that_fits_stays)
{
    folds("", 10, "");
    folds("0123456789\n", 10, "0123456789\n");
    folds("  a   b\n\n  c", 10, "  a   b\n\n  c");
}
END_TEST

START_TEST(a_longer_one_is_broken_between_columns_or_else_words)
{
    folds("  one two  three\n", 12, "  one two\n    three\n");
    folds("  one two three\n", 12, "  one two\n    three\n");
    folds("  one  two three\n", 12, "  one\n    two\n    three\n");
    folds("one two\nthree\n", 3, "one\n    two\nthree\n");
}
END_TEST

START_TEST(a_word_that_is_longer_stays_whole)
{
    folds("0123456789 a b\n", 8, "0123456789\n    a b\n");
    folds("  0123456789\n", 8, "  0123456789\n");
}
END_TEST

START_TEST(characters_count_and_not_bytes)
{
    folds("\xe2\x96\x88\xe2\x96\x88 \033[31mab\033[0m\n", 5,
          "\xe2\x96\x88\xe2\x96\x88 \033[31mab\033[0m\n");
    folds("\xe2\x96\x88\xe2\x96\x88 \033[31mab\033[0m\n", 4,
          "\xe2\x96\x88\xe2\x96\x88\n    \033[31mab\033[0m\n");
}
END_TEST

int main(void)
{
    TCase *cases = tcase_create("fold");
    tcase_add_test(cases, a_line_that_fits_stays);
    tcase_add_test(cases, a_longer_one_is_broken_between_columns_or_else_words);
    tcase_add_test(cases, a_word_that_is_longer_stays_whole);
    tcase_add_test(cases, characters_count_and_not_bytes);
    Suite *suite = suite_create("fold");
    suite_add_tcase(suite, cases);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_NORMAL);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
