/* Divisions of layers over stages, beside all divisions and all choices. */
#include "layerwise/pipeline.h"

#include <check.h>
#include <math.h>
#include <stdlib.h>

#include "base/rng.h"

enum { STAGES = 3, LAYERS = 7, MOST = 5, CHOICES = 3 };

static calc_layerwise_times times[STAGES][MOST + 1][CHOICES];
static calc_layerwise_choices choices[STAGES * (MOST + 1)];

static calc_layerwise_pipeline draw(calc_rng *rng)
{
    calc_layerwise_pipeline p = {.stages = 1 + (int)calc_rng_below(rng, STAGES),
                                 .layers = 1 + (int)calc_rng_below(rng, LAYERS),
                                 .least = (int)calc_rng_below(rng, 2),
                                 .most = MOST,
                                 .microbatches = 1 + calc_rng_below(rng, 6),
                                 .choices = choices};
    for (int stage = 0; stage < p.stages; stage++) {
        for (int n = p.least; n <= MOST; n++) {
            calc_layerwise_times *t = times[stage][n];
            double micro_s = n + calc_rng_below(rng, 64) / 64.0;
            double tail_s = 4 + calc_rng_below(rng, 128) / 64.0;
            size_t count = calc_rng_below(rng, CHOICES + 1);
            for (size_t i = 0; i < count; i++) {
                t[i] = (calc_layerwise_times){micro_s, tail_s};
                micro_s += (1 + calc_rng_below(rng, 64)) / 64.0;
                tail_s -= (1 + calc_rng_below(rng, 64)) / 64.0;
            }
            choices[stage * (MOST - p.least + 1) + n - p.least] =
                (calc_layerwise_choices){count, t};
        }
    }
    return p;
}

/* The shortest of all, by trying. */
static double shortest(const calc_layerwise_pipeline *p, int stage, int left, double sum,
                       double most_s, double tail_s)
{
    if (stage == p->stages) {
        return left ? INFINITY : sum + (double)(p->microbatches - 1) * most_s + tail_s;
    }
    double best = INFINITY;
    for (int n = p->least; n <= p->most && n <= left; n++) {
        const calc_layerwise_choices *c =
            &p->choices[stage * (p->most - p->least + 1) + n - p->least];
        for (size_t i = 0; i < c->count; i++) {
            best = fmin(best, shortest(p, stage + 1, left - n, sum + c->times[i].micro_s,
                                       fmax(most_s, c->times[i].micro_s),
                                       fmax(tail_s, c->times[i].tail_s)));
        }
    }
    return best;
}

START_TEST(no_division_is_shorter)
{
    calc_rng rng;
    calc_rng_init(&rng, 20266, 1);
    int fit = 0;
    for (int round = 0; round < 3000; round++) {
        calc_layerwise_pipeline p = draw(&rng);
        double expected = shortest(&p, 0, p.layers, 0, 0, 0);
        calc_layerwise_division d;
        bool fits;
        ck_assert(calc_layerwise_divide(&p, &d, &fits));
        ck_assert_int_eq(fits, expected < INFINITY);
        if (!fits) {
            continue;
        }
        ck_assert_msg(d.step_s == expected, "round %d: %.17g, not %.17g", round, d.step_s,
                      expected);
        double sum = 0;
        double most_s = 0;
        double tail_s = 0;
        int layers = 0;
        for (int stage = 0; stage < p.stages; stage++) {
            layers += d.layers[stage];
            const calc_layerwise_times *t =
                &p.choices[stage * (p.most - p.least + 1) + d.layers[stage] - p.least]
                     .times[d.choice[stage]];
            sum += t->micro_s;
            most_s = fmax(most_s, t->micro_s);
            tail_s = fmax(tail_s, t->tail_s);
        }
        ck_assert_int_eq(layers, p.layers);
        ck_assert_double_eq(d.step_s, sum + (double)(p.microbatches - 1) * most_s + tail_s);
        fit++;
    }
    ck_assert_int_gt(fit, 1500);
}
END_TEST

START_TEST(equal_layers_are_spread_evenly)
{
    static calc_layerwise_times time[64][9];
    static calc_layerwise_choices of[64 * 9];
    calc_layerwise_pipeline p = {
        .stages = 64, .layers = 256, .least = 0, .most = 8, .microbatches = 128, .choices = of};
    for (int stage = 0; stage < 64; stage++) {
        for (int n = 0; n <= 8; n++) {
            time[stage][n] = (calc_layerwise_times){n, 0};
            of[stage * 9 + n] = (calc_layerwise_choices){1, &time[stage][n]};
        }
    }
    calc_layerwise_division d;
    bool fits;
    ck_assert(calc_layerwise_divide(&p, &d, &fits));
    ck_assert(fits);
    ck_assert_double_eq(d.step_s, 256 + 127 * 4);
    time[0][4].micro_s = 4.5; /* an embedding: the first stage takes fewer, one takes five, or */
    time[0][3].micro_s = 3.5; /* all wait for it */
    ck_assert(calc_layerwise_divide(&p, &d, &fits));
    ck_assert_double_eq(d.step_s, 256.5 + 127 * 4.5);
    p.layers = 255; /* too many for stages that take no more than three */
    for (int stage = 0; stage < 64; stage++) {
        for (int n = 4; n <= 8; n++) {
            of[stage * 9 + n].count = 0;
        }
    }
    ck_assert(calc_layerwise_divide(&p, &d, &fits));
    ck_assert(!fits);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("layerwise_pipeline");
    TCase *tests = tcase_create("layerwise_pipeline");
    tcase_add_test(tests, no_division_is_shorter);
    tcase_add_test(tests, equal_layers_are_spread_evenly);
    suite_add_tcase(suite, tests);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_NORMAL);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
