#include "axis.h"

#include <stdlib.h>
#include <string.h>

#include "frame.h"
#include "spec/field.h"

static const calc_field *row(calc_kind kind, const char *path)
{
    calc_field_ref ref;
    ck_assert_int_eq(calc_field_find(kind, path, &ref), CALC_OK);
    return ref.field;
}

/* The values of items, as texts with spaces between them. */
static void gives(const calc_field *field, const char *const *items, size_t count,
                  const char *expected)
{
    calc_axis_text text = {.key = "key", .item = items, .count = count, .name = "--axis"};
    calc_errors errors = {0};
    char actual[512] = "";
    double *value;
    size_t values;
    calc_status status = calc_axis_parse(field, &text, &value, &values, &errors);
    ck_assert_msg(status == CALC_OK, "%s: %s", items[0], errors.item[0].text);
    ck_assert_int_eq(errors.count, 0);
    for (size_t i = 0; i < values; i++) {
        char number[32];
        strcat(actual, i > 0 ? " " : "");
        strcat(actual, calc_number_text(value[i], 1, number));
    }
    ck_assert_str_eq(actual, expected);
    free(value);
}

static void of_int(const char *item, const char *expected)
{
    gives(row(CALC_KIND_EXEC, "tensor_par"), &item, 1, expected);
}

static void of_real(const char *item, const char *expected)
{
    gives(row(CALC_KIND_SYSTEM, "mem1.GiB"), &item, 1, expected);
}

/* The item fails, and the first error is this one. */
static void refuse(calc_kind kind, const char *path, const char *item, calc_status status,
                   const char *printed)
{
    calc_axis_text text = {.key = path, .item = &item, .count = 1, .name = "--axis"};
    calc_errors errors = {0};
    char line[1024];
    double *value = &(double){0};
    size_t values = 1;
    ck_assert_int_eq(calc_axis_parse(row(kind, path), &text, &value, &values, &errors), status);
    ck_assert_ptr_null(value);
    ck_assert_uint_eq(values, 0);
    ck_assert_int_eq(errors.count, 1);
    calc_error_print(&errors.item[0], line, sizeof line);
    ck_assert_str_eq(line, printed);
    ck_assert_int_eq(calc_axis_parse(row(kind, path), &text, &value, &values, NULL), status);
}

CALC_TEST(lists_are_sorted_and_each_value_is_kept_once)
{
    of_int("8", "8");
    of_int("8,1,4,8,1", "1 4 8");
    of_int(" 8 , 1 ", "1 8");
    of_int("1000000000", "1000000000");
}

CALC_TEST(ranges_end_with_the_last_value_that_is_not_above_hi)
{
    of_int("3:6", "3 4 5 6");
    of_int("5:5", "5");
    of_int("8:24:8", "8 16 24");
    of_int("8:23:8", "8 16");
    of_int("8:64:x2", "8 16 32 64");
    of_int("8:63:x2", "8 16 32");
    of_int("1:100:x10", "1 10 100");
    of_int("1,2,4:12:4,16", "1 2 4 8 12 16");
}

CALC_TEST(steps_of_real_numbers_are_the_decimal_ones)
{
    of_real("0.1:0.5:0.1", "0.1 0.2 0.3 0.4 0.5");
    of_real("40:120:40", "40 80 120");
    of_real("0.5:4:x2", "0.5 1 2 4");
    of_real("1:2:x1.5", "1 1.5");
    of_real("0", "0");
    of_real("-0.0,0", "0");
    of_real("1e2,8e1", "80 100");
}

CALC_TEST(items_of_a_list_may_be_ranges_themselves)
{
    const char *const items[] = {"16", "1:3", "2,32"};
    gives(row(CALC_KIND_EXEC, "tensor_par"), items, 3, "1 2 3 16 32");
}

CALC_TEST(choices_and_booleans_are_numbers_in_their_order)
{
    const char *choices = "rs_ag,ar";
    const char *booleans = "true,false";
    const char *one = "true";
    gives(row(CALC_KIND_EXEC, "tensor_par_comm_type"), &choices, 1, "0 2");
    gives(row(CALC_KIND_EXEC, "training"), &booleans, 1, "0 1");
    gives(row(CALC_KIND_EXEC, "training"), &one, 1, "1");
}

CALC_TEST(sets_are_their_bits)
{
    const char *item = "core_attn+mlp,none,mlp+core_attn, layernorm";
    const char *item_of_two[] = {"none", "moe"};
    const char *const choices = "true,auto,false";
    const char *const other = "mla,groupquery";
    gives(row(CALC_KIND_EXEC, "recompute_modules"), &item, 1, "0 2 9");
    gives(row(CALC_KIND_EXEC, "recompute_modules"), item_of_two, 2, "0 64");
    gives(row(CALC_KIND_APP, "bias"), &choices, 1, "0 1 2");
    gives(row(CALC_KIND_EXEC, "attention_type"), &other, 1, "3 4");
    refuse(CALC_KIND_EXEC, "framework_mem", "none+te_dummy_wgrad", CALC_ERR_RANGE,
           "--axis: /framework_mem: \"none\" is not one of te_dummy_wgrad, gemm_workspace, "
           "loss_copies, loss_parallel, logits_gathered, logits_held\n"
           "  hint: several are joined by +: te_dummy_wgrad+gemm_workspace");
    refuse(CALC_KIND_EXEC, "framework_mem", "te_dummy_wgrat", CALC_ERR_RANGE,
           "--axis: /framework_mem: \"te_dummy_wgrat\" is not one of te_dummy_wgrad, "
           "gemm_workspace, loss_copies, loss_parallel, logits_gathered, logits_held\n"
           "  hint: did you mean \"te_dummy_wgrad\"?");
    refuse(CALC_KIND_EXEC, "framework_mem", "", CALC_ERR_RANGE,
           "--axis: /framework_mem: \"\" is not one of te_dummy_wgrad, gemm_workspace, "
           "loss_copies, loss_parallel, logits_gathered, logits_held\n"
           "  hint: several are joined by +: te_dummy_wgrad+gemm_workspace");
    refuse(CALC_KIND_EXEC, "framework_mem", "te_dummy_wgrad,*", CALC_ERR_RANGE,
           "--axis: /framework_mem: \"*\" is not one of te_dummy_wgrad, gemm_workspace, "
           "loss_copies, loss_parallel, logits_gathered, logits_held\n"
           "  hint: \"*\" stands alone, and only for fields of the execution");
}

CALC_TEST(wrong_types_are_told_as_in_files)
{
    refuse(CALC_KIND_EXEC, "tensor_par", "eight", CALC_ERR_TYPE,
           "--axis: /tensor_par: expected an integer, found string \"eight\"");
    refuse(CALC_KIND_EXEC, "tensor_par", "", CALC_ERR_TYPE,
           "--axis: /tensor_par: expected an integer, found string \"\"");
    refuse(CALC_KIND_EXEC, "tensor_par", "1,,2", CALC_ERR_TYPE,
           "--axis: /tensor_par: expected an integer, found string \"\"");
    refuse(CALC_KIND_EXEC, "tensor_par", "1,2,", CALC_ERR_TYPE,
           "--axis: /tensor_par: expected an integer, found string \"\"");
    refuse(CALC_KIND_EXEC, "tensor_par", "8.0", CALC_ERR_TYPE,
           "--axis: /tensor_par: expected an integer, found 8.0\n  hint: write 8");
    refuse(CALC_KIND_EXEC, "tensor_par", "8.5", CALC_ERR_TYPE,
           "--axis: /tensor_par: expected an integer, found 8.5");
    refuse(CALC_KIND_EXEC, "tensor_par", "0x10", CALC_ERR_TYPE,
           "--axis: /tensor_par: expected an integer, found string \"0x10\"");
    refuse(CALC_KIND_EXEC, "tensor_par", "8\n", CALC_ERR_TYPE,
           "--axis: /tensor_par: expected an integer, found string \"8?\"\n"
           "  hint: it may end in K, M, G, T (1000 ...), Ki, Mi, Gi, Ti (1024 ...) or %");
    refuse(CALC_KIND_EXEC, "tensor_par", "1,*", CALC_ERR_TYPE,
           "--axis: /tensor_par: expected an integer, found string \"*\"\n"
           "  hint: \"*\" stands alone, and only for fields of the execution");
    refuse(CALC_KIND_SYSTEM, "mem1.GiB", "nan", CALC_ERR_TYPE,
           "--axis: /mem1/GiB: expected a number, found string \"nan\"");
    refuse(CALC_KIND_EXEC, "training", "1", CALC_ERR_TYPE,
           "--axis: /training: expected true or false, found 1\n  hint: write true");
    refuse(CALC_KIND_EXEC, "training", "yes", CALC_ERR_TYPE,
           "--axis: /training: expected true or false, found string \"yes\"");
    refuse(CALC_KIND_EXEC, "tensor_par", "1:2:3:4", CALC_ERR_TYPE,
           "--axis: /tensor_par: \"1:2:3:4\" is not a range\n"
           "  hint: write lo:hi, lo:hi:step or lo:hi:xFACTOR");
    refuse(CALC_KIND_EXEC, "tensor_par", "1:", CALC_ERR_TYPE,
           "--axis: /tensor_par: expected an integer, found string \"\"");
    refuse(CALC_KIND_EXEC, "tensor_par", "1:8:x", CALC_ERR_TYPE,
           "--axis: /tensor_par: expected an integer, found string \"\"");
    refuse(CALC_KIND_EXEC, "tensor_par", "1:8:x1.5", CALC_ERR_TYPE,
           "--axis: /tensor_par: expected an integer, found 1.5");
}

CALC_TEST(limits_are_those_of_the_field)
{
    of_int("1", "1");
    refuse(CALC_KIND_EXEC, "tensor_par", "0", CALC_ERR_RANGE,
           "--axis: /tensor_par: 0 is out of range, expected at least 1");
    refuse(CALC_KIND_EXEC, "tensor_par", "0:8", CALC_ERR_RANGE,
           "--axis: /tensor_par: 0 is out of range, expected at least 1");
    refuse(CALC_KIND_EXEC, "tensor_par", "1:1000000001:x2", CALC_ERR_RANGE,
           "--axis: /tensor_par: 1000000001 is out of range, expected at most 1000000000");
    refuse(
        CALC_KIND_EXEC, "tensor_par", "99999999999999999999", CALC_ERR_RANGE,
        "--axis: /tensor_par: 99999999999999999999 is out of range, expected at most 1000000000");
    refuse(CALC_KIND_EXEC, "tensor_par_net", "8", CALC_ERR_RANGE,
           "--axis: /tensor_par_net: 8 is out of range, expected 0 to 7");
    refuse(CALC_KIND_SYSTEM, "mem1.GBps", "0", CALC_ERR_RANGE,
           "--axis: /mem1/GBps: 0 is out of range, expected at least 1e-06 GB/s");
    refuse(CALC_KIND_SYSTEM, "networks[1].efficiency", "1.5", CALC_ERR_RANGE,
           "--axis: /networks/1/efficiency: 1.5 is out of range, expected 1e-06 to 1");
    refuse(CALC_KIND_EXEC, "activation_recompute", "none:full", CALC_ERR_RANGE,
           "--axis: /activation_recompute: \"none:full\" is not one of none, attn_only, full, "
           "modules, selective_op");
    refuse(CALC_KIND_EXEC, "activation_recompute", "none,ful", CALC_ERR_RANGE,
           "--axis: /activation_recompute: \"ful\" is not one of none, attn_only, full, modules, "
           "selective_op\n"
           "  hint: did you mean \"full\"?");
}

CALC_TEST(ranges_must_lead_somewhere)
{
    refuse(CALC_KIND_EXEC, "tensor_par", "16:8", CALC_ERR_RANGE,
           "--axis: /tensor_par: the range \"16:8\" is empty\n  hint: write 8:16");
    refuse(CALC_KIND_EXEC, "tensor_par", "8:16:0", CALC_ERR_RANGE,
           "--axis: /tensor_par: the step of \"8:16:0\" is not more than 0");
    refuse(CALC_KIND_EXEC, "tensor_par", "8:16:-8", CALC_ERR_RANGE,
           "--axis: /tensor_par: the step of \"8:16:-8\" is not more than 0");
    refuse(CALC_KIND_EXEC, "tensor_par", "8:16:x1", CALC_ERR_RANGE,
           "--axis: /tensor_par: \"8:16:x1\" must begin above 0 and grow by more than x1");
    refuse(CALC_KIND_SYSTEM, "mem2.GiB", "0:16:x2", CALC_ERR_RANGE,
           "--axis: /mem2/GiB: \"0:16:x2\" must begin above 0 and grow by more than x1");
}

CALC_TEST(an_axis_has_at_most_a_million_values)
{
    const char *item = "1:1000000";
    calc_axis_text text = {.key = "tensor_par", .item = &item, .count = 1};
    double *value;
    size_t count;
    ck_assert_int_eq(
        calc_axis_parse(row(CALC_KIND_EXEC, "tensor_par"), &text, &value, &count, NULL), CALC_OK);
    ck_assert_uint_eq(count, CALC_AXIS_MAX_VALUES);
    ck_assert_double_eq(value[count - 1], 1e6);
    free(value);
    refuse(CALC_KIND_EXEC, "tensor_par", "1:1000001", CALC_ERR_RANGE,
           "--axis: /tensor_par: with \"1:1000001\" the axis has more than 1000000 values");
    refuse(CALC_KIND_EXEC, "tensor_par", "1:1000000,3", CALC_ERR_RANGE,
           "--axis: /tensor_par: with \"3\" the axis has more than 1000000 values");
    refuse(CALC_KIND_SYSTEM, "mem1.GiB", "0:1:1e-300", CALC_ERR_RANGE,
           "--axis: /mem1/GiB: with \"0:1:1e-300\" the axis has more than 1000000 values");
    refuse(CALC_KIND_SYSTEM, "mem1.GiB", "1:2:x1.0000000000000002", CALC_ERR_RANGE,
           "--axis: /mem1/GiB: with \"1:2:x1.0000000000000002\" the axis has more than 1000000 "
           "values");
}

CALC_TEST(every_item_of_a_list_has_its_error_and_its_pointer)
{
    const char *const items[] = {"1", "x", "2", "0"};
    calc_axis_text text = {
        .key = "exe.tensor_par", .item = items, .count = 4, .pointer = "/tensor_par", .list = true};
    calc_errors errors = {0};
    double *value;
    size_t count;
    const calc_field *field = row(CALC_KIND_EXEC, "tensor_par");
    ck_assert_int_eq(calc_axis_parse(field, &text, &value, &count, &errors), CALC_ERR_TYPE);
    ck_assert_int_eq(errors.count, 2);
    ck_assert_str_eq(errors.item[0].pointer, "/tensor_par/1");
    ck_assert_str_eq(errors.item[0].file, "");
    ck_assert_str_eq(errors.item[1].pointer, "/tensor_par/3");
}
