#include "model/schedule/schedule.h"

#include "frame.h"
#include "small_case.h"

static const char *const names[] = {"1f1b", "gpipe",    "zb_h1",     "zb_h2",
                                    "zb_v", "dualpipe", "dualpipe_v"};
enum { KINDS = sizeof names / sizeof names[0] };

static calc_schedule_shape shape(const char *name, int64_t stages, int64_t chunks,
                                 int64_t microbatches)
{
    int kind = 0;
    while (strcmp(names[kind], name) != 0) {
        kind++;
    }
    return (calc_schedule_shape){(calc_pipeline_schedule)kind, stages, chunks, microbatches};
}

static calc_schedule_status check(const char *name, int64_t p, int64_t v, int64_t m)
{
    calc_schedule_shape s = shape(name, p, v, m);
    return calc_schedule_check(&s);
}

/** Idle time of equal stages. */
static double bubble_s(const char *name, int64_t p, int64_t v, int64_t m, double f, double b,
                       double w)
{
    calc_schedule_shape s = shape(name, p, v, m);
    ck_assert_int_eq(calc_schedule_check(&s), CALC_SCHEDULE_OK);
    calc_schedule_times t = {.of = {{(double)p, f, b, w}}};
    return calc_schedule_s(&s, &t) - (double)m * (f + b + w);
}

static double in_flight(const char *name, int64_t p, int64_t v, int64_t m, int64_t stage)
{
    calc_schedule_shape s = shape(name, p, v, m);
    return calc_schedule_in_flight(&s, stage);
}

/* ---- Shapes -----------------------------------------------------------------------------------*/

CALC_TEST(the_names_of_this_test_are_those_of_the_enumeration)
{
#define COUNT_AND_COMPARE(T, name, text) ck_assert_str_eq(names[T##name], text);
    CALC_PIPELINE_SCHEDULE_LIST(COUNT_AND_COMPARE, CALC_PIPELINE_SCHEDULE_)
    ck_assert_int_eq(KINDS, CALC_PIPELINE_SCHEDULE_COUNT);
}

CALC_TEST(a_schedule_needs_stages_chunks_and_micro_batches)
{
    for (int i = 0; i < KINDS; i++) {
        ck_assert_int_eq(check(names[i], 0, 1, 1), CALC_SCHEDULE_EMPTY);
        ck_assert_int_eq(check(names[i], 1, 0, 1), CALC_SCHEDULE_EMPTY);
        ck_assert_int_eq(check(names[i], 1, 1, 0), CALC_SCHEDULE_EMPTY);
    }
    ck_assert_int_eq(check("1f1b", 1, 65535, 1), CALC_SCHEDULE_OK);
    ck_assert_int_eq(check("1f1b", 1, 65536, 1), CALC_SCHEDULE_TOO_MANY_CHUNKS);
}

CALC_TEST(only_1f1b_takes_any_number_of_chunks)
{
    ck_assert_int_eq(check("1f1b", 4, 1, 3), CALC_SCHEDULE_OK);
    ck_assert_int_eq(check("1f1b", 4, 5, 3), CALC_SCHEDULE_OK);
    static const char *const one[] = {"gpipe", "zb_h1", "zb_h2", "dualpipe"};
    for (int i = 0; i < 4; i++) {
        ck_assert_int_eq(check(one[i], 4, 1, 8), CALC_SCHEDULE_OK);
        ck_assert_int_eq(check(one[i], 4, 2, 8), CALC_SCHEDULE_ONE_CHUNK);
    }
    static const char *const two[] = {"zb_v", "dualpipe_v"};
    for (int i = 0; i < 2; i++) {
        ck_assert_int_eq(check(two[i], 4, 2, 8), CALC_SCHEDULE_OK);
        ck_assert_int_eq(check(two[i], 4, 1, 8), CALC_SCHEDULE_TWO_CHUNKS);
        ck_assert_int_eq(check(two[i], 4, 3, 8), CALC_SCHEDULE_TWO_CHUNKS);
    }
}

CALC_TEST(dualpipe_needs_even_numbers_and_two_micro_batches_per_stage)
{
    ck_assert_int_eq(check("dualpipe", 4, 1, 8), CALC_SCHEDULE_OK);
    ck_assert_int_eq(check("dualpipe", 3, 1, 8), CALC_SCHEDULE_ODD);
    ck_assert_int_eq(check("dualpipe", 4, 1, 9), CALC_SCHEDULE_ODD);
    ck_assert_int_eq(check("dualpipe", 4, 1, 6), CALC_SCHEDULE_FEW_MICROBATCHES);
    ck_assert_int_eq(check("dualpipe_v", 3, 2, 6), CALC_SCHEDULE_OK);
    ck_assert_int_eq(check("dualpipe_v", 3, 2, 7), CALC_SCHEDULE_OK);
    ck_assert_int_eq(check("dualpipe_v", 3, 2, 5), CALC_SCHEDULE_FEW_MICROBATCHES);
    ck_assert_int_eq(check("zb_v", 3, 2, 1), CALC_SCHEDULE_OK);
}

CALC_TEST(a_refusal_has_words)
{
    ck_assert_str_eq(calc_schedule_status_text(CALC_SCHEDULE_OK), "fits");
    ck_assert_str_eq(calc_schedule_status_text(CALC_SCHEDULE_TWO_CHUNKS),
                     "has two chunks per stage");
    ck_assert_str_eq(calc_schedule_status_text(CALC_SCHEDULE_FEW_MICROBATCHES),
                     "needs at least two micro-batches per stage");
}

/* ---- The bubble -------------------------------------------------------------------------------*/

CALC_TEST(one_stage_is_never_idle)
{
    for (int i = 0; i < KINDS; i++) {
        int64_t v = check(names[i], 1, 2, 2) == CALC_SCHEDULE_OK ? 2 : 1;
        if (strcmp(names[i], "dualpipe") != 0) {
            assert_near(bubble_s(names[i], 1, v, 2, 1, 1.5, 0.75) + 1, 1);
        }
    }
    assert_near(bubble_s("1f1b", 1, 3, 5, 1, 1.5, 0.75) + 1, 1);
}

CALC_TEST(one_micro_batch_goes_down_and_up)
{
    /* Weight gradients that are split off do not delay the stage above. */
    assert_near(bubble_s("1f1b", 4, 1, 1, 1, 1.5, 0.75), 3 * 3.25);
    assert_near(bubble_s("gpipe", 4, 1, 1, 1, 1.5, 0.75), 3 * 3.25);
    assert_near(bubble_s("1f1b", 4, 2, 1, 1, 1.5, 0.75), 3 * 3.25);
    assert_near(bubble_s("zb_h1", 4, 1, 1, 1, 1.5, 0.75), 3 * 2.5);
    assert_near(bubble_s("zb_h2", 4, 1, 1, 1, 1.5, 0.75), 3 * 2.5);
    assert_near(bubble_s("zb_v", 4, 2, 1, 1, 1.5, 0.75), 3 * 2.5);
}

/* Narayanan et al. 2021, section 2.2: (p-1)(tf+tb) and that over v. */
CALC_TEST(interleaving_divides_the_bubble_by_the_chunks)
{
    assert_near(bubble_s("1f1b", 8, 1, 32, 1, 1.5, 0.5), 21);
    assert_near(bubble_s("gpipe", 8, 1, 32, 1, 1.5, 0.5), 21);
    assert_near(bubble_s("1f1b", 8, 2, 32, 1, 1.5, 0.5), 10.5);
    assert_near(bubble_s("1f1b", 8, 4, 32, 1, 1.5, 0.5), 5.25);
}

/* Fewer micro-batches than stages: each goes through all chunks of all stages, one behind the
   other. 5 on 4 stages: the second round of one micro-batch costs up to 3 chunk times more. */
CALC_TEST(a_round_that_is_not_full_costs_more_with_chunks)
{
    assert_near(bubble_s("1f1b", 4, 2, 3, 1, 1, 1), (3 + 1) * 3 / 2.0);
    assert_near(bubble_s("1f1b", 4, 2, 4, 1, 1, 1), 3 * 3 / 2.0);
    assert_near(bubble_s("1f1b", 4, 2, 5, 1, 1, 1), (3 * 1 + 6 * 2) / 2.0);
    /* Forwards longer: 6 of them, 6 - 4 backwards. */
    assert_near(bubble_s("1f1b", 4, 2, 5, 4, 1, 1), (6 * 4 + 2 * 2) / 2.0);
}

/* Qi et al. 2023, table 1: (p-1)(F+B-W) for ZB-H1. Of ZB-H2 and ZB-V they count what is idle
   between the first and the last operation of a stage: 0 for F = B = W; the last stage still starts
   p-1 forwards late, and nobody is done before it. */
CALC_TEST(zero_bubble_schedules_wait_for_the_last_stage_to_start)
{
    assert_near(bubble_s("zb_h1", 4, 1, 12, 1, 1, 1), 3);
    assert_near(bubble_s("zb_h1", 8, 1, 32, 1, 1.2, 0.8), 7 * 1.4);
    assert_near(bubble_s("zb_h2", 4, 1, 12, 1, 1, 1), 3);
    assert_near(bubble_s("zb_h2", 4, 1, 12, 1, 1, 0.25), 3 * 1.5);
    assert_near(bubble_s("zb_v", 4, 2, 12, 1, 1, 1), 1.5);
    assert_near(bubble_s("zb_v", 4, 2, 12, 1, 1.5, 1), 2.25);
}

CALC_TEST(each_duration_can_be_the_one_that_a_zero_bubble_schedule_waits_for)
{
    assert_near(bubble_s("zb_h1", 5, 1, 20, 3, 1, 4), 4 * 3);
    assert_near(bubble_s("zb_h1", 5, 1, 20, 1, 3, 4), 4 * 3);
    assert_near(bubble_s("zb_h1", 5, 1, 20, 1, 2, 0.5), 4 * 2.5);
    assert_near(bubble_s("zb_h2", 5, 1, 20, 1, 3, 3), 4 * 2);
    assert_near(bubble_s("zb_v", 5, 2, 20, 1, 1, 3), 4 * 3 / 2.0);
    assert_near(bubble_s("zb_v", 5, 2, 20, 3, 1, 2), 4 * 5 / 2.0);
    assert_near(bubble_s("zb_v", 5, 2, 20, 3, 2, 0.5), 4 * 5 / 2.0);
    assert_near(bubble_s("zb_v", 5, 2, 20, 2, 3, 0.5), 4 * 5 / 2.0);
}

/* Long forwards and few micro-batches; more of them than stages, but not twice as many. The figures
   are those of every operation. */
CALC_TEST(weight_gradients_of_zb_v_wait_for_as_long_as_there_are_gaps)
{
    assert_near(bubble_s("zb_v", 3, 2, 2, 3, 1, 1), 6);
    assert_near(bubble_s("zb_v", 3, 2, 2, 3, 1, 2), 6);
    assert_near(bubble_s("zb_v", 3, 2, 2, 4, 1, 1), 8);
    assert_near(bubble_s("zb_v", 3, 2, 2, 5, 1, 2), 9.5);
    assert_near(bubble_s("zb_v", 3, 2, 2, 5, 2, 1), 11);
    assert_near(bubble_s("zb_v", 3, 2, 4, 1, 1, 1), 1.5);
    assert_near(bubble_s("zb_v", 3, 2, 5, 1, 2, 1), 2.5);
    assert_near(bubble_s("zb_v", 3, 2, 5, 1, 3, 1), 4.5);
    assert_near(bubble_s("zb_v", 3, 2, 6, 1, 3, 1), 4);
}

/* The authors' table: (p/2-1)(FB + whole backward - 3W), with FB = F+B+W if nothing is hidden. For
   F = B = W = 1 that is (p/2-1)(3+2-3), as here; in general their schedule has one F less, and
   other longest paths. */
CALC_TEST(dualpipe_is_idle_as_its_authors_say_when_all_take_as_long)
{
    assert_near(bubble_s("dualpipe", 8, 1, 20, 1, 1, 1), 3 * 2);
    assert_near(bubble_s("dualpipe", 2, 1, 4, 1, 1, 1) + 1, 1);
    assert_near(bubble_s("dualpipe_v", 4, 2, 10, 2, 2, 2), 3 * 2);
    assert_near(bubble_s("dualpipe", 8, 1, 20, 1, 2, 1), 3 * (3 + 3 + 1 - 3) - 1);
    assert_near(bubble_s("dualpipe", 8, 1, 20, 2, 1, 1), 6 * 2);
    assert_near(bubble_s("dualpipe", 8, 1, 20, 2, 1.5, 1), 6 * 2 + 3 * 0.5);
    assert_near(bubble_s("dualpipe", 8, 1, 20, 1, 4, 5), 2 * 1 + 3 * 4);
}

/* ---- Unequal stages ---------------------------------------------------------------------------*/

/* Three stages of 4, 1 and 1, six micro-batches. */
CALC_TEST(the_slowest_stage_sets_the_pace_of_gpipe)
{
    calc_schedule_shape s = shape("gpipe", 3, 1, 6);
    calc_schedule_times t = {.of = {{1, 2, 1, 1}, {2, 0.5, 0.25, 0.25}}};
    assert_near(calc_schedule_s(&s, &t), 6 + 5 * 4);
    t.of[0].fw_s = 0.25; /* forwards wait for the others, backwards for the first */
    assert_near(calc_schedule_s(&s, &t), 4.25 + 5 * (0.5 + 2));
}

/* What is left of the closed forms where there is no room for a simulation. */
CALC_TEST(others_wait_for_the_busiest_stage_and_for_average_ones)
{
    calc_schedule_shape s = shape("zb_h1", 4, 1, 12);
    calc_schedule_times t = {.of = {{3, 1, 1, 1}, {1, 2, 2, 2}}};
    assert_near(calc_schedule_s(&s, &t), 12 * 6 + 3);
    t.of[1] = (calc_schedule_class){1, 0.5, 0.5, 0.5}; /* two of 1 and one of a half */
    assert_near(calc_schedule_s(&s, &t), 12 * 3 + 3 * 2.5 / 3);
}

CALC_TEST(splitting_a_class_changes_nothing)
{
    for (int i = 0; i < KINDS; i++) {
        int64_t v = check(names[i], 8, 2, 24) == CALC_SCHEDULE_OK ? 2 : 1;
        calc_schedule_shape s = shape(names[i], 8, v, 24);
        calc_schedule_times whole = {.of = {{6, 1, 1.25, 0.75}, {2, 1.5, 1, 0.5}}};
        calc_schedule_times split = {
            .of = {{1, 1, 1.25, 0.75}, {5, 1, 1.25, 0.75}, {0, 7, 7, 7}, {2, 1.5, 1, 0.5}}};
        assert_near(calc_schedule_s(&s, &split), calc_schedule_s(&s, &whole));
    }
}

/* ---- Memory -----------------------------------------------------------------------------------*/

CALC_TEST(a_stage_holds_the_micro_batches_of_its_schedule)
{
    ck_assert_double_eq(in_flight("gpipe", 4, 1, 9, 0), 9);
    for (int64_t stage = 0; stage < 4; stage++) {
        ck_assert_double_eq(in_flight("1f1b", 4, 1, 9, stage), 4 - (double)stage);
        ck_assert_double_eq(in_flight("zb_h1", 4, 1, 9, stage), 4);
        ck_assert_double_eq(in_flight("zb_h2", 4, 1, 9, stage), 7);
        ck_assert_double_eq(in_flight("zb_v", 4, 2, 9, stage), 4);
        ck_assert_double_eq(in_flight("dualpipe", 4, 1, 10, stage), 5);
        ck_assert_double_eq(in_flight("dualpipe_v", 4, 2, 10, stage), 4.5);
    }
    /* Korthikanti et al. 2022: p (1 + (p-1)/(pv)) on the first stage. */
    ck_assert_double_eq(in_flight("1f1b", 4, 2, 12, 0), 4 * (1 + 3 / 8.0));
    ck_assert_double_eq(in_flight("1f1b", 4, 2, 12, 3), (4 + 1) / 2.0);
}

CALC_TEST(a_stage_holds_no_more_than_there_are)
{
    for (int i = 0; i < 4; i++) {
        ck_assert_double_eq(in_flight(names[i], 8, 1, 3, 0), 3);
    }
    ck_assert_double_eq(in_flight("1f1b", 8, 2, 3, 0), 3);
    ck_assert_double_eq(in_flight("zb_v", 8, 2, 3, 7), 3);
    ck_assert_double_eq(in_flight("1f1b", 8, 1, 3, 6), 2);
    ck_assert_double_eq(in_flight("zb_v", 8, 2, 3, 1), 2.5);
}

CALC_TEST(the_fullest_stage_of_some_is_the_first_that_holds_most)
{
    /* 11 micro-batches on 8 stages: 6, 6.5, 7, 7.5, 8, ... 8, 7.5 ... */
    calc_schedule_shape v = shape("zb_v", 8, 2, 11);
    ck_assert_double_eq(calc_schedule_in_flight(&v, 0), 6);
    ck_assert_int_eq(calc_schedule_fullest(&v, 0, 7), 4);
    ck_assert_int_eq(calc_schedule_fullest(&v, 0, 3), 3);
    ck_assert_int_eq(calc_schedule_fullest(&v, 6, 7), 6);
    for (int kind = 0; kind < KINDS; kind++) {
        for (int64_t m = 1; m < 20; m++) {
            bool two = kind == CALC_PIPELINE_SCHEDULE_ZB_V;
            calc_schedule_shape s = shape(names[kind], 6, two ? 2 : 1, m);
            for (int64_t first = 0; first < 6; first++) {
                int64_t most = first;
                for (int64_t last = first; last < 6; last++) {
                    bool more =
                        calc_schedule_in_flight(&s, last) > calc_schedule_in_flight(&s, most);
                    most = more ? last : most;
                    ck_assert_int_eq(calc_schedule_fullest(&s, first, last), most);
                }
            }
        }
    }
}
