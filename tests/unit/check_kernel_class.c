/* Classes of kernels, and the process that is learnt of one. */
#include "tune/kernels.h"

#include "frame.h"
#include "gauss/process.h"
#include "kernel_case.h"
#include "process_case.h"

static calc_process process;
static size_t measured;

static void leave(void)
{
    calc_process_free(&process);
}

const calc_test_frame calc_tests = {.teardown = leave};

static calc_tune_kernel_class matrices(void)
{
    calc_kernel_key key = kernel_case_matrix(1, 1, 1, CALC_PASS_FW);
    return calc_tune_kernel_class_of(&key);
}

static void learn(const calc_kernel_point *point, size_t count, const double *wanted, size_t wants)
{
    calc_kernel_table table = {point, count};
    calc_tune_kernel_class class = matrices();
    calc_errors errors = {0};
    ck_assert_int_eq(calc_tune_kernel_class_learn(&process, &class, &table, wanted, wants, 0.1,
                                                  &measured, &errors),
                     CALC_OK);
}

CALC_TEST(classes_are_what_runs_and_its_format)
{
    calc_kernel_key a = kernel_case_matrix(1024, 4096, 512, CALC_PASS_FW);
    calc_kernel_key b = kernel_case_matrix(64, 32, 16, CALC_PASS_WGRAD);
    calc_tune_kernel_class x = calc_tune_kernel_class_of(&a);
    calc_tune_kernel_class y = calc_tune_kernel_class_of(&b);
    ck_assert(calc_tune_kernel_class_is(&x, &y));
    b.datatype = CALC_DATATYPE_FLOAT8;
    y = calc_tune_kernel_class_of(&b);
    ck_assert(!calc_tune_kernel_class_is(&x, &y));
    a = kernel_case_attention(4096, 32, CALC_PASS_FW);
    b = kernel_case_attention(4096, 32, CALC_PASS_AGRAD);
    x = calc_tune_kernel_class_of(&a);
    y = calc_tune_kernel_class_of(&b);
    ck_assert(!calc_tune_kernel_class_is(&x, &y));
    a.variant = 0;
    y = calc_tune_kernel_class_of(&a);
    ck_assert(!calc_tune_kernel_class_is(&x, &y));
}

CALC_TEST(words)
{
    char text[CALC_TUNE_KERNEL_WORDS];
    calc_tune_kernel_class class = matrices();
    ck_assert_str_eq(calc_tune_kernel_class_words(&class, text),
                     "matrix multiplications in bfloat16");
    calc_kernel_key key = kernel_case_attention(4096, 32, CALC_PASS_AGRAD);
    class = calc_tune_kernel_class_of(&key);
    ck_assert_str_eq(calc_tune_kernel_class_words(&class, text),
                     "causal attention backward in bfloat16");
    key.pass = CALC_PASS_FW;
    key.variant = 0;
    class = calc_tune_kernel_class_of(&key);
    ck_assert_str_eq(calc_tune_kernel_class_words(&class, text), "attention forward in bfloat16");
    class = (calc_tune_kernel_class){.kind = CALC_KERNEL_GROUPED, .datatype = CALC_DATATYPE_FLOAT8};
    ck_assert_str_eq(calc_tune_kernel_class_words(&class, text),
                     "multiplications of experts in float8");
    class = (calc_tune_kernel_class){.kind = CALC_KERNEL_MEMORY};
    ck_assert_str_eq(calc_tune_kernel_class_words(&class, text), "elementwise kernels");
}

CALC_TEST(points_are_logarithms_of_sizes_and_the_pass)
{
    double point[CALC_PROCESS_DIMENSIONS];
    calc_kernel_key key = kernel_case_matrix(1024, 4096, 512, CALC_PASS_WGRAD);
    ck_assert_uint_eq(calc_tune_kernel_class_point(&key, point), 6);
    const double expected[] = {10, 12, 9, 0, 0, 4};
    for (int i = 0; i < 6; i++) {
        ck_assert(point[i] == expected[i]);
    }
    key = kernel_case_matrix(1024, 4096, 512, CALC_PASS_AGRAD);
    calc_tune_kernel_class_point(&key, point);
    ck_assert(point[4] == 1 && point[5] == 0);
    key = kernel_case_attention(4096, 32, CALC_PASS_AGRAD);
    ck_assert_uint_eq(calc_tune_kernel_class_point(&key, point), 6);
    ck_assert(point[1] == 12 && point[2] == 5 && point[5] == 7);
}

/* The same as a process fitted to the rows of the class. */
CALC_TEST(rows_of_the_class_are_data)
{
    calc_kernel_point rows[12];
    calc_process own;
    double point[CALC_PROCESS_DIMENSIONS];
    calc_process_start(&own, 6, 0, 0.1);
    for (int i = 0; i < 8; i++) {
        rows[i] = kernel_case_point(
            kernel_case_matrix(ldexp(1, 8 + i), 4096, ldexp(3, 12 - i % 3), CALC_PASS_FW),
            0.1 * sin(i) + 0.05);
        calc_tune_kernel_class_point(&rows[i].key, point);
        ck_assert_int_eq(calc_process_add(&own, point, rows[i].log_ratio, 1), CALC_OK);
    }
    ck_assert_int_eq(calc_process_fit(&own), CALC_OK);
    rows[8] = kernel_case_point(kernel_case_attention(4096, 32, CALC_PASS_FW), 3);
    rows[9] = rows[0];
    rows[9].key.datatype = CALC_DATATYPE_FLOAT8;
    rows[10] = rows[0];
    rows[10].key.kind = CALC_KERNEL_COLLECTIVE;
    rows[11] = rows[0];
    rows[11].log_ratio = -(double)INFINITY;
    learn(rows, 12, point, 1);
    ck_assert_uint_eq(measured, 8);
    double at[] = {9.5, 12, 12.6, 0, 0, 0};
    double mean[2], sd[2];
    process_at(&own, at, &mean[0], &sd[0]);
    process_at(&process, at, &mean[1], &sd[1]);
    ck_assert(mean[0] == mean[1] && sd[0] == sd[1]);
    calc_process_free(&own);
}

CALC_TEST(without_rows_there_are_no_data)
{
    calc_kernel_point row = kernel_case_point(kernel_case_attention(4096, 32, CALC_PASS_FW), 0.1);
    learn(&row, 1, NULL, 0);
    ck_assert_uint_eq(measured, 0);
    ck_assert_uint_eq(calc_process_known(&process), 0);
}

/* 500 rows of which 400 can be used: those far from what is wanted are left out, and those that are
 * near still say what they measured. */
CALC_TEST(of_many_rows_the_nearest_count)
{
    static calc_kernel_point rows[500];
    double wanted[CALC_PROCESS_DIMENSIONS];
    for (int i = 0; i < 500; i++) {
        calc_kernel_key key = kernel_case_matrix(256 * (1 + i), 4096, 4096, CALC_PASS_FW);
        rows[i] = kernel_case_point(key, 0.2 * sin(0.02 * i));
    }
    calc_tune_kernel_class_point(&rows[450].key, wanted);
    learn(rows, 500, wanted, 1);
    ck_assert_uint_eq(measured, 500);
    ck_assert_uint_eq(process.count, CALC_PROCESS_DATA);
    ck_assert_double_eq(process.point[0], rows[100].key.log2_size[0]);
    double mean, sd;
    process_at(&process, wanted, &mean, &sd);
    ck_assert_double_eq_tol(mean, rows[450].log_ratio, 0.003);
    ck_assert_double_lt(sd, 0.005);
}

/* A process fitted to some of the data knows the same function in the standards of all. */
CALC_TEST(hyper_parameters_are_translated)
{
    static calc_kernel_point rows[2 * CALC_TUNE_KERNEL_FIT];
    double wanted[CALC_PROCESS_DIMENSIONS] = {0};
    for (int i = 0; i < 2 * CALC_TUNE_KERNEL_FIT; i++) {
        /* Each shape twice, of which one is fitted. */
        int shape = i / 2;
        calc_kernel_key key = kernel_case_matrix(256 * (1 + shape), 4096, 4096, CALC_PASS_FW);
        rows[i] = kernel_case_point(key, 0.2 * sin(0.02 * shape));
    }
    calc_process few;
    calc_process_start(&few, 6, 0, 0.1);
    for (int i = 0; i < 2 * CALC_TUNE_KERNEL_FIT; i += 2) {
        double point[CALC_PROCESS_DIMENSIONS];
        calc_tune_kernel_class_point(&rows[i].key, point);
        ck_assert_int_eq(calc_process_add(&few, point, rows[i].log_ratio, 1), CALC_OK);
    }
    ck_assert_int_eq(calc_process_fit(&few), CALC_OK);
    learn(rows, 2 * CALC_TUNE_KERNEL_FIT, wanted, 1);
    const double a[] = {10, 12, 12, 0, 0, 0}, b[] = {13, 11, 12, 0, 0, 0};
    ck_assert_uint_eq(process.count, few.count);
    ck_assert_double_eq_tol(calc_process_prior(&process, a, b), calc_process_prior(&few, a, b),
                            1e-12);
    double mean[2], sd[2];
    process_at(&few, b, &mean[0], &sd[0]);
    process_at(&process, b, &mean[1], &sd[1]);
    ck_assert_double_eq_tol(mean[0], mean[1], 1e-10);
    ck_assert_double_eq_tol(sd[0], sd[1], 1e-10);
    calc_process_free(&few);
}
