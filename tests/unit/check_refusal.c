#include "formats/export.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "frame.h"

static calc_app app;
static calc_exec exec;
static calc_strategy *const s = &exec.strategy;

/* Mixtral-like, on 32 processors: fine for Megatron Core. */
static void setup(void)
{
    app = (calc_app){.hidden = 4096,
                     .feedforward = 14336,
                     .seq_size = 4096,
                     .attn_heads = 32,
                     .attn_size = 128,
                     .kv_heads = 8,
                     .num_blocks = 32,
                     .num_experts = 8,
                     .experts_per_token = 2,
                     .structure_type = CALC_STRUCTURE_TYPE_LLAMA};
    exec = (calc_exec){.num_procs = 32,
                       .strategy.tensor_par = 2,
                       .pipeline_par = 4,
                       .strategy.data_par = 4,
                       .batch_size = 32,
                       .microbatch_size = 1,
                       .pipeline_interleaving = 2,
                       .strategy.expert_par = 4,
                       .strategy.datatype = CALC_DATATYPE_BFLOAT16,
                       .strategy.fused_activation = true,
                       .strategy.flash_attention = true,
                       .strategy.pipeline_par_overlap = true,
                       .strategy.optimizer_sharding = true,
                       .strategy.tensor_par_comm_type = CALC_TENSOR_PAR_COMM_TYPE_RS_AG,
                       .training = true};
}

/* Llama 3 8B on 16, nothing but replicas that shard all: fine for every framework that has that. */
static void setup_dense(void)
{
    setup();
    app.num_experts = app.experts_per_token = 0;
    app.vocab_size = 128256;
    exec.num_procs = 16;
    exec.pipeline_par = exec.pipeline_interleaving = 1;
    exec.batch_size = 16;
    s->tensor_par = 1;
    s->data_par = 16;
    s->expert_par = 0;
    s->zero_stage = 3;
    s->data_par_overlap = true;
}

/* The same, serving. */
static void setup_serving(void)
{
    setup_dense();
    exec.num_procs = 8;
    s->tensor_par = 8;
    s->data_par = 1;
    s->zero_stage = 0;
    s->optimizer_sharding = s->data_par_overlap = false;
    exec.batch_size = 64;
    exec.training = false;
    exec.inference = (calc_inference){.phase = CALC_INFERENCE_PHASE_SERVE,
                                      .prompt_size = 1000,
                                      .generate_size = 100,
                                      .chunk_size = 512,
                                      .page_size = 16};
}

/* All reasons, a line each. */
typedef struct reasons {
    char text[4096];
} reasons;

static void keep(void *context, const char *reason)
{
    reasons *r = context;
    snprintf(r->text + strlen(r->text), sizeof r->text - strlen(r->text), "%s\n", reason);
}

static size_t reasons_of(const calc_framework *framework, reasons *r)
{
    size_t count;
    ck_assert_int_eq(calc_export_refused(framework, &app, &exec, keep, r, &count), CALC_OK);
    return count;
}

static bool starts(const calc_system *system)
{
    bool is;
    ck_assert_int_eq(calc_export_starts(&app, system, &exec, NULL, &is), CALC_OK);
    return is;
}

static const char *starter(const calc_system *system)
{
    const char *name;
    ck_assert_int_eq(calc_export_starter(&app, system, &exec, &name), CALC_OK);
    return name;
}

static void is_fine(const calc_framework *framework, int line)
{
    reasons r = {""};
    size_t count = reasons_of(framework, &r);
    ck_assert_msg(count == 0, "line %d, %s: %s", line, framework->name, r.text);
}

/* There is one reason, and it has these words. */
static void is_refused(const calc_framework *framework, const char *words, int line)
{
    reasons r = {""};
    size_t count = reasons_of(framework, &r);
    ck_assert_msg(count == 1 && strstr(r.text, words), "line %d, %s: %zu: %s", line,
                  framework->name, count, r.text);
}

#define FINE(framework, ...)                                                                       \
    do {                                                                                           \
        setup();                                                                                   \
        __VA_ARGS__;                                                                               \
        is_fine(&calc_framework_##framework, __LINE__);                                            \
    } while (0)
#define REFUSED(framework, words, ...)                                                             \
    do {                                                                                           \
        setup();                                                                                   \
        __VA_ARGS__;                                                                               \
        is_refused(&calc_framework_##framework, words, __LINE__);                                  \
    } while (0)

/* Prompts on other processors, all of them in one replica. */
static void set_pools(int64_t prefill_procs)
{
    exec.inference.phase = CALC_INFERENCE_PHASE_DISAGGREGATED;
    exec.inference.prefill_procs = exec.inference.prefill_tensor_par = prefill_procs;
}

CALC_TEST(sizes_divide)
{
    FINE(megatron, );
    FINE(bridge, );
    REFUSED(megatron, "kv_heads is not a multiple", app.kv_heads = 1);
    REFUSED(megatron, "attn_heads is not a multiple", setup_dense(); s->zero_stage = 1;
            s->data_par = 4; s->tensor_par = 4; app.attn_heads = 30; app.kv_heads = 0);
    REFUSED(megatron, "2 * context_par", s->context_par = 2; s->tensor_par = 1;
            app.seq_size = 4098);
    REFUSED(megatron, "needs context_par_inner", s->context_par = 4; s->data_par = 1;
            s->context_par_type = CALC_CONTEXT_PAR_TYPE_HIERARCHICAL);
    FINE(megatron, s->context_par = 4; s->data_par = 1; s->context_par_inner = 2;
         s->context_par_type = CALC_CONTEXT_PAR_TYPE_HIERARCHICAL);
    REFUSED(megatron, "the processors of a stage", s->expert_par = 8; s->expert_tensor_par = 2);
    REFUSED(megatron, "multiple of expert_par", app.num_experts = 9; s->expert_par = 2);
    REFUSED(megatron, "as many replicas of experts",
            exec.rank_order = CALC_RANK_ORDER_TP_CP_EP_PP_DP);
    FINE(megatron, exec.rank_order = CALC_RANK_ORDER_TP_CP_EP_PP_DP; s->expert_par = 2);
    REFUSED(megatron, "the replicas of experts do not divide", s->fsdp_par = 1);
}

CALC_TEST(overlap_of_two_batches_has_conditions)
{
#define BATCH s->expert_par_overlap = CALC_EXPERT_PAR_OVERLAP_BATCH
    FINE(megatron, BATCH);
    REFUSED(megatron, "pipeline_interleaving of at least 2", BATCH; exec.pipeline_interleaving = 1);
    REFUSED(bridge, "pipeline_interleaving of at least 2", BATCH; exec.pipeline_interleaving = 1);
    FINE(megatron, exec.pipeline_interleaving = 1);
    REFUSED(megatron, "activation_recompute full", BATCH;
            s->activation_recompute = CALC_ACTIVATION_RECOMPUTE_FULL);
    REFUSED(megatron, "expert_par of at least 2", BATCH; s->expert_par = 0);
    REFUSED(megatron, "dispatch_type all_gather", BATCH;
            s->dispatch_type = CALC_DISPATCH_TYPE_ALL_GATHER);
    FINE(megatron, BATCH; app.mtp_blocks = 1);
    REFUSED(megatron, "allows one of mtp_blocks", BATCH; app.mtp_blocks = 2);
    REFUSED(mindspeed, "or pipeline_schedule dualpipe_v", BATCH; exec.pipeline_interleaving = 1);
    REFUSED(mindspeed, "at least 2 * pipeline_par micro-batches", BATCH; exec.batch_size = 16);
}

CALC_TEST(stages_hold_equally_many_blocks)
{
    REFUSED(megatron, "do not divide", app.num_blocks = 33);
    /* 24 in three stages of two chunks; the first stage has to divide, too */
    REFUSED(megatron, "do not divide", app.num_blocks = 33; exec.first_stage_blocks = 9);
    FINE(megatron, app.num_blocks = 34; exec.first_stage_blocks = 10);
    FINE(megatron, app.num_blocks = 34; exec.first_stage_blocks = 10; exec.last_stage_blocks = 8);
    REFUSED(megatron, "do not divide", app.num_blocks = 34; exec.first_stage_blocks = 10;
            exec.last_stage_blocks = 6);
    FINE(megatron, app.num_blocks = 30; exec.pipeline_balance = CALC_PIPELINE_BALANCE_ENDS);
    REFUSED(megatron, "--pipeline-model-parallel-layout",
            exec.pipeline_balance = CALC_PIPELINE_BALANCE_FREE);
    REFUSED(megatron, "excludes first_stage_blocks", app.num_blocks = 32;
            exec.pipeline_balance = CALC_PIPELINE_BALANCE_ENDS; exec.first_stage_blocks = 4);
    REFUSED(mindspeed, "excludes first_stage_blocks", app.num_blocks = 34;
            exec.first_stage_blocks = 10; s->pipeline_par_overlap = true);
}

CALC_TEST(chunks_take_whole_rounds)
{
    REFUSED(megatron, "a multiple of pipeline_par", exec.batch_size = 24);
    FINE(megatron, exec.batch_size = 24; exec.pipeline_interleaving = 1);
    REFUSED(megatron, "two stages needs pipeline_par_overlap", exec.pipeline_par = 2;
            s->data_par = 8; s->pipeline_par_overlap = false);
    FINE(megatron, s->pipeline_par_overlap = false);
    REFUSED(nemo, "no longer supported", );
    FINE(nemo, exec.pipeline_interleaving = 1);
}

CALC_TEST(sequence_parallelism_is_needed)
{
    REFUSED(megatron, "experts with tensor_par above 1",
            s->tensor_par_comm_type = CALC_TENSOR_PAR_COMM_TYPE_AR);
    REFUSED(megatron, "tensor_par_overlap other than", app.num_experts = 0;
            app.experts_per_token = 0; s->expert_par = 0;
            s->tensor_par_comm_type = CALC_TENSOR_PAR_COMM_TYPE_AR;
            s->tensor_par_overlap = CALC_TENSOR_PAR_OVERLAP_FUSED);
    /* nothing to overlap without tensor parallelism */
    FINE(megatron, s->tensor_par = 1; s->data_par = 8;
         s->tensor_par_overlap = CALC_TENSOR_PAR_OVERLAP_FUSED);
}

CALC_TEST(number_formats_and_offload_need_sharding)
{
    REFUSED(megatron, "need optimizer_sharding", s->optimizer_sharding = false;
            s->optimizer_offload = true);
    FINE(megatron, s->optimizer_offload = true);
    REFUSED(megatron, "experts need datatype bfloat16", s->datatype = CALC_DATATYPE_FLOAT16);
    REFUSED(megatron, "needs matrix_datatype float8", s->weight_datatype = CALC_FORMAT_FLOAT8);
    REFUSED(megatron, "no setting for master_datatype = bfloat16",
            s->master_datatype = CALC_FORMAT_BFLOAT16);
    FINE(megatron, s->master_datatype = CALC_FORMAT_FLOAT16);
    REFUSED(megatron, "needs capacity_factor", s->cuda_graph = 1);
    FINE(megatron, s->cuda_graph = 0.5);
    REFUSED(megatron, "cuda_graph excludes", s->cuda_graph = 1; s->capacity_factor = 1.5;
            s->activation_recompute = CALC_ACTIVATION_RECOMPUTE_ATTN_ONLY);
}

CALC_TEST(dispatch_has_conditions)
{
#define FLEX s->dispatch_type = CALC_DISPATCH_TYPE_NODE_LIMITED
    FINE(megatron, FLEX);
    FINE(megatron, FLEX; s->expert_par = 0); /* nothing is dispatched */
    FINE(megatron, FLEX; s->expert_par = 0; s->expert_tensor_par = 2);
    REFUSED(megatron, "excludes capacity_factor", FLEX; s->capacity_factor = 1.5);
    REFUSED(megatron, "shared needs dispatch_type", FLEX; app.shared_feedforward = 1024;
            s->expert_par_overlap = CALC_EXPERT_PAR_OVERLAP_SHARED);
}

CALC_TEST(offloaded_parts_have_conditions)
{
    const int64_t input = 1 << CALC_OFFLOAD_MODULES_EXPERT_FC1;
    const int64_t together = 1 << CALC_OFFLOAD_MODULES_FUSED_GROUP_MLP;
    FINE(bridge, s->offload_modules = input);
    FINE(bridge, s->offload_modules = together; s->fused_experts = true);
    REFUSED(bridge, "moe_act exclude fused_experts", s->offload_modules = input;
            s->fused_experts = true);
    REFUSED(bridge, "needs fused_experts", s->offload_modules = together);
    REFUSED(bridge, "exclude recompute_modules moe", s->offload_modules = input;
            s->activation_recompute = CALC_ACTIVATION_RECOMPUTE_MODULES;
            s->recompute_modules = 1 << CALC_RECOMPUTE_MODULES_MOE);
    REFUSED(megatron, "no setting for offload_modules", s->offload_modules = input);
}

CALC_TEST(room_for_tokens_has_conditions)
{
    FINE(bridge, FLEX; s->rank_capacity_factor = 1.5; s->paged_stash = 1.2;
         s->fused_experts = true);
    REFUSED(bridge, "needs dispatch_type node_limited", s->rank_capacity_factor = 1.5;
            s->fused_experts = true);
    REFUSED(bridge, "rank_capacity_factor needs fused_experts", FLEX;
            s->rank_capacity_factor = 1.5);
    REFUSED(megatron, "no setting for rank_capacity_factor", FLEX; s->rank_capacity_factor = 1.5;
            s->fused_experts = true);
}

CALC_TEST(sharded_gradients_have_conditions)
{
    REFUSED(megatron, "exclude pipeline stages", s->zero_stage = 2; s->expert_par = 0;
            s->data_par_overlap = true);
    REFUSED(bridge, "exclude pipeline stages", s->zero_stage = 2);
    FINE(megatron, setup_dense());
    REFUSED(megatron, "needs data_par_overlap", setup_dense(); s->zero_stage = 2;
            s->data_par_overlap = false);
    REFUSED(paddle, "zero_stage 2 and 3 exclude pipeline stages", s->zero_stage = 2;
            exec.pipeline_interleaving = 1);
    FINE(torchtitan, setup_dense());
    REFUSED(torchtitan, "no setting for zero_stage = 1", setup_dense(); s->zero_stage = 1);
    REFUSED(torchtitan, "none of its flavours", setup_dense(); app.hidden = 4097);
    REFUSED(torchtitan, "zero_stage 0 with data_par", setup_dense(); s->zero_stage = 0;
            s->optimizer_sharding = false; s->tensor_par = 2; s->data_par = 8);
}

CALC_TEST(dualpipe_v_has_conditions)
{
#define V                                                                                          \
    exec.pipeline_schedule = CALC_PIPELINE_SCHEDULE_DUALPIPE_V;                                    \
    exec.pipeline_interleaving = 1
    FINE(mindspeed, V);
    REFUSED(mindspeed, "excludes data_par_overlap", V; s->data_par_overlap = true);
    REFUSED(mindspeed, "excludes tied_embeddings", V; app.tied_embeddings = CALC_CHOICE_TRUE);
    REFUSED(mindspeed, "excludes context_par", V; s->context_par = 2; s->data_par = 2);
    REFUSED(mindspeed, "excludes activations_offload", V; s->activations_offload = true);
    REFUSED(mindspeed, "two blocks per stage", V; app.num_blocks = 4);
    REFUSED(mindspeed, "at least 2 * pipeline_par - 1", V; exec.batch_size = 24);
    FINE(mindspeed, V; exec.batch_size = 28);
    REFUSED(megatron, "no setting for pipeline_schedule", V);
}

CALC_TEST(mindspore_has_conditions)
{
#define MIND                                                                                       \
    exec.pipeline_interleaving = 1;                                                                \
    s->expert_par = 4
    FINE(mindformers, MIND);
    REFUSED(mindformers, "only one of mtp_blocks", MIND; app.mtp_blocks = 2);
    REFUSED(mindformers, "needs flash_attention", MIND; s->context_par = 2; s->data_par = 2;
            s->flash_attention = false);
    REFUSED(mindformers, "multiple of expert_groups", MIND; app.expert_groups = 3);
}

CALC_TEST(paddle_has_conditions)
{
#define PADDLE exec.pipeline_interleaving = 1
    FINE(paddle, PADDLE);
    REFUSED(paddle, "excludes a smaller fsdp_par", PADDLE; s->data_par_overlap = true;
            s->fsdp_par = 2);
    REFUSED(paddle, "need grad_datatype float32", PADDLE; s->data_par_overlap = true;
            s->grad_datatype = CALC_FORMAT_BFLOAT16);
}

CALC_TEST(a_configuration_is_not_a_pipeline)
{
    FINE(deepspeed, setup_dense());
    REFUSED(deepspeed, "PipelineModule", setup_dense(); exec.pipeline_par = 2; s->data_par = 8;
            s->zero_stage = 1);
    REFUSED(deepspeed, "argument in the code", setup_dense(); app.num_experts = 8;
            app.experts_per_token = 2; s->expert_par = 2);
    REFUSED(deepspeed, "fsdp_par below", setup_dense(); s->zero_stage = 2; s->fsdp_par = 8);
    REFUSED(deepspeed, "weight_offload needs", setup_dense(); s->zero_stage = 2;
            s->weight_offload = true);
}

CALC_TEST(trainers_train_and_servers_serve)
{
    for (size_t i = 0; calc_framework_list[i]; i++) {
        const calc_framework *f = calc_framework_list[i];
        (f->serves ? setup : setup_serving)();
        is_refused(f, f->serves ? "training is true" : "training is false", __LINE__);
    }
    FINE(vllm, setup_serving());
    FINE(sglang, setup_serving());
    FINE(tensorrt_llm, setup_serving());
    REFUSED(tensorrt_llm, "two servers", setup_serving(); set_pools(1));
    FINE(vllm, setup_serving(); set_pools(1));
    FINE(sglang, setup_serving(); set_pools(2));
    REFUSED(vllm, "attn_heads is not a multiple", setup_serving(); set_pools(5));
    REFUSED(sglang, "not a multiple of inference.page_size", setup_serving(); set_pools(1);
            exec.inference.page_size = 24);
    REFUSED(vllm, "wait for their collectives", setup_serving();
            s->tensor_par_overlap = CALC_TENSOR_PAR_OVERLAP_RING);
    REFUSED(vllm, "page_size is none of", setup_serving(); exec.inference.page_size = 24);
    REFUSED(sglang, "not a multiple of inference.page_size", setup_serving();
            exec.inference.page_size = 24);
    REFUSED(tensorrt_llm, "power of two", setup_serving(); exec.inference.page_size = 24);
    REFUSED(tensorrt_llm, "data_par needs experts", setup_serving(); s->tensor_par = 4;
            s->data_par = 2);
    FINE(sglang, setup_serving(); s->tensor_par = 4; s->data_par = 2);
    REFUSED(vllm, "has to be tensor_par * data_par", setup_serving(); app.num_experts = 8;
            s->expert_par = 4);
    FINE(vllm, setup_serving(); app.num_experts = 8; s->expert_par = 8);
    REFUSED(vllm, "yours to name", setup_serving(); exec.inference.speculative_tokens = 2);
    FINE(vllm, setup_serving(); exec.inference.speculative_tokens = 2; app.mtp_blocks = 1);
}

CALC_TEST(the_same_question_has_the_same_answer)
{
    setup();
    calc_app a = app;
    calc_exec e = exec;
    reasons first = {""}, second = {""};
    ck_assert_uint_eq(reasons_of(&calc_framework_nemo, &first),
                      reasons_of(&calc_framework_nemo, &second));
    ck_assert_str_eq(first.text, second.text);
    ck_assert(memcmp(&a, &app, sizeof a) == 0 && memcmp(&e, &exec, sizeof e) == 0);
    exec.num_procs = 33;
    is_refused(&calc_framework_nemo, "contradict each other", __LINE__);
}

CALC_TEST(a_layout_starts_if_one_framework_runs_it)
{
    calc_system any = {.platform = CALC_PLATFORM_ANY};
    setup_dense();
    ck_assert(starts(&any));
    setup(); /* stages and experts */
    exec.strategy.weight_offload = true;
    ck_assert(!starts(&any));
    setup_serving();
    ck_assert(starts(&any));
}

CALC_TEST(a_framework_starts_what_is_on_its_platforms)
{
    calc_system cuda = {.platform = CALC_PLATFORM_CUDA};
    calc_system rocm = {.platform = CALC_PLATFORM_ROCM};
    calc_system cann = {.platform = CALC_PLATFORM_CANN};
    calc_system xpu = {.platform = CALC_PLATFORM_XPU};
    setup_dense();
    ck_assert_str_eq(starter(&cuda), "megatron");
    ck_assert_str_eq(starter(&rocm), "megatron");
    ck_assert_str_ne(starter(&cann), "megatron");
    exec.stages.chips = 1; /* a stage on another system */
    exec.stages.system[0] = &xpu;
    const char *both = starter(&cuda);
    ck_assert(!both || strcmp(both, "megatron") != 0);
    setup_serving();
    exec.inference.prefill_system.system = &xpu;
    ck_assert(!starts(&cuda));
    exec.inference.prefill_system.system = &cuda;
    ck_assert(starts(&cuda));
}

/* No framework known here trains on TPUs, so none refuses a layout; vLLM serves on them. */
CALC_TEST(where_no_framework_is_known_none_refuses)
{
    calc_system tpu = {.platform = CALC_PLATFORM_TPU};
    calc_system cuda = {.platform = CALC_PLATFORM_CUDA};
    setup_dense();
    ck_assert_ptr_null(starter(&tpu));
    ck_assert(starts(&tpu));
    setup_serving();
    ck_assert_str_eq(starter(&tpu), "vllm");
    setup(); /* stages and experts */
    exec.strategy.weight_offload = true;
    ck_assert(starts(&tpu));
    ck_assert(!starts(&cuda));
}

/* Of options one by one. */
CALC_TEST(options_exclude_each_other)
{
    REFUSED(megatron, "experts with biases exclude", s->expert_tensor_par = 2; s->expert_par = 4;
            app.bias = CALC_CHOICE_TRUE);
    REFUSED(megatron, "relu with biases excludes", setup_dense(); app.ffn_type = CALC_FFN_TYPE_RELU;
            app.bias = CALC_CHOICE_TRUE; s->fused_activation = true);
    REFUSED(megatron, "optimizer muon excludes", setup_dense(); s->optimizer = CALC_OPTIMIZER_MUON;
            s->datatype = CALC_DATATYPE_FLOAT16);
    REFUSED(megatron, "mtp_blocks needs position_type", app.mtp_blocks = 1;
            app.position_type = CALC_POSITION_TYPE_LEARNED);
    REFUSED(deepspeed, "optimizer_offload needs zero_stage", setup_dense(); s->zero_stage = 0;
            s->optimizer_sharding = false; s->optimizer_offload = true);
    REFUSED(vllm, "inference.phase is not given", setup_serving();
            exec.inference.phase = CALC_INFERENCE_PHASE_NONE);
    REFUSED(megatron, "weight_datatype float8 needs optimizer_sharding",
            s->weight_datatype = CALC_FORMAT_FLOAT8;
            s->matrix_datatype = CALC_FORMAT_FLOAT8; s->optimizer_sharding = false;
            s->zero_stage = 0);
    REFUSED(megatron, "weight_datatype float8 excludes optimizer_offload",
            s->weight_datatype = CALC_FORMAT_FLOAT8;
            s->matrix_datatype = CALC_FORMAT_FLOAT8; s->optimizer_offload = true);
}
