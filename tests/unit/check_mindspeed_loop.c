#include "mindspeed/loop.h"

#include <math.h>

#include "frame.h"
#include "gauss/process.h"
#include "mindspeed/compose.h"
#include "mindspeed_case.h"

enum { CANDIDATES = 4, SAMPLES = 200000 };

/* Independent times. */
typedef struct times {
    double mean_s[CANDIDATES], sd_s;
} time_case;

static const time_case spread = {.mean_s = {110, 101, 100, 103}, .sd_s = 2};

static double samples_s[CANDIDATES][SAMPLES];
static calc_mindspeed_candidate item[CANDIDATES];
static calc_mindspeed_loop loop;

static void start(const time_case *t, size_t samples, size_t top_k)
{
    loop = (calc_mindspeed_loop){
        .rules = {samples, top_k, 0.05, 0, 7, false}, .item = item, .count = CANDIDATES};
    for (size_t c = 0; c < CANDIDATES; c++) {
        static const double bytes[] = {2, 1, 3, 3};
        double *s = samples_s[c];
        calc_rng rng;
        calc_rng_init(&rng, 1, c);
        calc_normal_draw(&rng, s, samples);
        for (size_t i = 0; i < samples; i++) {
            s[i] = t->mean_s[c] + t->sd_s * s[i];
        }
        item[c] = (calc_mindspeed_candidate){.samples_s = s, .peak_bytes = bytes[c]};
    }
}

/* Until there is no more to do; all runs are fine.
 * @param order  what was measured, in turn */
static void search(size_t order[CANDIDATES])
{
    for (;;) {
        calc_mindspeed_loop_judge(&loop);
        if (calc_mindspeed_loop_choose(&loop) != CALC_MINDSPEED_GOES_ON) {
            return;
        }
        ck_assert_uint_lt(loop.trials, CANDIDATES);
        order[loop.trials] = loop.next;
        calc_mindspeed_loop_record(&loop, loop.next, CALC_MINDSPEED_RAN);
    }
}

/* Chances of four normal distributions by numerical integration, and of what is left of the pool
 * once the first ones are measured. */
CALC_TEST(the_pool_has_the_chances_of_being_fastest)
{
    static const struct {
        size_t candidate;
        double chance, left;
    } expected[] = {{2, 0.592, 0.406}, {1, 0.330, 0.076}, {3, 0.078, 0}};
    start(&spread, SAMPLES, 1);
    calc_mindspeed_loop_judge(&loop);
    ck_assert_uint_eq(loop.pool, SAMPLES);
    ck_assert_double_le(calc_mindspeed_loop_chance(&loop, 0), 5e-5);
    for (int i = 0; i < 3; i++) {
        double p = expected[i].chance;
        ck_assert_double_eq_tol(calc_mindspeed_loop_chance(&loop, expected[i].candidate), p,
                                0.0005 + 4 * sqrt(p * (1 - p) / SAMPLES));
        calc_mindspeed_loop_record(&loop, expected[i].candidate, CALC_MINDSPEED_RAN);
        calc_mindspeed_loop_judge(&loop);
        p = expected[i].left;
        ck_assert_double_eq_tol((double)loop.rest / SAMPLES, p,
                                0.0025 + 4 * sqrt(p * (1 - p) / SAMPLES));
        ck_assert_int_eq(calc_mindspeed_loop_choose(&loop),
                         i < 2 ? CALC_MINDSPEED_GOES_ON : CALC_MINDSPEED_CONCENTRATED);
    }
}

CALC_TEST(the_pool_of_the_three_fastest)
{
    start(&spread, 1000, 3);
    calc_mindspeed_loop_judge(&loop);
    ck_assert_uint_eq(loop.pool, 3000);
    size_t all = 0;
    for (size_t c = 0; c < CANDIDATES; c++) {
        ck_assert_uint_le(item[c].tally, 1000);
        all += item[c].tally;
    }
    ck_assert_uint_eq(all, 3000);
    ck_assert_uint_gt(item[2].tally, 990);
}

/* What is measured first is drawn with those chances. */
CALC_TEST(probabilities_are_matched)
{
    enum { TIMES = 4000 };
    int first[CANDIDATES] = {0};
    start(&spread, 2000, 1);
    calc_mindspeed_loop_judge(&loop);
    for (int i = 0; i < TIMES; i++) {
        loop.rules.seed = (uint64_t)i;
        ck_assert_int_eq(calc_mindspeed_loop_choose(&loop), CALC_MINDSPEED_GOES_ON);
        first[loop.next]++;
    }
    for (size_t c = 0; c < CANDIDATES; c++) {
        double p = calc_mindspeed_loop_chance(&loop, c);
        ck_assert_double_le(fabs((double)first[c] / TIMES - p), 4 * sqrt(p * (1 - p) / TIMES));
    }
}

CALC_TEST(a_whole_search)
{
    size_t order[CANDIDATES];
    start(&spread, 1000, 1);
    search(order);
    ck_assert_int_eq(loop.stop, CALC_MINDSPEED_CONCENTRATED);
    ck_assert_uint_eq(loop.trials, 3); /* all but the slowest */
    ck_assert_int_eq(item[0].mark, CALC_MINDSPEED_UNEXPLORED);
}

/* A search that is taken up again with its results goes on as it would have. */
CALC_TEST(the_results_are_the_state)
{
    size_t order[CANDIDATES], again[CANDIDATES];
    start(&spread, 1000, 1);
    search(order);
    for (size_t done = 0; done <= 3; done++) {
        start(&spread, 1000, 1);
        for (size_t i = 0; i < done; i++) {
            calc_mindspeed_loop_record(&loop, order[i], CALC_MINDSPEED_RAN);
        }
        search(again);
        ck_assert_uint_eq(loop.trials, 3);
        for (size_t i = done; i < 3; i++) {
            ck_assert_uint_eq(again[i], order[i]);
        }
    }
}

/* Memory in the order 1 < 0 < 2 = 3: what lacks it takes 3 with it, not what ran, nor what needs
 * less. */
CALC_TEST(failures)
{
    start(&spread, 1000, 1);
    calc_mindspeed_loop_record(&loop, 2, CALC_MINDSPEED_OUT_OF_MEMORY);
    ck_assert_int_eq(item[2].mark, CALC_MINDSPEED_REMOVED);
    ck_assert_int_eq(item[3].mark, CALC_MINDSPEED_REMOVED);
    ck_assert_int_eq(item[0].mark, CALC_MINDSPEED_UNEXPLORED);
    calc_mindspeed_loop_judge(&loop);
    ck_assert_uint_eq(item[2].tally + item[3].tally, 0);
    ck_assert_uint_eq(loop.pool, 1000);
    calc_mindspeed_loop_record(&loop, 1, CALC_MINDSPEED_FAILED);
    ck_assert_int_eq(item[0].mark, CALC_MINDSPEED_UNEXPLORED);
    calc_mindspeed_loop_record(&loop, 0, CALC_MINDSPEED_OUT_OF_MEMORY);
    calc_mindspeed_loop_judge(&loop);
    ck_assert_int_eq(calc_mindspeed_loop_choose(&loop), CALC_MINDSPEED_EXHAUSTED);
    ck_assert_uint_eq(loop.trials, 3);
    start(&spread, 10, 1);
    calc_mindspeed_loop_record(&loop, 3, CALC_MINDSPEED_RAN);
    calc_mindspeed_loop_record(&loop, 2, CALC_MINDSPEED_OUT_OF_MEMORY);
    ck_assert_int_eq(item[3].mark, CALC_MINDSPEED_EXPLORED);
}

CALC_TEST(as_many_trials_as_are_allowed)
{
    size_t order[CANDIDATES];
    start(&spread, 1000, 1);
    loop.rules.max_trials = 2;
    search(order);
    ck_assert_int_eq(loop.stop, CALC_MINDSPEED_TRIALS);
    ck_assert_uint_eq(loop.trials, 2);
}

/* All in their order; what has no time is measured, too. */
CALC_TEST(every_candidate)
{
    size_t order[CANDIDATES];
    time_case t = spread;
    t.mean_s[1] = INFINITY;
    start(&t, 10, 3);
    loop.rules.every = true;
    search(order);
    ck_assert_int_eq(loop.stop, CALC_MINDSPEED_EXHAUSTED);
    ck_assert_uint_eq(loop.trials, 4);
    for (size_t i = 0; i < 4; i++) {
        ck_assert_uint_eq(order[i], i);
    }
    ck_assert_uint_eq(item[1].tally, 0);
}

/* Times that are alike: the pool has the first k of them. */
CALC_TEST(ties)
{
    time_case t = spread;
    t.sd_s = 0;
    t.mean_s[0] = t.mean_s[1] = t.mean_s[3] = 100;
    start(&t, 10, 3);
    calc_mindspeed_loop_judge(&loop);
    ck_assert_uint_eq(item[0].tally, 10);
    ck_assert_uint_eq(item[1].tally, 10);
    ck_assert_uint_eq(item[2].tally, 10);
    ck_assert_uint_eq(item[3].tally, 0);
}

/* Two configurations of the same shapes have the same draws: what differs is scaled alike. */
CALC_TEST(draws_are_common)
{
    static const calc_mindspeed_config a = {1, 4, 2, 1, 1, 1, 1, 0}, b = {2, 4, 1, 1, 1, 1, 1, 0};
    llama_case l;
    const calc_mindspeed_sampling sampling = {200, 1, 0.1};
    calc_mindspeed_operators o;
    double x[200], y[200], mx = 0, my = 0, xx = 0, yy = 0, xy = 0;
    open_llama(&l, &a, "");
    calc_mindspeed_operators_start(&o, &llama_job, &l.app, &l.system, NULL, &sampling);
    ck_assert_int_eq(calc_mindspeed_compose(&l.layout, &o, NULL, x, 200), CALC_OK);
    open_llama(&l, &b, "");
    ck_assert_int_eq(calc_mindspeed_compose(&l.layout, &o, NULL, y, 200), CALC_OK);
    for (int i = 0; i < 200; i++) {
        mx += x[i] / 200;
        my += y[i] / 200;
    }
    for (int i = 0; i < 200; i++) {
        xx += (x[i] - mx) * (x[i] - mx);
        yy += (y[i] - my) * (y[i] - my);
        xy += (x[i] - mx) * (y[i] - my);
    }
    ck_assert_double_gt(sqrt(xx / 200) / mx, 0.02);
    ck_assert_double_gt(xy / sqrt(xx * yy), 0.999);
    calc_mindspeed_operators_free(&o);
}
