/* Lengths of responses. */
#include "rl/rollout.h"

#include <math.h>

#include "frame.h"

enum { MANY = 200000 };

static calc_rl_lengths lengths_of(double mean, double cv, int64_t cap, double at_cap)
{
    const calc_job_response r = {.mean = mean, .cv = cv, .cap = cap, .share_at_cap = at_cap};
    return calc_rl_lengths_of(&r);
}

/* The mean of a power of prompt + length over MANY quantiles. */
static double moment(const calc_rl_lengths *l, double prompt, int power)
{
    double sum = 0;
    for (int i = 0; i < MANY; i++) {
        sum += pow(prompt + calc_rl_lengths_quantile(l, (i + 0.5) / MANY), power);
    }
    return sum / MANY;
}

CALC_TEST(equal_responses_are_all_alike)
{
    calc_rl_lengths l = lengths_of(1019, 0, 4096, 0);
    double sample[5];
    calc_rl_lengths_sample(&l, sample, 5);
    ck_assert_double_eq(sample[0], 1019);
    ck_assert_double_eq(sample[4], 1019);
    ck_assert_double_eq(calc_rl_lengths_longest(&l, 1e6), 1019);
    ck_assert_double_eq(calc_rl_lengths_attended(&l, 127), 1146);
}

CALC_TEST_LOOP(the_mean_is_what_was_said, 0, 12)
{
    static const double cv[] = {0.3, 0.8, 1.5};
    double at_cap = _i / 3 % 2 ? 0.03 : 0;
    calc_rl_lengths l = lengths_of(2000, cv[_i % 3], _i / 6 || at_cap > 0 ? 8192 : 0, at_cap);
    ck_assert_double_eq_tol(moment(&l, 0, 1), 2000, 4);
    double attended = moment(&l, 300, 2) / moment(&l, 300, 1);
    ck_assert_double_eq_tol(calc_rl_lengths_attended(&l, 300) / attended, 1, 0.01);
}

CALC_TEST(a_sample_ascends_to_the_cap_and_has_the_mean)
{
    double sample[100], sum = 0;
    calc_rl_lengths l = lengths_of(3000, 0.8, 4096, 0.2);
    calc_rl_lengths_sample(&l, sample, 100);
    for (int i = 0; i < 100; i++) {
        ck_assert(i == 0 || sample[i] >= sample[i - 1]);
        sum += sample[i];
    }
    ck_assert_double_eq(sample[99], 4096);
    ck_assert_double_eq(sample[80], 4096);
    ck_assert_double_eq_tol(sum / 100, 3000, 3);
}

/* With a share of 0.2 % at the cap, of 2,048 responses one reaches it in 98 of 100 steps, of 100 in
 * 18. */
CALC_TEST(the_longest_of_many_reaches_the_cap)
{
    calc_rl_lengths l = lengths_of(2000, 0.8, 16384, 0.002);
    ck_assert_double_eq(calc_rl_lengths_longest(&l, 2048), 16384);
    ck_assert(calc_rl_lengths_longest(&l, 100) < 16384);
    ck_assert(calc_rl_lengths_longest(&l, 1000) >= calc_rl_lengths_longest(&l, 100));
}

/* Without a cap the longest of n log-normal responses is near the quantile 1 - 0.56 / n. */
CALC_TEST(the_longest_grows_with_their_number)
{
    calc_rl_lengths l = lengths_of(1000, 1, 0, 0);
    double deviation = sqrt(log(2.0)), mean = log(1000) - deviation * deviation / 2;
    /* The normal quantile of 1 - 0.56 / 1000 is 3.259. */
    ck_assert_double_eq_tol(calc_rl_lengths_longest(&l, 1000), exp(mean + 3.259 * deviation), 80);
}
