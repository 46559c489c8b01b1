/* What fields hold, in words, and the fields in which two objects differ. */
#include "spec/value_text.h"

#include <string.h>

#include "frame.h"

static calc_exec from, to;
static char said[256];

static void enter(void)
{
    from = (calc_exec){.num_procs = 8, .pipeline_par = 2, .strategy = {.tensor_par = 4}};
    to = from;
    said[0] = '\0';
}

const calc_test_frame calc_tests = {.setup = enter};

static void say(void *context, const char *path, const calc_field *field, const char *a,
                const char *b)
{
    (void)field;
    strcat(strcat(context, path), " ");
    strcat(strcat(context, a), ">");
    strcat(strcat(context, b), ";");
}

CALC_TEST(equal_objects_differ_in_nothing)
{
    calc_value_differences(CALC_KIND_EXEC, &from, &to, say, said);
    ck_assert_str_eq(said, "");
}

CALC_TEST(differences_are_told_in_the_order_of_the_table)
{
    to.strategy.tensor_par = 8;
    to.pipeline_par = 1;
    to.strategy.fused_activation = true;
    to.strategy.activation_recompute = CALC_ACTIVATION_RECOMPUTE_FULL;
    calc_value_differences(CALC_KIND_EXEC, &from, &to, say, said);
    ck_assert_str_eq(said, "tensor_par 4>8;pipeline_par 2>1;fused_activation false>true;"
                           "activation_recompute none>full;");
}

CALC_TEST(fields_of_an_object_differ_by_their_path)
{
    to.inference.chunk_size = 512;
    to.inference.traits.eager = true;
    calc_value_differences(CALC_KIND_EXEC, &from, &to, say, said);
    ck_assert_str_eq(said, "inference.traits.eager false>true;inference.chunk_size 0>512;");
}

CALC_TEST(elements_of_lists_and_maps_differ_one_by_one_and_may_be_there_on_one_side_alone)
{
    calc_system a = {.networks_count = 1}, b = {.networks_count = 2};
    a.networks[0].size = 8;
    b.networks[0].size = 4;
    b.networks[1].size = 64;
    b.chip.matrix[CALC_DATATYPE_FLOAT8].flop_per_s = 2e15;
    char all[4096] = "";
    calc_value_differences(CALC_KIND_SYSTEM, &a, &b, say, all);
    ck_assert_ptr_nonnull(strstr(all, "matrix.float8.tflops ->2000;"));
    ck_assert_ptr_nonnull(strstr(all, "networks[0].size 8>4;"));
    ck_assert_ptr_nonnull(strstr(all, "networks[1].size ->64;"));
    ck_assert_ptr_null(strstr(all, "networks[2]"));
    ck_assert_ptr_null(strstr(all, "matrix.float16"));
}

CALC_TEST(values_are_in_the_units_of_files)
{
    calc_system system = {.chip.mem1.bytes_per_s = 2e12};
    calc_field_ref ref;
    char text[CALC_VALUE_TEXT];
    ck_assert_int_eq(calc_field_find(CALC_KIND_SYSTEM, "mem1.GBps", &ref), CALC_OK);
    ck_assert_str_eq(calc_value_text(ref.field, &system.chip.mem1.bytes_per_s, text), "2000");
}
