/* Points drawn with characters: src/cli/draw/breakdown.c. */
#include "small_case.h"

#include "cli/draw/breakdown.h"
#include "cli/draw/human.h"
#include "frame.h"

#include <math.h>

static calc_text text;

static void leave(void)
{
    calc_text_free(&text);
}

const calc_test_frame calc_tests = {.teardown = leave};

/* A drawing of 40 columns, in `text`. */
static void draw(const calc_scatter_point *point, size_t count, bool x_up, const calc_paint *paint)
{
    const calc_scatter_axis x = {"memory", x_up, calc_human_bytes};
    const calc_scatter_axis y = {"rate", true, calc_human_number};
    calc_output *out;
    calc_errors errors = {0};
    ck_assert_int_eq(calc_output_open_memory(&out, &text, &errors), CALC_OK);
    calc_scatter_write(out, paint, point, count, &x, &y, CALC_SCATTER_MIN_COLUMNS);
    ck_assert_int_eq(calc_output_close(out, &errors), CALC_OK);
}

static const calc_scatter_point three[] = {{1024, 1, 2}, {3072, 3, 1}, {2048, 0.5, 3}};

CALC_TEST(marks_lie_between_the_ends_of_the_axes)
{
    const calc_paint ascii = {0};
    draw(three, 3, false, &ascii);
    ck_assert_str_eq(text.data, "rate\n"
                                " 3.000 |                             1*\n"
                                "       |\n       |\n       |\n       |\n       |\n       |\n"
                                "       |\n       |\n       |\n       |\n       |\n"
                                "       |*2\n"
                                "       |\n       |\n"
                                "0.5000 |               o3\n"
                                "       +-------------------------------\n"
                                "        1.000 KiB             3.000 KiB\n"
                                "                                 memory\n");
}

CALC_TEST(the_front_follows_the_direction_of_the_axes)
{
    const calc_paint utf8 = {.utf8 = true};
    draw(three, 3, true, &utf8); /* most memory and the highest rate: one point has both */
    ck_assert_ptr_nonnull(strstr(text.data, "1●"));
    ck_assert_ptr_nonnull(strstr(text.data, "○2"));
    ck_assert_ptr_nonnull(strstr(text.data, "○3"));
}

CALC_TEST(a_factor_of_fifty_is_logarithmic)
{
    const calc_paint ascii = {0};
    const calc_scatter_point linear[] = {{1, 1, 0}, {49.9, 1, 0}, {7, 1, 7}};
    const calc_scatter_point logarithmic[] = {{1, 1, 0}, {100, 1, 0}, {10, 1, 7}};
    draw(linear, 3, false, &ascii);
    char *at = strstr(text.data, "o7");
    ck_assert_int_eq(at - strstr(text.data, "*"), 4);
    leave();
    draw(logarithmic, 3, false, &ascii); /* in the middle of 32 cells */
    at = strstr(text.data, "o7");
    ck_assert_int_eq(at - strstr(text.data, "*"), 16);
}

CALC_TEST(numbers_that_would_touch_are_left_out)
{
    const calc_paint ascii = {0};
    const calc_scatter_point close[] = {{0, 0, 0}, {300, 1, 12}, {320, 1, 34}, {600, 0, 0}};
    draw(close, 4, true, &ascii);
    ck_assert_ptr_nonnull(strstr(text.data, "12o*34"));
    leave();
    const calc_scatter_point same[] = {{1, 1, 1}, {1, 1, 2}, {1, 1, 3}};
    draw(same, 3, true, &ascii);
    ck_assert_ptr_nonnull(strstr(text.data, "*1"));
    ck_assert_ptr_null(strstr(text.data, "3"));
}

CALC_TEST(what_is_not_finite_is_left_out)
{
    const calc_paint color = {.color = true};
    const calc_scatter_point none[] = {{(double)NAN, 1, 1}, {1, (double)INFINITY, 2}};
    draw(none, 2, true, &color);
    ck_assert_str_eq(text.data, "");
    leave();
    const calc_scatter_point one[] = {{(double)NAN, 1, 1}, {1, 5, 2}};
    draw(one, 2, true, &color);
    ck_assert_ptr_nonnull(strstr(text.data, "5.000 |\033[32m*\033[0m\033[1m2\033[0m\n"));
}
