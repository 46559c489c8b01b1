
#include "checkpoint.h"
#include "frame.h"

CALC_TEST(a_shard_is_its_number_and_how_many_there_are)
{
    calc_shard shard;
    ck_assert_int_eq(calc_shard_parse(&shard, "2/4", NULL), CALC_OK);
    ck_assert_uint_eq(shard.index, 2);
    ck_assert_uint_eq(shard.count, 4);
    ck_assert_uint_eq(shard.next, 1);
    ck_assert_int_eq(calc_shard_parse(&shard, "1/1", NULL), CALC_OK);
    ck_assert_int_eq(calc_shard_parse(&shard, "1000000/1000000", NULL), CALC_OK);
}

CALC_TEST(anything_else_is_not_a_shard)
{
    static const char *const texts[] = {
        "",     "1",     "/",     "1/",        "/4",
        "0/4",  "5/4",   "-1/4",  "1/0",       "1/4 ",
        " 1/4", "1/4/4", "1.0/4", "1/1000001", "1/10000000000000000000001"};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        calc_shard shard;
        calc_errors errors = {0};
        ck_assert_msg(calc_shard_parse(&shard, texts[i], &errors) == CALC_ERR_RANGE,
                      "\"%s\" is taken for a shard", texts[i]);
        ck_assert_int_eq(errors.count, 1);
    }
}

CALC_TEST(an_error_says_what_a_shard_is)
{
    calc_shard shard;
    calc_errors errors = {0};
    ck_assert_int_eq(calc_shard_parse(&shard, "0/4", &errors), CALC_ERR_RANGE);
    ck_assert_str_eq(errors.item[0].text,
                     "\"0/4\" is not a shard: i/n with i from 1 to n, n at most 1000000");
    ck_assert_str_eq(errors.item[0].hint, "the second of four shards is 2/4");
}

CALC_TEST_LOOP(shards_take_every_unit_once_and_one_of_as_many_as_there_are, 1, 12)
{
    enum { UNITS = 100 };
    const uint64_t shards = (uint64_t)_i;
    int taken[UNITS] = {0};
    for (uint64_t i = 1; i <= shards; i++) {
        const calc_shard shard = {.index = i, .count = shards};
        uint64_t round = 0;
        for (uint64_t u = i - 1; u < UNITS; u = calc_shard_after(&shard, u)) {
            ck_assert_uint_eq(u / shards, round);
            round++;
            taken[u]++;
        }
    }
    for (int u = 0; u < UNITS; u++) {
        ck_assert_int_eq(taken[u], 1);
    }
}

/* Units of a default space differ by what repeats: every second one costs twice as much. */
CALC_TEST_LOOP(no_shard_has_the_units_of_one_residue, 2, 9)
{
    enum { UNITS = 512 };
    for (uint64_t i = 1; i <= 4; i++) {
        const calc_shard shard = {.index = i, .count = 4};
        int of_residue = 0;
        int all = 0;
        for (uint64_t u = i - 1; u < UNITS; u = calc_shard_after(&shard, u)) {
            of_residue += u % (uint64_t)_i == 0;
            all++;
        }
        double share = (double)of_residue / all;
        ck_assert_double_gt(share, 0.75 / _i);
        ck_assert_double_lt(share, 1.25 / _i);
    }
}

CALC_TEST(the_unit_after_another_is_the_next_of_the_shard)
{
    const calc_shard whole = {.index = 1, .count = 1};
    const calc_shard shard = {.index = 3, .count = 4};
    ck_assert_uint_eq(calc_shard_after(&whole, 0), 1);
    ck_assert_uint_eq(calc_shard_after(&whole, 41), 42);
    ck_assert_uint_eq(calc_shard_after(&shard, 0), 2);
    ck_assert_uint_eq(calc_shard_after(&shard, 1), 2);
    uint64_t next = calc_shard_after(&shard, 2);
    ck_assert_uint_ge(next, 4);
    ck_assert_uint_lt(next, 8);
    ck_assert_uint_eq(calc_shard_after(&shard, next - 1), next);
}

CALC_TEST(a_shard_that_is_done_stays_so)
{
    const calc_shard shard = {.index = 3, .count = 4};
    ck_assert_uint_eq(calc_shard_after(&shard, CALC_SHARD_DONE), CALC_SHARD_DONE);
    ck_assert_uint_eq(calc_shard_after(&shard, CALC_SHARD_DONE - 1), CALC_SHARD_DONE);
}
