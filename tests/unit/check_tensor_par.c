#include "model/tensor_par.h"

#include "small_case.h"

/* Four ranks at 256 bytes/s. The scalars tell the operations apart: a message of 256 bytes takes
 * 1 s to scatter, 2 s to gather and 4 s to all-reduce. Arithmetic at 64 FLOP/s, traffic for
 * nothing. */
static const calc_network network = {
    .bytes_per_s = 256,
    .efficiency = 1,
    .ops = {.reduce_scatter = {1, 0}, .all_gather = {2, 0}, .all_reduce = {4, 0}}};
static const calc_engine engine = {64, {.count = 1, .efficiency = {1}}};
static const calc_memory_tier memory = {.bytes_per_s = 1e300,
                                        .efficiency = {.count = 1, .efficiency = {1}}};
static const calc_tensor_par four_ranks = {.ranks = 4,
                                           .element_bytes = 2,
                                           .network = &network,
                                           .memory = &memory,
                                           .matrix = &engine,
                                           .vector = &engine};

/* ---- Which pass communicates what ------------------------------------------------------------ */

/* Per pass, for one type of communication: R reduce-scatter, G all-gather, A all-reduce, - none.
 * The third pass is the repetition of forward. */
typedef struct passes {
    calc_tensor_par_comm_type type;
    bool conjugate;
    const char *base, *edge;
} passes;

static const passes table[] = {
    {CALC_TENSOR_PAR_COMM_TYPE_AR, false, "-A-", "-A-"},
    {CALC_TENSOR_PAR_COMM_TYPE_AR, true, "A-A", "A-A"},
    {CALC_TENSOR_PAR_COMM_TYPE_P2P_RS_AG, false, "-A-", "GRG"},
    {CALC_TENSOR_PAR_COMM_TYPE_P2P_RS_AG, true, "A-A", "RGR"},
    {CALC_TENSOR_PAR_COMM_TYPE_RS_AG, false, "GRG", "GRG"},
    {CALC_TENSOR_PAR_COMM_TYPE_RS_AG, true, "RGR", "RGR"},
};
enum { TABLE_ROWS = sizeof table / sizeof *table };

static double letter_s(char letter)
{
    return letter == 'R' ? 1 : letter == 'G' ? 2 : letter == 'A' ? 4 : 0;
}

/* Check one cell of the table; `reduction_s` is the arithmetic that an overlapped layer's own
 * reduction takes on top of the network. */
static void assert_pass(const calc_tensor_par *tp, const calc_layer *layer, int stage, int place,
                        char letter, double reduction_s)
{
    calc_stage s = (calc_stage)stage;
    calc_block_place p = (calc_block_place)place;
    double bytes = letter == '-' ? 0 : 256;
    double tiles = layer->comm == CALC_LAYER_COMM_OVERLAPPED ? 4 : 1;
    ck_assert_double_eq(calc_tensor_par_bytes(tp, layer, s, p), bytes);
    ck_assert_double_eq(calc_tensor_par_tile_bytes(tp, layer, s, p), bytes / tiles);
    ck_assert_double_eq(calc_tensor_par_link_s(tp, layer, s, p), letter_s(letter) + reduction_s);
}

START_TEST(a_communication_step_does_what_its_type_says)
{
    for (int i = 0; i < TABLE_ROWS; i++) {
        calc_tensor_par tp = four_ranks;
        tp.type = table[i].type;
        calc_layer layer = {.comm = CALC_LAYER_COMM_ALONE,
                            .comm_bytes = 256,
                            .conjugate = table[i].conjugate,
                            .flags = CALC_LAYER_RECOMM};
        for (int stage = 0; stage < CALC_STAGE_COUNT; stage++) {
            assert_pass(&tp, &layer, stage, CALC_BASE_BLOCK, table[i].base[stage], 0);
            assert_pass(&tp, &layer, stage, CALC_EDGE_BLOCK, table[i].edge[stage], 0);
        }
    }
}
END_TEST

/* 128 elements, of which a rank adds up three quarters: 96 FLOP take 1.5 s. The repetition counts
 * no arithmetic, as in Calculon. */
START_TEST(an_overlapped_layer_does_the_same_and_adds_up_its_reduction)
{
    for (int i = 0; i < TABLE_ROWS; i++) {
        calc_tensor_par tp = four_ranks;
        tp.type = table[i].type;
        calc_layer layer = {.comm = CALC_LAYER_COMM_OVERLAPPED,
                            .comm_bytes = 256,
                            .conjugate = table[i].conjugate,
                            .flags = CALC_LAYER_RECOMM};
        for (int stage = 0; stage < CALC_STAGE_COUNT; stage++) {
            int reducing = table[i].conjugate ? CALC_STAGE_FW : CALC_STAGE_AGRAD;
            double reduction_s = stage == reducing ? 1.5 : 0;
            assert_pass(&tp, &layer, stage, CALC_BASE_BLOCK, table[i].base[stage], reduction_s);
            assert_pass(&tp, &layer, stage, CALC_EDGE_BLOCK, table[i].edge[stage], reduction_s);
        }
    }
}
END_TEST

START_TEST(only_layers_marked_for_it_repeat_their_communication)
{
    for (int i = 0; i < TABLE_ROWS; i++) {
        calc_tensor_par tp = four_ranks;
        tp.type = table[i].type;
        calc_layer layer = {.comm = CALC_LAYER_COMM_ALONE,
                            .comm_bytes = 256,
                            .conjugate = table[i].conjugate,
                            .flags = CALC_LAYER_RECOMPUTE};
        assert_pass(&tp, &layer, CALC_STAGE_WGRAD, CALC_BASE_BLOCK, '-', 0);
        assert_pass(&tp, &layer, CALC_STAGE_WGRAD, CALC_EDGE_BLOCK, '-', 0);
    }
}
END_TEST

START_TEST(one_rank_and_ordinary_layers_communicate_nothing)
{
    calc_tensor_par tp = four_ranks;
    tp.type = CALC_TENSOR_PAR_COMM_TYPE_RS_AG;
    calc_layer layer = {.comm = CALC_LAYER_COMM_NONE, .comm_bytes = 256};
    assert_pass(&tp, &layer, CALC_STAGE_FW, CALC_BASE_BLOCK, '-', 0);
    layer.comm = CALC_LAYER_COMM_ALONE;
    assert_pass(&tp, &layer, CALC_STAGE_FW, CALC_BASE_BLOCK, 'G', 0);
    tp.ranks = 1;
    assert_pass(&tp, &layer, CALC_STAGE_FW, CALC_BASE_BLOCK, '-', 0);
    assert_pass(&tp, &layer, CALC_STAGE_AGRAD, CALC_EDGE_BLOCK, '-', 0);
}
END_TEST

/* 128 FLOP take 2 s; so do 512 bytes at 256 bytes/s. */
START_TEST(a_communication_step_takes_its_own_arithmetic_and_traffic_too)
{
    calc_memory_tier slow = memory;
    slow.bytes_per_s = 256;
    calc_tensor_par tp = four_ranks;
    tp.memory = &slow;
    calc_layer layer = {.comm = CALC_LAYER_COMM_ALONE,
                        .comm_bytes = 256,
                        .conjugate = true,
                        .flop = {128},
                        .bytes = {512}};
    ck_assert_double_eq(calc_tensor_par_link_s(&tp, &layer, CALC_STAGE_FW, CALC_BASE_BLOCK), 4 + 2);
    tp.mode = CALC_PROCESSING_MODE_NO_OVERLAP;
    ck_assert_double_eq(calc_tensor_par_link_s(&tp, &layer, CALC_STAGE_FW, CALC_BASE_BLOCK),
                        4 + 2 + 2);
}
END_TEST

START_TEST(matrix_layers_run_on_the_matrix_engine)
{
    calc_engine matrix = {1024, flat_curve(1)};
    calc_tensor_par tp = four_ranks;
    tp.matrix = &matrix;
    calc_layer layer = {.flop = {128, 256, 512}, .matrix = true};
    ck_assert_double_eq(calc_tensor_par_flop_s(&tp, &layer, CALC_STAGE_FW), 0.125);
    ck_assert_double_eq(calc_tensor_par_flop_s(&tp, &layer, CALC_STAGE_WGRAD), 0.5);
    layer.matrix = false;
    ck_assert_double_eq(calc_tensor_par_flop_s(&tp, &layer, CALC_STAGE_FW), 2);
}
END_TEST

/* ---- Overlap --------------------------------------------------------------------------------- */

/* A pass on four ranks whose driving of the network takes `usage` of the processor. */
static calc_tensor_par_times overlap(calc_tensor_par_overlap kind, double usage, double flop_s,
                                     double mem_s, double link_s)
{
    calc_network driven = network;
    driven.processor_usage = usage;
    calc_tensor_par tp = four_ranks;
    tp.network = &driven;
    tp.overlap = kind;
    return calc_tensor_par_overlapped(&tp, &(calc_layer){.comm = CALC_LAYER_COMM_OVERLAPPED},
                                      flop_s, mem_s, link_s);
}

static void assert_times(calc_tensor_par_times got, double processing_s, double exposed_s)
{
    ck_assert_double_eq(got.processing_s, processing_s);
    ck_assert_double_eq(got.exposed_s, exposed_s);
}

/* The ring computes one tile, then each of the others beside a tile of communication: a pass takes
 * compute + 3 * max(compute, link) of a tile. */
START_TEST(a_ring_hides_all_but_what_is_longer_than_compute)
{
    for (double link_s = 0.5; link_s <= 64; link_s *= 2) {
        calc_tensor_par_times times = overlap(CALC_TENSOR_PAR_OVERLAP_RING, 0, 8, 0, link_s);
        ck_assert_double_eq(times.processing_s, 8);
        ck_assert_double_eq(times.processing_s + times.exposed_s, 2 + 3 * fmax(2, link_s / 4));
    }
}
END_TEST

START_TEST(a_ring_that_is_exactly_balanced_exposes_nothing)
{
    assert_times(overlap(CALC_TENSOR_PAR_OVERLAP_RING, 0, 8, 0, 8), 8, 0);
    ck_assert_double_gt(overlap(CALC_TENSOR_PAR_OVERLAP_RING, 0, 8, 0, nextafter(8, 9)).exposed_s,
                        0);
}
END_TEST

/* Driving the network for 3 of 4 tiles of 1 s takes a quarter of each. */
START_TEST(hidden_communication_still_takes_its_share_of_the_processor)
{
    assert_times(overlap(CALC_TENSOR_PAR_OVERLAP_RING, 0.25, 8, 0, 4), 8 + 0.75, 0);
}
END_TEST

/* 3 s of arithmetic take 4 s beside communication: the first of four tiles 0.75 s, the others 1 s.
 * 8 s of communication are 2 s per tile, 1 s too long. */
START_TEST(compute_beside_longer_communication_is_slowed)
{
    assert_times(overlap(CALC_TENSOR_PAR_OVERLAP_RING, 0.25, 3, 0, 8), 0.75 + 3, 3);
}
END_TEST

START_TEST(both_branches_agree_at_the_balance)
{
    assert_times(overlap(CALC_TENSOR_PAR_OVERLAP_RING, 0.25, 3, 0, 4), 3.75, 0);
    calc_tensor_par_times above =
        overlap(CALC_TENSOR_PAR_OVERLAP_RING, 0.25, 3, 0, nextafter(4, 5));
    ck_assert_double_eq(above.processing_s, 3.75);
    ck_assert_double_eq_tol(above.exposed_s, 0, 1e-14);
}
END_TEST

/* A pipe does not skip the first tile of communication. As in Calculon that tile, 2 s here, is in
 * the processing time and in the exposed time. */
START_TEST(a_pipe_exposes_one_tile_more)
{
    assert_times(overlap(CALC_TENSOR_PAR_OVERLAP_PIPE, 0, 16, 0, 8), 16 + 2, 2);
    assert_times(overlap(CALC_TENSOR_PAR_OVERLAP_PIPE, 0, 4, 0, 8), 4 + 2, 3 + 2);
}
END_TEST

START_TEST(communication_hides_behind_arithmetic_and_not_behind_traffic)
{
    assert_times(overlap(CALC_TENSOR_PAR_OVERLAP_RING, 0, 4, 16, 8), 16, 3);
}
END_TEST

/* Exactly balanced, so hidden: only its share of the processor is added. */
START_TEST(hidden_communication_of_a_layer_bound_by_memory_takes_its_share)
{
    assert_times(overlap(CALC_TENSOR_PAR_OVERLAP_RING, 0.25, 3, 16, 4), 16 + 0.75, 0);
}
END_TEST

START_TEST(without_roofline_arithmetic_and_traffic_add_up_under_overlap)
{
    calc_tensor_par tp = four_ranks;
    tp.mode = CALC_PROCESSING_MODE_NO_OVERLAP;
    tp.overlap = CALC_TENSOR_PAR_OVERLAP_RING;
    calc_layer layer = {.comm = CALC_LAYER_COMM_OVERLAPPED};
    assert_times(calc_tensor_par_overlapped(&tp, &layer, 8, 16, 4), 24, 0);
}
END_TEST

START_TEST(without_communication_there_is_only_compute)
{
    assert_times(overlap(CALC_TENSOR_PAR_OVERLAP_PIPE, 0.25, 4, 16, 0), 16, 0);
}
END_TEST

START_TEST(a_communication_step_alone_exposes_all_of_it)
{
    calc_layer layer = {.comm = CALC_LAYER_COMM_ALONE};
    assert_times(calc_tensor_par_overlapped(&four_ranks, &layer, 4, 16, 8), 0, 8);
}
END_TEST

/* ---- Required bandwidth ---------------------------------------------------------------------- */

/* 256 bytes hide behind 2 s of arithmetic at 128 bytes/s; behind the 4 s that they become when half
 * of the processor drives the network, at 64. */
START_TEST(the_required_bandwidth_moves_a_message_in_the_time_of_its_arithmetic)
{
    calc_network driven = network;
    calc_tensor_par tp = four_ranks;
    tp.network = &driven;
    tp.type = CALC_TENSOR_PAR_COMM_TYPE_RS_AG;
    calc_layer layer = {.comm = CALC_LAYER_COMM_OVERLAPPED, .comm_bytes = 256};
    ck_assert_double_eq(
        calc_tensor_par_required_bytes_per_s(&tp, &layer, 2, CALC_STAGE_FW, CALC_BASE_BLOCK), 128);
    driven.processor_usage = 0.5;
    ck_assert_double_eq(
        calc_tensor_par_required_bytes_per_s(&tp, &layer, 2, CALC_STAGE_FW, CALC_BASE_BLOCK), 64);
}
END_TEST

START_TEST(only_overlapped_messages_require_bandwidth)
{
    calc_layer layer = {.comm = CALC_LAYER_COMM_OVERLAPPED, .comm_bytes = 256};
    /* An identity. */
    ck_assert_double_eq(calc_tensor_par_required_bytes_per_s(&four_ranks, &layer, 2, CALC_STAGE_FW,
                                                             CALC_BASE_BLOCK),
                        0);
    layer.comm = CALC_LAYER_COMM_ALONE;
    ck_assert_double_eq(calc_tensor_par_required_bytes_per_s(&four_ranks, &layer, 2,
                                                             CALC_STAGE_AGRAD, CALC_BASE_BLOCK),
                        0);
}
END_TEST

/* ---- Context --------------------------------------------------------------------------------- */

START_TEST(the_context_borrows_what_the_layout_names)
{
    calc_system system = small_system();
    calc_exec exec = small_exec(4, 1, 1);
    exec.tensor_par_net = 1;
    exec.datatype = CALC_DATATYPE_FLOAT32;
    exec.tensor_par_comm_type = CALC_TENSOR_PAR_COMM_TYPE_RS_AG;
    exec.tensor_par_overlap = CALC_TENSOR_PAR_OVERLAP_PIPE;
    system.processing_mode = CALC_PROCESSING_MODE_NO_OVERLAP;
    calc_tensor_par tp = calc_tensor_par_of(&system, &exec);
    ck_assert_double_eq(tp.ranks, 4);
    ck_assert_double_eq(tp.element_bytes, 4);
    ck_assert_int_eq(tp.type, CALC_TENSOR_PAR_COMM_TYPE_RS_AG);
    ck_assert_int_eq(tp.overlap, CALC_TENSOR_PAR_OVERLAP_PIPE);
    ck_assert_int_eq(tp.mode, CALC_PROCESSING_MODE_NO_OVERLAP);
    ck_assert_ptr_eq(tp.network, &system.networks[1]);
    ck_assert_ptr_eq(tp.memory, &system.mem1);
    ck_assert_ptr_eq(tp.matrix, &system.matrix[CALC_DATATYPE_FLOAT32]);
    ck_assert_ptr_eq(tp.vector, &system.vector[CALC_DATATYPE_FLOAT32]);
}
END_TEST

int main(void)
{
    TCase *cases = tcase_create("tensor_par");
    tcase_add_test(cases, a_communication_step_does_what_its_type_says);
    tcase_add_test(cases, an_overlapped_layer_does_the_same_and_adds_up_its_reduction);
    tcase_add_test(cases, only_layers_marked_for_it_repeat_their_communication);
    tcase_add_test(cases, one_rank_and_ordinary_layers_communicate_nothing);
    tcase_add_test(cases, a_communication_step_takes_its_own_arithmetic_and_traffic_too);
    tcase_add_test(cases, matrix_layers_run_on_the_matrix_engine);
    tcase_add_test(cases, a_ring_hides_all_but_what_is_longer_than_compute);
    tcase_add_test(cases, a_ring_that_is_exactly_balanced_exposes_nothing);
    tcase_add_test(cases, hidden_communication_still_takes_its_share_of_the_processor);
    tcase_add_test(cases, compute_beside_longer_communication_is_slowed);
    tcase_add_test(cases, both_branches_agree_at_the_balance);
    tcase_add_test(cases, a_pipe_exposes_one_tile_more);
    tcase_add_test(cases, communication_hides_behind_arithmetic_and_not_behind_traffic);
    tcase_add_test(cases, hidden_communication_of_a_layer_bound_by_memory_takes_its_share);
    tcase_add_test(cases, without_roofline_arithmetic_and_traffic_add_up_under_overlap);
    tcase_add_test(cases, without_communication_there_is_only_compute);
    tcase_add_test(cases, a_communication_step_alone_exposes_all_of_it);
    tcase_add_test(cases, the_required_bandwidth_moves_a_message_in_the_time_of_its_arithmetic);
    tcase_add_test(cases, only_overlapped_messages_require_bandwidth);
    tcase_add_test(cases, the_context_borrows_what_the_layout_names);
    return run_cases(cases);
}
