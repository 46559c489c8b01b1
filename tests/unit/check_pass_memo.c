#include "model/serve/pass_memo.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>

enum { PLACES = 8 };

static calc_pass_memo_entry entry[PLACES];
static calc_pass_memo memo;

static void setup(void)
{
    for (size_t i = 0; i < PLACES; i++) {
        entry[i] = (calc_pass_memo_entry){.known = false};
    }
    memo = (calc_pass_memo){.count = PLACES, .entry = entry};
}

static calc_inference_pass_work decoded(double sequences)
{
    return (calc_inference_pass_work){.sequences = sequences, .queries = 1, .context = 100};
}

static calc_pass_memo_entry *at(uint64_t number, uint64_t variant, double sequences)
{
    calc_inference_pass_work work = decoded(sequences);
    return calc_pass_memo_at(&memo, number, variant, &work);
}

static void keep(uint64_t number, uint64_t variant, double sequences, double flop)
{
    calc_pass_memo_entry *e = at(number, variant, sequences);
    ck_assert(!e->known);
    e->cost.head_flop = flop;
    e->known = true;
}

START_TEST(what_was_kept_is_found)
{
    keep(1, 0, 4, 17);
    ck_assert(at(1, 0, 4)->known);
    ck_assert_double_eq(at(1, 0, 4)->cost.head_flop, 17);
}
END_TEST

/* Every member of the batch tells it apart; so do the number and the variant. */
START_TEST(another_batch_number_or_variant_is_not_known)
{
    const calc_inference_pass_work none = {0};
    enum { MEMBERS = sizeof none / sizeof(double) };
    for (size_t i = 0; i < MEMBERS; i++) {
        double member[MEMBERS] = {0};
        calc_inference_pass_work other;
        setup();
        calc_pass_memo_at(&memo, 1, 0, &none)->known = true;
        member[i] = 1;
        memcpy(&other, member, sizeof other);
        ck_assert(!calc_pass_memo_at(&memo, 1, 0, &other)->known);
    }
    setup();
    keep(1, 0, 4, 17);
    ck_assert(!at(1, 1, 4)->known);
    setup();
    keep(1, 0, 4, 17);
    ck_assert(!at(2, 0, 4)->known);
}
END_TEST

START_TEST(the_next_number_has_the_next_place)
{
    for (uint64_t number = 1; number < 3 * PLACES; number++) {
        ptrdiff_t step = at(number + 1, 0, 4) - at(number, 0, 4);
        ck_assert_int_eq((step + PLACES) % PLACES, 1);
    }
}
END_TEST

/* As many numbers as there are places: the one behind them has the first one's. */
START_TEST(of_two_on_one_place_the_later_stays)
{
    keep(1, 0, 4, 17);
    keep(1 + PLACES, 0, 4, 18);
    ck_assert_double_eq(at(1 + PLACES, 0, 4)->cost.head_flop, 18);
    ck_assert(!at(1, 0, 4)->known);
}
END_TEST

START_TEST(what_is_in_common_is_kept_where_there_is_room)
{
    static calc_pass_common_entry common[PLACES];
    calc_inference_pass_work work = decoded(4);
    ck_assert_ptr_null(calc_pass_memo_common_at(&memo, 1, 0, &work));
    memo.commons = PLACES;
    memo.common = common;
    calc_pass_common_entry *e = calc_pass_memo_common_at(&memo, 1, 0, &work);
    ck_assert(!e->known);
    e->known = true;
    ck_assert(calc_pass_memo_common_at(&memo, 1, 0, &work)->known);
    ck_assert(!at(1, 0, 4)->known);
    ck_assert(!calc_pass_memo_common_at(&memo, 1, 1, &work)->known);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("pass_memo");
    TCase *tests = tcase_create("memo");
    tcase_add_checked_fixture(tests, setup, NULL);
    tcase_add_test(tests, what_was_kept_is_found);
    tcase_add_test(tests, another_batch_number_or_variant_is_not_known);
    tcase_add_test(tests, the_next_number_has_the_next_place);
    tcase_add_test(tests, of_two_on_one_place_the_later_stays);
    tcase_add_test(tests, what_is_in_common_is_kept_where_there_is_room);
    suite_add_tcase(suite, tests);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_NORMAL);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
