/* Trained weights beside counts that others have published. */
#include "model/operators/adapter.h"

#include "frame.h"
#include "model/operators/parameters.h"
#include "serving_case.h"

static calc_app app;
static calc_exec exec;

static void load(const char *name)
{
    app = shipped_app(name);
    exec = small_exec(1, 1, 1);
    exec.strategy.attention_type =
        app.kv_lora_rank > 0 ? CALC_ATTENTION_TYPE_MULTI_LATENT : CALC_ATTENTION_TYPE_GROUPED_QUERY;
}

#define MODULE(name) (1U << CALC_LORA_MODULES_##name)
enum {
    QKV = MODULE(Q_PROJ) | MODULE(K_PROJ) | MODULE(V_PROJ),
    ATTENTION = QKV | MODULE(O_PROJ) | MODULE(IN_PROJ) | MODULE(OUT_PROJ),
    LATENT = MODULE(Q_A_PROJ) | MODULE(KV_A_PROJ) | MODULE(O_PROJ),
    MLP = MODULE(GATE_PROJ) | MODULE(UP_PROJ) | MODULE(DOWN_PROJ)
};

static double adapters(int64_t rank, uint32_t modules, calc_lora_experts experts)
{
    exec.strategy.trained = CALC_TRAINED_ADAPTERS;
    exec.strategy.lora_rank = rank;
    exec.strategy.lora_modules = modules;
    exec.strategy.lora_experts = experts;
    return calc_parameters_trained(&app, &exec);
}

/* ---- PEFT ------------------------------------------------------------------------------------ */

/* method_comparison/MetaMathQA/results of huggingface/peft at 5d602fdb: trainable parameters. */
CALC_TEST(adapters_are_those_that_peft_counts)
{
    load("llama3.2-3B");
    ck_assert_double_eq(adapters(32, MODULE(Q_PROJ) | MODULE(V_PROJ), 0), 9175040);
    ck_assert_double_eq(adapters(64, MODULE(Q_PROJ) | MODULE(V_PROJ), 0), 18350080);
    ck_assert_double_eq(adapters(10, MLP, 0), 9461760);
    exec.strategy.dora = true;
    ck_assert_double_eq(adapters(32, MODULE(Q_PROJ) | MODULE(V_PROJ), 0), 9289728);
}

/* The same file, of full fine-tuning: tied tables are counted once. */
CALC_TEST(all_weights_are_those_that_peft_counts)
{
    load("llama3.2-3B");
    ck_assert_double_eq(calc_parameters_trained(&app, &exec), 3212749824);
}

/* ---- Megatron-Bridge ------------------------------------------------------------------------- */

/* peft/lora.py: one factor of the input for query, key and value together, one for gate and up. */
CALC_TEST(fused_adapters_have_one_input_factor)
{
    load("llama3-8B");
    const double h = 4096;
    const double kv = 1024;
    const double f = 14336;
    const double r = 8;
    exec.strategy.lora_fused = true;
    ck_assert_double_eq(adapters(8, QKV, 0), 32 * r * (h + h + 2 * kv));
    ck_assert_double_eq(adapters(8, MODULE(GATE_PROJ) | MODULE(UP_PROJ), 0), 32 * r * (h + 2 * f));
    ck_assert_double_eq(adapters(8, MODULE(Q_PROJ) | MODULE(V_PROJ), 0),
                        32 * r * (2 * h + h + kv)) /* not all of a matrix: apart */;
    exec.strategy.lora_fused = false;
    ck_assert_double_eq(adapters(8, QKV, 0), 32 * r * (3 * h + h + 2 * kv));
    ck_assert_double_eq(adapters(8, MODULE(GATE_PROJ) | MODULE(UP_PROJ), 0),
                        32 * r * (2 * h + 2 * f));
}

/* ---- Tinker ---------------------------------------------------------------------------------- */

typedef struct counts {
    const char *model;
    uint32_t attention; /* modules that have adapters */
    double of_attention, of_mlp, of_head;
} counts;

/* Parameters per unit of rank that thinking-machines-lab/tinker-cookbook publishes (9dfcc3a2,
 * tests/downstream_compat/test_cli_and_hyperparam.py). Experts share the factor on the side of the
 * residual stream. Of Nemotron Ultra's mlp it publishes 254,529,536, 0.03 % less than the sum over
 * the matrices of its configuration, which is here. */
static const counts published[] = {
    {"qwen3.5-27B", ATTENTION, 2965504, 4325376, 253440},
    {"qwen3.5-35B-A3B", ATTENTION, 1013760, 16281600, 250368},
    {"qwen3.5-397B-A17B", ATTENTION, 2841600, 96030720, 252416},
    {"nemotron-3-nano-30B-A3B", ATTENTION, 584832, 11346176, 133760},
    {"nemotron-3-super-120B-A12B", ATTENTION, 1675264, 111349760, 135168},
    {"nemotron-3-ultra-550B-A55B", ATTENTION, 4134912, 254607360, 139264},
    {"deepseek-v3-671B", LATENT, 2440000, 94307328, 136448},
    {"kimi-k2.5-1T", LATENT, 1940288, 144583680, 171008},
    {"gpt-oss-120B", ATTENTION, 746496, 40124160, 203968},
    {"gpt-oss-20B", ATTENTION, 497664, 6842880, 203968},
    {"qwen3-30B-A3B", ATTENTION, 835584, 14450688, 153984},
    {"llama3-70B", ATTENTION, 4096000, 8847360, 136448},
};

CALC_TEST_LOOP(adapters_of_a_model_are_those_that_tinker_counts, 0,
               sizeof published / sizeof *published)
{
    const counts *of = &published[_i];
    load(of->model);
    app.mtp_blocks = 0; /* not counted there */
    double attention = adapters(1, of->attention, CALC_LORA_EXPERTS_NONE);
    double mlp = adapters(1, MLP, CALC_LORA_EXPERTS_OUTER);
    double head = adapters(1, MODULE(HEAD), CALC_LORA_EXPERTS_NONE);
    ck_assert_msg(attention == of->of_attention, "%s: attention %.0f", of->model, attention);
    ck_assert_msg(mlp == of->of_mlp, "%s: mlp %.0f", of->model, mlp);
    ck_assert_msg(head == of->of_head, "%s: head %.0f", of->model, head);
}

/* ---- Sums of matrices ------------------------------------------------------------------------ */

/* Qwen3-30B-A3B: 48 layers of 128 experts, 2,048 to 768. */
CALC_TEST(experts_have_one_adapter_or_one_each)
{
    load("qwen3-30B-A3B");
    const double gate_up = 2 * (2048 + 768);
    const double down = 768 + 2048;
    ck_assert_double_eq(adapters(4, MLP, CALC_LORA_EXPERTS_NONE), 0);
    ck_assert_double_eq(adapters(4, MLP, CALC_LORA_EXPERTS_SHARED), 48 * 4 * (gate_up + down));
    ck_assert_double_eq(adapters(4, MLP, CALC_LORA_EXPERTS_EACH), 48 * 4 * 128 * (gate_up + down));
    ck_assert_double_eq(adapters(4, MLP, CALC_LORA_EXPERTS_OUTER),
                        48 * 4 * (2 * 2048 + 2048 + 128 * 3 * 768));
    exec.strategy.lora_fused = true;
    ck_assert_double_eq(adapters(4, MLP, CALC_LORA_EXPERTS_SHARED),
                        48 * 4 * (2048 + 2 * 768 + down));
}

/* The gate of a short convolution is one of the three results of its projection; that of Kimi's
 * delta rule has a low rank, and no adapter. */
CALC_TEST(mixers_have_adapters_of_what_their_projection_makes)
{
    load("lfm2-1.2B"); /* 10 convolutions */
    ck_assert_double_eq(adapters(4, MODULE(IN_PROJ), 0), 10 * 4 * 3 * (2048 + 2048));
    load("kimi-linear-48B-A3B"); /* 20 of 27 layers, 32 heads of 128 */
    ck_assert_double_eq(adapters(4, MODULE(IN_PROJ), 0), 20 * 4 * 3 * (2304 + 4096));
}

/* DeepSeek-V3: 7,168 wide, ranks 1,536 and 512 with 64 of the rotary part, 128 heads. */
CALC_TEST(latent_attention_has_adapters_by_module)
{
    load("deepseek-v3-671B");
    app.mtp_blocks = 0;
    ck_assert_double_eq(adapters(1, MODULE(Q_A_PROJ), 0), 61 * (7168 + 1536));
    ck_assert_double_eq(adapters(1, MODULE(Q_B_PROJ), 0), 61 * (1536 + 128 * 192));
    ck_assert_double_eq(adapters(1, MODULE(KV_A_PROJ), 0), 61 * (7168 + 576));
    ck_assert_double_eq(adapters(1, MODULE(KV_B_PROJ), 0), 61 * (512 + 128 * 256));
    ck_assert_double_eq(adapters(1, MODULE(O_PROJ), 0), 61 * (128 * 128 + 7168));
}

/* A layer that predicts tokens is one more of the last kind, and what joins its inputs is frozen.
 */
CALC_TEST(predicted_tokens_have_the_adapters_of_a_layer)
{
    load("deepseek-v3-671B");
    for (int64_t blocks = 0; blocks < 4; blocks++) {
        app.mtp_blocks = blocks;
        double layers = 61 + (double)blocks, experts = 58 + (double)blocks;
        ck_assert_double_eq(adapters(1, MODULE(Q_A_PROJ), 0), layers * (7168 + 1536));
        ck_assert_double_eq(adapters(2, MODULE(O_PROJ), 0), layers * 2 * (128 * 128 + 7168));
        ck_assert_double_eq(adapters(1, MODULE(DOWN_PROJ), CALC_LORA_EXPERTS_SHARED) -
                                adapters(1, MODULE(DOWN_PROJ), CALC_LORA_EXPERTS_NONE),
                            experts * (2048 + 7168));
    }
}

/* Llama 3 8B: of all matrices but the head, 4,096 to 4,096, 1,024, 1,024 and back, 14,336. */
CALC_TEST(no_list_of_modules_means_all_of_the_blocks)
{
    load("llama3-8B");
    const double each = 4 * 4096 + 2 * 4096 + 2 * 1024 + 3 * (4096 + 14336);
    ck_assert_double_eq(adapters(16, 0, 0), 32 * 16 * each);
    ck_assert_double_eq(adapters(16, MODULE(HEAD), 0), 16 * (4096 + 128256));
    exec.strategy.dora = true;
    const double outputs = 4096 + 2 * 1024 + 4096 + 2 * 14336 + 4096;
    ck_assert_double_eq(adapters(16, 0, 0), 32 * (16 * each + outputs));
}

CALC_TEST(adapters_of_the_last_blocks_are_a_part_of_all)
{
    load("llama3-8B");
    double all = adapters(16, QKV, 0);
    exec.strategy.trained_blocks = 8;
    ck_assert_double_eq(adapters(16, QKV, 0), all / 4);
}

/* A block: query and output 4,096 by 4,096, key and value by 1,024, three of 14,336, two norms. */
CALC_TEST(blocks_and_head_are_trained_alone)
{
    load("llama3-8B");
    const double block = 2.0 * 4096 * 4096 + 2.0 * 4096 * 1024 + 3.0 * 4096 * 14336 + 2 * 4096;
    exec.strategy.trained = CALC_TRAINED_BLOCKS;
    exec.strategy.trained_blocks = 2;
    ck_assert_double_eq(calc_parameters_trained(&app, &exec), 2 * block);
    exec.strategy.trained = CALC_TRAINED_HEAD;
    exec.strategy.trained_blocks = 0;
    ck_assert_double_eq(calc_parameters_trained(&app, &exec), 4096.0 * 128256);
}

/* Ranks that split matrices hold parts of adapters, and one model has as many as before. */
CALC_TEST(how_a_model_is_split_does_not_change_the_count)
{
    load("qwen3-30B-A3B");
    double alone = adapters(4, 0, CALC_LORA_EXPERTS_EACH);
    exec.strategy.tensor_par = 4;
    exec.strategy.expert_par = 8;
    exec.strategy.data_par = 2;
    ck_assert_double_eq(adapters(4, 0, CALC_LORA_EXPERTS_EACH), alone);
}
