/* What calc wrote, read again: src/io/written.c. */
#include "scratch.h"
#include "small_case.h"

#include "io/written.h"

#include <check.h>

static calc_written written;
static calc_text text;

static void read_corpus(const char *name)
{
    char path[512];
    calc_errors errors = {0};
    snprintf(path, sizeof path, "%s/fuzz/corpus/written/%s", CALC_TEST_DATA, name);
    ck_assert_int_eq(calc_text_read(&text, path, &errors), CALC_OK);
    ck_assert_int_eq(calc_written_parse(&written, text.data, text.length, name, &errors), CALC_OK);
}

static void leave(void)
{
    calc_written_free(&written);
    calc_text_free(&text);
}

START_TEST(a_run_is_what_was_run)
{
    read_corpus("run");
    const calc_written_run *run = &written.run;
    calc_stats stats;
    ck_assert_int_eq(written.kind, CALC_WRITTEN_RUN);
    ck_assert_int_eq(run->exec.strategy.tensor_par, 4);
    calc_run(&run->app, &run->system, &run->exec, run->compat, &stats);
    ck_assert_double_eq(run->stats.total_time, stats.total_time);
    ck_assert_int_eq(run->stats.verdict, stats.verdict);
    ck_assert(isnan(run->stats.ttft)); /* null */
}
END_TEST

START_TEST(the_kind_is_in_the_document)
{
    read_corpus("sweep");
    ck_assert_int_eq(written.kind, CALC_WRITTEN_SWEEP);
    leave();
    read_corpus("summary");
    ck_assert_int_eq(written.kind, CALC_WRITTEN_SUMMARY);
    leave();
    read_corpus("validation");
    ck_assert_int_eq(written.kind, CALC_WRITTEN_VALIDATION);
    ck_assert_str_eq(calc_written_command(written.kind), "calc validate --json");
}
END_TEST

int main(void)
{
    TCase *cases = tcase_create("written");
    tcase_add_checked_fixture(cases, NULL, leave);
    tcase_add_test(cases, a_run_is_what_was_run);
    tcase_add_test(cases, the_kind_is_in_the_document);
    return run_cases(cases);
}
