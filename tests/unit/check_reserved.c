/* What the allocator has taken: torchtitan's Llama 3 8B beside what its parts are by hand. */
#include "shipped_case.h"
#include "validate/results.h"

#include <stdlib.h>

#include "frame.h"

static shipped_case layout;
static calc_runs_row row;
static calc_run_map map;

/* 8 processors, a sequence of 8,192 on each, everything recomputed, the loss as PyTorch has it. */
static void enter(void)
{
    layout = load_case("llama3-8B", "h100_sxm_500w", "llama3-70B_512");
    calc_strategy *s = &layout.exec.strategy;
    layout.exec.num_procs = s->data_par = 8;
    layout.exec.pipeline_par = layout.exec.pipeline_interleaving = 1;
    layout.exec.batch_size = 8;
    layout.exec.microbatch_size = 1;
    layout.exec.seq_size = 0;
    layout.app.seq_size = 8192;
    *s = (calc_strategy){.tensor_par = 1,
                         .data_par = 8,
                         .context_par = 1,
                         .expert_par = 1,
                         .expert_tensor_par = 1,
                         .datatype = CALC_DATATYPE_BFLOAT16,
                         .weight_datatype = CALC_FORMAT_FLOAT32,
                         .grad_datatype = CALC_FORMAT_FLOAT32,
                         .zero_stage = 3,
                         .optimizer_sharding = true,
                         .flash_attention = true,
                         .fused_activation = true,
                         .attention_type = CALC_ATTENTION_TYPE_GROUPED_QUERY,
                         .activation_recompute = CALC_ACTIVATION_RECOMPUTE_FULL,
                         .memory_model = CALC_MEMORY_MODEL_MEGATRON,
                         .framework_mem = 1 << CALC_FRAMEWORK_MEM_LOSS_COPIES};
    row = (calc_runs_row){.memory_counting = "reserved"};
    map = (calc_run_map){.row = &row, .app = layout.app, .exec = layout.exec};
}

const calc_test_frame calc_tests = {.setup = enter};

static double reserved(void)
{
    map.exec = layout.exec;
    return calc_reserved_of(&map, &layout.system);
}

static calc_stage_stats stage_of(size_t index)
{
    calc_stage_stats stage[4];
    size_t count =
        calc_each_stage(&layout.app, &layout.system, &layout.exec, CALC_COMPAT_NONE, stage, 4);
    ck_assert_uint_gt(count, index);
    return stage[index];
}

static double occupied(const calc_stage_stats *stage)
{
    return stage->mem_tier1 - stage->mem_overhead;
}

CALC_TEST(logits_and_blocks_do_not_share_pieces)
{
    const double logits = 8192.0 * 128256;
    calc_stage_stats stage = stage_of(0);
    ck_assert_double_gt(stage.working_space, 1e9);
    double expected = occupied(&stage) + stage.working_space + 2 * logits;
    ck_assert_double_eq_tol(reserved(), expected, 1e-9 * expected);
    layout.exec.strategy.fused_cross_entropy = true;
    stage = stage_of(0);
    expected = occupied(&stage);
    /* Logits in 16 bits are less than what the blocks need at their peak. */
    expected += stage.head_space > 0 ? stage.working_space : 0;
    ck_assert_double_eq_tol(reserved(), expected, 1e-9 * expected);
}

CALC_TEST(a_split_vocabulary_has_a_third_wide_copy)
{
    layout.exec.strategy.tensor_par = 8;
    layout.exec.strategy.data_par = 1;
    layout.exec.strategy.tensor_par_comm_type = CALC_TENSOR_PAR_COMM_TYPE_RS_AG;
    layout.exec.microbatch_size = layout.exec.batch_size = 16;
    const double logits = 16 * 8192.0 * 128256 / 8;
    calc_stage_stats stage = stage_of(0);
    double expected = occupied(&stage) + stage.working_space + (2 + 4) * logits;
    ck_assert_double_eq_tol(reserved(), expected, 1e-9 * expected);
}

/* Two stages of four ranks, eight micro-batches: the first is the fullest. */
CALC_TEST(stages_hold_shards_of_gradients_and_messages)
{
    layout.exec.pipeline_par = 2;
    layout.exec.strategy.data_par = 4;
    layout.exec.strategy.zero_stage = 1;
    layout.exec.strategy.activation_recompute = CALC_ACTIVATION_RECOMPUTE_NONE;
    layout.exec.strategy.fused_cross_entropy = true;
    layout.exec.batch_size = 32;
    layout.exec.pipeline_par_net = 0;
    calc_stage_stats first = stage_of(0);
    calc_stage_stats last = stage_of(1);
    ck_assert_double_gt(occupied(&first), occupied(&last) + last.working_space);
    double message = 2 * 8192.0 * 4096;
    double expected = occupied(&first) + first.weight_grad_space / 4 + 2 * 8 * message;
    ck_assert_double_eq_tol(reserved(), expected, 1e-9 * expected);
}
