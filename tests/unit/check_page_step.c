/* What a picture of the pipeline needs beside its operations: src/report/run_data.c. */
#include "shipped_case.h"
#include "small_case.h"

#include "frame.h"
#include "report/run_data.h"

#include <stdlib.h>
#include <string.h>

/* The member of a layout as text; to be freed. */
static char *step_of(const shipped_case *c, calc_timeline *t)
{
    calc_output *out;
    calc_text text = {0};
    calc_errors errors = {0};
    calc_timeline_of(&c->app, &c->system, &c->exec, CALC_COMPAT_NONE, t);
    ck_assert_int_eq(calc_output_open_memory(&out, &text, &errors), CALC_OK);
    calc_put put = calc_put_to(out);
    calc_put_object(&put, NULL, CALC_PUT_LINES);
    calc_page_step_put(&put, t, t->closed_s);
    calc_put_end(&put);
    ck_assert_int_eq(calc_output_close(out, &errors), CALC_OK);
    return text.data;
}

static int count_of(const char *text, const char *what)
{
    int count = 0;
    for (const char *at = text; (at = strstr(at, what)); at++) {
        count++;
    }
    return count;
}

static double number_behind(const char *text, const char *key)
{
    const char *at = strstr(text, key);
    ck_assert_ptr_nonnull(at);
    return strtod(at + strlen(key), NULL);
}

/* The picture and the answer are one. */
CALC_TEST(it_ends_with_the_step)
{
    for (int i = 0; i < MODERN_LAYOUTS; i++) {
        shipped_case c = modern_layout(i);
        calc_timeline t;
        calc_stats s;
        calc_run(&c.app, &c.system, &c.exec, CALC_COMPAT_NONE, &s);
        char *text = step_of(&c, &t);
        assert_near(number_behind(text, "\"end_s\": "), s.total_time);
        free(text);
    }
}

CALC_TEST(every_stage_has_the_passes_that_it_holds)
{
    shipped_case c = modern_layout(3); /* DualPipe: two chunks of 16 stages */
    calc_timeline t;
    char *text = step_of(&c, &t);
    ck_assert_int_eq(count_of(text, "\"fw\": "), 2 * 16);
    ck_assert_int_eq(count_of(text, "\"wgrad\": "), 2 * 16);
    ck_assert_int_eq(count_of(text, "\"name\": \"optimizer\""), 16);
    ck_assert_ptr_nonnull(strstr(text, "\"parts\": [\"recompute\", \"repeated communication\", "
                                       "\"compute\", "));
    free(text);
}

/* What a stage holds with its micro-batches in flight is the memory of the layout. */
CALC_TEST(memory_of_the_fullest_stage_is_that_of_the_run)
{
    shipped_case c = modern_layout(3);
    calc_timeline t;
    calc_stats s;
    calc_run(&c.app, &c.system, &c.exec, CALC_COMPAT_NONE, &s);
    char *text = step_of(&c, &t);
    double fixed = number_behind(text, "\"fixed\": "), flight = number_behind(text, "\"flight\": ");
    assert_near(fixed + 17 * flight, s.proc_mem_tier1_cap_req);
    free(text);
}
