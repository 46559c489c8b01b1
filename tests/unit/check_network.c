#include "model/network.h"

#include "base/rng.h"
#include "small_case.h"

/* Half of 256 bytes/s is reached. */
static const calc_network net = {.bytes_per_s = 256, .efficiency = 0.5};

/* A ring cuts V in n parts and passes one on in each of its steps: n - 1 steps scatter or gather,
 * 2 (n - 1) reduce and gather. */
static double ring_s(double bytes, int ranks, int steps)
{
    double time_s = 0;
    for (int i = 0; i < steps; i++) {
        time_s += bytes / ranks / 128;
    }
    return time_s;
}

START_TEST(collectives_of_a_ring_take_the_time_of_its_steps)
{
    calc_network ring = ring_network(256, 0);
    ring.efficiency = 0.5;
    for (int ranks = 2; ranks <= 64; ranks++) {
        double once_s = ring_s(1000, ranks, ranks - 1);
        assert_near(calc_network_s(&ring, &ring.ops.reduce_scatter, 1000, ranks), once_s);
        assert_near(calc_network_s(&ring, &ring.ops.all_gather, 1000, ranks), once_s);
        assert_near(calc_network_s(&ring, &ring.ops.all_reduce, 1000, ranks), 2 * once_s);
    }
}
END_TEST

/* 1024 bytes on 4 ranks at 128 bytes/s take 8 s as they are; a quarter of that is 2 s. */
START_TEST(the_offset_adds_shares_of_the_message)
{
    ck_assert_double_eq(calc_network_s(&net, &(calc_network_op){1, 0}, 1024, 4), 8);
    ck_assert_double_eq(calc_network_s(&net, &(calc_network_op){1, -1}, 1024, 4), 6);
    ck_assert_double_eq(calc_network_s(&net, &(calc_network_op){1, 1}, 1024, 4), 10);
    ck_assert_double_eq(calc_network_s(&net, &(calc_network_op){1, -2}, 1024, 4), 4);
}
END_TEST

START_TEST(the_scalar_multiplies_message_and_shares)
{
    ck_assert_double_eq(calc_network_s(&net, &(calc_network_op){2, -1}, 1024, 4), 12);
    ck_assert_double_eq(calc_network_s(&net, &(calc_network_op){1.5, 1}, 1024, 4), 15);
}
END_TEST

START_TEST(latency_is_added_once)
{
    calc_network slow = net;
    slow.latency_s = 0.25;
    ck_assert_double_eq(calc_network_s(&slow, &(calc_network_op){1, 0}, 1024, 4), 8.25);
    ck_assert_double_eq(calc_network_s(&slow, &(calc_network_op){2, -1}, 0, 4), 0.25);
}
END_TEST

START_TEST(time_never_falls_as_messages_grow)
{
    calc_rng rng;
    calc_rng_init(&rng, 2009, 0);
    for (int i = 0; i < 20000; i++) {
        calc_network_op op = {0.5 + calc_rng_real(&rng), (double)calc_rng_below(&rng, 3) - 1};
        double ranks = 2 + calc_rng_below(&rng, 5000);
        double bytes = ldexp(calc_rng_real(&rng), (int)calc_rng_below(&rng, 60));
        double more = i % 2 == 0 ? nextafter(bytes, INFINITY) : bytes * (1 + calc_rng_real(&rng));
        double bytes_s = calc_network_s(&net, &op, bytes, ranks);
        double more_s = calc_network_s(&net, &op, more, ranks);
        if (more_s < bytes_s) {
            ck_abort_msg("case %d: %.17g bytes take longer than %.17g", i, bytes, more);
        }
    }
}
END_TEST

int main(void)
{
    TCase *cases = tcase_create("network");
    tcase_add_test(cases, collectives_of_a_ring_take_the_time_of_its_steps);
    tcase_add_test(cases, the_offset_adds_shares_of_the_message);
    tcase_add_test(cases, the_scalar_multiplies_message_and_shares);
    tcase_add_test(cases, latency_is_added_once);
    tcase_add_test(cases, time_never_falls_as_messages_grow);
    return run_cases(cases);
}
