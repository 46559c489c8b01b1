/* Levels of what options need together, against all sets of options. */
#include "plan/layers_stage.h"

#include "base/rng.h"
#include "frame.h"
#include "layers_plan_case.h"

enum { OPTIONS = 7 };

/* What a set of options needs. */
static calc_layers_peak most_of(const calc_layers_peak *peak, unsigned set)
{
    calc_layers_peak most = {0, 0};
    for (int i = 0; i < OPTIONS; i++) {
        if (set >> i & 1) {
            most.working_bytes = fmax(most.working_bytes, peak[i].working_bytes);
            most.passing_bytes = fmax(most.passing_bytes, peak[i].passing_bytes);
        }
    }
    return most;
}

CALC_TEST(what_a_set_of_options_needs_is_a_level_and_a_level_is_what_one_needs)
{
    calc_rng rng;
    calc_rng_init(&rng, 14, 2);
    for (int round = 0; round < 300; round++) {
        calc_layers_peak peak[OPTIONS], level[CALC_LAYERS_LEVELS];
        bool seen[CALC_LAYERS_LEVELS] = {false};
        for (int i = 0; i < OPTIONS; i++) {
            peak[i] = (calc_layers_peak){1 + calc_rng_below(&rng, 5), calc_rng_below(&rng, 4)};
        }
        int count = calc_layers_levels(peak, OPTIONS, level);
        for (unsigned set = 1; set < 1U << OPTIONS; set++) {
            const calc_layers_peak most = most_of(peak, set);
            int at = 0;
            while (at < count && (level[at].working_bytes != most.working_bytes ||
                                  level[at].passing_bytes != most.passing_bytes)) {
                at++;
            }
            ck_assert_int_lt(at, count);
            seen[at] = true;
        }
        for (int i = 0; i < count; i++) {
            ck_assert(seen[i]);
        }
        ck_assert(calc_layers_is_below(most_of(peak, ~0U), level[count - 1]));
    }
}

/* Of many amounts the largest of each bin: nothing needs more than the last level. */
CALC_TEST(many_amounts_share_levels)
{
    enum { MANY = 500 };
    static calc_layers_peak peak[MANY];
    static calc_layers_peak level[CALC_LAYERS_LEVELS];
    for (int i = 0; i < MANY; i++) {
        peak[i] = (calc_layers_peak){1 + i, 2 * i};
    }
    int count = calc_layers_levels(peak, MANY, level);
    ck_assert_int_le(count, CALC_LAYERS_LEVELS);
    ck_assert_double_eq(level[count - 1].working_bytes, MANY);
    ck_assert_double_eq(level[count - 1].passing_bytes, 2 * (MANY - 1));
    for (int i = 0; i < MANY; i++) {
        int at = 0;
        while (at < count && !calc_layers_is_below(peak[i], level[at])) {
            at++;
        }
        ck_assert_int_lt(at, count);
    }
}

CALC_TEST(ends_need_what_they_need_in_any_case)
{
    const calc_layers_peak ends = {3, 5};
    const calc_layers_part part = {.working_bytes = 4, .passing_bytes = 1};
    const calc_layers_peak both = calc_layers_peak_of(ends, &part);
    ck_assert_double_eq(both.working_bytes, 4);
    ck_assert_double_eq(both.passing_bytes, 5);
    ck_assert(calc_layers_is_below(both, both));
    ck_assert(calc_layers_is_below(ends, both));
    ck_assert(!calc_layers_is_below(both, ends));
}
