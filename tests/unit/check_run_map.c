/* What single cells of a published run mean; tests/golden/check_validate_inputs.c has whole rows.
 */
#include "run_case.h"

#include <stdlib.h>
#include <string.h>

#include "frame.h"

static calc_runs_row row;
static calc_run_map map;

static void enter(void)
{
    row = plain_row();
}

const calc_test_frame calc_tests = {.setup = enter};

static const char *assumes(const char *words)
{
    for (int i = 0; i < map.assumed.count; i++) {
        if (strstr(map.assumed.text[i], words)) {
            return map.assumed.text[i];
        }
    }
    return NULL;
}

static void maps(void)
{
    calc_run_map_row(&map, &row);
    ck_assert_ptr_null(map.reason);
}

static void has_reason(const char *words)
{
    calc_run_map_row(&map, &row);
    ck_assert_ptr_nonnull(map.reason);
    ck_assert_str_eq(map.reason, words);
}

CALC_TEST(a_complete_row_is_a_layout)
{
    maps();
    ck_assert_str_eq(map.source->name, "other");
    ck_assert_str_eq(map.machine->system, "a100_sxm_80g");
    ck_assert_int_eq(map.app.feedforward, 14336);
    ck_assert_int_eq(map.app.attn_size, 128);
    ck_assert_int_eq(map.exec.strategy.data_par, 4);
    ck_assert_int_eq(map.exec.batch_size, 64);
    ck_assert_int_eq(map.exec.strategy.attention_type, CALC_ATTENTION_TYPE_GROUPED_QUERY);
    ck_assert_int_eq(map.exec.strategy.tensor_par_overlap, CALC_TENSOR_PAR_OVERLAP_ASYNC);
    ck_assert_int_eq(map.exec.strategy.activation_recompute, CALC_ACTIVATION_RECOMPUTE_NONE);
    ck_assert(map.exec.strategy.flash_attention && map.app.causal && map.exec.training);
    ck_assert(map.step_s == 10 && isnan(map.memory_bytes));
    ck_assert_str_eq(map.printed, "measured_iteration_s");
}

/* Megatron Core adds gradients up in the format it sends them in. */
CALC_TEST(gradients_are_stored_as_they_are_sent)
{
    maps();
    ck_assert_int_eq(map.exec.strategy.grad_reduce_datatype, CALC_FORMAT_FLOAT32);
    ck_assert_int_eq(map.exec.strategy.grad_datatype, CALC_FORMAT_FLOAT32);
    row.overlap = "grad_sync_dtype=bf16";
    maps();
    ck_assert_int_eq(map.exec.strategy.grad_reduce_datatype, CALC_FORMAT_BFLOAT16);
    ck_assert_int_eq(map.exec.strategy.grad_datatype, CALC_FORMAT_BFLOAT16);
}

/* Other tables of a publisher are of its software, too. */
CALC_TEST(a_publisher_is_known_by_the_start_of_an_id)
{
    static const struct {
        const char *id, *source;
        bool half, eager;
    } ids[] = {
        {"nemo_2507_x", "nemo", true, false},       {"nemo_24.07_x", "nemo_2407", true, false},
        {"foundry_h200_x", "foundry", false, true}, {"simumax_h100_x", "simumax", false, false},
        {"primus_x", "primus", false, false},       {"of_my_own", "other", false, false}};
    for (size_t i = 0; i < sizeof ids / sizeof *ids; i++) {
        row = plain_row();
        row.id = ids[i].id;
        maps();
        ck_assert_str_eq(map.source->name, ids[i].source);
        ck_assert_int_eq(map.exec.strategy.grad_datatype == CALC_FORMAT_BFLOAT16, ids[i].half);
        ck_assert_int_eq(map.exec.strategy.eager, ids[i].eager);
    }
}

/* nanotron: models/base.py, build_model; InternEvo: zero1 of its configuration. */
CALC_TEST(later_sources_are_known_by_their_software)
{
    row.id = "nanotron_x_tp2_";
    row.layers = 30;
    maps();
    ck_assert_str_eq(map.source->name, "nanotron");
    ck_assert_int_eq(map.exec.pipeline_balance, CALC_PIPELINE_BALANCE_FREE);
    ck_assert(map.exec.strategy.eager && !map.exec.strategy.fused_cross_entropy);
    ck_assert_int_eq(map.exec.strategy.attention_kernel, CALC_ATTENTION_KERNEL_GENERIC);
    row.id = "nanotron_x_tp1_";
    maps();
    ck_assert_str_eq(map.source->name, "nanotron_tp1");
    row = plain_row();
    row.id = "internevo_x";
    row.zero_stage_fsdp = "1 (distributed optimizer within groups of 2)";
    maps();
    ck_assert_int_eq(map.exec.strategy.fsdp_par, 2);
    ck_assert_int_eq(map.exec.strategy.tensor_par_overlap, CALC_TENSOR_PAR_OVERLAP_NONE);
    row.zero_stage_fsdp = "1 (distributed optimizer within groups of 4)"; /* that is all */
    maps();
    ck_assert_int_eq(map.exec.strategy.fsdp_par, 0);
    ck_assert_int_eq(map.exec.strategy.optimizer_shards, CALC_OPTIMIZER_SHARDS_TENSORS);
    row.id = "bigscience_a100_x";
    maps();
    ck_assert(!map.exec.strategy.flash_attention);
    ck_assert_int_eq(map.exec.strategy.optimizer_shards, CALC_OPTIMIZER_SHARDS_EVEN);
    /* DeepSpeed adds gradients of bfloat16 up in float32. */
    ck_assert_int_eq(map.exec.strategy.grad_datatype, CALC_FORMAT_FLOAT32);
    row.dtype = "fp16";
    maps();
    ck_assert_int_eq(map.exec.strategy.grad_datatype, CALC_FORMAT_FLOAT16);
    row.gpus_per_node = 8; /* kernels one by one on more than 20 nodes */
    row.num_gpus = 160;
    maps();
    ck_assert(!map.exec.strategy.launch_blocking);
    row.num_gpus = 176;
    row.global_batch = 88;
    maps();
    ck_assert(map.exec.strategy.launch_blocking);
    row = plain_row();
    row.id = "torchtitan_ao_x";
    maps();
    ck_assert_str_eq(map.source->name, "torchao");
}

CALC_TEST(what_a_row_lacks_is_the_reason)
{
    row.hardware = "TPU v4";
    has_reason("no description of this machine");
    row = plain_row();
    row.heads = (double)NAN;
    has_reason("model shape not published, or a hybrid model");
    row = plain_row();
    row.num_gpus = (double)NAN;
    has_reason("number of GPUs not published");
    row = plain_row();
    row.global_batch = (double)NAN;
    has_reason("global batch not published");
    row = plain_row();
    row.micro_batch = (double)NAN;
    has_reason("micro-batch not published");
    row = plain_row();
    row.measured_iteration_s = (double)NAN;
    has_reason("no measured time or memory");
    row = plain_row();
}

CALC_TEST(sizes_that_do_not_fit_together_are_the_reason)
{
    row.cp = 3;
    has_reason("the parallel sizes do not divide the number of GPUs");
    row = plain_row();
    row.global_batch = 3;
    has_reason("global batch smaller than data parallelism times micro-batch");
    row.global_batch = 4;
    maps();
}

CALC_TEST(data_parallelism_is_what_is_left)
{
    row.dp = 8;
    maps();
    ck_assert_int_eq(map.exec.strategy.data_par, 4);
    ck_assert_ptr_nonnull(assumes("not as printed"));
    row.dp = 4;
    maps();
    ck_assert_ptr_null(assumes("not as printed"));
}

CALC_TEST(rates_become_the_time_of_a_step)
{
    row.measured_iteration_s = (double)NAN;
    row.measured_tokens_per_s_per_gpu = 1024;
    maps();
    ck_assert_double_eq_tol(map.step_s, 64.0 * 8192 / 1024 / 16, 1e-12);
    ck_assert_str_eq(map.printed, "measured_tokens_per_s_per_gpu");
}

CALC_TEST(flop_rates_count_as_their_source_does)
{
    row.measured_iteration_s = (double)NAN;
    row.measured_tflops_per_gpu = 140;
    row.id = "mlm_sc21_tab1_x";
    maps();
    double shape = 1 + 8192.0 / (6 * 4096) + 51200.0 / (16.0 * 32 * 4096);
    double flop = 96.0 * 64 * 8192 * 32 * 4096.0 * 4096.0 * shape;
    ck_assert_double_eq_tol(map.step_s, flop / (140e12 * 16), 1e-9 * map.step_s);
    row.id = "llama3_405b_x";
    maps();
    flop = 64.0 * 8192 * (6 * 405.9e9 + 6.0 * 32 * 4096 * 8192);
    ck_assert_double_eq_tol(map.step_s, flop / (140e12 * 16), 1e-9 * map.step_s);
}

/* 6 FLOP per weight and token; scores of 32 heads of 128, all of them or half. */
CALC_TEST(other_flop_rates_count_as_their_column_says)
{
    row.measured_iteration_s = (double)NAN;
    row.measured_tflops_per_gpu = 140;
    has_reason("FLOP/s are printed, but not how they are counted");
    double weights = 32 * (4096.0 * 4096 * 2.5 + 3 * 4096.0 * 14336) + 128256.0 * 4096;
    double scores = 32 * 12 * 4096.0 * 8192;
    row.tflops_counting = "model FLOPs";
    maps();
    double step_s = 64 * 8192 * (6 * weights + scores) / (140e12 * 16);
    ck_assert_double_eq_tol(map.step_s, step_s, 1e-3 * step_s);
    ck_assert_str_eq(map.printed, "measured_tflops_per_gpu");
    row.tflops_counting = "Model FLOPs, causal attention";
    maps();
    double causal_s = 64 * 8192 * (6 * weights + scores / 2) / (140e12 * 16);
    ck_assert_double_eq_tol(map.step_s, causal_s, 1e-3 * causal_s);
    row.tflops_counting = "hardware FLOPs";
    maps();
    ck_assert_double_eq_tol(map.step_s, step_s, 1e-3 * step_s);
    row.recompute = "full";
    maps();
    ck_assert_double_eq_tol(map.step_s, 4.0 / 3 * step_s, 1e-3 * step_s);
}

/* Megatron's "selective" is that of attention, torchtitan's of every other multiplication. */
CALC_TEST(selective_recomputation_has_a_meaning_by_itself)
{
    row.recompute = "Selective";
    maps();
    ck_assert_int_eq(map.exec.strategy.activation_recompute, CALC_ACTIVATION_RECOMPUTE_MODULES);
    ck_assert_int_eq(map.exec.strategy.recompute_modules, 1 << CALC_RECOMPUTE_MODULES_CORE_ATTN);
    ck_assert_ptr_nonnull(assumes("of what is not said"));
    row.id = "torchtitan_x";
    maps();
    ck_assert_int_eq(map.exec.strategy.activation_recompute,
                     CALC_ACTIVATION_RECOMPUTE_SELECTIVE_OP);
    ck_assert_int_eq(map.exec.strategy.recompute_modules, 0);
}

CALC_TEST(a_single_expert_is_a_dense_block)
{
    row.num_experts = 1;
    row.topk = 1;
    row.moe_ffn = 1024;
    maps();
    ck_assert_int_eq(map.app.num_experts, 0);
    ck_assert_int_eq(map.app.feedforward, 14336);
    row.num_experts = 2;
    maps();
    ck_assert_int_eq(map.app.num_experts, 2);
}

CALC_TEST(names_and_words_may_be_large_or_small)
{
    row.hardware = "a100-sxm4-80gb";
    row.model_notes = "rmsnorm, swiglu, Biases";
    row.dtype = "Float8";
    row.overlap = "HybridEP; cuda graphs";
    maps();
    ck_assert_str_eq(map.machine->system, "a100_sxm_80g");
    ck_assert_int_eq(map.app.norm_type, CALC_NORM_TYPE_RMS);
    ck_assert_int_eq(map.app.bias, CALC_CHOICE_TRUE);
    ck_assert_int_eq(map.exec.strategy.matrix_datatype, CALC_FORMAT_FLOAT8);
    ck_assert_int_eq(map.exec.strategy.dispatch_type, CALC_DISPATCH_TYPE_NODE_LIMITED);
    ck_assert(map.exec.strategy.cuda_graph == 1);
}

/* What a row says itself counts more than what is known of its source's software. */
CALC_TEST(a_row_may_deny_what_its_source_does)
{
    row.id = "dgxc_x";
    maps();
    ck_assert_int_eq(map.exec.strategy.tensor_par_overlap, CALC_TENSOR_PAR_OVERLAP_FUSED);
    ck_assert(map.exec.strategy.data_par_overlap);
    row.overlap = "ub_tp_comm_overlap=false; overlap_grad_sync=false; overlap_param_sync=false";
    maps();
    ck_assert_int_eq(map.exec.strategy.tensor_par_overlap, CALC_TENSOR_PAR_OVERLAP_ASYNC);
    ck_assert(!map.exec.strategy.data_par_overlap);
    ck_assert_int_eq(map.exec.strategy.param_gather_overlap, CALC_CHOICE_FALSE);
}

CALC_TEST(a_broken_batch_is_rounded_up_with_its_time)
{
    row.global_batch = 62; /* 15.5 micro-batches of 4 replicas */
    maps();
    ck_assert_int_eq(map.exec.batch_size, 64);
    ck_assert_double_eq_tol(map.step_s, 10 * 64.0 / 62, 1e-12);
    ck_assert_ptr_nonnull(assumes("batch rounded up"));
}

CALC_TEST(a_machine_may_depend_on_who_measured)
{
    row.hardware = "B200-SXM-180GB";
    maps();
    ck_assert_str_eq(map.machine->system, "b200");
    row.id = "simumax_b200_x";
    maps();
    ck_assert_str_eq(map.machine->system, "b200_180g");
    row.id = "vtrain_multi_1";
    row.hardware = "A100-SXM4";
    maps();
    ck_assert_str_eq(map.machine->system, "vtrain_a100");
}

/* What the network between nodes gives a processor, as printed; nodes have 8. */
static double network(const char *printed)
{
    row.gpus_per_node = 8;
    row.inter_node_net = printed;
    return calc_run_machine_network(&row);
}

CALC_TEST(a_printed_network_is_that_of_the_run)
{
    ck_assert_double_eq(network("4 x 100 Gb/s RoCE per node"), 6.25e9);
    ck_assert_double_eq(network("Omni-Path 4 x 100 Gb/s (Jean Zay; not in the table)"), 6.25e9);
    ck_assert_double_eq(network("8x HDR IB 200 Gbps per node (Selene)"), 25e9);
    ck_assert_double_eq(network("8x CX-7 400 Gbps IB per node"), 50e9);
    ck_assert_double_eq(network("1600 Gbps RoCE per node"), 25e9);
    ck_assert_double_eq(network("RDMA 400 Gb/s per GPU"), 50e9);
    ck_assert_double_eq(network("A4: 8 x ConnectX-7 RoCE (not in the README)"), 0);
    ck_assert_double_eq(network("Gbps"), 0);
    ck_assert_double_eq(network(""), 0);
    calc_system machine = {.networks_count = 2};
    calc_system own;
    machine.networks[1].bytes_per_s = 1;
    maps();
    ck_assert_ptr_eq(calc_run_map_system(&map, &machine, &own), &machine);
    ck_assert_double_eq(network("400 Gb/s per node"), 6.25e9);
    maps();
    ck_assert_double_eq(calc_run_map_system(&map, &machine, &own)->networks[1].bytes_per_s, 6.25e9);
    ck_assert_double_eq(machine.networks[1].bytes_per_s, 1);
    machine.networks_count = 1; /* one node */
    ck_assert_ptr_eq(calc_run_map_system(&map, &machine, &own), &machine);
    row.gpus_per_node = (double)NAN;
    ck_assert_double_eq(calc_run_machine_network(&row), 0);
}

CALC_TEST(stages_that_count_the_ends_or_are_free)
{
    row.layers = 30; /* two stages of 16 with the ends, in 2 chunks */
    row.vpp = "2";
    maps();
    ck_assert_int_eq(map.exec.pipeline_balance, CALC_PIPELINE_BALANCE_ENDS);
    row.vpp = "1";
    maps();
    ck_assert_int_eq(map.exec.pipeline_balance, CALC_PIPELINE_BALANCE_BLOCKS);
    row.layers = 31;
    maps();
    ck_assert_int_eq(map.exec.pipeline_balance, CALC_PIPELINE_BALANCE_FREE);
    row.pp = 1;
    maps();
    ck_assert_int_eq(map.exec.pipeline_balance, CALC_PIPELINE_BALANCE_BLOCKS);
}

CALC_TEST(listed_stages_keep_the_last_one)
{
    row.overlap = "num_layer_list=15,17";
    maps();
    ck_assert_int_eq(map.exec.first_stage_blocks, 15);
    ck_assert_int_eq(map.exec.last_stage_blocks, 17);
    row.pp = 4;
    row.overlap = "num_layer_list=6,8,9,9"; /* 17 between: one moves to the first */
    maps();
    ck_assert_int_eq(map.exec.first_stage_blocks, 7);
    ck_assert_int_eq(map.exec.last_stage_blocks, 9);
    row.overlap = "num_layer_list=16,16"; /* not as many as stages */
    maps();
    ck_assert_int_eq(map.exec.last_stage_blocks, 0);
}

CALC_TEST(sharding_and_formats)
{
    row.pp = 1;
    row.zero_stage_fsdp = "FSDP1 SHARD_GRAD_OP (ZeRO-2)";
    row.dtype = "mxfp8";
    maps();
    ck_assert_int_eq(map.exec.strategy.zero_stage, 2);
    ck_assert_int_eq(map.exec.strategy.matrix_datatype, CALC_FORMAT_FLOAT8);
    ck_assert_int_eq(map.exec.strategy.scaling, CALC_SCALING_BLOCK);
    ck_assert_int_eq(map.exec.strategy.datatype, CALC_DATATYPE_BFLOAT16);
    row.zero_stage_fsdp = "FSDP2 full shard";
    row.dtype = "fp16";
    maps();
    ck_assert_int_eq(map.exec.strategy.zero_stage, 3);
    ck_assert_int_eq(map.exec.strategy.fsdp_par, 0);
    ck_assert_int_eq(map.exec.strategy.datatype, CALC_DATATYPE_FLOAT16);
    ck_assert_int_eq(map.exec.strategy.matrix_datatype, CALC_FORMAT_AUTO);
    row.zero_stage_fsdp = "FSDP HYBRID_SHARD (HSDP)"; /* over the ranks of a node */
    row.dtype = "fp8 (tensorwise with float8 all-gather)";
    row.gpus_per_node = 4;
    maps();
    ck_assert_int_eq(map.exec.strategy.zero_stage, 3);
    ck_assert_int_eq(map.exec.strategy.fsdp_par, 4);
    ck_assert_int_eq(map.exec.strategy.param_gather_datatype, CALC_FORMAT_FLOAT8);
    row.zero_stage_fsdp = "FSDP2 full shard";
    row.dtype = "bf16";
    row.pp = 2; /* weights stay gathered */
    maps();
    ck_assert_int_eq(map.exec.strategy.zero_stage, 1);
    row.tp = 8;
    row.dp = 1; /* nothing to shard over */
    maps();
    ck_assert_int_eq(map.exec.strategy.zero_stage, 0);
    ck_assert(!map.exec.strategy.optimizer_sharding && !map.exec.strategy.data_par_overlap);
}

/* fp8_param_gather of Megatron-Bridge, fp8_params of NeMo, FP8_PARAMS of MLPerf 4.0. */
CALC_TEST(weights_of_8_bits_travel_in_8_bits_in_nvidias_recipes)
{
    static const struct {
        const char *id, *dtype;
        calc_format gathered;
    } rows[] = {{"mbridge_x", "fp8 current scaling", CALC_FORMAT_FLOAT8},
                {"mbridge_x", "mxfp8", CALC_FORMAT_AUTO},
                {"mbridge_x", "nvfp4", CALC_FORMAT_AUTO},
                {"mbridge_x", "bf16", CALC_FORMAT_AUTO},
                {"dgxc_x", "fp8 (TE hybrid)", CALC_FORMAT_FLOAT8},
                {"mlperf4.0_x", "fp8", CALC_FORMAT_FLOAT8},
                {"mlperf3.1_x", "fp8", CALC_FORMAT_AUTO},
                {"unheard_of", "fp8", CALC_FORMAT_AUTO},
                {"unheard_of", "bf16 with float8 all-gather", CALC_FORMAT_FLOAT8}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        row.id = rows[i].id;
        row.dtype = rows[i].dtype;
        maps();
        ck_assert_msg(map.exec.strategy.param_gather_datatype == rows[i].gathered, "%s %s",
                      rows[i].id, rows[i].dtype);
    }
}

CALC_TEST(gradients_of_the_head_wait_where_there_are_stages)
{
    row.overlap = "wgrad_deferral_limit=22";
    row.pp = 2;
    maps();
    ck_assert_int_eq(map.exec.deferred_head_wgrad, 22);
    row.overlap = "wgrad_deferral_limit=0";
    maps();
    ck_assert_int_eq(map.exec.deferred_head_wgrad, -1);
    row.pp = 1;
    maps();
    ck_assert_int_eq(map.exec.deferred_head_wgrad, 0);
}

CALC_TEST(recomputation_in_words)
{
    row.recompute = "full block 4";
    maps();
    ck_assert_int_eq(map.exec.strategy.activation_recompute, CALC_ACTIVATION_RECOMPUTE_FULL);
    ck_assert_int_eq(map.exec.recompute_blocks, 4);
    row.recompute = "full block 70"; /* more than a stage has */
    maps();
    ck_assert_int_eq(map.exec.recompute_blocks, 0);
    row.recompute = "selective modules ['moe', 'mla_up_proj']";
    maps();
    ck_assert_int_eq(map.exec.strategy.activation_recompute, CALC_ACTIVATION_RECOMPUTE_MODULES);
    ck_assert_int_eq(map.exec.strategy.recompute_modules,
                     1 << CALC_RECOMPUTE_MODULES_MOE | 1 << CALC_RECOMPUTE_MODULES_MLA_UP_PROJ);
    row.recompute = "selective (torchtitan op-level SAC)";
    maps();
    ck_assert_int_eq(map.exec.strategy.activation_recompute,
                     CALC_ACTIVATION_RECOMPUTE_SELECTIVE_OP);
    row.recompute = "";
    maps();
    ck_assert_int_eq(map.exec.strategy.activation_recompute, CALC_ACTIVATION_RECOMPUTE_NONE);
    ck_assert_ptr_nonnull(assumes("recomputation not printed"));
}

CALC_TEST(traits_of_a_source_are_assumptions_where_they_apply)
{
    row.id = "mbridge_x";
    row.tp = 1;
    maps();
    ck_assert_str_eq(map.source->name, "mbridge_dense");
    ck_assert_ptr_null(assumes("fused tensor-parallel"));
    row.tp = 2;
    maps();
    ck_assert_ptr_nonnull(assumes("fused tensor-parallel"));
    ck_assert_int_eq(map.exec.strategy.tensor_par_overlap, CALC_TENSOR_PAR_OVERLAP_FUSED);
    row.num_experts = 8;
    row.topk = 2;
    maps();
    ck_assert_str_eq(map.source->name, "mbridge_moe");
    ck_assert_int_eq(map.exec.strategy.tensor_par_overlap, CALC_TENSOR_PAR_OVERLAP_ASYNC);
    ck_assert_int_eq(map.exec.strategy.dispatch_type, CALC_DISPATCH_TYPE_NODE_LIMITED);
    ck_assert_int_eq(map.app.expert_feedforward, 14336);
}

/* torchtitan of December 2024: train.py, pipelining_utils.py. */
CALC_TEST(stages_of_torchtitan_split_a_batch_into_as_many)
{
    row.id = "torchtitan_x_1F1B";
    row.zero_stage_fsdp = "FSDP2 full shard";
    row.tp = 1;
    row.pp = 4;
    row.num_gpus = 8;
    row.global_batch = 32;
    row.micro_batch = (double)NAN;
    maps();
    ck_assert_int_eq(map.exec.microbatch_size, 4);
    ck_assert_int_eq(map.exec.pipeline_interleaving, 1);
    ck_assert_ptr_nonnull(assumes("in one per stage"));
    ck_assert_int_eq(map.exec.strategy.weight_datatype, CALC_FORMAT_AUTO);
    row.id = "torchtitan_x_Interleaved1F1B";
    maps();
    ck_assert_int_eq(map.exec.pipeline_interleaving, 2);
    row.pp = 1;
    maps();
    ck_assert_int_eq(map.exec.microbatch_size, 4);
    ck_assert_int_eq(map.exec.pipeline_interleaving, 1);
    ck_assert_int_eq(map.exec.strategy.weight_datatype, CALC_FORMAT_FLOAT32);
}

CALC_TEST(an_assumption_is_said_once_and_never_too_many)
{
    maps();
    int before = map.assumed.count;
    calc_run_assume(&map, "new");
    calc_run_assume(&map, "new");
    ck_assert_int_eq(map.assumed.count, before + 1);
    static char words[CALC_ASSUMPTIONS_MAX][4];
    for (int i = 0; i < CALC_ASSUMPTIONS_MAX; i++) {
        words[i][0] = (char)('A' + i);
        calc_run_assume(&map, words[i]);
    }
    ck_assert_int_eq(map.assumed.count, CALC_ASSUMPTIONS_MAX);
}
