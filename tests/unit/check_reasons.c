#include "small_case.h"

#include <math.h>

#include "frame.h"

static const double gib = 0x1p30;

/* The reasons of a layout; the first must be the verdict of calc_run(). */
static size_t reasons_of(const calc_app *app, const calc_system *system, const calc_exec *exec,
                         calc_reason out[CALC_MAX_REASONS])
{
    calc_stats stats;
    calc_verdict verdict = calc_run(app, system, exec, CALC_COMPAT_NONE, &stats);
    size_t count = calc_reasons(app, system, exec, CALC_COMPAT_NONE, &stats, out);
    ck_assert_int_eq(count == 0 ? CALC_VERDICT_OK : out[0].verdict, verdict);
    return count;
}

static void assert_reason(const calc_reason *reason, calc_verdict verdict, const char *text,
                          const char *hint)
{
    ck_assert_int_eq(reason->verdict, verdict);
    ck_assert_str_eq(reason->text, text);
    ck_assert_str_eq(reason->hint, hint);
}

CALC_TEST(a_feasible_layout_has_no_reasons)
{
    calc_app app = small_app();
    calc_system system = small_system();
    calc_exec exec = small_exec(2, 2, 2);
    calc_reason reason[CALC_MAX_REASONS];
    ck_assert_uint_eq(reasons_of(&app, &system, &exec, reason), 0);
}

CALC_TEST(a_network_that_is_too_small_says_by_how_much)
{
    calc_app app = small_app();
    calc_system system = small_system();
    calc_exec exec = small_exec(4, 2, 3);
    calc_reason reason[CALC_MAX_REASONS];
    system.networks[1].size = 5;
    ck_assert_uint_eq(reasons_of(&app, &system, &exec, reason), 1);
    assert_reason(&reason[0], CALC_VERDICT_NETWORK_SIZE,
                  "network 1 connects 5 processors, the layout puts 6 on it",
                  "lower the parallel sizes on it or assign one to another network; if the "
                  "machine has more, set networks[1].size to 6 or more");
}

CALC_TEST(a_network_that_is_not_filled_says_what_would_fill_it)
{
    calc_app app = small_app();
    calc_system system = small_system();
    calc_exec exec = small_exec(4, 2, 2);
    calc_reason reason[CALC_MAX_REASONS];
    system.networks[0].size = 6;
    system.networks[0].must_be_filled = true;
    ck_assert_uint_eq(reasons_of(&app, &system, &exec, reason), 1);
    assert_reason(&reason[0], CALC_VERDICT_NETWORK_FILL,
                  "network 0 must be filled: 4 ranks do not divide its size 6",
                  "put 1, 2, 3 or 6 ranks on it");
}

CALC_TEST(interleaving_says_what_would_divide_the_blocks)
{
    calc_app app = small_app();
    calc_system system = small_system();
    calc_exec exec = small_exec(1, 2, 1);
    calc_reason reason[CALC_MAX_REASONS];
    exec.pipeline_interleaving = 3;
    ck_assert_uint_eq(reasons_of(&app, &system, &exec, reason), 1);
    assert_reason(&reason[0], CALC_VERDICT_INTERLEAVING,
                  "pipeline_interleaving = 3 does not divide the blocks per stage: 4 on stages 0 "
                  "to 1",
                  "use 1, 2 or 4");
}

CALC_TEST(offload_with_too_few_blocks_says_how_many)
{
    calc_app app = small_app();
    calc_system system = small_system();
    calc_exec exec = small_exec(1, 4, 1);
    calc_reason reason[CALC_MAX_REASONS];
    exec.strategy.weight_offload = true;
    ck_assert_uint_eq(reasons_of(&app, &system, &exec, reason), 1);
    assert_reason(&reason[0], CALC_VERDICT_OFFLOAD_BLOCKS,
                  "offload needs at least 3 blocks on every stage, the layout has stages with 2",
                  "lower pipeline_par, or keep everything in tier 1");
}

/* Needs and capacities are taken from the statistics, so these can be round. */
static calc_reason capacity_reason(const calc_exec *exec, double tier1_bytes, double tier2_bytes)
{
    calc_app app = small_app();
    calc_system system = small_system();
    calc_stats stats = {.weight_grad_space = 60.25 * gib,
                        .optimizer_space = 60 * gib,
                        .weight_space_with_offload = NAN,
                        .weight_grad_space_with_offload = NAN,
                        .optimizer_space_with_offload = NAN,
                        .proc_mem_tier1_cap_req = tier1_bytes,
                        .mem_tier1_capacity = 80 * gib,
                        .proc_mem_tier2_cap_req = tier2_bytes,
                        .mem_tier2_capacity = 512 * gib};
    calc_reason reason[CALC_MAX_REASONS];
    ck_assert_uint_eq(calc_reasons(&app, &system, exec, CALC_COMPAT_NONE, &stats, reason), 1);
    return reason[0];
}

CALC_TEST(tier_1_says_what_it_lacks_and_what_is_largest)
{
    calc_exec exec = small_exec(1, 1, 4);
    calc_reason reason = capacity_reason(&exec, 100.5 * gib, 0);
    assert_reason(&reason, CALC_VERDICT_MEM1_CAPACITY,
                  "tier 1 needs 100.50 GiB and has 80.00 GiB: 20.50 GiB too little; largest: "
                  "weight gradients, 60.25 GiB",
                  "shard them (zero_stage 2), raise tensor_par or pipeline_par");
}

CALC_TEST(tier_2_says_what_it_lacks)
{
    calc_exec exec = small_exec(1, 1, 1);
    calc_reason reason = capacity_reason(&exec, 80 * gib, 513 * gib);
    assert_reason(&reason, CALC_VERDICT_MEM2_CAPACITY,
                  "tier 2 needs 513.00 GiB and has 512.00 GiB: 1.00 GiB too little",
                  "offload less, or to a larger second tier");
}

/* Two networks too small, one not filled, and no memory at all; and 3 chunks of 1 block, or offload
 * with as many: which blocks a stage has is known only where they fit. */
CALC_TEST(all_reasons_are_given_in_order_of_the_verdicts)
{
    calc_app app = small_app();
    calc_system system = small_system();
    calc_exec exec = small_exec(4, 8, 3);
    calc_reason reason[CALC_MAX_REASONS];
    system.networks_count = 3;
    system.networks[2] = system.networks[1];
    exec.strategy.data_par_net = 2;
    system.networks[0].size = 2;
    system.networks[1].size = 7;
    system.networks[2].size = 16;
    system.networks[2].must_be_filled = true;
    exec.pipeline_interleaving = 3;
    exec.strategy.optimizer_offload = true;
    system.chip.mem1.capacity_bytes = 0;
    system.chip.mem2.capacity_bytes = 0;
    calc_verdict want[] = {
        CALC_VERDICT_NETWORK_SIZE, CALC_VERDICT_NETWORK_SIZE,  CALC_VERDICT_NETWORK_FILL,
        CALC_VERDICT_INTERLEAVING, CALC_VERDICT_MEM1_CAPACITY, CALC_VERDICT_MEM2_CAPACITY,
    };
    for (int fits = 0; fits < 2; fits++) {
        ck_assert_uint_eq(reasons_of(&app, &system, &exec, reason), 6);
        for (int i = 0; i < 6; i++) {
            ck_assert_int_eq(reason[i].verdict, want[i]);
        }
        exec.pipeline_interleaving = 1;
        want[3] = CALC_VERDICT_OFFLOAD_BLOCKS;
    }
}

/* 4 blocks per stage make 2 chunks, but 6 micro-batches of 2 no whole rounds on 4 stages. */
CALC_TEST(chunks_need_whole_rounds_but_by_rule)
{
    calc_app app = small_app();
    calc_system system = small_system();
    calc_exec exec = small_exec(1, 4, 1);
    calc_stats stats = {0};
    calc_reason reason[CALC_MAX_REASONS];
    exec.pipeline_interleaving = 2;
    exec.microbatch_size = 2;
    exec.batch_size = 12;
    ck_assert_uint_eq(reasons_of(&app, &system, &exec, reason), 1);
    ck_assert_int_eq(reason[0].verdict, CALC_VERDICT_INTERLEAVING);
    ck_assert_str_eq(reason[0].text, "interleaved chunks need a multiple of pipeline_par = 4 "
                                     "micro-batches: there are 6");
    ck_assert_str_eq(reason[0].hint,
                     "use a batch_size that is a multiple of 8, or pipeline_interleaving 1");
    calc_compat even = 1 << CALC_COMPAT_EVEN_STAGES;
    ck_assert_uint_eq(calc_reasons(&app, &system, &exec, even, &stats, reason), 0);
    exec.batch_size = 16;
    ck_assert_uint_eq(reasons_of(&app, &system, &exec, reason), 0);
}

/* 3 chunks of the ceiling of 3 blocks that stages of 3, 3 and 2 have. */
CALC_TEST(by_rule_chunks_divide_the_ceiling)
{
    calc_app app = small_app();
    calc_system system = small_system();
    calc_exec exec = small_exec(1, 3, 1);
    calc_stats stats = {0};
    calc_reason reason[CALC_MAX_REASONS];
    exec.pipeline_interleaving = 3;
    exec.batch_size = 6;
    ck_assert_uint_eq(reasons_of(&app, &system, &exec, reason), 1);
    ck_assert_str_eq(reason[0].text, "pipeline_interleaving = 3 does not divide the blocks per "
                                     "stage: 3 on stages 0 to 1, 2 on stage 2");
    calc_compat even = 1 << CALC_COMPAT_EVEN_STAGES;
    ck_assert_uint_eq(calc_reasons(&app, &system, &exec, even, &stats, reason), 0);
    exec.pipeline_interleaving = 2;
    ck_assert_uint_eq(calc_reasons(&app, &system, &exec, even, &stats, reason), 1);
    ck_assert_str_eq(reason[0].text, "pipeline_interleaving = 2 does not divide the blocks per "
                                     "stage: 3 on stages 0 to 2");
}
