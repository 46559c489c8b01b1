#include "mindspeed/truth.h"

#include <stdlib.h>

#include "mindspeed/loop.h"
#include "mindspeed/parts.h"
#include "mindspeed/time.h"
#include "mindspeed_case.h"

enum { SAMPLES = 100, SPACE = 40 };

static llama_case l;
static calc_mindspeed_truth truth;
static calc_mindspeed_operators operators;
static calc_mindspeed_config space[SPACE];
static size_t count;

static bool exec_of(const void *context, const calc_mindspeed_config *config, calc_app *app,
                    calc_exec *exec)
{
    const llama_case *here = context;
    *app = here->app;
    return parse_exec(config, "", exec);
}

static calc_mindspeed_judge judge = {
    .job = &llama_job, .system = &l.system, .exec = exec_of, .exec_context = &l};

/* Eight ranks in all ways but experts, micro-batches of 1 and 2. */
static void list_space(void)
{
    count = 0;
    for (int pp = 1; pp <= 8; pp *= 2) {
        for (int tp = 1; tp * pp <= 8; tp *= 2) {
            for (int cp = 1; cp * tp * pp <= 8; cp *= 2) {
                int dp = 8 / (pp * tp * cp);
                for (int mbs = 1; mbs <= 2; mbs++) {
                    ck_assert_uint_lt(count, SPACE);
                    space[count++] = (calc_mindspeed_config){pp, tp, dp, cp, 1, mbs, 1, 0};
                }
            }
        }
    }
}

static void open_cluster(uint64_t seed)
{
    const calc_mindspeed_sampling sampling = {SAMPLES, seed + 100, CALC_PROCESS_JOINT, 0.15};
    open_llama(&l, &llama_configs[0], "");
    list_space();
    calc_mindspeed_truth_start(&truth, &llama_job, &l.app, &l.system, 0.15, seed);
    calc_mindspeed_operators_start(&operators, &llama_job, &l.app, &l.system, NULL, &sampling);
    judge.operators = &operators;
}

static void close_cluster(void)
{
    calc_mindspeed_truth_free(&truth);
    calc_mindspeed_operators_free(&operators);
}

static double truth_s(size_t candidate)
{
    calc_exec exec;
    parse_exec(&space[candidate], "", &exec);
    const calc_mindspeed_layout layout = {&space[candidate], &l.app, &l.system, &exec};
    return calc_mindspeed_truth_s(&truth, &layout);
}

static bool sample(void *context, size_t candidate, double *s, size_t samples)
{
    return calc_mindspeed_time(context, &space[candidate], s, samples);
}

static calc_mindspeed_end measure(void *context, size_t candidate, double *step_s)
{
    (void)context;
    *step_s = truth_s(candidate);
    return CALC_MINDSPEED_RAN;
}

static calc_status learn(void *context, size_t candidate)
{
    calc_mindspeed_kernel kernels[CALC_MINDSPEED_PARTS];
    calc_exec exec;
    calc_errors errors = {0};
    (void)context;
    parse_exec(&space[candidate], "", &exec);
    const calc_mindspeed_layout layout = {&space[candidate], &l.app, &l.system, &exec};
    size_t found = calc_mindspeed_truth_kernels(&truth, &layout, kernels);
    calc_status status = calc_mindspeed_operators_learn(&operators, kernels, found, &errors);
    return status == CALC_OK ? calc_mindspeed_operators_fit(&operators, &errors) : status;
}

START_TEST(one_truth_for_all)
{
    open_cluster(3);
    double once = truth_s(5), other = truth_s(0);
    ck_assert_double_eq(truth_s(5), once);
    ck_assert_double_ne(other, once);
    close_cluster();
    open_cluster(3);
    ck_assert_double_eq(truth_s(5), once);
    close_cluster();
    open_cluster(4);
    ck_assert_double_ne(truth_s(5), once);
    close_cluster();
}
END_TEST

/* A configuration whose kernels were profiled is known: to the noise of a profile. */
START_TEST(kernels_say_what_a_step_takes)
{
    double before[SAMPLES], after[SAMPLES], sd_before = 0, sd_after = 0;
    open_cluster(1);
    const size_t at = 0;
    ck_assert(calc_mindspeed_time(&judge, &space[at], before, SAMPLES));
    ck_assert_int_eq(learn(&judge, at), CALC_OK);
    ck_assert(calc_mindspeed_time(&judge, &space[at], after, SAMPLES));
    for (int i = 0; i < SAMPLES; i++) {
        sd_before += pow(before[i] / truth_s(at) - 1, 2) / SAMPLES;
        sd_after += pow(after[i] / truth_s(at) - 1, 2) / SAMPLES;
    }
    ck_assert_double_gt(sqrt(sd_before), 0.03);
    ck_assert_double_lt(sqrt(sd_after), 0.01);
    close_cluster();
}
END_TEST

/* The best of the space is found within 1 %, mostly by far less than measuring all of it. */
START_TEST(searches_find_the_best)
{
    enum { TIMES = 10 };
    size_t trials = 0;
    for (uint64_t seed = 0; seed < TIMES; seed++) {
        open_cluster(seed);
        const calc_mindspeed_loop_rules rules = {SAMPLES, 1, 0.05, 0, seed, false};
        const calc_mindspeed_loop_calls calls = {&judge, sample, measure, learn};
        calc_mindspeed_loop loop;
        ck_assert_int_eq(calc_mindspeed_loop_start(&loop, &rules, count, NULL), CALC_OK);
        ck_assert_int_eq(calc_mindspeed_loop_run(&loop, &calls), CALC_OK);
        size_t best;
        double least_s = INFINITY;
        for (size_t c = 0; c < count; c++) {
            least_s = fmin(least_s, truth_s(c));
        }
        ck_assert_uint_eq(calc_mindspeed_loop_fastest(&loop, &best, 1), 1);
        ck_assert_double_le(loop.step_s[best], 1.01 * least_s);
        trials += loop.trials;
        calc_mindspeed_loop_free(&loop);
        close_cluster();
    }
    ck_assert_uint_lt(trials, TIMES * count / 4);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("mindspeed_truth");
    TCase *tests = tcase_create("mindspeed_truth");
    tcase_set_timeout(tests, 60);
    tcase_add_test(tests, one_truth_for_all);
    tcase_add_test(tests, kernels_say_what_a_step_takes);
    tcase_add_test(tests, searches_find_the_best);
    suite_add_tcase(suite, tests);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_NORMAL);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed != 0;
}
