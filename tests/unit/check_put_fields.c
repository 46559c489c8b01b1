/* What fields may hold, read back with Jansson: src/io/json_put.c. */
#include "io/json_put.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "classic.h"
#include "frame.h"

static json_t *root;

/* The fields of a kind, by path; leave() frees them. */
static json_t *fields_of(calc_kind kind)
{
    calc_errors errors = {0};
    calc_output *out;
    calc_text text;
    ck_assert_int_eq(calc_output_open_memory(&out, &text, &errors), CALC_OK);
    calc_put put = {.out = out, .flat = true};
    calc_put_object(&put, NULL, CALC_PUT_LINE);
    calc_put_fields(&put, kind);
    calc_put_close(&put);
    ck_assert_int_eq(calc_output_close(out, &errors), CALC_OK);
    ck_assert_ptr_null(strchr(text.data, '\n'));
    root = json_loads(text.data, JSON_REJECT_DUPLICATES, NULL);
    calc_text_free(&text);
    ck_assert_ptr_nonnull(root);
    return json_object_get(root, "fields");
}

static void leave(void)
{
    json_decref(root);
    root = NULL;
}

const calc_test_frame calc_tests = {.teardown = leave};

/* One of them, without its description, as JSON. */
static void expect(json_t *fields, const char *path, const char *want)
{
    json_t *field = json_object_get(fields, path);
    json_t *wanted = json_loads(want, 0, NULL);
    ck_assert_msg(field && wanted, "%s", path);
    ck_assert_msg(*json_string_value(json_object_get(field, "description")), "%s", path);
    json_object_del(field, "description");
    char *found = json_dumps(field, 0);
    ck_assert_msg(json_equal(field, wanted), "%s: %s", path, found);
    free(found);
    json_decref(wanted);
}

CALC_TEST(a_field_says_its_type_range_default_and_other_names)
{
    json_t *exe = fields_of(CALC_KIND_EXEC);
    expect(exe, "tensor_par",
           "{\"type\": \"integer\", \"minimum\": 1, \"maximum\": 1000000000, \"also\": [\"tp\"]}");
    expect(exe, "data_par",
           "{\"type\": \"integer\", \"minimum\": 1, \"maximum\": 1000000000, \"auto\": true, "
           "\"also\": [\"dp\"]}");
    expect(exe, "context_par_net",
           "{\"type\": \"integer\", \"minimum\": -1, \"maximum\": 7, \"default\": -1}");
    expect(exe, "weight_offload", "{\"type\": \"boolean\"}");
    expect(exe, "flash_attention", "{\"type\": \"boolean\", \"default\": false}");
    expect(exe, "context_par_type",
           "{\"type\": \"choice\", \"choices\": [\"ring\", \"all_gather\", \"ulysses\", "
           "\"hierarchical\"], \"default\": \"ring\"}");
    expect(exe, "framework_mem",
           "{\"type\": \"set\", \"choices\": [\"te_dummy_wgrad\", \"gemm_workspace\", "
           "\"loss_copies\", \"loss_parallel\", \"logits_gathered\", \"logits_held\", "
           "\"logprobs\", \"wide_scores\"], "
           "\"default\": \"none\"}");
    expect(exe, "recompute_blocks",
           "{\"type\": \"integer\", \"minimum\": 0, \"maximum\": 1000000, \"unit\": \"blocks\", "
           "\"default\": 0}");
    expect(exe, "inference.prefix_hit",
           "{\"type\": \"number\", \"minimum\": 0, \"maximum\": 1, \"default\": 0}");
    expect(exe, "source", "{\"type\": \"text\"}");
    expect(exe, "stages", "{\"type\": \"stages\"}");
    expect(exe, "layers", "{\"type\": \"layers\"}");
}

/* 0 stands for an absent key below the range. */
CALC_TEST(a_range_begins_at_0_where_0_is_allowed)
{
    json_t *factor = json_object_get(fields_of(CALC_KIND_EXEC), "capacity_factor");
    ck_assert(json_number_value(json_object_get(factor, "minimum")) == 0);
    ck_assert(json_number_value(json_object_get(factor, "maximum")) == 1000);
}

CALC_TEST(fields_of_a_machine_are_in_units_of_its_file)
{
    json_t *sys = fields_of(CALC_KIND_SYSTEM);
    json_t *size = json_object_get(sys, "mem1.GiB");
    ck_assert_str_eq(json_string_value(json_object_get(size, "unit")), "GiB");
    ck_assert_str_eq(
        json_string_value(json_object_get(json_object_get(sys, "networks[N].ops.p2p"), "type")),
        "operation");
    json_t *curve = json_object_get(sys, "matrix.DATATYPE.gflops_efficiency");
    ck_assert_str_eq(json_string_value(json_object_get(curve, "type")), "curve");
}

CALC_TEST(a_statistic_says_whether_more_is_better)
{
    json_t *stats = fields_of(CALC_KIND_STATS);
    ck_assert(
        json_is_true(json_object_get(json_object_get(stats, "sample_rate"), "more_is_better")));
    ck_assert_ptr_null(json_object_get(json_object_get(stats, "total_time"), "more_is_better"));
    json_t *also = json_object_get(json_object_get(stats, "total_time"), "also");
    ck_assert_str_eq(json_string_value(json_array_get(also, 0)), "step_time");
    ck_assert_str_eq(json_string_value(json_array_get(also, 1)), "time per step");
}

/* A document has the members that are named, and no others but its format. */
CALC_TEST(what_a_document_holds_are_fields)
{
    calc_exec exec = {CLASSIC_EXEC};
    calc_errors errors = {0};
    calc_output *out;
    calc_text text;
    ck_assert_int_eq(calc_output_open_memory(&out, &text, &errors), CALC_OK);
    calc_json_save(out, CALC_KIND_EXEC, &exec, 0);
    ck_assert_int_eq(calc_output_close(out, &errors), CALC_OK);
    json_t *document = json_loads(text.data, 0, NULL);
    calc_text_free(&text);
    json_t *fields = fields_of(CALC_KIND_EXEC);
    const char *key;
    json_t *value;
    json_object_foreach (document, key, value) {
        ck_assert_msg(json_object_get(fields, key) || strcmp(key, "format") == 0, "%s", key);
    }
    json_decref(document);
}
