/* Constants of machines: where they are, what they may be, what is assumed of them. */
#include "calibrate/fit.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "frame.h"

static calc_system read_system(const char *name)
{
    calc_system system;
    char path[512];
    snprintf(path, sizeof path, CALC_DATA_DIR_SOURCE "/systems/%s.json", name);
    ck_assert_int_eq(calc_load(CALC_KIND_SYSTEM, &system, path, NULL), CALC_OK);
    return system;
}

CALC_TEST(every_path_is_a_number_or_a_curve_of_a_system)
{
    size_t count = 0;
    for (const calc_constant *c; (c = calc_constant_at(count)); count++) {
        ck_assert_ptr_eq(calc_constant_find(c->name), c);
        for (int i = 0; i < CALC_CONSTANT_PATHS && c->path[i]; i++) {
            calc_field_ref ref;
            ck_assert_msg(calc_field_find(CALC_KIND_SYSTEM, c->path[i], &ref) == CALC_OK, "%s",
                          c->path[i]);
            ck_assert(ref.field->type == CALC_TYPE_REAL || ref.field->type == CALC_TYPE_CURVE);
        }
        ck_assert(c->spread > 0 && c->start > 0);
        ck_assert(c->scale == CALC_CONSTANT_LOG || c->start < 1);
    }
    ck_assert_uint_eq(count, 35);
    ck_assert_ptr_null(calc_constant_find("watts"));
}

CALC_TEST(a_value_set_is_the_value_got_and_nothing_else_changes)
{
    const calc_system before = read_system("h100_sxm");
    const calc_constant *c;
    for (size_t i = 0; (c = calc_constant_at(i)); i++) {
        calc_system system = before;
        double value = calc_constant_get(c, &before);
        if (value <= 0) {
            continue;
        }
        calc_constant_set(c, &system, value * 0.5);
        ck_assert_msg(calc_constant_get(c, &system) == value * 0.5, "%s", c->name);
        const calc_constant *other;
        for (size_t k = 0; (other = calc_constant_at(k)); k++) {
            ck_assert_msg(k == i || calc_constant_get(other, &system) ==
                                        calc_constant_get(other, &before),
                          "%s changed %s", c->name, other->name);
        }
    }
}

CALC_TEST(what_a_file_does_not_give_stays_absent)
{
    calc_system system = read_system("a100_80g");
    const calc_constant *block = calc_constant_find("host.block");
    ck_assert(calc_constant_get(block, &system) == 0);
    calc_constant_set(block, &system, 1e-3);
    ck_assert(system.chip.host.block_s == 0);
    /* One of three data types is offered: the others stay empty. */
    const calc_constant *matrix = calc_constant_find("matrix.bfloat16");
    calc_constant_set(matrix, &system, 0.5);
    ck_assert(system.chip.matrix[CALC_DATATYPE_FLOAT16].efficiency.efficiency[0] == 0.5);
    ck_assert_int_eq(system.chip.matrix[CALC_DATATYPE_BFLOAT16].efficiency.count, 0);
}

CALC_TEST(a_curve_keeps_its_shape_up_to_one)
{
    calc_system system = {0};
    system.chip.mem1.efficiency =
        (calc_curve){.count = 3, .threshold = {100, 10, 0}, .efficiency = {0.8, 0.4, 0.9}};
    const calc_constant *memory = calc_constant_find("mem1.efficiency");
    ck_assert(calc_constant_get(memory, &system) == 0.8);
    calc_constant_set(memory, &system, 0.9);
    ck_assert(system.chip.mem1.efficiency.efficiency[0] == 0.9);
    ck_assert_double_eq_tol(system.chip.mem1.efficiency.efficiency[1], 0.45, 1e-15);
    ck_assert(system.chip.mem1.efficiency.efficiency[2] == 1);
}

CALC_TEST(numbers_without_limits_come_back)
{
    static const double values[] = {1e-6, 0.01, 0.5, 0.99};
    const calc_constant *c;
    for (size_t i = 0; (c = calc_constant_at(i)); i++) {
        for (size_t k = 0; k < sizeof values / sizeof *values; k++) {
            double back = calc_constant_from_free(c, calc_constant_to_free(c, values[k]));
            ck_assert_double_eq_tol(back / values[k], 1, 1e-12);
        }
    }
    /* log(2) and log(0.8 / 0.2), from their definitions. */
    const calc_constant *eager = calc_constant_find("eager_traffic");
    const calc_constant *memory = calc_constant_find("mem1.efficiency");
    ck_assert_double_eq_tol(calc_constant_to_free(eager, 2), 0.69314718055994531, 1e-15);
    ck_assert_double_eq_tol(calc_constant_to_free(memory, 0.8), 1.3862943611198906, 1e-15);
}

CALC_TEST(no_number_leads_out_of_the_range_of_the_field)
{
    ck_assert(calc_constant_from_free(calc_constant_find("matrix.bfloat16"), 3) == 1);
    ck_assert(calc_constant_from_free(calc_constant_find("grouped.efficiency"), 3) == 2);
    ck_assert(calc_constant_from_free(calc_constant_find("mem1.efficiency"), 60) <= 1);
    ck_assert(calc_constant_from_free(calc_constant_find("matrix.bfloat16"), log(0.5)) == 0.5);
}

CALC_TEST(a_machine_is_known_better_than_its_family_and_that_better_than_any)
{
    calc_constant_starts starts = {0};
    calc_errors errors = {0};
    ck_assert_int_eq(calc_constant_starts_read(
                         &starts, CALC_DATA_DIR_SOURCE "/tests/measured/starts.csv", &errors),
                     CALC_OK);
    for (size_t i = 0; i < starts.count; i++) {
        ck_assert_ptr_nonnull(calc_constant_find(starts.item[i].constant));
    }
    const calc_constant *nic = calc_constant_find("networks[1].efficiency");
    const calc_constant *matrix = calc_constant_find("matrix.bfloat16");
    ck_assert(calc_constant_start(nic, &starts, "A100", "vtrain_a100") == 0.64);
    ck_assert(calc_constant_start(nic, &starts, "A100", "a100_sxm_80g") == 0.8);
    ck_assert(calc_constant_start(matrix, &starts, "A100", "vtrain_a100") == 0.82);
    ck_assert(calc_constant_start(matrix, &starts, "H100", "h100_sxm") == 0.75);
    ck_assert(calc_constant_start(matrix, &starts, "Blackwell", "b200") == 0.65);
    ck_assert(calc_constant_start(matrix, &starts, "Blackwell", "b200_180g") == 0.511);
    ck_assert(calc_constant_start(matrix, &starts, NULL, NULL) == 0.7);
    /* Kernels on GB200 over those on B200; and the root of 1,400 W over its 1,200. */
    const calc_constant *sustained = calc_constant_find("sustained");
    ck_assert(calc_constant_start(sustained, &starts, "Blackwell", "gb300_nvl72") == 1.12);
    ck_assert(calc_constant_start(sustained, &starts, "Blackwell", "gb200_nvl72") == 1.04);
    calc_constant_starts_free(&starts);
}
