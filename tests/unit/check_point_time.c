/* What the model says measured operators take, beside formulas written down here. */
#include "calibrate/points.h"
#include "point_case.h"

#include "frame.h"

static calc_system s;

static void enter(void)
{
    s = load_system("a100_sxm_80g");
    s.chip.matrix[CALC_DATATYPE_BFLOAT16].flop_per_s = 100e12;
    s.chip.matrix[CALC_DATATYPE_BFLOAT16].efficiency =
        (calc_curve){.count = 1, .threshold = {0}, .efficiency = {0.5}};
    s.chip.mem1.bytes_per_s = 1e12;
    s.chip.mem1.efficiency = (calc_curve){.count = 1, .threshold = {0}, .efficiency = {0.8}};
    s.chip.launch = (calc_launch){.matrix_s = 3e-6, .vector_s = 2e-6};
    s.chip.grouped.efficiency = 0.5;
    s.chip.attention = (calc_attention_rates){
        .fw_efficiency = 0.4, .bw_efficiency = 0.25, .launch_s = 1e-5, .softmax_size = 0};
    s.networks[0].bytes_per_s = 200e9;
    s.networks[0].efficiency = 0.5;
    s.networks[0].latency_s = 1e-5;
}

const calc_test_frame calc_tests = {.setup = enter, .teardown = leave_points};

static void is(const char *row, double seconds)
{
    const calc_point *p = only(row);
    ck_assert_msg(calc_point_is_used(p), "%s: %s", row, p->reason);
    double time_s = calc_point_time_s(p, &s);
    ck_assert_msg(fabs(time_s / seconds - 1) < 1e-12, "%s: %.17g, not %.17g", row, time_s, seconds);
}

/* Arithmetic at half of 100 TFLOP/s, then traffic at 0.8 of 1 TB/s, then the launch. */
static double matrix(double flop, double bytes)
{
    return flop / 50e12 + bytes / 0.8e12 + 3e-6;
}

CALC_TEST(matrix_multiplications_compute_read_and_write)
{
    double m = 3000;
    double k = 4000;
    double n = 5000;
    double flop = 2 * m * k * n;
    double moved = 2 * (m * k + k * n + m * n);
    is("a,mm,bf16,m=3000 k=4000 n=5000 layout=TN,time,1,s", matrix(flop, moved));
    is("a,mm,bf16,m=3000 k=4000 n=5000 layout=NN,time,1,s", matrix(flop, moved));
    is("a,mm,bf16,b=6 m=3000 k=4000 n=5000,time,1,s", matrix(6 * flop, 6 * moved));
    /* A weight gradient of 4 bytes is read and written. */
    is("a,mm,bf16,m=3000 k=4000 n=5000 layout=NT accumulate=True out_dtype=fp32,time,1,s",
       matrix(flop, 2 * (m * k + k * n) + 8 * m * n));
}

CALC_TEST(grouped_ones_have_a_rate_of_their_own)
{
    double flop = 2 * 7.0 * 100 * 200 * 300;
    double weights = 7.0 * 200 * 300;
    double rows = 7.0 * 100;
    is("a,group_matmul,bf16,ng=7 M=100 N=200 K=300 stage=fwd,time,1,s",
       matrix(flop / 0.5, 2 * (rows * 300 + weights + rows * 200)));
    is("a,group_matmul,bf16,ng=7 M=100 N=200 K=300 stage=bwd_grad_act,time,1,s",
       matrix(flop / 0.5, 2 * (rows * 300 + weights + rows * 200)));
    is("a,group_matmul,bf16,ng=7 M=100 N=200 K=300 stage=bwd_grad_w main_grad_dtype=fp32,time,1,s",
       matrix(flop / 0.5, 2 * (rows * 300 + rows * 200) + 8 * weights));
}

CALC_TEST(causal_attention_computes_half_the_square)
{
    double pairs = 2.0 * 16 * 4096 * 4097 / 2;
    is("a,sdp_fwd,bf16,batch=2 seq_len=4096 head_num=16 kv_head_num=4 qk_head_dim=128,time,1,s",
       2 * pairs * 256 / 40e12 + 1e-5);
    is("a,sdp_bwd,bf16,batch=2 seq_len=4096 head_num=16 kv_head_num=4 qk_head_dim=128,time,1,s",
       2 * pairs * 640 / 25e12 + 1e-5);
    is("a,sdp_fwd,bf16,batch=2 seq_len=4096 head_num=16 qk_head_dim=192 v_head_dim=128 "
       "causal=False,time,1,s",
       2 * 2.0 * 16 * 4096 * 4096 * 320 / 40e12 + 1e-5);
}

CALC_TEST(memory_bound_kernels_take_their_bytes)
{
    is("a,copy,,bytes=4e9,time,1,s", 5e-3 + 2e-6);
    is("a,rms_norm,bf16,rows=4096 columns=8192,time,1,s", 2 * 2 * 4096.0 * 8192 / 0.8e12 + 2e-6);
    is("a,layer_norm,bf16,rows=4096 columns=8192 stage=bwd,time,1,s",
       3 * 2 * 4096.0 * 8192 / 0.8e12 + 2e-6);
}

CALC_TEST(collectives_are_rings_with_a_latency)
{
    is("a,all_reduce,,bytes=8e8 ranks=8,time,1,s", 1e-5 + 2 * 7.0 / 8 * 8e8 / 100e9);
    is("a,all_gather,,bytes=8e8 ranks=4,time,1,s", 1e-5 + 3.0 / 4 * 8e8 / 100e9);
    is("a,reduce_scatter,,bytes=8e8 ranks=2,time,1,s", 1e-5 + 1.0 / 2 * 8e8 / 100e9);
    is("a,p2p,,bytes=8e8,time,1,s", 1e-5 + 8e8 / 100e9);
    s.networks[0].op_parameters.all_to_all =
        (calc_op_rate){.efficiency = 0.25, .latency_fixed_s = 2e-5, .latency_step_s = 1e-6};
    is("a,all_to_all,,bytes=8e8 ranks=8,time,1,s", 2e-5 + 7e-6 + 7.0 / 8 * 8e8 / 50e9);
}

CALC_TEST(a_collective_is_of_the_network_that_it_needs_alone)
{
    ck_assert_int_eq(calc_point_network(only("a,all_reduce,,bytes=8 ranks=8,time,1,s"), &s), 0);
    ck_assert_int_eq(calc_point_network(only("a,all_reduce,,bytes=8 ranks=16,time,1,s"), &s), -1);
    ck_assert_int_eq(
        calc_point_network(only("a,all_reduce,,bytes=8 ranks=16 stride=8,time,1,s"), &s), 1);
    ck_assert_int_eq(calc_point_network(only("a,p2p,,bytes=8 stride=8,time,1,s"), &s), 1);
    ck_assert_int_eq(calc_point_network(only("a,copy,,bytes=8,time,1,s"), &s), -1);
}

/* At 1 TB/s and 100 TFLOP/s: arithmetic and traffic hide each other but for their cubes. */
CALC_TEST(kernels_of_serving_have_rates_of_their_own)
{
    s.chip.serving.matrix = (calc_serving_matrix){
        .memory_efficiency = 0.5, .fixed_s = 4e-6, .inner_s = 1e-10, .efficiency = 0.8};
    s.chip.serving.grouped =
        (calc_serving_matrix){.memory_efficiency = 0.25, .fixed_s = 1e-5, .efficiency = 0.4};
    s.chip.serving.decode =
        (calc_serving_decode){.memory_efficiency = 0.8, .fixed_s = 1e-5, .growth_s = 6e-6};
    s.chip.serving.prefill =
        (calc_serving_prefill){.memory_efficiency = 0.5, .fixed_s = 2e-5, .efficiency = 0.5};
    s.chip.serving.all_reduce = (calc_serving_all_reduce){.one_shot_efficiency = 0.5,
                                                          .fixed_s = 3e-6,
                                                          .doubling_s = 1e-6,
                                                          .two_shot_efficiency = 0.5,
                                                          .two_shot_s = 5e-6};
    double flop = 2 * 16 * 4000.0 * 5000;
    double moved = 2 * (16 * 4000 + 4000.0 * 5000 + 16 * 5000);
    is("a,mm,bf16,stage=serving m=16 k=4000 n=5000,time,1,s",
       4e-6 + 1e-10 * 4000 + cbrt(pow(flop / 80e12, 3) + pow(moved / 0.5e12, 3)));
    is("a,grouped_gemm,bf16,stage=serving ng=7 m=16 k=4000 n=5000,time,1,s",
       1e-5 + cbrt(pow(7 * flop / 40e12, 3) + pow(7 * moved / 0.25e12, 3)));
    /* 32 sequences read 3,000 tokens of 2 x 8 heads of 128 and write one. */
    double pairs = 32 * 3000.0;
    double read = (pairs + 32) * 8 * 256 * 1 + 32 * 64 * 256 * 2;
    is("a,decode_attention,bf16,batch=32 kv_len=3000 head_num=64 kv_head_num=8 qk_head_dim=128 "
       "kv_dtype=fp8,time,1,s",
       1e-5 + 6e-6 * 3 / 4 + cbrt(pow(2 * pairs * 64 * 256 / 100e12, 3) + pow(read / 0.8e12, 3)));
    /* Causal: half of the square and the diagonal; cache read, and written. */
    is("a,sdp_fwd,bf16,stage=serving batch=2 seq_len=1000 head_num=16 kv_head_num=4 "
       "qk_head_dim=128,time,1,s",
       2e-5 + 2 * 2 * 500500.0 * 16 * 256 / 50e12 +
           (2000.0 * 16 * 256 * 2 + 4000.0 * 4 * 256 * 2) / 0.5e12);
    /* 4 ranks at half of 200 GB/s in one shot; large ones in two. */
    is("a,all_reduce,,stage=serving bytes=20000 ranks=4,time,1,s", 3e-6 + 2e-6 + 3 * 2e4 / 100e9);
    s.networks[0].efficiency = 0.01; /* the library's */
    is("a,all_reduce,,stage=serving bytes=2e7 ranks=4,time,1,s",
       3e-6 + 2e-6 + 5e-6 + 1.5 * 2e7 / 100e9);
}
