/* Rollouts beside a simulation step by step. */
#include "rl/rollout.h"

#include "rl_case.h"

static rl_case c;

static void enter(void)
{
    rl_case_make(&c, 1);
}

const calc_test_frame calc_tests = {.setup = enter, .timeout_s = 300};

/* A decoding step of the serving model [s]. */
static double step_s(double sequences, double cached)
{
    calc_stats stats;
    calc_exec e = c.serve;
    e.inference.batch = (int64_t)sequences;
    e.inference.prompt_size = (int64_t)cached;
    e.inference.generate_size = 0;
    calc_run(&c.app, &c.system, &e, CALC_COMPAT_NONE, &stats);
    return stats.total_time;
}

static calc_rl_ask ask_of(double sequences, double cv, int64_t cap)
{
    c.job.lengths.response.cv = cv;
    c.job.lengths.response.cap = cap;
    return (calc_rl_ask){.lengths = calc_rl_lengths_of(&c.job.lengths.response),
                         .prompt = 127,
                         .sequences = sequences,
                         .copies = 1,
                         .samples = 8,
                         .stop_share = 1,
                         .ahead = 1};
}

static calc_rl_rollout rollout(const calc_rl_ask *ask)
{
    calc_rl_rollout out;
    calc_rl_rollout_of(&c.app, &c.system, &c.serve, ask, &out);
    return out;
}

CALC_TEST(equal_responses_take_the_steps_of_serving)
{
    const calc_rl_ask ask = ask_of(64, 0, 0);
    const calc_rl_rollout r = rollout(&ask);
    double sum_s = 0;
    for (int i = 0; i < 1019; i++) {
        sum_s += step_s(64, 127 + i);
    }
    ck_assert_double_eq(r.iterations, 1019);
    ck_assert_double_eq(r.running, 64);
    ck_assert_double_eq_tol((r.time_s - r.prefill_s) / sum_s, 1, 2e-4);
    ck_assert_double_eq(r.tail_s, 0);
}

/* All of them begin together: the sum over the tokens of those that are left. */
CALC_TEST(a_batch_that_begins_together_is_exact)
{
    enum { COUNT = 48 };
    double length[COUNT], sum_s = 0;
    const calc_rl_ask ask = ask_of(COUNT, 0.8, 3969);
    const calc_rl_rollout r = rollout(&ask);
    calc_rl_lengths_sample(&ask.lengths, length, COUNT);
    length[COUNT - 1] = fmax(length[COUNT - 1], r.longest);
    for (int token = 0; token < length[COUNT - 1]; token++) {
        int left = 0;
        for (int i = 0; i < COUNT; i++) {
            left += length[i] > token;
        }
        sum_s += step_s(left, 127 + token);
    }
    ck_assert_double_eq_tol((r.time_s - r.prefill_s) / sum_s, 1, 2e-3);
    ck_assert_double_eq_tol(r.floor_s / (r.longest * step_s(1, 127 + r.longest / 2)), 1, 1e-3);
    ck_assert(r.tail_s > 0 && r.tail_s < r.time_s);
}

/* More requests than slots: a queue, one token at a time. */
CALC_TEST(a_queue_is_near_a_simulation)
{
    enum { COUNT = 96, SLOTS = 16, STRIDE = 59 /* 0.618 of them, odd */ };
    double length[COUNT], left[SLOTS] = {0}, age[SLOTS] = {0}, time_s = 0;
    c.serve.inference.max_sequences = SLOTS;
    const calc_rl_ask ask = ask_of(COUNT, 0.8, 3969);
    const calc_rl_rollout r = rollout(&ask);
    c.serve.inference.max_sequences = 0;
    calc_rl_lengths_sample(&ask.lengths, length, COUNT);
    length[COUNT - 1] = fmax(length[COUNT - 1], r.longest);
    size_t next = 0;
    for (;;) {
        double running = 0, ages = 0;
        for (int i = 0; i < SLOTS; i++) {
            if (left[i] <= 0 && next < COUNT) {
                left[i] = length[next++ * STRIDE % COUNT];
                age[i] = 0;
            }
            running += left[i] > 0;
            ages += left[i] > 0 ? age[i] : 0;
        }
        if (running == 0) {
            break;
        }
        time_s += step_s(running, 127 + ages / running);
        for (int i = 0; i < SLOTS; i++) {
            left[i] -= 1;
            age[i] += 1;
        }
    }
    ck_assert_double_eq(r.running, SLOTS);
    ck_assert_double_eq_tol((r.time_s - r.prefill_s) / time_s, 1, 0.01);
}

CALC_TEST(more_engines_do_not_shorten_the_longest_response)
{
    const calc_rl_ask ask = ask_of(512, 0.8, 3969);
    const calc_rl_rollout one = rollout(&ask);
    c.serve.num_procs = c.serve.strategy.data_par = 64;
    const calc_rl_rollout many = rollout(&ask);
    ck_assert(many.time_s < one.time_s);
    ck_assert(many.time_s >= many.floor_s);
    ck_assert_double_eq(many.longest, one.longest);
    ck_assert_double_eq(many.floor_s, one.floor_s);
}

/* All requests of a queue run, whatever their number. */
CALC_TEST_LOOP(a_queue_generates_all_tokens, 10, 40)
{
    c.serve.inference.max_sequences = 1;
    const calc_rl_ask ask = ask_of(_i, 0.5, 4000);
    const calc_rl_rollout r = rollout(&ask);
    double length[40], sum = 0;
    calc_rl_lengths_sample(&ask.lengths, length, (size_t)_i);
    for (int i = 0; i < _i; i++) {
        sum += length[i];
    }
    sum += fmax(0, r.longest - length[_i - 1]);
    ck_assert_double_eq_tol(r.iterations, sum, 1e-6);
}

/* The work is divided by the engines, the tail is not: what two numbers of them take says what a
 * third does, as in measured rollouts (247 s on 16 H20, 458 s on 4: 177 s and 1,125 processor
 * seconds). */
CALC_TEST(a_rollout_is_a_tail_and_work_over_engines)
{
    double time_s[3];
    const double copies[3] = {4, 16, 8};
    for (int i = 0; i < 3; i++) {
        calc_rl_ask ask = ask_of(2048, 0.8, 3969);
        ask.copies = copies[i];
        time_s[i] = rollout(&ask).time_s;
    }
    double work_s = (time_s[0] - time_s[1]) / (1 / copies[0] - 1 / copies[1]);
    double tail_s = time_s[1] - work_s / copies[1];
    ck_assert_double_gt(tail_s, 0);
    ck_assert_double_eq_tol((tail_s + work_s / copies[2]) / time_s[2], 1, 0.05);
}

/* Copies of an engine are replicas that know nothing of one another. */
CALC_TEST(copies_are_replicas)
{
    calc_rl_ask ask = ask_of(512, 0.8, 3969);
    ask.copies = 8;
    const calc_rl_rollout copies = rollout(&ask);
    ask.copies = 1;
    c.serve.num_procs = c.serve.strategy.data_par = 8;
    const calc_rl_rollout replicas = rollout(&ask);
    ck_assert_double_eq(copies.time_s, replicas.time_s);
    ck_assert_double_eq(copies.engines, replicas.engines);
}

CALC_TEST(a_rollout_that_stops_early_is_shorter)
{
    calc_rl_ask ask = ask_of(256, 0.8, 3969);
    const calc_rl_rollout all = rollout(&ask);
    ask.stop_share = 0.8;
    const calc_rl_rollout most = rollout(&ask);
    ck_assert(most.time_s < all.time_s);
    ck_assert_double_eq(most.requests, 320);
}

/* Engines that are kept full run sequences of several steps at once: a step takes what its share of
 * all of them would, and no more run than there is room for. */
CALC_TEST(steps_that_are_ahead_share_the_engines)
{
    calc_rl_ask ask = ask_of(16, 0.8, 3969);
    const calc_rl_rollout one = rollout(&ask);
    ask.ahead = 4;
    const calc_rl_rollout ahead = rollout(&ask);
    const calc_rl_ask four = ask_of(64, 0.8, 3969);
    const calc_rl_rollout all = rollout(&four);
    ck_assert_double_eq(one.running, 16);
    ck_assert_double_eq(ahead.running, 64);
    ck_assert_double_eq_tol((ahead.full_s - ahead.prefill_s) * 4, all.full_s - all.prefill_s, 1e-9);
    ck_assert(ahead.full_s < one.full_s / 2);
    ck_assert_double_eq(ahead.time_s, one.time_s);
    c.serve.inference.max_sequences = 24;
    ck_assert_double_eq(rollout(&ask).running, 24);
}

CALC_TEST(without_room_there_is_no_rollout)
{
    const calc_rl_ask ask = ask_of(256, 0.8, 3969);
    c.system.chip.mem1.capacity_bytes = 17e9;
    const calc_rl_rollout r = rollout(&ask);
    ck_assert(!r.fits);
    ck_assert_double_gt(r.kept_bytes, 16e9);
}

/* More of an engine's requests than are simulated one by one stand for several. */
CALC_TEST(many_requests_go_at_the_pace_of_full_engines)
{
    calc_rl_ask ask = ask_of(20000, 0.5, 0);
    c.serve.inference.max_sequences = 128;
    const calc_rl_rollout r = rollout(&ask);
    ck_assert_double_eq_tol(r.time_s / r.full_s, 1.02, 0.05);
}

/* What the layout says of its own requests does not matter, with as little memory as will do: a
 * rollout has the job's. */
CALC_TEST(requests_are_those_of_the_job)
{
    const calc_rl_ask ask = ask_of(64, 0.5, 0);
    double too_few = 17e9, enough = 80e9;
    while (enough - too_few > 1e3) {
        c.system.chip.mem1.capacity_bytes = (too_few + enough) / 2;
        *(rollout(&ask).fits ? &enough : &too_few) = c.system.chip.mem1.capacity_bytes;
    }
    c.system.chip.mem1.capacity_bytes = enough;
    const calc_rl_rollout plain = rollout(&ask);
    c.serve.inference.phase = CALC_INFERENCE_PHASE_SERVE;
    c.serve.inference.batch = 7;
    c.serve.inference.prompt_size = 99;
    c.serve.inference.generate_size = 33;
    c.serve.inference.max_sequences = 1 << 20;
    c.serve.inference.requests = 500;
    c.serve.inference.arrival_rate = 3;
    c.serve.inference.hold_steps = 4;
    c.serve.inference.prompt_spread = 0.3;
    c.serve.inference.generate_spread = 0.4;
    const calc_rl_rollout other = rollout(&ask);
    ck_assert(other.fits);
    ck_assert_mem_eq(&other, &plain, offsetof(calc_rl_rollout, fits));
}
