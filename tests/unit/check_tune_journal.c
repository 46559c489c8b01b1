/* Measurements that are appended to the state of calc tune: whole lines, which read back as they
 * were. */
#include "cli/tune/tune_journal.h"

#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "frame.h"

static char path[] = "/tmp/check_tune_journal_XXXXXX";
static calc_tune_rows rows;
static calc_tune_journal journal = {.file = -1};
static calc_errors errors;

static void begin_test(void)
{
    int file = mkstemp(path);
    ck_assert_int_ge(file, 0);
    close(file);
}

static void end_test(void)
{
    calc_tune_journal_close(&journal);
    calc_tune_rows_free(&rows);
    unlink(path);
}

const calc_test_frame calc_tests = {.setup = begin_test, .teardown = end_test};

static void put_file(const char *text)
{
    FILE *file = fopen(path, "w");
    ck_assert_ptr_nonnull(file);
    ck_assert_int_ge(fputs(text, file), 0);
    ck_assert_int_eq(fclose(file), 0);
}

static calc_status open_journal(void)
{
    errors = (calc_errors){0};
    calc_tune_rows_free(&rows);
    ck_assert_int_eq(calc_tune_rows_read(&rows, path, true, &errors), CALC_OK);
    return calc_tune_journal_open(&journal, path, &rows, &errors);
}

static void read_again(void)
{
    calc_tune_journal_close(&journal);
    calc_tune_rows_free(&rows);
    ck_assert_int_eq(calc_tune_rows_read(&rows, path, false, &errors), CALC_OK);
}

CALC_TEST(measurements_read_back_to_the_same_bits)
{
    static const double times[] = {1.53, 26.36, 1.0 / 3};
    double bytes = 61.2 * 0x1p30;
    unlink(path);
    ck_assert_int_eq(open_journal(), CALC_OK);
    for (size_t i = 0; i < 3; i++) {
        ck_assert_int_eq(calc_tune_journal_add(&journal, "3fa9c21e", CALC_TUNE_END_FINE, times[i],
                                               bytes, "", &errors),
                         CALC_OK);
    }
    ck_assert_int_eq(calc_tune_journal_add(&journal, "3fa9c21f", CALC_TUNE_END_OOM, (double)NAN,
                                           (double)NAN, "", &errors),
                     CALC_OK);
    ck_assert_int_eq(calc_tune_journal_add(&journal, "3fa9c220", CALC_TUNE_END_FAILED, (double)NAN,
                                           (double)NAN, "said \"no, never\"\nat last", &errors),
                     CALC_OK);
    read_again();
    ck_assert_uint_eq(rows.count, 5);
    for (size_t i = 0; i < 3; i++) {
        ck_assert_double_eq(rows.row[i].step_s, times[i]);
        ck_assert_double_eq(rows.row[i].memory_bytes, bytes);
    }
    ck_assert_int_eq(rows.row[3].end, CALC_TUNE_END_OOM);
    ck_assert_int_eq(rows.row[4].end, CALC_TUNE_END_FAILED);
    ck_assert_str_eq(rows.row[4].note, "said \"no, never\" at last");
    ck_assert_str_eq(rows.head, "layout,step_s,memory_gib,outcome,note");
}

CALC_TEST(columns_that_are_there_are_filled_and_others_left_blank)
{
    put_file("mine,outcome,step_s,layout\nx,ok,1,00000000\n");
    ck_assert_int_eq(open_journal(), CALC_OK);
    ck_assert_int_eq(
        calc_tune_journal_add(&journal, "3fa9c21e", CALC_TUNE_END_FINE, 2.5, 1e9, "lost", &errors),
        CALC_OK);
    calc_tune_journal_close(&journal);
    char text[128] = "";
    FILE *file = fopen(path, "r");
    ck_assert_ptr_nonnull(file);
    ck_assert_uint_gt(fread(text, 1, sizeof text - 1, file), 0);
    fclose(file);
    ck_assert_str_eq(text, "mine,outcome,step_s,layout\nx,ok,1,00000000\n,ok,2.5,3fa9c21e\n");
}

CALC_TEST(a_column_that_is_missing_is_named)
{
    put_file("layout,step_s\n");
    ck_assert_int_eq(open_journal(), CALC_ERR_FIELD);
    ck_assert_str_eq(errors.item[0].text, "column \"outcome\" is missing");
    ck_assert_int_eq(errors.item[0].line, 1);
}

CALC_TEST(nothing_is_added_behind_a_line_without_an_end)
{
    put_file("layout,step_s,outcome\n00000000,1,ok");
    ck_assert_int_eq(open_journal(), CALC_ERR_SYNTAX);
    ck_assert_str_eq(errors.item[0].text, "its last line has no end: a measurement may be cut off");
}

CALC_TEST(two_that_measure_into_one_file_are_one_too_many)
{
    ck_assert_int_eq(open_journal(), CALC_OK);
    pid_t child = fork();
    if (child == 0) {
        calc_tune_journal other;
        calc_errors found = {0};
        calc_status status = calc_tune_journal_open(&other, path, &rows, &found);
        _exit(status == CALC_ERR_IO && strstr(found.item[0].text, "another calc tune") ? 0 : 1);
    }
    int status;
    ck_assert_int_eq(waitpid(child, &status, 0), child);
    ck_assert(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

CALC_TEST(a_disk_that_is_full_is_an_error)
{
    ck_assert_int_eq(open_journal(), CALC_OK);
    int full = open("/dev/full", O_WRONLY);
    ck_assert_int_ge(full, 0);
    dup2(full, journal.file);
    close(full);
    ck_assert_int_eq(
        calc_tune_journal_add(&journal, "3fa9c21e", CALC_TUNE_END_FINE, 1, 1, "", &errors),
        CALC_ERR_IO);
    ck_assert_str_eq(errors.item[0].file, path);
}
