/* Times of recurrences and of the states of linear mixers, by arithmetic that is done here. */
#include <math.h>
#include <string.h>

#include "model/cost/cost_kernel.h"
#include "model/operators/transformer.h"
#include "model/serve/inference_pass.h"

#include "frame.h"
#include "serving_case.h"

/* Vector and matrix engines, memory and launches take no time: chunks alone do. */
static calc_system chunks_only(void)
{
    calc_system s = memory_bound_system();
    s.chip.mem1.bytes_per_s = 1e100;
    return s;
}

/* Bytes per token of 32 value heads of 128 behind 16 key heads: 8,192 channels in and 4,096 out,
 * twice each, and a 64th of the states written and read in 32 bits. */
#define GATED_DELTA_BYTES (2 * 2 * (8192.0 + 4096) + 8 * 32 * 128 * 128 / 64.0)

static calc_operator operator_of(const calc_app *app, const calc_system *system, const char *name,
                                 int64_t sequences, int64_t tokens)
{
    const calc_exec exec = serving_exec(CALC_INFERENCE_PHASE_NONE, 1, 1, 1, 1);
    const calc_shape shape = calc_shape_of(app, &exec.strategy, sequences, tokens);
    const calc_recipe recipe = {
        .kind = CALC_MOE_BLOCK, .shape = &shape, .chip = &system->chip, .strategy = &exec.strategy};
    calc_operator o[CALC_MAX_OPERATORS];
    size_t count = calc_transformer_block(&recipe, o), i = 0;
    while (i < count && (o[i].name == NULL || strcmp(o[i].name, name) != 0)) {
        i++;
    }
    ck_assert_msg(i < count, "no operator %s", name);
    return o[i];
}

static double operator_s(const calc_app *app, const calc_system *system, const char *name,
                         int64_t sequences, int64_t tokens, calc_pass pass)
{
    const calc_exec exec = serving_exec(CALC_INFERENCE_PHASE_NONE, 1, 1, 1, 1);
    const calc_shape shape = calc_shape_of(app, &exec.strategy, sequences, tokens);
    calc_cost_context c = calc_cost_context_of(system, &exec, &shape, CALC_COMPAT_NONE);
    const calc_operator o = operator_of(app, system, name, sequences, tokens);
    return calc_cost_kernel_s(&c, &o, pass);
}

/* 8 operations for each of 32 heads of 128, and twice as many backwards; a weight per place in a
 * head. */
CALC_TEST(outputs_of_a_recurrence_are_normalized_and_gated)
{
    calc_app app = shipped_app("qwen3-next-80B-A3B");
    calc_system system = chunks_only();
    calc_operator o = operator_of(&app, &system, "mixer norm", 2, 1024);
    double elements = 2 * 1024 * 32 * 128;
    assert_near(o.flop[CALC_PASS_FW], 8 * elements);
    assert_near(o.flop[CALC_PASS_AGRAD], 16 * elements);
    assert_near(o.weights, 128);
    /* A recurrence keeps channels, outputs, and for each head queries, keys, a chunk and gates. */
    o = operator_of(&app, &system, "recurrence", 2, 1024);
    assert_near(o.kept_bytes, 2 * 1024 * 2.0 * (8192 + 4096 + 32 * (128 + 128 + 64 + 2)));
}

/* Ranks of a context swap tokens for heads in front of a recurrence and behind it: its channels and
 * the gate, then its outputs, of the tokens of a rank. */
CALC_TEST(ranks_of_a_context_swap_tokens_for_heads)
{
    calc_app app = shipped_app("qwen3-next-80B-A3B");
    calc_exec exec = serving_exec(CALC_INFERENCE_PHASE_NONE, 1, 1, 1, 1);
    calc_system system = chunks_only();
    for (int ranks = 1; ranks <= 4; ranks *= 2) {
        exec.strategy.context_par = ranks;
        const calc_shape shape = calc_shape_of(&app, &exec.strategy, 2, 1024);
        const calc_recipe recipe = {.kind = CALC_MOE_BLOCK,
                                    .shape = &shape,
                                    .chip = &system.chip,
                                    .strategy = &exec.strategy};
        calc_operator o[CALC_MAX_OPERATORS];
        size_t count = calc_transformer_block(&recipe, o), swaps = 0;
        for (size_t i = 0; i < count; i++) {
            if (o[i].name && strstr(o[i].name, "mixer") && strstr(o[i].name, "all-to-all")) {
                double columns = swaps == 0 ? 8192 + 4096 + 2 * 32 : 4096;
                ck_assert_int_eq(o[i].kind, CALC_OPERATOR_COLLECTIVE);
                assert_near(o[i].message_bytes, 2 * shape.tokens * columns);
                swaps++;
            }
        }
        ck_assert_uint_eq(swaps, ranks > 1 ? 2 : 0);
    }
}

CALC_TEST(chunks_of_a_sequence_follow_one_another)
{
    calc_app app = shipped_app("qwen3-next-80B-A3B");
    calc_system system = chunks_only();
    const char *const name = "recurrence";
    assert_near(operator_s(&app, &system, name, 1, 4096, CALC_PASS_FW), 64 * 2.8e-6);
    assert_near(operator_s(&app, &system, name, 1, 8192, CALC_PASS_FW), 128 * 2.8e-6);
    assert_near(operator_s(&app, &system, name, 8, 4096, CALC_PASS_FW), 64 * 2.8e-6);
    assert_near(operator_s(&app, &system, name, 1, 4096, CALC_PASS_AGRAD), 3 * 64 * 2.8e-6);
    system.chip.recurrence.chunk_s = 1e-6;
    assert_near(operator_s(&app, &system, name, 1, 4096, CALC_PASS_FW), 64e-6);
    system.chip.sustained = 0.5;
    assert_near(operator_s(&app, &system, name, 1, 4096, CALC_PASS_FW), 128e-6);
}

CALC_TEST(the_vector_engine_handles_every_byte)
{
    calc_app app = shipped_app("qwen3-next-80B-A3B");
    calc_system system = chunks_only();
    system.chip.recurrence.chunk_s = 1e-30;
    system.chip.vector[CALC_DATATYPE_BFLOAT16].flop_per_s = 1e14;
    double want = 67 * GATED_DELTA_BYTES * 4096 / 1e14;
    assert_near(operator_s(&app, &system, "recurrence", 1, 4096, CALC_PASS_FW), want);
    assert_near(operator_s(&app, &system, "causal convolution", 1, 4096, CALC_PASS_FW),
                200 * 8192.0 * 4096 / 1e14);
    system.chip.recurrence.efficiency = 0.25;
    assert_near(operator_s(&app, &system, "recurrence", 1, 4096, CALC_PASS_FW), 4 * want);
    /* The memory, where it is slower; and both as the cube root of the sum of cubes. */
    system.chip.mem1.bytes_per_s = 1e9;
    want = GATED_DELTA_BYTES * 4096 / 1e9;
    assert_near(operator_s(&app, &system, "recurrence", 1, 4096, CALC_PASS_FW), want);
    system.chip.recurrence.chunk_s = want / 64;
    assert_near(operator_s(&app, &system, "recurrence", 1, 4096, CALC_PASS_FW), cbrt(2) * want);
}

/* 8,192 channels of 16 states, 9 operations each. */
/* A layer of multi-token prediction with the first part of the model, which is Mamba 2. */
CALC_TEST(a_prediction_may_have_a_recurrence)
{
    calc_app app = shipped_app("nemotron-3-super-120B-A12B");
    calc_system system = chunks_only();
    const calc_exec exec = serving_exec(CALC_INFERENCE_PHASE_NONE, 1, 1, 1, 1);
    calc_operator o[CALC_MAX_OPERATORS];
    for (int kind = 0; kind < app.stack.kinds; kind++) {
        app.stack.mtp_layer[0] = (uint8_t)kind;
        app.stack.mtp = 1;
        const calc_shape shape = calc_shape_of(&app, &exec.strategy, 1, 1024);
        const calc_recipe recipe = {.kind = CALC_MOE_BLOCK,
                                    .shape = &shape,
                                    .chip = &system.chip,
                                    .strategy = &exec.strategy};
        size_t count = calc_transformer_mtp_layers(&recipe, 0, o), recurrences = 0;
        for (size_t i = 0; i < count; i++) {
            recurrences += o[i].name && strcmp(o[i].name, "recurrence") == 0;
        }
        ck_assert_uint_eq(recurrences, app.stack.kind[kind].mixer[0] == 0);
    }
}

CALC_TEST(mamba_1_scans_without_chunks)
{
    calc_app app = shipped_app("jamba-1.5-mini-52B");
    calc_system system = chunks_only();
    system.chip.vector[CALC_DATATYPE_BFLOAT16].flop_per_s = 1e14;
    assert_near(operator_s(&app, &system, "recurrence", 2, 1024, CALC_PASS_FW),
                9 * 8192.0 * 16 * 2048 / 1e14);
}

/* ---- Serving --------------------------------------------------------------------------------- */

/* The operators of a name in a block of a pass: their number, and the last. */
static size_t found(const calc_app *app, const calc_system *system, const calc_exec *exec,
                    calc_inference_pass_work work, const char *name, calc_operator *last,
                    double *time_s)
{
    static calc_inference_pass_model model;
    calc_operator o[CALC_MAX_OPERATORS];
    size_t number = 0;
    calc_inference_pass_model_init(&model, app, system, exec);
    calc_shape shape = calc_inference_pass_shape(&model, &work);
    calc_cost_context c = calc_inference_pass_context(&model, &shape);
    size_t count = calc_inference_pass_block(&model, &c, &work, CALC_MOE_BLOCK, o);
    for (size_t i = 0; i < count; i++) {
        if (o[i].name && strcmp(o[i].name, name) == 0 && o[i].kind != CALC_OPERATOR_VECTOR) {
            number++;
            *last = o[i];
            *time_s = calc_cost_kernel_s(&c, &o[i], CALC_PASS_FW);
        }
    }
    return number;
}

CALC_TEST(states_have_a_rate_of_their_own)
{
    calc_app app = shipped_app("qwen3-next-80B-A3B");
    calc_system system = memory_bound_system();
    calc_exec exec = serving_exec(CALC_INFERENCE_PHASE_DECODE, 1, 1, 1, 1);
    calc_inference_pass_work w = {.sequences = 16, .queries = 1, .context = 100};
    calc_operator o;
    double s;
    /* States of 32 bits and three columns of the convolution, read and written. */
    double bytes = 16 * 2 * (4 * 32 * 128 * 128.0 + 3 * 2 * 8192);
    ck_assert_uint_eq(found(&app, &system, &exec, w, "recurrence", &o, &s), 0);
    ck_assert_uint_eq(found(&app, &system, &exec, w, "state update", &o, &s), 1);
    assert_near(s, bytes / 1e12);
    system.chip.serving.decode = (calc_serving_decode){.memory_efficiency = 0.8, .fixed_s = 1e-5};
    found(&app, &system, &exec, w, "state update", &o, &s);
    assert_near(s, bytes / 0.8e12 + 1e-5);
    system.chip.serving.state = (calc_serving_vector){.memory_efficiency = 0.5, .fixed_s = 6e-6};
    found(&app, &system, &exec, w, "state update", &o, &s);
    assert_near(s, bytes / 0.5e12 + 6e-6);
}

CALC_TEST(a_recurrence_goes_over_tokens_of_prompts)
{
    calc_app app = shipped_app("qwen3-next-80B-A3B");
    calc_system system = chunks_only();
    calc_exec exec = serving_exec(CALC_INFERENCE_PHASE_SERVE, 1, 1, 1, 1);
    calc_inference_pass_work alone = {.prompts = 2, .chunk = 1024}, mixed = alone;
    calc_operator a, b;
    double s;
    mixed.sequences = 2048;
    mixed.queries = 1;
    mixed.context = 100;
    ck_assert_uint_eq(found(&app, &system, &exec, alone, "recurrence", &a, &s), 1);
    assert_near(s, 16 * 2.8e-6);
    ck_assert_uint_eq(found(&app, &system, &exec, mixed, "recurrence", &b, &s), 1);
    assert_near(s, 16 * 2.8e-6);
    assert_near(b.work[CALC_PASS_FW], a.work[CALC_PASS_FW]);
    assert_near(b.bytes[CALC_PASS_FW], a.bytes[CALC_PASS_FW]);
    /* A part of a chunk takes as much as a whole one. */
    alone.chunk = 16;
    found(&app, &system, &exec, alone, "recurrence", &b, &s);
    assert_near(s, 2.8e-6);
    assert_near(b.work[CALC_PASS_FW], a.work[CALC_PASS_FW] / 16);
}

CALC_TEST(one_kernel_moves_its_ends_only)
{
    calc_app app = shipped_app("qwen3-next-80B-A3B");
    calc_system system = chunks_only();
    calc_exec exec = serving_exec(CALC_INFERENCE_PHASE_PREFILL, 1, 1, 1, 1);
    calc_inference_pass_work w = {.prompts = 1, .chunk = 4096};
    calc_operator parts, one;
    double s;
    found(&app, &system, &exec, w, "recurrence", &parts, &s);
    exec.inference.traits.fused_recurrence = true;
    found(&app, &system, &exec, w, "recurrence", &one, &s);
    double states = 2 * (4 * 32 * 128 * 128.0 + 3 * 2 * 8192);
    assert_near(one.work[CALC_PASS_FW], parts.work[CALC_PASS_FW] / 4);
    assert_near(parts.bytes[CALC_PASS_FW], GATED_DELTA_BYTES * 4096 + states);
    assert_near(one.bytes[CALC_PASS_FW], 2 * (8192.0 + 4096) * 4096 + states);
    ck_assert_double_eq(one.launches[CALC_PASS_FW], 2);
    ck_assert_double_eq(parts.launches[CALC_PASS_FW], 5);
    /* Chunks follow one another all the same, and other mixers have no such kernel. */
    assert_near(s, 64 * 2.8e-6);
    app = shipped_app("jamba-1.5-mini-52B");
    found(&app, &system, &exec, w, "recurrence", &one, &s);
    exec.inference.traits.fused_recurrence = false;
    found(&app, &system, &exec, w, "recurrence", &parts, &s);
    ck_assert_double_eq(one.work[CALC_PASS_FW], parts.work[CALC_PASS_FW]);
}

/* The host issues 15 kernels more for each of the recurrences than take time, whatever the number
 * of those that do: of Qwen3-Next's 48 layers 36 have one. */
CALC_TEST(recurrences_take_more_kernels_to_issue_than_to_run)
{
    calc_app app = shipped_app("qwen3-next-80B-A3B");
    calc_system system = chunks_only();
    calc_exec exec = serving_exec(CALC_INFERENCE_PHASE_PREFILL, 1, 1, 1, 1);
    calc_inference_pass_model parts, one;
    calc_inference_pass_work w = {.prompts = 1, .chunk = 1};
    calc_operator item[CALC_MAX_OPERATORS];
    calc_inference_pass_model_init(&parts, &app, &system, &exec);
    exec.inference.traits.fused_recurrence = true;
    calc_inference_pass_model_init(&one, &app, &system, &exec);
    calc_shape s = calc_inference_pass_shape(&one, &w);
    calc_cost_context c = calc_inference_pass_context(&one, &s);
    size_t count = calc_inference_pass_block(&one, &c, &w, CALC_MOE_BLOCK, item);
    double run = 0;
    for (size_t i = 0; i < count; i++) {
        run += 48 * calc_operator_share(&item[i]) * item[i].launches[CALC_PASS_FW];
    }
    assert_near(one.launches, run + 36 * 15);
    assert_near(parts.launches - one.launches, 36 * (5 - 2));
}

/* ---- Sparse attention ------------------------------------------------------------------------ */

static void assert_once(calc_inference_pass_work work, size_t scores, size_t decoded,
                        size_t prefilled)
{
    calc_app app = shipped_app("deepseek-v3.2-671B");
    calc_system system = memory_bound_system();
    calc_exec exec = serving_exec(CALC_INFERENCE_PHASE_SERVE, 1, 1, 1, 1);
    calc_operator o;
    double s;
    ck_assert_uint_eq(found(&app, &system, &exec, work, "index scores", &o, &s), prefilled);
    ck_assert_uint_eq(found(&app, &system, &exec, work, "flash attention", &o, &s), prefilled);
    ck_assert_uint_eq(found(&app, &system, &exec, work, "decode index scores", &o, &s), scores);
    ck_assert_uint_eq(found(&app, &system, &exec, work, "decode attention", &o, &s), decoded);
}

CALC_TEST(an_indexer_is_no_second_attention)
{
    assert_once((calc_inference_pass_work){.sequences = 8, .queries = 1, .context = 5000}, 1, 1, 0);
    assert_once((calc_inference_pass_work){.prompts = 1, .chunk = 4096}, 0, 0, 1);
    assert_once(
        (calc_inference_pass_work){
            .sequences = 8, .queries = 1, .context = 5000, .prompts = 1, .chunk = 512},
        1, 1, 1);
}

/* Keys of 128 + 4 bytes and scores of 12; then one block chooses among 5,000 tokens. */
CALC_TEST(scores_are_written_and_the_largest_chosen)
{
    calc_app app = shipped_app("deepseek-v3.2-671B");
    calc_system system = memory_bound_system();
    calc_exec exec = serving_exec(CALC_INFERENCE_PHASE_DECODE, 1, 1, 1, 1);
    calc_inference_pass_work w = {.sequences = 8, .queries = 1, .context = 5000};
    calc_operator o;
    double s;
    system.chip.serving.decode = (calc_serving_decode){.memory_efficiency = 0.5};
    found(&app, &system, &exec, w, "decode index scores", &o, &s);
    assert_near(s, 8 * 5000 * 144 / 0.5e12 + 0.3e-9 * 5000);
    w.queries = 3; /* one reading of the keys, scores for each position */
    found(&app, &system, &exec, w, "decode index scores", &o, &s);
    assert_near(s, 8 * 5000 * (132 + 3 * 12) / 0.5e12 + 0.3e-9 * 5000);
}
