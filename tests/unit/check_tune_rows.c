/* The state of calc tune: what rows mean, and what is said of those that mean nothing. */
#include "cli/tune/tune_journal.h"

#include <stdio.h>
#include <string.h>

#include "frame.h"

static calc_tune_rows rows;
static calc_errors errors;

static calc_status parse(const char *text)
{
    calc_tune_rows_free(&rows);
    errors = (calc_errors){0};
    calc_text copy = {strdup(text), strlen(text)};
    return calc_tune_rows_parse(&rows, copy, "runs.csv", &errors);
}

static void end_test(void)
{
    calc_tune_rows_free(&rows);
}

const calc_test_frame calc_tests = {.teardown = end_test};

CALC_TEST(rows_have_times_needs_and_outcomes_in_any_unit_and_order)
{
    ck_assert_int_eq(parse("outcome,note,layout,memory_gib,step_s,other\n"
                           "ok,,3fa9c21e,61.25,1.5,x\n"
                           ",\"a, b\",3fa9c21f,64GB,1530ms,\n"
                           "oom,,00000000,80 GiB,,\n"
                           "failed,-,00000001,,-,\n"),
                     CALC_OK);
    ck_assert_uint_eq(rows.count, 4);
    ck_assert_str_eq(rows.row[0].layout, "3fa9c21e");
    ck_assert_int_eq(rows.row[0].end, CALC_TUNE_END_FINE);
    ck_assert_double_eq(rows.row[0].step_s, 1.5);
    ck_assert_double_eq(rows.row[0].memory_bytes, 61.25 * 1024 * 1024 * 1024);
    ck_assert_double_eq(rows.row[1].step_s, 1.53);
    ck_assert_double_eq_tol(rows.row[1].memory_bytes, 64e9, 1);
    ck_assert_str_eq(rows.row[1].note, "a, b");
    ck_assert_int_eq(rows.row[1].line, 3);
    ck_assert_int_eq(rows.row[2].end, CALC_TUNE_END_OOM);
    ck_assert_double_nan(rows.row[2].step_s);
    ck_assert_double_eq(rows.row[2].memory_bytes, 80 * 0x1p30);
    ck_assert_int_eq(rows.row[3].end, CALC_TUNE_END_FAILED);
    ck_assert_double_nan(rows.row[3].memory_bytes);
    ck_assert(rows.ends);
    ck_assert_str_eq(rows.head, "outcome,note,layout,memory_gib,step_s,other");
}

CALC_TEST(an_empty_file_is_an_empty_state_and_so_is_one_without_rows)
{
    ck_assert_int_eq(parse(""), CALC_OK);
    ck_assert_uint_eq(rows.count, 0);
    ck_assert_ptr_null(rows.head);
    ck_assert(rows.ends);
    ck_assert_int_eq(parse("layout,step_s\r\n"), CALC_OK);
    ck_assert_uint_eq(rows.count, 0);
    ck_assert_str_eq(rows.head, "layout,step_s");
}

/* What is wrong with a row, where, and in which words. */
static const struct {
    const char *row;
    int column;
    const char *text;
} bad[] = {
    {"3fa9c21e,x,,,,", 10, "step_s: expected a time: 1.53, 1.53s or 1530ms, found \"x\""},
    {"3fa9c21e,1.5kg,,,,", 10,
     "step_s: expected seconds, or a unit of time: s, ms, us, min or h, found \"1.5kg\""},
    {"3fa9c21e,-1,,,,", 10, "step_s: expected a time above 0, of at most 1e9 s, found \"-1\""},
    {"3fa9c21e,0,,,,", 10, "step_s: expected a time above 0, of at most 1e9 s, found \"0\""},
    {"3fa9c21e,inf,,,,", 10, "step_s: expected a time: 1.53, 1.53s or 1530ms, found \"inf\""},
    {"3fa9c21e,1e999,,,,", 10, "step_s: expected a time: 1.53, 1.53s or 1530ms, found \"1e999\""},
    {"3fa9c21e,1.5,61s,,,", 14,
     "memory_gib: expected GiB, or a unit of memory: GiB, GB, MiB or B, found \"61s\""},
    {"3fa9c21e,1.5,-2,,,", 14,
     "memory_gib: expected an amount above 0, of at most 1e9 GiB, found \"-2\""},
    {"3fa9c21e,1.5,,fine,,", 15, "outcome: expected ok, oom or failed, found \"fine\""},
    {"3fa9c21e,1.5,,oom,,", 10, "a run that is not ok has no time of a step"},
    {"3fa9c21e,,,,,", 0, "the row has neither a time nor another outcome than ok"},
    {"3fa9c21e,,,ok,,", 12, "the row has neither a time nor another outcome than ok"},
    {",1.5,,,,", 0, "the row names no layout"},
    {"3fa9c21e,1.5,,,,,", 18, "the row has 7 cells, the first has 6"},
};

CALC_TEST_LOOP(a_bad_row_is_one_line_that_says_where_and_what, 0, sizeof bad / sizeof *bad)
{
    char text[256];
    snprintf(text, sizeof text, "layout,step_s,memory_gib,outcome,id,exe\n%s\n", bad[_i].row);
    ck_assert_int_ne(parse(text), CALC_OK);
    ck_assert_int_eq(errors.count, 1);
    ck_assert_str_eq(errors.item[0].file, "runs.csv");
    ck_assert_int_eq(errors.item[0].line, 2);
    ck_assert_str_eq(errors.item[0].text, bad[_i].text);
    ck_assert_int_eq(errors.item[0].column, bad[_i].column);
}

CALC_TEST(a_layout_has_an_identity_or_a_file_and_not_both)
{
    ck_assert_int_eq(parse("exe,step_s\nmine.json,1\n"), CALC_OK);
    ck_assert_str_eq(rows.row[0].exe, "mine.json");
    ck_assert_str_eq(rows.row[0].layout, "");
    ck_assert_int_eq(rows.row[0].exe_column, 1);
    ck_assert_int_eq(parse("exe,layout,step_s\nmine.json,3fa9c21e,1\n"), CALC_ERR_FIELD);
    ck_assert_str_eq(errors.item[0].text, "layout and exe: one of them says which layout it is");
    ck_assert_int_eq(errors.item[0].column, 1);
}

CALC_TEST(an_id_that_is_there_twice_is_an_error_that_names_both_lines)
{
    ck_assert_int_eq(parse("id,layout,step_s\na,00000000,1\nb,00000000,1\na,00000001,2\n,00000001,"
                           "2\n,00000001,2\n"),
                     CALC_ERR_FIELD);
    ck_assert_int_eq(errors.count, 1);
    ck_assert_int_eq(errors.item[0].line, 4);
    ck_assert_str_eq(errors.item[0].text, "the id \"a\" is that of line 2, too");
}

CALC_TEST(a_line_that_was_cut_off_is_said_to_be_that)
{
    static const char head[] = "layout,step_s,memory_gib,outcome,note\n00000000,1,2,ok,\n";
    static const char *const cut[] = {"3fa9", "3fa9c21e,", "3fa9c21e,1.5", "3fa9c21e,1.5,61,o"};
    char text[256];
    for (size_t i = 0; i < sizeof cut / sizeof *cut; i++) {
        snprintf(text, sizeof text, "%s%s", head, cut[i]);
        ck_assert_int_ne(parse(text), CALC_OK);
        ck_assert_int_eq(errors.count, 1);
        ck_assert_int_eq(errors.item[0].line, 3);
        ck_assert_str_eq(errors.item[0].hint,
                         "the file ends within this line: complete it, or remove it");
        ck_assert(!rows.ends);
    }
    /* Every cut of a line that calc has written is an error, or all but its note is there. */
    static const char line[] = "3fa9c21e,1.53,61.25,ok,";
    for (size_t length = 1; length < sizeof line - 1; length++) {
        snprintf(text, sizeof text, "%s%.*s", head, (int)length, line);
        ck_assert_int_ne(parse(text), CALC_OK);
    }
    snprintf(text, sizeof text, "%s%s", head, line);
    ck_assert_int_eq(parse(text), CALC_OK);
    ck_assert_double_eq(rows.row[1].step_s, 1.53);
}

CALC_TEST(a_file_that_is_not_there_is_an_empty_state_if_it_may_be)
{
    calc_tune_rows_free(&rows);
    errors = (calc_errors){0};
    ck_assert_int_eq(calc_tune_rows_read(&rows, "/nowhere/runs.csv", true, &errors), CALC_OK);
    ck_assert_uint_eq(rows.count, 0);
    ck_assert_int_eq(calc_tune_rows_read(&rows, "/nowhere/runs.csv", false, &errors),
                     CALC_ERR_NOT_FOUND);
    ck_assert_str_eq(errors.item[0].text, "no such file");
    errors = (calc_errors){0};
    ck_assert_int_eq(calc_tune_rows_read(&rows, "/", true, &errors), CALC_ERR_NOT_FOUND);
    ck_assert_str_eq(errors.item[0].text, "is a folder, not a file");
}
