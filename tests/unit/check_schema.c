/* Schemas of the tables, read back with Jansson. tests/schema has a validator of its own check the
   shipped files against them. */
#include "io/schema.h"

#include <jansson.h>
#include <string.h>

#include "frame.h"
#include "scratch.h"
#include "spec/alias.h"
#include "spec/field.h"

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

static const calc_field *field_of(calc_kind kind, const char *key)
{
    const calc_field *field = calc_table_find(calc_table_of(kind), key);
    ck_assert_msg(field, "%s", key);
    return field;
}

static void value_is(calc_kind kind, const char *key, const char *schema)
{
    calc_output *out;
    ck_assert_int_eq(calc_output_open(&out, "value", NULL), CALC_OK);
    calc_put put = calc_put_to(out);
    calc_schema_value(&put, NULL, field_of(kind, key));
    ck_assert_int_eq(calc_output_close(out, NULL), CALC_OK);
    scratch_is("value", schema);
}

CALC_TEST(values_have_their_type_and_range)
{
    value_is(CALC_KIND_APP, "hidden",
             "{\"type\": \"integer\", \"minimum\": 1, \"maximum\": 1000000000}");
    value_is(CALC_KIND_EXEC, "training", "{\"type\": \"boolean\"}");
    value_is(CALC_KIND_SYSTEM, "processing_mode", "{\"enum\": [\"roofline\", \"no_overlap\"]}");
    const calc_field *network = field_of(CALC_KIND_SYSTEM, "networks");
    calc_output *out;
    ck_assert_int_eq(calc_output_open(&out, "value", NULL), CALC_OK);
    calc_put put = calc_put_to(out);
    calc_schema_value(&put, NULL, calc_table_find(network->table, "bandwidth"));
    ck_assert_int_eq(calc_output_close(out, NULL), CALC_OK);
    scratch_is("value", "{\"type\": \"number\", \"minimum\": 1e-06, \"maximum\": 1000000000}");
    value_is(
        CALC_KIND_EXEC, "software_efficiency",
        "{\"type\": \"number\", \"anyOf\": [{\"const\": 0}, {\"type\": \"number\", \"minimum\": "
        "1e-06}], \"maximum\": 2}");
}

CALC_TEST(choices_have_their_other_words_and_plain_true_and_false)
{
    value_is(CALC_KIND_EXEC, "attention_type",
             "{\"enum\": [\"multihead\", \"multiquery\", \"flash\", \"grouped_query\", "
             "\"groupquery\", \"multi_latent\", \"mla\"]}");
    value_is(CALC_KIND_EXEC, "param_gather_overlap",
             "{\"enum\": [\"auto\", \"true\", true, \"false\", false]}");
}

static json_t *schema_of(calc_kind kind)
{
    calc_output *out;
    ck_assert_int_eq(calc_output_open(&out, "schema", NULL), CALC_OK);
    calc_schema_write(out, kind);
    ck_assert_int_eq(calc_output_close(out, NULL), CALC_OK);
    json_error_t error;
    json_t *schema = json_load_file("schema", JSON_REJECT_DUPLICATES, &error);
    ck_assert_msg(schema, "%d: %s", error.line, error.text);
    ck_assert_str_eq(json_string_value(json_object_get(schema, "$schema")), CALC_SCHEMA_DIALECT);
    return schema;
}

static json_t *document(json_t *schema)
{
    return json_object_get(json_object_get(schema, "$defs"), "document");
}

static bool lists(const json_t *array, const char *text)
{
    size_t i;
    json_t *item;
    json_array_foreach (array, i, item) {
        if (strcmp(json_string_value(item), text) == 0) {
            return true;
        }
    }
    return false;
}

static void check_field(const json_t *properties, const json_t *required, const calc_field *field,
                        bool other_name)
{
    const json_t *property = json_object_get(properties, field->key);
    ck_assert_msg(property, "%s", field->key);
    ck_assert_str_eq(json_string_value(json_object_get(property, "description")), field->doc);
    const json_t *unit = json_object_get(property, "unit");
    ck_assert_msg((unit != NULL) == (field->unit != NULL), "%s", field->key);
    ck_assert(!unit || strcmp(json_string_value(unit), field->unit) == 0);
    bool optional = field->flags & CALC_OPTIONAL;
    ck_assert_msg(lists(required, field->key) == (!optional && !other_name), "%s", field->key);
    const json_t *absent = json_object_get(property, "default");
    ck_assert_msg(!absent || optional, "%s", field->key);
    if (optional && field->type == CALC_TYPE_ENUM) {
        ck_assert_str_eq(json_string_value(absent), field->choices[0]);
    }
    if (optional && (field->type == CALC_TYPE_INT || field->type == CALC_TYPE_REAL)) {
        ck_assert_double_eq(json_number_value(absent), field->absent);
    }
}

/* Every row is a property with its words; nothing else is but other names of them. */
static void check_object(const json_t *object, const calc_table *table, size_t more)
{
    const json_t *properties = json_object_get(object, "properties");
    const json_t *required = json_object_get(object, "required");
    size_t aliases = 0;
    ck_assert(json_is_false(json_object_get(object, "additionalProperties")));
    for (size_t i = 0; i < table->count; i++) {
        const calc_field *field = &table->rows[i];
        bool answer = table == calc_table_of(CALC_KIND_STATS);
        check_field(properties, required, field, !answer && field->also[0]);
        for (const char *const *also = field->also; *also && !answer; also++, aliases++) {
            ck_assert_msg(json_object_get(properties, *also), "%s", *also);
            ck_assert_msg(!lists(required, *also), "%s", *also);
        }
    }
    ck_assert_uint_eq(json_object_size(properties), table->count + aliases + more);
    ck_assert_uint_eq(json_array_size(json_object_get(object, "allOf")), aliases);
}

CALC_TEST(every_row_of_every_kind_is_a_property)
{
    for (calc_kind kind = CALC_KIND_APP; kind < CALC_KIND_COUNT; kind++) {
        json_t *schema = schema_of(kind);
        /* "format" of a document, "name" of a layer */
        bool more = kind <= CALC_KIND_EXEC || kind == CALC_KIND_LAYER;
        check_object(document(schema), calc_table_of(kind), more);
        json_decref(schema);
    }
}

CALC_TEST(tables_inside_are_objects_of_their_own)
{
    json_t *schema = schema_of(CALC_KIND_SYSTEM);
    const calc_field *networks = field_of(CALC_KIND_SYSTEM, "networks");
    const json_t *property =
        json_object_get(json_object_get(document(schema), "properties"), "networks");
    const json_t *list = json_array_get(json_object_get(property, "allOf"), 0);
    ck_assert_str_eq(json_string_value(json_object_get(list, "type")), "array");
    ck_assert_int_eq(json_integer_value(json_object_get(list, "maxItems")), CALC_MAX_NETWORKS);
    check_object(json_object_get(list, "items"), networks->table, 0);
    json_decref(schema);
}

CALC_TEST(a_field_and_its_other_name_exclude_each_other)
{
    json_t *schema = schema_of(CALC_KIND_APP);
    const json_t *all = json_object_get(document(schema), "allOf");
    size_t i, found = 0;
    json_t *rule;
    json_array_foreach (all, i, rule) {
        const json_t *both = json_object_get(json_object_get(rule, "not"), "required");
        ck_assert_uint_eq(json_array_size(both), 2);
        found += lists(both, "num_shared_experts") && lists(both, "shared_feedforward");
    }
    ck_assert_uint_eq(found, 1);
    json_decref(schema);
}

CALC_TEST(numbers_that_are_answered_may_be_null)
{
    json_t *schema = schema_of(CALC_KIND_STATS);
    const json_t *properties = json_object_get(document(schema), "properties");
    const json_t *time = json_object_get(json_object_get(properties, "total_time"), "allOf");
    const json_t *types = json_object_get(json_array_get(time, 0), "type");
    ck_assert(lists(types, "number") && lists(types, "null"));
    json_decref(schema);
}
