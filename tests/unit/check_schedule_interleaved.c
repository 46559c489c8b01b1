#include "model/schedule/schedule.h"

#include "frame.h"
#include "small_case.h"

enum { P = 4, V = 3 };

static const double f_s = 1, b_s = 2.5;

/* Stages alike, but for the first and the last one if they are classes of their own. */
static calc_schedule_interleaved pipeline(double microbatches)
{
    calc_schedule_interleaved x = {.stages = P, .chunks = V, .microbatches = microbatches};
    double stages[] = {1, P - 2, 0, 1};
    for (int i = 0; i < CALC_SCHEDULE_CLASSES; i++) {
        x.of[i].stages = stages[i];
        x.of[i].chunk = (calc_schedule_chunk){f_s, b_s};
    }
    return x;
}

CALC_TEST(whole_rounds_on_three_stages_or_more)
{
    calc_schedule_shape s = {CALC_PIPELINE_SCHEDULE_1F1B, P, V, 2 * P};
    ck_assert(calc_schedule_interleaved_fits(&s));
    s.microbatches++;
    ck_assert(!calc_schedule_interleaved_fits(&s));
    s = (calc_schedule_shape){CALC_PIPELINE_SCHEDULE_1F1B, 2, V, 4};
    ck_assert(!calc_schedule_interleaved_fits(&s));
    s = (calc_schedule_shape){CALC_PIPELINE_SCHEDULE_1F1B, P, 1, P};
    ck_assert(!calc_schedule_interleaved_fits(&s));
    s = (calc_schedule_shape){CALC_PIPELINE_SCHEDULE_ZB_V, P, 2, P};
    ck_assert(!calc_schedule_interleaved_fits(&s));
}

/* Narayanan et al. 2021: a bubble of (p-1) chunks. */
CALC_TEST(equal_stages_have_the_bubble_of_the_paper)
{
    for (int rounds = 1; rounds < 40; rounds += rounds) {
        calc_schedule_interleaved x = pipeline(rounds * P);
        double chunk_s = f_s + b_s;
        assert_near(calc_schedule_interleaved_s(&x), (rounds * P * V + P - 1) * chunk_s);
        calc_schedule_interleaved one = pipeline(rounds * P);
        one.of[0].stages = P;
        one.of[1].stages = one.of[3].stages = 0;
        assert_near(calc_schedule_interleaved_s(&one), (rounds * P * V + P - 1) * chunk_s);
    }
}

/* The last stage never waits once it has begun. */
CALC_TEST(a_head_sets_the_pace)
{
    for (int rounds = 1; rounds < 40; rounds += rounds) {
        calc_schedule_interleaved x = pipeline(rounds * P);
        x.last = (calc_schedule_chunk){0.5, 1.5};
        double busy_s = rounds * P * (V * (f_s + b_s) + 0.5 + 1.5);
        assert_near(calc_schedule_interleaved_s(&x), (P - 1) * (f_s + b_s) + busy_s);
    }
}

/* With an embedding, the last stage waits for a whole round of it when the pipeline fills: its
 * first forward of the second chunk is the first that does not. And so when it drains. */
CALC_TEST(an_embedding_is_filled_and_drained_with_a_round_of_it)
{
    for (double large = 0.1; large < 1000; large *= 10) {
        calc_schedule_interleaved x = pipeline(P);
        x.first = (calc_schedule_chunk){large, 2 * large};
        double fill_s = (P - 1) * f_s + P * large;
        double drain_s = (P - 1) * b_s + P * 2 * large;
        assert_near(calc_schedule_interleaved_s(&x), fill_s + P * V * (f_s + b_s) + drain_s);
    }
}

CALC_TEST(a_slow_class_sets_the_pace)
{
    calc_schedule_interleaved x = pipeline(8 * P);
    x.of[1].chunk = (calc_schedule_chunk){2 * f_s, 2 * b_s};
    double busy_s = 8 * P * V * 2 * (f_s + b_s);
    double step_s = calc_schedule_interleaved_s(&x);
    ck_assert_double_ge(step_s, busy_s + f_s + b_s);
    ck_assert_double_le(step_s, busy_s + P * 2 * (f_s + b_s));
}
