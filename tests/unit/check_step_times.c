#include "model/serve/sim_step.h"

#include <math.h>

#include "base/rng.h"
#include "frame.h"
#include "serving_case.h"

CALC_TEST(small_numbers_are_kept_and_large_ones_are_near)
{
    for (double x = 0; x <= 64; x++) {
        ck_assert_double_eq(calc_step_times_round(x), x);
    }
    ck_assert_double_eq(calc_step_times_round(12.4), 12);
    ck_assert_double_eq(calc_step_times_round(4096), 4096);
    double sum = 0;
    for (int x = 65; x < 100000; x++) {
        double rounded = calc_step_times_round(x);
        ck_assert_double_le(fabs(rounded / x - 1), 1 / 128.0);
        ck_assert_double_ge(rounded, calc_step_times_round(x - 1));
        ck_assert_double_eq(calc_step_times_round(rounded), rounded);
        sum += rounded / x - 1;
    }
    ck_assert_double_lt(fabs(sum / 100000), 1e-4);
}

CALC_TEST(a_batch_takes_what_its_pass_does)
{
    static calc_inference_pass_model model;
    calc_app app = shipped_app("llama3-8B");
    calc_system system = memory_bound_system();
    calc_exec e = serving_exec(CALC_INFERENCE_PHASE_SERVE, 1, 2, 1, 1);
    calc_step_times times = {&model, calloc(CALC_STEP_TIMES, sizeof *times.time)};
    calc_rng rng;
    calc_inference_pass_model_init(&model, &app, &system, &e);
    calc_rng_init(&rng, 3, 3);
    for (int i = 0; i < 40000; i++) {
        calc_inference_pass_work w = {.sequences = calc_rng_below(&rng, 30),
                                      .queries = 1,
                                      .context = 64 * (1 + calc_rng_below(&rng, 20)),
                                      .prompts = 1 + calc_rng_below(&rng, 2),
                                      .chunk = 1 + calc_rng_below(&rng, 60)};
        const calc_step_time *t = calc_step_times_of(&times, &w);
        if (i % 100 == 0) {
            calc_inference_pass pass;
            w.context = calc_step_times_round(w.context);
            calc_inference_pass_of(&model, &w, &pass);
            ck_assert_double_eq(t->latency_s, pass.latency_s);
            ck_assert_double_eq(t->slow_s, pass.slow.total_s);
        }
    }
    free(times.time);
}
