/* What calc wrote, read again: src/io/written.c. */
#include "scratch.h"
#include "small_case.h"

#include "frame.h"
#include "io/written.h"

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

const calc_test_frame calc_tests = {.teardown = leave};

CALC_TEST(a_run_is_what_was_run)
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

CALC_TEST(the_kind_is_in_the_document)
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
    leave();
    read_corpus("tune");
    ck_assert_str_eq(calc_written_command(written.kind), "calc tune --json");
}

CALC_TEST(a_plan_has_its_best_layout_on_its_machines)
{
    read_corpus("plan");
    const calc_written_plan *plan = &written.plan;
    const calc_written_run *best = &written.run;
    calc_stats stats;
    ck_assert_int_eq(written.kind, CALC_WRITTEN_PLAN);
    ck_assert_str_eq(plan->app_name, "llama2-70B");
    ck_assert_int_eq(plan->machines, 2);
    ck_assert_str_eq(plan->name[plan->chip], "h800");
    ck_assert_int_eq(best->app.num_blocks, 8); /* --set num_blocks=8 */
    ck_assert_int_eq(best->exec.stages.chips, 2);
    calc_run(&best->app, &plan->machine[plan->chip], &best->exec, CALC_COMPAT_NONE, &stats);
    ck_assert_double_eq(best->stats.total_time, stats.total_time);
}

static void refuses(const char *from, const char *to, const char *where, const char *what)
{
    char changed[1 << 16];
    calc_errors errors = {0};
    read_corpus("plan");
    char *at = strstr(text.data, from);
    ck_assert_ptr_nonnull(at);
    int length = snprintf(changed, sizeof changed, "%.*s%s%s", (int)(at - text.data), text.data, to,
                          at + strlen(from));
    calc_written_free(&written);
    ck_assert_int_ne(calc_written_parse(&written, changed, (size_t)length, "changed", &errors),
                     CALC_OK);
    ck_assert_str_eq(errors.item[0].pointer, where);
    ck_assert_msg(strstr(errors.item[0].text, what), "%s", errors.item[0].text);
    leave();
}

CALC_TEST(what_is_wrong_with_a_plan_has_a_place)
{
    refuses("\"systems\": [\"a800\", \"h800\"]", "\"systems\": []", "/systems", "1 to 4 machines");
    refuses("\"systems\": [\"a800\", \"h800\"]", "\"systems\": [\"a800\", 4]", "/systems/1",
            "expected a string");
    refuses("\"systems\": [\"a800\", \"h800\"]", "\"systems\": [\"b\", \"h800\"]", "/found/0",
            "no machine of the plan is called \"a800\"");
    refuses("\"found\": [{", "\"found\": [7, {", "/found", "an array of layouts");
    refuses("\"model\"", "\"modell\"", "", "missing key \"model\"");
}
