
#include <math.h>
#include <string.h>

#include "formats/hf_model.h"
#include "formats/plan.h"
#include "formats/read.h"
#include "frame.h"
#include "hf_case.h"
#include "io/text.h"
#include "shipped_case.h"
#include "spec/field.h"

const calc_test_frame calc_tests = {.timeout_s = 60};

static bool is_read(const char *key)
{
    static const char *const keys[] = {
#define CALC_HF(name, how, field, keys) keys,
#include "formats/hf.fields.h"
#undef CALC_HF
    };
    size_t i = 0;
    while (i < sizeof keys / sizeof *keys && !strstr(keys[i], key)) {
        i++;
    }
    return i < sizeof keys / sizeof *keys;
}

static calc_app read_file(const char *name)
{
    char path[512];
    calc_text text = {0};
    calc_errors errors = {0};
    calc_app app;
    remarks all = {0};
    snprintf(path, sizeof path, CALC_TEST_DATA "/formats/hf/%s.json", name);
    ck_assert_int_eq(calc_text_read(&text, path, &errors), CALC_OK);
    ck_assert_int_eq(calc_hf_is_text(text.data, text.length), CALC_OK);
    ck_assert_msg(read_text(text.data, &app, &all, &errors) == CALC_OK, "%s: %s", name,
                  errors.item[0].text);
    ck_assert_msg(!strstr(all.text, "ignored"), "%s: %s", name, all.text);
    calc_text_free(&text);
    return app;
}

static void fails(const char *text, calc_status status, const char *printed)
{
    calc_app app;
    remarks all;
    calc_errors errors = {0};
    char line[1024];
    ck_assert_int_eq(read_text(text, &app, &all, &errors), status);
    ck_assert_int_ge(errors.count, 1);
    calc_error_print(&errors.item[0], line, sizeof line);
    ck_assert_msg(strstr(line, printed), "%s", line);
}

/* ---- Published models ------------------------------------------------------------------------ */

/* Files of tests/formats/hf with the parameters of the published weights, and of these the ones
 * that our models cannot have. Source: what the safetensors of the repository add up to, unless
 * said otherwise; GLM-4.5 with its block of multi-token prediction, whose tables are its own. */
static const struct {
    const char *file, *shipped; /* NULL: calc ships no such model */
    double parameters, beyond;  /* 0: not compared */
    bool mtp;
    double active; /* 0: not compared */
} published[] = {
    {"llama-2-7b", "llama2-7B", 6738415616, 0, false, 0},
    {"llama-3.1-8b", "llama3-8B", 8030261248, 0, false, 0},
    {"llama-3.1-405b", "llama3-405B", 405853388800, 0, false, 0},
    {"mistral-7b", "mistral-7B", 7241732096, 0, false, 0},
    {"mistral-nemo", NULL, 12247782400, 0, false, 0},
    {"mixtral-8x7b", "mixtral-8x7B", 46702792704, 0, false, 0},
    {"mixtral-8x22b", "mixtral-8x22B", 140620634112, 0, false, 0},
    {"qwen2.5-0.5b", "qwen2.5-0.5B", 494032768, 0, false, 0},
    {"qwen2.5-72b", "qwen2.5-72B", 72706203648, 0, false, 0},
    {"qwen1.5-moe-a2.7b", "qwen1.5-moe-14B-A2.7B", 14315784192, 0, false, 0},
    {"qwen3-0.6b", "qwen3-0.6B", 596049920, 0, false, 0},
    {"qwen3-32b", "qwen3-32B", 32762123264, 0, false, 0},
    {"qwen3-30b-a3b", "qwen3-30B-A3B", 30532122624, 0, false, 0},
    {"qwen3-235b-a22b", "qwen3-235B-A22B", 235093634560, 0, false, 0},
    {"qwen3-coder-480b", "qwen3-coder-480B-A35B", 480154875392, 0, false, 0},
    {"qwen3-vl-30b-a3b", "qwen3-30B-A3B", 30532122624, 0, false, 0}, /* its text model */
    {"deepseek-moe-16b", "deepseek-moe-16B", 16375728128, 0, false, 0},
    {"deepseek-v2", "deepseek-v2-236B", 235741434880, 0, false, 0},
    {"deepseek-v2-lite", "deepseek-v2-lite", 15706484224, 0, false, 0},
    {"deepseek-v3", "deepseek-v3-671B", 671026419200, 0, false, 0},
    {"kimi-k2", "kimi-k2-1T", 0, 0, false, 0},
    {"gemma-7b", NULL, 8537680896, 0, false, 0},
    {"gemma-2-9b", "gemma2-9B", 9241705984, 0, false, 0},
    {"gemma-3-1b", "gemma3-1B", 999885952, 0, false, 0},
    /* Text models with the 64 words of the whole that the shipped ones leave out. */
    {"gemma-3-4b", "gemma3-4B", 3880099328 + 64 * 2560, 0, false, 0},
    {"gemma-3-27b", "gemma3-27B", 27009002240 + 64 * 5376, 0, false, 0},
    {"glm-4-9b-chat", NULL, 9399951360, 0, false, 0},
    {"glm-4-9b-0414", "glm-4-9B", 9400279040, 0, false, 0},
    {"glm-4.5-air", "glm-4.5-air-106B-A12B", 110468824832, 2.0 * 151552 * 4096, true, 0},
    {"glm-4.5", "glm-4.5-355B-A32B", 358337791296, 2.0 * 151552 * 5120, true, 0},
    {"gpt-oss-20b", "gpt-oss-20B", 20914757184, 0, false, 0},
    {"gpt-oss-120b", "gpt-oss-120B", 116829156672, 0, false, 0},
    {"phi-2", "phi-2-2.7B", 2779683840, 51200 - 32 * 2 * 2560, false,
     0}, /* a bias of the head, one norm */
    {"phi-3-mini", "phi-3-mini-3.8B", 3821079552, 0, false, 0},
    {"opt-1.3b", "opt-1.3B", 1315758080, 2 * 2048, false, 0},   /* two positions */
    {"gpt-neox-20b", "gpt-neox-20B", 20554567680, 0, false, 0}, /* arXiv 2204.06745, section 2 */
    {"pythia-1b", "pythia-1B", 1011781632, 0, false, 0},        /* arXiv 2304.01373, table 1 */
    {"gpt2", "gpt2-124M", 124439808, 0, false, 0},
    {"gpt2-xl", "gpt2-xl-1.6B", 1557611200, 0, false, 0},
    {"starcoder", NULL, 15517456384, 0, false, 0},
    {"falcon-7b", "falcon-7B", 6921720704, -32 * 2 * 4544, false,
     0}, /* one norm; one vocabulary table */
    {"falcon-40b", "falcon-40B", 41303293952, 0, false, 0},
    {"bloom-560m", "bloom-560M", 559214592, 2 * 1024, false, 0}, /* a norm after the embedding */
    {"bloom", "bloom-176B", 176247271424, 2 * 14336, false, 0},
    /* Totals and active parameters from the equations of their papers, by a program of its own that
     * gives the published counts to the last number where there are any. */
    {"qwen3-next-80b-a3b", NULL, 79674391296, 0, false, 3874929408},
    {"qwen3.5-27b", NULL, 26895998464, 0, false, 26895998464},
    {"qwen3.5-35b-a3b", NULL, 34660610688, 0, false, 3454988928},
    {"qwen3.5-397b-a17b", NULL, 396346350336, 0, false, 17349040896},
    {"qwen3.6-35b-a3b", NULL, 34660610688, 0, false, 3454988928},
    {"nemotron-3-nano-30b-a3b", NULL, 31577940288, 0, false, 3580076352},
    {"nemotron-3-super-120b-a12b", NULL, 120668707840, 0, false, 12770237440},
    {"nemotron-3-ultra-550b-a55b", NULL, 549308993536, 0, false, 56058843136},
    {"nemotron-h-56b", NULL, 56324350464, 0, false, 56324350464},
    {"deepseek-v3.2", NULL, 671877944064, 0, false, 38403822336},
    {"glm-5", NULL, 743911218432, 0, false, 41784728832},
    {"kimi-k2.5", NULL, 1026408232448, 0, false, 32861500928},
    {"deepseek-v4-flash", NULL, 284332240471, 0, false, 13799632471},
    {"kimi-k3", NULL, 2779484476000, 0, false, 105364017760},
    {"minimax-m2.5", NULL, 228689764864, 0, false, 11030553088},
    {"minimax-m1", NULL, 456089655296, 0, false, 48403306496},
    /* Keys and values of layers that read those of earlier ones: in its file, never used. */
    {"gemma-3n-e4b", NULL, 6866696688, 15 * (2 * 2048 * 512 + 256), false, 6866696688},
    {"gemma-4-26b-a4b", NULL, 25233141760, 0, false, 3822530560},
    {"llama-4-maverick-17b-128e-instruct", NULL, 400711848960, 0, false, 17184691200},
    {"longcat-flash", NULL, 560664980480, 0, false, 27954818048},
    {"jamba-1.5-mini", NULL, 51570323328, 0, false, 12110311296},
    {"step-3.7-flash-aic-config", NULL, 195844508736, 0, false, 10875702336},
    {"smollm3-3b", NULL, 3075098624, 0, false, 3075098624},
    {"granite-3.3-8b", NULL, 8170864640, 0, false, 8170864640},
    {"olmo3-7b", NULL, 7298011136, 0, false, 7298011136},
    {"mimo-7b-base", NULL, 7622619136, 0, false, 7622619136},
    {"phi-4-mini", NULL, 3836021760, 0, false, 3836021760},
    {"ernie-4.5-21b-a3b", NULL, 21825437888, 0, false, 3352150208},
    {"ling-mini-2", NULL, 16255643392, 0, false, 1432973056},
    {"glm-4.6", NULL, 352797829024, 0, false, 33632266144},
    {"llama-3.3-nemotron-super-49b", NULL, 49867145216, 0, false, 49867145216},
    {"minimax-m3", NULL, 426174572928, 0, false, 25962473856},
    {"laguna-xs", NULL, 33442617088, 0, false, 3017135872},
    {"glm-5.2", NULL, 743377019904, 0, false, 41250530304},
    {"gemma-4-e2b", NULL, 4628569344, 0, false, 4628569344},
    {"step-3.5-flash", NULL, 196956130368, 0, false, 11987323968},
    {"llada-8b", NULL, 8015581184, 0, false, 8015581184},
    {"embeddinggemma-300m", NULL, 302863104, 0, false, 302863104},
    {"lfm2-8b-a1b", NULL, 8339930560, 0, false, 1557740992},
    {"jamba-reasoning-3b", NULL, 3029337472, 0, false, 3029337472},
    /* Norms of queries and keys are in its 24 linear layers, here in the 8 others. */
    {"minicpm-sala", NULL, 9477203968, (24 - 8) * 256, false, 9477203968},
    /* Written from public descriptions, not from the files; the counts are those that programs
     * print which loaded the published weights. calc has neither the two numbers of each xIELU, nor
     * biases of some matrices only, and a second norm of blocks whose sub-layers stand side by
     * side. */
    {"olmoe-1b-7b", "olmoe-7B-A1B", 6919161856, 0, false, 0},
    {"chatglm3-6b", NULL, 6243584000, 0, false, 0},
    {"olmo2-32b", "olmo2-32B", 32234279936, 0, false, 0},
    {"seed-oss-36b", "seed-oss-36B", 36151104512, 0, false, 0},
    {"apertus-8b", "apertus-8B", 8053338176, 2 * 32, false, 0},
    {"lfm2-1.2b", "lfm2-1.2B", 1170340608, 0, false, 0},
    {"granite-4.0-h-small", "granite-4.0-h-small-32B-A9B", 32207337984, 0, false, 0},
    {"gpt-j-6b", NULL, 6050882784, 28.0 * (5 * 4096 - 2 * 4096) + 50400, false, 0},
    /* Their counts are below. */
    {"phi-3.5-moe", "phi-3.5-moe-42B", 0, 0, false, 0},
    {"dbrx", "dbrx-132B", 0, 0, false, 0},
    {"command-a", "command-a-111B", 0, 0, false, 0},
    {"starcoder2-15b", "starcoder2-15B", 0, 0, false, 0},
    {"falcon-h1-34b", "falcon-h1-34B", 0, 0, false, 0},
    {"exaone-4.0-32b", "exaone-4.0-32B", 0, 0, false, 0},
    {"hunyuan-a13b", "hunyuan-80B-A13B", 0, 0, false, 0},
};
enum { PUBLISHED = sizeof published / sizeof *published };

CALC_TEST_LOOP(models_have_the_parameters_of_their_weights, 0, PUBLISHED)
{
    const calc_app app = read_file(published[_i].file);
    calc_parameters p;
    calc_count_parameters(&app, &p);
    if (published[_i].parameters > 0) {
        ck_assert_msg(p.total + (published[_i].mtp ? p.mtp : 0) + published[_i].beyond ==
                          published[_i].parameters,
                      "%s: %.0f", published[_i].file, p.total);
    }
    if (published[_i].active > 0) {
        ck_assert_msg(p.active + published[_i].beyond == published[_i].active, "%s: %.0f active",
                      published[_i].file, p.active);
    }
}

/* Totals in billions as pages of the weights and papers round them; written as those above. */
static const struct {
    const char *file;
    double billions, half; /* of the last digit */
} rounded[] = {{"minicpm3-4b", 4.07, 0.005},
               {"afm-4.5b", 4.62, 0.005},
               {"minitron-8b", 8.27, 0.005},
               {"mamba2-2.7b", 2.7, 0.05},
               {"trinity-mini", 26.1, 0.05},
               {"kimi-linear-48b", 49.12, 0.005},
               {"k-exaone-236b", 237, 0.5},
               {"persimmon-8b", 9.4, 0.05},
               {"granite-3.0-1b-a400m", 1.33, 0.005},
               {"phi-3.5-moe", 41.9, 0.05},
               {"dbrx", 132, 0.5},
               {"command-r-plus", 104, 0.5},
               {"command-a", 111, 0.5},
               {"starcoder2-15b", 16, 0.5},
               {"baichuan2-13b", 13.9, 0.05},
               {"dots.llm1", 142, 1},
               {"falcon-h1-34b", 33.6, 0.05},
               {"exaone-4.0-32b", 32.0, 0.05},
               {"hunyuan-a13b", 80, 0.5},
               {"internlm3-8b", 8.8, 0.05}};

CALC_TEST_LOOP(models_have_the_parameters_of_their_pages, 0, sizeof rounded / sizeof *rounded)
{
    const calc_app app = read_file(rounded[_i].file);
    calc_parameters p;
    calc_count_parameters(&app, &p);
    ck_assert_msg(fabs(p.total * 1e-9 - rounded[_i].billions) <= rounded[_i].half, "%s: %.0f",
                  rounded[_i].file, p.total);
}

/* Field by field, once "auto" and equal spellings are resolved. The sequence length is a choice. */
CALC_TEST_LOOP(models_are_those_that_are_shipped, 0, PUBLISHED)
{
    calc_app shipped, app = read_file(published[_i].file);
    calc_exec exec = {0}, other = {0};
    if (!published[_i].shipped) {
        return;
    }
    load_shipped(CALC_KIND_APP, &shipped, "models", published[_i].shipped);
    app.seq_size = shipped.seq_size;
    if (app.vocab_size == 262208) {
        app.vocab_size = shipped.vocab_size;
    }
    calc_plan_resolve(&app, &exec);
    calc_plan_resolve(&shipped, &other);
    const calc_table *table = calc_table_of(CALC_KIND_APP);
    for (size_t i = 0; i < table->count; i++) {
        const calc_field *field = &table->rows[i];
        /* The format of a file is that of its weights; the others the shipped models leave out. */
        bool told = strcmp(field->key, "trained_datatype") != 0 &&
                    strcmp(field->key, "qkv_bias") != 0 && strcmp(field->key, "norm_place") != 0 &&
                    strcmp(field->key, "attention_sinks") != 0;
        if (field->type == CALC_TYPE_OBJECT) {
            ck_assert_msg(calc_same(field->table, (const char *)&app + field->offset,
                                    (const char *)&shipped + field->offset),
                          "%s: %s", published[_i].file, field->key);
        } else if (field->type != CALC_TYPE_NOTE && told) {
            double found = calc_member_number(field, (const char *)&app + field->offset);
            double expected = calc_member_number(field, (const char *)&shipped + field->offset);
            ck_assert_msg(found == expected, "%s: %s is %g, not %g", published[_i].file, field->key,
                          found, expected);
        }
    }
}

/* DeepSeek-V4 as its authors and as transformers write it. */
CALC_TEST(compressed_layers_are_the_same_by_ratios_and_by_types)
{
#define V4                                                                                         \
    ", \"head_dim\": 16, \"q_lora_rank\": 8, \"o_groups\": 2, \"o_lora_rank\": 8, \"hc_mult\": "   \
    "2, "                                                                                          \
    "\"sliding_window\": 32, \"index_n_heads\": 2, \"index_head_dim\": 8, \"index_topk\": 16, "    \
    "\"n_routed_experts\": 8, \"num_experts_per_tok\": 2, \"num_nextn_predict_layers\": 1, "
#define SIX(word) word ", " word ", " word ", " word ", " word ", " word
    const calc_app one = small(
        "deepseek_v4", V4 "\"num_hash_layers\": 1, \"compress_ratios\": [" SIX("0, 4") ", 0]", "");
    const calc_app two =
        small("deepseek_v4",
              V4 "\"mlp_layer_types\": [\"hash_moe\", \"moe\", " SIX(
                  "\"moe\"") ", \"moe\", \"moe\", "
                             "\"moe\", \"moe\"], \"layer_types\": [" SIX(
                                 "\"sliding_attention\", \"compressed_sparse_attention\"") "]",
              "");
    ck_assert_int_eq(one.residual_type, CALC_RESIDUAL_TYPE_HYPER);
    ck_assert(memcmp(&one, &two, sizeof one) == 0);
}

CALC_TEST(keys_say_what_families_need_not)
{
    calc_app a = small("new", ", \"hc_mult\": 4", "not known");
    ck_assert_int_eq(a.residual_type, CALC_RESIDUAL_TYPE_HYPER);
    ck_assert_int_eq(a.residual_streams, 4);
    ck_assert(silent("").causal);
    ck_assert(!silent(", \"is_causal\": false").causal);
    ck_assert(silent(", \"use_bidirectional_attention\": \"vision\"").causal);
    ck_assert(!silent(", \"use_bidirectional_attention\": true").causal);
    a = silent(", \"num_experts\": 1, \"moe_intermediate_size\": 7, \"n_group\": false");
    ck_assert_int_eq(a.num_experts, 0);
    ck_assert_int_eq(a.feedforward, 128);
    static const char experts[] = ", \"num_experts\": 4, \"num_experts_per_tok\": 1, "
                                  "\"moe_layer_start_index\": 2, \"moe_layer_end_index\": ";
    char more[256];
    snprintf(more, sizeof more, "%s11", experts);
    a = silent(more);
    ck_assert_int_eq(a.dense_blocks, 2);
    ck_assert_int_eq(a.stack.layers, 0);
    snprintf(more, sizeof more, "%s7", experts);
    a = silent(more);
    ck_assert_int_eq(a.stack.layers, 12);
    ck_assert_int_ne(a.stack.layer[7], a.stack.layer[8]);
    ck_assert_int_eq(a.stack.layer[0], a.stack.layer[11]);
    static const char skipped[] =
        ", \"num_experts\": 4, \"moe_topk\": 1, \"moe_layer_num_skipped\": %d";
    for (int first = -1; first < 4; first += 2) {
        snprintf(more, sizeof more, skipped, first);
        a = small("hunyuan_v1_moe", more, "");
        ck_assert_int_eq(a.dense_blocks, first > 0 ? first : 0);
    }
}

CALC_TEST(heads_may_be_listed_layer_by_layer)
{
#define FOUR(x) x ", " x ", " x ", " x
    calc_app a = silent(
        ", \"num_key_value_heads_per_layer\": [" FOUR("4") ", " FOUR("2") ", " FOUR("1") "]");
    ck_assert_int_eq(a.stack.layers, 12);
    ck_assert_int_eq(a.stack.part[a.stack.kind[a.stack.layer[4]].mixer[0]].kv_heads, 2);
    ck_assert_int_eq(a.stack.part[a.stack.kind[a.stack.layer[11]].mixer[0]].kv_heads, 1);
    a = silent(
        ", \"num_attention_heads_per_layer\": [" FOUR("2") ", " FOUR("2") ", " FOUR("2") "]");
    ck_assert_int_eq(a.attn_heads, 2);
    ck_assert_int_eq(a.stack.layers, 0);
    fails("{\"model_type\": \"llama\", " SMALL
          ",\n \"num_attention_heads_per_layer\": [" FOUR("2") ", " FOUR("4") ", " FOUR("4") "]}",
          CALC_ERR_UNSUPPORTED, "num_attention_heads_per_layer: layers of one kind differ");
    fails("{\"model_type\": \"llama\", " SMALL ",\n \"num_key_value_heads_per_layer\": [4, 4]}",
          CALC_ERR_RULE, "num_key_value_heads_per_layer: 2 layers, but num_hidden_layers is 12");
    a = small("laguna", ", \"gating\": \"per-element\"", "");
    ck_assert_int_eq(a.output_gate, CALC_OUTPUT_GATE_CHANNEL);
    ck_assert_int_eq(small("laguna", "", "").output_gate, CALC_OUTPUT_GATE_HEAD);
    ck_assert_int_eq(small("laguna", ", \"gating\": false", "").output_gate, CALC_OUTPUT_GATE_NONE);
}

/* ---- What is said and what is not ------------------------------------------------------------ */

CALC_TEST(keys_that_are_not_known_are_named_unless_they_are_null)
{
    small("llama", ", \"wings\": 2", "ignored: wings\n");
    small("llama", ", \"wings\": {\"left\": 1}", "ignored: wings.left\n");
    silent(", \"wings\": null");
    silent(", \"rope_scaling\": {\"wings\": 1}, \"use_cache\": true");
    small("llama", ", \"word_embed_proj_dim\": 32", "word_embed_proj_dim");
}

CALC_TEST(the_text_model_counts_before_what_is_around_it)
{
    const char *text = "{\"model_type\": \"sees\", \"hidden_size\": 7, \"wings\": 1, "
                       "\"text_config\": {\"model_type\": \"qwen3\", " SMALL "}, "
                       "\"tie_word_embeddings\": true, \"vision_config\": {\"depth\": 2, "
                       "\"hidden_size\": 9}}";
    calc_app app;
    remarks all;
    ck_assert_int_eq(read_text(text, &app, &all, NULL), CALC_OK);
    ck_assert_int_eq(app.hidden, 64);
    ck_assert_int_eq(app.tied_embeddings, CALC_CHOICE_TRUE);
    ck_assert(app.qk_norm);
    ck_assert_str_eq(all.text,
                     "sequences of 8192 tokens, as the file says none; seq_size sets another\n"
                     "vision_config is not read: only the text model is\n");
}

CALC_TEST(files_are_known_by_their_type)
{
    const char *yes[] = {"{\"model_type\": \"x\"}", "{\"architectures\": [\"X\"]}"};
    const char *no[] = {
        "{\"hidden\": 1}", "{", "", "[1]", "--model_type x", "{\"a\": {\"model_type\": \"x\"}}"};
    for (size_t i = 0; i < sizeof yes / sizeof *yes; i++) {
        ck_assert_int_eq(calc_hf_is_text(yes[i], strlen(yes[i])), CALC_OK);
    }
    for (size_t i = 0; i < sizeof no / sizeof *no; i++) {
        ck_assert_int_ne(calc_hf_is_text(no[i], strlen(no[i])), CALC_OK);
    }
}

/* ---- Errors ---------------------------------------------------------------------------------- */

CALC_TEST(types_that_are_not_known_are_read_by_their_keys)
{
    calc_app app;
    remarks all;
    const char *more = "\"num_local_experts\": 8, \"num_experts_per_tok\": 2, \"moe_topk\": 2}";
    char text[1024];
    snprintf(text, sizeof text, "{\"model_type\": \"lama\", " SMALL ", %s", more);
    ck_assert_int_eq(read_text(text, &app, &all, NULL), CALC_OK);
    ck_assert_ptr_nonnull(strstr(all.text, "model_type is not known, lama: read by its keys"));
    ck_assert_int_eq(app.num_experts, 8);
    fails("{\n  \"model_type\": \"lama\"}", CALC_ERR_FIELD,
          "\"num_hidden_layers\" is missing: the number of blocks");
}

/* Rows of hf_families.json say what exists: all are read by this test. */
CALC_TEST(families_are_rows)
{
    calc_settings rows = {0};
    calc_errors errors = {0};
    calc_hf_family family;
    int families = 0;
    ck_assert_int_eq(calc_settings_from_json(&rows, calc_hf_families.text, calc_hf_families.length,
                                             "families", &errors),
                     CALC_OK);
    for (size_t i = 0; i < rows.count; i++) {
        char type[CALC_HF_TYPE_SIZE] = "";
        size_t length = strcspn(rows.item[i].key, ".");
        ck_assert_uint_lt(length, sizeof type);
        memcpy(type, rows.item[i].key, length);
        if (i == 0 || strncmp(rows.item[i - 1].key, rows.item[i].key, length + 1) != 0) {
            ck_assert_msg(calc_hf_family_read(&rows, type, &family, &errors) == CALC_OK, "%s: %s",
                          type, errors.item[0].text);
            ck_assert_msg(family.refused || family.row.links == 1 || family.is.norm_type > 0, "%s",
                          type);
            families++;
        }
        if (strstr(rows.item[i].key, ".names.")) { /* other models call it what is read */
            ck_assert_msg(is_read(rows.item[i].value), "%s", rows.item[i].value);
        }
    }
    ck_assert_int_ge(families, 60);
    calc_settings_free(&rows);
}

CALC_TEST(models_that_calc_cannot_say_are_refused_by_their_type)
{
    static const char *const cases[][2] = {{"t5", "an encoder of text"},
                                           {"eagle", "its input, the hidden states"},
                                           {"ouro", "its stack, which every token passes"},
                                           {"jetmoe", "its experts of attention"},
                                           {"rwkv7", "its time mixing"},
                                           {"zamba2", "its blocks that are used several times"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[512], printed[128];
        snprintf(text, sizeof text, "{\"model_type\": \"%s\", " SMALL "}", cases[i][0]);
        snprintf(printed, sizeof printed, "config.json:1:2: model_type: calc has nothing for %s",
                 cases[i][1]);
        fails(text, CALC_ERR_UNSUPPORTED, printed);
    }
    fails("{\"model_type\": \"new\", " SMALL ",\n   \"is_encoder_decoder\": true}",
          CALC_ERR_UNSUPPORTED, "config.json:2:4: is_encoder_decoder: calc does not know this key");
    silent(", \"is_encoder_decoder\": false, \"total_ut_steps\": 0");
    fails("{\"model_type\": \"new\", " SMALL ",\n   \"total_ut_steps\": 4}", CALC_ERR_UNSUPPORTED,
          "config.json:2:4: total_ut_steps: calc does not know this key");
}

/* transformers does not write what its base class has. */
CALC_TEST(tables_of_a_type_that_is_not_known_are_tied_unless_it_says)
{
    static const char what[] = "tie_word_embeddings is absent: taken as true";
    ck_assert_int_eq(small("new", "", what).tied_embeddings, CALC_CHOICE_TRUE);
    ck_assert_int_eq(small("new", ", \"tie_word_embeddings\": false", "not known").tied_embeddings,
                     CALC_CHOICE_AUTO); /* Llama's */
}

CALC_TEST(what_a_model_needs_is_missed_by_name)
{
    fails("{\"model_type\": \"llama\"}", CALC_ERR_FIELD,
          "config.json: \"num_hidden_layers\" is missing: the number of blocks");
    fails("{\"model_type\": \"llama\", \"hidden_size\": 8, \"num_hidden_layers\": 1, "
          "\"num_attention_heads\": 2, \"vocab_size\": 9}",
          CALC_ERR_FIELD, "\"intermediate_size\" is missing");
    fails("{\"model_type\": \"llama\", " SMALL ",\n \"num_attention_heads\": 5}", CALC_ERR_RULE,
          "config.json:2:2: num_attention_heads: 5 does not divide the width 64");
}

CALC_TEST(values_that_cannot_be_are_errors_at_their_place)
{
    static const struct {
        const char *more, *printed;
    } cases[] = {
        {"\"hidden_size\": \"wide\"", "hidden_size: expected a number, found \"wide\""},
        {"\"hidden_size\": 1.5", "hidden_size: expected a whole number, found \"1.5\""},
        {"\"expand\": 1000000001", "expand: expected at most 1e9, found \"1000000001\""},
        {"\"hidden_size\": 0", "hidden_size: expected at least 1, found \"0\""},
        {"\"tie_word_embeddings\": 3", "tie_word_embeddings: expected true or false, found \"3\""},
        {"\"hidden_act\": \"maxout\"", "hidden_act: expected one of silu swish"},
        {"\"sliding_window_pattern\": \"LGLG\"",
         "sliding_window_pattern: expected a number, found \"LGLG\""},
        {"\"topk_method\": \"best\"", "topk_method: expected one of noaux_tc greedy"},
        {"\"resid_pdrop\": 2", "resid_pdrop: expected 0 to 1, found \"2\""},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[512], printed[256];
        snprintf(text, sizeof text, "{\"model_type\": \"llama\", " SMALL ",\n   %s}",
                 cases[i].more);
        snprintf(printed, sizeof printed, "config.json:2:4: %s", cases[i].printed);
        fails(text, CALC_ERR_RANGE, printed);
    }
    fails("{\"model_type\": \"gpt2\", \"n_embd\": 1000000000, \"n_layer\": 1, \"n_head\": 8, "
          "\"vocab_size\": 9}",
          CALC_ERR_RANGE,
          "config.json: feedforward would be 4000000000, expected at most 1000000000");
    fails("{\"model_type\": \"deepseek_v3\", " SMALL ", \"kv_lora_rank\": 8}", CALC_ERR_FIELD,
          "config.json: \"qk_nope_head_dim\" is missing: the width of a key");
    fails("{\"model_type\": \"llama\",}", CALC_ERR_SYNTAX, "config.json:1:");
}

CALC_TEST(an_encoder_has_sizes_that_a_model_may_have)
{
    static const struct {
        const char *sizes, *printed;
    } cases[] = {
        {"\"patch_size\": 1000000",
         "patch_values would be 3000000000000, expected at most 1000000"},
        {"\"patch_size\": 999999999, \"num_channels\": 999999999, \"temporal_patch_size\": "
         "999999999",
         "patch_values would be 1000000000000000, expected at most 1000000"},
        {"\"patch_size\": 14, \"num_hidden_layers\": 20000",
         "num_blocks would be 20000, expected 0, or 1 to 10000"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[1024], printed[256];
        snprintf(text, sizeof text,
                 "{\"model_type\": \"gemma3\", \"text_config\": {" SMALL "}, \"vision_config\": "
                 "{\"model_type\": \"siglip_vision_model\", \"hidden_size\": 64, "
                 "\"num_hidden_layers\": 2, \"num_attention_heads\": 4, \"image_size\": 896, %s}}",
                 cases[i].sizes);
        snprintf(printed, sizeof printed, "config.json: encoder.%s", cases[i].printed);
        fails(text, CALC_ERR_RANGE, printed);
    }
}
