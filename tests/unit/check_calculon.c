#include "model/operators/transformer.h"

#include <string.h>

#include "frame.h"
#include "modern_case.h"

/* The symbols of the papers, for the small case: sequence, micro-batch, hidden, heads. Two
 * sequences per micro-batch, so that b shows. */
enum { S = 32, B = 2, H = 64, A = 4 };
static const double sbh = S * B * H;      /* elements of the residual stream */
static const double as2b = A * S * S * B; /* attention scores */

static calc_exec layout(int64_t tensor_par)
{
    calc_exec exec = small_exec(tensor_par, 1, 1);
    exec.microbatch_size = B;
    return exec;
}

static size_t layers_of(const calc_exec *exec, calc_compat compat,
                        calc_operator out[CALC_MAX_OPERATORS])
{
    calc_app app = small_app();
    calc_system system = small_system();
    calc_shape shape = calc_shape_of(&app, &exec->strategy, exec->microbatch_size, exec->seq_size);
    calc_cost_context context = calc_cost_context_of(&system, exec, &shape, compat);
    calc_recipe recipe = calc_block_recipe(&context, CALC_DENSE_BLOCK);
    return calc_calculon_block(&recipe, out);
}

static calc_cost profile_compat(const calc_exec *exec, calc_compat compat)
{
    calc_app app = small_app();
    calc_system system = small_system();
    calc_operator layers[CALC_MAX_OPERATORS];
    size_t count = layers_of(exec, compat, layers);
    calc_shape shape = calc_shape_of(&app, &exec->strategy, exec->microbatch_size, exec->seq_size);
    calc_cost_context context = calc_cost_context_of(&system, exec, &shape, compat);
    calc_cost block;
    calc_cost_sum(&context, layers, count, calc_operator_recompute(&exec->strategy, exec->training),
                  &block);
    return block;
}

static calc_cost profile(const calc_exec *exec)
{
    return profile_compat(exec, CALC_COMPAT_REPAIRED);
}

/* ---- Structure ------------------------------------------------------------------------------- */

#define ATTENTION                                                                                  \
    "AttnBlock_Multihead_Key_Query AttnBlock_Multihead_SoftMax AttnBlock_Multihead_DropOut "       \
    "AttnBlock_Multihead_Attn "
#define MLP                                                                                        \
    "MlpBlock_Fork MlpBlock_LayerNorm MlpBlock_F MlpBlock_Mlp1 MlpBlock_GeLU MlpBlock_Mlp2 "       \
    "MlpBlock_G MlpBlock_DropOut MlpBlock_Residual "
#define MLP_OVERLAPPED                                                                             \
    "MlpBlock_Fork MlpBlock_LayerNorm MlpBlock_Mlp1_AG MlpBlock_GeLU MlpBlock_Mlp2_RS "            \
    "MlpBlock_DropOut MlpBlock_Residual "
#define PLAIN                                                                                      \
    "AttnBlock_Fork AttnBlock_LayerNorm AttnBlock_F AttnBlock_Multihead_Fork AttnBlock_Query "     \
    "AttnBlock_Key AttnBlock_Value " ATTENTION                                                     \
    "AttnBlock_MLP AttnBlock_G AttnBlock_DropOut AttnBlock_Residual " MLP
#define OVERLAPPED(query)                                                                          \
    "AttnBlock_Fork AttnBlock_LayerNorm " query ATTENTION                                          \
    "AttnBlock_MLP_RS AttnBlock_DropOut AttnBlock_Residual " MLP_OVERLAPPED

static void assert_layers(calc_exec exec, size_t count, const char *names)
{
    calc_operator layers[CALC_MAX_OPERATORS];
    char got[2048] = "";
    size_t named_count = 0;
    size_t all = layers_of(&exec, CALC_COMPAT_REPAIRED, layers);
    for (size_t i = 0; i < all; i++) {
        /* Communication in tiles is part of the matrix beside it, and has no name. */
        bool tiles = layers[i].kind == CALC_OPERATOR_COLLECTIVE && layers[i].beside != 0;
        ck_assert(tiles == !layers[i].name);
        if (layers[i].name) {
            strcat(strcat(got, layers[i].name), " ");
            named_count++;
        } else {
            ck_assert_int_eq(layers[(int)i + layers[i].beside].kind, CALC_OPERATOR_MATRIX);
        }
    }
    ck_assert_str_eq(got, names);
    ck_assert_uint_eq(named_count, count);
}

CALC_TEST(the_layers_depend_on_attention_and_overlap_alone)
{
    for (int recompute = 0; recompute < CLASSIC_RECOMPUTES; recompute++) {
        for (int type = 0; type < CALC_TENSOR_PAR_COMM_TYPE_COUNT; type++) {
            calc_exec exec = layout(4);
            exec.strategy.activation_recompute = (calc_activation_recompute)recompute;
            exec.strategy.tensor_par_comm_type = (calc_tensor_par_comm_type)type;
            assert_layers(exec, 24, PLAIN);
            exec.strategy.tensor_par_overlap = CALC_TENSOR_PAR_OVERLAP_RING;
            assert_layers(exec, 17, OVERLAPPED("AttnBlock_QKV_AG "));
            exec.strategy.tensor_par_overlap = CALC_TENSOR_PAR_OVERLAP_PIPE;
            assert_layers(exec, 17, OVERLAPPED("AttnBlock_QKV_AG "));
            exec.strategy.attention_type = CALC_ATTENTION_TYPE_MULTIQUERY;
            assert_layers(exec, 20,
                          OVERLAPPED("AttnBlock_Query_AG AttnBlock_KV_Fork AttnBlock_Key "
                                     "AttnBlock_Value "));
            exec.strategy.tensor_par_overlap = CALC_TENSOR_PAR_OVERLAP_NONE;
            assert_layers(exec, 24, PLAIN);
        }
    }
}

/* ---- Weights --------------------------------------------------------------------------------- */

/* Four projections of h * h, two of h * 4h, both split over the ranks, and two norms of 2h on every
 * rank: 12h^2/t + 4h. The layers have no biases. */
CALC_TEST(the_weights_are_those_of_the_parameter_formula)
{
    for (int t = 1; t <= 4; t *= 2) {
        double weights = 12.0 * H * H / t + 4 * H;
        calc_exec exec = layout(t);
        calc_cost block = profile(&exec);
        ck_assert_double_eq(block.dense_weights, weights);
        exec.strategy.tensor_par_overlap = CALC_TENSOR_PAR_OVERLAP_RING;
        ck_assert_double_eq(profile(&exec).dense_weights, weights);
    }
}

/* One key and one value of h * 16, whole on every rank, instead of two of h * h / t. */
CALC_TEST(multiquery_has_one_key_and_value_on_every_rank)
{
    for (int t = 1; t <= 4; t *= 2) {
        double weights = 10.0 * H * H / t + 2 * H * 16 + 4 * H;
        calc_exec exec = layout(t);
        exec.strategy.attention_type = CALC_ATTENTION_TYPE_MULTIQUERY;
        ck_assert_double_eq(profile(&exec).dense_weights, weights);
        exec.strategy.tensor_par_overlap = CALC_TENSOR_PAR_OVERLAP_PIPE;
        ck_assert_double_eq(profile(&exec).dense_weights, weights);
    }
}

/* ---- Activations: Korthikanti et al. 2022, arXiv 2205.05198 ---------------------------------- */

/* Eq. 1: sbh (34 + 5as/h). */
CALC_TEST(without_parallelism_storage_is_that_of_equation_1)
{
    calc_exec exec = layout(1);
    ck_assert_double_eq(profile(&exec).kept_bytes, 34 * sbh + 5 * as2b);
}

/* Eq. 2: sbh (10 + 24/t + 5as/(ht)). */
CALC_TEST(tensor_parallelism_stores_what_equation_2_says)
{
    for (int t = 1; t <= 4; t *= 2) {
        calc_exec exec = layout(t);
        double paper = 10 * sbh + 24 * sbh / t + 5 * as2b / t;
        ck_assert_double_eq(profile(&exec).kept_bytes, paper);
        exec.strategy.tensor_par_comm_type = CALC_TENSOR_PAR_COMM_TYPE_P2P_RS_AG;
        ck_assert_double_eq(profile(&exec).kept_bytes, paper);
    }
}

/* Eq. 4: sbh/t (34 + 5as/h). The paper keeps a rank's share of what it gathers for the two halves
 * and gathers again: seq_par_ag_redo. Without it both the share and the gathered whole are kept:
 * 2 bytes of 2 activations more. */
CALC_TEST(sequence_parallelism_stores_what_equation_4_says)
{
    for (int t = 2; t <= 4; t *= 2) {
        calc_exec exec = layout(t);
        double paper = (34 * sbh + 5 * as2b) / t;
        exec.strategy.tensor_par_comm_type = CALC_TENSOR_PAR_COMM_TYPE_RS_AG;
        ck_assert_double_eq(profile(&exec).kept_bytes, paper + 4 * sbh);
        exec.strategy.seq_par_ag_redo = true;
        ck_assert_double_eq(profile(&exec).kept_bytes, paper);
    }
}

/* Eq. 6: 34 sbh/t. Recomputing attention gathers its input again in any case. */
CALC_TEST(selective_recomputation_stores_what_equation_6_says)
{
    for (int t = 2; t <= 4; t *= 2) {
        calc_exec exec = layout(t);
        exec.strategy.activation_recompute = CALC_ACTIVATION_RECOMPUTE_ATTN_ONLY;
        exec.strategy.tensor_par_comm_type = CALC_TENSOR_PAR_COMM_TYPE_RS_AG;
        ck_assert_double_eq(profile(&exec).kept_bytes, 34 * sbh / t + 2 * sbh);
        exec.strategy.seq_par_ag_redo = true;
        ck_assert_double_eq(profile(&exec).kept_bytes, 34 * sbh / t);
    }
}

/* With an all-reduce instead, the paper keeps 10 + 24/t. The model has 2 less: as in Calculon,
 * the input of the query, key and value is dropped, but no layer holds it in another form. */
CALC_TEST(selective_recomputation_without_sequence_parallelism_drops_one_input_more)
{
    for (int t = 1; t <= 4; t *= 2) {
        calc_exec exec = layout(t);
        exec.strategy.activation_recompute = CALC_ACTIVATION_RECOMPUTE_ATTN_ONLY;
        ck_assert_double_eq(profile(&exec).kept_bytes, 10 * sbh + 24 * sbh / t - 2 * sbh);
    }
}

/* GeLU's input, 4h wide. */
CALC_TEST(a_fused_activation_stores_eight_bytes_less)
{
    calc_exec exec = layout(1);
    exec.strategy.fused_activation = true;
    ck_assert_double_eq(profile(&exec).kept_bytes, 26 * sbh + 5 * as2b);
}

/* Of eq. 1's bytes 32 and 4 are two per element, the others masks. */
CALC_TEST(masks_do_not_grow_with_the_datatype)
{
    static const struct {
        calc_datatype datatype;
        double size;
    } formats[] = {
        {CALC_DATATYPE_FLOAT8, 1}, {CALC_DATATYPE_BFLOAT16, 2}, {CALC_DATATYPE_FLOAT32, 4}};
    for (int i = 0; i < 3; i++) {
        calc_exec exec = layout(1);
        exec.strategy.datatype = formats[i].datatype;
        double size = formats[i].size;
        ck_assert_double_eq(profile(&exec).kept_bytes,
                            (16 * size + 2) * sbh + (2 * size + 1) * as2b);
    }
}

/* Tiles of sequence parallelism never exist whole. With an all-reduce, Calculon's overlapped layers
 * keep no input of the matrices that end the halves: 2 and 8 bytes of eq. 2's 24/t. */
CALC_TEST(overlapped_layers_store_a_tile_of_what_they_gather)
{
    calc_exec exec = layout(4);
    exec.strategy.tensor_par_overlap = CALC_TENSOR_PAR_OVERLAP_RING;
    ck_assert_double_eq(profile(&exec).kept_bytes, 10 * sbh + (24 - 10) * sbh / 4 + 5 * as2b / 4);
    exec.strategy.tensor_par_comm_type = CALC_TENSOR_PAR_COMM_TYPE_RS_AG;
    ck_assert_double_eq(profile(&exec).kept_bytes, (34 * sbh + 5 * as2b) / 4);
}

/* While it is computed a block has all its activations, whatever is kept of them. */
CALC_TEST(the_working_space_does_not_depend_on_recomputation)
{
    for (int recompute = 0; recompute < CLASSIC_RECOMPUTES; recompute++) {
        calc_exec exec = layout(1);
        exec.strategy.activation_recompute = (calc_activation_recompute)recompute;
        ck_assert_double_eq(profile(&exec).working_bytes, 34 * sbh + 5 * as2b);
    }
}

/* Gradients of outputs: in sbh of 2 bytes, attention has norm 1, projections 3, values 1, output
 * 1, residual 1, the other half norm 1, 4 and 4 around GeLU, output 1, residual 1: 18. Scores and
 * softmax have 2as^2b each. Masks stand for the gradients of the three dropouts. */
CALC_TEST(the_gradients_are_those_of_all_outputs)
{
    calc_exec exec = layout(1);
    ck_assert_double_eq(profile(&exec).grad_bytes, 2 * 18 * sbh + 2 * sbh + (2 + 2 + 1) * as2b);
}

/* ---- Arithmetic ------------------------------------------------------------------------------ */

/* Narayanan et al. 2021, arXiv 2104.04473, appendix: 24bsh^2 + 4bs^2h forward. */
static double paper_flop(void)
{
    return 24 * sbh * H + 4.0 * B * S * S * H;
}

static double matrix_flop(const calc_exec *exec, calc_pass pass)
{
    calc_operator layers[CALC_MAX_OPERATORS];
    size_t count = layers_of(exec, CALC_COMPAT_REPAIRED, layers);
    double flop = 0;
    for (size_t i = 0; i < count; i++) {
        flop += layers[i].kind == CALC_OPERATOR_MATRIX ? layers[i].flop[pass] : 0;
    }
    return flop;
}

CALC_TEST(matrix_arithmetic_is_that_of_the_paper)
{
    for (int t = 1; t <= 4; t *= 2) {
        for (int overlap = 0; overlap < CLASSIC_OVERLAPS; overlap++) {
            calc_exec exec = layout(t);
            exec.strategy.tensor_par_overlap = (calc_tensor_par_overlap)overlap;
            ck_assert_double_eq(matrix_flop(&exec, CALC_PASS_FW), paper_flop() / t);
            ck_assert_double_eq(matrix_flop(&exec, CALC_PASS_AGRAD) +
                                    matrix_flop(&exec, CALC_PASS_WGRAD),
                                2 * paper_flop() / t);
        }
    }
}

/* Beside the matrices: norms 2 * 9, GeLU 8 * 4, two dropouts and residual sums; softmax 5 and
 * dropout 1 on the scores. */
CALC_TEST(the_forward_pass_adds_the_elementwise_layers)
{
    calc_exec exec = layout(1);
    calc_cost block = profile(&exec);
    ck_assert_double_eq(block.work[CALC_PASS_FW].flop,
                        paper_flop() + (18 + 32 + 4) * sbh + 6 * as2b);
    /* Everything at its engine's rate: 2^40 and 2^36 FLOP/s. */
    assert_near(block.work[CALC_PASS_FW].flop_s,
                paper_flop() / two_to(40) + (54 * sbh + 6 * as2b) / two_to(36));
}

/* Forks sum the gradients of their users: 2, 2 and 3; norms 14 each, dropouts 1 and residual sums
 * 2, GeLU 13 of 4h; softmax 8 and dropout 1 on the scores. Gradients of weights: matrices that have
 * any, and 7 of each norm. */
CALC_TEST(the_backward_passes_add_the_elementwise_layers)
{
    calc_exec exec = layout(1);
    calc_cost block = profile(&exec);
    double scores = 4.0 * B * S * S * H;
    double linear = paper_flop() - scores;
    ck_assert_double_eq(block.work[CALC_PASS_AGRAD].flop,
                        linear + 2 * scores + (2 + 2 + 3 + 28 + 2 + 4 + 52) * sbh + 9 * as2b);
    ck_assert_double_eq(block.work[CALC_PASS_WGRAD].flop, linear + 14 * sbh);
}

CALC_TEST(a_pass_takes_the_sum_of_its_layers)
{
    calc_exec exec = layout(1);
    calc_operator layers[CALC_MAX_OPERATORS];
    size_t count = layers_of(&exec, CALC_COMPAT_REPAIRED, layers);
    double time_s = 0;
    double bytes = 0;
    for (size_t i = 0; i < count; i++) {
        double flop_s =
            layers[i].flop[CALC_PASS_FW] / two_to(layers[i].kind == CALC_OPERATOR_MATRIX ? 40 : 36);
        time_s += fmax(flop_s, layers[i].bytes[CALC_PASS_FW] / two_to(38));
        bytes += layers[i].bytes[CALC_PASS_FW];
    }
    calc_cost block = profile(&exec);
    assert_near(block.fw_s, time_s);
    ck_assert_double_eq(block.work[CALC_PASS_FW].bytes, bytes);
    assert_near(block.work[CALC_PASS_FW].mem_s, bytes / two_to(38));
}

CALC_TEST(full_recomputation_is_one_more_forward_pass)
{
    calc_exec exec = layout(1);
    exec.strategy.activation_recompute = CALC_ACTIVATION_RECOMPUTE_FULL;
    calc_cost block = profile(&exec);
    ck_assert_double_eq(block.re.flop, block.work[CALC_PASS_FW].flop);
    ck_assert_double_eq(block.re.flop_s, block.work[CALC_PASS_FW].flop_s);
    ck_assert_double_eq(block.re.bytes, block.work[CALC_PASS_FW].bytes);
    ck_assert_double_eq(block.re.mem_s, block.work[CALC_PASS_FW].mem_s);
    ck_assert_double_eq(block.re_s, block.fw_s);
}

/* The scores, their softmax and their dropout. */
CALC_TEST(selective_recomputation_repeats_the_scores)
{
    calc_exec exec = layout(1);
    exec.strategy.activation_recompute = CALC_ACTIVATION_RECOMPUTE_ATTN_ONLY;
    ck_assert_double_eq(profile(&exec).re.flop, 2.0 * B * S * S * H + 6 * as2b);
    exec.strategy.activation_recompute = CALC_ACTIVATION_RECOMPUTE_NONE;
    ck_assert_double_eq(profile(&exec).re.flop, 0);
    ck_assert_double_eq(profile(&exec).re_s, 0);
}

/* For each recomputed layer Calculon adds the forward pass up to it; only its time is right. */
CALC_TEST(calculon_recomputes_prefixes)
{
    calc_exec exec = layout(1);
    exec.strategy.activation_recompute = CALC_ACTIVATION_RECOMPUTE_ATTN_ONLY;
    calc_operator layers[CALC_MAX_OPERATORS];
    size_t count = layers_of(&exec, CALC_COMPAT_REPAIRED, layers);
    unsigned recompute = calc_operator_recompute(&exec.strategy, exec.training);
    double flop = 0;
    double bytes = 0;
    for (size_t i = 0; i < count; i++) {
        bool again =
            layers[i].kind != CALC_OPERATOR_COLLECTIVE && (layers[i].repeated_by & recompute) != 0;
        for (size_t j = 0; again && j <= i; j++) {
            flop += layers[j].flop[CALC_PASS_FW];
            bytes += layers[j].bytes[CALC_PASS_FW];
        }
    }
    calc_cost ours = profile(&exec);
    calc_cost theirs = profile_compat(&exec, CALC_COMPAT_CALCULON);
    ck_assert_double_eq(theirs.re.flop, flop);
    ck_assert_double_gt(theirs.re.flop, ours.re.flop);
    ck_assert_double_eq(theirs.re.bytes, bytes);
    assert_near(theirs.re.mem_s, bytes / two_to(38));
    ck_assert_double_eq(theirs.re_s, ours.re_s);
}

/* ---- Communication --------------------------------------------------------------------------- */

/* Messages of 2sbh bytes, forward and backward, in base and edge blocks. */
static void assert_messages(const calc_cost *block, double base, double edge)
{
    double bytes = 2 * sbh;
    ck_assert_double_eq(block->tensor.fw_bytes, base * bytes);
    ck_assert_double_eq(block->edge.fw_bytes, edge * bytes);
    ck_assert_double_eq(block->tensor.bw_bytes, base * bytes);
    ck_assert_double_eq(block->edge.bw_bytes, edge * bytes);
}

/* One all-reduce per half and pass, or two collectives of half the traffic. */
CALC_TEST(each_half_of_a_block_communicates_once_per_pass)
{
    calc_exec exec = layout(4);
    calc_cost block = profile(&exec);
    assert_messages(&block, 2, 2);
    exec.strategy.tensor_par_comm_type = CALC_TENSOR_PAR_COMM_TYPE_P2P_RS_AG;
    block = profile(&exec);
    assert_messages(&block, 2, 4);
    exec.strategy.tensor_par_comm_type = CALC_TENSOR_PAR_COMM_TYPE_RS_AG;
    block = profile(&exec);
    assert_messages(&block, 4, 4);
    ck_assert_double_eq(block.tensor.re_bytes, 0);
    exec = layout(1);
    block = profile(&exec);
    assert_messages(&block, 0, 0);
}

/* Two ring all-reduces of 2 * 3/4 of the message, and the additions of 3/4 of its elements, which
 * wait for memory: read and write 2 bytes of each. Nothing of it is hidden. */
CALC_TEST(communication_that_is_not_overlapped_is_exposed)
{
    calc_exec exec = layout(4);
    calc_cost block = profile(&exec);
    double all_reduce_s = 2 * 0.75 * 2 * sbh / two_to(36);
    double add_s = fmax(0.75 * sbh / two_to(36), 4 * sbh / two_to(38));
    assert_near(block.tensor.fw_link_s, 2 * (all_reduce_s + add_s));
    ck_assert_double_eq(block.tensor.fw_exposed_s, block.tensor.fw_link_s);
    ck_assert_double_eq(block.edge.bw_exposed_s, block.edge.bw_link_s);
    ck_assert_double_eq(block.required_bytes_per_s, 0);
}

/* Forward of each half is repeated: one all-reduce, or gather and scatter. */
CALC_TEST(recomputation_repeats_the_forward_messages)
{
    calc_exec exec = layout(4);
    double bytes = 2 * sbh;
    exec.strategy.activation_recompute = CALC_ACTIVATION_RECOMPUTE_FULL;
    calc_cost block = profile(&exec);
    ck_assert_double_eq(block.tensor.re_bytes, 2 * bytes);
    exec.strategy.tensor_par_comm_type = CALC_TENSOR_PAR_COMM_TYPE_RS_AG;
    block = profile(&exec);
    ck_assert_double_eq(block.tensor.re_bytes, 4 * bytes);
    /* Attention alone gathers its input again; with redo so does the other half. */
    exec.strategy.activation_recompute = CALC_ACTIVATION_RECOMPUTE_ATTN_ONLY;
    block = profile(&exec);
    ck_assert_double_eq(block.tensor.re_bytes, bytes);
    exec.strategy.activation_recompute = CALC_ACTIVATION_RECOMPUTE_NONE;
    exec.strategy.seq_par_ag_redo = true;
    block = profile(&exec);
    ck_assert_double_eq(block.tensor.re_bytes, 2 * bytes);
    ck_assert_double_eq(block.re.flop, 0);
}

/* The slower the arithmetic, the lower the bandwidth that hides behind it. All layers have the same
 * message of 2sbh bytes; the shortest arithmetic beside one is that of the output projection. */
CALC_TEST(the_required_bandwidth_is_that_of_the_shortest_overlapped_layer)
{
    calc_exec exec = layout(4);
    exec.strategy.tensor_par_comm_type = CALC_TENSOR_PAR_COMM_TYPE_RS_AG;
    exec.strategy.tensor_par_overlap = CALC_TENSOR_PAR_OVERLAP_RING;
    double projection_s = 2 * sbh * H / 4 / two_to(40);
    assert_near(profile(&exec).required_bytes_per_s, 2 * sbh / projection_s);
}

/* On a slow network a ring of 4 exposes 3 tiles less the arithmetic beside them; the message of an
 * overlapped layer goes forward once and its repetition hides as much. */
CALC_TEST(a_repeated_message_of_an_overlapped_layer_hides_as_much_as_forward)
{
    calc_exec exec = layout(4);
    exec.strategy.tensor_par_net = 1;
    exec.strategy.tensor_par_comm_type = CALC_TENSOR_PAR_COMM_TYPE_RS_AG;
    exec.strategy.tensor_par_overlap = CALC_TENSOR_PAR_OVERLAP_RING;
    exec.strategy.activation_recompute = CALC_ACTIVATION_RECOMPUTE_FULL;
    calc_cost block = profile(&exec);
    const calc_cost_comm *const places[] = {&block.tensor, &block.edge};
    for (int i = 0; i < 2; i++) {
        ck_assert_double_gt(places[i]->fw_exposed_s, 0);
        ck_assert_double_lt(places[i]->fw_exposed_s, places[i]->fw_link_s);
        ck_assert_double_eq(places[i]->re_exposed_s, places[i]->fw_exposed_s);
    }
}

/* ---- Inference ------------------------------------------------------------------------------- */

CALC_TEST(inference_has_no_backward_pass)
{
    calc_exec exec = layout(4);
    calc_cost training = profile(&exec);
    exec.training = false;
    calc_cost block = profile(&exec);
    ck_assert_double_eq(block.fw_s, training.fw_s);
    ck_assert_double_eq(block.tensor.fw_link_s, training.tensor.fw_link_s);
    ck_assert_double_eq(block.dense_weights, training.dense_weights);
    ck_assert_double_eq(block.agrad_s, 0);
    ck_assert_double_eq(block.wgrad_s, 0);
    ck_assert_double_eq(block.edge.bw_link_s, 0);
    ck_assert_double_eq(block.grad_bytes, 0);
}

CALC_TEST(inference_repeats_nothing_even_if_asked_to)
{
    calc_exec exec = layout(4);
    exec.strategy.tensor_par_comm_type = CALC_TENSOR_PAR_COMM_TYPE_RS_AG;
    exec.strategy.seq_par_ag_redo = true;
    exec.training = false;
    calc_cost block = profile(&exec);
    ck_assert_double_eq(block.tensor.re_bytes, 0);
    ck_assert_double_eq(block.tensor.re_link_s, 0);
}

/* ---- What the list cannot say ---------------------------------------------------------------- */

/* A change to a GPT of its kind, and what it then lacks. */
typedef struct change {
    const char *lacks;
    void (*make)(calc_app *app, calc_exec *exec);
} change;

#define CHANGE(name, statement)                                                                    \
    static void name(calc_app *app, calc_exec *exec)                                               \
    {                                                                                              \
        (void)app, (void)exec;                                                                     \
        statement;                                                                                 \
    }
CHANGE(nothing, )
CHANGE(all_heads, app->kv_heads = 4)
CHANGE(one_head, app->kv_heads = 1)
CHANGE(gpt, app->structure_type = CALC_STRUCTURE_TYPE_GPT)
CHANGE(gelu, app->ffn_type = CALC_FFN_TYPE_GELU)
CHANGE(norm, app->norm_type = CALC_NORM_TYPE_LAYER)
CHANGE(learned, app->position_type = CALC_POSITION_TYPE_LEARNED)
CHANGE(dropout, app->dropout = CALC_CHOICE_TRUE)
CHANGE(words, app->vocab_size = 512)
CHANGE(one_context, exec->strategy.context_par = 1)
CHANGE(same_format, exec->strategy.matrix_datatype = CALC_FORMAT_FLOAT16)
CHANGE(same_weights, exec->strategy.weight_datatype = CALC_FORMAT_FLOAT16)
CHANGE(attention_only, exec->strategy.activation_recompute = CALC_ACTIVATION_RECOMPUTE_ATTN_ONLY)
CHANGE(no_position, app->position_type = CALC_POSITION_TYPE_NONE)
CHANGE(experts, app->num_experts = 8; app->experts_per_token = 2)
CHANGE(latent, *app = latent_app(); app->structure_type = CALC_STRUCTURE_TYPE_GPT)
CHANGE(two_heads, app->kv_heads = 2)
CHANGE(flash, exec->strategy.flash_attention = true)
CHANGE(flash_type, exec->strategy.attention_type = CALC_ATTENTION_TYPE_FLASH)
CHANGE(gate, app->ffn_type = CALC_FFN_TYPE_SWIGLU)
CHANGE(rms, app->norm_type = CALC_NORM_TYPE_RMS)
CHANGE(rope, app->position_type = CALC_POSITION_TYPE_ROPE)
CHANGE(qk_norm, app->qk_norm = true)
CHANGE(no_dropout, app->dropout = CALC_CHOICE_FALSE)
CHANGE(prediction, app->vocab_size = 512; app->mtp_blocks = 1)
CHANGE(context, exec->strategy.context_par = 2)
CHANGE(narrow_matrix, exec->strategy.matrix_datatype = CALC_FORMAT_FLOAT8)
CHANGE(wide_weights, exec->strategy.weight_datatype = CALC_FORMAT_FLOAT32)
CHANGE(modules, exec->strategy.activation_recompute = CALC_ACTIVATION_RECOMPUTE_MODULES)
CHANGE(operations, exec->strategy.activation_recompute = CALC_ACTIVATION_RECOMPUTE_SELECTIVE_OP)
CHANGE(parts, exec->strategy.offload_modules = 1)

static const change changes[] = {
    {NULL, nothing},
    {NULL, all_heads},
    {NULL, one_head},
    {NULL, gpt},
    {NULL, gelu},
    {NULL, norm},
    {NULL, learned},
    {NULL, dropout},
    {NULL, words},
    {NULL, one_context},
    {NULL, same_format},
    {NULL, same_weights},
    {NULL, attention_only},
    {NULL, no_position},
    {"experts", experts},
    {"latent attention", latent},
    {"grouped keys and values", two_heads},
    {"flash attention", flash},
    {"flash attention", flash_type},
    {"a gated feed-forward layer", gate},
    {"root-mean-square norms", rms},
    {"rotary positions or normalized queries", rope},
    {"rotary positions or normalized queries", qk_norm},
    {"a model without dropout", no_dropout},
    {"multi-token prediction", prediction},
    {"context parallelism", context},
    {"matrices, weights or activations of other formats", narrow_matrix},
    {"matrices, weights or activations of other formats", wide_weights},
    {"recomputation by modules", modules},
    {"recomputation by operation", operations},
    {"offload of parts of a block", parts},
};
enum { CHANGES = sizeof changes / sizeof *changes };

CALC_TEST_LOOP(what_the_list_lacks_is_named_and_neutral_spellings_are_not, 0, CHANGES)
{
    calc_app app = small_app();
    calc_exec exec = small_exec(1, 1, 1);
    changes[_i].make(&app, &exec);
    const char *lacks = calc_calculon_lacks(&app, &exec.strategy);
    if (changes[_i].lacks) {
        ck_assert_ptr_nonnull(lacks);
        ck_assert_str_eq(lacks, changes[_i].lacks);
    } else {
        ck_assert_msg(!lacks, "lacks %s", lacks);
    }
    calc_errors errors = {0};
    calc_status want = lacks ? CALC_ERR_UNSUPPORTED : CALC_OK;
    ck_assert_int_eq(calc_compat_check(&app, &exec, CALC_COMPAT_CALCULON, &errors), want);
    ck_assert_int_eq(errors.count, lacks ? 1 : 0);
    /* The other rules apply to any model. */
    calc_compat others = CALC_COMPAT_CALCULON & ~((calc_compat)1 << CALC_COMPAT_LAYERS);
    ck_assert_int_eq(calc_compat_check(&app, &exec, others, &errors), CALC_OK);
}

CALC_TEST(a_refusal_says_what_is_lacking_and_serving_is_refused_by_any_rule)
{
    calc_app app = small_app();
    calc_exec exec = small_exec(1, 1, 1);
    calc_errors errors = {0};
    app.num_experts = 8;
    ck_assert_int_eq(calc_compat_check(&app, &exec, 1 << CALC_COMPAT_LAYERS, &errors),
                     CALC_ERR_UNSUPPORTED);
    ck_assert_str_eq(errors.item[0].text, "Calculon's list of layers does not have experts");
    ck_assert_str_eq(errors.item[0].hint, "leave out the rule layers, or --compat");
    errors = (calc_errors){0};
    app = small_app();
    exec.training = false;
    exec.inference.phase = CALC_INFERENCE_PHASE_PREFILL;
    ck_assert_int_eq(calc_compat_check(&app, &exec, 1 << CALC_COMPAT_TILES, &errors),
                     CALC_ERR_UNSUPPORTED);
    ck_assert_str_eq(errors.item[0].text, "Calculon has no serving");
    ck_assert_str_eq(errors.item[0].pointer, "/inference/phase");
    errors = (calc_errors){0};
    ck_assert_int_eq(calc_compat_check(&app, &exec, CALC_COMPAT_NONE, &errors), CALC_OK);
    ck_assert_int_eq(errors.count, 0);
}
