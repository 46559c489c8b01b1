/* Families of Hugging Face models. Source: transformers 4.57,
 * src/transformers/models/<kind>/{configuration,modeling}_<kind>.py; modeling_{deepseek,chatglm}.py
 * beside the weights of DeepSeek-V2 and V3, Kimi K2 and GLM-4. */
#include "formats/hf_families.h"

#include <string.h>

#include "base/buffer.h"
#include "base/error.h"

/* Blocks in the style of Llama, and of GPT-2. */
#define LLAMA                                                                                      \
    .ffn = CALC_FFN_TYPE_SWIGLU, .norm = CALC_NORM_TYPE_RMS, .position = CALC_POSITION_TYPE_ROPE
#define GEMMA                                                                                      \
    .ffn = CALC_FFN_TYPE_GEGLU, .norm = CALC_NORM_TYPE_RMS, .position = CALC_POSITION_TYPE_ROPE,   \
    .tied = true
#define GPT(ffn_, position_)                                                                       \
    .ffn = CALC_FFN_TYPE_##ffn_, .norm = CALC_NORM_TYPE_LAYER,                                     \
    .position = CALC_POSITION_TYPE_##position_
#define QKV_NOTE "biases of queries, keys and values are not modelled"
#define NORMS_NOTE "two of the four norms of a block are not modelled"
#define PARALLEL_NOTE                                                                              \
    "attention and feed-forward stand side by side in it; here they follow each other"

static const calc_hf_family families[] = {
    {.types = "llama mistral mixtral", LLAMA},
    {.types = "qwen2", LLAMA, .attn_bias = true, .windowless = true, .note = QKV_NOTE},
    {.types = "qwen2_moe",
     LLAMA,
     .attn_bias = true,
     .windowless = true,
     .note = QKV_NOTE ", nor is the gate of the shared expert"},
    {.types = "qwen3 qwen3_moe",
     .also = "qwen3_vl_text qwen3_vl_moe_text",
     LLAMA,
     .qk_norm = true,
     .windowless = true,
     .preset = {{CALC_HF_HEAD_SIZE, 128}}},
    {.types = "deepseek deepseek_v2", LLAMA},
    {.types = "deepseek_v3 kimi_k2", LLAMA, .router_bias = true},
    {.types = "gemma", GEMMA, .preset = {{CALC_HF_HEAD_SIZE, 256}}},
    {.types = "gemma2",
     .also = "gemma2_text",
     GEMMA,
     .preset = {{CALC_HF_HEAD_SIZE, 256}, {CALC_HF_PATTERN, 2}},
     .note = NORMS_NOTE ", nor is the cap of the scores"},
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
     .note = NORMS_NOTE},
    {.types = "glm chatglm", LLAMA, .attn_bias = true, .note = QKV_NOTE},
    {.types = "glm4",
     LLAMA,
     .attn_bias = true,
     .note = QKV_NOTE ", nor are two of the four norms of a block"},
    {.types = "glm4_moe", LLAMA, .attn_bias = true, .router_bias = true, .note = QKV_NOTE},
    {.types = "gpt_oss",
     LLAMA,
     .bias = true,
     .preset = {{CALC_HF_HEAD_SIZE, 64}, {CALC_HF_PATTERN, 2}},
     .note = "attention sinks are not modelled"},
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
    "attention_head_type scale_attention_softmax_in_fp32 use_mrope runner_max_sequence_length";

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

char *calc_hf_family_list(char *buffer, size_t size)
{
    buffer[0] = '\0';
    for (size_t i = 0; i < FAMILIES; i++) {
        calc_append(buffer, size, "%s%s", i > 0 ? " " : "", families[i].types);
    }
    return buffer;
}

const char *calc_hf_family_nearest(const char *word, char *buffer, size_t size)
{
    enum { MAX = 64 };
    const char *types[MAX + 1] = {NULL};
    size_t count = 0;
    calc_hf_family_list(buffer, size);
    for (char *at = buffer; at && count < MAX; count++) {
        types[count] = at;
        at = strchr(at, ' ');
        if (at) {
            *at++ = '\0';
        }
    }
    return calc_nearest(word, types);
}

bool calc_hf_key_harmless(const char *key)
{
    return calc_hf_word_in(harmless, key, strcspn(key, "."));
}
