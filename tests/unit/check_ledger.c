/* The books of rank 0: every chunk is in the result once, whoever dies, stands still or comes back.
 */
#include "ledger.h"

#include "base/rng.h"
#include "frame.h"

enum { RANKS = 5, CHUNKS = 200 };

static calc_ledger ledger;

static void begin(void)
{
    ck_assert_int_eq(calc_ledger_create(&ledger, RANKS, 0), CALC_OK);
}

static void end(void)
{
    calc_ledger_free(&ledger);
}

const calc_test_frame calc_tests = {.setup = begin, .teardown = end};

static uint64_t take(size_t rank, double now_s)
{
    uint64_t chunk;
    ck_assert_int_eq(calc_ledger_take(&ledger, rank, now_s, &chunk), CALC_OK);
    return chunk;
}

static void start(size_t rank, double now_s)
{
    ck_assert_int_eq(calc_ledger_order_of(&ledger, rank, now_s), CALC_LEDGER_ROUND);
}

CALC_TEST(chunks_are_handed_out_in_order_and_once)
{
    start(0, 0);
    start(1, 0);
    ck_assert_uint_eq(take(0, 1), 0);
    ck_assert_uint_eq(take(1, 1), 1);
    ck_assert_uint_eq(take(0, 2), 2);
    ck_assert(calc_ledger_finish(&ledger, 0, 3, 2)); /* there are two */
    ck_assert_int_eq(calc_ledger_order_of(&ledger, 0, 4), CALC_LEDGER_WAIT);
    ck_assert_uint_eq(take(1, 4), UINT64_MAX);
    ck_assert(calc_ledger_finish(&ledger, 1, 5, 2));
    ck_assert_int_eq(calc_ledger_order_of(&ledger, 0, 6), CALC_LEDGER_END);
    ck_assert_int_eq(calc_ledger_order_of(&ledger, 1, 6), CALC_LEDGER_END);
}

CALC_TEST(silence_is_judged_by_what_it_was_before)
{
    start(0, 0);
    start(1, 0);
    take(0, 10);
    take(0, 11);
    take(1, 1);
    take(1, 3);
    ck_assert(!calc_ledger_is_silent(&ledger, 0, 92.9)); /* 10 s before: 80 s and 2 s */
    ck_assert(calc_ledger_is_silent(&ledger, 0, 93.1));
    ck_assert(!calc_ledger_is_silent(&ledger, 1, 20.9)); /* 2 s: 16 s and 2 s */
    ck_assert(calc_ledger_is_silent(&ledger, 1, 21.1));
    ck_assert(!calc_ledger_is_silent(&ledger, 2, 81.9)); /* never heard: as the slowest */
    ck_assert(calc_ledger_is_silent(&ledger, 2, 82.1));
}

CALC_TEST(what_was_reported_stands_and_the_rest_is_done_again)
{
    start(0, 0);
    start(1, 0);
    ck_assert_uint_eq(take(1, 1), 0);
    ck_assert_uint_eq(take(0, 1), 1);
    ck_assert_uint_eq(take(1, 2), 2);
    ck_assert_uint_eq(take(1, 3), 3);
    ck_assert(calc_ledger_report(&ledger, 1, 4, 0));
    ck_assert_int_eq(calc_ledger_give_up(&ledger, 1), CALC_OK);
    ck_assert_uint_eq(take(0, 5), 4);
    ck_assert(calc_ledger_finish(&ledger, 0, 6, 4));
    start(0, 7);
    ck_assert_uint_eq(take(0, 8), 2);
    ck_assert_uint_eq(take(0, 8), 3);
    ck_assert_uint_eq(take(0, 8), UINT64_MAX);
    /* It was only slow. */
    ck_assert(!calc_ledger_report(&ledger, 1, 9, 3));
    ck_assert_uint_eq(take(1, 9), UINT64_MAX);
    ck_assert(!calc_ledger_finish(&ledger, 1, 9, 4));
    ck_assert_int_eq(calc_ledger_order_of(&ledger, 1, 9), CALC_LEDGER_WAIT);
    ck_assert(calc_ledger_finish(&ledger, 0, 10, 4));
    ck_assert_int_eq(calc_ledger_order_of(&ledger, 1, 11), CALC_LEDGER_END);
}

CALC_TEST(nobody_goes_on_after_a_stop)
{
    start(0, 0);
    take(0, 1);
    ledger.stopped = true;
    ck_assert_uint_eq(take(0, 2), UINT64_MAX);
    ck_assert_int_eq(calc_ledger_order_of(&ledger, 1, 2), CALC_LEDGER_END);
}

/* A rank as it sees itself. */
typedef struct player {
    bool dead, over;
    bool working;
    size_t taken, told; /* chunks of its round; those reported */
    uint64_t mine[CHUNKS + 1];
} player;

static player who[RANKS];
static int times_done[CHUNKS];

/* What rank 0 adds to the result when a round ends or is given up: what was reported last. */
static void settle(player *p)
{
    for (size_t i = 0; i < p->told; i++) {
        times_done[p->mine[i]]++;
    }
    p->told = 0;
}

static void play(calc_rng *rng, size_t rank, double now_s)
{
    player *p = &who[rank];
    if (!p->working) {
        calc_ledger_order order = calc_ledger_order_of(&ledger, rank, now_s);
        p->over = order == CALC_LEDGER_END;
        p->working = order == CALC_LEDGER_ROUND;
        p->taken = 0;
        return;
    }
    uint64_t chunk = take(rank, now_s);
    if (chunk < CHUNKS) {
        ck_assert(p->taken == 0 || p->mine[p->taken - 1] < chunk);
        p->mine[p->taken++] = chunk;
        if (calc_rng_below(rng, 4) == 0 &&
            calc_ledger_report(&ledger, rank, now_s, p->mine[p->taken - 1])) {
            p->told = p->taken;
        }
        return;
    }
    bool welcome = calc_ledger_report(&ledger, rank, now_s, UINT64_MAX);
    ck_assert(calc_ledger_finish(&ledger, rank, now_s, CHUNKS) == welcome);
    p->told = welcome ? p->taken : 0;
    settle(p);
    p->working = false;
}

CALC_TEST_LOOP(every_chunk_is_in_the_result_once_whoever_dies, 0, 200)
{
    calc_rng rng;
    calc_rng_init(&rng, 1, (uint64_t)_i);
    for (size_t c = 0; c < CHUNKS; c++) {
        times_done[c] = 0;
    }
    for (size_t r = 0; r < RANKS; r++) {
        who[r] = (player){0};
    }
    bool over = false;
    for (int step = 0; !over; step++) {
        size_t rank = calc_rng_below(&rng, RANKS);
        double now_s = step;
        ck_assert_int_lt(step, 100000);
        if (rank > 0 && calc_rng_below(&rng, 60) == 0) {
            who[rank].dead = true;
        } else if (rank > 0 && calc_rng_below(&rng, 40) == 0 && !ledger.rank[rank].lost &&
                   ledger.rank[rank].working) {
            /* Given up, dead or not. */
            ck_assert_int_eq(calc_ledger_give_up(&ledger, rank), CALC_OK);
            settle(&who[rank]);
        } else if (!who[rank].dead && !who[rank].over) {
            play(&rng, rank, now_s);
        }
        over = true;
        for (size_t r = 0; r < RANKS; r++) {
            over = over && (who[r].over || who[r].dead);
        }
        over = over && who[0].over;
    }
    for (size_t c = 0; c < CHUNKS; c++) {
        ck_assert_msg(times_done[c] == 1, "chunk %zu: %d times", c, times_done[c]);
    }
}
