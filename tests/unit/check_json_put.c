/* JSON written member by member: src/io/json_put.c. */

#include "frame.h"
#include "io/json_put.h"

#include <jansson.h>
#include <math.h>
#include <signal.h>

static calc_output *out;
static calc_text text;
static calc_put put;

static void start(void)
{
    calc_errors errors = {0};
    ck_assert_int_eq(calc_output_open_memory(&out, &text, &errors), CALC_OK);
    put = calc_put_to(out);
}

static void expect(const char *expected)
{
    calc_errors errors = {0};
    ck_assert_int_eq(calc_output_close(out, &errors), CALC_OK);
    ck_assert_str_eq(text.data, expected);
    calc_text_free(&text);
}

CALC_TEST(members_are_separated_and_indented)
{
    start();
    calc_put_object(&put, NULL, CALC_PUT_LINES);
    calc_put_text(&put, "a", "\"x\"\n");
    calc_put_array(&put, "b", CALC_PUT_LINES);
    for (int i = 0; i < 2; i++) {
        calc_put_object(&put, NULL, CALC_PUT_LINE);
        calc_put_count(&put, "i", i);
        calc_put_flag(&put, "first", i == 0);
        calc_put_close(&put);
    }
    calc_put_close(&put);
    calc_put_array(&put, "c", CALC_PUT_LINE);
    calc_put_count(&put, NULL, -1);
    calc_put_raw(&put, NULL, "null");
    calc_put_close(&put);
    calc_put_end(&put);
    expect("{\n  \"a\": \"\\\"x\\\"\\u000a\",\n  \"b\": [\n    {\"i\": 0, \"first\": true},\n"
           "    {\"i\": 1, \"first\": false}\n  ],\n  \"c\": [-1, null]\n}\n");
}

CALC_TEST(a_format_is_the_members_it_names)
{
    start();
    calc_putf(&put, "{\ntext: %s, list: [%d, %zu, %jd], of-two: {yes?: %d, no?: %d}", "\"{:%}\"",
              -1, SIZE_MAX >> 1, INT64_MIN, true, false);
    calc_putf(&put, "none: [\n], lines: [\n{x: %g}, {x: %.2g, y: %.3g}", 0.1, 1.0 / 3, (double)NAN);
    calc_putf(&put, "], last: %g}", INFINITY);
    expect(
        "{\n  \"text\": \"\\\"{:%}\\\"\",\n  \"list\": [-1, 9223372036854775807, "
        "-9223372036854775808],\n  \"of-two\": {\"yes\": true, \"no\": false},\n  \"none\": [],\n"
        "  \"lines\": [\n    {\"x\": 0.1},\n    {\"x\": 0.33, \"y\": null}\n  ],\n  "
        "\"last\": null\n}");
}

CALC_TEST(what_is_empty_takes_no_line)
{
    start();
    calc_put_object(&put, NULL, CALC_PUT_LINES);
    calc_put_array(&put, "none", CALC_PUT_LINES);
    calc_put_close(&put);
    calc_put_object(&put, "nothing", CALC_PUT_LINES);
    calc_put_close(&put);
    calc_put_end(&put);
    expect("{\n  \"none\": [],\n  \"nothing\": {}\n}\n");
}

CALC_TEST(a_level_adds_as_many_blanks_as_are_asked_for)
{
    start();
    put.step = 0;
    calc_put_object(&put, NULL, CALC_PUT_LINES);
    calc_put_array(&put, "a", CALC_PUT_LINES);
    calc_put_count(&put, NULL, 1);
    calc_put_close(&put);
    calc_put_end(&put);
    expect("{\n\"a\": [\n1\n]\n}\n");
}

CALC_TEST(what_is_flat_has_one_line)
{
    calc_exec exec = {.num_procs = 8};
    start();
    put.flat = true;
    calc_put_array(&put, NULL, CALC_PUT_LINES);
    calc_put_object(&put, NULL, CALC_PUT_LINES);
    calc_put_count(&put, "a", 1);
    calc_put_close(&put);
    calc_put_struct(&put, NULL, CALC_KIND_EXEC, &exec);
    calc_put_close(&put);
    calc_errors errors = {0};
    ck_assert_int_eq(calc_output_close(out, &errors), CALC_OK);
    ck_assert_ptr_eq(strstr(text.data, "[{\"a\": 1}, {\"num_procs\": 8, "), text.data);
    ck_assert_ptr_null(strchr(text.data, '\n'));
    calc_text_free(&text);
}

CALC_TEST(numbers_read_back_or_are_rounded)
{
    start();
    calc_put_array(&put, NULL, CALC_PUT_LINE);
    calc_put_number(&put, NULL, 0.1);
    calc_put_number(&put, NULL, 1e15);
    calc_put_number(&put, NULL, (double)NAN);
    calc_put_number(&put, NULL, -(double)INFINITY);
    calc_put_rounded(&put, NULL, 2.0 / 3, 4);
    calc_put_rounded(&put, NULL, (double)NAN, 4);
    calc_put_count(&put, NULL, INT64_MIN);
    calc_put_close(&put);
    expect("[0.1, 1000000000000000, null, null, 0.6667, null, -9223372036854775808]");
}

CALC_TEST(structs_are_members)
{
    calc_layer_stats layer = {.name = "x", .fw_flops = 0.25};
    calc_exec exec = {.num_procs = 8};
    start();
    calc_put_object(&put, NULL, CALC_PUT_LINES);
    calc_put_struct(&put, "exe", CALC_KIND_EXEC, &exec);
    calc_put_object(&put, "layer", CALC_PUT_LINE);
    calc_put_rows(&put, CALC_KIND_LAYER, &layer);
    calc_put_close(&put);
    calc_put_end(&put);
    calc_errors errors = {0};
    ck_assert_int_eq(calc_output_close(out, &errors), CALC_OK);
    json_t *root = json_loads(text.data, 0, NULL);
    json_t *exe = json_object_get(root, "exe");
    json_t *rows = json_object_get(root, "layer");
    ck_assert_int_eq(json_integer_value(json_object_get(exe, "num_procs")), 8);
    ck_assert_ptr_nonnull(strstr(text.data, "\n    \"num_procs\": 8"));
    ck_assert_double_eq(json_number_value(json_object_get(rows, "fw_flops")), 0.25);
    json_decref(root);
    calc_text_free(&text);
}

#ifndef NDEBUG
CALC_TEST_SIGNAL(an_end_too_many_stops, SIGABRT)
{
    start();
    calc_put_close(&put);
}

CALC_TEST_SIGNAL(an_end_too_few_stops, SIGABRT)
{
    start();
    calc_put_object(&put, NULL, CALC_PUT_LINE);
    calc_put_array(&put, "a", CALC_PUT_LINE);
    calc_put_end(&put);
}

CALC_TEST_SIGNAL(a_member_without_a_key_stops, SIGABRT)
{
    start();
    calc_put_object(&put, NULL, CALC_PUT_LINE);
    calc_put_count(&put, NULL, 1);
}

CALC_TEST_SIGNAL(an_element_with_a_key_stops, SIGABRT)
{
    start();
    calc_put_array(&put, NULL, CALC_PUT_LINE);
    calc_put_count(&put, "key", 1);
}
#endif
