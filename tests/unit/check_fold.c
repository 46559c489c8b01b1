#include "cli/draw/human.h"

#include <string.h>

#include "frame.h"

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

CALC_TEST(a_line_that_fits_stays)
{
    folds("", 10, "");
    folds("0123456789\n", 10, "0123456789\n");
    folds("  a   b\n\n  c", 10, "  a   b\n\n  c");
}

CALC_TEST(a_longer_one_is_broken_between_columns_or_else_words)
{
    folds("  one two  three\n", 12, "  one two\n    three\n");
    folds("  one two three\n", 12, "  one two\n    three\n");
    folds("  one  two three\n", 12, "  one\n    two\n    three\n");
    folds("one two\nthree\n", 3, "one\n    two\nthree\n");
}

CALC_TEST(a_word_that_is_longer_stays_whole)
{
    folds("0123456789 a b\n", 8, "0123456789\n    a b\n");
    folds("  0123456789\n", 8, "  0123456789\n");
}

CALC_TEST(characters_count_and_not_bytes)
{
    folds("\xe2\x96\x88\xe2\x96\x88 \033[31mab\033[0m\n", 5,
          "\xe2\x96\x88\xe2\x96\x88 \033[31mab\033[0m\n");
    folds("\xe2\x96\x88\xe2\x96\x88 \033[31mab\033[0m\n", 4,
          "\xe2\x96\x88\xe2\x96\x88\n    \033[31mab\033[0m\n");
}
