
#include "frame.h"
#include "hf_case.h"
#include "spec/stack.h"

const calc_test_frame calc_tests = {.timeout_s = 60};

CALC_TEST(sequences_are_as_long_as_before_positions_were_extended)
{
    static const struct {
        const char *more;
        int64_t seq_size;
    } cases[] = {
        {"", 512},
        {", \"max_position_embeddings\": 8192", 8192},
        {", \"max_position_embeddings\": 8193", 8192},
        {", \"max_position_embeddings\": 131072", CALC_HF_SEQ_MAX},
        {", \"max_position_embeddings\": 131072, \"rope_scaling\": "
         "{\"original_max_position_embeddings\": 4096}",
         4096},
        {", \"rope_parameters\": {\"original_max_position_embeddings\": 256}", 256},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        ck_assert_int_eq(silent(cases[i].more).seq_size, cases[i].seq_size);
    }
}

CALC_TEST(the_sequence_of_the_caller_counts)
{
    const char *text = "{\"model_type\": \"llama\", " SMALL "}";
    remarks all = {0};
    calc_hf hf = {.name = "c", .seq_size = 32768, .tell = remember, .context = &all};
    calc_app app;
    ck_assert_int_eq(calc_hf_read_text(&hf, text, strlen(text), &app, NULL), CALC_OK);
    ck_assert_int_eq(app.seq_size, 32768);
    ck_assert_str_eq(all.text, "");
    hf.seq_size = 0;
    ck_assert_int_eq(calc_hf_read_text(&hf, text, strlen(text), &app, NULL), CALC_OK);
    ck_assert_int_eq(app.seq_size, CALC_HF_SEQ_MAX);
    ck_assert_str_eq(all.text,
                     "sequences of 8192 tokens, as the file says none; seq_size sets another\n");
}

CALC_TEST(heads_are_as_wide_as_they_are_said_to_be)
{
    ck_assert_int_eq(silent("").attn_size, 16);
    ck_assert_int_eq(silent("").kv_heads, 4);
    ck_assert_int_eq(silent(", \"head_dim\": 32, \"num_key_value_heads\": 2").attn_size, 32);
    ck_assert_int_eq(silent(", \"head_dim\": null").attn_size, 16);
    ck_assert_int_eq(small("qwen3", "", "").attn_size, 128);
    ck_assert_int_eq(small("gemma", ", \"head_dim\": 8", "").attn_size, 8);
}

CALC_TEST(key_and_value_heads_follow_their_switches)
{
    const char *note = "side by side";
    ck_assert_int_eq(small("falcon", ", \"num_kv_heads\": 4", note).kv_heads, 1);
    ck_assert_int_eq(small("falcon", ", \"multi_query\": false", note).kv_heads, 4);
    ck_assert_int_eq(
        small("falcon", ", \"new_decoder_architecture\": true, \"num_kv_heads\": 2", note).kv_heads,
        2);
    ck_assert_int_eq(
        small("chatglm", ", \"multi_query_attention\": false, \"multi_query_group_num\": 2", "")
            .kv_heads,
        4);
}

CALC_TEST(feed_forward_layers_have_a_gate_or_not)
{
    ck_assert_int_eq(silent("").ffn_type, CALC_FFN_TYPE_AUTO); /* of llama: swiglu */
    ck_assert_int_eq(silent(", \"hidden_act\": \"gelu\"").ffn_type, CALC_FFN_TYPE_GEGLU);
    ck_assert_int_eq(small("gemma", ", \"hidden_act\": \"silu\"", "").ffn_type, CALC_FFN_TYPE_AUTO);
    calc_app gpt2 = small("gpt2", ", \"intermediate_size\": null", "");
    ck_assert_int_eq(gpt2.feedforward, 128);
    ck_assert_int_eq(gpt2.structure_type, CALC_STRUCTURE_TYPE_GPT);
    ck_assert_int_eq(small("gpt2", ", \"activation_function\": \"relu\"", "").ffn_type,
                     CALC_FFN_TYPE_RELU);
}

CALC_TEST(biases_dropout_and_tables_are_as_said)
{
    ck_assert_int_eq(silent(", \"attention_bias\": true, \"mlp_bias\": true").bias,
                     CALC_CHOICE_TRUE);
    ck_assert_int_eq(small("llama", ", \"attention_bias\": true", "biases of some matrices").bias,
                     CALC_CHOICE_AUTO);
    ck_assert_int_eq(small("gpt2", ", \"resid_pdrop\": 0.1", "").dropout, CALC_CHOICE_AUTO);
    ck_assert_int_eq(small("gpt2", ", \"resid_pdrop\": 0", "").dropout, CALC_CHOICE_FALSE);
    ck_assert_int_eq(small("gpt_neox", "", "side by side").dropout, CALC_CHOICE_FALSE);
    ck_assert_int_eq(silent(", \"tie_word_embeddings\": true").tied_embeddings, CALC_CHOICE_TRUE);
    ck_assert_int_eq(small("gpt2", ", \"tie_word_embeddings\": false", "").tied_embeddings,
                     CALC_CHOICE_FALSE);
    ck_assert_int_eq(small("gpt2", "", "").tied_embeddings, CALC_CHOICE_AUTO);
}

static void has_window(calc_app app, int64_t window, int64_t every)
{
    ck_assert_int_eq(app.window_size, window);
    ck_assert_int_eq(app.global_every, every);
}

CALC_TEST(windows_are_where_blocks_have_them)
{
    has_window(silent(", \"sliding_window\": 64"), 64, 0);
    has_window(silent(", \"sliding_window\": null"), 0, 0);
    has_window(small("qwen3", ", \"sliding_window\": 64", ""), 0, 0);
    has_window(small("qwen3", ", \"sliding_window\": 64, \"use_sliding_window\": true", ""), 64, 0);
    has_window(small("qwen3",
                     ", \"sliding_window\": 64, \"use_sliding_window\": true, "
                     "\"max_window_layers\": 12",
                     ""),
               0, 0);
    has_window(small("qwen3",
                     ", \"sliding_window\": 64, \"use_sliding_window\": true, "
                     "\"max_window_layers\": 8",
                     ""),
               0, 0); /* layers are listed, then */
    has_window(small("gemma2", ", \"sliding_window\": 64", "cap"), 64, 2);
    has_window(small("gemma3", ", \"sliding_window\": 64, \"sliding_window_pattern\": 4", ""), 64,
               4);
}

#define WINDOW "\"sliding_attention\", "
#define FULL "\"full_attention\""

static void says_layers(const char *more, const char *layers)
{
    char text[CALC_STACK_TEXT];
    const calc_app app = silent(more);
    ck_assert_str_eq(calc_stack_text(&app.stack, false, text, sizeof text), layers);
}

CALC_TEST(windows_by_block_are_counted)
{
#define SIX WINDOW WINDOW FULL ", " WINDOW WINDOW FULL
#define FULLS FULL ", " FULL ", " FULL ", " FULL
#define WINDOWS WINDOW WINDOW WINDOW "\"sliding_attention\""
    has_window(silent(", \"sliding_window\": 64, \"layer_types\": [" SIX ", " SIX "]"), 64, 3);
    has_window(
        silent(", \"sliding_window\": 64, \"layer_types\": [" FULLS ", " FULLS ", " FULLS "]"), 0,
        0);
    has_window(silent(", \"sliding_window\": 64, \"layer_types\": [" WINDOWS ", " WINDOWS
                      ", " WINDOWS "]"),
               64, 0);
    says_layers(", \"sliding_window\": 64, \"layer_types\": [" FULL ", " WINDOW WINDOW WINDOW FULL
                ", " WINDOW WINDOW WINDOW WINDOW WINDOW WINDOW "\"sliding_attention\"]",
                "2x(attention+mlp 3xlocal+mlp) 4xlocal+mlp");
}

CALC_TEST(patterns_may_be_letters)
{
    has_window(
        small("exaone4", ", \"sliding_window\": 64, \"sliding_window_pattern\": \"LLLG\"", ""), 64,
        4);
}

/* Every second layer reads the keys and values of the one before it (arXiv 2405.12981). */
CALC_TEST(layers_may_share_keys_across)
{
    says_layers(", \"use_cla\": true, \"cla_share_factor\": 2", "6x(attention+mlp shared+mlp)");
    says_layers(", \"use_cla\": false, \"cla_share_factor\": 2", "");
}

/* 12288 * 2 / 3 is whole; 6656 * 2 / 3 is rounded up to 4608 (LFM2-350M). */
CALC_TEST(widths_may_be_fitted_for_a_gate)
{
    const char *fitted = ", \"intermediate_size\": null, \"block_auto_adjust_ff_dim\": true, "
                         "\"block_multiple_of\": 256, \"intermediate_size\": ";
    char more[256];
    snprintf(more, sizeof more, "%s12288", fitted);
    ck_assert_int_eq(silent(more).feedforward, 8192);
    snprintf(more, sizeof more, "%s6656", fitted);
    ck_assert_int_eq(silent(more).feedforward, 4608);
}

#define MOE ", \"num_experts\": 8, \"num_experts_per_tok\": 2"

CALC_TEST(experts_have_the_widths_that_are_said)
{
    ck_assert_int_eq(silent(MOE).expert_feedforward, 128);
    calc_app a = silent(MOE ", \"moe_intermediate_size\": 32, \"n_shared_experts\": 3");
    ck_assert_int_eq(a.expert_feedforward, 32);
    ck_assert_int_eq(a.shared_feedforward, 96);
    a = silent(MOE ", \"shared_expert_intermediate_size\": 80, \"n_shared_experts\": 3");
    ck_assert_int_eq(a.shared_feedforward, 80);
    ck_assert_int_eq(silent(", \"num_experts_per_tok\": 2").experts_per_token, 0);
}

CALC_TEST(blocks_with_experts_are_those_that_are_said)
{
    calc_app a = silent(MOE ", \"first_k_dense_replace\": 2, \"decoder_sparse_step\": 1");
    ck_assert_int_eq(a.dense_blocks, 2);
    ck_assert_int_eq(a.moe_every, 0);
    ck_assert_int_eq(silent(MOE ", \"decoder_sparse_step\": 2").moe_every, 2);
    ck_assert_int_eq(silent(MOE ", \"is_moe_layer\": [false, false, true, true, true, true, true, "
                                "true, true, true, true, true]")
                         .dense_blocks,
                     2);
    ck_assert_int_eq(silent(MOE ", \"mlp_only_layers\": []").dense_blocks, 0);
    ck_assert_int_eq(silent(MOE ", \"mlp_only_layers\": [0, 1, 2]").dense_blocks, 3);
    says_layers(MOE ", \"mlp_only_layers\": [0, 11]",
                "attention+mlp 10xattention+moe attention+mlp");
    says_layers(MOE ", \"moe_layer_freq\": [0, 1, 1, 0, 0, 1, 1, 1, 1, 1, 1, 1]",
                "attention+mlp 2xattention+moe 2xattention+mlp 7xattention+moe");
}

/* Classes of transformers; that of ChatGLM scores words by the map of its own code. */
CALC_TEST(classes_say_whether_there_is_a_head)
{
    static const struct {
        const char *more;
        bool head;
    } cases[] = {{"", true},
                 {", \"architectures\": [\"LlamaForCausalLM\"]", true},
                 {", \"architectures\": [\"GPT2LMHeadModel\"]", true},
                 {", \"architectures\": [\"Anything\"]", true},
                 {", \"architectures\": [\"ChatGLMModel\"], "
                  "\"auto_map\": {\"AutoModelForCausalLM\": \"x.ChatGLM\"}",
                  true},
                 {", \"architectures\": [\"LlamaModel\"]", false},
                 {", \"architectures\": [\"LlamaForSequenceClassification\"]", false},
                 {", \"architectures\": [\"Qwen2ForRewardModel\"]", false}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const char *remark = cases[i].head ? "" : "has no head that scores words";
        ck_assert_int_eq(small("llama", cases[i].more, remark).lm_head,
                         cases[i].head ? CALC_CHOICE_AUTO : CALC_CHOICE_FALSE);
    }
}

CALC_TEST(keys_of_structure_pass_with_their_usual_value_only)
{
    silent(", \"do_layer_norm_before\": true, \"conv_bias\": false, \"norm_type\": \"rmsnorm\"");
    ck_assert_int_eq(silent(", \"norm_type\": \"layer_norm\"").norm_type, CALC_NORM_TYPE_LAYER);
    ck_assert_int_eq(small("gpt2", ", \"use_rmsnorm\": true", "").norm_type, CALC_NORM_TYPE_RMS);
    small("llama", ", \"use_parallel_residual\": true", "side by side");
    small("gpt_neox", ", \"use_parallel_residual\": false", "");
    ck_assert_int_eq(small("llama", ", \"alibi\": true", "ALiBi is not modelled").position_type,
                     CALC_POSITION_TYPE_NONE);
}

/* Keys that contradict each other or are not known name their place. */
CALC_TEST(what_is_not_understood_is_refused)
{
    static const struct {
        const char *more, *text;
        calc_status status;
    } cases[] = {
        {"\"layer_types\": [\"full_attention\"]",
         "layer_types: 1 layers, but num_hidden_layers is 12", CALC_ERR_RULE},
        {"\"layer_types\": [\"magic\"]",
         "layer_types: found \"magic\", expected one of full_attention", CALC_ERR_RANGE},
        {"\"num_magic_heads\": 3", "num_magic_heads: calc does not know this key",
         CALC_ERR_UNSUPPORTED},
        {"\"hybrid_override_pattern\": \"MX\"", "found \"X\", expected one of M * - E",
         CALC_ERR_RANGE},
        {"\"head_dim\": 8, \"full_attention_interval\": 4", "no key says what they are",
         CALC_ERR_UNSUPPORTED},
        {"\"intermediate_size\": [128, 64]", "intermediate_size: expected", CALC_ERR_RANGE},
        {"\"do_layer_norm_before\": false",
         "do_layer_norm_before: calc has nothing for models with the value false",
         CALC_ERR_UNSUPPORTED},
        {"\"n_layers\": 24", "n_layers: \"24\", but num_hidden_layers is \"12\": both are names",
         CALC_ERR_RULE},
        {"\"num_key_value_heads\": 3", "num_key_value_heads: 3 does not divide attn_heads = 4",
         CALC_ERR_RULE},
        {"\"num_key_value_heads\": 0", "num_key_value_heads: expected at least 1, found 0",
         CALC_ERR_RULE},
        {"\"num_experts\": 4, \"num_experts_per_tok\": 8",
         "num_experts_per_tok: a token cannot be routed to 8 of 4 experts", CALC_ERR_RULE},
        {"\"num_experts\": 8, \"num_experts_per_tok\": 2, \"n_group\": 3",
         "n_group: 3 does not divide num_experts = 8", CALC_ERR_RULE},
        {"\"q_lora_rank\": 8", "q_lora_rank: only latent attention compresses queries",
         CALC_ERR_RULE},
        {"\"attn_layer_period\": 2, \"attn_layer_offset\": 2, \"mamba_d_state\": 16",
         "attn_layer_offset: expected less than attn_layer_period", CALC_ERR_RULE},
        {"\"num_kv_shared_layers\": 12", "num_kv_shared_layers: no layer is left", CALC_ERR_RULE},
        {"\"num_experts\": 8, \"num_experts_per_tok\": 2, \"first_k_dense_replace\": 12",
         "first_k_dense_replace: all 12 blocks are dense", CALC_ERR_RULE},
        {"\"sliding_window\": 8, \"sliding_window_pattern\": 4, \"num_key_value_heads\": 2, "
         "\"num_global_key_value_heads\": 3",
         "num_global_key_value_heads: \"attention\": 3 does not divide", CALC_ERR_RULE}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[1024];
        calc_app app;
        remarks all;
        calc_errors errors = {0};
        snprintf(text, sizeof text, "{\"model_type\": \"unheard\", " SMALL ", %s}", cases[i].more);
        ck_assert_int_eq(read_text(text, &app, &all, &errors), cases[i].status);
        ck_assert_msg(strstr(errors.item[0].text, cases[i].text), "%s", errors.item[0].text);
        bool silent = strstr(cases[i].more, "full_attention_interval");
        ck_assert(silent || errors.item[0].column > 0);
    }
}

CALC_TEST(routing_has_a_bias_where_the_method_has_one)
{
    ck_assert(!silent(MOE).router_bias);
    ck_assert(silent(MOE ", \"topk_method\": \"noaux_tc\"").router_bias);
    ck_assert(small("deepseek_v3", MOE, "").router_bias);
    ck_assert(!small("deepseek_v3", MOE ", \"topk_method\": \"greedy\"", "").router_bias);
    calc_app a = silent(MOE ", \"n_group\": 4, \"topk_group\": 2");
    ck_assert(a.expert_groups == 4 && a.groups_per_token == 2);
    a = silent(MOE ", \"n_group\": 1, \"topk_group\": 1");
    ck_assert(a.expert_groups == 0 && a.groups_per_token == 0);
}
