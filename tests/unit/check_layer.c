#include "model/layer.h"

#include "small_case.h"

/* Names and flags that every constructor below is called with. */
static const char *const name = "a layer";
enum { FLAGS = CALC_LAYER_RECOMPUTE | CALC_LAYER_OUTPUT_RECOMPUTED };

/* Two bytes per element, on one rank. */
static const calc_layer_shape alone = {2, 1, CALC_TENSOR_PAR_COMM_TYPE_AR};

static void assert_layer(const calc_layer *got, const calc_layer *want)
{
    ck_assert_str_eq(got->name, name);
    ck_assert_uint_eq(got->flags, FLAGS);
    ck_assert_double_eq(got->inputs, want->inputs);
    ck_assert_double_eq(got->outputs, want->outputs);
    for (int stage = 0; stage < CALC_STAGE_COUNT; stage++) {
        ck_assert_double_eq(got->flop[stage], want->flop[stage]);
        ck_assert_double_eq(got->bytes[stage], want->bytes[stage]);
    }
    ck_assert_double_eq(got->weights, want->weights);
    ck_assert_double_eq(got->weight_bytes, want->weight_bytes);
    ck_assert_double_eq(got->activation_bytes, want->activation_bytes);
    ck_assert_double_eq(got->activation_grad_bytes, want->activation_grad_bytes);
    ck_assert_double_eq(got->output_bytes, want->output_bytes);
    ck_assert_double_eq(got->comm_bytes, want->comm_bytes);
    ck_assert_int_eq(got->comm, want->comm);
    ck_assert_int_eq(got->conjugate, want->conjugate);
    ck_assert_int_eq(got->matrix, want->matrix);
}

START_TEST(datatypes_take_one_two_or_four_bytes)
{
    ck_assert_double_eq(calc_datatype_bytes(CALC_DATATYPE_FLOAT8), 1);
    ck_assert_double_eq(calc_datatype_bytes(CALC_DATATYPE_FLOAT16), 2);
    ck_assert_double_eq(calc_datatype_bytes(CALC_DATATYPE_BFLOAT16), 2);
    ck_assert_double_eq(calc_datatype_bytes(CALC_DATATYPE_FLOAT32), 4);
}
END_TEST

/* ---- Matrix multiplication ------------------------------------------------------------------- */

/* (2 x 3) times (3 x 5): 30 products and as many sums; 6 + 15 elements in, 10 out. Backward reads
 * the 15 weights, the 6 inputs kept and the 10 gradients. */
START_TEST(a_linear_layer_multiplies_by_its_weights)
{
    calc_layer layer;
    calc_layer_linear(&layer, &alone, name, FLAGS, 2, 3, 5);
    assert_layer(&layer, &(calc_layer){.inputs = 6,
                                       .outputs = 10,
                                       .flop = {60, 60, 60},
                                       .bytes = {62, 62, 62},
                                       .weights = 15,
                                       .weight_bytes = 30,
                                       .activation_bytes = 12,
                                       .activation_grad_bytes = 20,
                                       .output_bytes = 20,
                                       .matrix = true});
}
END_TEST

/* 3 products (2 x 4) times (4 x 5): 120 products and sums, and the same again for the gradient of
 * each operand; 3 * (8 + 20) elements in, 30 out; no weights. */
START_TEST(a_batched_product_has_two_gradients_and_no_weights)
{
    calc_layer layer;
    calc_layer_batch_matmul(&layer, &alone, name, FLAGS, 3, 2, 4, 5);
    assert_layer(&layer, &(calc_layer){.inputs = 84,
                                       .outputs = 30,
                                       .flop = {240, 480, 0},
                                       .bytes = {228, 228, 0},
                                       .activation_bytes = 168,
                                       .activation_grad_bytes = 60,
                                       .output_bytes = 60,
                                       .matrix = true});
}
END_TEST

/* (4 x 6) times (6 x 8) on two ranks is 384 FLOP, 192 on each. */
static calc_layer overlapped(calc_tensor_par_comm_type type, bool conjugate)
{
    calc_layer layer;
    calc_layer_linear_overlapped(&layer, &(calc_layer_shape){2, 2, type}, name, FLAGS, conjugate, 4,
                                 6, 8);
    return layer;
}

/* Each rank has 4 of the 8 columns: 24 in, 24 weights, 16 out. It keeps the half of the input that
 * is its tile, and gathers the 24 elements of 2 bytes. */
START_TEST(an_overlapped_gather_keeps_one_tile_of_its_input)
{
    calc_layer layer = overlapped(CALC_TENSOR_PAR_COMM_TYPE_RS_AG, false);
    assert_layer(&layer, &(calc_layer){.inputs = 24,
                                       .outputs = 16,
                                       .flop = {192, 192, 192},
                                       .bytes = {128, 104, 104},
                                       .weights = 24,
                                       .weight_bytes = 48,
                                       .activation_bytes = 24,
                                       .activation_grad_bytes = 32,
                                       .output_bytes = 32,
                                       .comm = CALC_LAYER_COMM_OVERLAPPED,
                                       .comm_bytes = 48,
                                       .matrix = true});
}
END_TEST

/* Each rank has 3 of the 6 inner elements: 12 in, 24 weights, 32 out, which it scatters: 64 bytes.
 * Of the gradients it holds a tile of 16 elements, and receives another. */
START_TEST(an_overlapped_scatter_buffers_one_tile_of_gradients)
{
    calc_layer layer = overlapped(CALC_TENSOR_PAR_COMM_TYPE_RS_AG, true);
    assert_layer(&layer, &(calc_layer){.inputs = 12,
                                       .outputs = 32,
                                       .flop = {192, 192, 192},
                                       .bytes = {136, 136, 136},
                                       .weights = 24,
                                       .weight_bytes = 48,
                                       .activation_bytes = 24,
                                       .activation_grad_bytes = 64,
                                       .output_bytes = 64,
                                       .comm = CALC_LAYER_COMM_OVERLAPPED,
                                       .comm_bytes = 64,
                                       .conjugate = true,
                                       .matrix = true});
}
END_TEST

/* Calculon's reading: before an all-reduce nothing is kept, behind the identity no gradient is. */
START_TEST(an_overlapped_all_reduce_keeps_input_or_gradients_whole)
{
    static const calc_tensor_par_comm_type types[] = {CALC_TENSOR_PAR_COMM_TYPE_AR,
                                                      CALC_TENSOR_PAR_COMM_TYPE_P2P_RS_AG};
    for (int i = 0; i < 2; i++) {
        calc_layer layer = overlapped(types[i], false);
        assert_layer(&layer, &(calc_layer){.inputs = 24,
                                           .outputs = 16,
                                           .flop = {192, 192, 192},
                                           .bytes = {128, 96, 96},
                                           .weights = 24,
                                           .weight_bytes = 48,
                                           .activation_bytes = 48,
                                           .output_bytes = 32,
                                           .comm = CALC_LAYER_COMM_OVERLAPPED,
                                           .comm_bytes = 48,
                                           .matrix = true});
        layer = overlapped(types[i], true);
        assert_layer(&layer, &(calc_layer){.inputs = 12,
                                           .outputs = 32,
                                           .flop = {192, 192, 192},
                                           .bytes = {136, 176, 176},
                                           .weights = 24,
                                           .weight_bytes = 48,
                                           .activation_grad_bytes = 128,
                                           .output_bytes = 64,
                                           .comm = CALC_LAYER_COMM_OVERLAPPED,
                                           .comm_bytes = 64,
                                           .conjugate = true,
                                           .matrix = true});
    }
}
END_TEST

/* ---- Elementwise ----------------------------------------------------------------------------- */

/* 12 elements in and out, 8 weights: 32 elements each way. */
START_TEST(a_norm_has_two_weights_per_hidden_element)
{
    calc_layer layer;
    calc_layer_norm(&layer, &alone, name, FLAGS, 12, 4);
    assert_layer(&layer, &(calc_layer){.inputs = 12,
                                       .outputs = 12,
                                       .flop = {9 * 12, 14 * 12, 7 * 12},
                                       .bytes = {64, 64, 64},
                                       .weights = 8,
                                       .weight_bytes = 16,
                                       .activation_bytes = 24,
                                       .activation_grad_bytes = 24,
                                       .output_bytes = 24});
}
END_TEST

/* In, out and mask: 2 + 2 + 1 bytes for each of 10 elements. */
START_TEST(a_dropout_keeps_only_its_mask)
{
    calc_layer layer;
    calc_layer_dropout(&layer, &alone, name, FLAGS, 10);
    assert_layer(&layer, &(calc_layer){.inputs = 10,
                                       .outputs = 10,
                                       .flop = {10, 10, 0},
                                       .bytes = {50, 50, 0},
                                       .activation_bytes = 10,
                                       .activation_grad_bytes = 10,
                                       .output_bytes = 20});
}
END_TEST

START_TEST(the_mask_of_a_dropout_takes_one_byte_in_every_datatype)
{
    calc_layer layer;
    calc_layer_dropout(&layer, &(calc_layer_shape){1, 1, alone.type}, name, FLAGS, 10);
    ck_assert_double_eq(layer.activation_bytes, 10);
    ck_assert_double_eq(layer.bytes[CALC_STAGE_FW], 30);
    calc_layer_dropout(&layer, &(calc_layer_shape){4, 1, alone.type}, name, FLAGS, 10);
    ck_assert_double_eq(layer.activation_bytes, 10);
    ck_assert_double_eq(layer.bytes[CALC_STAGE_FW], 90);
}
END_TEST

START_TEST(a_fused_gelu_keeps_nothing_and_moves_the_same)
{
    calc_layer want = {.inputs = 10,
                       .outputs = 10,
                       .flop = {80, 130, 0},
                       .bytes = {40, 40, 0},
                       .activation_bytes = 20,
                       .activation_grad_bytes = 20,
                       .output_bytes = 20};
    calc_layer layer;
    calc_layer_gelu(&layer, &alone, name, FLAGS, 10, false);
    assert_layer(&layer, &want);
    want.activation_bytes = 0;
    want.activation_grad_bytes = 0;
    calc_layer_gelu(&layer, &alone, name, FLAGS, 10, true);
    assert_layer(&layer, &want);
}
END_TEST

START_TEST(a_softmax_takes_five_and_eight_flop_per_element)
{
    calc_layer layer;
    calc_layer_softmax(&layer, &alone, name, FLAGS, 10);
    assert_layer(&layer, &(calc_layer){.inputs = 10,
                                       .outputs = 10,
                                       .flop = {50, 80, 0},
                                       .bytes = {40, 40, 0},
                                       .activation_bytes = 20,
                                       .activation_grad_bytes = 20,
                                       .output_bytes = 20});
}
END_TEST

START_TEST(a_residual_sum_reads_two_activations)
{
    calc_layer layer;
    calc_layer_residual(&layer, &alone, name, FLAGS, 10);
    assert_layer(&layer, &(calc_layer){.inputs = 20,
                                       .outputs = 10,
                                       .flop = {10, 20, 0},
                                       .bytes = {60, 60, 0},
                                       .activation_bytes = 40,
                                       .activation_grad_bytes = 20,
                                       .output_bytes = 20});
}
END_TEST

/* Backward reads three gradients of 10 elements and writes their sum. */
START_TEST(a_fork_is_free_forward_and_sums_backward)
{
    calc_layer layer;
    calc_layer_fork(&layer, &alone, name, FLAGS, 10, 3);
    assert_layer(
        &layer, &(calc_layer){
                    .inputs = 10, .flop = {0, 30, 0}, .bytes = {0, 80, 0}, .activation_bytes = 20});
}
END_TEST

/* ---- Communication --------------------------------------------------------------------------- */

/* 16 elements of 2 bytes on 4 ranks; a rank adds up three quarters of them. */
static calc_layer comm(calc_tensor_par_comm_type type, double ranks, bool conjugate)
{
    calc_layer layer;
    calc_layer_tensor_par_comm(&layer, &(calc_layer_shape){2, ranks, type}, name, FLAGS, conjugate,
                               16);
    return layer;
}

START_TEST(an_identity_moves_and_keeps_nothing)
{
    calc_layer layer = comm(CALC_TENSOR_PAR_COMM_TYPE_AR, 4, false);
    calc_layer want = {.inputs = 16,
                       .outputs = 16,
                       .flop = {0, 12, 0},
                       .bytes = {0, 64, 0},
                       .activation_grad_bytes = 32,
                       .output_bytes = 32,
                       .comm = CALC_LAYER_COMM_ALONE,
                       .comm_bytes = 32};
    assert_layer(&layer, &want);
    layer = comm(CALC_TENSOR_PAR_COMM_TYPE_P2P_RS_AG, 4, false);
    assert_layer(&layer, &want);
}
END_TEST

START_TEST(a_conjugate_step_reduces_forward)
{
    calc_layer layer = comm(CALC_TENSOR_PAR_COMM_TYPE_AR, 4, true);
    calc_layer want = {.inputs = 16,
                       .outputs = 16,
                       .flop = {12, 0, 0},
                       .bytes = {64, 0, 0},
                       .activation_bytes = 32,
                       .output_bytes = 32,
                       .comm = CALC_LAYER_COMM_ALONE,
                       .comm_bytes = 32,
                       .conjugate = true};
    assert_layer(&layer, &want);
    layer = comm(CALC_TENSOR_PAR_COMM_TYPE_P2P_RS_AG, 4, true);
    assert_layer(&layer, &want);
}
END_TEST

START_TEST(sequence_parallelism_keeps_a_share_on_both_sides)
{
    calc_layer want = {.inputs = 16,
                       .outputs = 16,
                       .flop = {0, 12, 0},
                       .bytes = {64, 64, 0},
                       .activation_bytes = 8,
                       .activation_grad_bytes = 8,
                       .output_bytes = 32,
                       .comm = CALC_LAYER_COMM_ALONE,
                       .comm_bytes = 32};
    calc_layer layer = comm(CALC_TENSOR_PAR_COMM_TYPE_RS_AG, 4, false);
    assert_layer(&layer, &want);
    layer = comm(CALC_TENSOR_PAR_COMM_TYPE_RS_AG, 4, true);
    want.flop[CALC_STAGE_FW] = 12;
    want.flop[CALC_STAGE_AGRAD] = 0;
    want.conjugate = true;
    assert_layer(&layer, &want);
}
END_TEST

START_TEST(one_rank_has_nothing_to_communicate)
{
    for (int type = 0; type < CALC_TENSOR_PAR_COMM_TYPE_COUNT; type++) {
        for (int conjugate = 0; conjugate < 2; conjugate++) {
            calc_layer layer = comm((calc_tensor_par_comm_type)type, 1, conjugate);
            assert_layer(&layer, &(calc_layer){.comm = CALC_LAYER_COMM_ALONE,
                                               .comm_bytes = 32,
                                               .conjugate = conjugate});
        }
    }
}
END_TEST

/* ---- Datatypes ------------------------------------------------------------------------------- */

START_TEST(bytes_grow_with_the_datatype_and_counts_do_not)
{
    for (double size = 1; size <= 4; size *= 2) {
        calc_layer layer;
        calc_layer_linear(&layer, &(calc_layer_shape){size, 1, alone.type}, name, FLAGS, 2, 3, 5);
        assert_layer(&layer, &(calc_layer){.inputs = 6,
                                           .outputs = 10,
                                           .flop = {60, 60, 60},
                                           .bytes = {31 * size, 31 * size, 31 * size},
                                           .weights = 15,
                                           .weight_bytes = 15 * size,
                                           .activation_bytes = 6 * size,
                                           .activation_grad_bytes = 10 * size,
                                           .output_bytes = 10 * size,
                                           .matrix = true});
    }
}
END_TEST

int main(void)
{
    TCase *cases = tcase_create("layer");
    tcase_add_test(cases, datatypes_take_one_two_or_four_bytes);
    tcase_add_test(cases, a_linear_layer_multiplies_by_its_weights);
    tcase_add_test(cases, a_batched_product_has_two_gradients_and_no_weights);
    tcase_add_test(cases, an_overlapped_gather_keeps_one_tile_of_its_input);
    tcase_add_test(cases, an_overlapped_scatter_buffers_one_tile_of_gradients);
    tcase_add_test(cases, an_overlapped_all_reduce_keeps_input_or_gradients_whole);
    tcase_add_test(cases, a_norm_has_two_weights_per_hidden_element);
    tcase_add_test(cases, a_dropout_keeps_only_its_mask);
    tcase_add_test(cases, the_mask_of_a_dropout_takes_one_byte_in_every_datatype);
    tcase_add_test(cases, a_fused_gelu_keeps_nothing_and_moves_the_same);
    tcase_add_test(cases, a_softmax_takes_five_and_eight_flop_per_element);
    tcase_add_test(cases, a_residual_sum_reads_two_activations);
    tcase_add_test(cases, a_fork_is_free_forward_and_sums_backward);
    tcase_add_test(cases, an_identity_moves_and_keeps_nothing);
    tcase_add_test(cases, a_conjugate_step_reduces_forward);
    tcase_add_test(cases, sequence_parallelism_keeps_a_share_on_both_sides);
    tcase_add_test(cases, one_rank_has_nothing_to_communicate);
    tcase_add_test(cases, bytes_grow_with_the_datatype_and_counts_do_not);
    return run_cases(cases);
}
