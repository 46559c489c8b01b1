/* Statistics of each stage: calc_each_stage(). */
#include "shipped_case.h"
#include "small_case.h"

#include "frame.h"

enum { MAX_STAGES = 64 };

static size_t stages_of(const shipped_case *c, calc_stage_stats out[MAX_STAGES])
{
    size_t count =
        calc_each_stage(&c->app, &c->system, &c->exec, CALC_COMPAT_NONE, out, MAX_STAGES);
    ck_assert_uint_eq(count, (size_t)c->exec.pipeline_par);
    ck_assert_uint_le(count, MAX_STAGES);
    return count;
}

static double parts_of(const calc_stage_stats *s)
{
    return s->weight_space + s->weight_grad_space + s->optimizer_space + s->act_space +
           s->working_space + s->head_space + s->framework_space + s->mem_overhead;
}

CALC_TEST(the_stages_have_all_blocks_and_their_memory_adds_up)
{
    for (int i = 0; i < MODERN_LAYOUTS; i++) {
        shipped_case c = modern_layout(i);
        calc_stage_stats stage[MAX_STAGES];
        size_t count = stages_of(&c, stage);
        double blocks = 0;
        for (size_t k = 0; k < count; k++) {
            ck_assert_int_eq(stage[k].stage, (int64_t)k);
            blocks += stage[k].blocks;
            assert_near(parts_of(&stage[k]), stage[k].mem_tier1);
            ck_assert(stage[k].wgrad_time < stage[k].bw_time);
        }
        ck_assert_double_eq_tol(blocks, (double)c.app.num_blocks, 1e-9);
    }
}

CALC_TEST(the_fullest_and_the_slowest_are_those_of_the_run)
{
    for (int i = 0; i < MODERN_LAYOUTS; i++) {
        shipped_case c = modern_layout(i);
        calc_stage_stats stage[MAX_STAGES];
        calc_stats s;
        calc_run(&c.app, &c.system, &c.exec, CALC_COMPAT_NONE, &s);
        size_t count = stages_of(&c, stage);
        double most = 0, longest_s = 0;
        for (size_t k = 0; k < count; k++) {
            most = fmax(most, stage[k].mem_tier1);
            longest_s = fmax(longest_s, stage[k].fw_time + stage[k].bw_time);
        }
        const calc_stage_stats *fullest = &stage[(size_t)s.peak_stage];
        const calc_stage_stats *slowest = &stage[(size_t)s.slowest_stage];
        assert_near(most, s.proc_mem_tier1_cap_req);
        assert_near(fullest->mem_tier1, s.proc_mem_tier1_cap_req);
        assert_near(fullest->act_space, s.act_space);
        assert_near(slowest->fw_time + slowest->bw_time, longest_s);
        assert_near(slowest->head_time * s.num_microbatches, s.head_time);
        assert_near(slowest->host_time * s.num_microbatches, s.host_time);
    }
}

/* 126 blocks, embedding and head counting as one each, on 16 stages: 7, 14 times 8, 7. The head is
 * on the last stage, and 1F1B interleaved holds fewer micro-batches stage by stage. */
CALC_TEST(the_ends_of_llama_have_a_block_less)
{
    shipped_case c = modern_layout(0);
    calc_stage_stats stage[MAX_STAGES];
    size_t count = stages_of(&c, stage);
    ck_assert_uint_eq(count, 16);
    for (size_t i = 0; i < count; i++) {
        bool end = i == 0 || i == 15;
        ck_assert_double_eq(stage[i].blocks, end ? 7 : 8);
        ck_assert_double_eq(stage[i].moe_blocks, 0);
        ck_assert((stage[i].head_time > 0) == end);
        ck_assert((stage[i].head_space > 0) == (i == 15));
        ck_assert(i == 0 || stage[i].in_flight <= stage[i - 1].in_flight);
    }
    /* (v - 1) p + 2 (p - 1 - i) + 1 of v = 8 chunks on p = 16 stages, at most m = 16. */
    ck_assert_double_eq(stage[14].in_flight, (7 * 16 + 2 + 1) / 8.0);
    ck_assert_double_eq(stage[15].in_flight, (7 * 16 + 0 + 1) / 8.0);
}

CALC_TEST(plain_1f1b_holds_one_micro_batch_less_on_each_stage)
{
    shipped_case c = modern_layout(0);
    calc_stage_stats stage[MAX_STAGES];
    c.exec.pipeline_interleaving = 1;
    size_t count = stages_of(&c, stage);
    for (size_t i = 0; i < count; i++) {
        ck_assert_double_eq(stage[i].in_flight, (double)(count - i));
    }
    double each = stage[1].act_space / stage[1].in_flight;
    assert_near(stage[9].act_space, each * stage[9].in_flight);
}

CALC_TEST(given_ends_and_dense_blocks_are_where_they_are_put)
{
    shipped_case c = modern_layout(3);
    calc_stage_stats stage[MAX_STAGES];
    c.exec.pipeline_schedule = CALC_PIPELINE_SCHEDULE_1F1B;
    c.exec.pipeline_balance = CALC_PIPELINE_BALANCE_BLOCKS;
    c.exec.first_stage_blocks = 4;
    c.exec.last_stage_blocks = 1;
    size_t count = stages_of(&c, stage);
    ck_assert_uint_eq(count, 16);
    ck_assert_double_eq(stage[0].blocks, 4);
    ck_assert_double_eq(stage[0].moe_blocks, 1); /* the first three are dense */
    ck_assert_double_eq(stage[7].blocks, 4);
    ck_assert_double_eq(stage[7].moe_blocks, 4);
    ck_assert_double_eq(stage[15].blocks, 1);
}

/* Calculon charges every stage the most blocks: 8 on 3 stages are 3 each. */
CALC_TEST(even_stages_are_all_alike)
{
    shipped_case c = {small_app(), small_system(), small_exec(2, 3, 1)};
    calc_stage_stats stage[3];
    calc_stats s;
    c.exec.num_procs = 6;
    calc_compat repaired = CALC_COMPAT_REPAIRED;
    calc_run(&c.app, &c.system, &c.exec, repaired, &s);
    ck_assert_uint_eq(calc_each_stage(&c.app, &c.system, &c.exec, repaired, stage, 3), 3);
    for (int i = 0; i < 3; i++) {
        ck_assert_int_eq(stage[i].stage, i);
        ck_assert_double_eq(stage[i].blocks, 3);
        ck_assert_double_eq(stage[i].in_flight, 3);
        assert_near(stage[i].mem_tier1, s.proc_mem_tier1_cap_req);
        assert_near(parts_of(&stage[i]), stage[i].mem_tier1);
        /* Without bubble and reduction a step is its micro-batches. */
        assert_near((stage[i].fw_time + stage[i].bw_time) * s.num_microbatches,
                    s.fw_time + s.bw_time + s.recompute_time + s.tp_comm_exposed_time +
                        s.recomm_exposed_time + s.pp_comm_exposed_time);
        assert_near(stage[i].comm_exposed_time * s.num_microbatches,
                    s.tp_comm_exposed_time + s.pp_comm_exposed_time);
    }
}

CALC_TEST(offloaded_parts_count_with_what_stays)
{
    shipped_case c = {small_app(), small_system(), small_exec(1, 2, 2)};
    for (int i = 0; i < 32; i++) {
        calc_stage_stats stage;
        calc_compat compat = i & 16 ? CALC_COMPAT_REPAIRED : CALC_COMPAT_NONE;
        c.exec.strategy.weight_offload = i & 1;
        c.exec.strategy.activations_offload = i & 2;
        c.exec.strategy.optimizer_offload = i & 4;
        c.exec.strategy.activation_recompute =
            i & 8 ? CALC_ACTIVATION_RECOMPUTE_FULL : CALC_ACTIVATION_RECOMPUTE_NONE;
        ck_assert_uint_eq(calc_each_stage(&c.app, &c.system, &c.exec, compat, &stage, 1), 2);
        assert_near(parts_of(&stage), stage.mem_tier1);
    }
}

CALC_TEST(no_more_rows_than_there_is_room_for)
{
    shipped_case c = modern_layout(0);
    calc_stage_stats stage[3] = {0};
    stage[2].blocks = -1;
    ck_assert_uint_eq(calc_each_stage(&c.app, &c.system, &c.exec, CALC_COMPAT_NONE, NULL, 0), 16);
    ck_assert_uint_eq(calc_each_stage(&c.app, &c.system, &c.exec, CALC_COMPAT_NONE, stage, 2), 16);
    ck_assert_double_eq(stage[1].blocks, 8);
    ck_assert_double_eq(stage[2].blocks, -1);
}

CALC_TEST(inference_has_no_gradients_and_no_optimizer)
{
    shipped_case c = modern_layout(0);
    calc_stage_stats stage[MAX_STAGES];
    c.exec.training = false;
    stages_of(&c, stage);
    ck_assert_double_eq(stage[3].weight_grad_space, 0);
    ck_assert_double_eq(stage[3].optimizer_space, 0);
    ck_assert_double_eq(stage[3].bw_time, 0);
    ck_assert(stage[3].fw_time > 0);
}

/* Every row that is promised is written, and none where a stage would have no block. */
CALC_TEST(rows_are_written_or_not_promised)
{
    static const calc_pipeline_balance balances[] = {
        CALC_PIPELINE_BALANCE_BLOCKS, CALC_PIPELINE_BALANCE_ENDS, CALC_PIPELINE_BALANCE_FREE};
    /* 16 stages of a block each; two on those between the ends, and one beside each end. */
    static const int64_t least[] = {16, 14 * 2 + 2, 16};
    shipped_case c = modern_layout(0);
    c.exec.pipeline_interleaving = 1;
    for (int i = 0; i < 3; i++) {
        c.exec.pipeline_balance = balances[i];
        for (int64_t blocks = 1; blocks <= 40; blocks++) {
            calc_stage_stats stage[MAX_STAGES];
            c.app.num_blocks = blocks;
            for (int k = 0; k < MAX_STAGES; k++) {
                stage[k].stage = -1;
            }
            size_t count =
                calc_each_stage(&c.app, &c.system, &c.exec, CALC_COMPAT_NONE, stage, MAX_STAGES);
            ck_assert_uint_eq(
                count, calc_each_stage(&c.app, &c.system, &c.exec, CALC_COMPAT_NONE, NULL, 0));
            double sum = 0;
            for (size_t k = 0; k < MAX_STAGES; k++) {
                ck_assert_int_eq(stage[k].stage, k < count ? (int64_t)k : -1);
                ck_assert(k >= count || stage[k].blocks > 0);
                sum += k < count ? stage[k].blocks : 0;
            }
            ck_assert(count == 0 || fabs(sum - (double)blocks) < 1e-9);
            ck_assert_uint_eq(count, blocks < least[i] ? 0 : 16);
        }
    }
}
