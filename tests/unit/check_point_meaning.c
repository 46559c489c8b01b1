/* What rows of measured operators mean: sizes, and seconds counted by hand. */
#include "point_case.h"

#include "frame.h"

const calc_test_frame calc_tests = {.teardown = leave_points};

static void takes(const char *row, calc_point_class class, double seconds)
{
    const calc_point *p = only(row);
    ck_assert_msg(calc_point_is_used(p), "%s: %s", row, p->reason);
    ck_assert_int_eq(p->class, class);
    ck_assert_msg(fabs(p->measured_s / seconds - 1) < 1e-12, "%s: %.17g s", row, p->measured_s);
}

CALC_TEST(times_follow_from_what_was_measured)
{
    /* 2 x 2000 x 3000 x 4000 = 48e9 FLOP */
    takes("a,matmul,bf16,\"m=2000, k=3000, n=4000\",time,5,ms", CALC_POINT_MATRIX, 5e-3);
    takes("a,GEMM,half,m=2000 k=3000 n=4000,latency,7,us", CALC_POINT_MATRIX, 7e-6);
    takes("a,bmm,bf16,b=3 m=2000 k=3000 n=4000,tflops,144,TFLOPS", CALC_POINT_MATRIX, 1e-3);
    takes("a,mm,fp8,m=2000 k=3000 n=4000,efficiency,0.5,fraction of 96 TFLOPS", CALC_POINT_MATRIX,
          1e-3);
    takes("a,group_matmul,bf16,ng=4 M=500 N=4000 K=3000,tflops,48,TFLOPS", CALC_POINT_GROUPED,
          1e-3);
    /* 2 x 2 x 8 x 1000^2 x (192 + 128) = 1.024e10 on the whole square; 2.5 times that backward */
    takes("a,sdp_fwd,bf16,batch=2 seq_len=1000 head_num=8 qk_head_dim=192 v_head_dim=128,tflops,"
          "10.24,TFLOPS",
          CALC_POINT_ATTENTION_FW, 1e-3);
    takes("a,sdp_bwd,bf16,batch=2 seq_len=1000 head_num=8 qk_head_dim=192 v_head_dim=128,tflops,"
          "25.6,TFLOPS",
          CALC_POINT_ATTENTION_BW, 1e-3);
    takes("a,sdp_fwd,bf16,batch=2 seq_len=1000 head_num=8 qk_head_dim=192 v_head_dim=128 "
          "counted=causal,tflops,5.12,TFLOPS",
          CALC_POINT_ATTENTION_FW, 1e-3);
    takes("a,copy,,bytes=3e9,bandwidth,1500,GB/s", CALC_POINT_MEMORY, 2e-3 * 1e0);
    takes("a,rmsnorm,bf16,rows=10 columns=20,time,9000,ns", CALC_POINT_NORM, 9e-6);
    /* nccl-tests: all-reduce moves 2 (n - 1)/n, the others (n - 1)/n */
    takes("a,all_reduce,,bytes=8e8 ranks=8,busbw,140,GB/s", CALC_POINT_ALL_REDUCE, 1e-2);
    takes("a,all_reduce,,bytes=8e8 ranks=8,algbw,80,GB/s", CALC_POINT_ALL_REDUCE, 1e-2);
    takes("a,alltoall,,bytes=8e8 ranks=4,efficiency,0.5,fraction of 120 GB/s",
          CALC_POINT_ALL_TO_ALL, 1e-2);
    takes("a,sendrecv,,bytes=8e8,busbw,80,GB/s", CALC_POINT_P2P, 1e-2);
}

CALC_TEST(the_name_of_an_operator_may_give_its_ranks_and_the_shape_only_bytes)
{
    const calc_point *p = only("a,allreduce_6gpu,float,16 MiB,busbw GB/s (out of place),100,");
    ck_assert_msg(calc_point_is_used(p), "%s", p->reason);
    ck_assert(p->size[0] == 16777216 && p->size[1] == 6 && p->size[2] == 1);
    ck_assert_double_eq_tol(p->measured_s, 2 * 5.0 / 6 * 16777216 / 100e9, 1e-15);
    p = only("a,all_gather,,bytes=2 KiB ranks=16 stride=8,time,20,us");
    ck_assert(p->size[0] == 2048 && p->size[1] == 16 && p->size[2] == 8);
}

CALC_TEST(passes_are_told_from_layouts_and_stages)
{
    ck_assert_int_eq(only("a,mm,bf16,m=1 k=2 n=3 layout=TN,time,1,s")->pass, CALC_PASS_FW);
    ck_assert_int_eq(only("a,mm,bf16,m=1 k=2 n=3 layout=NN,time,1,s")->pass, CALC_PASS_AGRAD);
    const calc_point *p =
        only("a,mm,bf16,m=1 k=2 n=3 layout=NT accumulate=True out_dtype=fp32,time,1,s");
    ck_assert_int_eq(p->pass, CALC_PASS_WGRAD);
    ck_assert(p->result_bytes == 4);
    p = only("a,mm,bf16,m=1 k=2 n=3 layout=NT accumulate=False,time,1,s");
    ck_assert_int_eq(p->pass, CALC_PASS_FW);
    p = only("a,group_matmul,bf16,ng=2 M=1 N=2 K=3 stage=bwd_grad_w main_grad_dtype=bf16,time,1,s");
    ck_assert_int_eq(p->pass, CALC_PASS_WGRAD);
    ck_assert(p->result_bytes == 2);
    ck_assert(
        only("a,sdp_fwd,bf16,seq_len=8 head_num=2 qk_head_dim=4 causal=False,time,1,s")->causal ==
        false);
}

CALC_TEST(sizes_that_may_be_absent_have_a_meaning)
{
    const calc_point *p = only("a,sdp_fwd,bf16,seq_len=8 head_num=2 qk_head_dim=4,time,1,s");
    ck_assert(p->size[0] == 1 && p->size[3] == 2 && p->size[5] == 4);
    ck_assert(p->causal);
    ck_assert(only("a,mm,bf16,m=1 k=2 n=3,time,1,s")->size[3] == 1);
}

CALC_TEST(kernels_of_serving_are_classes_of_their_own)
{
    takes("a,mm,fp8,stage=serving m=8 k=4096 n=4096,time,7,us", CALC_POINT_SERVING_MATRIX, 7e-6);
    takes("a,grouped_gemm,bf16,stage=serving ng=4 m=8 n=4096 k=4096,time,9,us",
          CALC_POINT_SERVING_GROUPED, 9e-6);
    takes("a,sdp_fwd,bf16,stage=serving seq_len=1000 head_num=8 qk_head_dim=128,time,9,us",
          CALC_POINT_SERVING_PREFILL, 9e-6);
    takes("a,allreduce_8gpu,,stage=serving bytes=8 KiB,time,9,us", CALC_POINT_SERVING_ALL_REDUCE,
          9e-6);
    ck_assert(points.item[0].size[0] == 8192 && points.item[0].size[1] == 8);
    /* 2 (n - 1)/n of 8 kB in 10 us. */
    takes("a,all_reduce,,stage=serving bytes=8000 ranks=4,busbw,1.2,GB/s",
          CALC_POINT_SERVING_ALL_REDUCE, 1e-5);
    /* 2 x 4 x 1000 x 8 x 256 FLOP */
    takes("a,decode_attention,bf16,batch=4 kv_len=1000 head_num=8 qk_head_dim=128 kv_dtype=fp8,"
          "tflops,0.016384,TFLOPS",
          CALC_POINT_SERVING_DECODE, 1e-3);
    ck_assert(points.item[0].cached_bytes == 1 && points.item[0].size[3] == 8);
}

CALC_TEST(what_cannot_be_used_says_why)
{
    static const struct {
        const char *row, *reason;
    } refused[] = {
        {"a,softmax,bf16,m=1,time,1,s", "no operator that is compared"},
        {"a,,bf16,m=1,time,1,s", "no operator that is compared"},
        {"a,mm,int8,m=1 k=2 n=3,time,1,s", "dtype \"int8\" is not a number format"},
        {"a,mm,,m=1 k=2 n=3,time,1,s", "dtype \"\" is not a number format"},
        {"a,mm,bf16,m=1 n=3,time,1,s", "shape lacks k"},
        {"a,mm,bf16,m=1 k= n=3,time,1,s", "shape lacks k"},
        {"a,mm,bf16,m=1 k=2x n=3,time,1,s", "k is not a number"},
        {"a,mm,bf16,m=1 k=0 n=3,time,1,s", "k is 0; 1 to 1e15 is possible"},
        {"a,mm,bf16,m=1 k=1e16 n=3,time,1,s", "k is 1e+16; 1 to 1e15 is possible"},
        {"a,mm,bf16,m=1 k=2 n=3,time,0,s", "value is 0"},
        {"a,mm,bf16,m=1 k=2 n=3,time,1,h", "metric \"time\" with unit \"h\" gives no time"},
        {"a,mm,bf16,m=1 k=2 n=3,busbw,1,GB/s", "metric \"busbw\" with unit \"GB/s\" gives no time"},
        {"a,copy,,bytes=8,tflops,1,TFLOPS", "metric \"tflops\" with unit \"TFLOPS\" gives no time"},
        {"a,copy,,bytes=8,efficiency,1,fraction of 3 TFLOPS",
         "metric \"efficiency\" with unit \"fraction of 3 TFLOPS\" gives no time"},
        {"a,mm,bf16,m=1 k=2 n=3,time,1e5,s", "the time would be 1e+05 s"},
        {"a,mm,bf16,m=1 k=2 n=3,time,0.5,ns", "the time would be 5e-10 s"},
        {"a,all_reduce,,bytes=8 ranks=1,time,1,s", "ranks is 1; 2 or more communicate"},
        {"a,all_reduce,,stage=serving bytes=8 ranks=1,time,1,s",
         "ranks is 1; 2 or more communicate"},
        {"a,copy,,stage=serving bytes=8,time,1,s", "no operator that serving has rates of"},
        {"a,decode_attention,bf16,batch=1 head_num=8 qk_head_dim=128,time,1,s",
         "shape lacks kv_len"},
        {"a,all_reduce,,bytes=8,time,1,s", "shape lacks ranks"},
    };
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++) {
        ck_assert_str_eq(only(refused[i].row)->reason, refused[i].reason);
    }
}
