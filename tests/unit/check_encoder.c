/* Encoders of images: their weights beside those of published files, their arithmetic and memory
 * beside closed forms. */
#include "frame.h"
#include "hf_case.h"
#include "serving_case.h"

/* ---- Counts ---------------------------------------------------------------------------------- */

#define QWEN_TEXT(type, layers, hidden, ffn, heads, kv, words, more)                               \
    "\"model_type\": \"" type "\", \"hidden_size\": " #hidden ", \"num_hidden_layers\": " #layers  \
    ", \"intermediate_size\": " #ffn ", \"num_attention_heads\": " #heads                          \
    ", \"num_key_value_heads\": " #kv ", \"vocab_size\": " #words                                  \
    ", \"tie_word_embeddings\": false, \"max_position_embeddings\": 8192" more
#define QWEN3_TOWER                                                                                \
    "\"depth\": 27, \"hidden_size\": 1152, \"in_channels\": 3, \"intermediate_size\": 4304, "      \
    "\"num_heads\": 16, \"num_position_embeddings\": 2304, \"patch_size\": 16, "                   \
    "\"spatial_merge_size\": 2, \"temporal_patch_size\": 2"
#define LLAMA4_TOWER                                                                               \
    "\"model_type\": \"llama4_vision_model\", \"hidden_size\": 1408, \"image_size\": 336, "        \
    "\"intermediate_size\": 5632, \"num_attention_heads\": 16, \"num_channels\": 3, "              \
    "\"num_hidden_layers\": 34, \"patch_size\": 14, \"pixel_shuffle_ratio\": 0.5, "                \
    "\"projector_output_dim\": 4096"
#define CLIP_TOWER                                                                                 \
    "\"model_type\": \"clip_vision_model\", \"hidden_size\": 1024, \"image_size\": 336, "          \
    "\"intermediate_size\": 4096, \"num_attention_heads\": 16, \"num_hidden_layers\": 24, "        \
    "\"patch_size\": 14"

/* Totals are those of the tensors that Hugging Face's hub counts in the published files; towers
 * alone are sums over the tensors of the modules in transformers. */
static const struct {
    const char *text;
    double total; /* with the text model; 0: not compared */
    double encoder;
} published[] = {
    /* Qwen2.5-VL-7B-Instruct: windows in all but four blocks. */
    {"{" QWEN_TEXT("qwen2_5_vl", 28, 3584, 18944, 28, 4, 152064,
                   ", \"vision_config\": {\"depth\": 32, \"hidden_size\": 1280, "
                   "\"intermediate_size\": 3420, \"num_heads\": 16, \"in_chans\": 3, "
                   "\"patch_size\": 14, \"spatial_merge_size\": 2, \"window_size\": 112, "
                   "\"fullatt_block_indexes\": [7, 15, 23, 31], \"temporal_patch_size\": 2}") "}",
     8292166656, 676550144},
    /* Qwen3-VL-8B-Instruct: projectors behind three of its blocks, too. */
    {"{\"model_type\": \"qwen3_vl\", \"text_config\": {" QWEN_TEXT(
         "qwen3_vl_text", 36, 4096, 12288, 32, 8, 151936,
         ", \"head_dim\": 128") "}, \"vision_config\": {\"model_type\": \"qwen3_vl\", "
                                "\"deepstack_visual_indexes\": [8, 16, 24], " QWEN3_TOWER "}}",
     8767123696, 576388336},
    /* Qwen3.5-27B's tower, in front of a model as wide. */
    {"{" QWEN_TEXT("qwen3", 2, 5120, 64, 32, 8, 100,
                   ", \"vision_config\": {\"model_type\": \"qwen3_5\", "
                   "\"deepstack_visual_indexes\": [], " QWEN3_TOWER "}") "}",
     0, 460730096},
    /* gemma-3-4b-it: 16 patches to a token. */
    {"{\"model_type\": \"gemma3\", \"mm_tokens_per_image\": 256, \"text_config\": {\"model_type\": "
     "\"gemma3_text\", \"hidden_size\": 2560, \"intermediate_size\": 10240, "
     "\"num_hidden_layers\": 34, \"sliding_window\": 1024}, \"vision_config\": {\"model_type\": "
     "\"siglip_vision_model\", \"hidden_size\": 1152, \"image_size\": 896, "
     "\"intermediate_size\": 4304, \"num_attention_heads\": 16, \"num_hidden_layers\": 27, "
     "\"patch_size\": 14, \"vision_use_head\": false}}",
     4300079472, 419816304},
    /* InternVL3-8B. */
    {"{\"model_type\": \"internvl_chat\", \"downsample_ratio\": 0.5, \"llm_config\": {" QWEN_TEXT(
         "qwen2", 28, 3584, 18944, 28, 4, 151674,
         "") "}, \"vision_config\": {\"model_type\": \"intern_vit_6b\", \"hidden_size\": 1024, "
             "\"image_size\": 448, \"intermediate_size\": 4096, \"num_attention_heads\": 16, "
             "\"num_hidden_layers\": 24, \"patch_size\": 14, \"qkv_bias\": true}}",
     7944373760, 331552768},
    /* The same as transformers writes it. */
    {"{\"model_type\": \"internvl\", \"downsample_ratio\": 0.5, \"text_config\": {" QWEN_TEXT(
         "qwen2", 28, 3584, 18944, 28, 4, 151674,
         "") "}, \"vision_config\": {\"model_type\": \"internvl_vision\", \"hidden_size\": 1024, "
             "\"image_size\": [448, 448], \"intermediate_size\": 4096, "
             "\"num_attention_heads\": 16, \"num_hidden_layers\": 24, \"patch_size\": [14, 14], "
             "\"layer_scale_init_value\": 0.1, \"attention_bias\": true}}",
     7944373760, 331552768},
    /* llava-1.5-7b-hf. */
    {"{\"model_type\": \"llava\", \"text_config\": {" QWEN_TEXT(
         "llama", 32, 4096, 11008, 32, 32, 32064, "") "}, "
                                                      "\"vision_config\": {" CLIP_TOWER "}}",
     7063427072, 324487168},
    /* pixtral-12b-hf and Mistral-Small-3.1-24B: towers whose files say next to nothing. */
    {"{\"model_type\": \"llava\", \"text_config\": {\"model_type\": \"mistral\", "
     "\"hidden_size\": 5120, \"intermediate_size\": 14336, \"num_hidden_layers\": 40, "
     "\"num_key_value_heads\": 8, \"head_dim\": 128, \"vocab_size\": 131072, "
     "\"num_attention_heads\": 32}, \"vision_config\": {\"model_type\": \"pixtral\"}}",
     12682739712, 434957312},
    {"{\"model_type\": \"mistral3\", \"multimodal_projector_bias\": false, "
     "\"spatial_merge_size\": 2, \"text_config\": {\"model_type\": \"mistral\", "
     "\"hidden_size\": 5120, \"intermediate_size\": 32768, \"num_hidden_layers\": 40, "
     "\"num_key_value_heads\": 8, \"head_dim\": 128, \"vocab_size\": 131072, "
     "\"num_attention_heads\": 32, \"tie_word_embeddings\": false}, "
     "\"vision_config\": {\"model_type\": \"pixtral\", \"patch_size\": 14}}",
     24011361280, 438958080},
    /* Kimi-VL-A3B. The published files count 1,728 more; of which tensors is not known. */
    {"{\"model_type\": \"kimi_vl\", \"text_config\": {" QWEN_TEXT(
         "deepseek_v3", 27, 2048, 11264, 16, 16, 163840,
         ", \"moe_intermediate_size\": 1408, \"kv_lora_rank\": 512, \"qk_nope_head_dim\": 128, "
         "\"qk_rope_head_dim\": 64, \"v_head_dim\": 128, \"n_routed_experts\": 64, "
         "\"n_shared_experts\": 2, \"num_experts_per_tok\": 6, \"first_k_dense_replace\": 1, "
         "\"topk_method\": \"noaux_tc\"") "}, \"vision_config\": {\"model_type\": \"moonvit\", "
                                          "\"hidden_size\": 1152, \"intermediate_size\": 4304, "
                                          "\"num_attention_heads\": 16, \"num_hidden_layers\": 27, "
                                          "\"init_pos_emb_height\": 64, \"init_pos_emb_width\": "
                                          "64, "
                                          "\"merge_kernel_size\": [2, 2], \"patch_size\": 14}}",
     16407657776 - 1728, 447545840},
    /* Llama 4's, in front of a model as wide. */
    {"{" QWEN_TEXT("llama", 2, 5120, 64, 40, 8, 100, ", \"vision_config\": {" LLAMA4_TOWER "}") "}",
     0, 871932416},
};

CALC_TEST(published_files_have_as_many_weights)
{
    for (size_t i = 0; i < sizeof published / sizeof *published; i++) {
        calc_app app;
        calc_errors errors = {0};
        remarks all;
        calc_parameters count;
        ck_assert_msg(read_text(published[i].text, &app, &all, &errors) == CALC_OK, "%s",
                      errors.item[0].text);
        calc_count_parameters(&app, &count);
        ck_assert_double_eq(count.encoder, published[i].encoder);
        if (published[i].total > 0) {
            ck_assert_double_eq(count.total + count.encoder, published[i].total);
        }
        ck_assert_ptr_null(strstr(all.text, "vision_config"));
    }
}

CALC_TEST(towers_of_a_kind_that_is_not_known_are_left_out_and_named)
{
    calc_app app = small("llama", ", \"vision_config\": {\"model_type\": \"mobilenet\"}",
                         "vision_config is not read");
    ck_assert_int_eq(app.encoder.hidden, 0);
    app = small("llama", ", \"vision_config\": {" CLIP_TOWER ", \"expert_layers\": 3}",
                "vision_config.expert_layers is not modelled");
    ck_assert_int_eq(app.encoder.hidden, 1024);
}

CALC_TEST(sizes_of_a_tower_that_are_none_have_their_place)
{
    static const struct {
        const char *more, *text;
    } wrong[] = {{"\"depth\": 2.5", "vision_config.depth: expected a whole number of at least 1"},
                 {"\"depth\": 0", "vision_config.depth: expected a whole number of at least 1"},
                 {"\"pixel_shuffle_ratio\": 2", "expected more than 0, at most 1, found \"2\""}};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        char text[512];
        calc_app app;
        remarks all;
        calc_errors errors = {0};
        snprintf(text, sizeof text,
                 "{\"model_type\": \"llama\", " SMALL
                 ",\n \"vision_config\": {\"model_type\": \"clip_vision_model\", %s}}",
                 wrong[i].more);
        ck_assert_int_eq(read_text(text, &app, &all, &errors), CALC_ERR_RANGE);
        ck_assert_ptr_nonnull(strstr(errors.item[0].text, wrong[i].text));
        ck_assert_int_eq(errors.item[0].line, 2);
    }
}

/* ---- Steps ----------------------------------------------------------------------------------- */

static calc_app app;
static calc_system sys;
static calc_exec exec;

/* 1,024 patches of an image, 256 tokens of it, in front of Llama 3 8B. */
enum { PATCHES = 1024, L = 27, H = 1152, I = 4304, MERGED = 4 * H, h = 4096 };

static void setup(void)
{
    calc_errors errors = {0};
    app = shipped_app("llama3-8B");
    app.encoder = (calc_encoder){.hidden = H,
                                 .num_blocks = L,
                                 .feedforward = I,
                                 .attn_heads = 16,
                                 .patch_values = 1536,
                                 .positions = 2304,
                                 .patches = PATCHES,
                                 .merge = 4,
                                 .projector_layers = 1,
                                 .projector_width = MERGED,
                                 .projector_bias = true};
    ck_assert_int_eq(
        calc_load(CALC_KIND_SYSTEM, &sys, CALC_DATA_DIR_SOURCE "/systems/h100_sxm.json", &errors),
        CALC_OK);
    exec = small_exec(1, 1, 2);
    exec.training = true;
    exec.batch_size = 8;
    exec.microbatch_size = 2;
    exec.strategy.datatype = CALC_DATATYPE_BFLOAT16;
    exec.strategy.attention_type = CALC_ATTENTION_TYPE_GROUPED_QUERY;
    exec.strategy.flash_attention = true;
    exec.strategy.memory_model = CALC_MEMORY_MODEL_MEGATRON;
    exec.strategy.activation_recompute = CALC_ACTIVATION_RECOMPUTE_NONE;
    exec.strategy.images_per_sequence = 3;
}

const calc_test_frame calc_tests = {.setup = setup, .timeout_s = 60};

static calc_stats run(void)
{
    calc_errors errors = {0};
    calc_stats stats;
    ck_assert_msg(calc_check(&app, &sys, &exec, &errors) == CALC_OK, "%s", errors.item[0].text);
    calc_run(&app, &sys, &exec, CALC_COMPAT_NONE, &stats);
    return stats;
}

static calc_stats run_with(double images)
{
    double before = exec.strategy.images_per_sequence;
    exec.strategy.images_per_sequence = images;
    calc_stats s = run();
    exec.strategy.images_per_sequence = before;
    return s;
}

/* Forward, as Megatron-Bridge counts an image (utils/flop_utils.py, vit_flops), and the patches'
 * projection. */
static double tower_flop(void)
{
    return PATCHES * (L * (8.0 * H * H + 4.0 * H * I) + 4.0 * H * L * PATCHES + 2.0 * 1536 * H);
}

static double projector_flop(void)
{
    return PATCHES / 4 * (2.0 * MERGED * MERGED + 2.0 * MERGED * h);
}

static double tower_weights(void)
{
    double block = 4.0 * H * H + 2.0 * H * I + 4 * H + H + I + 4 * H;
    return L * block + 1536.0 * H + 2304.0 * H;
}

static double projector_weights(void)
{
    return (double)MERGED * MERGED + MERGED + (double)MERGED * h + h;
}

CALC_TEST(an_image_is_as_much_arithmetic_as_frameworks_count)
{
    double images = 3 * 8;
    double text = run_with(0).model_flops;
    const struct {
        calc_encoder_trained trained;
        double times_tower, times_projector;
    } cases[] = {{CALC_ENCODER_TRAINED_ALL, 3, 3},
                 {CALC_ENCODER_TRAINED_PROJECTOR, 1, 3},
                 {CALC_ENCODER_TRAINED_NONE, 1, 1}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        exec.strategy.encoder_trained = cases[i].trained;
        double want = images * (cases[i].times_tower * tower_flop() +
                                cases[i].times_projector * projector_flop());
        ck_assert_double_eq_tol(run().model_flops - text, want, 1e-9 * want);
    }
    exec.strategy.encoder_trained = CALC_ENCODER_TRAINED_ALL;
    exec.strategy.trained = CALC_TRAINED_ADAPTERS; /* the encoder is frozen with the rest */
    exec.strategy.lora_rank = 8;
    double want = images * (tower_flop() + projector_flop());
    ck_assert_double_eq_tol(run().model_flops - run_with(0).model_flops, want, 1e-9 * want);
}

/* Weights more than those of the tower of setup(): LayerNorms with biases, GELU, biases, no norms
 * of queries and keys, heads of 72. */
CALC_TEST(fields_of_the_tower_count_as_those_of_a_model_do)
{
    const struct {
        calc_encoder change;
        double weights; /* of a block */
    } cases[] = {
        {{.ffn_type = CALC_FFN_TYPE_GELU}, 0},
        {{.ffn_type = CALC_FFN_TYPE_SWIGLU}, (double)H * I + I}, /* gate and up, with biases */
        {{.norm_type = CALC_NORM_TYPE_LAYER}, 0},
        {{.norm_type = CALC_NORM_TYPE_RMS}, -2.0 * H},
        {{.bias = CALC_CHOICE_TRUE}, 0},
        {{.bias = CALC_CHOICE_FALSE}, -(5.0 * H + I)},
        {{.qk_norm = true}, 2 * 72},
        {{.attn_size = 72}, 0},
        {{.attn_size = 144}, 4.0 * H * H + 3 * H},
        {{.position_type = CALC_POSITION_TYPE_NONE}, 0},
        {{.position_type = CALC_POSITION_TYPE_ROPE}, 0},
    };
    const calc_encoder plain = app.encoder;
    calc_parameters none, with;
    calc_count_parameters(&app, &none);
    double none_s = run().total_time;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const calc_encoder *c = &cases[i].change;
        app.encoder = plain;
        app.encoder.ffn_type = c->ffn_type;
        app.encoder.norm_type = c->norm_type;
        app.encoder.bias = c->bias;
        app.encoder.qk_norm = c->qk_norm;
        app.encoder.attn_size = c->attn_size;
        app.encoder.position_type = c->position_type;
        calc_count_parameters(&app, &with);
        ck_assert_double_eq(with.encoder - none.encoder, L * cases[i].weights);
        double with_s = run().total_time;
        bool turned = c->position_type == CALC_POSITION_TYPE_ROPE; /* no weights, but time */
        ck_assert((turned || cases[i].weights != 0) == (with_s != none_s));
        ck_assert(!turned || with_s > none_s);
    }
}

CALC_TEST(windows_bound_what_a_patch_attends_to)
{
    double whole = run().model_flops;
    app.encoder.window = 64;
    app.encoder.full_blocks = 3;
    double want = 3 * 24 * 4.0 * H * PATCHES * (L - 3) * (PATCHES - 64);
    ck_assert_double_eq_tol(whole - run().model_flops, want, 1e-9 * want);
    app.encoder.window = PATCHES;
    ck_assert_double_eq(run().model_flops, whole);
}

CALC_TEST(weights_are_held_and_trained_as_the_layout_says)
{
    calc_encoder encoder = app.encoder;
    double tower = tower_weights(), projector = projector_weights();
    app.encoder.hidden = app.encoder.num_blocks = app.encoder.feedforward = app.encoder.attn_heads =
        0;
    calc_stats none = run_with(0);
    app.encoder = encoder;
    const double trained[] = {tower + projector, projector, 0};
    for (int i = 0; i < CALC_ENCODER_TRAINED_COUNT; i++) {
        exec.strategy.encoder_trained = (calc_encoder_trained)i;
        calc_stats s = run();
        ck_assert_double_eq_tol(s.weight_space - none.weight_space, 2 * (tower + projector), 1);
        ck_assert_double_eq_tol(s.optimizer_space - none.optimizer_space, 12 * trained[i], 16);
        ck_assert_double_eq_tol(s.weight_grad_space - none.weight_grad_space, 4 * trained[i], 16);
    }
}

/* All ranks of tensor parallelism hold it whole, and do the same work. */
CALC_TEST(tensor_parallelism_does_not_split_it)
{
    calc_encoder encoder = app.encoder;
    exec.num_procs = 4;
    exec.strategy.tensor_par = 2;
    calc_stats with = run(), without = run_with(0);
    double slower_s = with.total_time - without.total_time;
    app.encoder = (calc_encoder){0};
    ck_assert_double_eq_tol(with.weight_space - run_with(0).weight_space,
                            2 * (tower_weights() + projector_weights()), 1);
    app.encoder = encoder;
    exec.num_procs = 2;
    exec.strategy.tensor_par = 1;
    ck_assert_double_eq_tol(run().total_time - run_with(0).total_time, slower_s, 1e-6 * slower_s);
}

CALC_TEST(without_images_no_step_is_slower)
{
    calc_encoder encoder = app.encoder;
    exec.num_procs = 1; /* nothing is reduced */
    exec.strategy.data_par = 1;
    exec.strategy.encoder_trained = CALC_ENCODER_TRAINED_NONE;
    double with_s = run_with(0).total_time;
    exec.strategy.encoder_trained = CALC_ENCODER_TRAINED_ALL;
    app.encoder = (calc_encoder){0};
    ck_assert_double_eq(with_s, run_with(0).total_time);
    app.encoder = encoder;
    ck_assert_double_gt(run().total_time, with_s);
}

/* Full recomputation stores the input of each block, of all micro-batches in flight; a frozen tower
 * stores nothing. */
CALC_TEST(activations_of_images_are_stored_on_the_first_stage)
{
    exec.num_procs = 4;
    exec.pipeline_par = 4;
    exec.strategy.data_par = 1;
    exec.strategy.activation_recompute = CALC_ACTIVATION_RECOMPUTE_FULL;
    double image = 2.0 * PATCHES * H * L;
    double stored = run().act_checkpoint_size - run_with(0).act_checkpoint_size;
    ck_assert_double_eq_tol(stored, 4 * 2 * 3 * image, 1e-9 * stored);
    exec.strategy.encoder_trained = CALC_ENCODER_TRAINED_NONE;
    ck_assert_double_eq(run().act_checkpoint_size, run_with(0).act_checkpoint_size);
    exec.strategy.encoder_trained = CALC_ENCODER_TRAINED_ALL;
    exec.strategy.activation_recompute = CALC_ACTIVATION_RECOMPUTE_NONE;
    double all = run().act_space - run_with(0).act_space;
    ck_assert_double_gt(all, 8 * stored);
    ck_assert_double_lt(all, 24 * stored);
}

/* Engines split its weights over the ranks of tensor parallelism, in 16 bits. */
CALC_TEST(engines_hold_it_in_16_bits)
{
    calc_encoder encoder = app.encoder;
    exec = serving_exec(CALC_INFERENCE_PHASE_DECODE, 2, 1, 1, 8);
    exec.strategy.weight_datatype = CALC_FORMAT_FLOAT8;
    double with = run().weight_space;
    app.encoder = (calc_encoder){0};
    double want = (tower_weights() + projector_weights()) * 2 / 2;
    ck_assert_double_eq_tol(with - run().weight_space, want, 1);
    app.encoder = encoder;
}

/* ---- What is refused ------------------------------------------------------------------------- */

static void refuses(const char *what)
{
    calc_errors errors = {0};
    ck_assert_int_eq(calc_check(&app, &sys, &exec, &errors), CALC_ERR_RULE);
    ck_assert_msg(strstr(errors.item[0].text, what), "%s", errors.item[0].text);
    ck_assert_int_eq(errors.count, 1);
}

CALC_TEST(what_an_encoder_needs_is_asked_for)
{
    app.encoder.feedforward = 0;
    refuses("an encoder needs it");
    app.encoder.feedforward = I;
    app.encoder.patches = 0;
    refuses("neither the layout nor the model says it");
    exec.strategy.patches_per_image = 256;
    run();
    app.encoder = (calc_encoder){0};
    refuses("the model has no encoder of images");
    exec.strategy.images_per_sequence = 0;
    exec.strategy.encoder_trained = CALC_ENCODER_TRAINED_NONE; /* true of none, too */
    run();
}

CALC_TEST(what_is_not_modelled_is_refused)
{
    exec = serving_exec(CALC_INFERENCE_PHASE_DECODE, 2, 1, 1, 8);
    exec.strategy.images_per_sequence = 1;
    refuses("encoding the images of requests is not modelled");
}
