/* The state of calc tune: what rows mean, and what is said of those that mean nothing:
 * unit/check_tune_rows.txt. "rows" stands before a file, "cut" before one whose last line has no
 * end. */
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

static void answer(const char *said, FILE *out)
{
    static const char *const ends[] = {[CALC_TUNE_END_FINE] = "ok",
                                       [CALC_TUNE_END_OOM] = "oom",
                                       [CALC_TUNE_END_FAILED] = "failed"};
    char text[1024], line[1200];
    snprintf(text, sizeof text, "%s", strchr(said, '\n') + 1);
    size_t length = strlen(text);
    text[length - (length > 0 && strncmp(said, "cut", 3) == 0)] = '\0';
    if (parse(text) != CALC_OK) {
        ck_assert_int_eq(errors.count, 1);
        calc_error_print(&errors.item[0], line, sizeof line);
        fprintf(out, "%s\n", line);
    } else {
        fprintf(out, "%s\n", rows.head ? rows.head : "no head");
    }
    for (size_t i = 0; i < rows.count && errors.count == 0; i++) {
        const calc_tune_row *r = &rows.row[i];
        fprintf(out, "line %d: layout \"%s\", exe \"%s\" (%d), %s, %.10g s, %.10g bytes, \"%s\"\n",
                r->line, r->layout, r->exe, r->exe_column, ends[r->end], r->step_s, r->memory_bytes,
                r->note ? r->note : "");
    }
    fputs(rows.ends ? "" : "cut off\n", out);
}

const calc_test_frame calc_tests = {
    .teardown = end_test, .cases = "unit/check_tune_rows.txt", .answer = answer};

CALC_TEST(every_cut_of_a_line_that_calc_has_written_is_an_error)
{
    static const char head[] = "layout,step_s,memory_gib,outcome,note\n00000000,1,2,ok,\n";
    static const char line[] = "3fa9c21e,1.53,61.25,ok,"; /* all but its note */
    char text[256];
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
