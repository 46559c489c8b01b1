/* The screen beside all points that it was told of. */
#include "bound.h"

#include <math.h>

#include "base/rng.h"
#include "frame.h"

const calc_test_frame calc_tests = {.in_one_process = true};

enum { ROUNDS = 300, POINTS = 60, LOOKS = 300 };

static calc_rng rng;
static calc_screen screen;
static double capacity1, capacity2;

typedef struct point {
    double rate, tier1_bytes, tier2_bytes;
} point;

/* A need: often where a step of the table begins, or next to it, or nothing, or everything. */
static double random_need(double capacity, uint32_t steps)
{
    double edge = capacity * calc_rng_below(&rng, steps + 1) / steps;
    switch (calc_rng_below(&rng, 6)) {
    case 0:
        return edge;
    case 1:
        return nextafter(edge, 0);
    case 2:
        return fmin(nextafter(edge, INFINITY), capacity);
    case 3:
        return calc_rng_below(&rng, 2) ? 0 : capacity;
    default:
        return capacity * calc_rng_real(&rng);
    }
}

/* Few different rates, so that ties are many. */
static point random_point(void)
{
    return (point){ldexp(1 + (double)calc_rng_below(&rng, 4), (int)calc_rng_below(&rng, 8) - 4),
                   random_need(capacity1, CALC_SCREEN_TIER1),
                   random_need(capacity2, CALC_SCREEN_TIER2)};
}

static void random_capacities(void)
{
    capacity1 = calc_rng_below(&rng, 6) ? ldexp(1 + calc_rng_real(&rng), 36) : 0;
    capacity2 = calc_rng_below(&rng, 3) ? ldexp(1 + calc_rng_real(&rng), 39) : 0;
    calc_screen_clear(&screen, capacity1, capacity2);
}

/* Whether a point needs no more than another and is faster. */
static bool dominates(const point *a, const point *b)
{
    return a->rate > b->rate && a->tier1_bytes <= b->tier1_bytes &&
           a->tier2_bytes <= b->tier2_bytes;
}

static double numerator_of_batch(void)
{
    return (double)(1 + calc_rng_below(&rng, 4096));
}

CALC_TEST_LOOP(what_no_known_point_dominates_is_never_longer_than_what_matters, 0, ROUNDS)
{
    point known[POINTS];
    calc_rng_init(&rng, (uint64_t)_i, 1);
    random_capacities();
    for (size_t n = 0; n < POINTS; n++) {
        for (int i = 0; i < LOOKS / POINTS; i++) {
            point p = random_point();
            double numerator = numerator_of_batch();
            bool dominated = false;
            for (size_t k = 0; k < n; k++) {
                dominated = dominated || dominates(&known[k], &p);
            }
            double longest_s =
                calc_screen_longest_s(&screen, numerator, p.tier1_bytes, p.tier2_bytes);
            ck_assert_msg(dominated || numerator / p.rate <= longest_s,
                          "%.17g s are longer than %.17g s", numerator / p.rate, longest_s);
        }
        known[n] = random_point();
        calc_screen_add(&screen, known[n].rate, known[n].tier1_bytes, known[n].tier2_bytes);
    }
}

/* As long as the known point itself. */
CALC_TEST_LOOP(a_tie_is_never_too_long, 0, ROUNDS)
{
    calc_rng_init(&rng, (uint64_t)_i, 2);
    random_capacities();
    for (int i = 0; i < POINTS; i++) {
        double batch = numerator_of_batch();
        double step_s = ldexp(1 + calc_rng_real(&rng), (int)calc_rng_below(&rng, 20) - 10);
        double rate = batch / step_s;
        calc_screen_clear(&screen, capacity1, capacity2);
        calc_screen_add(&screen, rate, 0, 0);
        ck_assert_double_ge(calc_screen_longest_s(&screen, batch, capacity1, capacity2), step_s);
        ck_assert_double_le(calc_screen_longest_s(&screen, batch, capacity1, capacity2),
                            step_s * (1 + 2e-6));
    }
}

CALC_TEST(most_of_what_is_dominated_is_too_long)
{
    point known[POINTS];
    size_t dominated = 0;
    size_t caught = 0;
    calc_rng_init(&rng, 7, 3);
    capacity1 = 80e9;
    capacity2 = 512e9;
    calc_screen_clear(&screen, capacity1, capacity2);
    for (size_t n = 0; n < POINTS + 5000; n++) {
        point p = {1 + 100 * calc_rng_real(&rng), capacity1 * calc_rng_real(&rng),
                   capacity2 * calc_rng_real(&rng)};
        if (n < POINTS) {
            known[n] = p;
            calc_screen_add(&screen, p.rate, p.tier1_bytes, p.tier2_bytes);
            continue;
        }
        bool is = false;
        for (size_t k = 0; k < POINTS; k++) {
            is = is || dominates(&known[k], &p);
        }
        dominated += is;
        caught += 1 / p.rate > calc_screen_longest_s(&screen, 1, p.tier1_bytes, p.tier2_bytes);
    }
    ck_assert_uint_gt(dominated, 2500);
    ck_assert_uint_le(caught, dominated);
    ck_assert_uint_gt(caught, dominated * 3 / 4);
}

/* With one tier as objective, what the other needs is given as nothing. */
CALC_TEST(a_tier_that_does_not_matter_hides_nothing)
{
    calc_screen_clear(&screen, 64, 0);
    calc_screen_add(&screen, 10, 5.5, 0);
    ck_assert_double_lt(calc_screen_longest_s(&screen, 1, 6, 0), 0.11);
    ck_assert_double_lt(calc_screen_longest_s(&screen, 1, 6, 1e12), 0.11);
    ck_assert_double_lt(calc_screen_longest_s(&screen, 1, 64, 1e12), 0.11);
    ck_assert_double_gt(calc_screen_longest_s(&screen, 1, 5.5, 0), 1e30); /* of the same step */
    calc_screen_clear(&screen, 0, 0);
    calc_screen_add(&screen, 10, 0, 0);
    ck_assert_double_lt(calc_screen_longest_s(&screen, 1, 1e12, 1e12), 0.11);
}

/* A point hides nothing in its own step of needs, and everything slower from the next one on. */
CALC_TEST(a_point_is_seen_from_the_next_step_of_needs_on)
{
    for (int i = 0; i < CALC_SCREEN_TIER1; i++) {
        calc_screen_clear(&screen, CALC_SCREEN_TIER1, 0);
        calc_screen_add(&screen, 10, i + 0.5, 0);
        ck_assert_double_gt(calc_screen_longest_s(&screen, 1, i + 0.75, 0), 1e30);
        if (i + 1 < CALC_SCREEN_TIER1) {
            ck_assert_double_lt(calc_screen_longest_s(&screen, 1, i + 1, 0), 0.11);
            ck_assert_double_lt(calc_screen_longest_s(&screen, 1, CALC_SCREEN_TIER1, 0), 0.11);
        }
    }
    for (int j = 0; j < CALC_SCREEN_TIER2; j++) {
        calc_screen_clear(&screen, 0, CALC_SCREEN_TIER2);
        calc_screen_add(&screen, 10, 0, j + 0.5);
        ck_assert_double_gt(calc_screen_longest_s(&screen, 1, 0, j + 0.75), 1e30);
        if (j + 1 < CALC_SCREEN_TIER2) {
            ck_assert_double_lt(calc_screen_longest_s(&screen, 1, 0, j + 1), 0.11);
            ck_assert_double_lt(calc_screen_longest_s(&screen, 1, 0, CALC_SCREEN_TIER2), 0.11);
        }
    }
}

CALC_TEST(where_nothing_is_known_every_step_matters)
{
    calc_screen_clear(&screen, 64, 8);
    calc_screen_add(&screen, 1e30, 0, 0);
    calc_screen_clear(&screen, 64, 8);
    for (int i = 0; i <= 64; i++) {
        for (int j = 0; j <= 8; j++) {
            ck_assert_double_gt(calc_screen_longest_s(&screen, 1, i, j), 1e36);
        }
    }
    calc_screen_add(&screen, 1e30, 64, 0); /* nothing needs more than all */
    ck_assert_double_gt(calc_screen_longest_s(&screen, 1, 64, 8), 1e36);
    calc_screen_add(&screen, 0, 0, 0); /* no rate at all */
    ck_assert_double_gt(calc_screen_longest_s(&screen, 1, 64, 8), 1e36);
}
