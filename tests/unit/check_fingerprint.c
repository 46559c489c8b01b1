#include "checkpoint.h"

#include "frame.h"
#include "sweep_case.h"

static sweep_case c;

static void enter(void)
{
    sweep_case_init(&c);
}

static void leave(void)
{
    calc_space_free(&c.space);
}

const calc_test_frame calc_tests = {.setup = enter, .teardown = leave};

static uint64_t now(void)
{
    return calc_fingerprint(&c.space, &c.designs, &c.options);
}

CALC_TEST(what_does_not_change_the_result_does_not_change_the_fingerprint)
{
    uint64_t before = now();
    c.options.threads = 7;
    c.options.cpu = "generic";
    c.options.verify = 0.5;
    c.options.checkpoint_s = 3;
    ck_assert_uint_eq(now(), before);
}

CALC_TEST(steps_of_a_curve_that_are_not_in_use_do_not_count)
{
    uint64_t before = now();
    calc_curve *curve = &c.system.chip.matrix[CALC_DATATYPE_FLOAT16].efficiency;
    ck_assert_int_lt(curve->count, CALC_MAX_CURVE_STEPS);
    curve->threshold[CALC_MAX_CURVE_STEPS - 1] = 42;
    ck_assert_uint_eq(now(), before);
    curve->threshold[0] *= 2;
    ck_assert_uint_ne(now(), before);
}

CALC_TEST(every_field_of_a_design_counts)
{
    static const char *const set[] = {"app.hidden=12289",
                                      "app.num_blocks=97",
                                      "sys.mem1.GiB=79",
                                      "sys.mem2.GBps=101",
                                      "sys.matrix.float16.tflops=313",
                                      "sys.vector.float16.gflops_efficiency=[[0,0.125]]",
                                      "sys.processing_mode=roofline",
                                      "sys.networks[0].size=9",
                                      "sys.networks[1].ops.all_reduce=[2.5,-1]",
                                      "sys.networks[0].must_be_filled=false"};
    uint64_t seen[sizeof set / sizeof *set + 1] = {now()};
    for (size_t i = 0; i < sizeof set / sizeof *set; i++) {
        calc_exec exec = {0};
        calc_errors errors = {0};
        sweep_case before = c;
        ck_assert_int_eq(calc_set(&c.app, &c.system, &exec, set[i], NULL, &errors), CALC_OK);
        seen[i + 1] = now();
        c = before;
        for (size_t j = 0; j <= i; j++) {
            ck_assert_msg(seen[j] != seen[i + 1], "%s does not change it", set[i]);
        }
    }
    ck_assert_uint_eq(now(), seen[0]);
}

CALC_TEST(the_space_counts)
{
    static const int64_t values[] = {1, 2};
    uint64_t start = now();
    ck_assert_int_eq(calc_space_set(&c.space, CALC_AXIS_tensor_par, values, 2), CALC_OK);
    uint64_t two = now();
    ck_assert_uint_ne(two, start);
    ck_assert_int_eq(calc_space_set(&c.space, CALC_AXIS_tensor_par, values, 1), CALC_OK);
    uint64_t one = now();
    ck_assert_uint_ne(one, two);
    calc_space_set_all(&c.space, CALC_AXIS_tensor_par);
    ck_assert_uint_eq(now(), start);
    c.space.batch_is_maximum = !c.space.batch_is_maximum;
    ck_assert_uint_ne(now(), start);
    c.space.batch_is_maximum = !c.space.batch_is_maximum;
    c.space.batch_is_of_replica = true;
    ck_assert_uint_ne(now(), start);
    c.space.batch_is_of_replica = false;
    ck_assert_int_eq(
        calc_space_set(&c.space, CALC_AXIS_inference_chunk_size, (const int64_t[]){0, 9}, 2),
        CALC_OK);
    ck_assert_uint_ne(now(), start);
    c.space.axis[CALC_AXIS_inference_chunk_size].count = 0;
    ck_assert_uint_eq(now(), start);
    ck_assert_int_eq(calc_values_set(&c.space.all_procs, values, 2), CALC_OK);
    ck_assert_uint_ne(now(), start);
}

/* Change an option, look, and change it back. */
#define DIFFERS(change)                                                                            \
    do {                                                                                           \
        calc_sweep_options options_ = c.options;                                                   \
        c.options.change;                                                                          \
        ck_assert_msg(now() != start, "%s does not change it", #change);                           \
        c.options = options_;                                                                      \
    } while (0)

CALC_TEST(options_that_change_the_result_count)
{
    calc_errors errors = {0};
    calc_constraint constraint;
    ck_assert_int_eq(calc_constraint_parse(&constraint, "mem1 <= 60GiB", &errors), CALC_OK);
    uint64_t start = now();
    DIFFERS(compat = CALC_COMPAT_CALCULON);
    DIFFERS(objectives = 2);
    DIFFERS(objective[1] = c.options.objective[2]);
    DIFFERS(objective[1].up = true);
    DIFFERS(top = 21);
    DIFFERS(top_by = c.options.objective[1]);
    DIFFERS(per_num_procs = true);
    DIFFERS(per_design = true);
    DIFFERS(no_prune = false);
    c.options.constraint = &constraint;
    DIFFERS(constraints = 1);
    c.options.constraints = 1;
    start = now();
    constraint.value *= 2;
    ck_assert_uint_ne(now(), start);
    constraint.value /= 2;
    constraint.relation = CALC_RELATION_LT;
    ck_assert_uint_ne(now(), start);
}
