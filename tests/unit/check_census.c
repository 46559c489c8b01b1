/* Spaces counted kind by kind: the numbers of a walk over every design with its own system. */
#include "estimate.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "designs.h"
#include "frame.h"
#include "small_case.h"
#include "units.h"

static calc_designs_builder builder;
static calc_designs designs;
static calc_space space;

static void set(calc_axis axis, const int64_t *value, size_t count)
{
    ck_assert_int_eq(calc_space_set(&space, axis, value, count), CALC_OK);
}

static void begin(void)
{
    const int64_t procs[] = {4, 16, 24};
    const int64_t batch[] = {12, 16};
    const calc_app app = small_app();
    const calc_system system = small_system();
    ck_assert_int_eq(calc_space_init(&space), CALC_OK);
    set(CALC_AXIS_num_procs, procs, 3);
    set(CALC_AXIS_batch_size, batch, 2);
    ck_assert_int_eq(calc_designs_add_app(&builder, "small", &app), CALC_OK);
    ck_assert_int_eq(calc_designs_add_system(&builder, "small", &system), CALC_OK);
}

static void end(void)
{
    calc_designs_builder_free(&builder);
    calc_space_free(&space);
}

const calc_test_frame calc_tests = {.setup = begin, .teardown = end};

static void sweep(calc_kind kind, const char *path, const double *values, size_t count)
{
    calc_field_ref ref;
    ck_assert_int_eq(calc_field_find(kind, path, &ref), CALC_OK);
    ck_assert_int_eq(calc_designs_add_axis(&builder, &ref, path, values, count), CALC_OK);
    ck_assert_int_eq(calc_designs_make(&builder, &designs, NULL), CALC_OK);
}

/* A census of the designs, whose counts are those of a walk over each of them. */
static calc_census census(void)
{
    calc_census out;
    calc_sweep_counts walked;
    calc_errors errors = {0};
    ck_assert_int_eq(calc_census_take(&out, &space, &designs, CALC_COMPAT_NONE, &errors), CALC_OK);
    ck_assert_int_eq(calc_units_walk(&space, &designs, CALC_COMPAT_NONE, NULL, NULL, &walked),
                     CALC_OK);
    ck_assert_uint_eq(out.counts.total, walked.total);
    ck_assert_mem_eq(out.counts.rejected, walked.rejected, sizeof walked.rejected);
    return out;
}

CALC_TEST(what_counting_does_not_see_is_counted_once)
{
    sweep(CALC_KIND_SYSTEM, "mem1.GiB", (double[]){1, 2, 3}, 3);
    ck_assert_uint_eq(designs.kinds, 1);
    calc_census one = census();
    sweep(CALC_KIND_SYSTEM, "networks[0].bandwidth", (double[]){1, 20, 300, 4000}, 4);
    sweep(CALC_KIND_SYSTEM, "matrix.float16.tflops", (double[]){1, 2}, 2);
    ck_assert_uint_eq(designs.kinds, 1);
    ck_assert_uint_eq(designs.count, 24);
    calc_census all = census();
    ck_assert_uint_gt(one.counts.total, 0);
    ck_assert_uint_eq(all.counts.total, 8 * one.counts.total);
    ck_assert_double_eq(all.units, 8 * one.units);
    ck_assert_uint_eq(all.most_rows, one.most_rows);
    calc_census_free(&one);
    calc_census_free(&all);
}

CALC_TEST(what_it_sees_makes_kinds)
{
    sweep(CALC_KIND_SYSTEM, "mem2.GiB", (double[]){0, 16, 32}, 3);
    ck_assert_uint_eq(designs.kinds, 2);
    sweep(CALC_KIND_SYSTEM, "networks[0].size", (double[]){2, 8, 8, 6}, 4);
    ck_assert_uint_eq(designs.kinds, 6);
    sweep(CALC_KIND_SYSTEM, "networks[0].must_be_filled", (double[]){0, 1}, 2);
    ck_assert_uint_eq(designs.kinds, 12);
    sweep(CALC_KIND_SYSTEM, "mem1.GiB", (double[]){1, 2}, 2);
    ck_assert_uint_eq(designs.kinds, 12);
    sweep(CALC_KIND_APP, "num_blocks", (double[]){4, 6}, 2);
    ck_assert_uint_eq(designs.kinds, 24);
    calc_census all = census();
    ck_assert_uint_gt(all.counts.rejected[CALC_VERDICT_NETWORK_SIZE], 0);
    ck_assert_uint_gt(all.counts.rejected[CALC_VERDICT_NETWORK_FILL], 0);
    calc_census_free(&all);
}

CALC_TEST(designs_are_members_of_their_kinds)
{
    uint64_t members = 0;
    sweep(CALC_KIND_SYSTEM, "mem2.GiB", (double[]){0, 16, 32}, 3);
    sweep(CALC_KIND_SYSTEM, "mem1.GiB", (double[]){1, 2}, 2);
    sweep(CALC_KIND_SYSTEM, "networks[1].size", (double[]){64, 64, 48}, 3);
    for (uint64_t k = 0; k < designs.kinds; k++) {
        uint64_t count = designs.members(designs.context, k);
        members += count;
        for (uint64_t m = 0; m < count; m++) {
            calc_app app;
            calc_system first, own;
            uint64_t index = designs.member(designs.context, k, m);
            ck_assert_uint_lt(index, designs.count);
            ck_assert_uint_eq(designs.kind(designs.context, index), k);
            designs.get(designs.context, designs.member(designs.context, k, 0), &app, &first);
            designs.get(designs.context, index, &app, &own);
            ck_assert(calc_census_alike(&first, &own));
        }
    }
    ck_assert_uint_eq(members, designs.count);
}

/* Systems as they are shipped: all that counting needs to see of them is what it sees. */
CALC_TEST(systems_are_counted_by_what_is_seen_of_them)
{
    static const char *const names[] = {"a100_80g", "h100_80g_nvl8", "h800", "gb200_nvl72"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        calc_system system;
        char path[256];
        snprintf(path, sizeof path, CALC_DATA_DIR_SOURCE "/systems/%s.json", names[i]);
        ck_assert_int_eq(calc_load(CALC_KIND_SYSTEM, &system, path, NULL), CALC_OK);
        ck_assert_int_eq(calc_designs_add_system(&builder, names[i], &system), CALC_OK);
    }
    ck_assert_int_eq(calc_designs_make(&builder, &designs, NULL), CALC_OK);
    calc_census all = census();
    calc_census_free(&all);
}

/* ---- Points ---------------------------------------------------------------------------------- */

static int compare_met(const void *a, const void *b)
{
    const calc_sample_point *x = a;
    const calc_sample_point *y = b;
    if (x->design != y->design) {
        return x->design < y->design ? -1 : 1;
    }
    int order = calc_axis_compare(&x->exec, &y->exec);
    return order != 0 ? order : (int)x->verdict - (int)y->verdict;
}

/* All points of the designs, in order of layouts. */
static calc_sample_point *all_points(size_t *count)
{
    calc_errors errors = {0};
    calc_census all = census();
    *count = (size_t)all.counts.total;
    calc_sample_point *m = calloc(*count, sizeof *m);
    ck_assert_ptr_nonnull(m);
    for (size_t i = 0; i < *count; i++) {
        m[i].index = i;
        m[i].design = UINT64_MAX;
    }
    ck_assert_int_eq(calc_census_points(&all, m, *count, &errors), CALC_OK);
    for (size_t i = 0; i < *count; i++) {
        ck_assert_uint_lt(m[i].design, designs.count);
    }
    qsort(m, *count, sizeof *m, compare_met);
    calc_census_free(&all);
    return m;
}

CALC_TEST(points_of_kinds_are_those_of_their_designs)
{
    static const calc_axis fixed[] = {CALC_AXIS_tensor_par_overlap, CALC_AXIS_seq_par_ag_redo,
                                      CALC_AXIS_activation_recompute, CALC_AXIS_activations_offload,
                                      CALC_AXIS_weight_offload};
    static const int64_t none = 0;
    for (size_t i = 0; i < sizeof fixed / sizeof *fixed; i++) {
        set(fixed[i], &none, 1);
    }
    set(CALC_AXIS_num_procs, (int64_t[]){4}, 1);
    set(CALC_AXIS_batch_size, (int64_t[]){4}, 1);
    size_t known, each;
    sweep(CALC_KIND_SYSTEM, "networks[0].size", (double[]){2, 8}, 2);
    sweep(CALC_KIND_SYSTEM, "mem1.GiB", (double[]){1, 2}, 2);
    calc_sample_point *by_kind = all_points(&known);
    designs.kinds = 0;
    calc_sample_point *by_design = all_points(&each);
    ck_assert_uint_eq(known, each);
    ck_assert_uint_gt(known, 1000);
    for (size_t i = 0; i < known; i++) {
        ck_assert_int_eq(compare_met(&by_kind[i], &by_design[i]), 0);
        ck_assert(i == 0 || by_kind[i].verdict == CALC_VERDICT_INTERLEAVING ||
                  compare_met(&by_kind[i - 1], &by_kind[i]) != 0);
    }
    free(by_kind);
    free(by_design);
}

CALC_TEST(counts_beyond_64_bits_are_refused)
{
    static double values[1 << 20];
    calc_census out;
    calc_errors errors = {0};
    for (size_t i = 0; i < 1 << 20; i++) {
        values[i] = 1 + (double)i;
    }
    sweep(CALC_KIND_SYSTEM, "mem1.GBps", values, 1 << 20);
    sweep(CALC_KIND_SYSTEM, "networks[0].bandwidth", values, 1 << 20);
    ck_assert_int_eq(calc_census_take(&out, &space, &designs, CALC_COMPAT_NONE, &errors), CALC_OK);
    ck_assert_uint_eq(out.counts.total % (UINT64_C(1) << 40), 0);
    calc_census_free(&out);
    sweep(CALC_KIND_SYSTEM, "networks[1].bandwidth", values, 1 << 20);
    ck_assert_int_eq(calc_census_take(&out, &space, &designs, CALC_COMPAT_NONE, &errors),
                     CALC_ERR_RANGE);
    ck_assert_str_eq(errors.item[0].text, "there are 2^64 or more layouts");
    calc_census_free(&out);
}
