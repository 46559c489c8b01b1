/* What calc wrote, read again: src/io/written.c, written_sweep.c. */
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
    ck_assert_str_eq(run->name[CALC_KIND_APP], "gpt3-13B");
    ck_assert_str_eq(run->name[CALC_KIND_SYSTEM], "a100_80g");
    ck_assert_int_eq(run->exec.tensor_par, 4);
    ck_assert_ptr_nonnull(strstr(run->command, "\"tensor_par=4\""));
    calc_run(&run->app, &run->system, &run->exec, run->compat, &stats);
    ck_assert_double_eq(run->stats.total_time, stats.total_time);
    ck_assert_int_eq(run->stats.verdict, stats.verdict);
    ck_assert(isnan(run->stats.ttft)); /* null */
}
END_TEST

START_TEST(a_sweep_is_its_lists)
{
    read_corpus("sweep");
    const calc_written_sweep *s = &written.sweep;
    ck_assert_int_eq(written.kind, CALC_WRITTEN_SWEEP);
    ck_assert_str_eq(s->top_by.field->key, "sample_rate");
    ck_assert(s->top_by.up);
    ck_assert_uint_eq(s->objectives, 1);
    ck_assert_uint_eq(s->groups, 1);
    ck_assert_uint_eq(s->count, 2); /* one on the front, one of the best */
    ck_assert(!s->layout[0].top && s->layout[1].top);
    ck_assert_uint_eq(s->layout[1].rank, 1);
    ck_assert_str_eq(s->layout[0].application, "gpt3-13B");
    ck_assert_int_eq(s->layout[0].exec.num_procs, 8);
    ck_assert(s->layout[0].stats.sample_rate > 0);
    ck_assert(!s->per_num_procs && !s->partial);
    ck_assert_int_eq(s->study[0], '"');
}
END_TEST

START_TEST(groups_follow_one_another)
{
    read_corpus("groups");
    const calc_written_sweep *s = &written.sweep;
    ck_assert(s->per_num_procs);
    ck_assert_uint_eq(s->groups, 2);
    ck_assert_uint_eq(s->count, 4);
    ck_assert_uint_eq(s->layout[3].group, 1);
    ck_assert_int_eq(s->layout[3].exec.num_procs, 16);
}
END_TEST

START_TEST(the_kind_is_in_the_document)
{
    read_corpus("summary");
    ck_assert_int_eq(written.kind, CALC_WRITTEN_SUMMARY);
    leave();
    read_corpus("validation");
    ck_assert_int_eq(written.kind, CALC_WRITTEN_VALIDATION);
    ck_assert_str_eq(calc_written_command(written.kind), "calc validate --json");
}
END_TEST

START_TEST(more_objectives_than_a_sweep_has_are_refused)
{
    calc_errors errors = {0};
    static const char one[] = "{\"statistic\": \"sample_rate\", \"direction\": \"up\"}";
    char json[1024];
    snprintf(json, sizeof json,
             "{\"version\": \"\", \"compat\": \"none\", \"applications\": [], \"systems\": [], "
             "\"objectives\": [%s, %s, %s, %s, %s], \"top_by\": %s, \"front\": [], \"top\": []}",
             one, one, one, one, one, one);
    ck_assert_int_eq(calc_written_parse(&written, json, strlen(json), "five", &errors),
                     CALC_ERR_RANGE);
    ck_assert_str_eq(errors.item[0].text, "more than 4 objectives");
}
END_TEST

int main(void)
{
    TCase *cases = tcase_create("written");
    tcase_add_checked_fixture(cases, NULL, leave);
    tcase_add_test(cases, a_run_is_what_was_run);
    tcase_add_test(cases, a_sweep_is_its_lists);
    tcase_add_test(cases, groups_follow_one_another);
    tcase_add_test(cases, the_kind_is_in_the_document);
    tcase_add_test(cases, more_objectives_than_a_sweep_has_are_refused);
    return run_cases(cases);
}
