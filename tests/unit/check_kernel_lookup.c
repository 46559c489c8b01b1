/* Operators of layouts found among measured ones, by the sizes that a person would write down. */
#include "calibrate/points.h"
#include "model/cost/cost_kernel.h"
#include "model/cost/cost_times.h"
#include "model/cost/kernel_lookup.h"
#include "model/operator_stats.h"
#include "model/run.h"
#include "modern_case.h"
#include "point_case.h"

#include "frame.h"

static modern_case c;
static calc_point_table table;

static void enter(void)
{
    start_csv();
    table = (calc_point_table){0};
}

static void leave(void)
{
    calc_point_table_free(&table);
    leave_points();
}

const calc_test_frame calc_tests = {.setup = enter, .teardown = leave};

/* A block of the layout, with the measurements so far to look up. */
static void make(calc_app app, calc_exec exec, calc_block_kind kind)
{
    c = case_of(app, exec);
    make_block(&c, kind);
    ck_assert_int_eq(parse(point_csv), CALC_OK);
    for (size_t i = 0; i < points.count; i++) {
        ck_assert_msg(calc_point_is_used(&points.item[i]), "%s", points.item[i].reason);
    }
    calc_point_table_free(&table);
    calc_point_table_make(&table, points.item, points.count, NULL, &c.system);
    c.context.measured = &table.table;
}

static double kernel(const char *name, calc_pass pass, calc_kernel_source expected)
{
    calc_kernel_source source;
    double s = calc_cost_kernel_from(&c.context, named(&c, name), pass, &source);
    ck_assert_msg(source == expected, "%s, pass %d: %s", name, (int)pass,
                  calc_kernel_source_text(source));
    ck_assert_double_eq(calc_cost_kernel_s(&c.context, named(&c, name), pass), s);
    return s;
}

static double model(const char *name, calc_pass pass)
{
    calc_cost_context plain = c.context;
    plain.measured = NULL;
    return calc_cost_kernel_s(&plain, named(&c, name), pass);
}

/* 32 tokens of width 64 to twice 256: 4 x 16 query and 2 x 2 x 16 key and value columns. */
CALC_TEST(passes_over_a_matrix_are_multiplications_of_other_shapes)
{
    put("a,mm,fp16,m=32 k=64 n=512 layout=TN,time,11,us\n");
    put("a,mm,fp16,m=32 k=512 n=64 layout=NN,time,12,us\n");
    put("a,mm,fp16,m=512 k=32 n=64 layout=NT accumulate=True out_dtype=fp32,time,13,us\n");
    make(modern_app(), modern_exec(1, 1, 1), CALC_DENSE_BLOCK);
    ck_assert(kernel("feed-forward up", CALC_PASS_FW, CALC_KERNEL_EXACT) == 11e-6);
    ck_assert(kernel("feed-forward up", CALC_PASS_AGRAD, CALC_KERNEL_EXACT) == 12e-6);
    ck_assert(kernel("feed-forward up", CALC_PASS_WGRAD, CALC_KERNEL_EXACT) == 13e-6);
    /* 128 columns are two octaves away. */
    double up = model("feed-forward up", CALC_PASS_FW);
    double qkv = model("query key value", CALC_PASS_FW);
    ck_assert_double_eq_tol(kernel("query key value", CALC_PASS_FW, CALC_KERNEL_INTERPOLATED),
                            qkv * 11e-6 / up, 1e-16);
    /* Two sizes are two octaves away: the diagonal is further. */
    ck_assert_double_eq(kernel("feed-forward down", CALC_PASS_FW, CALC_KERNEL_CURVE),
                        model("feed-forward down", CALC_PASS_FW));
    ck_assert_double_eq(kernel("activation", CALC_PASS_FW, CALC_KERNEL_ROOFLINE),
                        model("activation", CALC_PASS_FW));
}

CALC_TEST(gradients_of_other_formats_and_operands_of_other_formats_are_others)
{
    put("a,mm,fp16,m=512 k=32 n=64 layout=NT accumulate=True out_dtype=bf16,time,13,us\n");
    put("a,mm,bf16,m=32 k=64 n=512,time,11,us\n");
    make(modern_app(), modern_exec(1, 1, 1), CALC_DENSE_BLOCK);
    kernel("feed-forward up", CALC_PASS_WGRAD, CALC_KERNEL_ROOFLINE);
    kernel("feed-forward up", CALC_PASS_FW, CALC_KERNEL_ROOFLINE);
}

CALC_TEST(conversion_to_a_narrow_format_is_beside_the_measured_kernel)
{
    put("a,mm,fp8,m=32 k=64 n=512,time,11,us\n");
    calc_exec exec = modern_exec(1, 1, 1);
    exec.strategy.matrix_datatype = CALC_FORMAT_FLOAT8;
    make(modern_app(), exec, CALC_DENSE_BLOCK);
    c.system.chip.quantize_bytes = 8;
    make_block(&c, CALC_DENSE_BLOCK);
    c.context.measured = &table.table;
    ck_assert_double_eq_tol(kernel("feed-forward up", CALC_PASS_FW, CALC_KERNEL_EXACT),
                            11e-6 + 8.0 * 32 * 64 / two_to(38), 1e-18);
}

CALC_TEST(attention_is_found_by_its_heads)
{
    static const char heads[] = "batch=1 seq_len=32 head_num=4 kv_head_num=2 qk_head_dim=16";
    put("a,sdp_fwd,fp16,%s,time,21,us\na,sdp_bwd,fp16,%s,time,22,us\n", heads, heads);
    make(modern_app(), modern_exec(1, 1, 1), CALC_DENSE_BLOCK);
    ck_assert(kernel("flash attention", CALC_PASS_FW, CALC_KERNEL_EXACT) == 21e-6);
    ck_assert(kernel("flash attention", CALC_PASS_AGRAD, CALC_KERNEL_EXACT) == 22e-6);
    /* Portable kernels, windows and parts of a context were not what was measured. */
    calc_exec exec = modern_exec(1, 1, 1);
    exec.strategy.attention_kernel = CALC_ATTENTION_KERNEL_GENERIC;
    make(modern_app(), exec, CALC_DENSE_BLOCK);
    kernel("flash attention", CALC_PASS_FW, CALC_KERNEL_CURVE);
    calc_app app = modern_app();
    app.window_size = 8;
    make(app, modern_exec(1, 1, 1), CALC_DENSE_BLOCK);
    kernel("flash attention", CALC_PASS_FW, CALC_KERNEL_CURVE);
    app = modern_app();
    app.causal = false;
    make(app, modern_exec(1, 1, 1), CALC_DENSE_BLOCK);
    kernel("flash attention", CALC_PASS_FW, CALC_KERNEL_ROOFLINE);
}

CALC_TEST(experts_are_groups)
{
    /* 8 experts of width 32, gated; 2 of 8 a token: 64 rows, 8 of each. */
    put("a,group_matmul,fp16,ng=8 M=8 N=64 K=64 stage=fwd,time,31,us\n");
    put("a,group_matmul,fp16,ng=8 M=8 N=64 K=32 stage=bwd_grad_w "
        "main_grad_dtype=fp32,time,32,us\n");
    make(moe_app(), modern_exec(1, 1, 1), CALC_MOE_BLOCK);
    ck_assert(kernel("experts up", CALC_PASS_FW, CALC_KERNEL_EXACT) == 31e-6);
    ck_assert(kernel("experts down", CALC_PASS_WGRAD, CALC_KERNEL_EXACT) == 32e-6);
    calc_app app = moe_app();
    app.bias = CALC_CHOICE_TRUE;
    make(app, modern_exec(1, 1, 1), CALC_MOE_BLOCK);
    ck_assert(kernel("experts up", CALC_PASS_FW, CALC_KERNEL_EXACT) == 31e-6);
}

CALC_TEST(memory_bound_kernels_are_found_by_their_bytes)
{
    put("a,copy,,bytes=%d,time,41,us\n", 2 * 2 * 32 * 64);
    make(modern_app(), modern_exec(1, 1, 1), CALC_DENSE_BLOCK);
    ck_assert(kernel("attention norm", CALC_PASS_FW, CALC_KERNEL_EXACT) == 41e-6);
    start_csv();
    put("a,rms_norm,fp16,rows=32 columns=64,time,42,us\n");
    make(modern_app(), modern_exec(1, 1, 1), CALC_DENSE_BLOCK);
    ck_assert(kernel("attention norm", CALC_PASS_FW, CALC_KERNEL_EXACT) == 42e-6);
}

static double link(const char *name, calc_pass pass, calc_kernel_source expected)
{
    calc_kernel_source source;
    double s = calc_cost_link_from(&c.context, named(&c, name), pass, &source);
    ck_assert_msg(source == expected, "%s: %s", name, calc_kernel_source_text(source));
    return s;
}

CALC_TEST(collectives_are_found_by_bytes_and_ranks)
{
    put("a,all_gather,,bytes=%d ranks=2,time,51,us\n", 2 * 32 * 64);
    put("a,reduce_scatter,,bytes=%d ranks=4,time,52,us\n", 2 * 32 * 64);
    make(modern_app(), modern_exec(2, 1, 1), CALC_DENSE_BLOCK);
    ck_assert(link("feed-forward gather", CALC_PASS_FW, CALC_KERNEL_EXACT) == 51e-6);
    link("feed-forward gather", CALC_PASS_AGRAD, CALC_KERNEL_INTERPOLATED);
    calc_kernel_source source;
    calc_cost_kernel_from(&c.context, named(&c, "feed-forward gather"), CALC_PASS_FW, &source);
    ck_assert_int_eq(source, CALC_KERNEL_ROOFLINE);
    /* On the second network neighbours are 8 apart. */
    start_csv();
    put("a,all_gather,,bytes=%d ranks=2 stride=8,time,53,us\n", 2 * 32 * 64);
    calc_exec exec = modern_exec(2, 1, 1);
    exec.strategy.tensor_par_net = 1;
    make(modern_app(), exec, CALC_DENSE_BLOCK);
    ck_assert(link("feed-forward gather", CALC_PASS_FW, CALC_KERNEL_EXACT) == 53e-6);
}

CALC_TEST(a_step_takes_what_was_measured)
{
    put("a,mm,fp16,m=32 k=64 n=512,time,1,s\n");
    make(modern_app(), modern_exec(1, 1, 1), CALC_DENSE_BLOCK);
    calc_stats without;
    calc_stats with;
    calc_run(&c.app, &c.system, &c.exec, CALC_COMPAT_NONE, &without);
    calc_run_measured(&c.app, &c.system, &c.exec, &table.table, &with);
    /* 8 blocks, 4 micro-batches, forward once. Head and others are too far away to change. */
    double slower_s = 8 * 4 * (1 - model("feed-forward up", CALC_PASS_FW));
    double others_s = 0;
    calc_layer_stats layers[CALC_MAX_LAYERS];
    calc_operator_source sources[CALC_MAX_LAYERS];
    size_t count = calc_operator_stats_measured(&c.app, &c.system, &c.exec, CALC_COMPAT_NONE,
                                                &table.table, layers, sources, CALC_MAX_LAYERS);
    ck_assert_uint_gt(count, 10);
    for (size_t i = 0; i < count; i++) {
        bool up = strcmp(layers[i].name, "feed-forward up") == 0;
        double times = strcmp(layers[i].name, "head") == 0 ? 4 : 32;
        for (int pass = 0; pass < CALC_PASS_COUNT; pass++) {
            ck_assert(sources[i].time_s[pass] >= 0);
            if (!up || pass != CALC_PASS_FW) {
                others_s += times * (sources[i].time_s[pass] - sources[i].model_s[pass]);
            }
        }
        ck_assert(!up || sources[i].time_s[CALC_PASS_FW] == 1);
        ck_assert(!up || layers[i].fw_processing_time == 1);
    }
    ck_assert_double_eq_tol(with.total_time - without.total_time, slower_s + others_s, 1e-9);
    ck_assert_double_gt(slower_s, 31);
}
