#include "front.h"

#include <check.h>
#include <math.h>
#include <stdlib.h>

#include "base/rng.h"

enum { FOUND = 60, ROUNDS = 200 };

static calc_rng rng;

/* Few different values, so that ties and repetitions are many. */
static calc_found random_found(size_t objectives)
{
    calc_found f = {.design = calc_rng_below(&rng, 2)};
    f.exec.strategy.tensor_par = 1 + calc_rng_below(&rng, 3);
    f.exec.strategy.weight_offload = calc_rng_below(&rng, 2) == 1;
    for (size_t i = 0; i < objectives; i++) {
        f.objective[i] = (double)calc_rng_below(&rng, 6) - 2;
    }
    return f;
}

static bool no_worse(const calc_found *a, const calc_found *b, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (a->objective[i] > b->objective[i]) {
            return false;
        }
    }
    return true;
}

/* Whether `a` keeps `b` off the front: better, or as good and first. */
static bool beats(const calc_found *a, const calc_found *b, size_t count)
{
    if (!no_worse(a, b, count)) {
        return false;
    }
    return !no_worse(b, a, count) || calc_found_compare(a, b) < 0;
}

static int compare(const calc_found *a, const calc_found *b, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (a->objective[i] != b->objective[i]) {
            return a->objective[i] < b->objective[i] ? -1 : 1;
        }
    }
    return calc_found_compare(a, b);
}

static bool is_in(const calc_front *list, const calc_found *f, size_t count)
{
    size_t times = 0;
    for (size_t i = 0; i < list->count; i++) {
        times += compare(&list->item[i], f, count) == 0;
    }
    ck_assert_uint_le(times, 1);
    return times == 1;
}

static void assert_in_order(const calc_front *list, size_t count)
{
    for (size_t i = 0; i < list->count; i++) {
        ck_assert(i == 0 || compare(&list->item[i - 1], &list->item[i], count) < 0);
        for (size_t k = 0; k < count && list->objective; k++) {
            ck_assert_double_eq(list->objective[i][k], list->item[i].objective[k]);
        }
    }
}

START_TEST(front_is_what_nothing_beats_in_any_order_of_insertion)
{
    size_t objectives = (size_t)_i;
    calc_rng_init(&rng, 1, (uint64_t)_i);
    for (int round = 0; round < ROUNDS; round++) {
        calc_found found[FOUND];
        calc_front front = {0};
        size_t count = 1 + calc_rng_below(&rng, FOUND);
        for (size_t i = 0; i < count; i++) {
            found[i] = random_found(objectives);
            ck_assert_int_eq(calc_front_insert(&front, &found[i], objectives), CALC_OK);
        }
        assert_in_order(&front, objectives);
        for (size_t i = 0; i < count; i++) {
            bool beaten = false;
            for (size_t j = 0; j < count; j++) {
                beaten = beaten || beats(&found[j], &found[i], objectives);
            }
            ck_assert_int_eq(is_in(&front, &found[i], objectives), !beaten);
        }
        calc_front_free(&front);
    }
}
END_TEST

START_TEST(domination_is_better_in_one_and_no_worse_in_all)
{
    size_t objectives = (size_t)_i;
    calc_rng_init(&rng, 2, (uint64_t)_i);
    calc_front front = {0};
    for (int round = 0; round < ROUNDS * 10; round++) {
        calc_found f = random_found(objectives);
        bool dominated = false;
        for (size_t i = 0; i < front.count; i++) {
            dominated = dominated || (no_worse(&front.item[i], &f, objectives) &&
                                      !no_worse(&f, &front.item[i], objectives));
        }
        ck_assert_int_eq(calc_front_dominates(&front, f.objective, objectives), dominated);
        if (calc_rng_below(&rng, 20) == 0) {
            ck_assert_int_eq(calc_front_insert(&front, &f, objectives), CALC_OK);
        }
        if (calc_rng_below(&rng, 100) == 0) {
            calc_front_clear(&front);
        }
    }
    calc_front_free(&front);
}
END_TEST

START_TEST(top_is_the_first_of_the_sorted_list_in_any_order_of_insertion)
{
    calc_rng_init(&rng, 3, 0);
    for (int round = 0; round < ROUNDS; round++) {
        calc_found found[FOUND];
        calc_front top = {0};
        size_t limit = 1 + calc_rng_below(&rng, 12);
        size_t count = 1 + calc_rng_below(&rng, FOUND);
        for (size_t i = 0; i < count; i++) {
            found[i] = random_found(1);
            ck_assert_int_eq(calc_top_insert(&top, &found[i], limit), CALC_OK);
            ck_assert_uint_le(top.count, limit);
        }
        assert_in_order(&top, 1);
        for (size_t i = 0; i < count; i++) {
            size_t before = 0; /* different ones that come first */
            for (size_t j = 0; j < count; j++) {
                bool again = false;
                for (size_t k = 0; k < j; k++) {
                    again = again || compare(&found[k], &found[j], 1) == 0;
                }
                before += !again && compare(&found[j], &found[i], 1) < 0;
            }
            ck_assert_int_eq(is_in(&top, &found[i], 1), before < limit);
        }
        calc_front_free(&top);
    }
}
END_TEST

START_TEST(a_long_top_is_the_first_of_the_sorted_list_once_it_is_settled)
{
    enum { LIMIT = 1500, COUNT = 20000, DIFFERENT = 4000 };
    calc_rng_init(&rng, 4, 0);
    calc_front top = {0};
    bool seen[DIFFERENT] = {false};
    double best = INFINITY;
    for (int i = 0; i < COUNT; i++) {
        uint32_t which = calc_rng_below(&rng, DIFFERENT);
        /* Pairs share what they are ordered by. */
        calc_found f = {.objective = {which / 2}, .exec = {.num_procs = which + 1}};
        double before = calc_top_threshold(&top, LIMIT);
        seen[which] = true;
        best = fmin(best, f.objective[0]);
        ck_assert_int_eq(calc_top_insert(&top, &f, LIMIT), CALC_OK);
        ck_assert_double_eq(top.objective[0][0], best);
        ck_assert_double_le(calc_top_threshold(&top, LIMIT), before);
    }
    calc_top_settle(&top, LIMIT);
    ck_assert_uint_eq(top.count, LIMIT);
    for (size_t i = 0, which = 0; i < LIMIT; i++, which++) {
        while (!seen[which]) {
            which++;
        }
        ck_assert_int_eq(top.item[i].exec.num_procs, (int64_t)which + 1);
        ck_assert_double_eq(top.objective[i][0], top.item[i].objective[0]);
    }
    ck_assert_double_eq(calc_top_threshold(&top, LIMIT), top.objective[LIMIT - 1][0]);
    calc_front_clear(&top);
    ck_assert_double_infinite(calc_top_threshold(&top, LIMIT));
    calc_front_free(&top);
}
END_TEST

START_TEST(threshold_is_infinite_while_there_is_room_and_then_the_worst_that_is_kept)
{
    calc_front top = {0};
    calc_found f = {.objective = {5}};
    ck_assert_double_infinite(calc_top_threshold(&top, 2));
    ck_assert_int_eq(calc_top_insert(&top, &f, 2), CALC_OK);
    ck_assert_double_infinite(calc_top_threshold(&top, 2));
    f.objective[0] = 7;
    ck_assert_int_eq(calc_top_insert(&top, &f, 2), CALC_OK);
    ck_assert_double_eq(calc_top_threshold(&top, 2), 7);
    f.objective[0] = 6;
    ck_assert_int_eq(calc_top_insert(&top, &f, 2), CALC_OK);
    ck_assert_double_eq(calc_top_threshold(&top, 2), 6);
    calc_front_free(&top);
}
END_TEST

START_TEST(layouts_are_ordered_by_design_and_then_by_their_fields)
{
    calc_found a = {.design = 1, .exec = {.num_procs = 1}};
    calc_found b = {.design = 0, .exec = {.num_procs = 9}};
    ck_assert_int_gt(calc_found_compare(&a, &b), 0);
    ck_assert_int_lt(calc_found_compare(&b, &a), 0);
    b.design = 1;
    ck_assert_int_lt(calc_found_compare(&a, &b), 0);
    b.exec = a.exec;
    b.objective[0] = 3;
    ck_assert_int_eq(calc_found_compare(&a, &b), 0);
}
END_TEST

START_TEST(freed_front_is_empty_and_may_be_used_again)
{
    calc_front front = {0};
    calc_found f = {.objective = {1}};
    ck_assert_int_eq(calc_front_insert(&front, &f, 1), CALC_OK);
    calc_front_free(&front);
    ck_assert_uint_eq(front.count, 0);
    ck_assert_ptr_null(front.item);
    ck_assert_int_eq(calc_front_insert(&front, &f, 1), CALC_OK);
    ck_assert_uint_eq(front.count, 1);
    calc_front_free(&front);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("front");
    TCase *tests = tcase_create("front");
    tcase_add_loop_test(tests, front_is_what_nothing_beats_in_any_order_of_insertion, 1, 5);
    tcase_add_loop_test(tests, domination_is_better_in_one_and_no_worse_in_all, 1, 5);
    tcase_add_test(tests, top_is_the_first_of_the_sorted_list_in_any_order_of_insertion);
    tcase_add_test(tests,
                   threshold_is_infinite_while_there_is_room_and_then_the_worst_that_is_kept);
    tcase_add_test(tests, a_long_top_is_the_first_of_the_sorted_list_once_it_is_settled);
    tcase_add_test(tests, layouts_are_ordered_by_design_and_then_by_their_fields);
    tcase_add_test(tests, freed_front_is_empty_and_may_be_used_again);
    suite_add_tcase(suite, tests);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_NORMAL);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
