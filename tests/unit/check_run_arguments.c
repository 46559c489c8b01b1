/* What the command line of Megatron-LM says of a run. */
#include "validate/run_arguments.h"

#include "frame.h"
#include "run_case.h"

#include <string.h>

static calc_runs_row row;
static calc_run_map map;

static void enter(void)
{
    row = plain_row();
    row.id = "mcore_small_plain";
    row.model_notes = "LayerNorm, GELU, pos learned_absolute, untied=False, bias=yes";
    row.vocab = (double)NAN;
    row.measured_memory_gib = 2;
}

const calc_test_frame calc_tests = {.setup = enter};

static void given(const char *arguments)
{
    row.arguments = arguments;
    calc_run_map_row(&map, &row);
}

static bool framework_has(int bit)
{
    return map.exec.strategy.framework_mem >> bit & 1;
}

CALC_TEST(an_option_is_found_by_its_whole_name)
{
    const char *line = "--optimizer muon --no-optimizer-x 3 --fp8-recipe";
    ck_assert_str_eq(calc_run_argument(line, "optimizer"), line + 12);
    ck_assert_str_eq(calc_run_argument(line, "fp8-recipe"), "");
    ck_assert_ptr_null(calc_run_argument(line, "fp8"));
    ck_assert_ptr_null(calc_run_argument(line, "optimizer-x"));
    ck_assert_ptr_null(calc_run_argument(line, "muon"));
    ck_assert_ptr_null(calc_run_argument("", "optimizer"));
}

CALC_TEST(what_is_not_given_is_megatrons_default)
{
    given("--transformer-impl local");
    ck_assert_ptr_null(map.reason);
    ck_assert_int_eq(map.app.vocab_size, 50257);
    ck_assert_int_eq(map.app.dropout, CALC_CHOICE_TRUE);
    ck_assert_int_eq(map.app.tied_embeddings, CALC_CHOICE_TRUE);
    ck_assert(!map.exec.strategy.fused_cross_entropy && !map.app.qk_norm);
    ck_assert(framework_has(CALC_FRAMEWORK_MEM_GEMM_WORKSPACE));
    ck_assert(!framework_has(CALC_FRAMEWORK_MEM_LOSS_COPIES));
}

CALC_TEST(options_of_the_model_are_its_fields)
{
    row.mla = 1;
    row.num_experts = 8;
    row.topk = 2;
    row.num_gpus = 4;
    given("--hidden-dropout 0.0 --attention-dropout 0.0 --qk-layernorm --mtp-num-layers 1 "
          "--make-vocab-size-divisible-by 64 --q-lora-rank 192 --kv-lora-rank 64 --qk-head-dim 16 "
          "--qk-pos-emb-head-dim 8 --v-head-dim 24 --moe-layer-freq ([0]*3+[1]*29) "
          "--moe-shared-expert-intermediate-size 512");
    ck_assert_ptr_null(map.reason);
    ck_assert_int_eq(map.app.dropout, CALC_CHOICE_FALSE);
    ck_assert(map.app.qk_norm);
    ck_assert_int_eq(map.app.mtp_blocks, 1);
    ck_assert_int_eq(map.app.vocab_multiple, 64);
    ck_assert_int_eq(map.app.q_lora_rank, 192);
    ck_assert_int_eq(map.app.kv_lora_rank, 64);
    ck_assert_int_eq(map.app.qk_nope_size, 16);
    ck_assert_int_eq(map.app.qk_rope_size, 8);
    ck_assert_int_eq(map.app.v_size, 24);
    ck_assert_int_eq(map.app.dense_blocks, 3);
    ck_assert_int_eq(map.app.shared_feedforward, 512);
}

/* One of two kinds of dropout is dropout. */
CALC_TEST(dropout_is_off_when_both_are)
{
    given("--hidden-dropout 0.0");
    ck_assert_int_eq(map.app.dropout, CALC_CHOICE_TRUE);
    given("--hidden-dropout 0 --attention-dropout 0.1");
    ck_assert_int_eq(map.app.dropout, CALC_CHOICE_TRUE);
}

CALC_TEST(fusions_of_the_loss_are_told_apart)
{
    given("--cross-entropy-loss-fusion");
    ck_assert(!map.exec.strategy.fused_cross_entropy &&
              framework_has(CALC_FRAMEWORK_MEM_LOSS_COPIES));
    given("--cross-entropy-loss-fusion --cross-entropy-fusion-impl native");
    ck_assert(!map.exec.strategy.fused_cross_entropy &&
              framework_has(CALC_FRAMEWORK_MEM_LOSS_COPIES));
    given("--cross-entropy-loss-fusion --cross-entropy-fusion-impl te");
    ck_assert(map.exec.strategy.fused_cross_entropy &&
              !framework_has(CALC_FRAMEWORK_MEM_LOSS_COPIES));
}

CALC_TEST(uneven_stages_are_as_given)
{
    given("--decoder-first-pipeline-num-layers 10 --decoder-last-pipeline-num-layers 22");
    ck_assert_int_eq(map.exec.first_stage_blocks, 10);
    ck_assert_int_eq(map.exec.last_stage_blocks, 22);
    row.pp = 1;
    given("--decoder-first-pipeline-num-layers 10 --decoder-last-pipeline-num-layers 22");
    ck_assert_int_eq(map.exec.first_stage_blocks, 0);
}

CALC_TEST(instances_split_the_optimizer_less)
{
    row.zero_stage_fsdp = "1 (distributed optimizer)";
    given("--num-distributed-optimizer-instances 2");
    ck_assert_int_eq(map.exec.strategy.fsdp_par, 4 / 2);
    given("--num-distributed-optimizer-instances 1");
    ck_assert_int_eq(map.exec.strategy.fsdp_par, 0);
}

/* Experts are split over the tensor-parallel ranks unless said; without experts it has no effect.
 */
CALC_TEST(experts_are_split_by_default)
{
    given("--transformer-impl local");
    ck_assert_int_eq(map.exec.strategy.expert_tensor_par, 1);
    row.num_experts = 8;
    row.topk = 1;
    given("--transformer-impl local");
    ck_assert_int_eq(map.exec.strategy.expert_tensor_par, 2);
    row.etp = 1;
    given("--transformer-impl local");
    ck_assert_int_eq(map.exec.strategy.expert_tensor_par, 1);
}

CALC_TEST(what_the_model_does_not_know_is_the_reason)
{
    static const struct {
        const char *arguments, *reason;
    } unknown[] = {{"--hybrid-layer-pattern MEM*", "hybrid Mamba model"},
                   {"--optimizer muon --no-use-layer-wise-param-layout",
                    "optimizer by layers without their layout: one rank has the embedding's state"},
                   {"--fine-grained-activation-offloading",
                    "offload of a part of a block that is not modelled"},
                   {"--fine-grained-activation-offloading --offload-modules [core_attn gdp_qkv]",
                    "offload of a part of a block that is not modelled"},
                   {"--pipeline-model-parallel-layout Ett|ttL", /* of another model */
                    "pipeline layout by letters, with parts of the ends as stages"}};
    for (size_t i = 0; i < sizeof unknown / sizeof *unknown; i++) {
        given(unknown[i].arguments);
        ck_assert_ptr_nonnull(map.reason);
        ck_assert_str_eq(map.reason, unknown[i].reason);
    }
}

/* 32 blocks on two stages in four chunks; the shell's backslashes are left out. */
CALC_TEST(letters_are_blocks_of_chunks)
{
    given("--pipeline-model-parallel-layout Et*14\\|\\(t*3\\|\\)*6L");
    ck_assert_ptr_null(map.reason);
    ck_assert_int_eq(map.exec.pipeline_interleaving, 8 / 2);
    ck_assert_int_eq(map.exec.stages.count, 3);
    ck_assert_int_eq(map.exec.stages.run[0].blocks, 14);
    ck_assert_int_eq(map.exec.stages.run[1].blocks, 3);
    ck_assert_int_eq(map.exec.stages.run[1].places, 6);
    ck_assert_int_eq(map.exec.stages.run[2].blocks, 0);
    ck_assert(map.exec.strategy.pipeline_par_overlap);
    given("--pipeline-model-parallel-layout Et*16|t*16L");
    ck_assert_ptr_null(map.reason);
    ck_assert_int_eq(map.exec.pipeline_interleaving, 1);
    ck_assert_int_eq(map.exec.stages.run[0].blocks, 16);
    ck_assert_int_eq(map.exec.stages.run[0].places, 2);
}

CALC_TEST(the_optimizer_is_named)
{
    given("--optimizer adam");
    ck_assert_ptr_null(map.reason);
    ck_assert_int_eq(map.exec.strategy.optimizer, CALC_OPTIMIZER_ADAM);
    given("--optimizer muon");
    ck_assert_ptr_null(map.reason);
    ck_assert_int_eq(map.exec.strategy.optimizer, CALC_OPTIMIZER_MUON);
    given("--optimizer dist_muon");
    ck_assert_int_eq(map.exec.strategy.optimizer, CALC_OPTIMIZER_MUON);
}

CALC_TEST(parts_of_blocks_are_offloaded)
{
    const int64_t two = 1 << CALC_OFFLOAD_MODULES_CORE_ATTN | 1 << CALC_OFFLOAD_MODULES_ATTN_PROJ;
    given("--fine-grained-activation-offloading --offload-modules [core_attn attn_proj] --lr 1");
    ck_assert_ptr_null(map.reason);
    ck_assert_int_eq(map.exec.strategy.offload_modules, two);
    given("--offload-modules core_attn attn_proj --fine-grained-activation-offloading");
    ck_assert_ptr_null(map.reason);
    ck_assert_int_eq(map.exec.strategy.offload_modules, two);
    given("--offload-modules core_attn");
    ck_assert_int_eq(map.exec.strategy.offload_modules, 0);
}

CALC_TEST(weight_gradients_of_the_head_are_deferred)
{
    given("--defer-embedding-wgrad-compute --wgrad-deferral-limit 2");
    ck_assert_ptr_null(map.reason);
    ck_assert_int_eq(map.exec.deferred_head_wgrad, 2);
    given("--defer-embedding-wgrad-compute");
    ck_assert_int_eq(map.exec.deferred_head_wgrad, -1);
    given("--wgrad-deferral-limit 2");
    ck_assert_int_eq(map.exec.deferred_head_wgrad, 0);
}
