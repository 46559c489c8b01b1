/* Families of Hugging Face models. Source: transformers 4.57,
 * src/transformers/models/<kind>/{configuration,modeling}_<kind>.py; modeling_{deepseek,chatglm}.py
 * beside the weights of DeepSeek-V2 and V3, Kimi K2 and GLM-4. Families of 2026 are from the
 * sources that docs/models.md and the tests of their parameters name; a few have no test yet. */
#include "formats/hf_families.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* Blocks in the style of Llama, and of GPT-2. */
#define LLAMA                                                                                      \
    .ffn = CALC_FFN_TYPE_SWIGLU, .norm = CALC_NORM_TYPE_RMS, .position = CALC_POSITION_TYPE_ROPE
#define GEMMA                                                                                      \
    .ffn = CALC_FFN_TYPE_GEGLU, .norm = CALC_NORM_TYPE_RMS, .position = CALC_POSITION_TYPE_ROPE,   \
    .tied = true
#define GPT(ffn_, position_)                                                                       \
    .ffn = CALC_FFN_TYPE_##ffn_, .norm = CALC_NORM_TYPE_LAYER,                                     \
    .position = CALC_POSITION_TYPE_##position_
#define SANDWICH .place = CALC_NORM_PLACE_SANDWICH
#define PARALLEL_NOTE                                                                              \
    "attention and feed-forward stand side by side in it; here they follow each other"

static const calc_hf_family families[] = {
    {.types = "llama mixtral",
     .also = "granite seed_oss nemotron-nas smollm3 ernie4_5 ministral",
     LLAMA},
    /* Configurations with a vision tower omit values that equal the defaults of the class. */
    {.types = "mistral",
     .also = "mistral3",
     LLAMA,
     .preset = {{CALC_HF_HEADS, 32}, {CALC_HF_KV_HEADS, 8}}},
    {.types = "ernie4_5_moe", LLAMA, .router_bias = true},
    {.types = "qwen2",
     .also = "qwen2_vl qwen2_5_vl qwen2_vl_text qwen2_5_vl_text",
     LLAMA,
     .attn_bias = true,
     .windowless = true},
    {.types = "qwen2_moe", LLAMA, .attn_bias = true, .windowless = true, .shared_gate = true},
    {.types = "qwen3 qwen3_moe",
     .also = "qwen3_vl_text qwen3_vl_moe_text qwen3_omni_moe_text",
     LLAMA,
     .qk_norm = true,
     .windowless = true,
     .preset = {{CALC_HF_HEAD_SIZE, 128}}},
    {.types = "qwen3_next qwen3_5 qwen3_5_moe",
     .also = "qwen3_5_text qwen3_5_moe_text",
     LLAMA,
     .qk_norm = true,
     .windowless = true,
     .shared_gate = true,
     .gate = CALC_OUTPUT_GATE_CHANNEL,
     .preset = {{CALC_HF_HEAD_SIZE, 256}}},
    {.types = "deepseek", LLAMA},
    {.types = "deepseek_v2",
     LLAMA,
     .preset = {{CALC_HF_QK_NOPE, 128}, {CALC_HF_QK_ROPE, 64}, {CALC_HF_V_SIZE, 128}}},
    {.types = "deepseek_v3 deepseek_v32 kimi_k2 glm_moe_dsa glm4_moe_lite",
     LLAMA,
     .router_bias = true},
    {.types = "deepseek_v4",
     LLAMA,
     .router_bias = true,
     .sinks = true,
     .residual = CALC_RESIDUAL_TYPE_HYPER},
    {.types = "kimi_linear", LLAMA, .router_bias = true},
    {.types = "kimi_k3",
     LLAMA,
     .router_bias = true,
     .gate = CALC_OUTPUT_GATE_CHANNEL,
     .preset = {{CALC_HF_TOP_K, 16}}},
    {.types = "longcat_flash", LLAMA, .router_bias = true, .twin = true},
    {.types = "minimax_m2", LLAMA, .router_bias = true, .whole_norm = true},
    {.types = "minimax_m1 minimax", .also = "minimax_text_01", LLAMA, .lightning = true},
    {.types = "mimo", LLAMA, .attn_bias = true, .windowless = true},
    {.types = "bailing_moe", .also = "bailing_moe_v2", LLAMA, .router_bias = true},
    {.types = "llama4",
     .also = "llama4_text",
     LLAMA,
     .preset = {{CALC_HF_SHARED, 1}, {CALC_HF_CHUNK, 8192}}},
    {.types = "olmo2 olmo3", LLAMA, .whole_norm = true, .place = CALC_NORM_PLACE_POST},
    {.types = "step3p7",
     LLAMA,
     .qk_norm = true,
     .router_bias = true,
     .gate = CALC_OUTPUT_GATE_HEAD},
    {.types = "nemotron_h",
     .ffn = CALC_FFN_TYPE_RELU,
     .norm = CALC_NORM_TYPE_RMS,
     .position = CALC_POSITION_TYPE_NONE,
     .router_bias = true},
    {.types = "jamba",
     LLAMA,
     .ssm_norm = true,
     .preset = {{CALC_HF_ATTN_PERIOD, 8},
                {CALC_HF_ATTN_OFFSET, 4},
                {CALC_HF_EXPERT_PERIOD, 2},
                {CALC_HF_EXPERT_OFFSET, 1},
                {CALC_HF_SSM_STATE, 16}}},
    {.types = "granitemoehybrid bamba", LLAMA},
    {.types = "falcon_h1", LLAMA, .beside = true},
    {.types = "lfm2", LLAMA, .qk_norm = true, .tied = true},
    {.types = "gemma", GEMMA, .preset = {{CALC_HF_HEAD_SIZE, 256}}},
    {.types = "gemma2",
     .also = "gemma2_text",
     GEMMA,
     .preset = {{CALC_HF_HEAD_SIZE, 256}, {CALC_HF_PATTERN, 2}},
     SANDWICH,
     .note = "the cap of the scores is not modelled"},
    /* Configurations with a vision tower omit values that equal the defaults of the class. */
    {.types = "gemma3",
     .also = "gemma3_text",
     GEMMA,
     .qk_norm = true,
     .preset = {{CALC_HF_HEAD_SIZE, 256},
                {CALC_HF_PATTERN, 6},
                {CALC_HF_VOCAB, 262208},
                {CALC_HF_HEADS, 8},
                {CALC_HF_KV_HEADS, 4},
                {CALC_HF_POSITIONS, 131072}},
     SANDWICH},
    {.types = "gemma3n",
     .also = "gemma3n_text",
     GEMMA,
     .qk_norm = true,
     SANDWICH,
     .residual = CALC_RESIDUAL_TYPE_ALTUP,
     .preset = {{CALC_HF_HEAD_SIZE, 256},
                {CALC_HF_PATTERN, 5},
                {CALC_HF_STREAMS, 4},
                {CALC_HF_LAYER_EMBED, 256},
                {CALC_HF_LAYER_VOCAB, 262144},
                {CALC_HF_RESIDUAL_RANK, 64}}},
    {.types = "gemma4",
     .also = "gemma4_text",
     GEMMA,
     .qk_norm = true,
     SANDWICH,
     .router_scale = true},
    {.types = "glm chatglm", LLAMA, .attn_bias = true},
    {.types = "glm4", LLAMA, .attn_bias = true, SANDWICH},
    {.types = "glm4_moe", LLAMA, .attn_bias = true, .router_bias = true},
    {.types = "gpt_oss",
     LLAMA,
     .bias = true,
     .preset = {{CALC_HF_HEAD_SIZE, 64}, {CALC_HF_PATTERN, 2}},
     .sinks = true},
    {.types = "phi3", LLAMA},
    {.types = "phi", GPT(GELU, ROPE), .bias = true, .note = PARALLEL_NOTE},
    {.types = "gpt_neox", GPT(GELU, ROPE), .bias = true, .note = PARALLEL_NOTE},
    {.types = "gpt2", GPT(GELU, LEARNED), .bias = true, .dropout = true, .tied = true},
    {.types = "gpt_bigcode",
     GPT(GELU, LEARNED),
     .bias = true,
     .dropout = true,
     .tied = true,
     .preset = {{CALC_HF_MULTI_QUERY, 1}}},
    {.types = "opt",
     GPT(RELU, LEARNED),
     .bias = true,
     .dropout = true,
     .tied = true,
     .note = "its table of positions has 2 rows more"},
    {.types = "bloom",
     GPT(GELU, NONE),
     .bias = true,
     .tied = true,
     .preset = {{CALC_HF_POSITIONS, 2048}},
     .note = "ALiBi and the norm after the embedding are not modelled"},
    {.types = "falcon",
     .also = "RefinedWeb RefinedWebModel",
     GPT(GELU, ROPE),
     .tied = true,
     .preset = {{CALC_HF_POSITIONS, 2048}, {CALC_HF_MULTI_QUERY, 1}},
     .note = PARALLEL_NOTE},
};
enum { FAMILIES = sizeof families / sizeof *families };

/* Keys of tokens, training, generation and arithmetic that change neither shape nor cost. */
static const char harmless[] =
    "architectures model_type torch_dtype dtype transformers_version auto_map _name_or_path "
    "name_or_path _attn_implementation attn_implementation use_cache use_return_dict return_dict "
    "bos_token_id eos_token_id pad_token_id unk_token_id sep_token_id decoder_start_token_id "
    "initializer_range init_std rms_norm_eps layer_norm_eps layer_norm_epsilon layernorm_epsilon "
    "rope_theta rope_local_base_freq rope_interleave rope_ratio rotary_emb_base rotary_pct "
    "partial_rotary_factor original_rope rotary_dim position_embedding_type "
    "attention_dropout attn_pdrop embd_pdrop embedding_dropout embed_dropout activation_dropout "
    "classifier_dropout layerdrop hidden_dropout_prob attention_probs_dropout_prob "
    "summary_activation summary_first_dropout "
    "summary_proj_to_labels summary_type summary_use_proj output_attentions output_hidden_states "
    "output_router_logits router_aux_loss_coef router_jitter_noise aux_loss_alpha seq_aux "
    "pretraining_tp ep_size norm_topk_prob routed_scaling_factor scoring_func topk_scaling_factor "
    "router_dtype swiglu_limit attn_logit_softcapping final_logit_softcapping cache_implementation "
    "query_pre_attn_scalar scale_attn_weights scale_attn_by_inverse_layer_idx "
    "reorder_and_upcast_attn apply_query_key_layer_scaling "
    "apply_residual_connection_post_layernorm "
    "attention_softmax_in_fp32 bias_dropout_fusion fp32_residual_connection post_layer_norm "
    "rmsnorm masked_softmax_fusion offset_alibi skip_bias_add skip_bias_add_qkv slow_but_exact "
    "do_layer_norm_before _remove_final_layer_norm use_parallel_residual "
    "layer_norm_elementwise_affine parallel_attn num_ln_in_parallel_attn prefix "
    "task_specific_params "
    "pre_seq_len prefix_projection quantization_bit classifier_bias use_bidirectional_attention "
    "rope_scaling rope_parameters gradient_checkpointing max_length min_length is_decoder "
    "is_encoder_decoder tokenizer_class problem_type finetuning_task id2label label2id "
    "hidden_act_param force_use_exact_gelu eos_token bos_token chunk_size_feed_forward "
    "moe_router_dtype _commit_hash "
    "add_cross_attention bad_words_ids begin_suppress_tokens cross_attention_hidden_size "
    "diversity_penalty do_sample early_stopping encoder_no_repeat_ngram_size "
    "exponential_decay_length_penalty forced_bos_token_id forced_eos_token_id length_penalty "
    "no_repeat_ngram_size num_beam_groups num_beams num_return_sequences output_scores "
    "pruned_heads remove_invalid_values repetition_penalty return_dict_in_generate "
    "suppress_tokens temperature tf_legacy_loss tie_encoder_decoder top_k top_p torchscript "
    "typical_p use_bfloat16 inference_runner validate_runner_input "
    "image_token_index image_token_id video_token_id audio_token_id ignore_index eoa_token_index "
    "vision_feature_layer projector_hidden_act multimodal_projector_bias spatial_merge_size "
    "vision_soft_tokens_per_image use_unified_vision_chunk norm_eps conv_bias use_conv_bias "
    "mamba_proj_bias mamba_conv_bias mamba_hidden_act mamba_ssm_cache_dtype mamba_ssm_dtype "
    "use_mamba_kernels time_step_floor time_step_limit time_step_max time_step_min time_step_rank "
    "rescale_prenorm_residual residual_in_fp32 num_logits_to_keep moe_shared_expert_overlap "
    "moe_router_scaling_factor moe_router_activation_func moe_renormalize use_grouped_topk "
    "activation_situ_beta activation_situ_linear_beta mla_use_nope hc_eps hc_sinkhorn_iters "
    "use_mtp num_mtp_modules compress_rope_theta indexer_rope_interleave qk_head_dim "
    "mtp_use_dedicated_embeddings mtp_transformer_layers num_attention_groups block_configs "
    "attention_multiplier embedding_multiplier residual_multiplier logits_scaling "
    "expert_dtype full_attn_mod interpolate_factor num_hidden_layers_override "
    "hidden_act_ffn use_double_wide_mlp activation_sparsity_pattern "
    "image_seq_length image_token_id lm_head_type n_layers_total mamba_chunk_size_hint "
    "max_window_size layer_norm_epsilon attn_temperature_tuning floor_scale attn_scale "
    "linear_attn_config.gate_lower_bound attention_head_type scale_attention_softmax_in_fp32 "
    "use_mrope runner_max_sequence_length";

static bool is_in_place(const char *words, const char *at, size_t length)
{
    return (at == words || at[-1] == ' ') && (at[length] == ' ' || at[length] == '\0');
}

bool calc_hf_word_in(const char *words, const char *word, size_t length)
{
    for (const char *at = words; length > 0 && *at; at++) {
        if (strncmp(at, word, length) == 0 && is_in_place(words, at, length)) {
            return true;
        }
    }
    return false;
}

const calc_hf_family *calc_hf_family_unknown(void)
{
    static const calc_hf_family any = {.types = "", LLAMA};
    return &any;
}

const calc_hf_family *calc_hf_family_find(const char *type)
{
    for (size_t i = 0; i < FAMILIES; i++) {
        const char *also = families[i].also ? families[i].also : "";
        if (calc_hf_word_in(families[i].types, type, strlen(type)) ||
            calc_hf_word_in(also, type, strlen(type))) {
            return &families[i];
        }
    }
    return NULL;
}

bool calc_hf_key_structural(const char *key)
{
    static const char *const parts[] = {
        "layer", "head",   "expert", "hidden", "intermediate", "_dim",  "_rank", "mamba",
        "ssm",   "attn",   "window", "block",  "ffn",          "mlp",   "moe",   "latent",
        "mtp",   "stream", "conv_",  "vocab",  "pattern",      "embed", "altup", "memory"};
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        if (strstr(key, parts[i])) {
            return true;
        }
    }
    return false;
}

bool calc_hf_value_neutral(const char *value)
{
    char *end;
    double number = strtod(value, &end);
    return strcasecmp(value, "false") == 0 || (end != value && !*end && number <= 0);
}

bool calc_hf_key_harmless(const char *key)
{
    return calc_hf_word_in(harmless, key, strcspn(key, ".")) ||
           calc_hf_word_in(harmless, key, strlen(key));
}
