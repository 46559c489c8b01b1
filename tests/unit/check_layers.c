#include <math.h>

#include "small_case.h"

/* Statistics of the layers of a layout. @return how many */
static size_t layers_of(const calc_exec *exec, calc_layer_stats out[CALC_MAX_LAYERS])
{
    calc_app app = small_app();
    calc_system system = small_system();
    return calc_layers(&app, &system, exec, out, CALC_MAX_LAYERS);
}

static calc_exec layout(calc_tensor_par_overlap overlap)
{
    calc_exec exec = small_exec(4, 1, 2);
    exec.tensor_par_comm_type = CALC_TENSOR_PAR_COMM_TYPE_P2P_RS_AG;
    exec.tensor_par_overlap = overlap;
    exec.activation_recompute = CALC_ACTIVATION_RECOMPUTE_FULL;
    exec.optimizer_sharding = true;
    return exec;
}

/* Every statistic of the block that is a sum over its layers. */
START_TEST(the_layers_sum_to_the_block)
{
    for (int overlap = 0; overlap < CLASSIC_OVERLAPS; overlap++) {
        calc_exec exec = layout((calc_tensor_par_overlap)overlap);
        calc_app app = small_app();
        calc_system system = small_system();
        calc_stats block;
        calc_run(&app, &system, &exec, CALC_COMPAT_NONE, &block);
        calc_layer_stats layer[CALC_MAX_LAYERS];
        calc_layer_stats sum = {0};
        size_t count = layers_of(&exec, layer);
        for (size_t i = 0; i < count; i++) {
            sum.fw_flops += layer[i].fw_flops;
            sum.agrad_mem_accessed += layer[i].agrad_mem_accessed;
            sum.wgrad_flops += layer[i].wgrad_flops;
            sum.fw_processing_time += layer[i].fw_processing_time;
            sum.agrad_processing_time += layer[i].agrad_processing_time;
            sum.baseblock_fw_tp_comm_size += layer[i].baseblock_fw_tp_comm_size;
            sum.edgeblock_bw_tp_comm_size += layer[i].edgeblock_bw_tp_comm_size;
            sum.baseblock_fw_tp_comm_time += layer[i].baseblock_fw_tp_comm_time;
            sum.edgeblock_fw_tp_comm_time_exposed += layer[i].edgeblock_fw_tp_comm_time_exposed;
            sum.baseblock_bw_tp_comm_time_exposed += layer[i].baseblock_bw_tp_comm_time_exposed;
            sum.edgeblock_recomm_size += layer[i].edgeblock_recomm_size;
            sum.baseblock_recomm_time += layer[i].baseblock_recomm_time;
            sum.optim_flops += layer[i].optim_flops;
            sum.optim_processing_time += layer[i].optim_processing_time;
            sum.weight += layer[i].weight;
            sum.weight_grad += layer[i].weight_grad;
            sum.activation_grad += layer[i].activation_grad;
            sum.optimizer += layer[i].optimizer;
        }
        assert_near(sum.fw_flops, block.block_fw_flops);
        assert_near(sum.agrad_mem_accessed, block.block_agrad_mem_accessed);
        assert_near(sum.wgrad_flops, block.block_wgrad_flops);
        assert_near(sum.fw_processing_time, block.block_fw_time);
        assert_near(sum.agrad_processing_time, block.block_agrad_time);
        assert_near(sum.baseblock_fw_tp_comm_size, block.baseblock_fw_tp_size);
        assert_near(sum.edgeblock_bw_tp_comm_size, block.edgeblock_bw_tp_size);
        assert_near(sum.baseblock_fw_tp_comm_time, block.baseblock_fw_tp_time);
        assert_near(sum.edgeblock_fw_tp_comm_time_exposed, block.edgeblock_fw_tp_time_exposed);
        assert_near(sum.baseblock_bw_tp_comm_time_exposed, block.baseblock_agrad_tp_time_exposed);
        assert_near(sum.edgeblock_recomm_size, block.edgeblock_recomm_size);
        assert_near(sum.baseblock_recomm_time, block.baseblock_recomm_time);
        assert_near(sum.optim_flops, block.block_optim_flops);
        assert_near(sum.optim_processing_time, block.block_optim_time);
        assert_near(sum.weight, block.block_weight_space);
        assert_near(sum.weight_grad, block.block_weight_grad_space);
        assert_near(sum.activation_grad, block.block_act_grad_space);
        assert_near(sum.optimizer, block.block_optimizer_space);
        ck_assert_double_gt(sum.edgeblock_recomm_size, 0);
    }
}
END_TEST

/* The query projection on 4 ranks: (32 x 64) times (64 x 16) in 2 bytes, with 2048 elements in,
 * 1024 weights and 512 elements out. Its state is sharded over 2 replicas. */
START_TEST(a_projection_has_its_own_numbers)
{
    calc_exec exec = layout(CALC_TENSOR_PAR_OVERLAP_NONE);
    calc_layer_stats layer[CALC_MAX_LAYERS];
    layers_of(&exec, layer);
    const calc_layer_stats *query = &layer[4];
    ck_assert_str_eq(query->name, "AttnBlock_Query");
    ck_assert_double_eq(query->inputs_size, 2048);
    ck_assert_double_eq(query->outputs_size, 512);
    ck_assert_double_eq(query->fw_flops, 65536);
    ck_assert_double_eq(query->fw_mem_accessed, 7168);
    assert_near(query->fw_arithmetic_intensity, 65536.0 / 7168);
    /* Bound by arithmetic: 2^16 FLOP at 2^40 against 7168 bytes at 2^38. */
    ck_assert_double_eq(query->fw_processing_time, two_to(-24));
    ck_assert_double_eq(query->agrad_flops, 65536);
    ck_assert_double_eq(query->wgrad_flops, 65536);
    ck_assert_double_eq(query->optim_flops, 11 * 1024 / 2);
    ck_assert_double_eq(query->optim_mem_accessed, 12 * 1024 / 2);
    assert_near(query->optim_arithmetic_intensity, 11.0 / 12);
    ck_assert_double_eq(query->weight, 2048);
    ck_assert_double_eq(query->activation, 4096);
    ck_assert_double_eq(query->weight_grad, 1024);
    ck_assert_double_eq(query->activation_grad, 1024);
    ck_assert_double_eq(query->optimizer, 6144);
    ck_assert_double_eq(query->baseblock_fw_tp_comm_size, 0);
}
END_TEST

/* A fork computes nothing forward; backward it adds two gradients of 2048 elements. */
START_TEST(intensity_is_zero_without_arithmetic)
{
    calc_exec exec = layout(CALC_TENSOR_PAR_OVERLAP_NONE);
    calc_layer_stats layer[CALC_MAX_LAYERS];
    layers_of(&exec, layer);
    ck_assert_str_eq(layer[0].name, "AttnBlock_Fork");
    ck_assert_double_eq(layer[0].fw_mem_accessed, 0);
    ck_assert_double_eq(layer[0].fw_arithmetic_intensity, 0);
    assert_near(layer[0].agrad_arithmetic_intensity, 2 * 2048.0 / (3 * 2048 * 2));
    ck_assert_double_eq(layer[0].wgrad_arithmetic_intensity, 0);
}
END_TEST

/* The all-gather of the edge block that a base block does not have. */
START_TEST(base_and_edge_blocks_are_told_apart)
{
    calc_exec exec = layout(CALC_TENSOR_PAR_OVERLAP_NONE);
    calc_layer_stats layer[CALC_MAX_LAYERS];
    layers_of(&exec, layer);
    ck_assert_str_eq(layer[2].name, "AttnBlock_F");
    ck_assert_double_eq(layer[2].baseblock_fw_tp_comm_size, 0);
    ck_assert_double_eq(layer[2].edgeblock_fw_tp_comm_size, 4096);
    ck_assert_double_eq(layer[2].edgeblock_fw_tp_comm_tile, 4096);
    ck_assert_double_eq(layer[2].baseblock_bw_tp_comm_size, 4096);
    ck_assert_double_eq(layer[2].baseblock_fw_tp_comm_time, 0);
    /* Three quarters of 4096 bytes at 2^36 bytes/s. */
    assert_near(layer[2].edgeblock_fw_tp_comm_time, 0.75 * 4096 / two_to(36));
    ck_assert_double_eq(layer[2].edgeblock_fw_tp_comm_time_exposed,
                        layer[2].edgeblock_fw_tp_comm_time);
    ck_assert_double_eq(layer[2].fw_processing_time, 0);
}
END_TEST

START_TEST(an_overlapped_message_is_sent_in_tiles)
{
    calc_exec exec = layout(CALC_TENSOR_PAR_OVERLAP_RING);
    calc_layer_stats layer[CALC_MAX_LAYERS];
    layers_of(&exec, layer);
    ck_assert_str_eq(layer[2].name, "AttnBlock_QKV_AG");
    ck_assert_double_eq(layer[2].edgeblock_fw_tp_comm_size, 4096);
    ck_assert_double_eq(layer[2].edgeblock_fw_tp_comm_tile, 1024);
}
END_TEST

START_TEST(no_more_rows_are_filled_than_there_is_room_for)
{
    calc_app app = small_app();
    calc_system system = small_system();
    calc_exec exec = layout(CALC_TENSOR_PAR_OVERLAP_NONE);
    calc_layer_stats layer[3] = {{.name = "a"}, {.name = "b"}, {.name = "c"}};
    ck_assert_uint_eq(calc_layers(&app, &system, &exec, layer, 2), 24);
    ck_assert_str_eq(layer[0].name, "AttnBlock_Fork");
    ck_assert_str_eq(layer[1].name, "AttnBlock_LayerNorm");
    ck_assert_str_eq(layer[2].name, "c");
    ck_assert_uint_eq(calc_layers(&app, &system, &exec, NULL, 0), 24);
}
END_TEST

int main(void)
{
    TCase *cases = tcase_create("layers");
    tcase_add_test(cases, the_layers_sum_to_the_block);
    tcase_add_test(cases, a_projection_has_its_own_numbers);
    tcase_add_test(cases, intensity_is_zero_without_arithmetic);
    tcase_add_test(cases, base_and_edge_blocks_are_told_apart);
    tcase_add_test(cases, an_overlapped_message_is_sent_in_tiles);
    tcase_add_test(cases, no_more_rows_are_filled_than_there_is_room_for);
    return run_cases(cases);
}
