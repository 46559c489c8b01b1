#include "front.h"

#include <math.h>
#include <stdlib.h>

#include "base/rng.h"
#include "frame.h"

enum { FOUND = 60, ROUNDS = 200 };

static calc_rng rng;

/* Few different values, so that ties and repetitions are many. */
static calc_found random_found(size_t objectives)
{
    uint64_t design = calc_rng_below(&rng, 2);
    calc_exec exec = {.strategy.tensor_par = 1 + calc_rng_below(&rng, 3)};
    exec.strategy.weight_offload = calc_rng_below(&rng, 2) == 1;
    calc_found f = calc_found_of(design, &exec);
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
    }
}

CALC_TEST_LOOP(front_is_what_nothing_beats_in_any_order_of_insertion, 1, 5)
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
        ck_assert_int_eq(calc_front_settle(&front), CALC_OK);
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

/* What a front of everything seen so far has to say, from all of that. */
static void assert_answers(const calc_front *front, const calc_found *seen, size_t count,
                           const double *objective, size_t objectives)
{
    const calc_found *asked =
        &(calc_found){.objective = {objective[0], objective[1], objective[2], objective[3]}};
    bool dominated = false;
    for (size_t i = 0; i < count; i++) {
        dominated = dominated || (no_worse(&seen[i], asked, objectives) &&
                                  !no_worse(asked, &seen[i], objectives));
    }
    ck_assert_int_eq(calc_front_dominates(front, objective, objectives), dominated);
}

CALC_TEST_LOOP(questions_are_answered_as_by_all_that_was_ever_added, 1, 5)
{
    enum { MOST = 2000 };
    static calc_found seen[MOST];
    size_t objectives = (size_t)_i;
    size_t count = 0;
    calc_rng_init(&rng, 2, (uint64_t)_i);
    calc_front front = {0};
    for (int round = 0; round < ROUNDS * 20; round++) {
        calc_found f = random_found(objectives);
        /* Few values, and many. */
        for (size_t k = 0; k < objectives && round % 1000 > 300; k++) {
            f.objective[k] += calc_rng_real(&rng) * 3;
        }
        assert_answers(&front, seen, count, f.objective, objectives);
        if (calc_rng_below(&rng, 3) == 0) {
            ck_assert_int_eq(calc_front_insert(&front, &f, objectives), CALC_OK);
            seen[count++] = f;
        }
        if (round % 700 == 0) {
            ck_assert_int_eq(calc_front_settle(&front), CALC_OK);
        }
        if (round % 1000 == 999) {
            calc_front_clear(&front);
            count = 0;
        }
    }
    calc_front_free(&front);
}

/* A point of a curved surface, where nothing dominates much, moved by up to `noise`; coordinates
 * are coarse, so that ties in some objectives are many. */
static calc_found surface_found(size_t objectives, double noise)
{
    calc_found f = random_found(0);
    double square = 1e-9;
    for (size_t i = 0; i < objectives; i++) {
        f.objective[i] = calc_rng_real(&rng);
        square += f.objective[i] * f.objective[i];
    }
    for (size_t i = 0; i < objectives; i++) {
        double at = -f.objective[i] / sqrt(square) * (1 - noise * calc_rng_real(&rng));
        f.objective[i] = floor(at * 200) / 200;
    }
    return f;
}

static int order(const void *a, const void *b)
{
    const calc_found *x = a;
    const calc_found *y = b;
    for (size_t i = 0; i < CALC_MAX_OBJECTIVES; i++) {
        if (x->objective[i] != y->objective[i]) {
            return x->objective[i] < y->objective[i] ? -1 : 1;
        }
    }
    return calc_found_compare(x, y);
}

/* The front by definition: of a sorted list, what nothing before it beats. @return how many */
static size_t brute_force(calc_found *found, size_t count, size_t objectives)
{
    size_t kept = 0;
    qsort(found, count, sizeof *found, order);
    for (size_t i = 0; i < count; i++) {
        bool beaten = false;
        for (size_t j = 0; j < kept && !beaten; j++) {
            beaten = no_worse(&found[j], &found[i], objectives);
        }
        if (!beaten) {
            calc_found one = found[i];
            found[kept++] = one;
        }
    }
    return kept;
}

static void assert_same(const calc_front *front, const calc_found *want, size_t count)
{
    ck_assert_uint_eq(front->count, count);
    for (size_t i = 0; i < count; i++) {
        ck_assert_int_eq(order(&front->item[i], &want[i]), 0);
    }
}

CALC_TEST_LOOP(large_fronts_and_their_unions_are_those_of_brute_force, 0, 2)
{
    enum { MANY = 3000, PARTS = 3 };
    calc_found *found = malloc(MANY * sizeof *found);
    ck_assert_ptr_nonnull(found);
    for (size_t objectives = 1; objectives <= CALC_MAX_OBJECTIVES; objectives++) {
        calc_front whole = {0};
        calc_front merged = {0};
        calc_front part[PARTS] = {{0}};
        calc_rng_init(&rng, 6, objectives);
        for (size_t i = 0; i < MANY; i++) {
            /* Better and better, so that layouts are dropped, by ever more objectives. */
            found[i] = surface_found(objectives, 1 - (double)i / MANY);
            if (_i == 1) {
                found[i].objective[0] = -(double)(i / 3); /* in order */
            }
            calc_front *one = &part[calc_rng_below(&rng, PARTS)];
            ck_assert_int_eq(calc_front_insert(&whole, &found[i], objectives), CALC_OK);
            ck_assert_int_eq(calc_front_insert(one, &found[i], objectives), CALC_OK);
        }
        for (size_t p = 0; p < PARTS; p++) {
            if (p == 1) {
                ck_assert_int_eq(calc_front_settle(&part[p]), CALC_OK);
                ck_assert_int_eq(calc_front_settle(&merged), CALC_OK);
            }
            ck_assert_int_eq(calc_front_merge(&merged, &part[p], objectives), CALC_OK);
            ck_assert_int_eq(calc_front_merge(&merged, &part[p], objectives), CALC_OK);
            calc_front_free(&part[p]);
        }
        for (size_t i = 0; i < 30; i++) {
            calc_found f = surface_found(objectives, (double)i / 30);
            assert_answers(&whole, found, MANY, f.objective, objectives);
        }
        ck_assert_int_eq(calc_front_settle(&whole), CALC_OK);
        ck_assert_int_eq(calc_front_settle(&merged), CALC_OK);
        size_t count = brute_force(found, MANY, objectives);
        assert_same(&whole, found, count);
        assert_same(&merged, found, count);
        calc_front_free(&whole);
        calc_front_free(&merged);
    }
    free(found);
}

CALC_TEST(top_is_the_first_of_the_sorted_list_in_any_order_of_insertion)
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

CALC_TEST(a_long_top_is_the_first_of_the_sorted_list_once_it_is_settled)
{
    enum { LIMIT = 1500, COUNT = 20000, DIFFERENT = 4000 };
    calc_rng_init(&rng, 4, 0);
    calc_front top = {0};
    bool seen[DIFFERENT] = {false};
    double best = INFINITY;
    for (int i = 0; i < COUNT; i++) {
        uint32_t which = calc_rng_below(&rng, DIFFERENT);
        /* Pairs share what they are ordered by. */
        calc_found f = calc_found_of(0, &(calc_exec){.num_procs = which + 1});
        f.objective[0] = which / 2;
        double before = calc_top_threshold(&top, LIMIT);
        seen[which] = true;
        best = fmin(best, f.objective[0]);
        ck_assert_int_eq(calc_top_insert(&top, &f, LIMIT), CALC_OK);
        ck_assert_double_eq(top.item[0].objective[0], best);
        ck_assert_double_le(calc_top_threshold(&top, LIMIT), before);
    }
    calc_top_settle(&top, LIMIT);
    ck_assert_uint_eq(top.count, LIMIT);
    for (size_t i = 0, which = 0; i < LIMIT; i++, which++) {
        while (!seen[which]) {
            which++;
        }
        ck_assert_int_eq(calc_found_exec(&top.item[i]).num_procs, (int64_t)which + 1);
    }
    ck_assert_double_eq(calc_top_threshold(&top, LIMIT), top.item[LIMIT - 1].objective[0]);
    calc_front_clear(&top);
    ck_assert_double_infinite(calc_top_threshold(&top, LIMIT));
    calc_front_free(&top);
}

CALC_TEST(threshold_is_infinite_while_there_is_room_and_then_the_worst_that_is_kept)
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

CALC_TEST(layouts_are_ordered_by_design_and_then_by_their_fields)
{
    calc_found a = calc_found_of(1, &(calc_exec){.num_procs = 1});
    calc_found b = calc_found_of(0, &(calc_exec){.num_procs = 9});
    ck_assert_int_gt(calc_found_compare(&a, &b), 0);
    ck_assert_int_lt(calc_found_compare(&b, &a), 0);
    b.design = 1;
    ck_assert_int_lt(calc_found_compare(&a, &b), 0);
    b = a;
    b.objective[0] = 3;
    ck_assert_int_eq(calc_found_compare(&a, &b), 0);
}

CALC_TEST(freed_front_is_empty_and_may_be_used_again)
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
