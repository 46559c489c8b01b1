/* Steps of a simulation, on requests so few that their times can be added up. */
#include "model/serve/sim_step.h"

#include "frame.h"
#include "queue_case.h"

/* Requests of one length, all measured, of so many clients. */
static calc_serve_sim_result run_of(int64_t clients, int64_t requests, int64_t prefill_batch)
{
    calc_exec e = queue_exec(clients, 4000, 2);
    e.inference.chunk_size = 0;
    e.inference.requests = requests;
    e.inference.prefill_batch = prefill_batch;
    return queue_simulate(&e);
}

/* The first token of a prompt ends its prefill, and each of the others a step. */
CALC_TEST(a_request_takes_its_first_token_and_its_steps)
{
    calc_exec e = queue_exec(1, 500, 40);
    for (int64_t requests = 1; requests <= 3; requests++) {
        e.inference.requests = requests;
        calc_serve_sim_result sim = queue_simulate(&e);
        assert_near(sim.request_s, sim.ttft_s + 39 * sim.tpot_s);
        assert_near(sim.requests_per_s * sim.request_s, 1);
    }
}

/* Two prompts that come together: one after the other, or both after the time of both. */
CALC_TEST(as_many_whole_prompts_are_prefilled_together_as_are_asked_for)
{
    double one_s = run_of(1, 1, 1).ttft_s;
    double both_s = run_of(2, 2, 2).ttft_s;
    calc_serve_sim_result apart = run_of(2, 2, 1);
    ck_assert_double_gt(both_s, 1.5 * one_s);
    ck_assert_double_eq_tol(apart.ttft_s, (one_s + 2 * one_s) / 2, 0.1 * one_s);
    ck_assert_double_eq(run_of(2, 2, 0).ttft_s, apart.ttft_s);
    ck_assert_double_eq(run_of(2, 2, 3).ttft_s, both_s);
}
