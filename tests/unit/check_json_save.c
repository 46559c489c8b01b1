#include "documents.h"
#include "random_struct.h"
#include "scratch.h"

#include "frame.h"
#include "io/json_put.h"
#include "io/text.h"

#include <time.h>

static char folder[256];

static void enter(void)
{
    scratch_enter(folder, sizeof folder);
}

static void leave(void)
{
    scratch_leave(folder);
}

const calc_test_frame calc_tests = {.setup = enter, .teardown = leave};

static void save(calc_kind kind, const void *object, int indent)
{
    calc_output *out;
    ck_assert_int_eq(calc_output_open(&out, "saved", NULL), CALC_OK);
    calc_json_save(out, kind, object, indent);
    ck_assert_int_eq(calc_output_close(out, NULL), CALC_OK);
}

/* What was saved is a text behind the format of the document. */
static void saved_is(const char *text)
{
    char document[8192];
    snprintf(document, sizeof document, "{\n  \"format\": 1,%s", text + 1);
    scratch_is("saved", document);
}

static void text_survives(calc_kind kind, void *object, const char *text)
{
    ck_assert_int_eq(calc_parse(kind, object, text, strlen(text), "x", NULL), CALC_OK);
    save(kind, object, 0);
    saved_is(text);
}

CALC_TEST(documents_are_saved_as_they_were_written)
{
    calc_app app;
    calc_system sys;
    calc_exec exec;
    text_survives(CALC_KIND_APP, &app, APP_TEXT);
    text_survives(CALC_KIND_SYSTEM, &sys, SYSTEM_TEXT);
    text_survives(CALC_KIND_EXEC, &exec, EXEC_TEXT);
}

CALC_TEST(optional_fields_appear_when_they_are_set)
{
    calc_app app = {.hidden = 1, .structure_type = CALC_STRUCTURE_TYPE_LLAMA};
    save(CALC_KIND_APP, &app, 0);
    saved_is("{\n  \"hidden\": 1,\n  \"feedforward\": 0,\n  \"seq_size\": 0,\n"
             "  \"attn_heads\": 0,\n  \"attn_size\": 0,\n  \"num_blocks\": 0,\n"
             "  \"structure_type\": \"llama\"\n}");
}

/* Classic documents with `more` before their end read and are saved as they are. */
static void more_survives(calc_kind kind, void *object, const char *document, const char *more)
{
    char text[4096];
    snprintf(text, sizeof text, "%.*s,\n  %s\n}", (int)strlen(document) - 2, document, more);
    text_survives(kind, object, text);
}

CALC_TEST(optional_fields_of_every_type_are_saved_as_they_were_written)
{
    calc_app app;
    calc_system sys;
    calc_exec exec;
    more_survives(CALC_KIND_APP, &app, APP_TEXT,
                  "\"bias\": false,\n  \"dropout\": true,\n  \"causal\": true,\n"
                  "  \"kv_heads\": 8");
    more_survives(CALC_KIND_SYSTEM, &sys, SYSTEM_TEXT,
                  "\"launch\": {\n    \"vector\": 4e-06\n  },\n  \"mem_reserved_GiB\": 3");
    more_survives(CALC_KIND_EXEC, &exec, EXEC_TEXT,
                  "\"expert_par_net\": 0,\n  \"recompute_modules\": [\"core_attn\", \"mlp\"],\n"
                  "  \"framework_mem\": [\"te_dummy_wgrad\"]");
}

CALC_TEST(what_is_as_if_absent_is_left_out)
{
    calc_system sys;
    calc_exec exec;
    char text[4096];
    snprintf(text, sizeof text, "%.*s, \"launch\": {}, \"overlap\": {\"contention\": 0}}",
             (int)strlen(SYSTEM_TEXT) - 2, SYSTEM_TEXT);
    char *op = strstr(text, "\"all_reduce\"");
    memmove(op + 24, op, strlen(op) + 1);
    memcpy(op, "\"all_to_all\": [1.0, -1],", 24);
    ck_assert_int_eq(calc_parse(CALC_KIND_SYSTEM, &sys, text, strlen(text), "x", NULL), CALC_OK);
    save(CALC_KIND_SYSTEM, &sys, 0);
    saved_is(SYSTEM_TEXT);
    sys.networks[0].ops.all_to_all = (calc_network_op){0};
    save(CALC_KIND_SYSTEM, &sys, 0);
    saved_is(SYSTEM_TEXT);
    snprintf(text, sizeof text, "%.*s, \"expert_par_net\": -1, \"recompute_modules\": []}",
             (int)strlen(EXEC_TEXT) - 2, EXEC_TEXT);
    ck_assert_int_eq(calc_parse(CALC_KIND_EXEC, &exec, text, strlen(text), "x", NULL), CALC_OK);
    save(CALC_KIND_EXEC, &exec, 0);
    saved_is(EXEC_TEXT);
}

CALC_TEST(a_network_operation_that_differs_is_saved)
{
    calc_system sys;
    calc_text text;
    ck_assert_int_eq(
        calc_parse(CALC_KIND_SYSTEM, &sys, SYSTEM_TEXT, strlen(SYSTEM_TEXT), "s", NULL), CALC_OK);
    sys.networks[0].ops.all_to_all = (calc_network_op){1, 0};
    save(CALC_KIND_SYSTEM, &sys, 0);
    ck_assert_int_eq(calc_text_read(&text, "saved", NULL), CALC_OK);
    ck_assert_ptr_nonnull(strstr(text.data, "\"all_to_all\": [1, 0]\n"));
    calc_text_free(&text);
}

CALC_TEST(lines_after_the_first_are_indented)
{
    calc_app app = {.hidden = 1};
    calc_text text;
    save(CALC_KIND_APP, &app, 4);
    ck_assert_int_eq(calc_text_read(&text, "saved", NULL), CALC_OK);
    static const char start[] = "{\n      \"format\": 1,\n      \"hidden\": 1,\n      \"feed";
    ck_assert_int_eq(strncmp(text.data, start, sizeof start - 1), 0);
    ck_assert_str_eq(text.data + text.length - 8, " 0\n    }");
    calc_text_free(&text);
}

CALC_TEST(what_is_not_finite_is_null)
{
    calc_layer_stats layer = {
        .inputs_size = (double)NAN, .outputs_size = HUGE_VAL, .fw_flops = 0.1};
    calc_text text;
    save(CALC_KIND_LAYER, &layer, 0);
    ck_assert_int_eq(calc_text_read(&text, "saved", NULL), CALC_OK);
    ck_assert_ptr_nonnull(strstr(text.data, "\"inputs_size\": null,\n"));
    ck_assert_ptr_nonnull(strstr(text.data, "\"outputs_size\": null,\n"));
    ck_assert_ptr_nonnull(strstr(text.data, "\"fw_flops\": 0.1,\n"));
    calc_text_free(&text);
}

CALC_TEST(random_structs_read_back_to_the_same_bytes)
{
    static const calc_kind kinds[] = {CALC_KIND_APP, CALC_KIND_SYSTEM, CALC_KIND_EXEC};
    union {
        calc_app app;
        calc_system system;
        calc_exec exec;
        char bytes[1];
    } made, read;
    const char *given = getenv("CALC_SEED");
    uint64_t seed = given ? strtoull(given, NULL, 10) : (uint64_t)time(NULL);
    for (uint64_t i = 0; i < 300; i++) {
        calc_rng rng;
        calc_kind kind = kinds[i % 3];
        size_t size = calc_table_of(kind)->size;
        calc_errors errors = {0};
        calc_text text;
        calc_rng_init(&rng, seed, i);
        memset(&made, 0, sizeof made);
        random_table(&rng, calc_table_of(kind), made.bytes);
        save(kind, &made, 0);
        ck_assert_int_eq(calc_text_read(&text, "saved", NULL), CALC_OK);
        calc_status status = calc_parse(kind, &read, text.data, text.length, "saved", &errors);
        if (kind == CALC_KIND_EXEC) {
            read.exec.stated = made.exec.stated; /* of what was read alone */
        }
        ck_assert_msg(status == CALC_OK && memcmp(&made, &read, size) == 0,
                      "CALC_SEED=%llu, struct %llu: %s %s\n%s", (unsigned long long)seed,
                      (unsigned long long)i, errors.item[0].pointer, errors.item[0].text,
                      text.data);
        calc_text_free(&text);
    }
}

CALC_TEST(strings_are_escaped)
{
    calc_output *out;
    ck_assert_int_eq(calc_output_open(&out, "saved", NULL), CALC_OK);
    calc_json_string(out, "a\"b\\c\n\x01\xc3\xa4\xff.");
    calc_json_string(out, "");
    ck_assert_int_eq(calc_output_close(out, NULL), CALC_OK);
    scratch_is("saved", "\"a\\\"b\\\\c\\u000a\\u0001\xc3\xa4\xef\xbf\xbd.\"\"\"");
}
