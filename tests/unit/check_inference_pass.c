#include "base/rng.h"
#include "model/serve/inference_pass.h"

#include "frame.h"
#include "serving_case.h"

#include <math.h>
#include <string.h>

/* Relative tolerance where activations of a few megabytes are left out of the expected number. */
static const double few = 2e-3;

#define assert_about(got, want) ck_assert_double_eq_tol(got, want, few *fabs(want))

static calc_inference_pass pass_of(const calc_app *app, const calc_system *system,
                                   const calc_exec *exec, calc_inference_pass_work work)
{
    static calc_inference_pass_model model;
    calc_inference_pass pass;
    calc_inference_pass_model_init(&model, app, system, exec);
    calc_inference_pass_of(&model, &work, &pass);
    return pass;
}

static calc_inference_pass_work decoded(double sequences, double context)
{
    return (calc_inference_pass_work){.sequences = sequences, .queries = 1, .context = context};
}

static calc_inference_pass_work prefilled(double chunk, double cached)
{
    return (calc_inference_pass_work){
        .prompts = 1, .chunk = chunk, .cached = cached, .finished = 1};
}

/* One of 32 replicas has tokens: its own part is as ever, and experts have as many as if all had a
 * 32nd. */
CALC_TEST(replicas_without_tokens_send_none_to_experts)
{
    static calc_inference_pass_model model;
    calc_app app = shipped_app("deepseek-v3-671B");
    calc_system system = memory_bound_system();
    calc_exec exec = serving_exec(CALC_INFERENCE_PHASE_DECODE, 1, 1, 32, 32);
    exec.strategy.expert_par = 32;
    calc_inference_pass_model_init(&model, &app, &system, &exec);
    calc_inference_pass_work all = prefilled(1024, 0), few_tokens = prefilled(32, 0), one = all;
    one.idle = 31.0 / 32;
    const calc_inference_pass_work *const work[] = {&all, &few_tokens, &one};
    calc_operator operators[3][CALC_MAX_OPERATORS];
    size_t count = 0, grouped = 0;
    for (size_t i = 0; i < 3; i++) {
        calc_shape shape = calc_inference_pass_shape(&model, work[i]);
        calc_cost_context context = calc_inference_pass_context(&model, &shape);
        count = calc_inference_pass_block(&model, &context, work[i], CALC_MOE_BLOCK, operators[i]);
    }
    for (size_t k = 0; k < count; k++) {
        bool expert = operators[0][k].kind == CALC_OPERATOR_GROUPED;
        const calc_operator *like = &operators[expert ? 1 : 0][k];
        const calc_operator *o = &operators[2][k];
        grouped += expert;
        ck_assert_str_eq(o->name, like->name);
        ck_assert_double_le(fabs(o->flop[CALC_PASS_FW] - like->flop[CALC_PASS_FW]),
                            few * like->flop[CALC_PASS_FW]);
        ck_assert_double_le(fabs(o->bytes[CALC_PASS_FW] - like->bytes[CALC_PASS_FW]),
                            few * like->bytes[CALC_PASS_FW]);
        ck_assert_double_eq(o->message_bytes, like->message_bytes);
    }
    ck_assert_uint_ge(grouped, 2);
}

/* ---- Bytes ----------------------------------------------------------------------------------- */

/* 70.554e9 parameters, of which the table of 128,256 words is not read, and 4,096 bytes a token
 * and block. */
CALC_TEST(one_sequence_takes_the_time_of_reading_weights_and_cache)
{
    calc_app app = shipped_app("llama3-70B");
    calc_system system = memory_bound_system();
    calc_exec exec = serving_exec(CALC_INFERENCE_PHASE_DECODE, 1, 1, 1, 1);
    double weight_bytes = 2 * (70.553706496e9 - 128256.0 * 8192);
    calc_inference_pass pass = pass_of(&app, &system, &exec, decoded(1, 1000));
    assert_about(pass.latency_s, (weight_bytes + 327680 * 1000.0) / 1e12);
    /* The cache alone: exactly, and per sequence. */
    calc_inference_pass longer = pass_of(&app, &system, &exec, decoded(1, 3000));
    ck_assert_double_eq_tol(longer.latency_s - pass.latency_s, 327680 * 2000.0 / 1e12, 1e-12);
    pass = pass_of(&app, &system, &exec, decoded(8, 1000));
    longer = pass_of(&app, &system, &exec, decoded(8, 3000));
    ck_assert_double_eq_tol(longer.latency_s - pass.latency_s, 8 * 327680 * 2000.0 / 1e12, 1e-12);
}

CALC_TEST(weights_are_read_as_they_are_stored)
{
    calc_app app = shipped_app("llama3-70B");
    calc_system system = memory_bound_system();
    calc_exec exec = serving_exec(CALC_INFERENCE_PHASE_DECODE, 1, 1, 1, 1);
    double wide_s = pass_of(&app, &system, &exec, decoded(1, 1)).latency_s;
    double head_s = 2 * 128256.0 * 8192 / 1e12; /* wide in checkpoints of narrow weights */
    exec.strategy.weight_datatype = CALC_FORMAT_FLOAT8;
    assert_about(pass_of(&app, &system, &exec, decoded(1, 1)).latency_s,
                 (wide_s - head_s) / 2 + head_s);
    exec.strategy.weight_datatype = CALC_FORMAT_FLOAT4;
    assert_about(pass_of(&app, &system, &exec, decoded(1, 1)).latency_s,
                 (wide_s - head_s) * 0.5625 / 2 + head_s);
    /* Projections of attention: queries and outputs 8192 wide, keys and values 2048. */
    double attention_s = 2 * 80 * 8192.0 * (2 * 8192 + 2048) / 1e12;
    exec.inference.wide_attention = CALC_WIDE_ATTENTION_ALL;
    assert_about(pass_of(&app, &system, &exec, decoded(1, 1)).latency_s,
                 (wide_s - head_s - attention_s) * 0.5625 / 2 + head_s + attention_s);
    /* Without that of outputs. */
    double inputs_s = 2 * 80 * 8192.0 * (8192 + 2048) / 1e12;
    exec.inference.wide_attention = CALC_WIDE_ATTENTION_INPUTS;
    assert_about(pass_of(&app, &system, &exec, decoded(1, 1)).latency_s,
                 (wide_s - head_s - inputs_s) * 0.5625 / 2 + head_s + inputs_s);
    exec.inference.wide_attention = CALC_WIDE_ATTENTION_NONE;
    /* Wider than the arithmetic: converted before. */
    exec.strategy.weight_datatype = CALC_FORMAT_FLOAT32;
    ck_assert_double_eq(pass_of(&app, &system, &exec, decoded(1, 1)).latency_s, wide_s);
}

/* Tensor parallelism splits weights and heads; a latent is read whole by every rank. */
CALC_TEST(ranks_read_their_share_of_the_weights_and_a_whole_latent)
{
    calc_app llama = shipped_app("llama3-70B");
    calc_app deepseek = shipped_app("deepseek-v3-671B");
    calc_system system = memory_bound_system();
    calc_exec one = serving_exec(CALC_INFERENCE_PHASE_DECODE, 1, 1, 1, 1);
    calc_exec four = serving_exec(CALC_INFERENCE_PHASE_DECODE, 4, 1, 1, 1);
    assert_about(pass_of(&llama, &system, &four, decoded(1, 5000)).latency_s,
                 pass_of(&llama, &system, &one, decoded(1, 5000)).latency_s / 4);
    double near_s = pass_of(&deepseek, &system, &four, decoded(16, 1000)).latency_s;
    double far_s = pass_of(&deepseek, &system, &four, decoded(16, 2000)).latency_s;
    ck_assert_double_eq_tol(far_s - near_s, 16 * 70272 * 1000.0 / 1e12, 1e-12);
}

/* Of 8 experts, 2 per token: the first token asks for 2, and n - 1 others leave
 * (1 + (n - 1)/8)^-2 of the rest alone; 3 x 4096 x 14336 weights each. */
CALC_TEST(only_experts_that_tokens_are_routed_to_are_read)
{
    calc_app app = shipped_app("mixtral-8x7B");
    calc_system system = memory_bound_system();
    calc_exec exec = serving_exec(CALC_INFERENCE_PHASE_DECODE, 1, 1, 1, 1);
    double expert_s = 32 * 3 * 4096.0 * 14336 * 2 / 1e12;
    double s[6];
    for (int n = 1; n <= 5; n++) {
        s[n] = pass_of(&app, &system, &exec, decoded(n, 1)).latency_s;
    }
    for (int n = 2; n <= 5; n++) {
        double more = 6 * (pow(1 + (n - 2) / 8.0, -2) - pow(1 + (n - 1) / 8.0, -2));
        ck_assert_double_eq_tol(s[n] - s[n - 1], more * expert_s, 0.01 * expert_s);
    }
}

enum { EXPERTS = 256 };

/* Shares of experts whose squared deviation is half of their squared mean: a gamma distribution of
 * shape 2 is a sum of two exponential ones. */
static void draw_shares(calc_rng *rng, double *upto)
{
    double sum = 0;
    for (int e = 0; e < EXPERTS; e++) {
        sum -= log((1 - calc_rng_real(rng)) * (1 - calc_rng_real(rng)));
        upto[e] = sum;
    }
}

static uint32_t draw_expert(calc_rng *rng, const double *upto)
{
    double at = calc_rng_real(rng) * upto[EXPERTS - 1];
    uint32_t e = 0;
    while (upto[e] <= at) {
        e++;
    }
    return e;
}

/* Experts that tokens choose on the busiest of `ranks`: the mean of draws of 8 of 256 experts. */
static double busiest(int ranks, int tokens)
{
    enum { DRAWS = 2000, EACH = 8 };
    double upto[EXPERTS];
    calc_rng rng;
    double sum = 0;
    calc_rng_init(&rng, 20261123, 1);
    for (int d = 0; d < DRAWS; d++) {
        bool asked[EXPERTS] = {false};
        int of_rank[EXPERTS] = {0};
        int most = 0;
        draw_shares(&rng, upto);
        for (int t = 0; t < tokens; t++) {
            bool own[EXPERTS] = {false};
            for (int k = 0; k < EACH;) {
                uint32_t e = draw_expert(&rng, upto);
                k += !own[e];
                of_rank[e * (uint32_t)ranks / EXPERTS] += !own[e] && !asked[e];
                own[e] = asked[e] = true;
            }
        }
        for (int r = 0; r < ranks; r++) {
            most = of_rank[r] > most ? of_rank[r] : most;
        }
        sum += most;
    }
    return sum / DRAWS;
}

/* With 8 ranks all wait for the one with the most experts to read. */
CALC_TEST(ranks_wait_for_the_one_with_most_experts)
{
    static calc_inference_pass_model model;
    calc_app app = shipped_app("deepseek-v3-671B");
    calc_system system = memory_bound_system();
    calc_exec exec = serving_exec(CALC_INFERENCE_PHASE_DECODE, 1, 1, 8, 8);
    calc_operator list[CALC_MAX_OPERATORS];
    exec.strategy.expert_par = 8;
    calc_inference_pass_model_init(&model, &app, &system, &exec);
    for (double each = 1; each <= 8; each *= 2) {
        calc_inference_pass_work work = decoded(each, 1);
        calc_shape shape = calc_inference_pass_shape(&model, &work);
        calc_cost_context context = calc_inference_pass_context(&model, &shape);
        size_t i = 0;
        (void)calc_inference_pass_block(&model, &context, &work, CALC_MOE_BLOCK, list);
        while (strcmp(list[i].name, "experts up") != 0) {
            i++;
        }
        const calc_operator *up = &list[i];
        double elements = up->bytes[CALC_PASS_FW] / shape.element_bytes - up->inputs - up->outputs;
        double read = 32 * elements / up->weights;
        double drawn = busiest(8, (int)(8 * each));
        ck_assert_msg(fabs(read / drawn - 1) < 0.05, "%g tokens: %g, drawn %g", each, read, drawn);
    }
}

static calc_operator experts_up(const calc_app *app, const calc_exec *exec, double undivided)
{
    static calc_inference_pass_model model;
    calc_system system = memory_bound_system();
    calc_operator list[CALC_MAX_OPERATORS];
    calc_exec own = *exec;
    own.inference.traits.experts_undivided = undivided;
    calc_inference_pass_model_init(&model, app, &system, &own);
    calc_inference_pass_work work = prefilled(1000, 0);
    calc_shape shape = calc_inference_pass_shape(&model, &work);
    calc_cost_context context = calc_inference_pass_context(&model, &shape);
    size_t i = 0;
    (void)calc_inference_pass_block(&model, &context, &work, CALC_MOE_BLOCK, list);
    while (strcmp(list[i].name, "experts up") != 0) {
        i++;
    }
    return list[i];
}

/* Share of the tokens that the busiest of `ranks` has, over the mean: of drawn shares. */
static double most_asked(int ranks)
{
    enum { DRAWS = 5000 };
    double upto[EXPERTS];
    calc_rng rng;
    double sum = 0;
    calc_rng_init(&rng, 20261124, 1);
    for (int d = 0; d < DRAWS; d++) {
        double most = 0;
        draw_shares(&rng, upto);
        for (int r = 0; r < ranks; r++) {
            double before = r > 0 ? upto[r * EXPERTS / ranks - 1] : 0;
            most = fmax(most, upto[(r + 1) * EXPERTS / ranks - 1] - before);
        }
        sum += most * ranks / upto[EXPERTS - 1];
    }
    return sum / DRAWS;
}

/* Amdahl: of 8 ranks each computes an eighth of the work and 7/8 of what is not divided more; what
   weights are read is the same. The busiest rank is asked more than that. */
CALC_TEST(ranks_do_not_divide_all_work_of_experts)
{
    calc_app app = shipped_app("deepseek-v3-671B");
    calc_exec exec = serving_exec(CALC_INFERENCE_PHASE_PREFILL, 1, 1, 8, 8);
    exec.strategy.expert_par = 8;
    calc_operator all = experts_up(&app, &exec, 0);
    double weight_bytes = all.bytes[CALC_PASS_FW] - 2 * (all.inputs + all.outputs);
    double mean_flop = 2 * 8 * 1000 * 7168.0 * 2 * 2048;
    ck_assert_double_eq_tol(all.flop[CALC_PASS_FW] / mean_flop, most_asked(8), 0.01);
    for (double undivided = 0.125; undivided <= 1; undivided *= 2) {
        calc_operator o = experts_up(&app, &exec, undivided);
        ck_assert_double_eq_tol((o.flop[CALC_PASS_FW] - all.flop[CALC_PASS_FW]) / mean_flop,
                                7 * undivided, 1e-9);
        ck_assert_double_eq_tol(o.bytes[CALC_PASS_FW] - 2 * (o.inputs + o.outputs), weight_bytes,
                                1e-9 * weight_bytes);
        ck_assert_double_eq(o.weights, all.weights);
    }
    exec.strategy.expert_par = 1;
    all = experts_up(&app, &exec, 0);
    ck_assert_double_eq(experts_up(&app, &exec, 0.5).flop[CALC_PASS_FW], all.flop[CALC_PASS_FW]);
}

/* ---- Arithmetic ------------------------------------------------------------------------------ */

/* 640 FLOP per head and pair expanded, 2176 absorbed (DeepSeek-V2: 128 + 64 and 128; 512 + 64 and
 * 512). */
CALC_TEST(latent_attention_decodes_absorbed_and_prefills_expanded)
{
    calc_app app = shipped_app("deepseek-v3-671B");
    calc_system system = memory_bound_system();
    calc_exec exec = serving_exec(CALC_INFERENCE_PHASE_DECODE, 1, 1, 1, 1);
    double a = pass_of(&app, &system, &exec, decoded(3, 1000)).flop;
    double b = pass_of(&app, &system, &exec, decoded(3, 1100)).flop;
    assert_near(b - a, 61.0 * 3 * 128 * 2176 * 100);
    /* One more token cached: its pairs with 10 new tokens, and its expansion. */
    a = pass_of(&app, &system, &exec, prefilled(10, 1000)).flop;
    b = pass_of(&app, &system, &exec, prefilled(10, 1100)).flop;
    ck_assert_double_eq_tol(b - a, 61.0 * 100 * (128 * 640 * 10 + 2.0 * 512 * 128 * 256), 1);
}

/* A token of a prompt costs the same matrices as a decoded one. */
CALC_TEST(absorbing_costs_what_expanding_a_token_costs)
{
    calc_app app = shipped_app("deepseek-v3-671B");
    calc_system system = memory_bound_system();
    calc_exec exec = serving_exec(CALC_INFERENCE_PHASE_DECODE, 1, 1, 1, 1);
    double fresh = pass_of(&app, &system, &exec, prefilled(1, 0)).flop;
    double next = pass_of(&app, &system, &exec, decoded(1, 0)).flop;
    ck_assert_double_eq_tol(fresh - 61.0 * 128 * 640, next, 1);
}

/* Forward arithmetic of a sequence of 4,096 tokens, block by block as in the training step (golden
 * numbers of the model, rho = (S + 1) / 2S), with the head on one token instead of all. */
CALC_TEST(a_prompt_is_the_forward_pass_with_one_head)
{
    calc_system system = memory_bound_system();
    calc_exec exec = serving_exec(CALC_INFERENCE_PHASE_PREFILL, 1, 1, 1, 1);
    calc_app app = shipped_app("llama3-70B");
    assert_near(pass_of(&app, &system, &exec, prefilled(4096, 0)).flop,
                80 * (7009386627072.0 + 274945015808.0) + 2 * 8192.0 * 128256);
    app = shipped_app("mixtral-8x7B");
    assert_near(pass_of(&app, &system, &exec, prefilled(4096, 0)).flop,
                32 * (3230083842048.0 + 137472507904.0) + 2 * 4096.0 * 32000);
    app = shipped_app("deepseek-v3-671B");
    assert_near(pass_of(&app, &system, &exec, prefilled(4096, 0)).flop,
                3 * 4779761729536.0 + 58 * 4794794115072.0 + 61 * 687362539520.0 +
                    2 * 7168.0 * 129280);
}

/* A window of 1,024 of 8,192 tokens in 52 blocks of 62. */
CALC_TEST(windows_shorten_the_attention_of_prompts)
{
    calc_app app = shipped_app("gemma3-27B");
    calc_system system = memory_bound_system();
    calc_exec exec = serving_exec(CALC_INFERENCE_PHASE_PREFILL, 1, 1, 1, 1);
    double with = pass_of(&app, &system, &exec, prefilled(8192, 0)).flop;
    app.window_size = 0;
    double without = pass_of(&app, &system, &exec, prefilled(8192, 0)).flop;
    double full = 8192.0 * 8193 / 2;
    double windowed = 1024.0 * 1025 / 2 + (8192 - 1024) * 1024.0;
    double heads = (double)app.attn_heads * 4 * (double)app.attn_size;
    assert_near(without - with, 52 * heads * (full - windowed));
}

/* Tokens verified together read weights and cache once. */
CALC_TEST(drafts_are_verified_in_one_reading_of_the_cache)
{
    calc_app app = shipped_app("llama3-70B");
    calc_system system = memory_bound_system();
    calc_exec exec = serving_exec(CALC_INFERENCE_PHASE_DECODE, 1, 1, 1, 1);
    calc_inference_pass_work work = decoded(4, 2000);
    calc_inference_pass one = pass_of(&app, &system, &exec, work);
    work.queries = 4;
    calc_inference_pass four = pass_of(&app, &system, &exec, work);
    assert_near(four.flop, 4 * one.flop);
    ck_assert_double_gt(four.latency_s, one.latency_s);
    ck_assert_double_lt(four.latency_s, 1.01 * one.latency_s);
}

/* ---- Communication and stages ---------------------------------------------------------------- */

/* Two all-reduces a block, one after the embedding, and the gathered logits. */
CALC_TEST(a_step_waits_for_two_all_reduces_a_block)
{
    calc_app app = shipped_app("llama3-70B");
    calc_system system = memory_bound_system();
    calc_exec exec = serving_exec(CALC_INFERENCE_PHASE_DECODE, 8, 1, 1, 1);
    calc_inference_pass fast = pass_of(&app, &system, &exec, decoded(1, 1));
    system.networks[0].latency_s = 1e-5;
    calc_inference_pass slow = pass_of(&app, &system, &exec, decoded(1, 1));
    assert_near(slow.slow.tensor_s, 160e-5);
    ck_assert_double_eq_tol(slow.latency_s - fast.latency_s, 162e-5, 1e-12);
}

/* The messages of b x 8192 numbers between stages, and the stages' times. */
CALC_TEST(a_pass_goes_through_all_stages)
{
    calc_app app = shipped_app("llama3-70B");
    calc_system system = memory_bound_system();
    calc_exec one = serving_exec(CALC_INFERENCE_PHASE_DECODE, 1, 1, 1, 1);
    calc_exec four = serving_exec(CALC_INFERENCE_PHASE_DECODE, 1, 4, 1, 4);
    calc_inference_pass whole = pass_of(&app, &system, &one, decoded(1, 100));
    calc_inference_pass staged = pass_of(&app, &system, &four, decoded(1, 100));
    assert_near(staged.latency_s, whole.latency_s);
    ck_assert_uint_eq(staged.slowest, 2); /* the last, which has the head */
    assert_near(staged.slow.total_s - staged.slow.ends_s, staged.slow.kernel_s);
    system.networks[1].latency_s = 1e-4;
    system.networks[1].bytes_per_s = 16384;
    staged = pass_of(&app, &system, &four, decoded(1, 100));
    assert_near(staged.slow.message_s, 1.0001);
    ck_assert_double_eq_tol(staged.latency_s - whole.latency_s, 4 * 1.0001, 1e-9);
}

CALC_TEST(kernels_of_decoding_are_launched)
{
    calc_app app = shipped_app("llama3-70B");
    calc_system system = memory_bound_system();
    calc_exec exec = serving_exec(CALC_INFERENCE_PHASE_DECODE, 1, 1, 1, 1);
    system.chip.attention.launch_s = 1; /* of training's kernel: not in a decoding step */
    system.chip.host.block_s = 1;       /* a graph needs no host */
    double s = pass_of(&app, &system, &exec, decoded(1, 1)).latency_s;
    system.chip.launch.matrix_s = 1e-3;
    double matrices_s = pass_of(&app, &system, &exec, decoded(1, 1)).latency_s - s;
    ck_assert_double_eq_tol(matrices_s, (4 * 80 + 1) * 1e-3, 1e-9);
    system.chip.launch.matrix_s = 0;
    system.chip.launch.vector_s = 1e-3;
    /* Two norms, two sums, rotation, activation, attention and its sum; embedding, norm, sampling.
     */
    double vectors_s = pass_of(&app, &system, &exec, decoded(1, 1)).latency_s - s;
    ck_assert_double_eq_tol(vectors_s, (8 * 80 + 3) * 1e-3, 1e-9);
}

/* Decoding and a chunk beside it: the weights are read once. */
CALC_TEST(a_mixed_batch_reads_the_weights_once)
{
    calc_app app = shipped_app("llama3-70B");
    calc_system system = memory_bound_system();
    calc_exec exec = serving_exec(CALC_INFERENCE_PHASE_SERVE, 1, 1, 1, 8);
    calc_inference_pass_work work = decoded(8, 1000);
    calc_inference_pass alone = pass_of(&app, &system, &exec, work);
    calc_inference_pass chunk = pass_of(&app, &system, &exec, prefilled(64, 0));
    work.prompts = 1;
    work.chunk = 64;
    work.finished = 1;
    calc_inference_pass both = pass_of(&app, &system, &exec, work);
    assert_near(both.flop, alone.flop + chunk.flop);
    double weights_s = 2 * (70.553706496e9 - 128256.0 * 8192) / 1e12;
    assert_about(alone.latency_s + chunk.latency_s - both.latency_s, weights_s);
}

/* Without flash attention a chunk writes and reads the square of scores. */
CALC_TEST(stored_scores_take_memory_and_time)
{
    calc_app app = shipped_app("llama3-70B");
    calc_system system = memory_bound_system();
    calc_exec exec = serving_exec(CALC_INFERENCE_PHASE_PREFILL, 1, 1, 1, 1);
    calc_inference_pass flash = pass_of(&app, &system, &exec, prefilled(2048, 2048));
    exec.strategy.flash_attention = false;
    calc_inference_pass scores = pass_of(&app, &system, &exec, prefilled(2048, 2048));
    double square = 64 * 2048.0 * 4096;
    assert_near(scores.flop - flash.flop,
                80 * 4 * 128.0 * 64 * (2048.0 * 4096 - (2048 * 2048.0 + 2048 * 2049.0 / 2)));
    ck_assert_double_gt(scores.latency_s - flash.latency_s, 80 * 9 * square / 1e12);
    ck_assert_double_lt(scores.latency_s - flash.latency_s, 80 * 10 * square / 1e12);
}

/* ---- Another place --------------------------------------------------------------------------- */

/* Whatever a model was placed in before, it is as one that is made for the execution. */
CALC_TEST(a_model_that_is_placed_is_that_of_the_execution)
{
    calc_app app = shipped_app("llama3-70B");
    calc_system system = memory_bound_system();
    calc_exec e[5];
    calc_inference_pass_model placed;
    for (size_t i = 0; i < 5; i++) {
        e[i] = serving_exec(CALC_INFERENCE_PHASE_DECODE, 1, i > 0 ? 4 : 1, 1, 8);
    }
    e[2].pipeline_balance = CALC_PIPELINE_BALANCE_ENDS;
    e[3].first_stage_blocks = 17;
    e[4].last_stage_blocks = 5;
    system.networks[1].latency_s = 1e-4;
    calc_inference_pass_model_init(&placed, &app, &system, &e[0]);
    for (size_t i = 0; i < 25; i++) {
        const calc_exec *exec = &e[(i / 5 + i) % 5];
        calc_inference_pass_model made;
        calc_inference_pass a;
        calc_inference_pass b;
        calc_inference_pass_work work = decoded(1, 100);
        calc_inference_pass_model_place(&placed, exec);
        calc_inference_pass_model_init(&made, &app, &system, exec);
        calc_inference_pass_of(&placed, &work, &a);
        calc_inference_pass_of(&made, &work, &b);
        ck_assert_uint_eq(placed.stages.count, made.stages.count);
        ck_assert_double_eq(placed.stages.most_blocks, made.stages.most_blocks);
        ck_assert_double_eq(a.latency_s, b.latency_s);
        ck_assert_double_eq(a.slow.total_s, b.slow.total_s);
    }
}

/* ---- Prompts in 8 bits ----------------------------------------------------------------------- */

/* 1e15 FLOP/s in 16 bits, 3e15 in 8: half and a quarter of them in the attention of prompts. */
static calc_system prompts_in_8_bits(void)
{
    calc_system s = memory_bound_system();
    s.chip.matrix[CALC_DATATYPE_BFLOAT16].flop_per_s = 1e15;
    s.chip.matrix[CALC_DATATYPE_FLOAT8].flop_per_s = 3e15;
    s.chip.serving.prefill =
        (calc_serving_prefill){.memory_efficiency = 1, .efficiency = 0.5, .efficiency_8bit = 0.25};
    return s;
}

/* What the trait saves of a pass. */
static double saved_s(const calc_app *app, const calc_system *system, calc_exec exec,
                      calc_inference_pass_work work)
{
    exec.inference.traits.narrow_prompts = false;
    double wide_s = pass_of(app, system, &exec, work).latency_s;
    exec.inference.traits.narrow_prompts = true;
    return wide_s - pass_of(app, system, &exec, work).latency_s;
}

CALC_TEST(latent_prompts_compute_in_the_8_bits_of_their_cache)
{
    calc_system system = prompts_in_8_bits();
    calc_app app = shipped_app("deepseek-v3-671B");
    calc_exec exec = serving_exec(CALC_INFERENCE_PHASE_PREFILL, 1, 1, 1, 1);
    double flop = 61 * 687362539520.0; /* of attention, as above */
    exec.inference.kv_datatype = CALC_FORMAT_FLOAT8;
    assert_near(saved_s(&app, &system, exec, prefilled(4096, 0)),
                flop / (0.5 * 1e15) - flop / (0.25 * 3e15));
    /* The rate may be worse than that of 16 bits. */
    system.chip.serving.prefill.efficiency_8bit = 0.1;
    assert_near(saved_s(&app, &system, exec, prefilled(4096, 0)),
                flop / (0.5 * 1e15) - flop / (0.1 * 3e15));
}

CALC_TEST(other_passes_are_as_wide_as_ever)
{
    const calc_system system = prompts_in_8_bits();
    calc_system other = system;
    calc_app app = shipped_app("deepseek-v3-671B"), llama = shipped_app("llama3-70B");
    calc_exec exec = serving_exec(CALC_INFERENCE_PHASE_PREFILL, 1, 1, 1, 1), wide = exec;
    calc_inference_pass_work prompt = prefilled(4096, 0);
    exec.inference.kv_datatype = CALC_FORMAT_FLOAT8;
    ck_assert_double_gt(saved_s(&app, &system, exec, prompt), 0);
    ck_assert_double_eq(saved_s(&app, &system, exec, decoded(16, 1000)), 0);
    ck_assert_double_eq(saved_s(&llama, &system, exec, prompt), 0);
    ck_assert_double_eq(saved_s(&app, &system, wide, prompt), 0);
    wide.inference.kv_datatype = CALC_FORMAT_FLOAT16;
    ck_assert_double_eq(saved_s(&app, &system, wide, prompt), 0);
    other.chip.serving.prefill.efficiency_8bit = 0;
    ck_assert_double_eq(saved_s(&app, &other, exec, prompt), 0);
    /* Nor does the rate change anything without the trait. */
    ck_assert_double_eq(pass_of(&app, &other, &exec, prompt).latency_s,
                        pass_of(&app, &system, &exec, prompt).latency_s);
    other = system;
    other.chip.matrix[CALC_DATATYPE_FLOAT8].flop_per_s = 0;
    ck_assert_double_eq(saved_s(&app, &other, exec, prompt), 0);
}
