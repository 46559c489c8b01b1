/* Arguments of Galvatron's search, out of its files. */
#include "galvatron/arguments.h"

#include <stdio.h>
#include <string.h>

#include "frame.h"
#include "galvatron/cost.h"
#include "galvatron_case.h"
#include "io/text.h"
#include "small_case.h"

static calc_galvatron_arguments args;
static char why[512];

static const calc_galvatron_argument *row(const char *name)
{
    const calc_galvatron_argument *at = calc_galvatron_argument_rows;
    while (at->name && strcmp(at->name, name) != 0) {
        at++;
    }
    ck_assert_msg(at->name != NULL, "%s", name);
    return at;
}

static bool set(const char *name, const char *value)
{
    why[0] = '\0';
    return calc_galvatron_arguments_set(&args, row(name), value, why, sizeof why);
}

static void refuses(const char *name, const char *value, const char *expected)
{
    ck_assert_msg(!set(name, value), "%s %s", name, value);
    ck_assert_str_eq(why, expected);
}

static calc_status read_text(const char *text, calc_errors *errors)
{
    calc_galvatron_arguments_start(&args);
    *errors = (calc_errors){0};
    return calc_galvatron_arguments_read(&args, text, strlen(text), "a.yaml", errors);
}

static void reads(const char *text)
{
    calc_errors errors;
    calc_status status = read_text(text, &errors);
    ck_assert_msg(status == CALC_OK, "%s", errors.item[0].text);
}

static void fails(const char *text, const char *printed)
{
    calc_errors errors;
    char line[1024];
    ck_assert_int_ne(read_text(text, &errors), CALC_OK);
    ck_assert_int_gt(errors.count, 0);
    calc_error_print(&errors.item[0], line, sizeof line);
    ck_assert_str_eq(line, printed);
}

CALC_TEST(defaults_are_upstreams)
{
    calc_galvatron_arguments_start(&args);
    const calc_galvatron_request *r = &args.request;
    ck_assert_int_eq(r->default_dp_type, CALC_GALVATRON_DDP);
    ck_assert_int_eq(r->pipeline_type, CALC_GALVATRON_GPIPE);
    ck_assert_int_eq(r->mixed_precision, CALC_GALVATRON_BF16);
    ck_assert(r->async_grad_reduce && r->sequence_parallel && r->global_memory_buffer);
    ck_assert_int_eq(r->num_nodes, 1);
    ck_assert_int_eq(r->num_gpus_per_node, 8);
    ck_assert_double_eq(r->memory_constraint, 24);
    ck_assert_int_eq(r->min_bsz, 8);
    ck_assert_int_eq(r->max_bsz, 8);
    ck_assert_int_eq(r->bsz_scale, 8);
    ck_assert_int_eq(r->settle_bsz, -1);
    ck_assert_int_eq(r->settle_chunk, -1);
    ck_assert(!r->disable_dp && !r->disable_tp && !r->disable_sp && !r->disable_pp);
    ck_assert(!r->disable_ckpt && !r->disable_fsdp && r->disable_cp);
    ck_assert(!r->disable_embedding_lmhead_tp && !r->disable_embedding_lmhead_sp);
    ck_assert_int_eq(r->max_tp_deg, 8);
    ck_assert_int_eq(r->max_pp_deg, 8);
    ck_assert_int_eq(r->max_sp_deg, 8);
    ck_assert_int_eq(r->max_cp_deg, 8);
    ck_assert_int_eq(r->time_profile_mode, CALC_GALVATRON_TIME_STATIC);
    ck_assert_int_eq(r->memory_profile_mode, CALC_GALVATRON_MEMORY_STATIC);
    ck_assert(r->fine_grained && !r->compat);
    ck_assert_double_eq(r->debug_costmodel_coe, 1);
}

/* What people are told of defaults is what they are. */
CALC_TEST(presets_are_the_defaults)
{
    for (const calc_galvatron_argument *at = calc_galvatron_argument_rows; at->name; at++) {
        if (!at->preset || at->kind == CALC_GALVATRON_TAKES_TEXT) {
            continue;
        }
        calc_galvatron_arguments before;
        calc_galvatron_arguments_start(&args);
        before = args;
        ck_assert_msg(set(at->name, at->preset), "%s", at->name);
        ck_assert_msg(memcmp(&before, &args, sizeof args) == 0, "%s", at->name);
    }
}

CALC_TEST(yaml_has_a_search_engine_block)
{
    reads("runtime:\n  anything: [1, {a: b}]\n"
          "search_engine:\n"
          "  model_info:\n    model_size: llama2-7b\n    hidden_size: 4096\n    num_layers: 32\n"
          "    num_attention_heads: 32\n    ffn_hidden_size: 11008\n"
          "  common_train_info: {seq_length: 2048, sequence_parallel: true, lr: 1e-4}\n"
          "  parallelism_info:\n    default_dp_type: zero2\n    pipeline_type: pipedream_flush\n"
          "    mixed_precision: fp16\n    async_grad_reduce: False\n"
          "  hardware_info: {num_nodes: 2, memory_constraint: 36}\n"
          "  batch_size_info:\n    settle_bsz: 64\n    settle_chunk: -1\n"
          "  search_space_info: {disable_sp: 1, max_tp_deg: -1}\n"
          "  profiling_info: {time_profile_mode: batch, sp_time_path: null, "
          "p2p_bandwidth_config_path: hw}\n"
          "  options_info: {worker: 4, parallel_search: true, output_config_path: out}\n");
    ck_assert(calc_galvatron_arguments_finish(&args, why, sizeof why));
    const calc_galvatron_request *r = &args.request;
    ck_assert_str_eq(r->model, "llama2-7b");
    ck_assert_int_eq(r->types, 1);
    ck_assert_int_eq(r->layers[0].layer_num, 32);
    ck_assert_int_eq(r->layers[0].hidden_size, 4096);
    ck_assert_int_eq(r->layers[0].seq_len, 2048);
    ck_assert_int_eq(r->default_dp_type, CALC_GALVATRON_ZERO2);
    ck_assert_int_eq(r->pipeline_type, CALC_GALVATRON_PIPEDREAM_FLUSH);
    ck_assert_int_eq(r->mixed_precision, CALC_GALVATRON_FP16);
    ck_assert(!r->async_grad_reduce && r->disable_sp);
    ck_assert_int_eq(r->num_nodes, 2);
    ck_assert_double_eq(r->memory_constraint, 36);
    ck_assert_int_eq(r->settle_bsz, 64);
    ck_assert_int_eq(r->settle_chunk, -1);
    ck_assert_int_eq(r->max_tp_deg, -1);
    ck_assert_int_eq(r->time_profile_mode, CALC_GALVATRON_TIME_BATCH);
    ck_assert_str_eq(args.unused, "worker, parallel_search");
    ck_assert_str_eq(args.output_config_path, "out");
    calc_galvatron_paths paths = calc_galvatron_arguments_paths(&args);
    ck_assert_str_eq(paths.p2p, "hw");
    ck_assert_str_eq(paths.computation, "configs");
    ck_assert_str_eq(paths.collectives, "../../profile_hardware/hardware_configs");
}

CALC_TEST(blocks_may_stand_alone_and_in_json)
{
    reads("hardware_info:\n  num_nodes: 4\n");
    ck_assert_int_eq(args.request.num_nodes, 4);
    reads("{\"search_engine\": {\"hardware_info\": {\"num_gpus_per_node\": 4}}}");
    ck_assert_int_eq(args.request.num_gpus_per_node, 4);
}

CALC_TEST(a_model_is_named_by_the_end_of_its_path)
{
    reads("model_info: {hf_model_name_or_path: org/llama, hidden_size: 8, num_layers: 2}\n"
          "common_train_info: {seq_length: 16}\n");
    ck_assert(calc_galvatron_arguments_finish(&args, why, sizeof why));
    ck_assert_str_eq(args.request.model, "llama");
    reads("model_info: {model_size: own, hf_model_name_or_path: org/llama, hidden_size: 8, "
          "num_layers: 2}\ncommon_train_info: {seq_length: 16}\n");
    ck_assert(calc_galvatron_arguments_finish(&args, why, sizeof why));
    ck_assert_str_eq(args.request.model, "own");
}

static void read_case(const char *name)
{
    char path[512];
    calc_text text = {0};
    calc_errors errors = {0};
    snprintf(path, sizeof path, "%s/galvatron/%s/args.json", CALC_TEST_DATA, name);
    ck_assert_int_eq(calc_text_read(&text, path, &errors), CALC_OK);
    calc_galvatron_arguments_start(&args);
    calc_status status =
        calc_galvatron_arguments_read(&args, text.data, text.length, path, &errors);
    ck_assert_msg(status == CALC_OK, "%s", errors.item[0].text);
    calc_text_free(&text);
    ck_assert_msg(calc_galvatron_arguments_finish(&args, why, sizeof why), "%s", why);
}

/* A second reader, written for the tests of the cost model, finds the same. */
static const char *const cases[] = {
    "01_llama2-7b_1x8_36G_bsz16", "07_fixture_seq8192_1x8_36G_bsz64_chunk8_coarse",
    "10_fixture_static_gpipe_ddp_nosp_notp_1x8_40G", "17_t5-3B_twolayertypes_1x8_12G_bsz64",
    "19_llama2-7b_1x8_24G_bsz32_pp4_gpipe"};

CALC_TEST_LOOP(requests_are_those_of_another_reader, 0, sizeof cases / sizeof *cases)
{
    galvatron_case c;
    galvatron_open(&c, cases[_i]);
    read_case(cases[_i]);
    const calc_galvatron_request *a = &c.request, *b = &args.request;
    ck_assert_str_eq(a->model, b->model);
    ck_assert_int_eq(a->types, b->types);
    ck_assert_mem_eq(a->layers, b->layers, (size_t)a->types * sizeof *a->layers);
#define SAME(member) ck_assert_msg(a->member == b->member, "%s", #member);
    SAME(default_dp_type)
    SAME(pipeline_type)
    SAME(mixed_precision)
    SAME(time_profile_mode)
    SAME(memory_profile_mode)
    SAME(async_grad_reduce)
    SAME(sequence_parallel)
    SAME(global_memory_buffer)
    SAME(num_nodes)
    SAME(num_gpus_per_node)
    SAME(memory_constraint)
    SAME(min_bsz)
    SAME(max_bsz)
    SAME(bsz_scale)
    SAME(settle_bsz)
    SAME(settle_chunk)
    SAME(disable_tp)
    SAME(disable_sp)
    SAME(disable_pp)
    SAME(disable_ckpt)
    SAME(max_tp_deg)
    SAME(max_sp_deg)
    SAME(max_pp_deg)
    ck_assert_int_eq(b->fine_grained, galvatron_int(&c, "options_info", "fine_grained_mode"));
    ck_assert_int_eq(b->disable_dp, galvatron_int(&c, "search_space_info", "disable_dp"));
    ck_assert_int_eq(b->disable_fsdp, galvatron_int(&c, "search_space_info", "disable_fsdp"));
    ck_assert_str_eq(c.model, args.path[CALC_GALVATRON_FILE_COMPUTATION]);
    ck_assert_str_eq(c.machine, args.path[CALC_GALVATRON_FILE_P2P]);
    galvatron_close(&c);
}

CALC_TEST(layers_of_several_types_are_listed)
{
    read_case("17_t5-3B_twolayertypes_1x8_12G_bsz64");
    ck_assert_int_eq(args.request.types, 2);
    ck_assert_int_eq(args.request.layers[1].layer_num, 24);
    ck_assert_int_eq(args.request.layers[1].seq_len, 512);
    ck_assert(!args.request.sequence_parallel && args.request.disable_tp);
    ck_assert_int_eq(args.request.max_pp_deg, 4);
    ck_assert_str_eq(args.request.model, "t5-3B");
    ck_assert_str_eq(args.path[CALC_GALVATRON_FILE_MEMORY],
                     CALC_TEST_DATA "/galvatron/17_t5-3B_twolayertypes_1x8_12G_bsz64/../profiles/"
                                    "t5-3B_renamed");
    ck_assert_str_eq(args.path[CALC_GALVATRON_FILE_OVERLAP],
                     CALC_TEST_DATA "/galvatron/17_t5-3B_twolayertypes_1x8_12G_bsz64/../profiles/"
                                    "shipped_hardware");
}

CALC_TEST(lists_give_a_value_for_each_type)
{
    calc_galvatron_arguments_start(&args);
    ck_assert(set("model_size", "t5") && set("num_layers", "24,12") && set("hidden_size", "1024") &&
              set("seq_length", "512, 256"));
    ck_assert(calc_galvatron_arguments_finish(&args, why, sizeof why));
    ck_assert_int_eq(args.request.types, 2);
    ck_assert_int_eq(args.request.layers[0].layer_num, 24);
    ck_assert_int_eq(args.request.layers[1].layer_num, 12);
    ck_assert_int_eq(args.request.layers[1].hidden_size, 1024);
    ck_assert_int_eq(args.request.layers[1].seq_len, 256);
    ck_assert(set("seq_length", "1,2,3"));
    ck_assert(!calc_galvatron_arguments_finish(&args, why, sizeof why));
    ck_assert_str_eq(why, "num_layers, hidden_size, seq_length: 2 values beside 3 of another");
}

CALC_TEST(values_end_at_their_bounds)
{
    calc_galvatron_arguments_start(&args);
    ck_assert(set("num_nodes", "1") && set("num_nodes", "65536"));
    refuses("num_nodes", "0", "expected a whole number from 1 to 65536, found \"0\"");
    refuses("num_nodes", "65537", "expected a whole number from 1 to 65536, found \"65537\"");
    refuses("num_nodes", "1.5", "expected a whole number from 1 to 65536, found \"1.5\"");
    refuses("num_nodes", "8x", "expected a whole number from 1 to 65536, found \"8x\"");
    refuses("num_nodes", "", "expected a whole number from 1 to 65536, found \"\"");
    refuses("num_nodes", "-1", "expected a whole number from 1 to 65536, found \"-1\"");
    ck_assert(set("max_tp_deg", "-1") && set("max_tp_deg", "1"));
    refuses("max_tp_deg", "0", "expected a whole number from 1 to 65536, or -1, found \"0\"");
    refuses("max_tp_deg", "-2", "expected a whole number from 1 to 65536, or -1, found \"-2\"");
    ck_assert(set("memory_constraint", "79.5") && set("memory_constraint", "1"));
    refuses("memory_constraint", "0.5", "expected a number from 1 to 65536, found \"0.5\"");
    refuses("memory_constraint", "nan", "expected a number from 1 to 65536, found \"nan\"");
    ck_assert(set("disable_tp", "True") && args.request.disable_tp);
    refuses("disable_tp", "2", "expected 0, 1, true or false, found \"2\"");
    refuses("default_dp_type", "zero3", "expected ddp or zero2, found \"zero3\"");
    refuses("time_profile_mode", "hybrid", "expected static, batch or sequence, found \"hybrid\"");
    refuses("num_layers", "1,2,3,4,5",
            "expected a whole number from 1 to 1000, or up to 4 of them with commas between, found "
            "\"1,2,3,4,5\"");
    refuses("num_layers", "24,",
            "expected a whole number from 1 to 1000, or up to 4 of them with commas between, found "
            "\"24,\"");
    refuses("time_profiling_path", "", "expected a name or a path, found \"\"");
}

CALC_TEST(mistakes_have_a_place_and_a_hint)
{
    fails("a: 1\n", "a.yaml:1:1: unknown key \"a\"");
    fails("", "a.yaml: there is no search_engine block\n  hint: its blocks are hardware_info, "
              "batch_size_info and others");
    fails("search_engine:\n  hardware_inf:\n    num_nodes: 1\n",
          "a.yaml:2:3: unknown block \"hardware_inf\"\n  hint: did you mean \"hardware_info\"?");
    fails("search_engine:\n  hardware_info:\n    num_node: 1\n",
          "a.yaml:3:5: unknown argument of hardware_info \"num_node\"\n  hint: did you mean "
          "\"num_nodes\"?");
    fails("search_engine:\n  batch_size_info:\n    settle_bsz: 0\n",
          "a.yaml:3:5: search_engine.batch_size_info.settle_bsz: expected a whole number from 1 to "
          "100000000, or -1, found \"0\"");
    fails("search_engine:\n  hardware_info:\n    num_nodes: {a: 1}\n",
          "a.yaml:3:17: unknown argument of hardware_info \"num_nodes.a\"\n  hint: did you mean "
          "\"num_nodes\"?");
    fails("search_engine:\n  model_info:\n    num_layer: 1\n",
          "a.yaml:3:5: unknown argument of model_info \"num_layer\"\n  hint: did you mean "
          "\"num_layers\"?");
    fails("{\"args\": {\"hardware_info\": {}}, \"layer\": []}",
          "a.yaml:1:33: unknown key \"layer\"\n  hint: did you mean \"layers\"?");
    fails("{\"args\": {\"hardware_info\": {\"num_nodes\": 1}}, \"layers\": [{\"layer_num\": 0}]}",
          "a.yaml:1:58: layers: expected at most 4 entries, each with hidden_size, layer_num and "
          "seq_len");
    fails("{\"args\": {\"hardware_info\": {\"num_nodes\": 1}}, \"layers\": []}",
          "a.yaml:1:47: layers: expected an entry for each type of layers");
    fails("search_engine: [\n", "a.yaml:2:1: did not find expected node content while parsing a "
                                "flow node");
}

CALC_TEST(several_mistakes_are_all_named)
{
    calc_errors errors;
    ck_assert_int_ne(read_text("hardware_info:\n  num_nodes: x\n  num_gpus: 8\n", &errors),
                     CALC_OK);
    ck_assert_int_eq(errors.count, 2);
}

/* What there is to search for. */

static char request_why[256];

static calc_galvatron_request llama(void)
{
    calc_galvatron_request r = calc_galvatron_request_default();
    r.types = 1;
    r.layers[0] = (calc_galvatron_layers){4096, 32, 2048};
    return r;
}

static bool good(const calc_galvatron_request *r)
{
    request_why[0] = '\0';
    return calc_galvatron_request_check(r, request_why, sizeof request_why);
}

static void request_refuses(const calc_galvatron_request *r, const char *expected)
{
    ck_assert(!good(r));
    ck_assert_str_eq(request_why, expected);
}

CALC_TEST(a_model_has_layers)
{
    calc_galvatron_request r = llama();
    ck_assert(good(&r));
    r.layers[0].seq_len = 0;
    request_refuses(&r, "seq_length is missing: the model has none to search for");
    r = llama();
    r.types = 2;
    r.layers[0].layer_num = 512;
    r.layers[1] = r.layers[0];
    ck_assert(good(&r));
    r.layers[1].layer_num = 513;
    request_refuses(&r, "num_layers: 1025 are more than 1024, which are searched at most");
    r.types = 0;
    request_refuses(&r, "num_layers is missing: the model has none to search for");
}

CALC_TEST(gpus_are_a_power_of_two)
{
    calc_galvatron_request r = llama();
    r.num_nodes = 8192;
    ck_assert(good(&r));
    r.num_nodes = 16384;
    request_refuses(
        &r, "num_nodes * num_gpus_per_node: 131072 GPUs are not a power of two from 1 to 65536");
    r.num_nodes = 3;
    request_refuses(
        &r, "num_nodes * num_gpus_per_node: 24 GPUs are not a power of two from 1 to 65536");
}

CALC_TEST(there_is_a_batch)
{
    calc_galvatron_request r = llama();
    r.bsz_scale = 16;
    request_refuses(
        &r,
        "max_bsz: 8 is below the first batch, 16, the larger of min_bsz and bsz_scale (bsz_step): "
        "raise it, or give settle_bsz");
    r.settle_bsz = 4;
    ck_assert(good(&r));
    r.settle_bsz = -1;
    r.bsz_scale = 1;
    r.min_bsz = 1;
    r.max_bsz = 10000;
    ck_assert(good(&r));
    r.max_bsz = 10001;
    request_refuses(
        &r, "max_bsz: 10001 batches up to 10001 are too many to search: raise bsz_scale, or "
            "give settle_bsz");
    r.settle_bsz = 4;
    r.settle_chunk = 4;
    ck_assert(good(&r));
    r.settle_chunk = 3;
    request_refuses(&r, "settle_chunk: 3 does not divide settle_bsz, 4");
}

CALC_TEST(options_that_contradict_are_refused)
{
    calc_galvatron_request r = llama();
    r.sequence_parallel = false;
    request_refuses(
        &r, "disable_tp: without sequence_parallel there are no costs of tensor parallelism: "
            "set disable_tp 1, or sequence_parallel");
    r.max_tp_deg = 1;
    ck_assert(good(&r));
    r.memory_profile_mode = CALC_GALVATRON_MEMORY_SEQUENCE;
    request_refuses(&r,
                    "memory_profile_mode: sequence needs sequence_parallel and one type of layers");
    r = llama();
    r.memory_profile_mode = CALC_GALVATRON_MEMORY_SEQUENCE;
    ck_assert(good(&r));
    r.memory_constraint = 23.5;
    ck_assert(good(&r));
    r.compat = true;
    request_refuses(&r, "memory_constraint: 23.5 GB are not whole, as --compat needs them to be");
}
