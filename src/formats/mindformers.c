/* MindSpore Transformers: a YAML file. */
#include "formats/framework.h"
#include "formats/plan_macros.h"

/* clang-format off */
static const calc_setting_row rows[] = {
    CALC_ROW_CONSTANT("use_parallel", .text = "true")
    CALC_ROW_CONSTANT("run_mode", .text = "train")
    CALC_ROW(NUMBER, MICROBATCH, "runner_config.batch_size") CALC_ROW(NUMBER, DATA, "parallel_config.data_parallel")
    CALC_ROW(NUMBER, TENSOR, "parallel_config.model_parallel") CALC_ROW(NUMBER, PIPELINE, "parallel_config.pipeline_stage")
    CALC_ROW(NUMBER, CONTEXT, "parallel_config.context_parallel") CALC_ROW(NUMBER, EXPERT, "parallel_config.expert_parallel")
    CALC_ROW(NUMBER, MICROBATCHES, "parallel_config.micro_batch_num") CALC_ROW(SWITCH, SEQ_PAR, "parallel_config.use_seq_parallel", .value = 1)
    CALC_ROW_CONSTANT("parallel.parallel_mode", .text = "1")
    CALC_ROW(SWITCH, DIST_OPT, "parallel.enable_parallel_optimizer", .value = 1)
    CALC_ROW(RECOMPUTED, RECOMPUTE, "recompute_config.recompute", .value = 2)
    CALC_ROW(IS, RECOMPUTE, "recompute_config.select_recompute", .value = 1)
    CALC_ROW(NUMBER, SEQ, "model.model_config.seq_length") CALC_ROW(NUMBER, POSITIONS, "model.model_config.max_position_embeddings")
    CALC_ROW(NUMBER, HIDDEN, "model.model_config.hidden_size") CALC_ROW(NUMBER, FFN, "model.model_config.intermediate_size")
    CALC_ROW(NUMBER, BLOCKS, "model.model_config.num_hidden_layers") CALC_ROW(NUMBER, HEADS, "model.model_config.num_attention_heads")
    CALC_ROW(NUMBER, KV_HEADS, "model.model_config.num_key_value_heads") CALC_ROW(NUMBER, HEAD_SIZE, "model.model_config.head_dim")
    CALC_ROW(NUMBER, VOCAB, "model.model_config.vocab_size")
    CALC_ROW(WORDS, FFN_TYPE, "model.model_config.hidden_act", .words = "swiglu gelu relu silu=swiglu")
    CALC_ROW(WORDS, NORM, "model.model_config.normalization", .words = "LayerNorm=layer RMSNorm=rms")
    CALC_ROW(WORDS, POSITION, "model.model_config.position_embedding_type", .words = "learned_absolute=learned rope none")
    CALC_ROW(SWITCH, BIAS, "model.model_config.add_bias_linear", .value = 1) CALC_ROW(DECIMAL, DROPOUT, "model.model_config.hidden_dropout")
    CALC_ROW(DECIMAL, DROPOUT, "model.model_config.attention_dropout") CALC_ROW(SWITCH, TIED, "model.model_config.tie_word_embeddings", .value = 1)
    CALC_ROW(SWITCH, QK_NORM, "model.model_config.qk_layernorm", .value = 1)
    CALC_ROW(IS, LATENT, "model.model_config.multi_latent_attention", .value = 1)
    CALC_ROW(NUMBER, Q_LORA, "model.model_config.q_lora_rank") CALC_ROW(NUMBER, KV_LORA, "model.model_config.kv_lora_rank")
    CALC_ROW(NUMBER, QK_NOPE, "model.model_config.qk_nope_head_dim") CALC_ROW(NUMBER, QK_ROPE, "model.model_config.qk_rope_head_dim")
    CALC_ROW(NUMBER, V_SIZE, "model.model_config.v_head_dim")
    CALC_ROW(NUMBER, EXPERTS, "model.model_config.num_experts", .when = CALC_PLAN_EXPERTS)
    CALC_ROW(NUMBER, TOP_K, "model.model_config.num_experts_per_tok") CALC_ROW(NUMBER, EXPERT_FFN, "model.model_config.moe_intermediate_size")
    CALC_ROW(NUMBER, SHARED_FFN, "model.model_config.moe_shared_expert_intermediate_size")
    CALC_ROW(NUMBER, DENSE_BLOCKS, "model.model_config.first_k_dense_replace") CALC_ROW(NUMBER, GROUPS, "model.model_config.n_group")
    CALC_ROW(NUMBER, TOKEN_GROUPS, "model.model_config.topk_group")
    CALC_ROW(SWITCH, ROUTER_BIAS, "model.model_config.moe_router_enable_expert_bias", .value = 1)
    CALC_ROW(WORDS, ROUTER, "model.model_config.router_dense_type", .words = "float32")
    CALC_ROW(NUMBER, MTP, "model.model_config.mtp_num_layers")
    /* Configuration style of the 1.3 models, which do not use Megatron-Core classes. */
    CALC_ROW(NUMBER, BLOCKS, "model.model_config.num_layers", .read_only = true)
    CALC_ROW(NUMBER, HEADS, "model.model_config.num_heads", .read_only = true)
    CALC_ROW(NUMBER, KV_HEADS, "model.model_config.n_kv_heads", .read_only = true)
    CALC_ROW(NUMBER, MTP, "model.model_config.mtp_depth", .read_only = true) CALC_ROW(NUMBER, EXPERTS, "moe_config.expert_num", .read_only = true)
    CALC_ROW(NUMBER, TOP_K, "moe_config.num_experts_chosen", .read_only = true)
    CALC_ROW(NUMBER, EXPERT_FFN, "moe_config.moe_intermediate_size", .read_only = true)
    CALC_ROW(NUMBER, DENSE_BLOCKS, "moe_config.first_k_dense_replace", .read_only = true)
    CALC_ROW(NUMBER, GROUPS, "moe_config.n_group", .read_only = true) CALC_ROW(NUMBER, TOKEN_GROUPS, "moe_config.topk_group", .read_only = true)
    CALC_ROW(NUMBER, CHUNKS, "model.model_config.pp_interleave_num")
    CALC_ROW(OFFSETS, STAGE_BLOCKS, "model.model_config.offset")
    CALC_ROW(WORDS, PRECISION, "model.model_config.compute_dtype", .words = "bfloat16 float16 float32")
    CALC_ROW(SWITCH, FLASH, "model.model_config.use_flash_attention", .value = 1)
    CALC_ROWS_LLAMA CALC_ROW_DEFAULT(GRAD, CALC_FORMAT_FLOAT32) CALC_ROW_DEFAULT(DISPATCH, CALC_DISPATCH_TYPE_ALL_TO_ALL)
    CALC_ROW_DEFAULT(EXPERT_TENSOR, 1) CALC_ROW_DEFAULT(FLASH, 0)
};
/* clang-format on */

static CALC_REFUSALS(refusals)
{
    bool experts = a->num_experts > 0;
    CALC_REFUSE(!calc_divides(s->tensor_par, a->attn_heads),
                "attn_heads is not a multiple of tensor_par");
    CALC_REFUSE(a->mtp_blocks > 1, "only one of mtp_blocks is supported");
    CALC_REFUSE(s->context_par > 1 && !s->flash_attention, "context_par needs flash_attention");
    CALC_REFUSE(experts && a->bias == CALC_CHOICE_TRUE, "experts exclude biases");
    CALC_REFUSE(experts && a->dense_blocks > 0 && a->moe_every > 1,
                "dense_blocks excludes moe_every");
    CALC_REFUSE(experts && !calc_divides(a->expert_groups, a->num_experts),
                "num_experts is not a multiple of expert_groups");
}

/* One expert to which a token goes more than once is none. */
static void settle(calc_plan *plan)
{
    if (COUNT(EXPERTS) == 1 && COUNT(TOP_K) > 1) {
        SET(EXPERTS, 0);
    }
}

/* clang-format off */
const calc_framework calc_framework_mindformers = {.name = "mindformers", .title = "MindSpore Transformers",
    .version = "1.7.0", .launch = "merge it into a template of configs/general", .platforms = CALC_ON(CANN),
    .syntax = CALC_SYNTAX_YAML, .has_model = true, .settle = settle, CALC_FRAMEWORK_ROWS(rows, mindformers), CALC_FRAMEWORK_REFUSALS(refusals)};
/* clang-format on */
