#include "documents.h"
#include "scratch.h"

#include "io/csv.h"

#include <check.h>
#include <math.h>

static char folder[256];
static calc_output *out;

static void enter(void)
{
    scratch_enter(folder, sizeof folder);
    ck_assert_int_eq(calc_output_open(&out, "saved", NULL), CALC_OK);
}

static void leave(void)
{
    scratch_leave(folder);
}

static void written_is(const char *expected)
{
    ck_assert_int_eq(calc_output_close(out, NULL), CALC_OK);
    scratch_is("saved", expected);
}

START_TEST(columns_are_the_scalar_fields)
{
    calc_csv_header(out, CALC_KIND_APP, true);
    calc_csv_header(out, CALC_KIND_SYSTEM, false);
    written_is("hidden,feedforward,seq_size,attn_heads,attn_size,num_blocks,structure_type,"
               "mem1.GiB,mem1.GBps,mem2.GiB,mem2.GBps,processing_mode");
}
END_TEST

START_TEST(values_are_in_file_units)
{
    calc_app app;
    calc_system sys;
    ck_assert_int_eq(calc_parse(CALC_KIND_APP, &app, APP_TEXT, strlen(APP_TEXT), "a", NULL), 0);
    ck_assert_int_eq(
        calc_parse(CALC_KIND_SYSTEM, &sys, SYSTEM_TEXT, strlen(SYSTEM_TEXT), "s", NULL), 0);
    calc_csv_values(out, CALC_KIND_APP, &app, true);
    calc_csv_values(out, CALC_KIND_SYSTEM, &sys, false);
    written_is("12288,49152,2048,96,128,96,gpt,80,2048,512,32,no_overlap");
}
END_TEST

START_TEST(a_value_that_is_missing_is_empty)
{
    calc_layer_stats layer = {
        .inputs_size = (double)NAN, .outputs_size = -HUGE_VAL, .fw_flops = 0.1};
    calc_csv_values(out, CALC_KIND_LAYER, &layer, true);
    ck_assert_int_eq(calc_output_close(out, NULL), CALC_OK);
    char start[8] = "";
    FILE *file = fopen("saved", "r");
    ck_assert_uint_eq(fread(start, 1, 7, file), 7);
    fclose(file);
    ck_assert_str_eq(start, ",,0.1,0");
}
END_TEST

START_TEST(booleans_are_words)
{
    calc_exec exec = {.training = true};
    calc_csv_values(out, CALC_KIND_EXEC, &exec, true);
    written_is("0,0,0,0,0,0,0,0,0,float8,false,multihead,none,0,false,ar,none,false,false,false,"
               "false,false,true,gpt");
}
END_TEST

START_TEST(cells_are_quoted_only_if_they_must)
{
    calc_csv_text(out, "plain text", true);
    calc_csv_text(out, "a,b", false);
    calc_csv_text(out, "say \"x\"", false);
    calc_csv_text(out, "two\nlines", false);
    calc_csv_text(out, "", false);
    written_is("plain text,\"a,b\",\"say \"\"x\"\"\",\"two\nlines\",");
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("csv");
    TCase *tests = tcase_create("csv");
    tcase_add_checked_fixture(tests, enter, leave);
    tcase_add_test(tests, columns_are_the_scalar_fields);
    tcase_add_test(tests, values_are_in_file_units);
    tcase_add_test(tests, a_value_that_is_missing_is_empty);
    tcase_add_test(tests, booleans_are_words);
    tcase_add_test(tests, cells_are_quoted_only_if_they_must);
    suite_add_tcase(suite, tests);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_NORMAL);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
