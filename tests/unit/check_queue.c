#include "model/serve/queue.h"

#include <math.h>

#include "base/rng.h"
#include "frame.h"
#include "small_case.h"

/* ---- Open loops ------------------------------------------------------------------------------ */

/* Of the textbook: M/D/1 at 80 % waits 0.8 / (2 * 0.2) = 2 services, M/M/1 twice that. */
CALC_TEST(one_server_waits_as_pollaczek_and_khinchine_say)
{
    assert_near(calc_queue_open(1, 0.8, 1, 0), 2);
    assert_near(calc_queue_open(1, 0.8, 1, 1), 4);
    assert_near(calc_queue_open(1, 0.05, 10, 0), 10 * 0.5 / (2 * 0.5));
    assert_near(calc_queue_open(1, 0.05, 10, 0.5), 1.5 * 10 * 0.5 / (2 * 0.5));
    ck_assert_double_eq(calc_queue_open(1, 0, 10, 0), 0);
    ck_assert(isnan(calc_queue_open(1, 0.1, 10, 0)));
    ck_assert(isnan(calc_queue_open(1, 0.11, 10, 0)));
    ck_assert(!isnan(calc_queue_open(1, 0.0999, 10, 0)));
}

/* Erlang C: the mean wait of M/M/c. */
static double erlang_wait(int servers, double rate, double service)
{
    double load = rate * service;
    double term = 1;
    double sum = 0;
    for (int i = 0; i < servers; i++) {
        sum += term;
        term *= load / (i + 1);
    }
    term /= 1 - load / servers;
    return term / (sum + term) * service / (servers - load);
}

/* Sakasegawa's form is within an eighth where there is a wait to speak of. */
CALC_TEST(several_servers_wait_about_as_erlang_says)
{
    for (int servers = 1; servers <= 64; servers *= 2) {
        for (double used = 0.8; used < 1; used += 0.05) {
            double wait = calc_queue_open(servers, used * servers / 3, 3, 1);
            double exact = erlang_wait(servers, used * servers / 3, 3);
            ck_assert_double_eq_tol(wait, exact, 0.12 * exact + 0.03);
        }
        ck_assert(isnan(calc_queue_open(servers, servers, 1, 1)));
    }
}

/* ---- Queues that wait for one another -------------------------------------------------------- */

/* With one more queue that is empty for 1 / (1 + w) of the time and then for 1 in the mean, the
 * wait w = 1 / (1 + w) is the golden ratio less 1. */
CALC_TEST(queues_hold_until_each_has_one)
{
    const double golden = 0.6180339887498949;
    ck_assert_double_eq(calc_queue_gather(1, 0.3, 60), 0);
    ck_assert_double_eq_tol(calc_queue_gather(2, 1, 1e6), golden, 1e-3);
    ck_assert_double_eq_tol(calc_queue_gather(2, 0.1, 1e6), golden / 0.1, 1e-2);
    /* What comes seldom is held as long as it may be, what comes often hardly. */
    ck_assert_double_eq_tol(calc_queue_gather(8, 1e-6, 60), 60, 0.01);
    ck_assert_double_lt(calc_queue_gather(8, 1e3, 60), 0.01);
    double before = 0;
    for (int queues = 2; queues < 80; queues *= 2) {
        double held = calc_queue_gather(queues, 0.02, 60);
        ck_assert_double_gt(held, before);
        ck_assert_double_le(held, 60);
        before = held;
    }
}

/* Queues that are let go together, as they are simulated. */
CALC_TEST(queues_hold_as_long_as_random_ones_do)
{
    enum { QUEUES = 8, STEPS = 400000, LONGEST = 60 };
    const double rate = 0.02;
    calc_rng rng;
    calc_rng_init(&rng, 3, 1);
    int held[QUEUES] = {0};
    double sum = 0;
    double count = 0;
    for (int step = 0; step < STEPS; step++) {
        int waiting = 0;
        for (int i = 0; i < QUEUES; i++) {
            held[i] += held[i] > 0 || calc_rng_real(&rng) < rate;
            waiting += held[i] > 0;
        }
        for (int i = 0; i < QUEUES; i++) {
            if (held[i] > 0 && (waiting == QUEUES || held[i] > LONGEST)) {
                sum += held[i] - 1;
                count++;
                held[i] = 0;
            }
        }
    }
    double mean = sum / count;
    ck_assert_double_eq_tol(calc_queue_gather(QUEUES, rate, LONGEST), mean, 0.1 * mean);
}

/* ---- Closed loops ---------------------------------------------------------------------------- */

CALC_TEST(alone_nothing_waits)
{
    for (double away = 0; away < 1000; away = 3 * away + 0.3) {
        ck_assert_double_eq_tol(calc_queue_closed(1, away, away, 0.7), 0, 1e-12);
    }
}

/* Those that are not away are in the queue or in service. */
CALC_TEST(a_full_server_serves_all_the_time)
{
    assert_near(calc_queue_closed(50, 10, 10, 1), 50 - 10 - 1);
    assert_near(calc_queue_closed(8, 0, 0, 2), 8 * 2 - 2);
    for (double n = 1; n < 1e6; n *= 3) {
        for (double away = 0.1; away < 1e6; away *= 3) {
            double wait = calc_queue_closed(n, away, away, 1);
            ck_assert_double_ge(wait, 0);
            ck_assert_double_le(wait, n);
            ck_assert_double_le(n / (away + 1 + wait), 1 + 1e-12);
        }
    }
}

/* Ever more requests that are away ever longer are arrivals at random. */
CALC_TEST(a_large_loop_is_an_open_one)
{
    for (double used = 0.1; used < 0.95; used += 0.1) {
        double n = 1e7;
        double wait = calc_queue_open(1, used, 1, 0);
        double closed = calc_queue_closed(n, n / used - 1 - wait, n, 1);
        ck_assert_double_eq_tol(closed, wait, 1e-4 * wait);
    }
}

CALC_TEST(more_requests_and_shorter_absences_wait_longer)
{
    double before = 0;
    for (double n = 2; n < 200; n++) {
        double wait = calc_queue_closed(n, 30, 30, 1);
        ck_assert_double_gt(wait, before);
        ck_assert_double_gt(calc_queue_closed(n, 29, 29, 1), wait);
        before = wait;
    }
}

/* A loop of n requests that are away for times uniform in away (1 - spread) .. away (1 + spread),
   one server that takes 1. */
static double simulated_wait(calc_rng *rng, int n, double away, double spread)
{
    enum { MOST = 64, WARM = 20000, SERVED = 200000 };
    double back[MOST];
    double free_at = 0;
    double waited = 0;
    for (int i = 0; i < n; i++) {
        back[i] = 2 * away * calc_rng_real(rng);
    }
    for (int k = 0; k < SERVED; k++) {
        int first = 0;
        for (int i = 1; i < n; i++) {
            first = back[i] < back[first] ? i : first;
        }
        double start = fmax(free_at, back[first]);
        waited += k < WARM ? 0 : start - back[first];
        free_at = start + 1;
        back[first] = free_at + away * (1 - spread + 2 * spread * calc_rng_real(rng));
    }
    return waited / (SERVED - WARM);
}

CALC_TEST(loops_wait_as_simulated_ones)
{
    const double spreads[] = {0.03, 0.1, 0.3, 0.9};
    calc_rng rng;
    calc_rng_init(&rng, 11, 3);
    for (int n = 2; n <= 64; n *= 2) {
        for (double used = 0.3; used < 2; used *= 1.6) {
            double away = n / used;
            for (int i = 0; i < 4; i++) {
                double spread = spreads[i];
                double wait = simulated_wait(&rng, n, away, spread);
                double closed = calc_queue_closed(n, away, spread * away, 1);
                ck_assert_msg(fabs(closed - wait) <= 0.12 * wait + 0.16,
                              "%d at %g, %g apart: %g, not %g", n, used, spread, closed, wait);
            }
        }
    }
}

/* ---- Lengths, waves -------------------------------------------------------------------------- */

CALC_TEST(pieces_of_uniform_lengths_are_whole)
{
    ck_assert_double_eq(calc_queue_pieces(0.2, 0), 1);
    ck_assert_double_eq(calc_queue_pieces(3, 0), 3);
    ck_assert_double_eq(calc_queue_pieces(3.1, 0), 4);
    assert_near(calc_queue_pieces(0.5, 0.9), 1);
    assert_near(calc_queue_pieces(1, 0.5), 1.5); /* half are below 1 */
    assert_near(calc_queue_pieces(10, 0.5), 10.5);
    assert_near(calc_queue_pieces(2.5, 0.1), 3);
    ck_assert_double_eq(calc_queue_pieces(3.1, 1e-17), 4); /* no spread after rounding */
    ck_assert_double_eq(calc_queue_pieces(3.1, 5e-324), 4);
}

CALC_TEST(waves_spread_until_they_overlap)
{
    calc_queue_wave wave[CALC_QUEUE_WAVES];
    ck_assert_uint_eq(calc_queue_waves(7, 100, 0.1, 0, wave), 1);
    ck_assert_double_eq(wave[0].width, 100);
    ck_assert_double_eq(wave[0].share, 1);
    /* Of one length all come as they were served. */
    ck_assert_uint_eq(calc_queue_waves(7, 100, 0, 10, wave), 2);
    ck_assert_double_eq(wave[0].width, 0);
    assert_near(wave[0].share, 0.1);
    ck_assert_double_eq(wave[1].width, 7);
    assert_near(wave[1].share, 0.9);
    /* Of uniform lengths the variances add up: 80 .. 120 is 40 wide. */
    ck_assert_uint_eq(calc_queue_waves(9, 100, 0.2, 2.5, wave), 3);
    assert_near(wave[1].width, sqrt(81 + 1600));
    assert_near(wave[2].width, sqrt(81 + 3200));
    assert_near(wave[2].share, 0.5 / 2.5);
    for (double rounds = 1; rounds < 1e6; rounds *= 1.7) {
        size_t count = calc_queue_waves(9, 100, 0.02, rounds, wave);
        double sum = 0;
        for (size_t i = 0; i < count; i++) {
            sum += wave[i].share;
            ck_assert_double_le(wave[i].width, 100);
        }
        ck_assert_uint_le(count, CALC_QUEUE_WAVES);
        assert_near(sum, 1);
    }
}

/* ---- Quantiles ------------------------------------------------------------------------------- */

CALC_TEST(a_run_ends_as_its_last_requests_do)
{
    ck_assert_double_eq(calc_queue_drain(1e9, 7, 100, 0.1, 0), 0);
    /* Ten rounds of 100, the last requests 7 apart: 3.5 of 1000 more. */
    ck_assert_double_eq_tol(calc_queue_drain(1e9, 7, 100, 0, 10), 0.0035, 1e-9);
    /* One after the other leaves no slot empty. */
    ck_assert_double_eq_tol(calc_queue_drain(1, 0, 100, 0.1, 4), 0, 1e-12);
}

/* Slots that each take the next of so many services as they are free: how much longer than all of
 * them over the slots it takes. */
static double served_in_turn(int slots, int rounds, double spread, calc_rng *rng)
{
    enum { MOST = 64 };
    double free_at[MOST] = {0};
    double sum = 0;
    for (int i = 0; i < slots * rounds; i++) {
        int first = 0;
        for (int k = 1; k < slots; k++) {
            first = free_at[k] < free_at[first] ? k : first;
        }
        double service = 1 - spread + 2 * spread * calc_rng_real(rng);
        free_at[first] += service;
        sum += service;
    }
    double last = 0;
    for (int k = 0; k < slots; k++) {
        last = free_at[k] > last ? free_at[k] : last;
    }
    return last / (sum / slots) - 1;
}

CALC_TEST(the_last_request_ends_as_in_a_queue_that_is_run)
{
    static const struct {
        int slots, rounds;
        double spread, within;
    } all[] = {{1, 10, 0.99, 1e-12}, {2, 10, 0.9, 0.008},  {4, 5, 0.99, 0.013},
               {16, 1, 0.99, 0.02},  {16, 5, 0.99, 0.012}, {16, 2, 0.5, 0.01},
               {16, 10, 0.5, 0.004}, {64, 5, 0.99, 0.004}, {64, 20, 0.3, 0.002}};
    enum { RUNS = 1000 };
    calc_rng rng;
    calc_rng_init(&rng, 7, 1);
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        double sum = 0;
        for (int k = 0; k < RUNS; k++) {
            sum += served_in_turn(all[i].slots, all[i].rounds, all[i].spread, &rng);
        }
        double drain = calc_queue_drain(all[i].slots, 0, 1, all[i].spread, all[i].rounds);
        ck_assert_double_eq_tol(drain, sum / RUNS, all[i].within);
    }
}

CALC_TEST(a_part_that_is_alone_adds_its_quantiles)
{
    calc_queue_times t = {.share = 1, .least = 2, .most = 4};
    assert_near(calc_queue_mean(&t, 1), 3);
    assert_near(calc_queue_quantile(&t, 1, 0.25), 2.5);
    /* A tenth waits 5 more in the mean. */
    t.tail = 0.5;
    t.tail_share = 0.1;
    assert_near(calc_queue_mean(&t, 1), 3.5);
    assert_near(calc_queue_quantile(&t, 1, 0.5), 3);
    assert_near(calc_queue_quantile(&t, 1, 0.99), 2 + 0.99 * 2 + 5 * log(10));
}

CALC_TEST(parts_are_counted_together)
{
    const calc_queue_times t[] = {{0.1, 0, 100, 0, 0}, {0.9, 1, 1, 0, 0}};
    assert_near(calc_queue_mean(t, 2), 5 + 0.9);
    assert_near(calc_queue_quantile(t, 2, 0.5), 1);
    assert_near(calc_queue_quantile(t, 2, 0.95), 50);
    assert_near(calc_queue_quantile(t, 2, 0.99), 90);
}

static double beyond(void *context, double at)
{
    ++*(int *)context;
    return at * at - 2;
}

CALC_TEST(a_balance_is_found_from_both_sides)
{
    int calls = 0;
    double at = calc_queue_balance(beyond, &calls, 50, -2, beyond(&calls, 50));
    ck_assert_double_eq_tol(at, sqrt(2), 1e-12);
    ck_assert_int_le(calls, 30);
    calls = 0;
    ck_assert_double_eq(calc_queue_balance(beyond, &calls, 1, -2, -1), 1);
    ck_assert_int_eq(calls, 0);
}
