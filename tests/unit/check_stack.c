/* Bars of one line, and how wide drawings are: src/cli/draw/breakdown.c, calc_paint_columns(). */
#include "scratch.h"

#include "cli/draw/breakdown.h"
#include "frame.h"

#include <stdlib.h>

static char folder[256];
static char text[4096];

static void enter(void)
{
    scratch_enter(folder, sizeof folder);
}

static void leave(void)
{
    scratch_leave(folder);
}

const calc_test_frame calc_tests = {.setup = enter, .teardown = leave};

static void read_back(void)
{
    FILE *file = fopen("bar", "rb");
    ck_assert_ptr_nonnull(file);
    text[fread(text, 1, sizeof text - 1, file)] = '\0';
    fclose(file);
}

static void assert_bar(const double value[CALC_STACK_KINDS], double full, bool utf8,
                       const char *bar)
{
    const calc_paint paint = {.utf8 = utf8};
    calc_output *out;
    calc_errors errors = {0};
    ck_assert_int_eq(calc_output_open(&out, "bar", &errors), CALC_OK);
    calc_stack_write(out, &paint, value, full, 10);
    ck_assert_int_eq(calc_output_close(out, &errors), CALC_OK);
    read_back();
    ck_assert_str_eq(text, bar);
}

CALC_TEST(pieces_add_up_to_the_bar)
{
    const double value[CALC_STACK_KINDS] = {
        [CALC_STACK_FORWARD] = 1, [CALC_STACK_BACKWARD] = 1, [CALC_STACK_BUBBLE] = 1};
    assert_bar(value, 3, false, "FFFFBBB...");
    assert_bar(value, 3, true, "░░░░███···");
    assert_bar(value, 6, false, "FFBB.     ");
    assert_bar(value, 1, false, "FFFFBBB..."); /* cut at the width */
}

CALC_TEST(the_least_thing_shows_and_nothing_is_blank)
{
    const double nothing[CALC_STACK_KINDS] = {0};
    const double little[CALC_STACK_KINDS] = {[CALC_STACK_COMMUNICATION] = 1e-9};
    const double wrong[CALC_STACK_KINDS] = {[CALC_STACK_BUBBLE] = -1, [CALC_STACK_HEAD] = 1};
    assert_bar(nothing, 1, false, "          ");
    assert_bar(little, 1, false, "C         ");
    assert_bar(wrong, 1, false, "HHHHHHHHHH");
}

CALC_TEST(the_key_names_what_was_seen_in_lines_that_fit)
{
    const calc_paint paint = {0};
    const bool seen[CALC_STACK_KINDS] = {
        [CALC_STACK_FORWARD] = true, [CALC_STACK_BUBBLE] = true, [CALC_STACK_OTHER] = true};
    calc_output *out;
    calc_errors errors = {0};
    ck_assert_int_eq(calc_output_open(&out, "bar", &errors), CALC_OK);
    calc_stack_write_key(out, &paint, seen, 26);
    ck_assert_int_eq(calc_output_close(out, &errors), CALC_OK);
    read_back();
    ck_assert_str_eq(text, "    F forward    . bubble\n    - other\n");
}

CALC_TEST(columns_are_what_the_environment_says_if_it_is_a_number)
{
    static const struct {
        const char *says;
        int columns;
    } all[] = {{"100", 100}, {"1", 1}, {"5000", 400}, {"0", 80}, {"-3", 80}, {"", 80}, {"9x", 80}};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        ck_assert_int_eq(setenv("COLUMNS", all[i].says, 1), 0);
        if (all[i].columns != 80 || !isatty(STDOUT_FILENO)) {
            ck_assert_int_eq(calc_paint_columns(), all[i].columns);
        }
    }
}
