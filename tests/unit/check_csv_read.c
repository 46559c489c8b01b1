#include "io/csv_table.h"

#include <stdio.h>
#include <string.h>

#include "frame.h"

enum { CELLS = 4 };

static char text[512];
static char *cell[CELLS];
static calc_csv_reader reader;
static calc_errors errors;
static int line;

static void start(const char *csv)
{
    snprintf(text, sizeof text, "%s", csv);
    errors = (calc_errors){0};
    calc_csv_read_start(&reader, text, strlen(text), "a.csv");
}

static int next(void)
{
    return calc_csv_read_row(&reader, cell, CELLS, &line, &errors);
}

static void fails_at(int at, const char *words)
{
    ck_assert_int_eq(next(), -1);
    ck_assert_int_eq(errors.count, 1);
    ck_assert_int_eq(errors.item[0].line, at);
    ck_assert_str_eq(errors.item[0].file, "a.csv");
    ck_assert_str_eq(errors.item[0].text, words);
}

CALC_TEST(cells_end_at_commas_and_rows_at_line_ends)
{
    start("a,b,\r\n\n,c");
    ck_assert_int_eq(next(), 3);
    ck_assert_int_eq(line, 1);
    ck_assert_str_eq(cell[0], "a");
    ck_assert_str_eq(cell[1], "b");
    ck_assert_str_eq(cell[2], "");
    ck_assert_int_eq(next(), 2);
    ck_assert_int_eq(line, 3);
    ck_assert_str_eq(cell[0], "");
    ck_assert_str_eq(cell[1], "c");
    ck_assert_int_eq(next(), 0);
    ck_assert_int_eq(next(), 0);
}

CALC_TEST(a_carriage_return_alone_ends_a_line_too)
{
    start("a\rb\r\r\"c\rd\r\n\"\re");
    ck_assert_int_eq(next(), 1);
    ck_assert_int_eq(line, 1);
    ck_assert_int_eq(next(), 1);
    ck_assert_int_eq(line, 2);
    ck_assert_int_eq(next(), 1);
    ck_assert_int_eq(line, 4);
    ck_assert_str_eq(cell[0], "c\rd\r\n");
    ck_assert_int_eq(next(), 1);
    ck_assert_int_eq(line, 7);
    ck_assert_str_eq(cell[0], "e");
}

CALC_TEST(a_comma_at_the_very_end_begins_an_empty_cell)
{
    start("a,");
    ck_assert_int_eq(next(), 2);
    ck_assert_str_eq(cell[1], "");
    ck_assert_int_eq(next(), 0);
}

CALC_TEST(quotes_hold_commas_lines_and_doubled_quotes)
{
    start("\"a,\"\"b\"\"\nc\",\"\",d\ne\n");
    ck_assert_int_eq(next(), 3);
    ck_assert_str_eq(cell[0], "a,\"b\"\nc");
    ck_assert_str_eq(cell[1], "");
    ck_assert_str_eq(cell[2], "d");
    ck_assert_int_eq(next(), 1);
    ck_assert_int_eq(line, 3);
    ck_assert_str_eq(cell[0], "e");
}

CALC_TEST(a_byte_order_mark_is_no_cell)
{
    start("\xEF\xBB\xBF"
          "id\n");
    ck_assert_int_eq(next(), 1);
    ck_assert_str_eq(cell[0], "id");
}

CALC_TEST(nothing_is_no_row)
{
    start("");
    ck_assert_int_eq(next(), 0);
    start("\n\r\n");
    ck_assert_int_eq(next(), 0);
}

CALC_TEST(a_quote_without_an_end_is_an_error_where_it_starts)
{
    start("a\nb,\"c\nd\n");
    ck_assert_int_eq(next(), 1);
    fails_at(2, "the quote that starts a cell here has no end");
    start("\"a\"\"");
    fails_at(1, "the quote that starts a cell here has no end");
}

CALC_TEST(text_after_a_quote_is_an_error)
{
    start("\"a\nb\"c,d\n");
    fails_at(2, "a comma must follow the end of a quote");
}

CALC_TEST(a_zero_byte_is_an_error)
{
    static const char *const csvs[] = {"a\nb,c%d\n", "a\n\"b\",\"c%d\"\n"};
    for (size_t i = 0; i < sizeof csvs / sizeof *csvs; i++) {
        start(csvs[i]);
        *strchr(text, '%') = '\0';
        ck_assert_int_eq(next(), 1);
        fails_at(2, "a zero byte: this is not a text");
    }
}

CALC_TEST(as_many_cells_as_there_is_room_for)
{
    start("a,b,c,d\n");
    ck_assert_int_eq(next(), CELLS);
    start("a,b,c,d,e\n");
    fails_at(1, "too many cells in one row");
}

CALC_TEST(columns_are_counted_from_the_last_line_break)
{
    start("a,bb,\"c\"\n\"x\ny\",zz\n");
    ck_assert_int_eq(next(), 3);
    ck_assert_int_eq(calc_csv_read_column(&reader, cell[0]), 1);
    ck_assert_int_eq(calc_csv_read_column(&reader, cell[1]), 3);
    ck_assert_int_eq(calc_csv_read_column(&reader, cell[2]), 7);
    ck_assert_int_eq(next(), 2);
    ck_assert_int_eq(calc_csv_read_column(&reader, cell[0]), 2);
    ck_assert_int_eq(calc_csv_read_column(&reader, cell[1]), 4);
}
