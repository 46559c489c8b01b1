#include "model/serve/sim_step.h"

#include <math.h>

#include "frame.h"

CALC_TEST(requests_wait_in_the_order_they_come)
{
    calc_sim_stream stream[2] = {{.ready_s = INFINITY}, {.ready_s = INFINITY}};
    calc_sim_server server = {.stream = stream, .streams = 2, .free_s = 2.5};
    calc_sim_request q[] = {{.joins_s = 2}, {.joins_s = 5}, {.joins_s = 3}, {.joins_s = 1}};
    for (int i = 0; i < 4; i++) {
        q[i].first_s = NAN;
        calc_sim_join(&server, &q[i]);
    }
    /* The first two wake the streams that sleep, not before the first stage is free. */
    ck_assert_double_eq(stream[0].ready_s, 2.5);
    ck_assert_double_eq(stream[1].ready_s, 5);
    ck_assert_double_eq(server.queued, 4);
    const double order[] = {1, 2, 3, 5};
    for (int i = 0; i < 4; i++) {
        calc_sim_request *first = calc_sim_admit(&server, 10);
        ck_assert_double_eq(first->joins_s, order[i]);
        ck_assert_double_eq(first->waits_s, 10 - order[i]);
    }
    ck_assert_double_eq(server.queued, 0);
    ck_assert_double_eq(server.running, 4);
    ck_assert_ptr_null(server.waiting.first);
    ck_assert_ptr_null(server.waiting.last);
}

CALC_TEST(streams_that_sleep_are_woken_for_what_waits)
{
    calc_sim_stream stream[2] = {{.ready_s = INFINITY}, {.ready_s = 7}};
    calc_sim_server server = {.stream = stream, .streams = 2};
    calc_sim_request q = {.joins_s = 1};
    calc_sim_wake(&server, 3);
    ck_assert(isinf(stream[0].ready_s));
    calc_sim_append(&server.waiting, &q);
    calc_sim_wake(&server, 3);
    ck_assert_double_eq(stream[0].ready_s, 3);
    ck_assert_double_eq(stream[1].ready_s, 7);
}

/* Prompts of 10 and 20 tokens that give 4 and 3: one more each after the first. */
CALC_TEST(tokens_are_given_until_a_request_has_all)
{
    calc_sim_stream t = {0};
    calc_sim_request a = {.prompt = 10, .generate = 4};
    calc_sim_request b = {.prompt = 20, .generate = 3};
    calc_sim_start_decoding(&t, &a);
    ck_assert_ptr_null(calc_sim_give(&t, 1).first);
    calc_sim_start_decoding(&t, &b);
    ck_assert_double_eq(t.count, 2);
    ck_assert_double_eq(t.contexts, 11 + 20);
    ck_assert_double_eq(calc_sim_context(&t, &a), 11);
    ck_assert_ptr_null(calc_sim_give(&t, 1).first);
    ck_assert_double_eq(t.contexts, 12 + 21);
    calc_sim_list over = calc_sim_give(&t, 1);
    ck_assert_ptr_eq(calc_sim_take(&over), &a);
    ck_assert_ptr_eq(calc_sim_take(&over), &b);
    ck_assert_ptr_null(over.first);
    ck_assert_double_eq(t.count, 0);
    ck_assert_double_eq(t.contexts, 0);
}

/* One that is dropped has its prompt and its tokens to prefill, and goes on behind them. */
CALC_TEST(the_youngest_is_dropped_and_goes_on_later)
{
    calc_sim_stream t = {0};
    calc_sim_request q[3] = {{.prompt = 10, .generate = 9},
                             {.prompt = 10, .generate = 9},
                             {.prompt = 30, .generate = 9}};
    for (int i = 0; i < 3; i++) {
        calc_sim_start_decoding(&t, &q[i]);
    }
    ck_assert_ptr_null(calc_sim_give(&t, 5).first);
    ck_assert_ptr_eq(calc_sim_drop(&t), &q[2]);
    ck_assert_double_eq(q[2].left, 35);
    ck_assert_double_eq(t.count, 2);
    ck_assert_double_eq(t.contexts, 30);
    ck_assert_ptr_null(calc_sim_give(&t, 1).first);
    calc_sim_start_decoding(&t, &q[2]);
    ck_assert_double_eq(calc_sim_context(&t, &q[2]), 35);
    calc_sim_list over = calc_sim_give(&t, 2);
    ck_assert_ptr_eq(calc_sim_take(&over), &q[0]);
    ck_assert_ptr_eq(calc_sim_take(&over), &q[1]);
    ck_assert_ptr_null(over.first);
    ck_assert_ptr_eq(calc_sim_give(&t, 1).first, &q[2]);
}

CALC_TEST(lists_are_put_together_at_both_ends)
{
    calc_sim_list l = {0};
    calc_sim_request q[3] = {0};
    calc_sim_put_before(&l, &q[1]);
    calc_sim_append(&l, &q[2]);
    calc_sim_put_before(&l, &q[0]);
    for (int i = 0; i < 3; i++) {
        ck_assert_ptr_eq(calc_sim_take(&l), &q[i]);
    }
    ck_assert_ptr_null(l.last);
    calc_sim_append(&l, &q[1]);
    ck_assert_ptr_eq(l.first, &q[1]);
}
