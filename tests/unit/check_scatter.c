/* Points drawn with characters: src/cli/scatter.c. */
#include "scratch.h"
#include "small_case.h"

#include "cli/scatter.h"

#include <check.h>
#include <math.h>

static char folder[256];
static char text[1 << 16];

static void enter(void)
{
    scratch_enter(folder, sizeof folder);
}

static void leave(void)
{
    scratch_leave(folder);
}

/* A drawing of 40 columns, in `text`. */
static void draw(const calc_scatter_point *point, size_t count, bool x_up, bool utf8)
{
    const calc_paint paint = {.utf8 = utf8};
    const calc_scatter_axis x = {"memory", x_up}, y = {"rate", true};
    calc_output *out;
    calc_errors errors = {0};
    ck_assert_int_eq(calc_output_open(&out, "drawing", &errors), CALC_OK);
    calc_scatter_write(out, &paint, point, count, &x, &y, CALC_SCATTER_MIN_COLUMNS);
    ck_assert_int_eq(calc_output_close(out, &errors), CALC_OK);
    FILE *file = fopen("drawing", "rb");
    ck_assert_ptr_nonnull(file);
    size_t length = fread(text, 1, sizeof text - 1, file);
    fclose(file);
    text[length] = '\0';
}

/* ---- Scales ---------------------------------------------------------------------------------- */

static void assert_ticks(double lo, double hi, size_t most, const char *words)
{
    calc_scatter_scale s;
    char found[1024] = "";
    calc_scatter_scale_of(lo, hi, most, &s);
    for (size_t i = 0; i < s.count; i++) {
        ck_assert(s.tick[i] >= s.lo && s.tick[i] <= s.hi);
        ck_assert(i == 0 || s.tick[i] > s.tick[i - 1]);
        snprintf(found + strlen(found), sizeof found - strlen(found), "%s%s", i ? " " : "",
                 s.text[i]);
    }
    ck_assert_str_eq(found, words);
    ck_assert(s.lo <= lo && s.hi >= hi && s.lo < s.hi);
}

START_TEST(ticks_are_round_numbers_that_are_told_apart)
{
    assert_ticks(0, 100, 5, "0 20 40 60 80 100");
    assert_ticks(6.913, 6.933, 5, "6.915 6.920 6.925 6.930");
    assert_ticks(-3, 4, 4, "-2 0 2 4");
    assert_ticks(7, 7, 4, "6.8 7.0 7.2"); /* all the same: a range around it */
    assert_ticks(0, 0, 2, "0 0.02 0.04");
}
END_TEST

START_TEST(what_spans_a_factor_of_fifty_is_logarithmic)
{
    calc_scatter_scale s;
    calc_scatter_scale_of(1, 49.9, 5, &s);
    ck_assert(!s.log);
    calc_scatter_scale_of(1, 50, 5, &s);
    ck_assert(s.log);
    calc_scatter_scale_of(0, 50, 5, &s);
    ck_assert(!s.log);
    assert_ticks(0.01, 1, 6, "0.01 0.02 0.05 0.1 0.2 0.5 1");
    assert_ticks(1, 1e6, 4, "1 100 10000 1000000"); /* every second power: four of seven */
    calc_scatter_scale_of(1, 10000, 4, &s);
    ck_assert(fabs(calc_scatter_at(&s, 100) - 0.5) < 1e-12);
    ck_assert(fabs(calc_scatter_at(&s, s.hi) - 1) < 1e-12);
}
END_TEST

/* ---- Drawings -------------------------------------------------------------------------------- */

/* The second has less of both; the third is worse than the first in both. */
static const calc_scatter_point three[] = {{80, 10, 1}, {20, 2, 2}, {90, 6, 3}};

START_TEST(the_front_is_a_line_of_steps_and_the_rest_beside_it)
{
    draw(three, 3, false, false);
    ck_assert_str_eq(text, "rate\n"
                           "10 +                             *1\n"
                           "   |                             .\n"
                           "   |                             .\n"
                           "   |                             .\n"
                           " 5 +                             .   o3\n"
                           "   |                             .\n"
                           "   |                             .\n"
                           "   | *2...........................\n"
                           "   +-+--------+--------+---------+-----\n"
                           "    20       40       60        80\n"
                           "                                 memory\n");
}
END_TEST

START_TEST(more_of_both_turns_the_steps)
{
    draw(three, 3, true, false);
    ck_assert_ptr_nonnull(strstr(text, "*3"));
    ck_assert_ptr_nonnull(strstr(text, "*1"));
    ck_assert_ptr_nonnull(strstr(text, "o2"));
}
END_TEST

START_TEST(points_that_are_not_finite_are_left_out)
{
    const calc_scatter_point point[] = {{NAN, 1, 1}, {1, INFINITY, 2}, {3, 4, 3}};
    draw(point, 3, false, false);
    ck_assert_ptr_nonnull(strstr(text, "*3"));
    ck_assert_ptr_null(strstr(text, "*1"));
    ck_assert_ptr_null(strstr(text, "*2"));
    draw(point, 2, false, false);
    ck_assert_str_eq(text, "");
}
END_TEST

/* Hundreds of points in a few cells: every row has the width that was asked for, or less. */
START_TEST(a_crowd_keeps_within_the_width)
{
    enum { CROWD = 500 };
    static calc_scatter_point crowd[CROWD];
    for (int utf8 = 0; utf8 < 2; utf8++) {
        for (int i = 0; i < CROWD; i++) {
            double angle = i * 1e-2;
            crowd[i] =
                (calc_scatter_point){1e3 + 100 * sin(angle), 50 * cos(angle), (size_t)i + 100000};
        }
        draw(crowd, CROWD, false, utf8);
        int columns = 0;
        for (const char *at = text; *at; at++) {
            columns = *at == '\n' ? 0 : columns + ((*at & 0xC0) != 0x80);
            ck_assert_int_le(columns, CALC_SCATTER_MIN_COLUMNS);
            ck_assert_msg(utf8 || (unsigned char)*at < 0x80, "a byte beyond ASCII");
        }
    }
}
END_TEST

int main(void)
{
    TCase *cases = tcase_create("scatter");
    tcase_add_checked_fixture(cases, enter, leave);
    tcase_add_test(cases, ticks_are_round_numbers_that_are_told_apart);
    tcase_add_test(cases, what_spans_a_factor_of_fifty_is_logarithmic);
    tcase_add_test(cases, the_front_is_a_line_of_steps_and_the_rest_beside_it);
    tcase_add_test(cases, more_of_both_turns_the_steps);
    tcase_add_test(cases, points_that_are_not_finite_are_left_out);
    tcase_add_test(cases, a_crowd_keeps_within_the_width);
    return run_cases(cases);
}
