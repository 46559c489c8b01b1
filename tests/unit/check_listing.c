#include "cli/draw/human.h"

#include <stdlib.h>
#include <string.h>

#include "frame.h"
#include "io/text.h"

/* The lines of a listing at a width. */
static char *written(calc_listing *l, int width)
{
    calc_errors errors = {0};
    calc_output *out;
    calc_text text = {0};
    ck_assert_int_eq(calc_output_open_memory(&out, &text, &errors), CALC_OK);
    calc_listing_fit(l, width);
    calc_listing_write_head(l, out, 0);
    calc_listing_write_row(l, out, 0, 0);
    calc_listing_write_row(l, out, 1, 2);
    calc_listing_free(l);
    ck_assert_int_eq(calc_output_close(out, &errors), CALC_OK);
    return text.data;
}

/* Expect what a table of two rows looks like. */
static void expect(int width, int gap, const char *lines)
{
    calc_listing_column column[] = {CALC_COLUMN("name", .left = true), CALC_COLUMN("s"),
                                    CALC_COLUMN("GiB", .order = 1), CALC_COLUMN("MFU", .order = 2),
                                    CALC_COLUMN("words", .left = true, .cut = true)};
    calc_listing l = CALC_LISTING(column, gap);
    static const char *const cells[] = {
        "a",     "1.25", "80", "50", "as short as it is",
        "bcdef", "10",   "7",  "",   "words that go on, and on, and on"};
    for (size_t i = 0; i < sizeof cells / sizeof *cells; i++) {
        calc_listing_add(&l, cells[i]);
    }
    char *text = written(&l, width);
    ck_assert_str_eq(text, lines);
    free(text);
}

CALC_TEST(columns_are_as_wide_as_their_widest_cell)
{
    expect(80, 1,
           "name      s  GiB  MFU  words\n"
           "a      1.25   80   50  as short as it is\n"
           "  bcdef    10    7       words that go on, and on, and on\n");
}

CALC_TEST(the_text_at_the_end_is_cut_before_a_column_is_left_out)
{
    expect(50, 2,
           "name      s  GiB  MFU  words\n"
           "a      1.25   80   50  as short as it is\n"
           "  bcdef    10    7       words that go on, and o ...\n");
}

CALC_TEST(gaps_are_narrowed_before_a_column_is_left_out)
{
    expect(44, 1,
           "name     s GiB MFU words\n"
           "a     1.25  80  50 as short as it is\n"
           "  bcdef   10   7     words that go on, and ...\n");
}

CALC_TEST(columns_of_the_largest_order_are_left_out_first)
{
    expect(43, 2,
           "name      s  GiB  words\n"
           "a      1.25   80  as short as it is\n"
           "  bcdef    10    7  words that go on, and ...\n");
    expect(38, 2,
           "name      s  words\n"
           "a      1.25  as short as it is\n"
           "  bcdef    10  words that go on, and ...\n");
}

CALC_TEST(columns_of_order_0_stay)
{
    expect(1, 2,
           "name      s  words\n"
           "a      1.25  as short as it is\n"
           "  bcdef    10  words that go on, an ...\n");
}

CALC_TEST(a_cut_leaves_characters_whole)
{
    calc_listing_column column[] = {CALC_COLUMN("t", .left = true, .cut = true)};
    calc_listing l = CALC_LISTING(column, 1);
    calc_listing_add(&l, "0123456789012345678\xc3\xa9 and more than fits");
    calc_listing_add(&l, "short");
    char *text = written(&l, 1);
    ck_assert_str_eq(text, "t\n0123456789012345678 ...\n  short\n");
    free(text);
}

CALC_TEST(a_column_varies_if_two_rows_differ)
{
    calc_listing_column column[] = {CALC_COLUMN("a"), CALC_COLUMN("b")};
    calc_listing l = CALC_LISTING(column, 1);
    calc_listing_add(&l, "1");
    calc_listing_add(&l, "1");
    calc_listing_addf(&l, "%d", 1);
    calc_listing_addf(&l, "%d", 2);
    ck_assert(!column[0].varies);
    ck_assert(column[1].varies);
    ck_assert_str_eq(calc_listing_cell(&l, 1, 1), "2");
    calc_listing_free(&l);
}
