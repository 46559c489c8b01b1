/* Random points of a space: the right ones, evenly, and the same for the same seed. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "estimate.h"
#include "frame.h"
#include "small_case.h"

enum { DRAWN = 40000 };

static void get(const void *context, uint64_t index, calc_app *app, calc_system *system)
{
    (void)context;
    *app = small_app();
    *system = small_system();
    /* Two designs: the second has too little memory for some layouts. */
    system->chip.mem1.capacity_bytes = index == 0 ? 1e15 : 2e6;
}

static const calc_designs designs = {.count = 2, .get = get};

static void make_space(calc_space *space)
{
    static const int64_t procs[] = {2, 4};
    static const int64_t batch = 4;
    static const int64_t none = 0; /* of overlap; of recomputation; false */
    static const calc_axis fixed[] = {CALC_AXIS_tensor_par_overlap, CALC_AXIS_seq_par_ag_redo,
                                      CALC_AXIS_activation_recompute,
                                      CALC_AXIS_activations_offload};
    ck_assert_int_eq(calc_space_init(space), CALC_OK);
    ck_assert_int_eq(calc_space_set(space, CALC_AXIS_num_procs, procs, 2), CALC_OK);
    ck_assert_int_eq(calc_space_set(space, CALC_AXIS_batch_size, &batch, 1), CALC_OK);
    for (size_t i = 0; i < sizeof fixed / sizeof *fixed; i++) {
        ck_assert_int_eq(calc_space_set(space, fixed[i], &none, 1), CALC_OK);
    }
}

static calc_sample_point *draw(const calc_space *space, uint64_t seed, uint64_t *total)
{
    calc_sample_point *point = malloc(DRAWN * sizeof *point);
    calc_errors errors = {0};
    ck_assert_ptr_nonnull(point);
    ck_assert_int_eq(
        calc_sample(space, &designs, CALC_COMPAT_NONE, seed, DRAWN, point, total, &errors),
        CALC_OK);
    return point;
}

CALC_TEST(the_same_seed_draws_the_same_points_and_another_draws_others)
{
    calc_space space;
    uint64_t total;
    make_space(&space);
    calc_sample_point *a = draw(&space, 7, &total);
    calc_sample_point *b = draw(&space, 7, &total);
    calc_sample_point *c = draw(&space, 8, &total);
    size_t differ = 0;
    for (size_t i = 0; i < DRAWN; i++) {
        ck_assert_uint_eq(a[i].index, b[i].index);
        ck_assert_int_eq(memcmp(&a[i].exec, &b[i].exec, sizeof a[i].exec), 0);
        ck_assert(i == 0 || a[i - 1].index <= a[i].index);
        ck_assert_uint_lt(a[i].index, total);
        differ += a[i].index != c[i].index;
    }
    ck_assert_uint_gt(differ, DRAWN / 2);
    free(a);
    free(b);
    free(c);
    calc_space_free(&space);
}

/* With many more draws than points every point is drawn, and each verdict about as often as the
 * sweep counts it: within six standard deviations. */
static int compare_layouts(const void *a, const void *b)
{
    const calc_sample_point *x = a;
    const calc_sample_point *y = b;
    if (x->design != y->design) {
        return x->design < y->design ? -1 : 1;
    }
    return calc_axis_compare(&x->exec, &y->exec);
}

CALC_TEST(points_with_different_numbers_are_different_layouts)
{
    calc_space space;
    uint64_t total;
    make_space(&space);
    calc_sample_point *point = draw(&space, 5, &total);
    size_t count = 0;
    for (size_t i = 0; i < DRAWN; i++) {
        if (count == 0 || point[i].index != point[count - 1].index) {
            point[count++] = point[i];
        }
    }
    qsort(point, count, sizeof *point, compare_layouts);
    for (size_t i = 1; i < count; i++) {
        ck_assert_int_ne(compare_layouts(&point[i - 1], &point[i]), 0);
    }
    free(point);
    calc_space_free(&space);
}

CALC_TEST(points_are_drawn_evenly_and_with_the_sweeps_verdicts)
{
    calc_space space;
    uint64_t total;
    make_space(&space);
    calc_sample_point *point = draw(&space, 1, &total);
    calc_sweep_options options = {.no_prune = true, .top = 1, .top_by = {.up = true}};
    calc_sweep_result result;
    calc_errors errors = {0};
    ck_assert_int_eq(calc_sweep(&space, &designs, &options, &result, &errors), CALC_OK);
    ck_assert_uint_eq(result.counts.total, total);
    ck_assert_uint_lt(total, DRAWN / 4);

    double drawn[CALC_VERDICT_COUNT] = {0};
    size_t distinct = 0;
    for (size_t i = 0; i < DRAWN; i++) {
        drawn[point[i].verdict]++;
        distinct += i == 0 || point[i].index != point[i - 1].index;
        if (point[i].verdict == CALC_VERDICT_OK) {
            ck_assert_double_gt(point[i].stats.total_time, 0);
            calc_app app;
            calc_system system;
            get(NULL, point[i].design, &app, &system);
            ck_assert_int_eq(calc_check(&app, &system, &point[i].exec, &errors), CALC_OK);
        }
    }
    /* A point is missed with probability exp(-DRAWN / total). */
    double expected_missed = (double)total * exp(-(double)DRAWN / (double)total);
    ck_assert_double_ge((double)distinct,
                        (double)total - 6 * sqrt(expected_missed) - 6 - expected_missed);
    for (int v = 0; v < CALC_VERDICT_COUNT; v++) {
        uint64_t counted =
            v == CALC_VERDICT_OK ? result.counts.feasible : result.counts.rejected[v];
        double share = (double)counted / (double)total;
        double deviation = sqrt(DRAWN * share * (1 - share));
        ck_assert_double_le(fabs(drawn[v] - DRAWN * share), 6 * deviation);
    }
    ck_assert_uint_gt(result.counts.feasible, 0);
    ck_assert_uint_gt(result.counts.rejected[CALC_VERDICT_MEM1_CAPACITY], 0);
    calc_sweep_result_free(&result);
    free(point);
    calc_space_free(&space);
}

CALC_TEST(an_empty_space_is_an_error)
{
    static const int64_t procs = 1009; /* prime: a batch of 1 has no replicas, a model as many
                                             blocks */
    static const int64_t batch = 1;
    calc_space space;
    calc_sample_point point;
    uint64_t total;
    calc_errors errors = {0};
    ck_assert_int_eq(calc_space_init(&space), CALC_OK);
    ck_assert_int_eq(calc_space_set(&space, CALC_AXIS_num_procs, &procs, 1), CALC_OK);
    ck_assert_int_eq(calc_space_set(&space, CALC_AXIS_batch_size, &batch, 1), CALC_OK);
    ck_assert_int_eq(calc_sample(&space, &designs, CALC_COMPAT_NONE, 1, 1, &point, &total, &errors),
                     CALC_ERR_RANGE);
    ck_assert_str_eq(errors.item[0].text, "the space is empty");
    calc_space_free(&space);
}
