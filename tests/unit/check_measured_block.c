/* Whole blocks found among measured ones, and the steps that they make. */
#include "calibrate/points.h"
#include "model/run.h"
#include "model/stages/layout.h"
#include "model/stages/measured_block.h"
#include "modern_case.h"
#include "point_case.h"

#include "frame.h"

/* Of modern_app() and modern_exec(): a sequence of 32 tokens. */
#define SIZES "seq_size=32 hidden=64 feedforward=256 attn_heads=4 attn_size=16 kv_heads=2 "
#define SETTINGS                                                                                   \
    "app.structure_type=llama causal=true flash_attention=true tensor_par_comm_type=rs_ag"

static calc_system system_of_test;
static calc_point_table table;
static calc_app app;
static calc_exec exec;

static void enter(void)
{
    start_csv();
    app = modern_app();
    exec = modern_exec(1, 1, 1);
    system_of_test = small_system();
}

static void leave(void)
{
    calc_point_table_free(&table);
    leave_points();
}

const calc_test_frame calc_tests = {.setup = enter, .teardown = leave};

/* The table of the rows so far. */
static void make(void)
{
    ck_assert_int_eq(parse(point_csv), CALC_OK);
    ck_assert_msg(calc_points_select(&points, NULL, &system_of_test, &errors) == CALC_OK, "%s",
                  errors.item[0].text);
    calc_point_table_free(&table);
    calc_point_table_make(&table, points.item, points.count, NULL, &system_of_test);
}

static double step_s(const calc_kernel_table *measured)
{
    calc_stats stats;
    ck_assert_int_eq(calc_run_measured(&app, &system_of_test, &exec, measured, &stats),
                     CALC_VERDICT_OK);
    return stats.total_time;
}

static calc_measured_block found(calc_kernel_source expected)
{
    calc_layout layout;
    calc_layout_of(&app, &system_of_test, &exec, CALC_COMPAT_NONE, &table.table, NULL, &layout);
    calc_measured_block b = calc_measured_block_of(&layout.context);
    ck_assert_msg(b.source == expected, "%s", calc_kernel_source_text(b.source));
    ck_assert(b.measured == (expected >= CALC_KERNEL_INTERPOLATED));
    return b;
}

/* Steps with blocks of so long and of twice as long differ by the blocks, nothing else. */
static void blocks_take(double count, const char *shape)
{
    double step[2];
    for (int i = 0; i < 2; i++) {
        start_csv();
        put("a,block,fp16,%s,time,%d,ms\n", shape, 2000 * (i + 1));
        make();
        ck_assert_double_eq(found(CALC_KERNEL_EXACT).time_s, 2.0 * (i + 1));
        step[i] = step_s(&table.table);
    }
    ck_assert_double_eq_tol(step[1] - step[0], 2 * count, 1e-9);
}

CALC_TEST(a_measured_block_takes_what_was_measured)
{
    blocks_take(8 * 4, SIZES SETTINGS);
}

/* Ranks of tensor parallelism communicate within the measured time: their network does not matter.
 */
CALC_TEST(its_communication_is_not_added)
{
    exec = modern_exec(2, 1, 1);
    blocks_take(8 * 4, SIZES SETTINGS " tensor_par=2 seq_par_ag_redo=true");
    double before = step_s(NULL);
    double with = step_s(&table.table);
    app.vocab_size = 0;
    double blocks = step_s(&table.table);
    system_of_test.networks[0].bytes_per_s /= 16;
    ck_assert(step_s(NULL) > 0 && before > 0 && with > blocks);
    ck_assert_double_eq(step_s(&table.table), blocks);
}

/* Neither the host nor the release of the software slows it down. */
CALC_TEST(it_includes_all_that_it_waits_for)
{
    system_of_test.chip.host.block_s = 3;
    exec.software_efficiency = 0.5;
    app.vocab_size = 0;
    blocks_take(8 * 4, SIZES SETTINGS);
}

/* In 4 stages of 2 blocks, 4 micro-batches take 7 passes. */
CALC_TEST(stages_are_made_of_it)
{
    exec = modern_exec(1, 4, 1);
    blocks_take(2 * 7, SIZES SETTINGS);
}

CALC_TEST(near_ones_correct_the_model)
{
    put("a,block,fp16," SIZES SETTINGS " microbatch_size=2,time,5,s\n");
    make();
    calc_measured_block b = found(CALC_KERNEL_INTERPOLATED);
    exec.microbatch_size = 2;
    exec.batch_size *= 2;
    double other_s = found(CALC_KERNEL_EXACT).model_s;
    ck_assert_double_eq_tol(b.time_s, b.model_s * 5 / other_s, 1e-9);
    ck_assert_double_eq_tol(found(CALC_KERNEL_EXACT).time_s, 5, 1e-12);
}

CALC_TEST(others_leave_the_step_as_it_was)
{
    double before = step_s(NULL);
    static const struct {
        const char *shape;
        calc_kernel_source source;
    } rows[] = {
        {SIZES SETTINGS " microbatch_size=16", CALC_KERNEL_CURVE},
        {SIZES SETTINGS " activation_recompute=full", CALC_KERNEL_ROOFLINE},
        {SIZES SETTINGS " app.ffn_type=gelu", CALC_KERNEL_ROOFLINE},
        {SIZES SETTINGS " window_size=8", CALC_KERNEL_ROOFLINE},
        {SIZES "causal=true", CALC_KERNEL_ROOFLINE},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        start_csv();
        put("a,block,fp16,%s,time,5,s\n", rows[i].shape);
        make();
        calc_measured_block b = found(rows[i].source);
        ck_assert_double_eq(b.time_s, b.model_s);
        ck_assert_double_eq(step_s(&table.table), before);
    }
    start_csv();
    put("a,block,bf16," SIZES SETTINGS ",time,5,s\n");
    make();
    found(CALC_KERNEL_ROOFLINE);
}

/* Kernels of a block that is measured as a whole do not count. */
CALC_TEST(a_block_overrides_its_kernels)
{
    app.vocab_size = 0; /* the head is such a kernel, too */
    put("a,mm,fp16,m=32 k=64 n=512 layout=TN,time,9,s\n");
    make();
    double kernels_s = step_s(&table.table);
    put("a,block,fp16," SIZES SETTINGS ",time,2,s\n");
    make();
    double both_s = step_s(&table.table);
    start_csv();
    put("a,block,fp16," SIZES SETTINGS ",time,2,s\n");
    make();
    ck_assert(kernels_s > 8 * 4 * 9);
    ck_assert_double_eq_tol(both_s, step_s(&table.table), 1e-6);
}

/* Blocks with experts have no measured equal; dense ones before them do. */
CALC_TEST(blocks_with_experts_keep_their_kernels)
{
    app = moe_app();
    blocks_take(2 * 4, SIZES SETTINGS);
    app.dense_blocks = 0;
    found(CALC_KERNEL_ROOFLINE);
}
