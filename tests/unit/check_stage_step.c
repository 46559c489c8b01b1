#include "model/stage_step.h"

#include "base/rng.h"
#include "modern_case.h"

/* A stage that takes 2, 3 and 1 s. */
static const calc_stage_pass even = {1, 2, 3, 1};
static const double C = 6;

static double even_s(calc_pipeline_schedule schedule, double stages, double chunks,
                     double microbatches)
{
    calc_stage_pass pass = even;
    pass.stages = stages;
    return calc_stage_pipeline_s(schedule, true, &pass, 1, stages, chunks, microbatches);
}

START_TEST(one_stage_has_no_bubble)
{
    for (int i = 0; i < CALC_PIPELINE_SCHEDULE_COUNT; i++) {
        ck_assert_double_eq(even_s((calc_pipeline_schedule)i, 1, 1, 5), 5 * C);
    }
}
END_TEST

START_TEST(equal_stages_wait_for_the_first_and_last_micro_batch)
{
    ck_assert_double_eq(even_s(CALC_PIPELINE_SCHEDULE_1F1B, 4, 1, 8), (8 + 3) * C);
    ck_assert_double_eq(even_s(CALC_PIPELINE_SCHEDULE_GPIPE, 4, 1, 8), (8 + 3) * C);
    ck_assert_double_eq(even_s(CALC_PIPELINE_SCHEDULE_1F1B, 4, 1, 1), 4 * C);
}
END_TEST

START_TEST(chunks_divide_the_bubble)
{
    ck_assert_double_eq(even_s(CALC_PIPELINE_SCHEDULE_1F1B, 4, 3, 8), 8 * C + 3 * C / 3);
    /* a last round of 2 instead of 4 leaves 2 of them idle in every chunk but the last */
    ck_assert_double_eq(even_s(CALC_PIPELINE_SCHEDULE_1F1B, 4, 3, 6),
                        6 * C + (3 * C + 2 * 2 * C) / 3);
}
END_TEST

START_TEST(weight_gradients_fill_the_bubble)
{
    ck_assert_double_eq(even_s(CALC_PIPELINE_SCHEDULE_ZB_H1, 4, 1, 8), 8 * C + 3 * (2 + 3 - 1));
    ck_assert_double_eq(even_s(CALC_PIPELINE_SCHEDULE_ZB_H2, 4, 1, 8), 8 * C + 3 * (2 + 3 - 2));
    ck_assert_double_eq(even_s(CALC_PIPELINE_SCHEDULE_ZB_V, 4, 1, 8), 8 * C + 3 * (2 + 3 - 2));
    /* (p/2 - 1)(F&B + B - 3W) */
    ck_assert_double_eq(even_s(CALC_PIPELINE_SCHEDULE_DUALPIPE, 4, 1, 8), 8 * C + 6 + 4 - 3);
    ck_assert_double_eq(even_s(CALC_PIPELINE_SCHEDULE_DUALPIPE_V, 6, 1, 12), 12 * C + 2 * 7);
    ck_assert_double_eq(even_s(CALC_PIPELINE_SCHEDULE_DUALPIPE, 2, 1, 4), 4 * C);
}
END_TEST

/* The bubble is that of the slowest stage, wherever it is. */
START_TEST(weight_gradients_of_the_slowest_stage_fill_the_bubble)
{
    for (int i = 0; i < 2; i++) {
        calc_stage_pass pass[2] = {{2, 1, 1, 1}, {2, 1, 1, 1}};
        pass[i] = (calc_stage_pass){2, 2, 3, 1};
        double s = calc_stage_pipeline_s(CALC_PIPELINE_SCHEDULE_ZB_H1, true, pass, 2, 4, 1, 8);
        ck_assert_double_eq(s, 8 * 6 + 3 * (2 + 3 - 1));
    }
}
END_TEST

START_TEST(a_bubble_is_never_negative)
{
    calc_stage_pass heavy = {4, 1, 1, 5};
    double s = calc_stage_pipeline_s(CALC_PIPELINE_SCHEDULE_ZB_H2, true, &heavy, 1, 4, 1, 8);
    ck_assert_double_eq(s, 8 * 7);
    s = calc_stage_pipeline_s(CALC_PIPELINE_SCHEDULE_DUALPIPE, true, &heavy, 1, 4, 1, 8);
    ck_assert_double_eq(s, 8 * 7);
}
END_TEST

START_TEST(inference_fills_the_pipeline_and_then_runs_at_the_slowest)
{
    const calc_stage_pass pass[2] = {{3, 2, 0, 0}, {1, 5, 0, 0}};
    double s = calc_stage_pipeline_s(CALC_PIPELINE_SCHEDULE_1F1B, false, pass, 2, 4, 1, 7);
    ck_assert_double_eq(s, 3 * 2 + 5 + 6 * 5);
}
END_TEST

START_TEST(classes_are_their_stages_one_by_one)
{
    const calc_stage_pass classes[3] = {{1, 1, 2, 1}, {3, 1, 1, 1}, {1, 2, 2, 2}};
    const calc_stage_pass stages[5] = {
        {1, 1, 2, 1}, {1, 1, 1, 1}, {1, 1, 1, 1}, {1, 1, 1, 1}, {1, 2, 2, 2}};
    double a = calc_stage_pipeline_s(CALC_PIPELINE_SCHEDULE_1F1B, true, classes, 3, 5, 1, 20);
    double b = calc_stage_pipeline_s(CALC_PIPELINE_SCHEDULE_1F1B, true, stages, 5, 5, 1, 20);
    ck_assert_double_eq(a, b);
    ck_assert_double_eq(a, 4 + 9 + 6 + 19 * 6);
}
END_TEST

/* ---- Beside a simulation of every pass --------------------------------------------------------
 */

enum { MOST_STAGES = 8, MOST_MICROBATCHES = 40 };

/* When 1F1B ends if stage i takes f[i] forward and b[i] backward, event by event: a stage does
   min(m, p - 1 - i) passes forward, then one each way in turn, then the rest backward. */
static double simulate_1f1b(int p, int m, const double *f, const double *b)
{
    static double fw[MOST_STAGES][MOST_MICROBATCHES], bw[MOST_STAGES][MOST_MICROBATCHES];
    int forward[MOST_STAGES] = {0}, backward[MOST_STAGES] = {0};
    double clock[MOST_STAGES] = {0};
    int left = 2 * p * m;
    for (int i = 0; left > 0; i = (i + 1) % p) {
        int warm = m < p - 1 - i ? m : p - 1 - i;
        bool next_is_forward = forward[i] < m && forward[i] <= backward[i] + warm;
        int k = next_is_forward ? forward[i] : backward[i];
        bool ready = next_is_forward ? i == 0 || k < forward[i - 1]
                                     : k < m && (i == p - 1 ? k < forward[i] : k < backward[i + 1]);
        if (!ready) {
            continue;
        }
        double other =
            next_is_forward ? (i == 0 ? 0 : fw[i - 1][k]) : (i == p - 1 ? fw[i][k] : bw[i + 1][k]);
        clock[i] = fmax(clock[i], other) + (next_is_forward ? f[i] : b[i]);
        *(next_is_forward ? &fw[i][k] : &bw[i][k]) = clock[i];
        *(next_is_forward ? &forward[i] : &backward[i]) += 1;
        left--;
    }
    double end = 0;
    for (int i = 0; i < p; i++) {
        end = fmax(end, clock[i]);
    }
    return end;
}

static double closed_form_s(int p, int m, const double *f, const double *b)
{
    calc_stage_pass pass[MOST_STAGES];
    for (int i = 0; i < p; i++) {
        pass[i] = (calc_stage_pass){1, f[i], b[i], 0};
    }
    return calc_stage_pipeline_s(CALC_PIPELINE_SCHEDULE_1F1B, true, pass, (size_t)p, p, 1, m);
}

START_TEST(equal_stages_are_exact)
{
    double f[MOST_STAGES], b[MOST_STAGES];
    for (int i = 0; i < MOST_STAGES; i++) {
        f[i] = 1;
        b[i] = 2;
    }
    for (int p = 1; p <= MOST_STAGES; p++) {
        for (int m = 1; m <= 20; m++) {
            assert_near(closed_form_s(p, m, f, b), simulate_1f1b(p, m, f, b));
        }
    }
}
END_TEST

/* The usual pipeline: a last stage with the head. */
START_TEST(a_slow_last_stage_is_exact)
{
    for (int p = 2; p <= MOST_STAGES; p++) {
        double f[MOST_STAGES], b[MOST_STAGES];
        for (int i = 0; i < p; i++) {
            f[i] = i == p - 1 ? 1.5 : 1;
            b[i] = 2 * f[i];
        }
        for (int m = p; m <= MOST_MICROBATCHES; m += 3) {
            assert_near(closed_form_s(p, m, f, b), simulate_1f1b(p, m, f, b));
        }
    }
}
END_TEST

/* Never too long, and a twentieth too short at most. */
START_TEST(uneven_stages_are_close_from_below)
{
    calc_rng rng;
    calc_rng_init(&rng, 20231112, 0);
    double sum = 0;
    enum { CASES = 400 };
    for (int n = 0; n < CASES; n++) {
        double f[MOST_STAGES], b[MOST_STAGES];
        int p = 2 + (int)calc_rng_below(&rng, MOST_STAGES - 1);
        int m = p + (int)calc_rng_below(&rng, (uint32_t)(4 * p + 1));
        for (int i = 0; i < p; i++) {
            f[i] = 0.7 + 0.7 * calc_rng_real(&rng);
            b[i] = 2 * f[i];
        }
        double exact = simulate_1f1b(p, m, f, b);
        double error = closed_form_s(p, m, f, b) / exact - 1;
        ck_assert_msg(error <= 1e-12 && error >= -0.05, "case %d: %g", n, error);
        sum += fabs(error);
    }
    ck_assert_double_le(sum / CASES, 0.002);
}
END_TEST

int main(void)
{
    TCase *cases = tcase_create("stage_step");
    tcase_add_test(cases, one_stage_has_no_bubble);
    tcase_add_test(cases, equal_stages_wait_for_the_first_and_last_micro_batch);
    tcase_add_test(cases, chunks_divide_the_bubble);
    tcase_add_test(cases, weight_gradients_fill_the_bubble);
    tcase_add_test(cases, weight_gradients_of_the_slowest_stage_fill_the_bubble);
    tcase_add_test(cases, a_bubble_is_never_negative);
    tcase_add_test(cases, inference_fills_the_pipeline_and_then_runs_at_the_slowest);
    tcase_add_test(cases, classes_are_their_stages_one_by_one);
    tcase_add_test(cases, equal_stages_are_exact);
    tcase_add_test(cases, a_slow_last_stage_is_exact);
    tcase_add_test(cases, uneven_stages_are_close_from_below);
    return run_cases(cases);
}
