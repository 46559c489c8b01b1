#include "model/operators/adapter.h"
#include "model/operators/transformer.h"

#include "frame.h"
#include "modern_case.h"

/* Sizes of modern_case.h: tokens, width, feed-forward, heads, their width, key heads. */
static const double T = 32, H = 64, F = 256, A = 4, D = 16, G = 2;

/* Bytes a Llama block stores for a token of `tensor_par` ranks with sequence parallelism. */
static double llama_bytes(double ranks)
{
    return (8 * H + 2 * (2 * A * D + 2 * G * D) + 6 * F + 4 * A) / ranks;
}

static double flop_of(const modern_case *c, const char *name, calc_pass pass)
{
    return named(c, name)->flop[pass];
}

/* ---- Attention and feed-forward -------------------------------------------------------------- */

CALC_TEST(a_llama_block_has_its_matrices)
{
    modern_case c = case_of(modern_app(), modern_exec(1, 1, 1));
    make_block(&c, CALC_DENSE_BLOCK);
    ck_assert_double_eq(c.cost.dense_weights, H * (A + 2 * G) * D + A * D * H + 3 * H * F + 2 * H);
    ck_assert_double_eq(c.cost.expert_weights, 0);
    for (calc_pass pass = CALC_PASS_FW; pass < CALC_PASS_COUNT; pass++) {
        ck_assert_double_eq(flop_of(&c, "query key value", pass), 2 * T * H * 8 * D);
        ck_assert_double_eq(flop_of(&c, "attention output", pass), 2 * T * A * D * H);
        ck_assert_double_eq(flop_of(&c, "feed-forward up", pass), 2 * T * H * 2 * F);
        ck_assert_double_eq(flop_of(&c, "feed-forward down", pass), 2 * T * F * H);
    }
    ck_assert_double_eq(c.cost.kept_bytes, T * llama_bytes(1));
    ck_assert_double_eq(c.cost.kept_whole_bytes, T * llama_bytes(1));
}

/* Operands in the narrow format, results wide, the weight gradient read and written. */
CALC_TEST(a_matrix_moves_its_operands_once)
{
    modern_case c = case_of(modern_app(), modern_exec(1, 1, 1));
    c.exec.strategy.grad_datatype = CALC_FORMAT_FLOAT32;
    make_block(&c, CALC_DENSE_BLOCK);
    const calc_operator *o = named(&c, "feed-forward down");
    double in = T * F, weights = F * H, out = T * H;
    ck_assert_double_eq(o->inputs, in);
    ck_assert_double_eq(o->outputs, out);
    ck_assert_double_eq(o->bytes[CALC_PASS_FW], 2 * (in + weights + out));
    ck_assert_double_eq(o->bytes[CALC_PASS_AGRAD], 2 * (out + weights + in));
    ck_assert_double_eq(o->bytes[CALC_PASS_WGRAD], 2 * (in + out) + 8 * weights);
    c.exec.strategy.matrix_datatype = CALC_FORMAT_FLOAT8;
    c.system.chip.quantize_bytes = 3;
    make_block(&c, CALC_DENSE_BLOCK);
    o = named(&c, "feed-forward down");
    ck_assert_double_eq(o->bytes[CALC_PASS_FW], in + weights + 2 * out + 3 * in);
    ck_assert_double_eq(o->bytes[CALC_PASS_AGRAD], out + weights + 2 * in + 3 * out);
    ck_assert_double_eq(o->bytes[CALC_PASS_WGRAD], in + out + 8 * weights);
    c.count = calc_transformer_head(&c.shape, &c.exec.strategy, c.exec.training,
                                    c.operators); /* never narrow */
    ck_assert_double_eq(named(&c, "head")->bytes[CALC_PASS_FW], 2 * (T * H + 512 * H + T * 512));
}

CALC_TEST(sequence_parallelism_divides_all_that_is_kept)
{
    modern_case c = case_of(modern_app(), modern_exec(2, 1, 1));
    make_block(&c, CALC_DENSE_BLOCK);
    ck_assert_double_eq(c.cost.kept_bytes, T * llama_bytes(2));
    c.exec.strategy.seq_par_ag_redo =
        false; /* what was gathered is kept: inputs of both first matrices */
    make_block(&c, CALC_DENSE_BLOCK);
    ck_assert_double_eq(c.cost.kept_bytes, T * (llama_bytes(2) + 2 * (2 * H - 2 * H / 2)));
    c.exec.strategy.tensor_par_comm_type = CALC_TENSOR_PAR_COMM_TYPE_AR;
    make_block(&c, CALC_DENSE_BLOCK);
    ck_assert_double_eq(c.cost.kept_bytes, T * (llama_bytes(2) + 4 * (2 * H - 2 * H / 2)));
}

/* What a rank stored its share of is gathered for the blocks of a group at once. */
CALC_TEST(shared_checkpoints_are_gathered_once_for_a_group)
{
    static const struct {
        int64_t group;
        double blocks;
    } groups[] = {{0, 1}, {1, 1}, {2, 2}, {5, 5}};
    modern_case c = case_of(modern_app(), modern_exec(2, 1, 1));
    c.exec.strategy.tensor_par_comm_type = CALC_TENSOR_PAR_COMM_TYPE_AR;
    c.exec.strategy.activation_recompute = CALC_ACTIVATION_RECOMPUTE_FULL;
    c.exec.strategy.distribute_saved_activations = true;
    for (size_t i = 0; i < sizeof groups / sizeof *groups; i++) {
        c.exec.strategy.recompute_group = groups[i].group;
        make_block(&c, CALC_DENSE_BLOCK);
        const calc_operator *o = named(&c, "checkpoint gather");
        ck_assert_double_eq(o->message_bytes, 2 * T * H / groups[i].blocks);
        ck_assert_int_eq(o->op[CALC_PASS_WGRAD], CALC_OP_ALL_GATHER);
        ck_assert_int_eq(o->op[CALC_PASS_FW], CALC_OP_NONE);
        ck_assert_int_eq(o->op[CALC_PASS_AGRAD], CALC_OP_NONE);
        ck_assert(o->repeats && o->repeated_by == CALC_RECOMPUTE_ALL);
    }
}

/* Recomputation that stops early repeats what follows the activation only where something behind
   it is read backward: a mask, the input of a norm. The backward pass of experts' scores reads
   what experts made. */
CALC_TEST(early_stop_leaves_out_the_last_multiplication)
{
    modern_case c = case_of(modern_app(), modern_exec(2, 1, 1));
    c.exec.strategy.recompute_early_stop = true;
    make_block(&c, CALC_DENSE_BLOCK);
    ck_assert_uint_eq(named(&c, "feed-forward down")->repeated_by, 0);
    ck_assert_uint_eq(named(&c, "feed-forward reduction")->repeated_by, 0);
    ck_assert_uint_eq(named(&c, "feed-forward residual")->repeated_by, 0);
    ck_assert_uint_ne(named(&c, "activation")->repeated_by, 0);
    ck_assert_uint_ne(named(&c, "attention reduction")->repeated_by, 0);
    for (int i = 0; i < 2; i++) {
        c = case_of(modern_app(), modern_exec(2, 1, 1));
        c.exec.strategy.recompute_early_stop = i > 0;
        c.app.dropout = i > 0;
        make_block(&c, CALC_DENSE_BLOCK);
        ck_assert_uint_ne(named(&c, "feed-forward down")->repeated_by, 0);
    }
    c.app.dropout = false;
    c.app.norm_place = CALC_NORM_PLACE_SANDWICH;
    make_block(&c, CALC_DENSE_BLOCK);
    ck_assert_uint_ne(named(&c, "feed-forward down")->repeated_by, 0);
    ck_assert_uint_eq(named(&c, "feed-forward residual")->repeated_by, 0);
    c = case_of(moe_app(), modern_exec(1, 1, 1));
    c.exec.strategy.recompute_early_stop = true;
    make_block(&c, CALC_MOE_BLOCK);
    ck_assert_uint_ne(named(&c, "experts down")->repeated_by, 0);
}

/* 4 ranks on 2 key heads: each projects one, twice over. */
CALC_TEST(repeated_key_heads_are_computed_and_kept_by_each)
{
    modern_case c = case_of(modern_app(), modern_exec(4, 1, 1));
    make_block(&c, CALC_DENSE_BLOCK);
    ck_assert_double_eq(named(&c, "query key value")->weights, H * (D + 2 * D));
    ck_assert_double_eq(flop_of(&c, "query key value", CALC_PASS_FW), 2 * T * H * 3 * D);
    double keys_again = 2 * 2 * (D - G * D / 4);
    ck_assert_double_eq(c.cost.kept_bytes, T * (llama_bytes(4) + keys_again));
}

CALC_TEST(a_gpt_block_has_biases_masks_and_two_matrices)
{
    modern_case c = case_of(small_app(), modern_exec(1, 1, 1));
    make_block(&c, CALC_DENSE_BLOCK);
    double attention = 4 * H * A * D + 3 * A * D + H;
    ck_assert_double_eq(c.cost.dense_weights, attention + 2 * H * F + F + H + 4 * H);
    double kept = 8 * H + 2 * 4 * A * D + 4 * F + 4 * A;
    ck_assert_double_eq(c.cost.kept_bytes, T * (kept + 2 * H));
    c.exec.strategy.fused_activation = false;
    make_block(&c, CALC_DENSE_BLOCK);
    ck_assert_double_eq(c.cost.kept_bytes, T * (kept + 2 * H)); /* no gate to multiply with */
    ck_assert(!has_operator(&c, "rotary embedding"));
}

CALC_TEST(stored_scores_are_the_whole_square_with_its_mask)
{
    modern_case c = case_of(small_app(), modern_exec(2, 1, 1));
    c.exec.strategy.flash_attention = false;
    make_block(&c, CALC_DENSE_BLOCK);
    const calc_operator *o = named(&c, "attention scores");
    double pairs = A / 2 * T * T;
    ck_assert_double_eq(o->kept_bytes, 5 * pairs);
    ck_assert_double_eq(o->flop[CALC_PASS_FW], 2 * pairs * 2 * D);
    ck_assert_double_eq(o->flop[CALC_PASS_AGRAD], 4 * pairs * 2 * D);
    c.app.dropout = CALC_CHOICE_FALSE;
    make_block(&c, CALC_DENSE_BLOCK);
    ck_assert_double_eq(named(&c, "attention scores")->kept_bytes, 2 * pairs);
    /* Portable kernels read and write them twice more, and keep no more. */
    double moved[] = {named(&c, "attention scores")->bytes[CALC_PASS_FW],
                      named(&c, "attention scores")->bytes[CALC_PASS_AGRAD]};
    c.exec.strategy.attention_kernel = CALC_ATTENTION_KERNEL_GENERIC;
    make_block(&c, CALC_DENSE_BLOCK);
    o = named(&c, "attention scores");
    ck_assert_double_eq(o->bytes[CALC_PASS_FW], moved[0] + 2 * 2 * 2 * pairs);
    ck_assert_double_eq(o->bytes[CALC_PASS_AGRAD], moved[1] + 2 * 2 * 2 * pairs);
    ck_assert_double_eq(o->launches[CALC_PASS_FW] + o->launches[CALC_PASS_AGRAD], 5 + 2 + 7 + 2);
    ck_assert_double_eq(o->kept_bytes, 2 * pairs);
}

/* In kernels of its own: what the gate makes of its input, beside both halves and their product. */
CALC_TEST(an_unfused_activation_keeps_one_tensor_more)
{
    modern_case c = case_of(modern_app(), modern_exec(1, 1, 1));
    make_block(&c, CALC_DENSE_BLOCK);
    double fused = c.cost.kept_bytes;
    c.exec.strategy.fused_activation = false;
    make_block(&c, CALC_DENSE_BLOCK);
    ck_assert_double_eq(c.cost.kept_bytes, fused + T * 2 * F);
    c.exec = modern_exec(2, 1, 1);
    make_block(&c, CALC_DENSE_BLOCK);
    fused = c.cost.kept_bytes;
    c.exec.strategy.fused_activation = false;
    make_block(&c, CALC_DENSE_BLOCK);
    ck_assert_double_eq(c.cost.kept_bytes, fused + T * 2 * F / 2);
}

CALC_TEST(queries_and_keys_may_be_normalized)
{
    modern_case c = case_of(modern_app(), modern_exec(2, 1, 1));
    make_block(&c, CALC_DENSE_BLOCK);
    double without = c.cost.dense_weights;
    c.app.qk_norm = true;
    make_block(&c, CALC_DENSE_BLOCK);
    ck_assert_double_eq(c.cost.dense_weights, without + 2 * D);
    ck_assert_double_eq(named(&c, "query key norm")->bytes[CALC_PASS_FW], 2 * T * (2 + 1) * D * 2);
}

CALC_TEST(flash_attention_computes_the_scores_of_the_mask)
{
    modern_case c = case_of(modern_app(), modern_exec(2, 1, 1));
    make_block(&c, CALC_DENSE_BLOCK);
    const double scores = A / 2 * 32 * 33 / 2;
    ck_assert_double_eq(flop_of(&c, "flash attention", CALC_PASS_FW), 2 * scores * 2 * D);
    ck_assert_double_eq(flop_of(&c, "flash attention", CALC_PASS_AGRAD), 2 * scores * 5 * D);
    ck_assert_double_eq(flop_of(&c, "flash attention", CALC_PASS_WGRAD), 0);
    c.app.causal = false;
    make_block(&c, CALC_DENSE_BLOCK);
    ck_assert_double_eq(flop_of(&c, "flash attention", CALC_PASS_FW), 2 * A / 2 * T * T * 2 * D);
    double moved = 2 * T * (2 * D + 2 * D + 2 * D); /* q; k, v; o */
    double sums = 4 * T * 2;
    const calc_operator *o = named(&c, "flash attention");
    ck_assert_double_eq(o->bytes[CALC_PASS_FW], moved + sums);
    ck_assert_double_eq(o->bytes[CALC_PASS_AGRAD], 2 * moved + sums);
    ck_assert_double_eq(o->kept_bytes, sums);
}

/* Exponentials cost as much as a wider head; heads of 128 are the rates' own. */
CALC_TEST(exponentials_are_charged_relative_to_heads_of_128)
{
    modern_case c = case_of(modern_app(), modern_exec(1, 1, 1));
    c.app.causal = false;
    make_block(&c, CALC_DENSE_BLOCK);
    const calc_operator *o = named(&c, "flash attention");
    ck_assert_double_eq(o->work[CALC_PASS_FW], o->flop[CALC_PASS_FW]);
    ck_assert_double_eq(o->work[CALC_PASS_AGRAD], o->flop[CALC_PASS_AGRAD]);
    c.system.chip.attention.softmax_size = 64;
    make_block(&c, CALC_DENSE_BLOCK);
    o = named(&c, "flash attention");
    double pairs = A * T * T;
    ck_assert_double_eq(o->work[CALC_PASS_FW], 2 * pairs * (2 * D + 64) * 0.8);
    ck_assert_double_eq(o->work[CALC_PASS_AGRAD], 2 * pairs * (5 * D + 160) * 0.8);
    ck_assert_double_eq(o->flop[CALC_PASS_FW], 2 * pairs * 2 * D);
    c.app.causal = true;
    make_block(&c, CALC_DENSE_BLOCK);
    o = named(&c, "flash attention");
    assert_near(o->work[CALC_PASS_AGRAD], 2 * pairs * 33 / 64 * (5 * D + 160) * 0.8);
    c.app.attn_size = 128;
    make_block(&c, CALC_DENSE_BLOCK);
    o = named(&c, "flash attention");
    ck_assert_double_eq(o->work[CALC_PASS_FW], o->flop[CALC_PASS_FW]);
    ck_assert_double_eq(o->work[CALC_PASS_AGRAD], o->flop[CALC_PASS_AGRAD]);
}

/* Queries, keys and values are narrowed and read in 8 bits, the output stays wide; exponentials
 * take as long as before. The format that attention has anyway changes nothing. */
CALC_TEST(narrow_attention_multiplies_faster_only)
{
    modern_case c = case_of(modern_app(), modern_exec(1, 1, 1));
    const calc_engine *wide = &c.system.chip.matrix[c.exec.strategy.datatype];
    c.system.chip.matrix[CALC_DATATYPE_FLOAT8] = *wide;
    c.system.chip.matrix[CALC_DATATYPE_FLOAT8].flop_per_s = 2 * wide->flop_per_s;
    c.system.chip.attention.softmax_size = 64;
    c.system.chip.quantize_bytes = 3;
    c.app.causal = false;
    make_block(&c, CALC_DENSE_BLOCK);
    const calc_operator before = *named(&c, "flash attention");
    double kept = c.cost.kept_bytes;
    c.exec.strategy.attention_datatype = CALC_FORMAT_FLOAT16;
    make_block(&c, CALC_DENSE_BLOCK);
    ck_assert_mem_eq(&before, named(&c, "flash attention"), sizeof before);
    c.exec.strategy.attention_datatype = CALC_FORMAT_FLOAT8;
    make_block(&c, CALC_DENSE_BLOCK);
    const calc_operator *o = named(&c, "flash attention");
    double pairs = A * T * T;
    ck_assert_double_eq(o->flop[CALC_PASS_FW], before.flop[CALC_PASS_FW]);
    assert_near(o->work[CALC_PASS_FW], 2 * pairs * (D + 64) * 0.8);
    assert_near(o->work[CALC_PASS_AGRAD], 2 * pairs * (2.5 * D + 160) * 0.8);
    double sums = 4 * T * A, inputs = T * (A + 2 * G) * D, output = T * A * D;
    ck_assert_double_eq(o->bytes[CALC_PASS_FW], inputs + 2 * output + sums + 3 * inputs);
    ck_assert_double_eq(o->bytes[CALC_PASS_AGRAD], 2 * (inputs + 2 * output) + sums + 3 * output);
    ck_assert_double_eq(kept - c.cost.kept_bytes, inputs);
}

CALC_TEST(eager_execution_moves_more)
{
    modern_case c = case_of(modern_app(), modern_exec(1, 1, 1));
    make_block(&c, CALC_DENSE_BLOCK);
    double norm = named(&c, "attention norm")->bytes[CALC_PASS_FW];
    double flash = named(&c, "flash attention")->bytes[CALC_PASS_FW];
    ck_assert_double_eq(norm, 2 * 2 * T * H);
    c.exec.strategy.eager = true;
    make_block(&c, CALC_DENSE_BLOCK);
    ck_assert_double_eq(named(&c, "attention norm")->bytes[CALC_PASS_FW], 2 * norm);
    c.system.chip.eager_traffic = 3;
    make_block(&c, CALC_DENSE_BLOCK);
    ck_assert_double_eq(named(&c, "attention norm")->bytes[CALC_PASS_FW], 3 * norm);
    ck_assert_double_eq(named(&c, "flash attention")->bytes[CALC_PASS_FW], flash);
}

/* ---- Latent attention ------------------------------------------------------------------------ */

static const double RQ = 32, RK = 16, NOPE = 16, ROPE = 8, V = 16;

static double latent_bytes(double ranks)
{
    double heads = 2 * 2 * A * (NOPE + ROPE) + 2 * A * V + 2 * A * V + 4 * A;
    return (8 * H + 4 * RQ + 4 * RK + heads + 6 * F) / ranks;
}

CALC_TEST(latent_attention_goes_down_and_up)
{
    modern_case c = case_of(latent_app(), modern_exec(1, 1, 1));
    make_block(&c, CALC_DENSE_BLOCK);
    double down = H * RQ + H * (RK + ROPE);
    double up = RQ * A * (NOPE + ROPE) + RK * A * (NOPE + V);
    double rest = A * V * H + 3 * H * F + 2 * H + RQ + RK;
    ck_assert_double_eq(c.cost.dense_weights, down + up + rest);
    ck_assert_double_eq(c.cost.kept_bytes, T * latent_bytes(1));
    double scores = A * 32 * 33 / 2;
    ck_assert_double_eq(flop_of(&c, "flash attention", CALC_PASS_FW),
                        2 * scores * (NOPE + ROPE + V));
    ck_assert_double_eq(flop_of(&c, "flash attention", CALC_PASS_AGRAD),
                        2 * scores * (3 * (NOPE + ROPE) + 2 * V));
}

/* Down projections are whole on every rank, on its share of the tokens; the latents are gathered.
 */
CALC_TEST(latents_are_gathered_by_four_ranks)
{
    modern_case c = case_of(latent_app(), modern_exec(4, 1, 1));
    make_block(&c, CALC_DENSE_BLOCK);
    ck_assert_double_eq(named(&c, "query down projection")->weights, H * RQ);
    ck_assert_double_eq(flop_of(&c, "query down projection", CALC_PASS_FW), 2 * T / 4 * H * RQ);
    ck_assert_double_eq(named(&c, "key value down projection")->weights, H * (RK + ROPE));
    ck_assert_double_eq(named(&c, "query up projection")->weights, RQ * (NOPE + ROPE));
    ck_assert_double_eq(named(&c, "key value up projection")->weights, RK * (NOPE + V));
    ck_assert_double_eq(named(&c, "attention output")->weights, V * H);
    ck_assert_double_eq(named(&c, "latent gather")->message_bytes, 2 * T * (RQ + RK + ROPE));
    ck_assert_double_eq(c.cost.kept_bytes, T * latent_bytes(4));
}

CALC_TEST(queries_may_be_not_compressed)
{
    modern_case c = case_of(latent_app(), modern_exec(2, 1, 1));
    c.app.q_lora_rank = 0;
    make_block(&c, CALC_DENSE_BLOCK);
    ck_assert(!has_operator(&c, "query down projection"));
    ck_assert_double_eq(named(&c, "query up projection")->weights, H * A / 2 * (NOPE + ROPE));
    ck_assert_double_eq(named(&c, "latent gather")->message_bytes, 2 * T * (H + RK + ROPE));
    ck_assert_double_eq(named(&c, "latent norm")->weights, RK);
}

/* ---- Experts --------------------------------------------------------------------------------- */

static const double E = 8, K = 2, FE = 32, FS = 64;

CALC_TEST(a_block_with_experts_has_router_shared_and_routed_ones)
{
    modern_case c = case_of(moe_app(), modern_exec(1, 1, 1));
    c.app.router_bias = true;
    make_block(&c, CALC_MOE_BLOCK);
    double attention = H * (A + 2 * G) * D + A * D * H;
    ck_assert_double_eq(c.cost.dense_weights, attention + 2 * H + 3 * H * FS + H * E + E);
    ck_assert_double_eq(c.cost.expert_weights, 3 * H * FE * E);
    double dense_part = 8 * H + 2 * (2 * A * D + 2 * G * D) + 4 * A;
    ck_assert_double_eq(c.cost.kept_bytes,
                        T * (dense_part + 6 * FS + K * (2 * H + 6 * FE) + 12 * E));
    ck_assert_double_eq(flop_of(&c, "router", CALC_PASS_FW), 2 * T * H * E);
    ck_assert_double_eq(flop_of(&c, "experts up", CALC_PASS_FW), 2 * K * T * H * 2 * FE);
    ck_assert_double_eq(flop_of(&c, "experts down", CALC_PASS_WGRAD), 2 * K * T * FE * H);
    ck_assert(!has_operator(&c, "dispatch"));
}

/* Biases of the router and of every expert's two matrices; shared experts have none. */
CALC_TEST(experts_have_biases_where_matrices_have)
{
    modern_case c = case_of(moe_app(), modern_exec(1, 1, 1));
    make_block(&c, CALC_MOE_BLOCK);
    double dense = c.cost.dense_weights, expert = c.cost.expert_weights;
    c.app.bias = CALC_CHOICE_TRUE;
    make_block(&c, CALC_MOE_BLOCK);
    ck_assert_double_eq(c.cost.dense_weights, dense + (A + 2 * G) * D + H + E);
    ck_assert_double_eq(c.cost.expert_weights, expert + E * (2 * FE + H));
}

/* 8 ranks of a stage: 2 of tensor parallelism, experts on 2 * 2. A rank has 16 of the 32 tokens,
   sends 32 pairs, and computes those of both ranks that split its 4 experts. */
CALC_TEST(experts_fold_into_tensor_and_data_parallelism)
{
    modern_case c = case_of(moe_app(), modern_exec(2, 1, 4));
    c.exec.strategy.expert_par = 2;
    c.exec.strategy.expert_tensor_par = 2;
    make_block(&c, CALC_MOE_BLOCK);
    ck_assert_double_eq(calc_transformer_routed_tokens(&c.shape), 16);
    ck_assert_double_eq(c.cost.expert_weights, 3 * H * FE * E / 4);
    ck_assert_double_eq(flop_of(&c, "router", CALC_PASS_FW), 2 * 16 * H * E);
    ck_assert_double_eq(flop_of(&c, "experts up", CALC_PASS_FW), 2 * 64 * H * 2 * FE / 2);
    ck_assert_double_eq(named(&c, "dispatch")->message_bytes, 32 * H * 2);
    ck_assert_double_eq(named(&c, "combine")->message_bytes, 32 * H * 2);
    const calc_operator *gather = named(&c, "expert gather");
    ck_assert_double_eq(gather->message_bytes, 2 * 32 * H * 2);
    ck_assert_int_eq(gather->op[CALC_PASS_FW], CALC_OP_ALL_GATHER);
    ck_assert_int_eq(gather->op[CALC_PASS_AGRAD], CALC_OP_REDUCE_SCATTER);
    ck_assert_int_eq(named(&c, "expert reduction")->op[CALC_PASS_FW], CALC_OP_REDUCE_SCATTER);
    ck_assert_int_eq(named(&c, "expert reduction")->op[CALC_PASS_AGRAD], CALC_OP_ALL_GATHER);
    ck_assert_int_eq(gather->group, CALC_IN_EXPERT_TENSOR);
    ck_assert_int_eq(named(&c, "dispatch")->group, CALC_IN_EXPERT);
    /* Two of 8 experts are on one of the two ranks in 11 of 14 cases. */
    c.exec.strategy.dispatch_type = CALC_DISPATCH_TYPE_NODE_LIMITED;
    make_block(&c, CALC_MOE_BLOCK);
    assert_near(named(&c, "expert gather")->message_bytes, 2 * 16 * 11 / 7.0 * H * 2);
}

CALC_TEST(one_expert_a_rank_is_the_limit)
{
    modern_case c = case_of(moe_app(), modern_exec(1, 1, 8));
    c.exec.strategy.expert_par = 8;
    make_block(&c, CALC_MOE_BLOCK);
    ck_assert_double_eq(c.cost.expert_weights, 3 * H * FE);
    ck_assert_double_eq(flop_of(&c, "experts up", CALC_PASS_FW), 2 * K * T * H * 2 * FE);
    const calc_operator *o = named(&c, "experts up");
    ck_assert_double_eq(o->bytes[CALC_PASS_FW], 2 * (K * T * H + H * 2 * FE + K * T * 2 * FE));
    ck_assert(o->expert);
}

CALC_TEST(capacity_and_imbalance_multiply_what_is_routed)
{
    modern_case c = case_of(moe_app(), modern_exec(1, 1, 2));
    c.exec.strategy.expert_par = 2;
    c.exec.strategy.capacity_factor = 1.25;
    c.exec.strategy.moe_imbalance = 0.5;
    make_block(&c, CALC_MOE_BLOCK);
    double pairs = K * T * 1.25 * 1.5;
    ck_assert_double_eq(flop_of(&c, "experts up", CALC_PASS_FW), 2 * pairs * H * 2 * FE);
    ck_assert_double_eq(named(&c, "dispatch")->message_bytes, pairs * H * 2);
}

/* Results of experts that are weighed in float32: a copy of 4 bytes a number is kept, and bytes of
 * each kernel counted by hand. */
CALC_TEST(scores_in_float32_copy_what_comes_back_from_experts)
{
    modern_case plain = case_of(moe_app(), modern_exec(1, 1, 1));
    modern_case c = plain;
    make_block(&plain, CALC_MOE_BLOCK);
    c.exec.strategy.framework_mem = 1 << CALC_FRAMEWORK_MEM_WIDE_SCORES;
    make_block(&c, CALC_MOE_BLOCK);
    double numbers = K * T * H;
    const calc_operator *o = named(&c, "experts scores");
    ck_assert(!has_operator(&plain, "experts scores"));
    ck_assert_double_eq(o->bytes[CALC_PASS_FW], 20 * numbers);
    ck_assert_double_eq(o->bytes[CALC_PASS_AGRAD], 36 * numbers);
    assert_near(c.cost.kept_bytes, plain.cost.kept_bytes + 4 * numbers);
    ck_assert_double_ge(c.cost.passing_bytes, 10 * numbers);
}

/* Inputs of both multiplications and of the activation, of all copies of a token, in two bytes. */
CALC_TEST(room_for_tokens_is_stored_or_packed)
{
    modern_case plain = case_of(moe_app(), modern_exec(1, 1, 1));
    modern_case c = plain;
    make_block(&plain, CALC_MOE_BLOCK);
    double kept = plain.cost.kept_bytes, whole = plain.cost.kept_whole_bytes;
    double experts = 2 * K * T * (H + 3 * FE), tokens = 2 * K * T * H;
    c.exec.strategy.rank_capacity_factor = 1.5;
    make_block(&c, CALC_MOE_BLOCK);
    assert_near(c.cost.kept_bytes, kept + experts / 2);
    assert_near(c.cost.kept_whole_bytes, whole + experts / 2);
    assert_near(named(&c, "unpermute")->passing_bytes,
                named(&plain, "unpermute")->passing_bytes + tokens / 2);
    ck_assert(!has_operator(&c, "experts unpacked"));
    c.exec.strategy.paged_stash = 1.25;
    make_block(&c, CALC_MOE_BLOCK);
    assert_near(c.cost.kept_bytes, kept + experts / 4);
    assert_near(c.cost.kept_whole_bytes, whole + experts / 2);
    ck_assert_double_eq(c.cost.fw_s, plain.cost.fw_s);
    ck_assert_double_eq(c.cost.agrad_s + c.cost.wgrad_s, plain.cost.agrad_s + plain.cost.wgrad_s);
    c.exec.strategy.moe_imbalance = 0.25; /* as many as are packed */
    make_block(&c, CALC_MOE_BLOCK);
    assert_near(c.cost.kept_bytes, kept + experts / 4);
    assert_near(c.cost.kept_whole_bytes, whole + experts / 2);
    c.exec.strategy.moe_imbalance = 1; /* more than there is room for: as without */
    make_block(&c, CALC_MOE_BLOCK);
    assert_near(c.cost.kept_bytes, kept + experts);
    ck_assert(!has_operator(&c, "experts unpacked"));
}

CALC_TEST(tokens_travel_in_their_own_formats)
{
    modern_case c = case_of(moe_app(), modern_exec(1, 1, 2));
    c.exec.strategy.expert_par = 2;
    c.exec.strategy.dispatch_datatype = CALC_FORMAT_FLOAT8;
    make_block(&c, CALC_MOE_BLOCK);
    ck_assert_double_eq(named(&c, "dispatch")->message_bytes, K * T * H);
    ck_assert_double_eq(named(&c, "combine")->message_bytes, K * T * H * 2);
    c.exec.strategy.combine_datatype = CALC_FORMAT_FLOAT32;
    make_block(&c, CALC_MOE_BLOCK);
    ck_assert_double_eq(named(&c, "combine")->message_bytes, K * T * H * 4);
}

CALC_TEST(all_gather_brings_every_token_to_every_rank)
{
    modern_case c = case_of(moe_app(), modern_exec(1, 1, 4));
    c.exec.strategy.expert_par = 4;
    c.exec.strategy.dispatch_type = CALC_DISPATCH_TYPE_ALL_GATHER;
    make_block(&c, CALC_MOE_BLOCK);
    const calc_operator *there = named(&c, "dispatch"), *back = named(&c, "combine");
    ck_assert_double_eq(there->message_bytes, 4 * T * H * 2);
    ck_assert_int_eq(there->op[CALC_PASS_FW], CALC_OP_ALL_GATHER);
    ck_assert_int_eq(there->op[CALC_PASS_AGRAD], CALC_OP_REDUCE_SCATTER);
    ck_assert_int_eq(back->op[CALC_PASS_FW], CALC_OP_REDUCE_SCATTER);
    ck_assert_int_eq(back->op[CALC_PASS_AGRAD], CALC_OP_ALL_GATHER);
}

CALC_TEST(grouped_weights_may_have_gradient_traffic_of_their_own)
{
    modern_case c = case_of(moe_app(), modern_exec(1, 1, 1));
    make_block(&c, CALC_MOE_BLOCK);
    double in = K * T * FE, out = K * T * H, weights = FE * H * E;
    ck_assert_double_eq(named(&c, "experts down")->bytes[CALC_PASS_WGRAD],
                        2 * (in + out) + 8 * weights);
    c.system.chip.grouped.wgrad_bytes = 5;
    make_block(&c, CALC_MOE_BLOCK);
    ck_assert_double_eq(named(&c, "experts down")->bytes[CALC_PASS_WGRAD],
                        2 * (in + out) + 5 * weights);
    ck_assert_double_eq(named(&c, "attention output")->bytes[CALC_PASS_WGRAD],
                        2 * (T * A * D + T * H) + 8 * A * D * H);
}

CALC_TEST(unfused_experts_move_more_in_their_activation_only)
{
    modern_case c = case_of(moe_app(), modern_exec(1, 1, 1));
    make_block(&c, CALC_MOE_BLOCK);
    double fused = named(&c, "experts activation")->bytes[CALC_PASS_FW];
    ck_assert_double_eq(fused, 3 * K * T * FE * 2);
    ck_assert_double_eq(named(&c, "experts activation")->bytes[CALC_PASS_AGRAD],
                        5 * K * T * FE * 2);
    c.exec.strategy.unfused_experts = true;
    make_block(&c, CALC_MOE_BLOCK);
    ck_assert_double_eq(named(&c, "experts activation")->bytes[CALC_PASS_FW], 2.5 * fused);
    ck_assert_double_eq(named(&c, "shared expert activation")->bytes[CALC_PASS_FW], 3 * T * FS * 2);
    c.system.chip.expert_activation_traffic = 4;
    make_block(&c, CALC_MOE_BLOCK);
    ck_assert_double_eq(named(&c, "experts activation")->bytes[CALC_PASS_FW], 4 * fused);
}

/* Each of 8 experts, or of the 2 of a rank, has kernels of its own; what they do is the same. */
CALC_TEST(looped_experts_launch_once_for_each)
{
    static const char *const names[] = {"experts up", "experts activation", "experts down"};
    for (int64_t ranks = 1; ranks <= 4; ranks *= 4) {
        modern_case c = case_of(moe_app(), modern_exec(1, 1, 8));
        c.exec.strategy.expert_par = ranks;
        make_block(&c, CALC_MOE_BLOCK);
        calc_operator grouped[3];
        for (int i = 0; i < 3; i++) {
            grouped[i] = *named(&c, names[i]);
        }
        double others = named(&c, "permute")->launches[CALC_PASS_FW];
        c.exec.strategy.looped_experts = true;
        make_block(&c, CALC_MOE_BLOCK);
        for (int i = 0; i < 3; i++) {
            const calc_operator *o = named(&c, names[i]);
            for (calc_pass pass = CALC_PASS_FW; pass < CALC_PASS_COUNT; pass++) {
                ck_assert_double_eq(o->launches[pass],
                                    grouped[i].launches[pass] * 8 / (double)ranks);
                ck_assert_double_eq(o->flop[pass], grouped[i].flop[pass]);
                ck_assert_double_eq(o->bytes[pass], grouped[i].bytes[pass]);
            }
        }
        ck_assert_double_eq(named(&c, "permute")->launches[CALC_PASS_FW], others);
        ck_assert_double_gt(calc_adapter_launches(c.operators, c.count), 1.1);
        c.exec.strategy.looped_experts = false;
        make_block(&c, CALC_MOE_BLOCK);
        ck_assert_double_eq(calc_adapter_launches(c.operators, c.count), 1);
    }
}

/* Written beside its input, the gradients of gates instead of its own; both in 8 bits, and narrowed
 * nowhere else. */
CALC_TEST(fused_experts_activate_where_they_multiply)
{
    modern_case c = case_of(moe_app(), modern_exec(1, 1, 1));
    c.exec.strategy.matrix_datatype = CALC_FORMAT_FLOAT8;
    c.system.chip.quantize_bytes = 3;
    make_block(&c, CALC_MOE_BLOCK);
    const calc_operator up = *named(&c, "experts up");
    const calc_operator down = *named(&c, "experts down");
    double kept = c.cost.kept_bytes;
    c.exec.strategy.fused_experts = c.exec.strategy.unfused_experts = true;
    make_block(&c, CALC_MOE_BLOCK);
    double activated = K * T * FE, gates = 2 * activated;
    const calc_operator *o = named(&c, "experts up");
    ck_assert_double_eq(o->bytes[CALC_PASS_FW], up.bytes[CALC_PASS_FW] + activated);
    ck_assert_double_eq(o->bytes[CALC_PASS_AGRAD], up.bytes[CALC_PASS_AGRAD] - 3 * gates);
    ck_assert_double_eq(o->bytes[CALC_PASS_WGRAD], up.bytes[CALC_PASS_WGRAD]);
    o = named(&c, "experts down");
    ck_assert_double_eq(o->bytes[CALC_PASS_FW], down.bytes[CALC_PASS_FW] - 3 * activated);
    ck_assert_double_eq(o->bytes[CALC_PASS_AGRAD],
                        down.bytes[CALC_PASS_AGRAD] + 2 * gates + gates - 2 * activated);
    ck_assert_double_eq(o->bytes[CALC_PASS_WGRAD], down.bytes[CALC_PASS_WGRAD]);
    o = named(&c, "experts activation");
    for (calc_pass pass = CALC_PASS_FW; pass < CALC_PASS_COUNT; pass++) {
        ck_assert(o->flop[pass] == 0 && o->bytes[pass] == 0 && o->launches[pass] == 0);
    }
    ck_assert_double_eq(c.cost.kept_bytes, kept);
    ck_assert_double_eq(named(&c, "shared expert activation")->bytes[CALC_PASS_FW], 3 * T * FS * 2);
}

/* ---- Elementwise kernels --------------------------------------------------------------------- */

/* Traffic and arithmetic of a kernel that runs once each way. */
static void kernel_is(const modern_case *c, const char *name, double fw_bytes, double bw_bytes,
                      double fw_flop, double bw_flop)
{
    const calc_operator *o = named(c, name);
    ck_assert_int_eq(o->kind, CALC_OPERATOR_VECTOR);
    ck_assert_double_eq(o->bytes[CALC_PASS_FW], fw_bytes);
    ck_assert_double_eq(o->bytes[CALC_PASS_AGRAD], bw_bytes);
    ck_assert_double_eq(o->flop[CALC_PASS_FW], fw_flop);
    ck_assert_double_eq(o->flop[CALC_PASS_AGRAD], bw_flop);
    ck_assert_double_eq(o->launches[CALC_PASS_FW], 1);
    ck_assert_double_eq(o->launches[CALC_PASS_AGRAD], 1);
    ck_assert_double_eq(o->launches[CALC_PASS_WGRAD], 0);
}

static void make_head(modern_case *c)
{
    resolve(c);
    c->count = calc_transformer_head(&c->shape, &c->exec.strategy, c->exec.training, c->operators);
    calc_cost_sum(&c->context, c->operators, c->count, 0, &c->cost);
}

CALC_TEST(elementwise_kernels_of_a_llama_block)
{
    modern_case c = case_of(modern_app(), modern_exec(1, 1, 1));
    c.app.qk_norm = true;
    make_block(&c, CALC_DENSE_BLOCK);
    double heads = T * (A + G) * D;
    kernel_is(&c, "attention norm", 2 * 2 * T * H, 3 * 2 * T * H, 4 * T * H, 8 * T * H);
    kernel_is(&c, "feed-forward norm", 2 * 2 * T * H, 3 * 2 * T * H, 4 * T * H, 8 * T * H);
    kernel_is(&c, "query key norm", 2 * 2 * heads, 3 * 2 * heads, 4 * heads, 8 * heads);
    ck_assert_double_eq(named(&c, "query key norm")->kept_bytes, 2 * heads); /* its input */
    kernel_is(&c, "rotary embedding", 2 * 2 * heads, 2 * 2 * heads, 3 * heads, 3 * heads);
    kernel_is(&c, "attention residual", 3 * 2 * T * H, 2 * 2 * T * H, T * H, 0);
    kernel_is(&c, "activation", 3 * 2 * T * F, 5 * 2 * T * F, 6 * T * F, 11 * T * F);
    c.exec.strategy.unfused_rope = true;
    c.exec.strategy.fused_activation = false;
    make_block(&c, CALC_DENSE_BLOCK);
    kernel_is(&c, "rotary embedding", 4 * 2 * heads, 4 * 2 * heads, 3 * heads, 3 * heads);
    kernel_is(&c, "activation", 6 * 2 * T * F, 10 * 2 * T * F, 6 * T * F, 11 * T * F);
    for (calc_pass pass = CALC_PASS_FW; pass < CALC_PASS_COUNT; pass++) {
        ck_assert_double_eq(named(&c, "feed-forward up")->launches[pass], 1);
    }
    ck_assert_double_eq(named(&c, "attention inputs")->launches[CALC_PASS_FW], 0);
    ck_assert_double_eq(named(&c, "attention inputs")->launches[CALC_PASS_AGRAD], 0);
}

/* LlamaRMSNorm of transformers: to float32, square, mean, product, back, product with the weight;
   it keeps the input in float32 and the result before the weight. A layer norm is one kernel. */
CALC_TEST(an_unfused_rms_norm_keeps_float32)
{
    modern_case c = case_of(modern_app(), modern_exec(1, 1, 1));
    make_block(&c, CALC_DENSE_BLOCK);
    double fused = c.cost.kept_bytes;
    c.exec.strategy.unfused_norm = c.exec.strategy.eager = true;
    make_block(&c, CALC_DENSE_BLOCK);
    ck_assert_double_eq(c.cost.kept_bytes - fused, 2 * 4 * T * H);
    const calc_operator *o = named(&c, "attention norm");
    ck_assert_double_eq(o->kept_bytes, (4 + 2) * T * H);
    ck_assert_double_eq(o->bytes[CALC_PASS_FW], 36 * T * H);    /* 6 + 8 + 4 + 8 + 6 + 4 */
    ck_assert_double_eq(o->bytes[CALC_PASS_AGRAD], 68 * T * H); /* 12 + 6 + 24 + 8 + 12 + 6 */
    ck_assert_double_eq(o->flop[CALC_PASS_FW], 4 * T * H);
    c.app.qk_norm = true;
    make_block(&c, CALC_DENSE_BLOCK);
    ck_assert_double_eq(named(&c, "query key norm")->kept_bytes, (4 + 2) * T * (A + G) * D);
    make_head(&c);
    ck_assert_double_eq(named(&c, "final norm")->kept_bytes, (4 + 2) * T * H);
    c = case_of(small_app(), modern_exec(1, 1, 1));
    make_block(&c, CALC_DENSE_BLOCK);
    fused = c.cost.kept_bytes;
    c.exec.strategy.unfused_norm = true;
    make_block(&c, CALC_DENSE_BLOCK);
    ck_assert_double_eq(c.cost.kept_bytes, fused);
    ck_assert_double_eq(named(&c, "attention norm")->bytes[CALC_PASS_FW], 2 * 2 * T * H);
}

/* What it makes of its input is made again; norms of queries and keys are none of the module's. */
CALC_TEST(an_unfused_norm_that_is_recomputed_keeps_its_input)
{
    modern_case c = case_of(modern_app(), modern_exec(1, 1, 1));
    c.app.qk_norm = true;
    c.exec.strategy.unfused_norm = c.exec.strategy.eager = true;
    c.exec.strategy.activation_recompute = CALC_ACTIVATION_RECOMPUTE_MODULES;
    c.exec.strategy.recompute_modules = 1 << CALC_RECOMPUTE_MODULES_LAYERNORM;
    make_block(&c, CALC_DENSE_BLOCK);
    ck_assert_double_eq(named(&c, "attention norm")->kept_bytes, 2 * T * H);
    ck_assert_double_eq(named(&c, "feed-forward norm")->kept_bytes, 2 * T * H);
    ck_assert_double_eq(named(&c, "attention norm")->bytes[CALC_PASS_FW], 36 * T * H);
    ck_assert_double_eq(named(&c, "query key norm")->kept_bytes, (4 + 2) * T * (A + G) * D);
    c.exec.strategy.recompute_modules = 1 << CALC_RECOMPUTE_MODULES_MLP;
    make_block(&c, CALC_DENSE_BLOCK);
    ck_assert_double_eq(named(&c, "attention norm")->kept_bytes, (4 + 2) * T * H);
}

CALC_TEST(elementwise_kernels_of_a_gpt_block)
{
    modern_case c = case_of(small_app(), modern_exec(1, 1, 1));
    c.exec.strategy.flash_attention = false;
    make_block(&c, CALC_DENSE_BLOCK);
    kernel_is(&c, "attention norm", 2 * 2 * T * H, 3 * 2 * T * H, 9 * T * H, 14 * T * H);
    ck_assert_double_eq(named(&c, "attention norm")->flop[CALC_PASS_WGRAD], 7 * T * H);
    kernel_is(&c, "feed-forward residual", 7 * T * H, 5 * T * H, T * H, 0); /* and the mask */
    kernel_is(&c, "activation", 2 * 2 * T * F, 3 * 2 * T * F, 8 * T * F, 13 * T * F);
    const calc_operator *o = named(&c, "attention scores");
    double pairs = A * T * T;
    ck_assert_double_eq(o->bytes[CALC_PASS_FW], pairs * (5 * 2 + 2));
    ck_assert_double_eq(o->bytes[CALC_PASS_AGRAD], pairs * (7 * 2 + 1));
    ck_assert_double_eq(o->launches[CALC_PASS_FW], 5);
    ck_assert_double_eq(o->launches[CALC_PASS_AGRAD], 7);
}

CALC_TEST(elementwise_kernels_of_latent_attention)
{
    modern_case c = case_of(latent_app(), modern_exec(1, 1, 1));
    make_block(&c, CALC_DENSE_BLOCK);
    double latents = T * (32 + 16), heads = 2 * T * A * (16 + 8);
    kernel_is(&c, "latent norm", 2 * 2 * latents, 3 * 2 * latents, 4 * latents, 8 * latents);
    kernel_is(&c, "rotary embedding", 2 * 2 * heads, 2 * 2 * heads, 3 * heads, 3 * heads);
}

/* Sorting: every token once and half, and each of its two copies three times and a half. */
CALC_TEST(elementwise_kernels_of_experts)
{
    modern_case c = case_of(moe_app(), modern_exec(1, 1, 1));
    make_block(&c, CALC_MOE_BLOCK);
    double rows = 2 * T, routed = rows * 32;
    kernel_is(&c, "routing", 8 * T * 8, 8 * T * 8, 0, 0);
    kernel_is(&c, "experts activation", 3 * 2 * routed, 5 * 2 * routed, 6 * routed, 11 * routed);
    for (int i = 0; i < 2; i++) {
        const calc_operator *o = named(&c, i == 0 ? "permute" : "unpermute");
        ck_assert_int_eq(o->kind, CALC_OPERATOR_PERMUTE);
        ck_assert_double_eq(o->bytes[CALC_PASS_FW], (0.5 * T + 3.5 * rows) * H * 2);
        ck_assert_double_eq(o->bytes[CALC_PASS_AGRAD], (0.5 * T + 3.5 * rows) * H * 2);
        ck_assert_double_eq(o->launches[CALC_PASS_FW], 8);
        ck_assert_double_eq(o->launches[CALC_PASS_AGRAD], 8);
    }
    /* Once per rank it was sent to, and a copy for each expert: two of eight experts are on one of
     * two ranks with a chance of 3 in 7. Nothing is sent where one rank has them all. */
    for (int ranks = 1; ranks <= 2; ranks++) {
        modern_case limited = case_of(moe_app(), modern_exec(1, 1, ranks));
        limited.exec.strategy.expert_par = ranks;
        limited.exec.strategy.dispatch_type = CALC_DISPATCH_TYPE_NODE_LIMITED;
        make_block(&limited, CALC_MOE_BLOCK);
        double moved = ranks == 1 ? 0.5 * T + 3.5 * rows : 11.0 / 7 * T + rows;
        assert_near(named(&limited, "permute")->bytes[CALC_PASS_FW], moved * H * 2);
    }
    c.app.ffn_type = CALC_FFN_TYPE_GELU;
    make_block(&c, CALC_MOE_BLOCK);
    kernel_is(&c, "experts activation", 2 * 2 * routed, 3 * 2 * routed, 8 * routed, 13 * routed);
    ck_assert_double_eq(c.cost.expert_weights, 2 * H * 32 * 8);
}

CALC_TEST(elementwise_kernels_of_the_ends)
{
    modern_case c = case_of(modern_app(), modern_exec(1, 1, 1));
    resolve(&c);
    c.count = calc_transformer_head(&c.shape, &c.exec.strategy, c.exec.training, c.operators);
    kernel_is(&c, "loss", 4 * T * 512, 4 * T * 512, 5 * T * 512, 2 * T * 512);
    c.count = calc_transformer_mtp(&c.shape, &c.exec.strategy, c.operators);
    kernel_is(&c, "prediction norms", 2 * 2 * 2 * T * H, 3 * 2 * 2 * T * H, 0, 0);
    c.app.norm_type = CALC_NORM_TYPE_LAYER;
    resolve(&c);
    c.count = calc_transformer_mtp(&c.shape, &c.exec.strategy, c.operators);
    ck_assert_double_eq(named(&c, "prediction norms")->weights, 6 * H);
}

/* ---- Tensor and context parallelism ---------------------------------------------------------- */

/* How often the tensor-parallel ranks do an operation in a pass, all on T * H elements. */
static int tensor_ops(const modern_case *c, calc_collective_op op, calc_pass first, calc_pass last)
{
    int found = 0;
    for (size_t i = 0; i < c->count; i++) {
        const calc_operator *o = &c->operators[i];
        if (o->kind == CALC_OPERATOR_COLLECTIVE && o->group == CALC_IN_TENSOR) {
            ck_assert_double_eq(o->message_bytes, T * H * 2);
            for (calc_pass pass = first; pass <= last; pass++) {
                found += o->op[pass] == op;
                ck_assert_double_eq(o->times[pass], 1);
            }
        }
    }
    return found;
}

static void tensor_ops_are(const modern_case *c, calc_collective_op op, int forward, int backward)
{
    ck_assert_int_eq(tensor_ops(c, op, CALC_PASS_FW, CALC_PASS_FW), forward);
    ck_assert_int_eq(tensor_ops(c, op, CALC_PASS_AGRAD, CALC_PASS_WGRAD), backward);
}

CALC_TEST(a_block_gathers_and_scatters_twice_each_way)
{
    modern_case c = case_of(modern_app(), modern_exec(2, 1, 1));
    make_block(&c, CALC_DENSE_BLOCK);
    tensor_ops_are(&c, CALC_OP_ALL_GATHER, 2, 4);
    tensor_ops_are(&c, CALC_OP_REDUCE_SCATTER, 2, 2);
    tensor_ops_are(&c, CALC_OP_ALL_REDUCE, 0, 0);
    c.exec.strategy.seq_par_ag_redo = false;
    make_block(&c, CALC_DENSE_BLOCK);
    tensor_ops_are(&c, CALC_OP_ALL_GATHER, 2, 2);
    c.exec.strategy.tensor_par_comm_type = CALC_TENSOR_PAR_COMM_TYPE_AR;
    make_block(&c, CALC_DENSE_BLOCK);
    tensor_ops_are(&c, CALC_OP_ALL_REDUCE, 2, 2);
    tensor_ops_are(&c, CALC_OP_ALL_GATHER, 0, 0);
    c = case_of(modern_app(), modern_exec(1, 1, 1));
    make_block(&c, CALC_DENSE_BLOCK);
    tensor_ops_are(&c, CALC_OP_ALL_GATHER, 0, 0);
}

CALC_TEST(routed_experts_have_no_tensor_parallel_communication)
{
    modern_case c = case_of(moe_app(), modern_exec(2, 1, 2));
    make_block(&c, CALC_MOE_BLOCK);
    tensor_ops_are(&c, CALC_OP_ALL_GATHER, 2, 4); /* attention, shared experts */
    c.app.shared_feedforward = 0;
    make_block(&c, CALC_MOE_BLOCK);
    tensor_ops_are(&c, CALC_OP_ALL_GATHER, 1, 2);
    tensor_ops_are(&c, CALC_OP_REDUCE_SCATTER, 1, 1);
}

/* Four context ranks of 8 tokens each; keys and values of a token are 2 * 2 heads of 16. */
static modern_case context_case(calc_context_par_type type)
{
    modern_case c = case_of(modern_app(), modern_exec(1, 1, 1));
    c.exec.strategy.context_par = 4;
    c.exec.num_procs = 4;
    c.exec.strategy.context_par_type = type;
    make_block(&c, CALC_DENSE_BLOCK);
    return c;
}

static const double key_value_bytes = 8 * 2 * 2 * 16 * 2.0;

CALC_TEST(one_context_rank_exchanges_nothing)
{
    modern_case c = case_of(modern_app(), modern_exec(1, 1, 1));
    c.exec.strategy.context_par = 1;
    make_block(&c, CALC_DENSE_BLOCK);
    ck_assert(!has_operator(&c, "context ring"));
}

CALC_TEST(context_ranks_divide_tokens_and_scores)
{
    modern_case c = context_case(CALC_CONTEXT_PAR_TYPE_RING);
    ck_assert_double_eq(flop_of(&c, "feed-forward down", CALC_PASS_FW), 2 * 8 * F * H);
    double scores = A * 32 * 33 / 2 / 4;
    ck_assert_double_eq(flop_of(&c, "flash attention", CALC_PASS_FW), 2 * scores * 2 * D);
    c.exec.strategy.context_par_balance = CALC_CONTEXT_PAR_BALANCE_NONE;
    make_block(&c, CALC_DENSE_BLOCK); /* the last rank has 7 of 16 triangles of an even 4 */
    ck_assert_double_eq(flop_of(&c, "flash attention", CALC_PASS_FW), 2 * scores * 7 / 4 * 2 * D);
    c.app.causal = false;
    make_block(&c, CALC_DENSE_BLOCK);
    ck_assert_double_eq(flop_of(&c, "flash attention", CALC_PASS_FW), 2 * A * T * T / 4 * 2 * D);
}

CALC_TEST(a_ring_passes_keys_on_and_their_gradients_back)
{
    modern_case c = context_case(CALC_CONTEXT_PAR_TYPE_RING);
    const calc_operator *o = named(&c, "context ring");
    ck_assert_double_eq(o->message_bytes, key_value_bytes);
    ck_assert_int_eq(o->op[CALC_PASS_FW], CALC_OP_P2P);
    ck_assert_int_eq(o->op[CALC_PASS_AGRAD], CALC_OP_P2P);
    ck_assert_double_eq(o->times[CALC_PASS_FW], 3);
    ck_assert_double_eq(o->times[CALC_PASS_AGRAD], 6);
    ck_assert(o->hidden_by_attention);
    ck_assert_double_eq(named(&c, "flash attention")->launches[CALC_PASS_FW], 4);
    ck_assert_double_eq(named(&c, "flash attention")->launches[CALC_PASS_AGRAD], 4);
}

CALC_TEST(an_all_gather_brings_all_keys)
{
    modern_case c = context_case(CALC_CONTEXT_PAR_TYPE_ALL_GATHER);
    const calc_operator *o = named(&c, "context all-gather");
    ck_assert_double_eq(o->message_bytes, 4 * key_value_bytes);
    ck_assert_int_eq(o->op[CALC_PASS_FW], CALC_OP_ALL_GATHER);
    ck_assert_int_eq(o->op[CALC_PASS_AGRAD], CALC_OP_REDUCE_SCATTER);
    ck_assert_int_eq(o->op[CALC_PASS_WGRAD], CALC_OP_ALL_GATHER);
    ck_assert(!o->hidden_by_attention);
    ck_assert_double_eq(named(&c, "flash attention")->launches[CALC_PASS_FW], 1);
}

/* Queries and outputs of 4 heads, keys and values of 2, each in an operation of its own. The output
   is kept on both sides. */
CALC_TEST(ulysses_swaps_sequence_for_heads)
{
    modern_case c = context_case(CALC_CONTEXT_PAR_TYPE_ULYSSES);
    const calc_operator *o = named(&c, "context all-to-all");
    ck_assert_double_eq(o->message_bytes * 4, 8 * (2 * 4 + 2 * 2) * 16 * 2.0);
    ck_assert_int_eq(o->op[CALC_PASS_FW], CALC_OP_ALL_TO_ALL);
    ck_assert_double_eq(o->times[CALC_PASS_FW], 4);
    ck_assert_double_eq(o->times[CALC_PASS_AGRAD], 4);
    ck_assert_double_eq(o->sub_ranks, 4);
    double moved = 8 * (2 * 4 + 2 * 2) * 16 * 2.0;
    kernel_is(&c, "context reorder", 2 * moved, 2 * moved, 0, 0);
    ck_assert(!has_operator(&c, "context ring"));
    ck_assert_double_eq(c.cost.kept_bytes, 8 * (llama_bytes(1) + 2 * A * D));
}

CALC_TEST(hierarchical_context_is_both)
{
    modern_case c = context_case(CALC_CONTEXT_PAR_TYPE_HIERARCHICAL);
    ck_assert(!has_operator(&c, "context ring")); /* all four are in a node */
    c.exec.strategy.context_par_inner = 2;
    make_block(&c, CALC_DENSE_BLOCK);
    const calc_operator *inner = named(&c, "context all-to-all");
    const calc_operator *outer = named(&c, "context ring");
    ck_assert_double_eq(inner->sub_ranks, 2);
    ck_assert_double_eq(inner->sub_stride, 1);
    ck_assert_double_eq(outer->sub_ranks, 2);
    ck_assert_double_eq(outer->sub_stride, 2);
    ck_assert_double_eq(outer->times[CALC_PASS_FW], 1);
    ck_assert_double_eq(outer->times[CALC_PASS_AGRAD], 2);
    ck_assert_double_eq(outer->message_bytes, key_value_bytes);
    c.exec.strategy.context_par_inner = 1; /* a plain ring */
    make_block(&c, CALC_DENSE_BLOCK);
    ck_assert(!has_operator(&c, "context all-to-all"));
    ck_assert_double_eq(named(&c, "context ring")->times[CALC_PASS_FW], 3);
}

/* ---- Recomputation --------------------------------------------------------------------------- */

/* What is not kept, and which operators run again, in order, with spaces between. */
static void recompute_is(modern_case *c, calc_block_kind kind, double dropped_bytes,
                         const char *again)
{
    char names[1024] = "";
    make_block(c, kind);
    unsigned bits = calc_operator_recompute(&c->exec.strategy, c->exec.training);
    for (size_t i = 0; i < c->count; i++) {
        if (c->operators[i].repeated_by & bits) {
            strcat(strcat(names, names[0] ? ", " : ""), c->operators[i].name);
        }
    }
    ck_assert_str_eq(names, again);
    assert_near(c->cost.kept_whole_bytes - c->cost.kept_bytes, dropped_bytes);
}

static modern_case module_case(calc_app app, int64_t tensor_par, int module)
{
    modern_case c = case_of(app, modern_exec(tensor_par, 1, 2));
    c.exec.strategy.activation_recompute = CALC_ACTIVATION_RECOMPUTE_MODULES;
    c.exec.strategy.recompute_modules = (int64_t)1 << module;
    return c;
}

CALC_TEST(core_attention_drops_its_sums_and_runs_again)
{
    modern_case c = module_case(modern_app(), 2, CALC_RECOMPUTE_MODULES_CORE_ATTN);
    recompute_is(&c, CALC_DENSE_BLOCK, 4 * T * A / 2, "flash attention");
    c.exec.strategy.activation_recompute = CALC_ACTIVATION_RECOMPUTE_ATTN_ONLY;
    c.exec.strategy.recompute_modules = 0;
    recompute_is(&c, CALC_DENSE_BLOCK, 4 * T * A / 2, "flash attention");
    c.exec.strategy.context_par = 2;
    recompute_is(&c, CALC_DENSE_BLOCK, 4 * T / 2 * A / 2, "context ring, flash attention");
    c = module_case(small_app(), 2, CALC_RECOMPUTE_MODULES_CORE_ATTN);
    c.exec.strategy.flash_attention = false;
    recompute_is(&c, CALC_DENSE_BLOCK, 5 * A / 2 * T * T, "attention scores");
}

CALC_TEST(norms_drop_their_outputs)
{
    modern_case c = module_case(modern_app(), 2, CALC_RECOMPUTE_MODULES_LAYERNORM);
    recompute_is(&c, CALC_DENSE_BLOCK, 2 * 2 * T * H / 2, "attention norm, feed-forward norm");
    c = module_case(moe_app(), 1, CALC_RECOMPUTE_MODULES_LAYERNORM);
    recompute_is(&c, CALC_MOE_BLOCK, 2 * 2 * T * H, "attention norm, feed-forward norm");
    c = module_case(latent_app(), 1, CALC_RECOMPUTE_MODULES_LAYERNORM);
    recompute_is(&c, CALC_DENSE_BLOCK, 2 * 2 * T * H, "attention norm, feed-forward norm");
}

CALC_TEST(up_projections_drop_queries_keys_and_values)
{
    modern_case c = module_case(latent_app(), 1, CALC_RECOMPUTE_MODULES_MLA_UP_PROJ);
    recompute_is(&c, CALC_DENSE_BLOCK, T * (2 * 2 * A * (NOPE + ROPE) + 2 * A * V),
                 "latent norm, query up projection, key value up projection, rotary embedding");
    c = module_case(modern_app(), 1, CALC_RECOMPUTE_MODULES_MLA_UP_PROJ);
    recompute_is(&c, CALC_DENSE_BLOCK, 0, "");
}

CALC_TEST(a_feedforward_layer_drops_all_but_its_input)
{
    modern_case c = module_case(modern_app(), 1, CALC_RECOMPUTE_MODULES_MLP);
    recompute_is(&c, CALC_DENSE_BLOCK, 6 * T * F, "feed-forward up, activation, feed-forward down");
    c = module_case(modern_app(), 2, CALC_RECOMPUTE_MODULES_MLP);
    recompute_is(&c, CALC_DENSE_BLOCK, 6 * T * F / 2,
                 "feed-forward gather, feed-forward up, activation, feed-forward down, "
                 "feed-forward reduction");
    c = module_case(moe_app(), 1, CALC_RECOMPUTE_MODULES_MLP);
    recompute_is(&c, CALC_MOE_BLOCK, 0, "");
}

CALC_TEST(activations_of_experts_are_dropped_alone)
{
    modern_case c = module_case(moe_app(), 1, CALC_RECOMPUTE_MODULES_MOE_ACT);
    recompute_is(&c, CALC_MOE_BLOCK, K * T * 2 * FE, "experts activation");
}

CALC_TEST(shared_experts_are_dropped_alone)
{
    modern_case c = module_case(moe_app(), 1, CALC_RECOMPUTE_MODULES_SHARED_EXPERTS);
    recompute_is(&c, CALC_MOE_BLOCK, 6 * T * FS,
                 "shared expert up, shared expert activation, shared expert down");
}

CALC_TEST(routed_experts_run_again_with_both_exchanges)
{
    modern_case c = module_case(moe_app(), 1, CALC_RECOMPUTE_MODULES_MOE);
    c.exec.strategy.expert_par = 2;
    c.app.shared_feedforward = 0;
    recompute_is(&c, CALC_MOE_BLOCK, T * (K * (2 * H + 6 * FE) + 12 * E),
                 "router, routing, permute, dispatch, experts up, experts activation, "
                 "experts down, combine, unpermute");
}

CALC_TEST(modules_add_up)
{
    modern_case c = module_case(modern_app(), 1, CALC_RECOMPUTE_MODULES_LAYERNORM);
    c.exec.strategy.recompute_modules |= 1 << CALC_RECOMPUTE_MODULES_CORE_ATTN;
    recompute_is(&c, CALC_DENSE_BLOCK, 4 * T * H + 4 * T * A,
                 "attention norm, flash attention, feed-forward norm");
    c.exec.strategy.activation_recompute = CALC_ACTIVATION_RECOMPUTE_NONE; /* then none counts */
    recompute_is(&c, CALC_DENSE_BLOCK, 0, "");
}

CALC_TEST(full_recomputation_keeps_the_input_of_the_block)
{
    const calc_app apps[] = {modern_app(), latent_app(), moe_app()};
    for (int i = 0; i < 3; i++) {
        modern_case c = case_of(apps[i], modern_exec(2, 1, 2));
        c.exec.strategy.activation_recompute = CALC_ACTIVATION_RECOMPUTE_FULL;
        make_block(&c, i == 2 ? CALC_MOE_BLOCK : CALC_DENSE_BLOCK);
        ck_assert_double_eq(c.cost.kept_bytes, 2 * T * H / 2);
        for (size_t k = 0; k < c.count; k++) {
            ck_assert(c.operators[k].repeated_by & CALC_RECOMPUTE_ALL);
        }
    }
}

/* PyTorch's matrices in order: query, key, value, output, gate, up, down; the first, third, fifth
 * and seventh are saved, attention with its sums, too. TorchTitan's wq, wv, w1 and w2. */
CALC_TEST(every_second_multiplication_is_saved)
{
    modern_case c = case_of(modern_app(), modern_exec(1, 1, 2));
    c.exec.strategy.activation_recompute = CALC_ACTIVATION_RECOMPUTE_SELECTIVE_OP;
    make_block(&c, CALC_DENSE_BLOCK);
    double saved = 2 * (A * D + G * D + A * D + F + H) + 4 * A;
    ck_assert_double_eq(c.cost.kept_bytes, T * (2 * H + saved));
    unsigned bits = calc_operator_recompute(&c.exec.strategy, true);
    ck_assert_double_eq(calc_operator_again(named(&c, "query key value"), bits), G / (A + 2 * G));
    ck_assert_double_eq(calc_operator_again(named(&c, "flash attention"), bits), 0);
    ck_assert_double_eq(calc_operator_again(named(&c, "attention output"), bits), 1);
    ck_assert_double_eq(calc_operator_again(named(&c, "feed-forward up"), bits), 0.5);
    ck_assert_double_eq(calc_operator_again(named(&c, "activation"), bits), 1);
    ck_assert_double_eq(calc_operator_again(named(&c, "feed-forward down"), bits), 0);
    c.exec.strategy.tensor_par = 2; /* what was scattered is saved, what was gathered is not */
    c.exec.strategy.tensor_par_comm_type = CALC_TENSOR_PAR_COMM_TYPE_RS_AG;
    make_block(&c, CALC_DENSE_BLOCK);
    double scattered = 2 * 2 * H / 2;
    double down = 2 * H / 2; /* of all tokens, on either rank */
    ck_assert_double_eq(c.cost.kept_bytes, T * (2 * H / 2 + saved / 2 + down + scattered));
    ck_assert_double_eq(calc_operator_again(named(&c, "attention gather"), bits), 1);
    ck_assert_double_eq(calc_operator_again(named(&c, "attention reduction"), bits), 0);
}

/* Latent attention makes queries first: with their own compression wq_a, wq_b, wkv_a, wkv_b and wo,
 * of which the first, third and fifth are saved, and the feed-forward layer's second one. Experts,
 * of grouped multiplications, are repeated but for what they exchange. */
CALC_TEST(experts_and_latents_count_too)
{
    modern_case c = case_of(latent_app(), modern_exec(1, 1, 2));
    c.exec.strategy.activation_recompute = CALC_ACTIVATION_RECOMPUTE_SELECTIVE_OP;
    make_block(&c, CALC_DENSE_BLOCK);
    unsigned bits = calc_operator_recompute(&c.exec.strategy, true);
    bool compressed = c.app.q_lora_rank > 0;
    ck_assert_double_eq(calc_operator_again(named(&c, "query up projection"), bits), compressed);
    ck_assert_double_eq(calc_operator_again(named(&c, "key value down projection"), bits),
                        !compressed);
    ck_assert_double_eq(calc_operator_again(named(&c, "key value up projection"), bits),
                        compressed);
    ck_assert_double_eq(calc_operator_again(named(&c, "attention output"), bits), !compressed);
    ck_assert_double_eq(calc_operator_again(named(&c, "feed-forward down"), bits), compressed);
    c = case_of(moe_app(), modern_exec(1, 1, 2));
    c.exec.strategy.activation_recompute = CALC_ACTIVATION_RECOMPUTE_SELECTIVE_OP;
    c.exec.strategy.expert_par = 2;
    make_block(&c, CALC_MOE_BLOCK);
    ck_assert_double_eq(calc_operator_again(named(&c, "experts up"), bits), 1);
    ck_assert_double_eq(calc_operator_again(named(&c, "experts down"), bits), 1);
    ck_assert_double_eq(calc_operator_again(named(&c, "dispatch"), bits), 0);
    ck_assert_double_eq(named(&c, "dispatch")->saved_bytes, named(&c, "dispatch")->message_bytes);
    ck_assert_double_eq(calc_operator_again(named(&c, "router"), bits), 1);
}

/* ---- What a pass needs beside ---------------------------------------------------------------- */

static double passing_of(modern_case *c, calc_block_kind kind)
{
    make_block(c, kind);
    return c->cost.passing_bytes;
}

/* The gate's backward pass has the gradients of the residual stream, of its output and of both
   inputs; its output is done with, as is a mask of dropout. Without a gate, one input; unfused, one
   more between. */
CALC_TEST(a_block_is_widest_where_its_activation_passes_back)
{
    modern_case c = case_of(modern_app(), modern_exec(1, 1, 1));
    ck_assert_double_eq(passing_of(&c, CALC_DENSE_BLOCK), 2 * T * (H + 2 * F));
    c.exec.strategy.fused_activation = false;
    ck_assert_double_eq(passing_of(&c, CALC_DENSE_BLOCK), 2 * T * (H + 3 * F));
    c = case_of(small_app(), modern_exec(1, 1, 1));
    ck_assert_double_eq(passing_of(&c, CALC_DENSE_BLOCK), 2 * T * (H + F) - T * H);
    c = case_of(modern_app(), modern_exec(2, 1, 1));
    ck_assert_double_eq(passing_of(&c, CALC_DENSE_BLOCK), 2 * T * (H / 2 + 2 * F / 2));
    c.exec.strategy.tensor_par_comm_type = CALC_TENSOR_PAR_COMM_TYPE_AR;
    c.exec.strategy.seq_par_ag_redo = false;
    ck_assert_double_eq(passing_of(&c, CALC_DENSE_BLOCK), 2 * T * (H + 2 * F / 2));
}

/* With a narrow layer that of its output, which all ranks gather; or that of its input and the
   input, once the layer is done with what it kept. */
CALC_TEST(sequence_parallel_ranks_gather_before_and_after)
{
    modern_case c = case_of(modern_app(), modern_exec(4, 1, 1));
    c.app.feedforward = 64;
    ck_assert_double_eq(passing_of(&c, CALC_DENSE_BLOCK),
                        2 * T * (H / 4 + 2 * H + 2 * 16 - 3 * 16));
    c.exec.strategy.seq_par_ag_redo = false;
    ck_assert_double_eq(passing_of(&c, CALC_DENSE_BLOCK), 2 * T * (H / 4 + H + 16));
}

/* Gradients of scores and probabilities, when the feed-forward layer is done with. */
CALC_TEST(stored_scores_have_gradients_as_large)
{
    modern_case c = case_of(modern_app(), modern_exec(1, 1, 1));
    c.app.seq_size = 512;
    c.exec.strategy.flash_attention = false;
    double tokens = 512, done = 3 * F + 2 * H + A * D;
    double beside = H + 2 * A * D + 2 * G * D;
    ck_assert_double_eq(passing_of(&c, CALC_DENSE_BLOCK),
                        2 * (2 * A * tokens * tokens + tokens * (beside - done)));
}

/* Four copies of what was sent to experts and back; two without an exchange. A token that is sent
   once to a rank, or to all, is there once. */
CALC_TEST(routed_tokens_are_there_several_times)
{
    modern_case c = case_of(moe_app(), modern_exec(1, 1, 4));
    double copies = K * T, shared = T, width = 2 * H;
    ck_assert_double_eq(passing_of(&c, CALC_MOE_BLOCK), (2 * copies + shared) * width);
    c.exec.strategy.expert_par = 4;
    ck_assert_double_eq(passing_of(&c, CALC_MOE_BLOCK), (4 * copies + shared) * width);
    c.exec.strategy.moe_imbalance = 0.5;
    ck_assert_double_eq(passing_of(&c, CALC_MOE_BLOCK), (6 * copies + shared) * width);
    c.exec.strategy.moe_imbalance = 0;
    c.app.shared_feedforward = 0;
    c.exec.strategy.dispatch_type = CALC_DISPATCH_TYPE_NODE_LIMITED; /* two different ones of 8 */
    ck_assert_double_eq(passing_of(&c, CALC_MOE_BLOCK),
                        (copies + 2 * 4 * (1 - 15.0 / 28) * T + T) * width);
    c.exec.strategy.dispatch_type = CALC_DISPATCH_TYPE_ALL_GATHER;
    ck_assert_double_eq(passing_of(&c, CALC_MOE_BLOCK), (copies + 2 * 4 * T + T) * width);
}

/* ---- Narrow numbers and tensor parallelism --------------------------------------------------- */

/* Each rank narrows its share of what is gathered, so that fewer bytes travel; the transposed copy,
   half of the traffic, is of the whole. What is reduced stays wide. */
CALC_TEST(what_is_gathered_is_narrowed_before)
{
    static const char *const column[] = {"query key value", "feed-forward up"};
    static const char *const row[] = {"attention output", "feed-forward down"};
    static const char *const before[] = {"attention gather", "feed-forward gather"};
    static const char *const after[] = {"attention reduction", "feed-forward reduction"};
    modern_case wide = case_of(modern_app(), modern_exec(4, 1, 1));
    modern_case c = wide;
    c.exec.strategy.matrix_datatype = CALC_FORMAT_FLOAT8;
    c.system.chip.quantize_bytes = wide.system.chip.quantize_bytes = 4;
    make_block(&wide, CALC_DENSE_BLOCK);
    make_block(&c, CALC_DENSE_BLOCK);
    for (int i = 0; i < 2; i++) {
        const calc_operator *o = named(&c, column[i]);
        double shared = 2 * T * H * (1 - 1.0 / 4); /* half of 4 bytes, of three ranks of four */
        double operands = o->inputs + o->weights;
        ck_assert_double_eq(o->bytes[CALC_PASS_FW],
                            operands + 2 * o->outputs + 4 * o->inputs - shared);
        o = named(&c, row[i]);
        operands = o->outputs + o->weights;
        ck_assert_double_eq(o->bytes[CALC_PASS_AGRAD],
                            operands + 2 * o->inputs + 4 * o->outputs - shared);
        const calc_operator *gather = named(&c, before[i]), *reduction = named(&c, after[i]);
        double whole = named(&wide, before[i])->message_bytes;
        ck_assert_double_eq(calc_operator_message_bytes(gather, CALC_PASS_FW), whole / 2);
        ck_assert_double_eq(calc_operator_message_bytes(gather, CALC_PASS_AGRAD), whole);
        ck_assert_double_eq(calc_operator_message_bytes(gather, CALC_PASS_WGRAD), whole / 2);
        ck_assert_double_eq(calc_operator_message_bytes(reduction, CALC_PASS_FW), whole);
        ck_assert_double_eq(calc_operator_message_bytes(reduction, CALC_PASS_AGRAD), whole / 2);
    }
    c.exec.strategy.tensor_par_comm_type = CALC_TENSOR_PAR_COMM_TYPE_AR; /* nothing is gathered */
    c.exec.strategy.seq_par_ag_redo = false;
    make_block(&c, CALC_DENSE_BLOCK);
    const calc_operator *o = named(&c, "feed-forward up");
    ck_assert_double_eq(o->bytes[CALC_PASS_FW],
                        o->inputs + o->weights + 2 * o->outputs + 4 * o->inputs);
    ck_assert_double_eq(
        calc_operator_message_bytes(named(&c, "feed-forward gather"), CALC_PASS_AGRAD), 2 * T * H);
}

/* ---- Ends ------------------------------------------------------------------------------------ */

CALC_TEST(a_head_keeps_its_inputs_and_logits)
{
    modern_case c = case_of(modern_app(), modern_exec(2, 1, 1));
    c.exec.strategy.memory_model = CALC_MEMORY_MODEL_CALCULON;
    make_head(&c);
    ck_assert_double_eq(c.cost.dense_weights, 512 / 2 * H + H);
    ck_assert_double_eq(flop_of(&c, "head", CALC_PASS_WGRAD), 2 * T * H * 512 / 2);
    ck_assert_double_eq(c.cost.kept_bytes, T * (4 * H + 2 * 512) / 2);
    ck_assert_double_eq(named(&c, "loss")->bytes[CALC_PASS_FW], 4 * T * 512 / 2);
    c.exec.strategy.fused_cross_entropy = false;
    make_head(&c);
    /* logits in 2 and in 4 bytes, which their gradient overwrites */
    ck_assert_double_eq(c.cost.kept_bytes, T * (4 * H + (2 + 4) * 512) / 2);
    ck_assert_double_eq(named(&c, "loss")->bytes[CALC_PASS_FW], 14 * T * 512 / 2);
}

/* In Megatron-LM's count what its backward pass needs at the peak: the gradient of the input, and
   with sequence parallelism the input of all tokens, and the rank's share of the gradient. */
CALC_TEST(the_backward_pass_of_a_head_needs_room)
{
    for (int ranks = 1; ranks <= 4; ranks *= 2) {
        modern_case c = case_of(modern_app(), modern_exec(ranks, 1, 1));
        double hidden_bytes = T * H * 2;
        c.exec.strategy.memory_model = CALC_MEMORY_MODEL_CALCULON;
        make_head(&c);
        double stored = c.cost.kept_bytes;
        c.exec.strategy.memory_model = CALC_MEMORY_MODEL_MEGATRON;
        make_head(&c);
        double room = ranks > 1 ? (2 + 1.0 / ranks) * hidden_bytes : hidden_bytes;
        ck_assert_double_eq(c.cost.kept_bytes, stored + room);
        c.exec.strategy.tensor_par_comm_type = CALC_TENSOR_PAR_COMM_TYPE_AR;
        c.exec.strategy.seq_par_ag_redo = false;
        make_head(&c);
        room = hidden_bytes;
        c.exec.strategy.memory_model = CALC_MEMORY_MODEL_CALCULON;
        double with_room = c.cost.kept_bytes;
        make_head(&c);
        ck_assert_double_eq(with_room, c.cost.kept_bytes + room);
        c.exec.strategy.memory_model = CALC_MEMORY_MODEL_MEGATRON;
        c.exec.training = false;
        make_head(&c);
        ck_assert_double_eq(c.cost.kept_bytes, with_room - room);
    }
}

/* PyTorch's loss: logits and their gradient, each in 2 and in 4 bytes. */
CALC_TEST(a_loss_that_copies_keeps_logits_and_gradients)
{
    modern_case c = case_of(modern_app(), modern_exec(2, 1, 1));
    double copies = T * (4 * H + 2 * (2 + 4) * 512) / 2;
    c.exec.strategy.memory_model = CALC_MEMORY_MODEL_CALCULON;
    c.exec.strategy.fused_cross_entropy = false;
    c.exec.strategy.framework_mem = 1 << CALC_FRAMEWORK_MEM_LOSS_COPIES;
    make_head(&c);
    ck_assert_double_eq(c.cost.kept_bytes, copies);
    c.exec.strategy.framework_mem = 0;
    c.exec.strategy.eager = true;
    make_head(&c);
    ck_assert_double_eq(c.cost.kept_bytes, copies);
    c.exec.strategy.fused_cross_entropy = true;
    make_head(&c);
    ck_assert_double_eq(c.cost.kept_bytes, T * (4 * H + 2 * 512) / 2);
}

/* DTensor's loss over tensor-parallel ranks holds four numbers of 4 bytes a logit at its peak. */
CALC_TEST(a_loss_over_ranks_holds_four_wide_logits)
{
    modern_case c = case_of(modern_app(), modern_exec(2, 1, 1));
    c.exec.strategy.memory_model = CALC_MEMORY_MODEL_CALCULON;
    c.exec.strategy.fused_cross_entropy = false;
    c.exec.strategy.framework_mem = 1 << CALC_FRAMEWORK_MEM_LOSS_PARALLEL;
    make_head(&c);
    ck_assert_double_eq(c.cost.kept_bytes, T * (4 * H + 16 * 512) / 2);
    c.exec.strategy.fused_cross_entropy = true;
    make_head(&c);
    ck_assert_double_eq(c.cost.kept_bytes, T * (4 * H + 2 * 512) / 2);
    c = case_of(modern_app(), modern_exec(1, 1, 1)); /* one rank has the usual one */
    c.exec.strategy.memory_model = CALC_MEMORY_MODEL_CALCULON;
    c.exec.strategy.fused_cross_entropy = false;
    c.exec.strategy.framework_mem = 1 << CALC_FRAMEWORK_MEM_LOSS_PARALLEL;
    make_head(&c);
    ck_assert_double_eq(c.cost.kept_bytes, T * (4 * H + (2 + 4) * 512));
}

/* A loop that still has the model's output in the backward pass has its logits in single precision
 * beside what the loss works on, unless the loss never had them whole or overwrote them. */
CALC_TEST(logits_that_are_held_stay_through_the_backward_pass)
{
    modern_case c = case_of(modern_app(), modern_exec(1, 1, 1));
    c.exec.strategy.memory_model = CALC_MEMORY_MODEL_CALCULON;
    c.exec.strategy.fused_cross_entropy = false;
    c.exec.strategy.framework_mem =
        1 << CALC_FRAMEWORK_MEM_LOSS_COPIES | 1 << CALC_FRAMEWORK_MEM_LOGITS_HELD;
    make_head(&c);
    ck_assert_double_eq(c.cost.kept_bytes, T * (4 * H + (2 * (2 + 4) + 4) * 512));
    c.exec.strategy.loss_chunks = 4;
    make_head(&c);
    ck_assert_double_eq(c.cost.kept_bytes, T * (4 * H + 2 * (2 + 4) * 512 / 4.0));
    c.exec.strategy.loss_chunks = 0;
    c.exec.strategy.fused_cross_entropy = true;
    make_head(&c);
    ck_assert_double_eq(c.cost.kept_bytes, T * (4 * H + 2 * 512));
}

/* Log-probabilities in four parts of the vocabulary, counted by hand from prime-rl's: the head's
 * product once more, 54 and 58 bytes a logit, what parts add to the gradient of the input, and 22
 * bytes of a part. A fused loss is another. */
CALC_TEST(logprobs_multiply_the_head_twice_and_move_wide_logits)
{
    modern_case c = case_of(modern_app(), modern_exec(1, 1, 1));
    c.exec.strategy.memory_model = CALC_MEMORY_MODEL_CALCULON;
    c.exec.strategy.fused_cross_entropy = false;
    c.exec.strategy.framework_mem = 1 << CALC_FRAMEWORK_MEM_LOGPROBS;
    c.exec.strategy.loss_chunks = 4;
    make_head(&c);
    ck_assert_double_eq(c.cost.kept_bytes, T * (4 * H + 22 * 512 / 4.0));
    ck_assert_double_eq(flop_of(&c, "head", CALC_PASS_AGRAD), 2 * 2 * T * H * 512);
    ck_assert_double_eq(flop_of(&c, "head", CALC_PASS_WGRAD), 2 * T * H * 512);
    ck_assert_double_eq(named(&c, "loss")->bytes[CALC_PASS_FW], 54 * T * 512);
    ck_assert_double_eq(named(&c, "loss")->bytes[CALC_PASS_AGRAD], T * (58 * 512 + 6 * 4 * H));
    c.exec.strategy.fused_cross_entropy = true;
    make_head(&c);
    ck_assert_double_eq(flop_of(&c, "head", CALC_PASS_AGRAD), 2 * T * H * 512);
    ck_assert_double_eq(named(&c, "loss")->bytes[CALC_PASS_FW], 4 * T * 512);
}

/* PyTorch's loss of whole logits: gathered over the tensor-parallel ranks, each of which has them
   all, in both formats and their gradients; nothing is sent back. */
CALC_TEST(a_loss_of_gathered_logits_has_the_whole_vocabulary)
{
    modern_case c = case_of(modern_app(), modern_exec(2, 1, 1));
    c.exec.strategy.memory_model = CALC_MEMORY_MODEL_CALCULON;
    c.exec.strategy.fused_cross_entropy = false;
    c.exec.strategy.framework_mem =
        1 << CALC_FRAMEWORK_MEM_LOSS_COPIES | 1 << CALC_FRAMEWORK_MEM_LOGITS_GATHERED;
    make_head(&c);
    ck_assert_double_eq(c.cost.kept_bytes, T * (4 * H / 2 + 2 * (2 + 4) * 512));
    ck_assert_double_eq(named(&c, "loss")->bytes[CALC_PASS_FW], 14 * T * 512);
    ck_assert_double_eq(flop_of(&c, "head", CALC_PASS_WGRAD), 2 * T * H * 512 / 2);
    const calc_operator *gather = named(&c, "logits gather");
    ck_assert_int_eq(gather->op[CALC_PASS_FW], CALC_OP_ALL_GATHER);
    ck_assert_int_eq(gather->op[CALC_PASS_AGRAD], CALC_OP_NONE);
    ck_assert_double_eq(calc_operator_message_bytes(gather, CALC_PASS_FW), 2 * T * 512);
    double kept = c.cost.kept_bytes;
    c.exec.strategy.framework_mem |= 1 << CALC_FRAMEWORK_MEM_LOSS_PARALLEL; /* which it is not */
    make_head(&c);
    ck_assert_double_eq(c.cost.kept_bytes, kept);
    c = case_of(modern_app(), modern_exec(1, 1, 1)); /* one rank has nothing to gather */
    make_head(&c);
    double bytes = c.cost.kept_bytes;
    size_t count = c.count;
    c.exec.strategy.framework_mem = 1 << CALC_FRAMEWORK_MEM_LOGITS_GATHERED;
    make_head(&c);
    ck_assert_double_eq(c.cost.kept_bytes, bytes);
    ck_assert_uint_eq(c.count, count);
}

/* Liger's fused_linear_cross_entropy: logits of a part of the tokens at a time, in as many kernels.
 */
CALC_TEST(chunks_of_the_loss_have_their_logits_alone)
{
    modern_case c = case_of(modern_app(), modern_exec(1, 1, 1));
    c.exec.strategy.memory_model = CALC_MEMORY_MODEL_CALCULON;
    c.exec.strategy.fused_cross_entropy = false;
    make_head(&c);
    double whole = c.cost.kept_bytes, flop = named(&c, "head")->flop[CALC_PASS_FW];
    c.exec.strategy.loss_chunks = 8;
    make_head(&c);
    ck_assert_double_eq(whole - c.cost.kept_bytes, T * (2 + 4) * 512 * 7 / 8);
    ck_assert_double_eq(named(&c, "head")->flop[CALC_PASS_FW], flop);
    ck_assert_double_eq(named(&c, "head")->launches[CALC_PASS_WGRAD], 8);
    ck_assert_double_eq(named(&c, "loss")->launches[CALC_PASS_FW], 8);
}

/* DeepSpeed's TiledMLP stores the input, and runs forward twice; three times with recomputation. */
CALC_TEST(tiles_of_a_feedforward_layer_exist_one_at_a_time)
{
    modern_case c = case_of(modern_app(), modern_exec(1, 1, 1));
    make_block(&c, CALC_DENSE_BLOCK);
    double forward = flop_of(&c, "feed-forward up", CALC_PASS_FW);
    c.exec.strategy.mlp_tiles = 4;
    make_block(&c, CALC_DENSE_BLOCK);
    ck_assert_double_eq(c.cost.kept_bytes, T * (llama_bytes(1) - 6 * F));
    ck_assert_double_eq(c.cost.kept_whole_bytes, c.cost.kept_bytes);
    ck_assert_double_eq(flop_of(&c, "feed-forward up", CALC_PASS_FW), forward);
    ck_assert_double_eq(flop_of(&c, "feed-forward up", CALC_PASS_AGRAD), 2 * forward);
    ck_assert_double_eq(flop_of(&c, "feed-forward up", CALC_PASS_WGRAD), forward);
    /* Gradients of one tile, its two factors and its product; and all of the residual stream. */
    ck_assert_double_eq(named(&c, "activation")->passing_bytes,
                        2 * T * (H + 3 * F / 4) + T * 6 * F / 4);
    ck_assert_double_eq(named(&c, "feed-forward down")->launches[CALC_PASS_AGRAD], 2 * 4);
    c.exec.strategy.activation_recompute = CALC_ACTIVATION_RECOMPUTE_FULL;
    unsigned bits = calc_operator_recompute(&c.exec.strategy, true);
    ck_assert_double_eq(calc_operator_again(named(&c, "feed-forward up"), bits), 1);
}

CALC_TEST(an_embedding_touches_the_rows_of_its_tokens)
{
    modern_case c = case_of(modern_app(), modern_exec(2, 1, 1));
    resolve(&c);
    c.count = calc_transformer_embedding(&c.shape, &c.exec.strategy, c.operators);
    const calc_operator *o = named(&c, "embedding");
    ck_assert_double_eq(o->weights, 512 / 2 * H);
    ck_assert_double_eq(o->bytes[CALC_PASS_FW], 2 * 2 * T * H + 8 * T);
    ck_assert_double_eq(o->bytes[CALC_PASS_AGRAD], 2 * 4 * T * H);
    ck_assert_int_eq(named(&c, "embedding reduction")->op[CALC_PASS_FW], CALC_OP_REDUCE_SCATTER);
}

/* All of them on every rank. */
CALC_TEST(learned_positions_are_a_table_beside_that_of_words)
{
    modern_case c = case_of(modern_app(), modern_exec(2, 1, 1));
    c.app.position_type = CALC_POSITION_TYPE_LEARNED;
    resolve(&c);
    ck_assert_uint_gt(calc_transformer_embedding(&c.shape, &c.exec.strategy, c.operators), 0);
    ck_assert_double_eq(c.operators[0].weights, (512 / 2 + 32) * H);
    c.app.position_type = CALC_POSITION_TYPE_NONE;
    resolve(&c);
    calc_transformer_embedding(&c.shape, &c.exec.strategy, c.operators);
    ck_assert_double_eq(c.operators[0].weights, 512 / 2 * H);
}

CALC_TEST(without_a_vocabulary_there_are_no_ends)
{
    modern_case c = case_of(modern_app(), modern_exec(2, 1, 1));
    c.app.vocab_size = 0;
    resolve(&c);
    ck_assert_uint_eq(calc_transformer_embedding(&c.shape, &c.exec.strategy, c.operators), 0);
    ck_assert_uint_eq(
        calc_transformer_head(&c.shape, &c.exec.strategy, c.exec.training, c.operators), 0);
}

CALC_TEST(a_predicted_token_adds_norms_and_a_projection)
{
    modern_case c = case_of(modern_app(), modern_exec(2, 1, 1));
    resolve(&c);
    c.count = calc_transformer_mtp(&c.shape, &c.exec.strategy, c.operators);
    calc_cost_sum(&c.context, c.operators, c.count, 0, &c.cost);
    ck_assert_double_eq(c.cost.dense_weights, 3 * H + 2 * H * H);
    ck_assert_double_eq(flop_of(&c, "prediction projection", CALC_PASS_FW), 2 * T / 2 * 2 * H * H);
}
