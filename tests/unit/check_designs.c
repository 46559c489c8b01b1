#include "designs.h"

#include <stdlib.h>

#include "frame.h"

static calc_designs_builder builder;

static void setup(void)
{
    calc_app app = {.hidden = 100, .num_blocks = 12};
    calc_system system = {.networks_count = 1};
    ck_assert_int_eq(calc_designs_add_app(&builder, "small", &app), CALC_OK);
    app.hidden = 200;
    ck_assert_int_eq(calc_designs_add_app(&builder, "large", &app), CALC_OK);
    system.chip.mem1.bytes_per_s = 1e9;
    ck_assert_int_eq(calc_designs_add_system(&builder, "slow", &system), CALC_OK);
    system.chip.mem1.bytes_per_s = 2e9;
    ck_assert_int_eq(calc_designs_add_system(&builder, "fast", &system), CALC_OK);
}

static void teardown(void)
{
    calc_designs_builder_free(&builder);
    ck_assert_uint_eq(builder.apps, 0);
}

const calc_test_frame calc_tests = {.setup = setup, .teardown = teardown};

static void add(calc_kind kind, const char *path, const double *values, size_t count)
{
    calc_field_ref ref;
    ck_assert_int_eq(calc_field_find(kind, path, &ref), CALC_OK);
    ck_assert_int_eq(calc_designs_add_axis(&builder, &ref, path, values, count), CALC_OK);
}

CALC_TEST(without_axes_designs_are_the_pairs)
{
    calc_designs designs;
    calc_app app;
    calc_system system;
    ck_assert_int_eq(calc_designs_make(&builder, &designs, NULL), CALC_OK);
    ck_assert_uint_eq(designs.count, 4);
    for (uint64_t i = 0; i < 4; i++) {
        designs.get(designs.context, i, &app, &system);
        ck_assert_int_eq(app.hidden, i < 2 ? 100 : 200);
        ck_assert_double_eq(system.chip.mem1.bytes_per_s, i % 2 == 0 ? 1e9 : 2e9);
    }
}

CALC_TEST(the_first_varies_slowest_and_fields_are_scaled_once)
{
    calc_designs designs;
    calc_app app;
    calc_system system;
    char text[256];
    add(CALC_KIND_SYSTEM, "mem1.GiB", (double[]){40, 80, 0.5}, 3);
    add(CALC_KIND_APP, "num_blocks", (double[]){24, 48}, 2);
    ck_assert_int_eq(calc_designs_make(&builder, &designs, NULL), CALC_OK);
    ck_assert_uint_eq(designs.count, 24);
    designs.get(designs.context, 0, &app, &system);
    ck_assert_double_eq(system.chip.mem1.capacity_bytes, 40 * 0x1p30);
    ck_assert_int_eq(app.num_blocks, 24);
    designs.get(designs.context, 1, &app, &system);
    ck_assert_double_eq(system.chip.mem1.capacity_bytes, 40 * 0x1p30);
    ck_assert_int_eq(app.num_blocks, 48);
    designs.get(designs.context, 23, &app, &system);
    ck_assert_double_eq(system.chip.mem1.capacity_bytes, 0x1p29);
    ck_assert_int_eq(app.num_blocks, 48);
    ck_assert_int_eq(app.hidden, 200);
    ck_assert_double_eq(system.chip.mem1.bytes_per_s, 2e9);
    ck_assert_str_eq(calc_designs_describe(&builder, 9, text, sizeof text),
                     "small fast sys.mem1.GiB=80 app.num_blocks=48");
    ck_assert_str_eq(calc_designs_parts(&builder, 9).app->name, "small");
    ck_assert_str_eq(calc_designs_parts(&builder, 9).system->name, "fast");
    ck_assert_double_eq(calc_designs_value(&builder, 9, 0), 80);
    ck_assert_double_eq(calc_designs_value(&builder, 9, 1), 48);
}

CALC_TEST(every_design_is_another_one)
{
    enum { COUNT = 2 * 2 * 3 * 2 * 2 };
    static char names[COUNT][128];
    add(CALC_KIND_APP, "num_blocks", (double[]){1, 2, 3}, 3);
    add(CALC_KIND_SYSTEM, "networks[0].must_be_filled", (double[]){0, 1}, 2);
    add(CALC_KIND_SYSTEM, "processing_mode", (double[]){0, 1}, 2);
    for (uint64_t i = 0; i < COUNT; i++) {
        calc_designs_describe(&builder, i, names[i], sizeof names[i]);
        for (uint64_t k = 0; k < i; k++) {
            ck_assert_str_ne(names[i], names[k]);
        }
    }
    ck_assert_str_eq(names[COUNT - 1], "large fast app.num_blocks=3 "
                                       "sys.networks[0].must_be_filled=true "
                                       "sys.processing_mode=no_overlap");
}

CALC_TEST(choices_and_booleans_are_set)
{
    calc_designs designs;
    calc_app app;
    calc_system system;
    add(CALC_KIND_SYSTEM, "networks[0].must_be_filled", (double[]){1}, 1);
    add(CALC_KIND_SYSTEM, "processing_mode", (double[]){CALC_PROCESSING_MODE_NO_OVERLAP}, 1);
    ck_assert_int_eq(calc_designs_make(&builder, &designs, NULL), CALC_OK);
    designs.get(designs.context, 0, &app, &system);
    ck_assert(system.networks[0].must_be_filled);
    ck_assert_int_eq(system.chip.processing_mode, CALC_PROCESSING_MODE_NO_OVERLAP);
}

CALC_TEST(a_field_added_again_takes_its_old_place)
{
    add(CALC_KIND_SYSTEM, "mem1.GiB", (double[]){40, 80}, 2);
    add(CALC_KIND_APP, "hidden", (double[]){5}, 1);
    add(CALC_KIND_SYSTEM, "mem1.GiB", (double[]){120}, 1);
    ck_assert_uint_eq(builder.axes, 2);
    ck_assert_str_eq(builder.axis[0].path, "sys.mem1.GiB");
    ck_assert_double_eq(builder.axis[0].value[0], 120);
}

CALC_TEST(products_of_2_to_the_63_are_refused)
{
    static double values[1 << 20];
    static const char *const paths[] = {"hidden", "feedforward", "seq_size"};
    calc_designs designs;
    calc_errors errors = {0};
    for (int i = 0; i < 3; i++) {
        add(CALC_KIND_APP, paths[i], values, 1 << 20);
    }
    ck_assert_int_eq(calc_designs_make(&builder, &designs, &errors), CALC_OK);
    ck_assert_uint_eq(designs.count, UINT64_C(1) << 62);
    add(CALC_KIND_APP, "attn_heads", values, 2);
    ck_assert_int_eq(calc_designs_make(&builder, &designs, &errors), CALC_ERR_RANGE);
    ck_assert_str_eq(errors.item[0].text, "there are 2^63 or more designs");
    add(CALC_KIND_APP, "attn_heads", values, 4);
    ck_assert_int_eq(calc_designs_make(&builder, &designs, NULL), CALC_ERR_RANGE);
    add(CALC_KIND_APP, "attn_heads", values, 1 << 20);
    ck_assert_int_eq(calc_designs_make(&builder, &designs, NULL), CALC_ERR_RANGE);
}

CALC_TEST(descriptions_are_cut_to_their_buffer)
{
    char text[12];
    add(CALC_KIND_SYSTEM, "mem1.GiB", (double[]){40}, 1);
    ck_assert_str_eq(calc_designs_describe(&builder, 0, text, sizeof text), "small slow ");
    ck_assert_str_eq(calc_designs_describe(&builder, 0, text, 4), "sma");
}
