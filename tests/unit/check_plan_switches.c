#include "formats/plan.h"

#include "frame.h"

static calc_exec layout(void)
{
    return (calc_exec){.num_procs = 64,
                       .strategy.tensor_par = 4,
                       .pipeline_par = 4,
                       .strategy.data_par = 4,
                       .strategy.context_par = 1,
                       .pipeline_interleaving = 1,
                       .strategy.datatype = CALC_DATATYPE_BFLOAT16,
                       .strategy.grad_datatype = CALC_FORMAT_FLOAT32,
                       .strategy.tensor_par_comm_type = CALC_TENSOR_PAR_COMM_TYPE_AR,
                       .strategy.tensor_par_overlap = CALC_TENSOR_PAR_OVERLAP_ASYNC,
                       .strategy.optimizer_sharding = true,
                       .strategy.zero_stage = 1,
                       .strategy.fsdp_par = 4,
                       .strategy.data_par_overlap = true};
}

/* What a layout says in one member; NaN: nothing. */
static double split(const calc_exec *exec, calc_plan_member member)
{
    calc_plan plan;
    calc_plan_clear(&plan);
    calc_plan_split(&plan, exec);
    return plan.value[member];
}

#define SPLIT(name, number) ck_assert_double_eq(split(&e, CALC_PLAN_##name), number)
#define SILENT(name) ck_assert(isnan(split(&e, CALC_PLAN_##name)))

CALC_TEST(one_of_two_keys_takes_context_parallelism)
{
    calc_exec e = layout();
    SILENT(RING_RANKS);
    SILENT(HEADS_RANKS);
    e.strategy.context_par = 2;
    e.strategy.context_par_type = CALC_CONTEXT_PAR_TYPE_RING;
    SPLIT(RING_RANKS, 2);
    SILENT(HEADS_RANKS);
    e.strategy.context_par_type = CALC_CONTEXT_PAR_TYPE_ULYSSES;
    SPLIT(HEADS_RANKS, 2);
    SILENT(RING_RANKS);
}

CALC_TEST(replicas_share_what_context_ranks_do_not)
{
    calc_exec e = layout();
    SPLIT(SHARD_REPLICAS, 4);
    e.strategy.fsdp_par = 2;
    SPLIT(SHARD_REPLICAS, 2);
    e.strategy.context_par = 2;
    e.strategy.fsdp_par = 8;
    SPLIT(SHARD_REPLICAS, 4);
    e.strategy.zero_stage = 0;
    SILENT(SHARD_REPLICAS);
}

CALC_TEST(switches_depend_on_stages_and_on_what_is_sharded)
{
    calc_exec e = layout();
    SPLIT(TENSOR_SWITCHES, CALC_PLAN_TENSOR_REDUCE);
    SPLIT(PIPELINE_SWITCHES, CALC_PLAN_PIPELINE_REDUCE);
    SPLIT(SHARDING_SWITCHES, 0);
    e.strategy.tensor_par_comm_type = CALC_TENSOR_PAR_COMM_TYPE_RS_AG;
    e.pipeline_par = 1;
    e.strategy.param_gather_overlap = CALC_CHOICE_TRUE;
    SPLIT(TENSOR_SWITCHES, CALC_PLAN_TENSOR_SCATTER);
    SPLIT(PIPELINE_SWITCHES, 0);
    SPLIT(SHARDING_SWITCHES,
          CALC_PLAN_SHARDING_REDUCE | CALC_PLAN_SHARDING_SPLIT | CALC_PLAN_SHARDING_GATHER);
    e.strategy.zero_stage = 2;
    SPLIT(SHARDING_SWITCHES, CALC_PLAN_SHARDING_REDUCE_GRAD);
    e.strategy.zero_stage = 3;
    SPLIT(SHARDING_SWITCHES, 0);
    e.strategy.tensor_par_overlap = CALC_TENSOR_PAR_OVERLAP_FUSED;
    SPLIT(TENSOR_SWITCHES, 0);
}

CALC_TEST(pipelines_take_words_for_chunks_and_schedules)
{
    calc_exec e = layout();
    e.strategy.data_par_overlap = false;
    e.strategy.pipeline_par_overlap = true;
    SPLIT(PIPELINE_SWITCHES, 0);
    e.pipeline_interleaving = 2;
    SPLIT(PIPELINE_SWITCHES, CALC_PLAN_PIPELINE_MESSAGE);
    e.pipeline_schedule = CALC_PIPELINE_SCHEDULE_DUALPIPE_V;
    SPLIT(PIPELINE_SWITCHES, CALC_PLAN_PIPELINE_MESSAGE | CALC_PLAN_PIPELINE_DUALPIPE_V);
}

static calc_plan joined(calc_plan_member member, double value)
{
    calc_plan plan;
    calc_plan_clear(&plan);
    plan.value[member] = value;
    calc_plan_join(&plan);
    return plan;
}

#define JOINED(name, number, other, expected)                                                      \
    do {                                                                                           \
        calc_plan plan = joined(CALC_PLAN_##name, number);                                         \
        ck_assert_double_eq(plan.value[CALC_PLAN_##other], expected);                              \
    } while (0)

CALC_TEST(what_is_joined_is_what_was_split)
{
    JOINED(RING_RANKS, 4, CONTEXT, 4);
    JOINED(RING_RANKS, 4, CONTEXT_TYPE, CALC_CONTEXT_PAR_TYPE_RING);
    JOINED(HEADS_RANKS, 4, CONTEXT_TYPE, CALC_CONTEXT_PAR_TYPE_ULYSSES);
    JOINED(SHARD_REPLICAS, 8, SHARD_RANKS, 8);
    JOINED(SHARD_REPLICAS, 8, DATA, 8);
    JOINED(RECOMPUTES, 1, RECOMPUTE, 2);
    JOINED(RECOMPUTES, 0, RECOMPUTE, 0);
    JOINED(WIDE_GRAD, 1, GRAD, CALC_FORMAT_FLOAT32);
    JOINED(PIPELINE_SWITCHES, CALC_PLAN_PIPELINE_REDUCE, GRAD_OVERLAP, 1);
    JOINED(PIPELINE_SWITCHES, CALC_PLAN_PIPELINE_MESSAGE, STAGE_OVERLAP, 1);
    JOINED(PIPELINE_SWITCHES, CALC_PLAN_PIPELINE_DUALPIPE_V, SCHEDULE,
           CALC_PIPELINE_SCHEDULE_DUALPIPE_V);
    JOINED(SHARDING_SWITCHES, CALC_PLAN_SHARDING_REDUCE, GRAD_OVERLAP, 1);
    JOINED(SHARDING_SWITCHES, CALC_PLAN_SHARDING_REDUCE_GRAD, GRAD_OVERLAP, 1);
    JOINED(SHARDING_SWITCHES, CALC_PLAN_SHARDING_GATHER, GATHER_OVERLAP, 1);
}

CALC_TEST(what_is_said_elsewhere_stays)
{
    calc_plan plan;
    calc_plan_clear(&plan);
    plan.value[CALC_PLAN_PROCS] = 64;
    plan.value[CALC_PLAN_SHARD_REPLICAS] = 8;
    plan.value[CALC_PLAN_RECOMPUTES] = 1;
    plan.value[CALC_PLAN_RECOMPUTE] = 1;
    plan.value[CALC_PLAN_WIDE_GRAD] = 0;
    plan.value[CALC_PLAN_PRECISION] = CALC_DATATYPE_BFLOAT16;
    calc_plan_join(&plan);
    ck_assert(!calc_plan_says(&plan, CALC_PLAN_DATA));
    ck_assert_double_eq(plan.value[CALC_PLAN_RECOMPUTE], 1);
    ck_assert_double_eq(plan.value[CALC_PLAN_GRAD], CALC_FORMAT_BFLOAT16);
    plan.value[CALC_PLAN_WIDE_GRAD] = 1;
    calc_plan_join(&plan);
    ck_assert_double_eq(plan.value[CALC_PLAN_GRAD], CALC_FORMAT_BFLOAT16);
}

CALC_TEST(a_plan_that_says_nothing_stays_so)
{
    calc_plan plan;
    calc_plan_clear(&plan);
    calc_plan_join(&plan);
    for (int i = 0; i < CALC_PLAN_COUNT; i++) {
        ck_assert(!calc_plan_says(&plan, (calc_plan_member)i));
    }
}
