/* JSON of models, machines and executions, and assignments of --set: unit/check_json.txt.
 * "app MEMBERS", "sys MEMBERS" and "exe MEMBERS" read the small documents with more members, "text
 * TEXT" a model, and "set FIELD=VALUE" changes the three documents; the answer is what differs now,
 * or the first error. */
#include "differences.h"
#include "documents.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "calc.h"
#include "frame.h"
#include "io/json_put.h"
#include "io/text.h"

typedef struct documents {
    calc_app app;
    calc_system sys;
    calc_exec exec;
} documents;

static documents now;

static void *document(documents *d, calc_kind kind)
{
    return kind == CALC_KIND_APP      ? (void *)&d->app
           : kind == CALC_KIND_SYSTEM ? (void *)&d->sys
                                      : (void *)&d->exec;
}

static void setup(void)
{
    static const char *const texts[] = {APP_TEXT, SYSTEM_TEXT, EXEC_TEXT};
    for (int kind = 0; kind < 3; kind++) {
        ck_assert_int_eq(calc_parse((calc_kind)kind, document(&now, (calc_kind)kind), texts[kind],
                                    strlen(texts[kind]), "x", NULL),
                         CALC_OK);
    }
}

/* The list of stages or of layers as it is written, which is read as the same. */
static void print_list(const char *key, const documents *before, FILE *out)
{
    char start[32];
    calc_text text = {0};
    calc_output *output;
    calc_exec again;
    ck_assert_int_eq(calc_output_open_memory(&output, &text, NULL), CALC_OK);
    calc_json_save(output, CALC_KIND_EXEC, &now.exec, 0);
    ck_assert_int_eq(calc_output_close(output, NULL), CALC_OK);
    snprintf(start, sizeof start, "\n  \"%s\": ", key);
    const char *list = strstr(text.data, start);
    bool same = memcmp(&before->exec.stages, &now.exec.stages, sizeof now.exec.stages) == 0 &&
                memcmp(&before->exec.layers, &now.exec.layers, sizeof now.exec.layers) == 0;
    if (!same && list) {
        fprintf(out, "%s%.*s\n", start + 1, (int)strcspn(list + 1, "\n") - (int)strlen(start) + 1,
                list + strlen(start));
        ck_assert_int_eq(calc_parse(CALC_KIND_EXEC, &again, text.data, text.length, "x", NULL),
                         CALC_OK);
        ck_assert_mem_eq(&again.stages, &now.exec.stages, sizeof again.stages);
        ck_assert_int_eq(again.layers.count, now.exec.layers.count);
    }
    calc_text_free(&text);
}

/* ---- Answers --------------------------------------------------------------------------------- */

static void answer(const char *said, FILE *out)
{
    static const char *const texts[] = {APP_TEXT, SYSTEM_TEXT, EXEC_TEXT};
    char line[1024], *text = malloc(strlen(said) + 4096);
    documents before = now;
    calc_errors errors = {0};
    calc_field_ref where = {.kind = CALC_KIND_NONE};
    const char *rest = said + 4;
    int length = (int)strlen(rest) - 1, kind = 0;
    calc_status status;
    while (kind < 3 && strncmp(said, calc_kind_name((calc_kind)kind), 3) != 0) {
        kind++;
    }
    if (kind < 3) {
        setup();
        before = now;
        sprintf(text, "%.*s,%.*s%s}", (int)strlen(texts[kind]) - 2, texts[kind], length, rest,
                strchr(rest, '\n') < rest + length ? "\n" : "");
        status = calc_parse((calc_kind)kind, document(&now, (calc_kind)kind), text, strlen(text),
                            "x", &errors);
    } else if (strncmp(said, "text", 4) == 0) {
        status =
            calc_parse(CALC_KIND_APP, &now.app, rest + 1, strlen(rest + 1) - 1, "a.json", &errors);
    } else {
        sprintf(text, "%.*s", length, rest);
        status = calc_set(&now.app, &now.sys, &now.exec, text, &where, &errors);
        ck_assert(status == CALC_OK || memcmp(&before, &now, sizeof now) == 0);
        ck_assert((status == CALC_OK) == (where.kind != CALC_KIND_NONE));
    }
    free(text);
    ck_assert_int_eq(status, errors.count ? errors.item[0].status : CALC_OK);
    for (int i = 0; i < errors.count; i++) {
        calc_error_print(&errors.item[i], line, sizeof line);
        fprintf(out, "%s\n", line);
    }
    if (errors.dropped) {
        fprintf(out, "and %d more\n", errors.dropped);
    }
    if (status == CALC_OK) {
        int count = 0;
        for (int k = 0; k < 3; k++) {
            print_differences((calc_kind)k, document(&before, (calc_kind)k),
                              document(&now, (calc_kind)k), out, &count);
        }
        fputs("\n", out);
        print_list("stages", &before, out);
        print_list("layers", &before, out);
    }
}

const calc_test_frame calc_tests = {
    .setup = setup, .cases = "unit/check_json.txt", .answer = answer};

static calc_status parse_app(const char *text, size_t length, calc_errors *errors)
{
    calc_app app;
    return calc_parse(CALC_KIND_APP, &app, text, length, "a.json", errors);
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

CALC_TEST(application_is_read)
{
    calc_app app;
    ck_assert_int_eq(calc_parse(CALC_KIND_APP, &app, APP_TEXT, strlen(APP_TEXT), "a", NULL),
                     CALC_OK);
    ck_assert_int_eq(app.hidden, 12288);
    ck_assert_int_eq(app.num_blocks, 96);
    ck_assert_int_eq(app.structure_type, CALC_STRUCTURE_TYPE_GPT);
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

CALC_TEST(choices_may_have_their_other_words)
{
    calc_exec exec;
    char text[] = EXEC_TEXT;
    memcpy(strstr(text, "\"multihead\""), "\"mla\"      ", 11);
    ck_assert_int_eq(calc_parse(CALC_KIND_EXEC, &exec, text, strlen(text), "e", NULL), CALC_OK);
    ck_assert_int_eq(exec.strategy.attention_type, CALC_ATTENTION_TYPE_MULTI_LATENT);
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

CALC_TEST(the_field_that_was_set_is_told)
{
    calc_field_ref where;
    ck_assert_int_eq(calc_set(&now.app, &now.sys, &now.exec, "mem1.GBps=3350", &where, NULL),
                     CALC_OK);
    ck_assert_int_eq(where.kind, CALC_KIND_SYSTEM);
    ck_assert_str_eq(where.field->key, "GBps");
    ck_assert_double_eq(calc_field_number(&where, &now.sys), 3350);
}
