
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

CALC_TEST(shards_take_every_chunk_once)
{
    enum { SHARDS = 7, CHUNKS = 100 };
    int taken[CHUNKS] = {0};
    for (uint64_t i = 1; i <= SHARDS; i++) {
        calc_shard shard = {.index = i, .count = SHARDS, .next = i - 1};
        for (uint64_t c = calc_shard_take(&shard); c < CHUNKS; c = calc_shard_take(&shard)) {
            taken[c]++;
        }
    }
    for (int c = 0; c < CHUNKS; c++) {
        ck_assert_int_eq(taken[c], 1);
    }
}

CALC_TEST(the_chunk_after_another_is_the_next_of_the_shard)
{
    const calc_shard shard = {.index = 3, .count = 4};
    ck_assert_uint_eq(calc_shard_after(&shard, 0), 2);
    ck_assert_uint_eq(calc_shard_after(&shard, 1), 2);
    ck_assert_uint_eq(calc_shard_after(&shard, 2), 6);
    ck_assert_uint_eq(calc_shard_after(&shard, 5), 6);
    ck_assert_uint_eq(calc_shard_after(&shard, 6), 10);
}

CALC_TEST(a_shard_that_is_done_stays_so)
{
    calc_shard shard = {.index = 3, .count = 4, .next = CALC_SHARD_DONE};
    ck_assert_uint_eq(calc_shard_take(&shard), CALC_SHARD_DONE);
    ck_assert_uint_eq(calc_shard_take(&shard), CALC_SHARD_DONE);
    ck_assert_uint_eq(calc_shard_after(&shard, CALC_SHARD_DONE - 1), CALC_SHARD_DONE);
}
