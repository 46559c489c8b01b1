#include "documents.h"

#include "calc.h"
#include "frame.h"

#include <string.h>

static calc_app app;
static calc_system sys;
static calc_exec exec;

static void load(void)
{
    ck_assert_int_eq(calc_parse(CALC_KIND_APP, &app, APP_TEXT, strlen(APP_TEXT), "a", NULL), 0);
    ck_assert_int_eq(
        calc_parse(CALC_KIND_SYSTEM, &sys, SYSTEM_TEXT, strlen(SYSTEM_TEXT), "s", NULL), 0);
    ck_assert_int_eq(calc_parse(CALC_KIND_EXEC, &exec, EXEC_TEXT, strlen(EXEC_TEXT), "e", NULL), 0);
}

const calc_test_frame calc_tests = {.setup = load};

static void set(const char *assignment)
{
    calc_errors errors = {0};
    calc_status status = calc_set(&app, &sys, &exec, assignment, NULL, &errors);
    ck_assert_msg(status == CALC_OK, "%s: %s", assignment, errors.item[0].text);
    ck_assert_int_eq(errors.count, 0);
}

/* The assignment fails with this first error, and changes nothing. */
static void refuse(const char *assignment, calc_status status, const char *printed)
{
    calc_app app_before;
    calc_system sys_before;
    calc_exec exec_before;
    calc_field_ref where = {.offset = 77};
    calc_errors errors = {0};
    char line[1024];
    memcpy(&app_before, &app, sizeof app);
    memcpy(&sys_before, &sys, sizeof sys);
    memcpy(&exec_before, &exec, sizeof exec);
    ck_assert_int_eq(calc_set(&app, &sys, &exec, assignment, &where, &errors), status);
    ck_assert_mem_eq(&app_before, &app, sizeof app);
    ck_assert_mem_eq(&sys_before, &sys, sizeof sys);
    ck_assert_mem_eq(&exec_before, &exec, sizeof exec);
    ck_assert_uint_eq(where.offset, 77);
    ck_assert_int_ge(errors.count, 1);
    calc_error_print(&errors.item[0], line, sizeof line);
    ck_assert_str_eq(line, printed);
    ck_assert_int_eq(calc_set(&app, &sys, &exec, assignment, NULL, NULL), status);
}

CALC_TEST(bare_names_are_found_in_all_three)
{
    set("hidden=1024");
    ck_assert_int_eq(app.hidden, 1024);
    set("processing_mode=roofline");
    ck_assert_int_eq(sys.chip.processing_mode, CALC_PROCESSING_MODE_ROOFLINE);
    set("tensor_par=8");
    ck_assert_int_eq(exec.strategy.tensor_par, 8);
    set("exe.tensor_par= 16 ");
    ck_assert_int_eq(exec.strategy.tensor_par, 16);
    set("weight_offload=true");
    ck_assert(exec.strategy.weight_offload);
}

CALC_TEST(words_may_have_quotes_or_not)
{
    set("tensor_par_comm_type=ar");
    ck_assert_int_eq(exec.strategy.tensor_par_comm_type, CALC_TENSOR_PAR_COMM_TYPE_AR);
    set("tensor_par_comm_type=\"p2p_rs_ag\"");
    ck_assert_int_eq(exec.strategy.tensor_par_comm_type, CALC_TENSOR_PAR_COMM_TYPE_P2P_RS_AG);
}

CALC_TEST(sets_are_words_with_plus_or_arrays)
{
    set("recompute_modules=core_attn+mlp");
    ck_assert_int_eq(exec.strategy.recompute_modules,
                     1 << CALC_RECOMPUTE_MODULES_CORE_ATTN | 1 << CALC_RECOMPUTE_MODULES_MLP);
    set("recompute_modules=[\"moe\"]");
    ck_assert_int_eq(exec.strategy.recompute_modules, 1 << CALC_RECOMPUTE_MODULES_MOE);
    set("recompute_modules=");
    ck_assert_int_eq(exec.strategy.recompute_modules, 0);
    set("exe.recompute_modules=moe_act");
    set("recompute_modules=none");
    ck_assert_int_eq(exec.strategy.recompute_modules, 0);
    set("recompute_modules=core_attn,mlp");
    ck_assert_int_eq(exec.strategy.recompute_modules,
                     1 << CALC_RECOMPUTE_MODULES_CORE_ATTN | 1 << CALC_RECOMPUTE_MODULES_MLP);
    refuse(
        "recompute_modules=core_attn;mlp", CALC_ERR_RANGE,
        "--set recompute_modules=core_attn;mlp: /recompute_modules: \"core_attn;mlp\" is not one "
        "of core_attn, layernorm, mla_up_proj, mlp, moe_act, shared_experts, moe\n"
        "  hint: did you mean \"core_attn\"?");
    refuse("recompute_modules=core_attn+embedding", CALC_ERR_RANGE,
           "--set recompute_modules=core_attn+embedding: /recompute_modules: \"embedding\" is not "
           "one of "
           "core_attn, layernorm, mla_up_proj, mlp, moe_act, shared_experts, moe\n"
           "  hint: several are joined by +: core_attn+layernorm");
    refuse("recompute_modules=[\"mlp\"", CALC_ERR_SYNTAX,
           "--set recompute_modules=[\"mlp\": the text ends too early\n"
           "  hint: the \"[\" of line 1 is not closed");
}

CALC_TEST(choices_with_auto_are_true_false_or_auto)
{
    set("bias=true");
    ck_assert_int_eq(app.bias, CALC_CHOICE_TRUE);
    set("bias=false");
    ck_assert_int_eq(app.bias, CALC_CHOICE_FALSE);
    set("bias=auto");
    ck_assert_int_eq(app.bias, CALC_CHOICE_AUTO);
    refuse("bias=1", CALC_ERR_TYPE,
           "--set bias=1: /bias: expected one of auto, true, false, found 1");
}

CALC_TEST(optional_objects_can_be_set_whole_or_in_part)
{
    set("sys.launch={\"matrix\": 8e-6}");
    set("launch.vector=4e-6");
    ck_assert_double_eq(sys.chip.launch.matrix_s, 8e-6);
    ck_assert_double_eq(sys.chip.launch.vector_s, 4e-6);
    set("networks[0].op_parameters.all_to_all.latency_step=1e-6");
    ck_assert_double_eq(sys.networks[0].op_parameters.all_to_all.latency_step_s, 1e-6);
    set("networks[0].bandwidth_curve=[[1, 0.5], [0, 0.25]]");
    ck_assert_double_eq(sys.networks[0].bandwidth_curve.threshold[0], 1e6);
    set("networks[0].ops.all_to_all=[2, 0]");
    ck_assert_double_eq(sys.networks[0].ops.all_to_all.scalar, 2);
    set("expert_par_net=-1");
    refuse("expert_par_net=-2", CALC_ERR_RANGE,
           "--set expert_par_net=-2: /expert_par_net: -2 is out of range, expected -1 to 7");
}

CALC_TEST(fields_and_choices_may_have_their_other_names)
{
    set("moe_topk=4");
    ck_assert_int_eq(app.experts_per_token, 4);
    set("exe.matrix_dtype=float8");
    ck_assert_int_eq(exec.strategy.matrix_datatype, CALC_FORMAT_FLOAT8);
    set("attention_type=groupquery");
    ck_assert_int_eq(exec.strategy.attention_type, CALC_ATTENTION_TYPE_GROUPED_QUERY);
    refuse("num_shared_experts=2", CALC_ERR_FIELD,
           "--set num_shared_experts=2: unknown field \"num_shared_experts\"\n"
           "  hint: did you mean \"shared_feedforward\"?");
}

CALC_TEST(nested_fields_have_paths)
{
    set("mem1.GiB=141");
    ck_assert_double_eq(sys.chip.mem1.capacity_bytes, 141 * 0x1p30);
    set("sys.networks[0].size=72");
    ck_assert_int_eq(sys.networks[0].size, 72);
    set("networks[0].ops.all_reduce=[1.25,-1]");
    ck_assert_double_eq(sys.networks[0].ops.all_reduce.scalar, 1.25);
    ck_assert_double_eq(sys.networks[0].ops.all_reduce.offset, -1);
    set("mem2.MB_efficiency=[[10, 0.9], [0, 0.5]]");
    ck_assert_int_eq(sys.chip.mem2.efficiency.count, 2);
    ck_assert_double_eq(sys.chip.mem2.efficiency.threshold[0], 10e6);
}

CALC_TEST(whole_objects_and_lists_can_be_set)
{
    set("mem2={\"GiB\": 1, \"GBps\": 2, \"MB_efficiency\": [[0, 1]]}");
    ck_assert_double_eq(sys.chip.mem2.bytes_per_s, 2e9);
    calc_network network = sys.networks[0];
    set("networks=[{\"bandwidth\": 1, \"efficiency\": 1, \"size\": 2, \"latency\": 0, \"ops\": "
        "{\"p2p\": [1, null], \"reduce_scatter\": [1, 0], \"all_gather\": [1, 0], "
        "\"all_reduce\": [1, 0]}, \"must_be_filled\": false, \"processor_usage\": 0}]");
    ck_assert_int_eq(sys.networks_count, 1);
    ck_assert_int_ne(sys.networks[0].size, network.size);
}

CALC_TEST(a_datatype_that_is_not_there_can_be_added)
{
    set("matrix.float8.tflops=1979");
    set("matrix.float8.gflops_efficiency=[[0,0.5]]");
    ck_assert_double_eq(sys.chip.matrix[CALC_DATATYPE_FLOAT8].flop_per_s, 1979e12);
    ck_assert_int_eq(sys.chip.matrix[CALC_DATATYPE_FLOAT8].efficiency.count, 1);
}

CALC_TEST(the_field_that_was_set_is_told)
{
    calc_field_ref where;
    ck_assert_int_eq(calc_set(&app, &sys, &exec, "mem1.GBps=3350", &where, NULL), CALC_OK);
    ck_assert_int_eq(where.kind, CALC_KIND_SYSTEM);
    ck_assert_str_eq(where.field->key, "GBps");
    ck_assert_double_eq(calc_field_number(&where, &sys), 3350);
}

CALC_TEST(a_name_in_two_documents_must_be_qualified)
{
    refuse("structure_type=gpt", CALC_ERR_FIELD,
           "--set structure_type=gpt: \"structure_type\" is in app and exe\n"
           "  hint: qualify it: app.structure_type or exe.structure_type");
    set("app.structure_type=llama");
    ck_assert_int_eq(app.structure_type, CALC_STRUCTURE_TYPE_LLAMA);
    ck_assert_int_eq(exec.strategy.structure_type, CALC_STRUCTURE_TYPE_GPT);
}

/* A number of the execution is instead of the model's. */
CALC_TEST(a_number_in_two_documents_is_that_of_the_execution)
{
    int64_t of_model = app.seq_size;
    set("seq_size=4096");
    ck_assert_int_eq(exec.seq_size, 4096);
    ck_assert_int_eq(app.seq_size, of_model);
    set("app.seq_size=512");
    ck_assert_int_eq(app.seq_size, 512);
    set("seq=32Ki");
    ck_assert_int_eq(exec.seq_size, 32768);
}

CALC_TEST(amounts_have_their_unit)
{
    set("mem1.GiB=80GB");
    ck_assert_double_eq(sys.chip.mem1.capacity_bytes, 80e9 / 0x1p30 * 0x1p30);
    set("networks[0].latency=10us");
    ck_assert_double_eq(sys.networks[0].latency_s, 1e-5);
    set("networks[0].bandwidth=400Gb/s");
    ck_assert_double_eq(sys.networks[0].bytes_per_s, 50e9);
    set("gbs=1K");
    ck_assert_int_eq(exec.batch_size, 1000);
    refuse("gbs=1.5", CALC_ERR_TYPE, "--set gbs=1.5: /gbs: expected an integer, found 1.5");
    refuse("gbs=0.5%", CALC_ERR_TYPE, "--set gbs=0.5%: /gbs: expected an integer, found 0.005");
    refuse("networks[0].latency=10GB", CALC_ERR_TYPE,
           "--set networks[0].latency=10GB: /networks/0/latency: expected a number, found string "
           "\"10GB\"\n  hint: units are s, ms, us, ns, min, h and days");
    refuse("training=1K", CALC_ERR_TYPE,
           "--set training=1K: /training: expected true or false, found string \"1K\"");
}

CALC_TEST(unknown_names_get_the_nearest)
{
    refuse("tensor_part=8", CALC_ERR_FIELD,
           "--set tensor_part=8: unknown field \"tensor_part\"\n"
           "  hint: did you mean \"tensor_par\"?");
    refuse("exe.hidden=8", CALC_ERR_FIELD, "--set exe.hidden=8: unknown field \"hidden\" in exe");
    refuse("mem1.GBs=8", CALC_ERR_FIELD,
           "--set mem1.GBs=8: unknown field \"mem1.GBs\"\n  hint: did you mean \"mem1.GBps\"?");
    refuse("men1.GiB=8", CALC_ERR_FIELD,
           "--set men1.GiB=8: unknown field \"men1.GiB\"\n  hint: did you mean \"mem1.GiB\"?");
    refuse("networks[0].sizes=8", CALC_ERR_FIELD,
           "--set networks[0].sizes=8: unknown field \"networks[0].sizes\"\n"
           "  hint: did you mean \"networks[0].size\"?");
    refuse("networks.size=8", CALC_ERR_FIELD,
           "--set networks.size=8: unknown field \"networks.size\"\n"
           "  hint: write \"networks[0].size\"");
    refuse("matrix.flaot16.tflops=8", CALC_ERR_FIELD,
           "--set matrix.flaot16.tflops=8: unknown field \"matrix.flaot16.tflops\"\n"
           "  hint: did you mean \"matrix.float16.tflops\"?");
    refuse("matrix.float16.tflop=8", CALC_ERR_FIELD,
           "--set matrix.float16.tflop=8: unknown field \"matrix.float16.tflop\"\n"
           "  hint: did you mean \"matrix.float16.tflops\"?");
    refuse("tensor_par.x=8", CALC_ERR_FIELD,
           "--set tensor_par.x=8: unknown field \"tensor_par.x\"");
    refuse("vocabulary=8", CALC_ERR_FIELD, "--set vocabulary=8: unknown field \"vocabulary\"");
}

CALC_TEST(an_index_beyond_the_elements_says_how_many_there_are)
{
    refuse("networks[1].size=8", CALC_ERR_FIELD,
           "--set networks[1].size=8: there is no networks[1]: the list has 1 element\n"
           "  hint: the first one has index 0");
    refuse("networks[99999999999999999999].size=8", CALC_ERR_FIELD,
           "--set networks[99999999999999999999].size=8: there is no "
           "networks[9223372036854775807]: the list has 1 element\n"
           "  hint: the first one has index 0");
}

CALC_TEST(notes_cannot_be_set)
{
    refuse("exe.source=x", CALC_ERR_FIELD,
           "--set exe.source=x: \"source\" is a note for people and cannot be set");
    refuse("source=x", CALC_ERR_FIELD,
           "--set source=x: \"source\" is a note for people and cannot be set");
}

CALC_TEST(values_are_checked_as_in_files)
{
    refuse("tensor_par=0", CALC_ERR_RANGE,
           "--set tensor_par=0: /tensor_par: 0 is out of range, expected at least 1");
    refuse("tensor_par=eight", CALC_ERR_TYPE,
           "--set tensor_par=eight: /tensor_par: expected an integer, found string \"eight\"");
    refuse("tensor_par=", CALC_ERR_TYPE,
           "--set tensor_par=: /tensor_par: expected an integer, found string \"\"");
    refuse("tensor_par=8.0", CALC_ERR_TYPE,
           "--set tensor_par=8.0: /tensor_par: expected an integer, found 8.0\n  hint: write 8");
    refuse("datatype=fp16", CALC_ERR_RANGE,
           "--set datatype=fp16: /datatype: \"fp16\" is not one of float8, float16, bfloat16, "
           "float32, float4");
    refuse("networks[0].ops.p2p=[1, 0]", CALC_ERR_TYPE,
           "--set networks[0].ops.p2p=[1, 0]: /networks/0/ops/p2p/1: expected null, because "
           "point-to-point has no offset, found 0");
    refuse("mem1.MB_efficiency=[[1, 0.5]]", CALC_ERR_RANGE,
           "--set mem1.MB_efficiency=[[1, 0.5]]: /mem1/MB_efficiency/0/0: 1 is not 0: the curve "
           "must end at size 0 so that every size is covered\n  hint: add a step [0, efficiency]");
    refuse("mem1.MB_efficiency=[[0, 0.5]", CALC_ERR_SYNTAX,
           "--set mem1.MB_efficiency=[[0, 0.5]: the text ends too early\n"
           "  hint: the \"[\" of line 1 is not closed");
    refuse("mem1=", CALC_ERR_TYPE, "--set mem1=: /mem1: expected an object, found string \"\"");
    refuse("mem1={}", CALC_ERR_FIELD, "--set mem1={}: /mem1: missing key \"GiB\"");
    refuse("datatype=\xff", CALC_ERR_SYNTAX,
           "--set datatype=\\xff: byte 0xff is not UTF-8\n  hint: save it as UTF-8");
}

CALC_TEST(what_is_no_assignment_is_refused)
{
    refuse("tensor_par", CALC_ERR_FIELD,
           "--set tensor_par: expected FIELD=VALUE\n  hint: for example tensor_par=8");
    refuse("", CALC_ERR_FIELD, "--set : expected FIELD=VALUE\n  hint: for example tensor_par=8");
    refuse("=8", CALC_ERR_FIELD, "--set =8: unknown field \"\"");
    refuse("app.=8", CALC_ERR_FIELD, "--set app.=8: unknown field \"\" in app");
    char text[400];
    memset(text, 'x', sizeof text);
    memcpy(text + sizeof text - 3, "=1", 3);
    refuse(text, CALC_ERR_FIELD,
           "--set xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx...: no field has "
           "so long a name");
}
