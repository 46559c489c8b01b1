/* The whole search on a cluster that is made up: what its kernels take beyond calc's times is drawn
 * once for all shapes, and is not known to who measures configurations on it. */
#include "mindspeed/compose.h"
#include "mindspeed/loop.h"
#include "mindspeed_case.h"

#include "frame.h"

const calc_test_frame calc_tests = {.timeout_s = 60};

enum { SAMPLES = 100, SPACE = 40 };

static llama_case l;
static calc_mindspeed_operators truth; /* one draw */
static calc_mindspeed_operators operators;
static calc_mindspeed_config space[SPACE];
static size_t count;

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
    const calc_mindspeed_sampling once = {1, seed, 0.15};
    const calc_mindspeed_sampling sampling = {SAMPLES, seed + 100, 0.15};
    open_llama(&l, &llama_configs[0], "");
    list_space();
    calc_mindspeed_operators_start(&truth, &llama_job, &l.app, &l.system, NULL, &once);
    calc_mindspeed_operators_start(&operators, &llama_job, &l.app, &l.system, NULL, &sampling);
}

static void close_cluster(void)
{
    calc_mindspeed_operators_free(&truth);
    calc_mindspeed_operators_free(&operators);
}

static bool sample(void *of, size_t candidate, double *s, size_t samples)
{
    calc_exec exec;
    parse_exec(&space[candidate], "", &exec);
    const calc_mindspeed_layout layout = {&space[candidate], &l.app, &l.system, &exec};
    return calc_mindspeed_compose(&layout, of, NULL, s, samples) == CALC_OK;
}

/* Step of a configuration [s]. */
static double truth_s(size_t candidate)
{
    double step_s;
    ck_assert(sample(&truth, candidate, &step_s, 1));
    return step_s;
}

/* Kernels that a profile of that step has: one of each pass over each operator whose type's errors
 * are modelled. */
static size_t profile(const calc_mindspeed_layout *layout, calc_mindspeed_timed *out)
{
    calc_layout whole;
    calc_mindspeed_parts parts;
    calc_layout_of(layout->app, layout->system, layout->exec, CALC_COMPAT_NONE, NULL, NULL, &whole);
    ck_assert_int_eq(calc_mindspeed_parts_of(&parts, layout, &whole, &truth), CALC_OK);
    for (size_t i = 0; i < parts.count; i++) {
        const calc_mindspeed_part *part = &parts.item[i];
        double alone_s = calc_mindspeed_operators_alone_s(&truth, &part->shape);
        out[i] = (calc_mindspeed_timed){part->shape, alone_s * fmax(1e-3, 1 + part->errors[0])};
    }
    return parts.count;
}

static void learn(size_t candidate)
{
    calc_mindspeed_timed kernels[CALC_MINDSPEED_PARTS];
    calc_exec exec;
    calc_errors errors = {0};
    parse_exec(&space[candidate], "", &exec);
    const calc_mindspeed_layout layout = {&space[candidate], &l.app, &l.system, &exec};
    size_t found = profile(&layout, kernels);
    ck_assert_int_eq(calc_mindspeed_operators_learn(&operators, kernels, found, &errors), CALC_OK);
    ck_assert_int_eq(calc_mindspeed_operators_fit(&operators, &errors), CALC_OK);
}

CALC_TEST(one_truth_for_all)
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

/* A configuration whose kernels were profiled is known: to the noise of a profile. */
CALC_TEST(kernels_say_what_a_step_takes)
{
    double before[SAMPLES], after[SAMPLES], sd_before = 0, sd_after = 0;
    open_cluster(1);
    const size_t at = 0;
    ck_assert(sample(&operators, at, before, SAMPLES));
    learn(at);
    ck_assert(sample(&operators, at, after, SAMPLES));
    for (int i = 0; i < SAMPLES; i++) {
        sd_before += pow(before[i] / truth_s(at) - 1, 2) / SAMPLES;
        sd_after += pow(after[i] / truth_s(at) - 1, 2) / SAMPLES;
    }
    ck_assert_double_gt(sqrt(sd_before), 0.03);
    ck_assert_double_lt(sqrt(sd_after), 0.01);
    close_cluster();
}

static void judge(calc_mindspeed_loop *loop)
{
    for (size_t c = 0; c < count; c++) {
        ck_assert(sample(&operators, c, loop->item[c].samples_s, SAMPLES));
    }
    calc_mindspeed_loop_judge(loop);
}

/* @return the shortest step of those that were measured [s] */
static double search(calc_mindspeed_loop *loop)
{
    double best_s = INFINITY;
    for (judge(loop); calc_mindspeed_loop_choose(loop) == CALC_MINDSPEED_GOES_ON; judge(loop)) {
        best_s = fmin(best_s, truth_s(loop->next));
        calc_mindspeed_loop_record(loop, loop->next, CALC_MINDSPEED_RAN);
        learn(loop->next);
    }
    return best_s;
}

/* The best of the space is found within 1 %, mostly by far less than measuring all of it. */
CALC_TEST(searches_find_the_best)
{
    enum { TIMES = 10 };
    size_t trials = 0;
    for (uint64_t seed = 0; seed < TIMES; seed++) {
        open_cluster(seed);
        static double samples_s[SPACE][SAMPLES];
        calc_mindspeed_candidate item[SPACE] = {0};
        calc_mindspeed_loop loop = {
            .rules = {SAMPLES, 1, 0.05, 0, seed, false}, .item = item, .count = count};
        for (size_t c = 0; c < count; c++) {
            item[c].samples_s = samples_s[c];
        }
        double best_s = search(&loop), least_s = INFINITY;
        for (size_t c = 0; c < count; c++) {
            least_s = fmin(least_s, truth_s(c));
        }
        ck_assert_double_le(best_s, 1.01 * least_s);
        trials += loop.trials;
        close_cluster();
    }
    ck_assert_uint_lt(trials, TIMES * count / 4);
}
