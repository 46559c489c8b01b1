/* The model and the layout that the row of a measured block describes. */
#include "calibrate/points.h"
#include "point_case.h"

#include "frame.h"

const calc_test_frame calc_tests = {.teardown = leave_points};

#define SIZES "seq_size=2048 hidden=1024 feedforward=4096 attn_heads=16"

static calc_app app;
static calc_exec exec;

static const calc_point *row(const char *shape)
{
    char text[512];
    snprintf(text, sizeof text, "a,block,fp16,\"%s\",time,3,ms", shape);
    return only(text);
}

static void used(const char *shape)
{
    char reason[CALC_POINT_REASON];
    const calc_point *p = row(shape);
    ck_assert_msg(calc_point_is_used(p), "%s: %s", shape, p->reason);
    ck_assert_double_eq(p->measured_s, 3e-3);
    ck_assert(calc_point_block_of(p, &app, &exec, reason));
}

static void refused(const char *shape, const char *reason)
{
    ck_assert_str_eq(row(shape)->reason, reason);
}

CALC_TEST(absent_settings_are_those_of_a_document)
{
    used(SIZES);
    ck_assert(app.hidden == 1024 && app.feedforward == 4096 && app.attn_heads == 16);
    ck_assert(app.attn_size == 64 && app.num_blocks == 1 && app.seq_size == 2048);
    ck_assert(!app.causal && !exec.strategy.flash_attention && exec.training);
    ck_assert(exec.num_procs == 1 && exec.batch_size == 1 && exec.microbatch_size == 1);
    ck_assert(exec.strategy.datatype == CALC_DATATYPE_FLOAT16);
    ck_assert(exec.strategy.activation_recompute == CALC_ACTIVATION_RECOMPUTE_NONE);
    ck_assert(exec.strategy.attention_type == CALC_ATTENTION_TYPE_MULTIHEAD);
}

CALC_TEST(words_set_fields_by_their_names_and_aliases)
{
    used(SIZES
         ", microbatch_size=4 tensor_par=2,context_par=2 kv_heads=4 attn_size=128 recompute=full");
    ck_assert(exec.microbatch_size == 4 && exec.batch_size == 4 && exec.num_procs == 4);
    ck_assert(app.attn_size == 128);
    ck_assert(exec.strategy.attention_type == CALC_ATTENTION_TYPE_GROUPED_QUERY);
    ck_assert(exec.strategy.activation_recompute == CALC_ACTIVATION_RECOMPUTE_FULL);
}

CALC_TEST(rows_that_are_no_block_say_why)
{
    refused("seq_size=2048 hidden=1024 feedforward=4096", "shape lacks attn_heads");
    refused(SIZES " hiden=3", "\"hiden=3\": unknown field \"hiden\"; did you mean \"hidden\"?");
    refused(SIZES " causal", "\"causal\": expected FIELD=VALUE; for example tensor_par=8");
    refused(SIZES " tensor_par=two", "tensor_par is not a number");
    refused(SIZES " tensor_par=0.5", "tensor_par is 0.5; 1 to 1e15 is possible");
    refused(SIZES " microbatch_size=1.5",
            "\"microbatch_size=1.5\": expected an integer, found 1.5");
    refused(SIZES " pipeline_par=2", "\"pipeline_par=2\": a row is of one block, without experts");
    refused(SIZES " num_experts=8", "\"num_experts=8\": a row is of one block, without experts");
    refused(SIZES " sys.mem1.GiB=8", "\"sys.mem1.GiB=8\": a row is of one block, without experts");
    ck_assert_str_eq(only("a,block,fp16," SIZES ",tflops,3,")->reason,
                     "metric \"tflops\" with unit \"\" gives no time");
    ck_assert_str_eq(only("a,block,int3," SIZES ",time,3,s")->reason,
                     "dtype \"int3\" is not a number format");
}

/* What only the machine knows. */
CALC_TEST(layouts_that_no_machine_runs_are_refused_with_their_rule)
{
    calc_system system = load_system("a100_sxm_80g");
    row(SIZES " tensor_par=3");
    ck_assert_int_eq(calc_points_select(&points, NULL, &system, &errors), CALC_ERR_FIELD);
    ck_assert_str_eq(
        errors.item[0].text,
        "no row can be used; the first says: \"block\": 3 does not divide hidden = 1024; "
        "use 1, 2, 4, 8 or 16");
    ck_assert_str_eq(errors.item[0].file, "o.csv");
    ck_assert_int_eq(errors.item[0].line, 2);
}

/* A block is its operators, one after the other, where nothing overlaps and no host is waited for:
 * with recomputation, the forward pass twice. */
CALC_TEST(recomputation_adds_a_forward_pass)
{
    calc_system system = load_system("a100_sxm_80g");
    system.chip.host = (calc_host){0};
    double once = calc_point_time_s(row(SIZES " flash_attention=true"), &system);
    double twice = calc_point_time_s(row(SIZES " flash_attention=true recompute=full"), &system);
    ck_assert_double_gt(twice / once, 1.25);
    ck_assert_double_lt(twice / once, 1.4);
    system.chip.host.block_s = 10 * once;
    ck_assert_double_gt(calc_point_time_s(row(SIZES " flash_attention=true"), &system), 10 * once);
}
