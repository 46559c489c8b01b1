#include "axis.h"

#include <stdlib.h>
#include <string.h>

#include "documents.h"
#include "frame.h"
#include "spec/field.h"

static calc_space space;
static calc_designs_builder designs;

static void setup(void)
{
    static calc_app app;
    static calc_system sys;
    ck_assert_int_eq(calc_parse(CALC_KIND_APP, &app, APP_TEXT, strlen(APP_TEXT), "a", NULL), 0);
    ck_assert_int_eq(
        calc_parse(CALC_KIND_SYSTEM, &sys, SYSTEM_TEXT, strlen(SYSTEM_TEXT), "s", NULL), 0);
    ck_assert_int_eq(calc_space_init(&space), CALC_OK);
    ck_assert_int_eq(calc_designs_add_app(&designs, "model", &app), CALC_OK);
    ck_assert_int_eq(calc_designs_add_system(&designs, "machine", &sys), CALC_OK);
}

static void teardown(void)
{
    calc_space_free(&space);
    calc_designs_builder_free(&designs);
}

const calc_test_frame calc_tests = {.setup = setup, .teardown = teardown};

static void assign(const char *assignment)
{
    calc_errors errors = {0};
    calc_status status = calc_axis_assign(&space, &designs, assignment, &errors);
    ck_assert_msg(status == CALC_OK, "%s: %s", assignment, errors.item[0].text);
    ck_assert_int_eq(errors.count, 0);
}

static void axis_is(calc_axis axis, size_t count, const int64_t *values)
{
    ck_assert(!space.axis[axis].all);
    ck_assert_uint_eq(space.axis[axis].count, count);
    ck_assert_mem_eq(space.axis[axis].value, values, count * sizeof *values);
}
#define AXIS_IS(axis, ...)                                                                         \
    axis_is(axis, sizeof((int64_t[]){__VA_ARGS__}) / sizeof(int64_t), (int64_t[]){__VA_ARGS__})

static void print_first(const calc_errors *errors, const char *printed)
{
    char line[1024];
    ck_assert_int_eq(errors->count, 1);
    calc_error_print(&errors->item[0], line, sizeof line);
    ck_assert_str_eq(line, printed);
}

/* The assignment fails with this error, and changes nothing. */
static void refuse(const char *assignment, calc_status status, const char *printed)
{
    calc_errors errors = {0};
    calc_space before = space;
    size_t axes = designs.axes;
    ck_assert_int_eq(calc_axis_assign(&space, &designs, assignment, &errors), status);
    ck_assert_mem_eq(&before, &space, sizeof space);
    ck_assert_uint_eq(designs.axes, axes);
    print_first(&errors, printed);
    ck_assert_int_eq(calc_axis_assign(&space, &designs, assignment, NULL), status);
}

CALC_TEST(fields_of_the_execution_go_into_the_space)
{
    assign("tensor_par=8,1,2");
    AXIS_IS(CALC_AXIS_tensor_par, 1, 2, 8);
    assign("exe.num_procs=8:64:x2");
    AXIS_IS(CALC_AXIS_num_procs, 8, 16, 32, 64);
    assign("fused_activation=true,false");
    AXIS_IS(CALC_AXIS_fused_activation, 0, 1);
    assign("datatype=bfloat16");
    AXIS_IS(CALC_AXIS_datatype, CALC_DATATYPE_BFLOAT16);
    assign("exe.structure_type=gpt");
    AXIS_IS(CALC_AXIS_structure_type, CALC_STRUCTURE_TYPE_GPT);
    ck_assert_uint_eq(designs.axes, 0);
}

CALC_TEST(a_later_assignment_replaces_an_earlier_one)
{
    assign("tensor_par=1,2");
    assign("tensor_par=4");
    AXIS_IS(CALC_AXIS_tensor_par, 4);
    assign("mem1.GiB=40,80");
    assign("sys.mem1.GiB=120");
    ck_assert_uint_eq(designs.axes, 1);
    ck_assert_uint_eq(designs.axis[0].count, 1);
    ck_assert_double_eq(designs.axis[0].value[0], 120);
}

CALC_TEST(a_star_is_every_legal_value)
{
    assign("tensor_par=4");
    assign("tensor_par=*");
    ck_assert(space.axis[CALC_AXIS_tensor_par].all);
    assign("fused_activation=*");
    ck_assert(space.axis[CALC_AXIS_fused_activation].all);
    ck_assert(space.axis[CALC_AXIS_datatype].all); /* the system's first 16-bit one */
    assign("datatype=*");
    AXIS_IS(CALC_AXIS_datatype, 0, 1, 2, 3, 4);
    refuse("num_procs=*", CALC_ERR_TYPE,
           "--axis num_procs=*: /num_procs: expected values, found \"*\": no rule says which are "
           "legal\n  hint: for example 8:8192:x2");
    refuse("batch_size=*", CALC_ERR_TYPE,
           "--axis batch_size=*: /batch_size: expected values, found \"*\": no rule says which are "
           "legal\n  hint: for example 8:8192:x2");
    refuse("mem1.GiB=*", CALC_ERR_TYPE,
           "--axis mem1.GiB=*: /mem1/GiB: expected a number, found string \"*\"\n"
           "  hint: \"*\" stands alone, and only for fields of the execution");
}

CALC_TEST(a_star_of_an_optional_field_is_every_choice)
{
    assign("expert_par_net=3,-1");
    AXIS_IS(CALC_AXIS_expert_par_net, -1, 3);
    assign("flash_attention=*");
    AXIS_IS(CALC_AXIS_flash_attention, 0, 1);
    assign("memory_model=*");
    AXIS_IS(CALC_AXIS_memory_model, CALC_MEMORY_MODEL_CALCULON, CALC_MEMORY_MODEL_MEGATRON);
    assign("recompute_modules=mlp+core_attn,none");
    AXIS_IS(CALC_AXIS_recompute_modules, 0, 9);
    assign("zero_stage=*");
    AXIS_IS(CALC_AXIS_zero_stage, 0, 1, 2, 3);
    assign("context_par=*");
    ck_assert(space.axis[CALC_AXIS_context_par].all);
    assign("expert_par=*");
    ck_assert(space.axis[CALC_AXIS_expert_par].all);
    assign("expert_tensor_par=*");
    ck_assert(space.axis[CALC_AXIS_expert_tensor_par].all);
    refuse("fsdp_par=*", CALC_ERR_TYPE,
           "--axis fsdp_par=*: /fsdp_par: expected values, found \"*\": no rule says which are "
           "legal");
    refuse("recompute_modules=*", CALC_ERR_TYPE,
           "--axis recompute_modules=*: /recompute_modules: expected values, found \"*\": no rule "
           "says which are legal");
}

CALC_TEST(real_numbers_of_the_execution_are_axes)
{
    assign("capacity_factor=1.25,0,1");
    const calc_values *values = &space.axis[CALC_AXIS_capacity_factor];
    ck_assert_uint_eq(values->count, 3);
    ck_assert_double_eq(calc_axis_number(CALC_AXIS_capacity_factor, values->value[1]), 1);
    ck_assert_double_eq(calc_axis_number(CALC_AXIS_capacity_factor, values->value[2]), 1.25);
    refuse("cuda_graph=2", CALC_ERR_RANGE,
           "--axis cuda_graph=2: /cuda_graph: 2 is out of range, expected 0 to 1");
}

CALC_TEST(what_is_served_is_an_axis)
{
    calc_exec exec;
    ck_assert_int_eq(space.inference.phase, CALC_INFERENCE_PHASE_NONE);
    assign("inference.phase=serve");
    assign("exe.inference.prompt_size=4000");
    assign("inference.prefix_hit=0.25");
    calc_space_optional(&space, &exec);
    ck_assert_int_eq(exec.inference.phase, CALC_INFERENCE_PHASE_SERVE);
    ck_assert_int_eq(exec.inference.prompt_size, 4000);
    ck_assert_double_eq(exec.inference.prefix_hit, 0.25);
    assign("inference.prompt_size=4000,1000");
    ck_assert_uint_eq(space.axis[CALC_AXIS_inference_prompt_size].count, 2);
    ck_assert_int_eq(space.inference.prompt_size, 1000);
    assign("inference.traits.host=2ms");
    ck_assert_double_eq(space.inference.traits.host_s, 0.002);
    refuse("inference.traits.host=0.001,0.002", CALC_ERR_UNSUPPORTED,
           "--axis inference.traits.host=0.001,0.002: \"inference.traits.host\" has one value for "
           "all layouts\n"
           "  hint: give one");
    refuse("inference.phase=none,serve", CALC_ERR_RULE,
           "--axis inference.phase=none,serve: nothing is served in phase none: it is not beside "
           "others\n"
           "  hint: sweep them one after the other");
    refuse("inference.phase=train", CALC_ERR_RANGE,
           "--axis inference.phase=train: /inference/phase: \"train\" is not one of none, prefill, "
           "decode, serve, disaggregated");
    refuse("inference.prefix_hit=1", CALC_ERR_RANGE,
           "--axis inference.prefix_hit=1: /inference/prefix_hit: 1 is out of range, expected at "
           "least 0 and less than 1");
    refuse("inference.traits=1", CALC_ERR_FIELD,
           "--axis inference.traits=1: \"inference.traits\" is more than one value\n"
           "  hint: only numbers, choices and true or false can be swept");
    refuse("inference=serve", CALC_ERR_FIELD,
           "--axis inference=serve: \"inference\" is more than one value\n"
           "  hint: only numbers, choices and true or false can be swept");
}

CALC_TEST(a_batch_size_is_exact_or_a_maximum)
{
    ck_assert(space.batch_is_maximum);
    assign("batch_size=3072");
    ck_assert(!space.batch_is_maximum);
    assign("batch_size=<=2340,4680");
    ck_assert(space.batch_is_maximum);
    AXIS_IS(CALC_AXIS_batch_size, 2340, 4680);
    refuse("microbatch_size=<=4", CALC_ERR_TYPE,
           "--axis microbatch_size=<=4: /microbatch_size: expected an integer, found string "
           "\"<=4\"");
    refuse("batch_size=x", CALC_ERR_TYPE,
           "--axis batch_size=x: /batch_size: expected an integer, found string \"x\"");
}

CALC_TEST(fields_of_application_and_system_go_into_the_designs)
{
    assign("sys.mem1.GiB=80,40");
    assign("num_blocks=96");
    assign("app.hidden=1024:2048:1024");
    assign("networks[0].must_be_filled=true,false");
    ck_assert_uint_eq(designs.axes, 4);
    ck_assert_str_eq(designs.axis[0].path, "sys.mem1.GiB");
    ck_assert_double_eq(designs.axis[0].value[0], 40);
    ck_assert_double_eq(designs.axis[0].value[1], 80);
    ck_assert_str_eq(designs.axis[1].path, "app.num_blocks");
    ck_assert_str_eq(designs.axis[2].path, "app.hidden");
    ck_assert_str_eq(designs.axis[3].path, "sys.networks[0].must_be_filled");
}

CALC_TEST(unknown_names_get_the_nearest)
{
    refuse("tensor_part=8", CALC_ERR_FIELD,
           "--axis tensor_part=8: unknown field \"tensor_part\"\n"
           "  hint: did you mean \"tensor_par\"?");
    refuse("sys.men1.GiB=8", CALC_ERR_FIELD,
           "--axis sys.men1.GiB=8: unknown field \"men1.GiB\" in sys\n"
           "  hint: did you mean \"sys.mem1.GiB\"?");
    refuse("networks.size=8", CALC_ERR_FIELD,
           "--axis networks.size=8: unknown field \"networks.size\"\n"
           "  hint: did you mean \"networks[0].size\"?");
    refuse("matrix.flaot16.tflops=8", CALC_ERR_FIELD,
           "--axis matrix.flaot16.tflops=8: unknown field \"matrix.flaot16.tflops\"\n"
           "  hint: did you mean \"matrix.float16.tflops\"?");
    refuse("exe.hidden=8", CALC_ERR_FIELD, "--axis exe.hidden=8: unknown field \"hidden\" in exe");
    refuse("vocabulary=8", CALC_ERR_FIELD, "--axis vocabulary=8: unknown field \"vocabulary\"");
    refuse("=8", CALC_ERR_FIELD, "--axis =8: unknown field \"\"");
}

CALC_TEST(what_has_no_values_to_sweep_is_refused)
{
    refuse("tensor_par", CALC_ERR_FIELD,
           "--axis tensor_par: expected FIELD=VALUES\n  hint: for example tensor_par=1,2,4");
    refuse("exe.source=x", CALC_ERR_FIELD,
           "--axis exe.source=x: \"source\" is a note for people and cannot be swept");
    refuse("mem1=8", CALC_ERR_FIELD,
           "--axis mem1=8: \"mem1\" is more than one value\n"
           "  hint: only numbers, choices and true or false can be swept");
    refuse("networks[0].ops.p2p=1", CALC_ERR_FIELD,
           "--axis networks[0].ops.p2p=1: \"networks[0].ops.p2p\" is more than one value\n  hint: "
           "only numbers, choices and true or false can be swept");
    char assignment[300];
    memset(assignment, 'x', sizeof assignment);
    strcpy(assignment + 200, "=8");
    calc_errors errors = {0};
    ck_assert_int_eq(calc_axis_assign(&space, &designs, assignment, &errors), CALC_ERR_FIELD);
    ck_assert_str_eq(errors.item[0].text, "no field has so long a name");
}

/* --set of a sweep. */
CALC_TEST(an_assignment_is_an_axis_of_one_value)
{
    calc_errors errors = {0};
    ck_assert_int_eq(calc_axis_assign_one(&space, &designs, "tp=8", NULL), CALC_OK);
    AXIS_IS(CALC_AXIS_tensor_par, 8);
    ck_assert_int_eq(calc_axis_assign_one(&space, &designs, "networks[0].bandwidth=400Gb/s", NULL),
                     CALC_OK);
    ck_assert_uint_eq(designs.axes, 1);
    ck_assert_uint_eq(designs.axis[0].count, 1);
    ck_assert_double_eq(designs.axis[0].value[0], 50);
    ck_assert_int_eq(calc_axis_assign_one(&space, &designs, "tp=1,2", &errors), CALC_ERR_TYPE);
    print_first(&errors, "--set tp=1,2: expected one value\n  hint: --axis takes several values");
    AXIS_IS(CALC_AXIS_tensor_par, 8);
    ck_assert_int_eq(calc_axis_assign_one(&space, &designs, "tp=1:8", NULL), CALC_ERR_TYPE);
    ck_assert_int_eq(calc_axis_assign_one(&space, &designs, "tp=*", NULL), CALC_ERR_TYPE);
}

CALC_TEST(short_names_and_units_are_those_of_the_field)
{
    assign("pp=1,2");
    AXIS_IS(CALC_AXIS_pipeline_par, 1, 2);
    assign("gbs=1K,2Ki");
    AXIS_IS(CALC_AXIS_batch_size, 1000, 2048);
    assign("mem1.GiB=64GiB:128GiB:64GiB");
    ck_assert_uint_eq(designs.axis[0].count, 2);
    ck_assert_double_eq(designs.axis[0].value[1], 128);
    assign("price=2.5USD/h");
    ck_assert_str_eq(designs.axis[1].path, "sys.usd_per_hour");
    refuse("mem1.GiB=64GB/s", CALC_ERR_TYPE,
           "--axis mem1.GiB=64GB/s: /mem1/GiB: expected a number, found string \"64GB/s\"\n"
           "  hint: units are B, KB, MB, GB, TB (1000 ...), KiB, MiB, GiB, TiB (1024 ...)");
    refuse("structure_type=gpt", CALC_ERR_FIELD,
           "--axis structure_type=gpt: \"structure_type\" is in app and exe\n"
           "  hint: qualify it: app.structure_type or exe.structure_type");
}

CALC_TEST(a_field_must_exist_in_every_system)
{
    refuse("networks[1].size=8", CALC_ERR_FIELD,
           "--axis networks[1].size=8: machine has no networks[1].size");
    refuse("matrix.float8.tflops=8", CALC_ERR_FIELD,
           "--axis matrix.float8.tflops=8: machine has no matrix.float8.tflops");
    assign("matrix.float16.tflops=8");
    assign("networks[0].size=8");
}

CALC_TEST(errors_of_a_file_have_pointers_instead_of_a_name)
{
    const char *const items[] = {"4", "x"};
    calc_axis_text text = {
        .key = "tensor_par", .item = items, .count = 2, .pointer = "/tensor_par", .list = true};
    calc_errors errors = {0};
    ck_assert_int_eq(calc_axis_set(&space, &designs, &text, &errors), CALC_ERR_TYPE);
    print_first(&errors, "/tensor_par/1: expected an integer, found string \"x\"");
    text.key = "objektives";
    text.pointer = "/objektives";
    errors.count = 0;
    ck_assert_int_eq(calc_axis_set(&space, &designs, &text, &errors), CALC_ERR_FIELD);
    print_first(&errors, "/objektives: unknown key \"objektives\"\n"
                         "  hint: did you mean \"objectives\"?");
}

CALC_TEST(keys_of_a_study_are_known_by_their_text)
{
    ck_assert_int_eq(calc_study_key_find("applications"), CALC_STUDY_KEY_APPLICATIONS);
    ck_assert_int_eq(calc_study_key_find("source"), CALC_STUDY_KEY_SOURCE);
    ck_assert_int_eq(calc_study_key_find("tensor_par"), CALC_STUDY_KEY_COUNT);
}

/* Names are looked up in one after the other: no name may hide another. */
CALC_TEST(application_and_system_have_only_the_note_in_common)
{
    const calc_table *app = calc_table_of(CALC_KIND_APP);
    for (size_t i = 0; i < app->count; i++) {
        const calc_field *row = &app->rows[i];
        ck_assert_msg(row->type == CALC_TYPE_NOTE ||
                          !calc_table_find(calc_table_of(CALC_KIND_SYSTEM), row->key),
                      "%s", row->key);
    }
}
