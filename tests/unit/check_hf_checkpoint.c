/* Number formats of published weights, from "quantization_config" and hf_quant_config.json. */

#include "frame.h"
#include "hf_case.h"
#include "io/text.h"
#include "scratch.h"

#define F4 CALC_FORMAT_FLOAT4
#define F8 CALC_FORMAT_FLOAT8
#define AUTO CALC_FORMAT_AUTO
#define WEIGHTS(w)                                                                                 \
    {                                                                                              \
        .weight_datatype = (w)                                                                     \
    }
#define BOTH(w, m)                                                                                 \
    {                                                                                              \
        .weight_datatype = (w), .matrix_datatype = (m)                                             \
    }

/* Configurations as their programs write them, and what a layout takes of them. Sources: model
 * cards named in each row; transformers 4.57, utils/quantization_config.py; vLLM 0.11, the readers
 * of each method in model_executor/layers/quantization/. */
static const struct {
    const char *config; /* inside quantization_config */
    calc_checkpoint_formats is;
} configs[] = {
    /* deepseek-ai/DeepSeek-R1 */
    {"\"activation_scheme\": \"dynamic\", \"fmt\": \"e4m3\", \"quant_method\": \"fp8\", "
     "\"weight_block_size\": [128, 128]",
     {F8, F8, CALC_SCALING_BLOCK, AUTO, CALC_WIDE_ATTENTION_NONE}},
    {"\"quant_method\": \"fp8\", \"activation_scheme\": \"static\"", BOTH(F8, F8)},
    {"\"quant_method\": \"fbgemm_fp8\", \"activation_scale_ub\": 1200.0, "
     "\"modules_to_not_convert\": [\"lm_head\"]",
     BOTH(F8, F8)},
    /* RedHatAI/Llama-3.3-70B-Instruct-FP8-dynamic, -quantized.w8a8 and -quantized.w4a16 */
    {"\"quant_method\": \"compressed-tensors\", \"format\": \"float-quantized\", "
     "\"config_groups\": {\"group_0\": {\"targets\": [\"Linear\"], \"weights\": {\"num_bits\": 8, "
     "\"type\": \"float\", \"strategy\": \"channel\"}, \"input_activations\": {\"num_bits\": 8, "
     "\"type\": \"float\", \"dynamic\": true}}}, \"ignore\": [\"lm_head\"]",
     BOTH(F8, F8)},
    {"\"quant_method\": \"compressed-tensors\", \"format\": \"int-quantized\", "
     "\"config_groups\": {\"group_0\": {\"weights\": {\"num_bits\": 8, \"type\": \"int\"}, "
     "\"input_activations\": {\"num_bits\": 8, \"type\": \"int\"}}}",
     BOTH(F8, F8)},
    {"\"quant_method\": \"compressed-tensors\", \"format\": \"pack-quantized\", "
     "\"config_groups\": {\"group_0\": {\"input_activations\": null, \"weights\": {\"num_bits\": "
     "4, \"type\": \"int\", \"strategy\": \"group\", \"group_size\": 128}}}, "
     "\"kv_cache_scheme\": null",
     WEIGHTS(F4)},
    /* blocks, with a cache in 8 bits */
    {"\"quant_method\": \"compressed-tensors\", \"config_groups\": {\"group_0\": {\"weights\": "
     "{\"num_bits\": 8, \"strategy\": \"block\", \"block_structure\": [128, 128]}, "
     "\"input_activations\": {\"num_bits\": 8, \"strategy\": \"group\"}}}, \"kv_cache_scheme\": "
     "{\"num_bits\": 8, \"type\": \"float\", \"dynamic\": false}",
     {F8, F8, CALC_SCALING_BLOCK, F8, CALC_WIDE_ATTENTION_NONE}},
    /* RedHatAI/Qwen3-32B-NVFP4; experts alone are aimed at */
    {"\"quant_method\": \"compressed-tensors\", \"format\": \"nvfp4-pack-quantized\", "
     "\"config_groups\": {\"group_0\": {\"targets\": [\"Linear\"], \"weights\": {\"num_bits\": 4, "
     "\"type\": \"float\", \"group_size\": 16}, \"input_activations\": {\"num_bits\": 4}}}",
     {F4, F4, CALC_SCALING_BLOCK, AUTO, CALC_WIDE_ATTENTION_NONE}},
    {"\"quant_method\": \"compressed-tensors\", \"format\": \"mxfp4-pack-quantized\", "
     "\"config_groups\": {\"group_0\": {\"targets\": [\"re:.*mlp\\\\.experts.*\"], \"weights\": "
     "{\"num_bits\": 4, \"type\": \"float\", \"group_size\": 32}}}",
     {F4, AUTO, CALC_SCALING_TENSOR, AUTO, CALC_WIDE_ATTENTION_ALL}},
    /* moonshotai/Kimi-K2-Thinking: the list has more than a layout says */
    {"\"quant_method\": \"compressed-tensors\", \"config_groups\": {\"group_0\": {\"weights\": "
     "{\"num_bits\": 4}}}, \"ignore\": [\"lm_head\", \"re:.*self_attn.*\", "
     "\"re:.*shared_experts.*\", \"re:.*mlp\\\\.(gate|up|gate_up|down)_proj.*\"]",
     {F4, AUTO, CALC_SCALING_TENSOR, AUTO, CALC_WIDE_ATTENTION_ALL}},
    /* nvidia/MiniMax-M2.5-NVFP4 and others of the Model Optimizer */
    {"\"quant_method\": \"modelopt\", \"quant_algo\": \"NVFP4\", \"kv_cache_scheme\": "
     "{\"dynamic\": false, \"num_bits\": 8, \"type\": \"float\"}, \"ignore\": "
     "[\"model.layers.0.block_sparse_moe.gate\", \"model.layers.0.self_attn*\", \"lm_head\"]",
     {F4, F4, CALC_SCALING_BLOCK, F8, CALC_WIDE_ATTENTION_ALL}},
    {"\"quant_method\": \"modelopt\", \"quant_algo\": \"W4A8_AWQ\"", BOTH(F4, F8)},
    {"\"quant_method\": \"modelopt\", \"quant_algo\": \"W4A16_NVFP4\"", WEIGHTS(F4)},
    {"\"quant_method\": \"modelopt\", \"quant_algo\": \"fp8_pb_wo\"",
     {F8, F8, CALC_SCALING_BLOCK, AUTO, CALC_WIDE_ATTENTION_NONE}},
    /* Qwen/Qwen3-32B-FP8-Static-PerTensor: no method */
    {"\"quant_algo\": \"FP8\", \"kv_cache_scheme\": \"FP8\", \"ignore\": [\"lm_head\"]",
     {F8, F8, CALC_SCALING_TENSOR, F8, CALC_WIDE_ATTENTION_NONE}},
    {"\"quant_method\": \"modelopt\", \"quant_algo\": \"NO_QUANT\", \"kv_cache_quant_algo\": "
     "\"INT8\"",
     {.kv_datatype = F8}},
    /* Qwen/Qwen2.5-72B-Instruct-AWQ, -GPTQ-Int4 and -GPTQ-Int8; those of Intel AutoRound */
    {"\"quant_method\": \"awq\", \"bits\": 4, \"group_size\": 128, \"modules_to_not_convert\": "
     "null, \"version\": \"gemm\", \"zero_point\": true",
     WEIGHTS(F4)},
    {"\"quant_method\": \"gptq\", \"bits\": 4, \"desc_act\": false, \"group_size\": 128",
     WEIGHTS(F4)},
    {"\"quant_method\": \"gptq\", \"bits\": 8, \"group_size\": 128", WEIGHTS(F8)},
    {"\"quant_method\": \"auto-round\", \"bits\": 4, \"data_type\": \"int\", \"sym\": true",
     WEIGHTS(F4)},
    {"\"quant_method\": \"auto-round\", \"bits\": 4, \"act_bits\": 4, \"data_type\": \"mx_fp\"",
     {F4, F4, CALC_SCALING_BLOCK, AUTO, CALC_WIDE_ATTENTION_NONE}},
    /* openai/gpt-oss-120b */
    {"\"quant_method\": \"mxfp4\", \"modules_to_not_convert\": [\"model.layers.*.self_attn\", "
     "\"model.layers.*.mlp.router\", \"model.embed_tokens\", \"lm_head\"]",
     {F4, AUTO, CALC_SCALING_TENSOR, AUTO, CALC_WIDE_ATTENTION_ALL}},
    {"\"quant_method\": \"bitsandbytes\", \"load_in_4bit\": true, \"load_in_8bit\": false, "
     "\"bnb_4bit_quant_type\": \"nf4\"",
     WEIGHTS(F4)},
    {"\"quant_method\": \"bitsandbytes\", \"load_in_4bit\": false, \"load_in_8bit\": true",
     WEIGHTS(F8)},
    /* older ones, without a method */
    {"\"load_in_8bit\": true, \"llm_int8_threshold\": 6.0", WEIGHTS(F8)},
    {"\"bits\": 4, \"group_size\": 128", WEIGHTS(F4)},
    {"\"quant_method\": \"torchao\", \"quant_type\": {\"default\": {\"_type\": "
     "\"Float8DynamicActivationFloat8WeightConfig\", \"_version\": 1}}",
     BOTH(F8, F8)},
    {"\"quant_method\": \"torchao\", \"quant_type\": \"int4_weight_only\"", WEIGHTS(F4)},
    /* amd/Llama-3.3-70B-Instruct-MXFP4-Preview, amd/Llama-3.1-8B-Instruct-FP8-KV */
    {"\"quant_method\": \"quark\", \"global_quant_config\": {\"weight\": {\"dtype\": \"fp4\", "
     "\"qscheme\": \"per_group\", \"group_size\": 32}, \"input_tensors\": {\"dtype\": \"fp4\", "
     "\"is_dynamic\": true}}, \"exclude\": [\"lm_head\"], \"export\": {\"kv_cache_group\": []}",
     {F4, F4, CALC_SCALING_BLOCK, AUTO, CALC_WIDE_ATTENTION_NONE}},
    {"\"quant_method\": \"quark\", \"global_quant_config\": {\"weight\": {\"dtype\": "
     "\"fp8_e4m3\"}, \"input_tensors\": {\"dtype\": \"fp8_e4m3\"}}, \"layer_quant_config\": "
     "{\"*k_proj\": {\"weight\": {\"dtype\": \"fp8_e4m3\"}, \"output_tensors\": {\"dtype\": "
     "\"fp8_e4m3\"}}}, \"export\": {\"kv_cache_group\": [\"*k_proj\", \"*v_proj\"]}",
     {F8, F8, CALC_SCALING_TENSOR, F8, CALC_WIDE_ATTENTION_NONE}},
    /* a list of sparsity alone */
    {"\"quant_method\": \"compressed-tensors\", \"format\": \"dense\", \"sparsity_config\": "
     "{\"format\": \"dense\"}",
     WEIGHTS(AUTO)},
};
enum { CONFIGS = sizeof configs / sizeof *configs };

#define EXPERTS ", \"num_local_experts\": 8, \"num_experts_per_tok\": 2"

static calc_app with(const char *config, const char *remark)
{
    char more[1500];
    snprintf(more, sizeof more, EXPERTS ", \"quantization_config\": {%s}", config);
    return small("mixtral", more, remark);
}

static void has(const calc_app *app, const calc_checkpoint_formats *is, const char *what)
{
    const calc_checkpoint_formats *c = &app->checkpoint;
    ck_assert_msg(c->weight_datatype == is->weight_datatype, "%s: weights %d", what,
                  (int)c->weight_datatype);
    ck_assert_msg(c->matrix_datatype == is->matrix_datatype, "%s: matrices %d", what,
                  (int)c->matrix_datatype);
    ck_assert_msg(c->scaling == is->scaling, "%s: scales %d", what, (int)c->scaling);
    ck_assert_msg(c->kv_datatype == is->kv_datatype, "%s: cache %d", what, (int)c->kv_datatype);
    ck_assert_msg(c->wide_attention == is->wide_attention, "%s: attention %d", what,
                  (int)c->wide_attention);
}

CALC_TEST_LOOP(formats_are_those_of_the_method, 0, CONFIGS)
{
    const calc_checkpoint_formats none = WEIGHTS(AUTO);
    bool some = memcmp(&configs[_i].is, &none, sizeof none) != 0;
    calc_app app = with(configs[_i].config, some ? "served as its checkpoint is: " : "");
    has(&app, &configs[_i].is, configs[_i].config);
}

CALC_TEST(a_model_that_says_nothing_has_none)
{
    const calc_checkpoint_formats none = WEIGHTS(AUTO);
    calc_app app = silent("");
    has(&app, &none, "without");
    app = silent(", \"quantization_config\": null");
    has(&app, &none, "null");
}

/* ---- What stays wide ------------------------------------------------------------------------- */

#define GROUP4                                                                                     \
    "\"quant_method\": \"compressed-tensors\", \"config_groups\": {\"g\": {\"weights\": "          \
    "{\"num_bits\": 4}}}, \"ignore\": "

CALC_TEST(lists_say_which_matrices_of_attention_stay_wide)
{
    static const struct {
        const char *list;
        calc_wide_attention is;
    } lists[] = {
        /* nvidia/DeepSeek-V3.1-NVFP4 */
        {"[\"model.layers.0.self_attn.q_a_proj\", \"model.layers.0.self_attn.q_b_proj\", "
         "\"model.layers.0.self_attn.kv_a_proj_with_mqa\", \"model.layers.0.self_attn.kv_b_proj\"]",
         CALC_WIDE_ATTENTION_INPUTS},
        {"[\"re:.*q_proj\", \"re:.*k_proj\", \"re:.*v_proj\", \"re:.*o_proj\"]",
         CALC_WIDE_ATTENTION_ALL},
        {"[\"re:.*qkv_proj\"]", CALC_WIDE_ATTENTION_INPUTS},
        {"[\"*.attn.*\", \"head\"]", CALC_WIDE_ATTENTION_ALL},
        /* zai-org/GLM-5-FP8: norms and the indexer are no projections */
        {"[\"model.layers.0.self_attn.kv_a_layernorm\", "
         "\"model.layers.0.self_attn.indexer.k_norm\", "
         "\"model.layers.0.self_attn.indexers_proj\", \"model.layers.0.mlp.gate\", "
         "\"model.layers.0.mlp.gate.e_score_correction_bias\", \"lm_head\"]",
         CALC_WIDE_ATTENTION_NONE},
        {"[\"vision_tower*\", \"model.visual.blocks.0.attn.qkv\"]", CALC_WIDE_ATTENTION_NONE},
        {"[\"model.layers.0.linear_attn*\", \"model.layers.3.self_attn*\"]",
         CALC_WIDE_ATTENTION_ALL},
    };
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++) {
        char config[1200];
        snprintf(config, sizeof config, GROUP4 "%s", lists[i].list);
        calc_app app = with(config, "served as its checkpoint is: weights in float4");
        const calc_checkpoint_formats is = {F4, AUTO, CALC_SCALING_TENSOR, AUTO, lists[i].is};
        has(&app, &is, lists[i].list);
    }
}

CALC_TEST(wide_parts_that_a_layout_cannot_say_are_named)
{
    with(GROUP4 "[\"re:.*shared_experts.*\", \"re:.*mlp\\\\.(gate|up|down)_proj.*\"]",
         "wide in the checkpoint, and narrow here: shared experts, dense feed-forward layers\n");
    with(GROUP4 "[\"model.layers.0.*\", \"model.layers.11*\"]",
         "wide in the checkpoint, and narrow here: some layers\n");
    with(GROUP4 "[\"re:.*o_proj\"]",
         "wide in the checkpoint, and narrow here: parts of attention\n");
    /* The layer behind the last is that of multi-token prediction. */
    calc_app app = with(GROUP4 "[\"model.layers.12*\"]", "weights in float4\n");
    ck_assert_int_eq(app.checkpoint.weight_datatype, F4);
}

CALC_TEST(formats_that_layers_do_not_share_are_left_open)
{
    static const char *const several[] = {
        "\"quant_method\": \"modelopt\", \"quant_algo\": \"MIXED_PRECISION\"",
        "\"quant_method\": \"compressed-tensors\", \"config_groups\": {\"a\": {\"weights\": "
        "{\"num_bits\": 8}}, \"b\": {\"weights\": {\"num_bits\": 4}}}",
        GROUP4 "[\"re:.*mlp\\\\.experts.*\"]", /* what is left is attention */
        "\"quant_method\": \"quark\", \"global_quant_config\": {\"weight\": {\"dtype\": \"fp4\"}}, "
        "\"layer_quant_config\": {\"*self_attn*\": {\"weight\": {\"dtype\": \"fp8_e4m3\"}}}",
    };
    const calc_checkpoint_formats none = WEIGHTS(AUTO);
    for (size_t i = 0; i < sizeof several / sizeof *several; i++) {
        calc_app app = with(several[i], "the layers of the checkpoint have several number formats");
        has(&app, &none, several[i]);
    }
    calc_app app = small("llama", ", \"quantization_config\": {" GROUP4 "[\"re:.*mlp.*\"]}",
                         "the layers of the checkpoint have several number formats");
    has(&app, &none, "a dense model");
    /* deepseek-ai/DeepSeek-V4-Flash: experts in 4 bits */
    app = small("mixtral",
                EXPERTS ", \"expert_dtype\": \"fp4\", \"quantization_config\": {\"quant_method\": "
                        "\"fp8\"}",
                "the layers of the checkpoint have several number formats");
    has(&app, &none, "expert_dtype");
}

/* ---- The file beside ------------------------------------------------------------------------- */

static calc_status read_beside(const char *config, const char *beside, calc_app *app, remarks *all,
                               calc_errors *errors)
{
    const calc_hf hf = {
        .name = "config.json", .path = "./config.json", .tell = remember, .context = all};
    char text[1024];
    snprintf(text, sizeof text, "{\"model_type\": \"llama\", " SMALL "%s}", config);
    *all = (remarks){0};
    scratch_write("hf_quant_config.json", beside, strlen(beside));
    return calc_hf_read_text(&hf, text, strlen(text), app, errors);
}

CALC_TEST(the_file_beside_a_configuration_is_read)
{
    char folder[256];
    calc_app app;
    remarks all;
    calc_errors errors = {0};
    char line[1024];
    scratch_enter(folder, sizeof folder);
    /* nvidia/Llama-3.1-70B-Instruct-FP8 */
    ck_assert_int_eq(
        read_beside("",
                    "{\"producer\": {\"name\": \"modelopt\", \"version\": \"0.23.0\"}, "
                    "\"quantization\": {\"quant_algo\": \"FP8\", \"kv_cache_quant_algo\": \"FP8\", "
                    "\"exclude_modules\": [\"lm_head\"]}}",
                    &app, &all, &errors),
        CALC_OK);
    const calc_checkpoint_formats is = {F8, F8, CALC_SCALING_TENSOR, F8, CALC_WIDE_ATTENTION_NONE};
    has(&app, &is, "beside");
    /* Beside another one, it says what that one does not. */
    ck_assert_int_eq(read_beside(", \"quantization_config\": {\"quant_algo\": \"NVFP4\"}",
                                 "{\"quantization\": {\"kv_cache_quant_algo\": \"FP8\", "
                                 "\"exclude_modules\": [\"model.layers.0.self_attn*\"]}}",
                                 &app, &all, &errors),
                     CALC_OK);
    const calc_checkpoint_formats both = {F4, F4, CALC_SCALING_BLOCK, F8, CALC_WIDE_ATTENTION_ALL};
    has(&app, &both, "both");
    ck_assert_int_eq(
        read_beside("", "{\"quantization\": {\n \"quant_algo\": \"FP9\"}}", &app, &all, &errors),
        CALC_ERR_UNSUPPORTED);
    calc_error_print(&errors.item[0], line, sizeof line);
    ck_assert_msg(strstr(line, "./hf_quant_config.json:2:2: quantization.quant_algo: calc does not "
                               "know the algorithm \"FP9\""),
                  "%s", line);
    errors.count = 0;
    ck_assert_int_eq(read_beside("", "{\"quantization\": ", &app, &all, &errors), CALC_ERR_SYNTAX);
    calc_error_print(&errors.item[0], line, sizeof line);
    ck_assert_msg(strstr(line, "./hf_quant_config.json:1:"), "%s", line);
    scratch_leave(folder);
}

/* ---- Errors ---------------------------------------------------------------------------------- */

CALC_TEST(what_nobody_knows_is_named)
{
    static const struct {
        const char *config, *printed;
    } cases[] = {
        {"\"quant_method\": \"aqlm\"",
         "quantization_config.quant_method: calc does not know the method \"aqlm\""},
        {"\"quant_method\": \"modelopt\", \"quant_algo\": \"W3\"",
         "quantization_config.quant_algo: calc does not know the algorithm \"W3\""},
        {"\"quant_method\": \"torchao\", \"quant_type\": \"int2_weight_only\"",
         "quantization_config.quant_type: calc does not know the algorithm \"int2_weight_only\""},
        {"\"quant_method\": \"gptq\", \"bits\": 3",
         "quantization_config.bits: calc does not know the width \"3\""},
        {"\"quant_method\": \"compressed-tensors\", \"config_groups\": {\"g\": {\"weights\": "
         "{\"num_bits\": 6}}}",
         "quantization_config.config_groups.g.weights.num_bits: calc does not know the width "
         "\"6\""},
        {"\"quant_method\": \"fp8\", \"kv_cache_quant_algo\": \"tiny\"",
         "quantization_config.kv_cache_quant_algo: calc does not know the format \"tiny\""},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[1024], line[1024];
        calc_app app;
        remarks all;
        calc_errors errors = {0};
        snprintf(text, sizeof text,
                 "{\"model_type\": \"llama\", " SMALL ",\n\"quantization_config\": {%s}}",
                 cases[i].config);
        ck_assert_int_eq(read_text(text, &app, &all, &errors), CALC_ERR_UNSUPPORTED);
        ck_assert_int_eq(errors.count, 1);
        calc_error_print(&errors.item[0], line, sizeof line);
        ck_assert_msg(strstr(line, cases[i].printed) && strstr(line, "config.json:2:"), "%s", line);
    }
}
