#include "gauss/process.h"

#include "frame.h"
#include "process_case.h"

enum { DRAWS = 40000, POINTS = 4 };

static calc_process some(void)
{
    calc_process p;
    calc_process_start(&p, 2, 0, 0);
    for (int i = 0; i < 6; i++) {
        const double point[2] = {i, i % 3};
        ck_assert_int_eq(calc_process_add(&p, point, 0.1 * i - 0.04 * i * i, 1), CALC_OK);
    }
    const calc_process_terms terms = {.length = {2, 1}, .scale = 0.9, .noise = 0.01, .mean = 0.1};
    ck_assert_int_eq(calc_process_condition(&p, &terms), CALC_OK);
    return p;
}

static const double points[2 * POINTS] = {0.5, 0, 7, 2, 0.6, 0.1, 3.3, 1};

CALC_TEST(points_one_by_one_have_the_covariance_of_all)
{
    calc_process p = some();
    calc_process_path path;
    calc_rng rng;
    const double *value[POINTS];
    double mean[POINTS], c[POINTS * POINTS];
    calc_rng_init(&rng, 3, 1);
    calc_process_path_start(&path, &p, DRAWS, &rng);
    for (int i = 0; i < POINTS; i++) {
        value[i] = calc_process_path_at(&path, points + (ptrdiff_t)2 * i);
        ck_assert_ptr_nonnull(value[i]);
    }
    ck_assert_ptr_eq(calc_process_path_at(&path, points), value[0]); /* the same numbers */
    process_posterior(&p, points, POINTS, mean, c);
    for (int i = 0; i < POINTS; i++) {
        for (int k = 0; k <= i; k++) {
            double sum = 0;
            for (int d = 0; d < DRAWS; d++) {
                sum += (value[i][d] - mean[i]) * (value[k][d] - mean[k]) / DRAWS;
            }
            double sd = sqrt(2 * c[(POINTS + 1) * i] * c[(POINTS + 1) * k] / DRAWS);
            ck_assert_double_eq_tol(sum, c[POINTS * i + k], 4 * sd);
        }
    }
    calc_process_path_clear(&path);
    calc_process_free(&p);
}

/* A point that is as good as another has its draws; one without spread its mean. */
CALC_TEST(settled_points)
{
    calc_process p = some();
    calc_process_path path;
    calc_rng rng;
    const double near[2] = {0.5 + 1e-15, 0};
    calc_rng_init(&rng, 3, 1);
    calc_process_path_start(&path, &p, 10, &rng);
    const double *a = calc_process_path_at(&path, points);
    const double *b = calc_process_path_at(&path, near);
    const double *c = calc_process_path_at(&path, points + 2);
    ck_assert(a && b && c);
    for (int i = 0; i < 10; i++) {
        ck_assert_double_eq_tol(a[i], b[i], 1e-6);
        ck_assert(isfinite(c[i]));
    }
    calc_process_path_clear(&path);
    calc_process_free(&p);
    calc_process_start(&p, 2, 0.25, 0);
    a = calc_process_path_at(&path, points);
    ck_assert_ptr_nonnull(a);
    ck_assert_double_eq(a[9], 0.25);
    b = calc_process_path_at(&path, points + 2);
    ck_assert_ptr_nonnull(b);
    ck_assert_double_eq(b[9], 0.25);
    calc_process_path_clear(&path);
}

/* More points than there is room for at first; all of them stay. */
CALC_TEST(many_points)
{
    calc_process p = some();
    calc_process_path path;
    calc_rng rng;
    calc_rng_init(&rng, 3, 1);
    calc_process_path_start(&path, &p, 5, &rng);
    const double *first = calc_process_path_at(&path, points);
    for (int i = 0; i < 200; i++) {
        const double point[2] = {0.01 * i, 1};
        ck_assert_ptr_nonnull(calc_process_path_at(&path, point));
    }
    ck_assert_uint_eq(path.count, 201);
    ck_assert_ptr_eq(calc_process_path_at(&path, points), first);
    calc_process_path_clear(&path);
    ck_assert_uint_eq(path.count, 0);
    calc_process_free(&p);
}
