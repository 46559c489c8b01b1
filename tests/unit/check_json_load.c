#include "documents.h"

#include "calc.h"
#include "frame.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static calc_status parse_app(const char *text, size_t length, calc_errors *errors)
{
    calc_app app;
    return calc_parse(CALC_KIND_APP, &app, text, length, "a.json", errors);
}

static void fails_with(const char *text, size_t length, calc_status status, const char *printed)
{
    calc_errors errors = {0};
    char line[1024];
    ck_assert_int_eq(parse_app(text, length, &errors), status);
    ck_assert_int_ge(errors.count, 1);
    calc_error_print(&errors.item[0], line, sizeof line);
    ck_assert_str_eq(line, printed);
}

CALC_TEST(application_is_read)
{
    calc_app app;
    ck_assert_int_eq(calc_parse(CALC_KIND_APP, &app, APP_TEXT, strlen(APP_TEXT), "a", NULL),
                     CALC_OK);
    ck_assert_int_eq(app.hidden, 12288);
    ck_assert_int_eq(app.num_blocks, 96);
    ck_assert_int_eq(app.structure_type, CALC_STRUCTURE_TYPE_GPT);
}

CALC_TEST(system_is_read_in_si_units)
{
    calc_system sys;
    calc_errors errors = {0};
    ck_assert_int_eq(
        calc_parse(CALC_KIND_SYSTEM, &sys, SYSTEM_TEXT, strlen(SYSTEM_TEXT), "s", &errors),
        CALC_OK);
    ck_assert_int_eq(errors.count, 0);
    ck_assert_double_eq(sys.chip.matrix[CALC_DATATYPE_FLOAT16].flop_per_s, 312e12);
    ck_assert_int_eq(sys.chip.matrix[CALC_DATATYPE_FLOAT16].efficiency.count, 2);
    ck_assert_double_eq(sys.chip.matrix[CALC_DATATYPE_FLOAT16].efficiency.threshold[0], 128e9);
    ck_assert_double_eq(sys.chip.matrix[CALC_DATATYPE_FLOAT16].efficiency.efficiency[0], 0.95);
    ck_assert_double_eq(sys.chip.matrix[CALC_DATATYPE_FLOAT8].flop_per_s, 0);
    ck_assert_double_eq(sys.chip.mem1.capacity_bytes, 80 * 0x1p30);
    ck_assert_double_eq(sys.chip.mem2.bytes_per_s, 32e9);
    ck_assert_int_eq(sys.chip.processing_mode, CALC_PROCESSING_MODE_NO_OVERLAP);
    ck_assert_int_eq(sys.networks_count, 1);
    ck_assert_int_eq(sys.networks[0].size, 8);
    ck_assert_double_eq(sys.networks[0].ops.p2p.scalar, 1);
    ck_assert_double_eq(sys.networks[0].ops.p2p.offset, 0);
    ck_assert_double_eq(sys.networks[0].ops.all_reduce.offset, -1);
    ck_assert(sys.networks[0].must_be_filled);
}

CALC_TEST(execution_is_read)
{
    calc_exec exec;
    ck_assert_int_eq(calc_parse(CALC_KIND_EXEC, &exec, EXEC_TEXT, strlen(EXEC_TEXT), "e", NULL),
                     CALC_OK);
    ck_assert_int_eq(exec.strategy.data_par, 12);
    ck_assert_int_eq(exec.strategy.datatype, CALC_DATATYPE_FLOAT16);
    ck_assert_int_eq(exec.strategy.tensor_par_comm_type, CALC_TENSOR_PAR_COMM_TYPE_RS_AG);
    ck_assert(exec.training && !exec.strategy.weight_offload);
}

/* The small documents with members more. */
static calc_status parse_with(calc_kind kind, void *object, const char *document, const char *more,
                              calc_errors *errors)
{
    char text[4096];
    snprintf(text, sizeof text, "%.*s,%s}", (int)strlen(document) - 2, document, more);
    return calc_parse(kind, object, text, strlen(text), "x", errors);
}

/* Fails with this one error, whose place is not looked at. */
static void with_fails(calc_kind kind, const char *document, const char *more, calc_status status,
                       const char *printed)
{
    union {
        calc_app app;
        calc_system system;
        calc_exec exec;
    } object;
    calc_errors errors = {0};
    char line[1024];
    ck_assert_int_eq(parse_with(kind, &object, document, more, &errors), status);
    ck_assert_int_eq(errors.count, 1);
    ck_assert_int_ge(errors.item[0].line, 7);
    errors.item[0].line = errors.item[0].column = 0;
    calc_error_print(&errors.item[0], line, sizeof line);
    ck_assert_str_eq(line, printed);
}

CALC_TEST(what_is_absent_has_its_value)
{
    calc_exec exec;
    calc_system sys;
    ck_assert_int_eq(calc_parse(CALC_KIND_EXEC, &exec, EXEC_TEXT, strlen(EXEC_TEXT), "e", NULL), 0);
    ck_assert_int_eq(exec.strategy.expert_par_net, -1);
    ck_assert_int_eq(exec.strategy.context_par_net, -1);
    ck_assert_int_eq(exec.strategy.context_par, 0);
    ck_assert_int_eq(exec.strategy.recompute_modules, 0);
    ck_assert_int_eq(exec.strategy.param_gather_overlap, CALC_CHOICE_AUTO);
    ck_assert_int_eq(
        calc_parse(CALC_KIND_SYSTEM, &sys, SYSTEM_TEXT, strlen(SYSTEM_TEXT), "s", NULL), 0);
    ck_assert_double_eq(sys.networks[0].ops.all_to_all.scalar, 1);
    ck_assert_double_eq(sys.networks[0].ops.all_to_all.offset, -1);
    ck_assert_double_eq(sys.networks[1].ops.all_to_all.scalar, 0);
    ck_assert_int_eq(sys.networks[0].bandwidth_curve.count, 0);
    ck_assert_double_eq(sys.chip.launch.matrix_s, 0);
}

CALC_TEST(optional_objects_are_read_in_part)
{
    calc_system sys;
    ck_assert_int_eq(parse_with(CALC_KIND_SYSTEM, &sys, SYSTEM_TEXT,
                                "\"launch\": {\"vector\": 4e-6}, \"mem_reserved_GiB\": 3, "
                                "\"host\": {}",
                                NULL),
                     CALC_OK);
    ck_assert_double_eq(sys.chip.launch.vector_s, 4e-6);
    ck_assert_double_eq(sys.chip.launch.matrix_s, 0);
    ck_assert_double_eq(sys.chip.mem_reserved_bytes, 3 * 0x1p30);
    with_fails(CALC_KIND_SYSTEM, SYSTEM_TEXT, "\"launch\": {\"tensor\": 1}", CALC_ERR_FIELD,
               "x: /launch/tensor: unknown key \"tensor\"");
    with_fails(CALC_KIND_SYSTEM, SYSTEM_TEXT, "\"launch\": 4e-6", CALC_ERR_TYPE,
               "x: /launch: expected an object, found 4e-06");
    with_fails(CALC_KIND_SYSTEM, SYSTEM_TEXT, "\"launch\": null", CALC_ERR_TYPE,
               "x: /launch: expected an object, found null");
}

#define MODULES "core_attn, layernorm, mla_up_proj, mlp, moe_act, shared_experts, moe"

static int64_t modules(const char *value)
{
    calc_exec exec;
    calc_errors errors = {0};
    char more[256];
    snprintf(more, sizeof more, "\"recompute_modules\": %s", value);
    calc_status status = parse_with(CALC_KIND_EXEC, &exec, EXEC_TEXT, more, &errors);
    ck_assert_msg(status == CALC_OK, "%s: %s", value, errors.item[0].text);
    return exec.strategy.recompute_modules;
}

CALC_TEST(a_set_is_an_array_or_a_word)
{
    const int64_t attn = 1 << CALC_RECOMPUTE_MODULES_CORE_ATTN;
    const int64_t mlp = 1 << CALC_RECOMPUTE_MODULES_MLP;
    ck_assert_int_eq(modules("[\"mlp\", \"core_attn\"]"), attn | mlp);
    ck_assert_int_eq(modules("[\"mlp\", \"mlp\"]"), mlp);
    ck_assert_int_eq(modules("[]"), 0);
    ck_assert_int_eq(modules("\"mlp\""), mlp);
    ck_assert_int_eq(modules("\"mlp+core_attn\""), attn | mlp);
    ck_assert_int_eq(modules("\"none\""), 0);
    ck_assert_int_eq(modules("[\"core_attn\", \"layernorm\", \"mla_up_proj\", \"mlp\", "
                             "\"moe_act\", \"shared_experts\", \"moe\"]"),
                     127);
}

CALC_TEST(wrong_members_of_a_set_are_told)
{
    with_fails(CALC_KIND_EXEC, EXEC_TEXT, "\"recompute_modules\": [\"mlp\", \"mpl\"]",
               CALC_ERR_RANGE,
               "x: /recompute_modules/1: \"mpl\" is not one of " MODULES
               "\n  hint: did you mean \"mlp\"?");
    with_fails(CALC_KIND_EXEC, EXEC_TEXT, "\"recompute_modules\": [\"mlp\", 3]", CALC_ERR_TYPE,
               "x: /recompute_modules/1: expected one of " MODULES ", found 3");
    with_fails(CALC_KIND_EXEC, EXEC_TEXT, "\"recompute_modules\": true", CALC_ERR_TYPE,
               "x: /recompute_modules: expected an array of " MODULES ", found true");
    with_fails(
        CALC_KIND_EXEC, EXEC_TEXT, "\"recompute_modules\": \"core_attn+mpl\"", CALC_ERR_RANGE,
        "x: /recompute_modules: \"mpl\" is not one of " MODULES "\n  hint: did you mean \"mlp\"?");
    with_fails(CALC_KIND_EXEC, EXEC_TEXT,
               "\"framework_mem\": [\"gemm_workspace\", \"loss_copies\", \"te_dummy_wgrad\", "
               "\"gemm_workspace\", \"loss_parallel\", \"logits_gathered\", \"logits_held\"]",
               CALC_ERR_RANGE, "x: /framework_mem: 7 choices are out of range, expected at most 6");
}

CALC_TEST(a_choice_with_auto_is_true_false_or_auto)
{
    calc_app app;
    ck_assert_int_eq(parse_with(CALC_KIND_APP, &app, APP_TEXT,
                                "\"bias\": false, \"dropout\": true, "
                                "\"tied_embeddings\": \"auto\"",
                                NULL),
                     CALC_OK);
    ck_assert_int_eq(app.bias, CALC_CHOICE_FALSE);
    ck_assert_int_eq(app.dropout, CALC_CHOICE_TRUE);
    ck_assert_int_eq(app.tied_embeddings, CALC_CHOICE_AUTO);
    with_fails(CALC_KIND_APP, APP_TEXT, "\"bias\": 1", CALC_ERR_TYPE,
               "x: /bias: expected one of auto, true, false, found 1");
    with_fails(CALC_KIND_APP, APP_TEXT, "\"bias\": \"no\"", CALC_ERR_RANGE,
               "x: /bias: \"no\" is not one of auto, true, false");
    with_fails(CALC_KIND_APP, APP_TEXT, "\"norm_type\": true", CALC_ERR_TYPE,
               "x: /norm_type: expected one of auto, layer, rms, found true");
}

CALC_TEST(fields_may_have_their_other_names)
{
    calc_app app;
    calc_exec exec;
    ck_assert_int_eq(parse_with(CALC_KIND_APP, &app, APP_TEXT,
                                "\"kv_groups\": 8, \"qk_nope_head_dim\": 128, "
                                "\"qk_rope_head_dim\": 64, \"v_head_dim\": 96, "
                                "\"moe_topk\": 2, \"moe_feedforward\": 2048, "
                                "\"first_k_dense\": 3, \"num_nextn_predict_layers\": 1",
                                NULL),
                     CALC_OK);
    ck_assert_int_eq(app.kv_heads, 8);
    ck_assert_int_eq(app.qk_nope_size, 128);
    ck_assert_int_eq(app.qk_rope_size, 64);
    ck_assert_int_eq(app.v_size, 96);
    ck_assert_int_eq(app.experts_per_token, 2);
    ck_assert_int_eq(app.expert_feedforward, 2048);
    ck_assert_int_eq(app.dense_blocks, 3);
    ck_assert_int_eq(app.mtp_blocks, 1);
    ck_assert_int_eq(app.shared_feedforward, 0);
    ck_assert_int_eq(
        parse_with(CALC_KIND_EXEC, &exec, EXEC_TEXT, "\"matrix_dtype\": \"float8\"", NULL),
        CALC_OK);
    ck_assert_int_eq(exec.strategy.matrix_datatype, CALC_FORMAT_FLOAT8);
    with_fails(CALC_KIND_APP, APP_TEXT, "\"moe_topk\": \"2\"", CALC_ERR_TYPE,
               "x: /moe_topk: expected an integer, found string \"2\"\n  hint: write 2");
    with_fails(CALC_KIND_EXEC, EXEC_TEXT, "\"moe_topk\": 2", CALC_ERR_FIELD,
               "x: /moe_topk: unknown key \"moe_topk\"");
}

CALC_TEST(both_names_of_a_field_are_an_error)
{
    with_fails(CALC_KIND_APP, APP_TEXT, "\"experts_per_token\": 2, \"moe_topk\": 2", CALC_ERR_FIELD,
               "x: /moe_topk: \"moe_topk\" and \"experts_per_token\" set the same field\n"
               "  hint: keep one of them");
    with_fails(CALC_KIND_APP, APP_TEXT, "\"num_shared_experts\": 1, \"shared_feedforward\": 1",
               CALC_ERR_FIELD,
               "x: /num_shared_experts: \"num_shared_experts\" and \"shared_feedforward\" set the "
               "same field\n  hint: keep one of them");
}

static int64_t shared_width(const char *more)
{
    calc_app app;
    ck_assert_int_eq(parse_with(CALC_KIND_APP, &app, APP_TEXT, more, NULL), CALC_OK);
    return app.shared_feedforward;
}

CALC_TEST(shared_experts_are_as_wide_as_the_routed_ones)
{
    ck_assert_int_eq(shared_width("\"num_shared_experts\": 2, \"expert_feedforward\": 1408"), 2816);
    ck_assert_int_eq(shared_width("\"num_shared_experts\": 3, \"moe_feedforward\": 1408"), 4224);
    ck_assert_int_eq(shared_width("\"num_shared_experts\": 2"), 2 * 49152);
    ck_assert_int_eq(shared_width("\"num_shared_experts\": 0"), 0);
    ck_assert_int_eq(shared_width("\"num_shared_experts\": 1000, \"expert_feedforward\": 1000000"),
                     1000000000);
    with_fails(CALC_KIND_APP, APP_TEXT,
               "\"num_shared_experts\": 1001, \"expert_feedforward\": 1000000", CALC_ERR_RANGE,
               "x: /num_shared_experts: 1001 times expert_feedforward = 1000000 is out of range "
               "for shared_feedforward, expected at most 1000000000");
    with_fails(CALC_KIND_APP, APP_TEXT, "\"num_shared_experts\": -1", CALC_ERR_RANGE,
               "x: /num_shared_experts: -1 is out of range, expected at least 0");
    with_fails(CALC_KIND_APP, APP_TEXT, "\"num_shared_experts\": 1.5", CALC_ERR_TYPE,
               "x: /num_shared_experts: expected an integer, found 1.5");
}

CALC_TEST(choices_may_have_their_other_words)
{
    calc_exec exec;
    char text[] = EXEC_TEXT;
    memcpy(strstr(text, "\"multihead\""), "\"mla\"      ", 11);
    ck_assert_int_eq(calc_parse(CALC_KIND_EXEC, &exec, text, strlen(text), "e", NULL), CALC_OK);
    ck_assert_int_eq(exec.strategy.attention_type, CALC_ATTENTION_TYPE_MULTI_LATENT);
}

CALC_TEST(a_million_members_of_a_set_are_one_error)
{
    enum { MEMBERS = 1000000 };
    char *text = malloc(strlen(EXEC_TEXT) + MEMBERS * 4 + 32);
    size_t used = strlen(EXEC_TEXT) - 2;
    memcpy(text, EXEC_TEXT, used);
    used += (size_t)sprintf(text + used, ",\"recompute_modules\":[\"x\"");
    for (int i = 1; i < MEMBERS; i++) {
        memcpy(text + used, ",\"x\"", 4);
        used += 4;
    }
    used += (size_t)sprintf(text + used, "]}");
    calc_exec exec;
    calc_errors errors = {0};
    ck_assert_int_eq(calc_parse(CALC_KIND_EXEC, &exec, text, used, "e", &errors), CALC_ERR_RANGE);
    ck_assert_int_eq(errors.count, 1);
    ck_assert_str_eq(errors.item[0].text, "1000000 choices are out of range, expected at most 7");
    free(text);
}

CALC_TEST(a_byte_order_mark_is_fine)
{
    calc_app app;
    static const char text[] = "\xef\xbb\xbf" APP_TEXT;
    ck_assert_int_eq(calc_parse(CALC_KIND_APP, &app, text, strlen(text), "a", NULL), CALC_OK);
    ck_assert_int_eq(app.hidden, 12288);
}

CALC_TEST(an_unused_byte_of_the_struct_is_zero)
{
    calc_exec a;
    calc_exec b;
    memset(&a, 0xaa, sizeof a);
    memset(&b, 0x55, sizeof b);
    ck_assert_int_eq(calc_parse(CALC_KIND_EXEC, &a, EXEC_TEXT, strlen(EXEC_TEXT), "e", NULL), 0);
    ck_assert_int_eq(calc_parse(CALC_KIND_EXEC, &b, EXEC_TEXT, strlen(EXEC_TEXT), "e", NULL), 0);
    ck_assert_mem_eq(&a, &b, sizeof a);
}

CALC_TEST(a_text_without_bytes_is_empty)
{
    fails_with("", 0, CALC_ERR_SYNTAX, "a.json:1:1: the file is empty");
}

CALC_TEST(the_text_ends_at_its_length)
{
    fails_with(APP_TEXT, strlen(APP_TEXT) - 1, CALC_ERR_SYNTAX,
               "a.json:7:18: the text ends too early\n  hint: the \"{\" of line 1 is not closed");
}

/* Jansson passes over one after a number. */
CALC_TEST(a_zero_byte_anywhere_is_an_error)
{
    const char *whole = APP_TEXT;
    size_t length = strlen(whole);
    char text[4096];
    for (size_t i = 0; i < length; i++) {
        calc_app app;
        calc_errors errors = {0};
        memcpy(text, whole, i);
        text[i] = '\0';
        memcpy(text + i + 1, whole + i, length - i);
        ck_assert_int_eq(calc_parse(CALC_KIND_APP, &app, text, length + 1, "a", &errors),
                         CALC_ERR_SYNTAX);
        ck_assert_int_eq(errors.count, 1);
        ck_assert_msg(strstr(errors.item[0].text, "NUL"), "%zu: %s", i, errors.item[0].text);
    }
}

CALC_TEST(errors_follow_those_of_the_caller_and_are_sorted)
{
    calc_errors errors = {0};
    ck_assert_int_eq(parse_app("[]", 2, &errors), CALC_ERR_TYPE);
    static const char text[] = "{\"hidden\": 0, \"seq_size\": \"8\"}";
    /* The missing keys point at the object, which comes first. */
    ck_assert_int_eq(parse_app(text, strlen(text), &errors), CALC_ERR_FIELD);
    ck_assert_int_eq(errors.count, 1 + 4 + 2);
    ck_assert_int_eq(errors.item[1].column, 1);
    ck_assert_str_eq(errors.item[5].pointer, "/hidden");
    ck_assert_int_eq(errors.item[5].status, CALC_ERR_RANGE);
    ck_assert_str_eq(errors.item[6].pointer, "/seq_size");
    ck_assert_int_eq(errors.item[6].status, CALC_ERR_TYPE);
    ck_assert_int_eq(errors.item[6].column, 27);
}

CALC_TEST(errors_that_do_not_fit_are_counted)
{
    calc_errors errors = {0};
    for (int i = 0; i < 3; i++) {
        ck_assert_int_eq(parse_app("{}", 2, &errors), CALC_ERR_FIELD);
    }
    ck_assert_int_eq(errors.count, CALC_MAX_ERRORS);
    ck_assert_int_eq(errors.dropped, 3 * 6 - CALC_MAX_ERRORS);
    ck_assert_int_eq(parse_app("{}", 2, NULL), CALC_ERR_FIELD);
}

CALC_TEST(a_hundred_thousand_brackets_are_one_error)
{
    size_t length = 100000;
    char *text = malloc(length);
    memset(text, '[', length);
    fails_with(text, length, CALC_ERR_SYNTAX, "a.json:1:2049: brackets nested more than 2048 deep");
    for (size_t i = 0; i < length - 4; i += 5) {
        memcpy(text + i, "{\"a\":", 5);
    }
    fails_with(text, length, CALC_ERR_SYNTAX,
               "a.json:1:10241: brackets nested more than 2048 deep");
    free(text);
}

/* Jansson needs 45 bytes for each of them: gigabytes that a compressed file of some KB unpacks to.
 */
CALC_TEST(more_values_than_half_a_gib_holds_are_refused_and_brackets_in_texts_are_none)
{
    size_t length = (size_t)12 << 20;
    char *text = malloc(length);
    for (size_t i = 0; i < length; i += 3) {
        memcpy(text + i, "[],", 3);
    }
    text[0] = '[';
    memcpy(text + length - 3, "]]]", 3);
    fails_with(text, length, CALC_ERR_RANGE,
               "a.json:1:1: holds more values than half a GiB of memory does");
    text[0] = '"';
    memcpy(text + length - 3, "\\\"\"", 3);
    ck_assert_int_eq(parse_app(text, length, NULL), CALC_ERR_TYPE); /* one text */
    free(text);
}

CALC_TEST(brackets_up_to_the_limit_are_read)
{
    char text[2 * 2048];
    memset(text, '[', 2048);
    memset(text + 2048, ']', 2048);
    fails_with(text, sizeof text, CALC_ERR_TYPE,
               "a.json:1:1: expected an object, found an array of 1");
}

CALC_TEST(ten_megabytes_of_garbage_are_one_error)
{
    size_t length = 10 << 20;
    char *text = malloc(length);
    memset(text, 'x', length);
    fails_with(text, length, CALC_ERR_SYNTAX,
               "a.json:1:1: expected an object, found "
               "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx...");
    memset(text, ' ', length);
    fails_with(text, length, CALC_ERR_SYNTAX, "a.json:1:1: the file is empty");
    memset(text, '"', length);
    calc_errors errors = {0};
    ck_assert_int_eq(parse_app(text, length, &errors), CALC_ERR_SYNTAX);
    ck_assert_int_eq(errors.count, 1);
    free(text);
}

CALC_TEST(two_hundred_thousand_unknown_keys_end_quickly)
{
    enum { KEYS = 200000 };
    char *text = malloc(KEYS * 16 + 2);
    size_t used = 1;
    text[0] = '{';
    for (int i = 0; i < KEYS; i++) {
        used += (size_t)sprintf(text + used, "%s\"k%d\":0", i > 0 ? "," : "", i);
    }
    text[used++] = '}';
    calc_errors errors = {0};
    ck_assert_int_eq(parse_app(text, used, &errors), CALC_ERR_FIELD);
    ck_assert_int_eq(errors.count, CALC_MAX_ERRORS);
    ck_assert_int_eq(errors.dropped, KEYS + 6 - CALC_MAX_ERRORS);
    free(text);
}

CALC_TEST(limits_are_inclusive_and_next_to_them_is_out)
{
    static const struct {
        const char *value;
        calc_status status;
    } cases[] = {{"1", CALC_OK},
                 {"0", CALC_ERR_RANGE},
                 {"1000000", CALC_OK},
                 {"1000001", CALC_ERR_RANGE},
                 {"9223372036854775807", CALC_ERR_RANGE},
                 {"-9223372036854775808", CALC_ERR_RANGE},
                 {"9223372036854775808", CALC_ERR_RANGE},
                 {"1e2", CALC_ERR_TYPE},
                 {"-0", CALC_ERR_RANGE}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[512];
        snprintf(text, sizeof text,
                 "{\"hidden\": 1, \"feedforward\": 1, \"seq_size\": 1, \"attn_heads\": %s, "
                 "\"attn_size\": 1, \"num_blocks\": 1}",
                 cases[i].value);
        ck_assert_int_eq(parse_app(text, strlen(text), NULL), cases[i].status);
    }
}

CALC_TEST(a_file_that_is_not_there_is_named)
{
    calc_app app;
    calc_errors errors = {0};
    char line[512];
    ck_assert_int_eq(calc_load(CALC_KIND_APP, &app, "/nowhere/a.json", &errors),
                     CALC_ERR_NOT_FOUND);
    calc_error_print(&errors.item[0], line, sizeof line);
    ck_assert_str_eq(line, "/nowhere/a.json: no such file");
}
