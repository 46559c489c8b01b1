#include "io/schema.h"

#include <string.h>

#include "base/buffer.h"
#include "io/json_runs.h"
#include "spec/alias.h"
#include "spec/field.h"

static void put_range(calc_put *put, const calc_field *field)
{
    bool or_zero = field->flags & CALC_OR_ZERO;
    if (field->lo >= field->hi) {
        return;
    }
    if (or_zero) {
        calc_putf(put, "anyOf: [{const: %d} {type: %s", 0, "number");
    }
    calc_put_number(put, "minimum", field->lo);
    if (or_zero) {
        calc_putf(put, "}]");
    }
    calc_put_number(put, field->flags & CALC_BELOW_HI ? "exclusiveMaximum" : "maximum", field->hi);
}

/* The choices, their other names, and true and false where they are choices. */
static void put_choices(calc_put *put, const char *key, const char *const *choices)
{
    calc_put_object(put, key, CALC_PUT_LINE);
    calc_put_array(put, "enum", CALC_PUT_LINE);
    for (size_t i = 0; choices[i]; i++) {
        const char *other = calc_alias_of_choice(choices[i]);
        calc_put_text(put, NULL, choices[i]);
        if (strcmp(choices[i], "true") == 0 || strcmp(choices[i], "false") == 0) {
            calc_put_raw(put, NULL, choices[i]);
        }
        if (other) {
            calc_put_text(put, NULL, other);
        }
    }
    calc_putf(put, "]}");
}

/* Choices as an array, or one text with "+" between them. */
static void put_set(calc_put *put, const char *const *choices)
{
    char pattern[1024] = "^(none|(";
    calc_putf(put, "anyOf: [{type: %s", "array");
    put_choices(put, "items", choices);
    for (size_t i = 0; choices[i]; i++) {
        calc_append(pattern, sizeof pattern, "%s|", choices[i]);
    }
    calc_append(pattern, sizeof pattern, "\\+)*)$");
    calc_putf(put, "maxItems: %zu} {type: %s, pattern: %s}]", calc_choices_count(choices), "string",
              pattern);
}

/* Parts of layers, or a pattern over them. */
static void put_stack(calc_put *put, const calc_field *field)
{
    if (strcmp(field->key, "parts") != 0) {
        calc_putf(put, "type: %s, minLength: %d", "string", 1);
        return;
    }
    calc_putf(put, "type: %s, additionalProperties: {anyOf: [", "object");
    put_choices(put, NULL, calc_part_type_names);
    calc_schema_object(put, NULL, calc_part_table(), false);
    calc_putf(put, "]} maxProperties: %d", CALC_MAX_PARTS);
}

/* Members of the schema of a value. */
static void put_value(calc_put *put, const calc_field *field)
{
    bool point_to_point = field->flags & CALC_POINT_TO_POINT;
    switch (field->type) {
    case CALC_TYPE_INT:
    case CALC_TYPE_REAL:
        calc_put_text(put, "type", field->type == CALC_TYPE_INT ? "integer" : "number");
        put_range(put, field);
        break;
    case CALC_TYPE_BOOL:
        calc_put_text(put, "type", "boolean");
        break;
    case CALC_TYPE_SET:
        put_set(put, field->choices);
        break;
    case CALC_TYPE_CURVE:
        calc_putf(put, "type: %s, items: {type: %s, prefixItems: [", "array", "array");
        calc_put_raw(put, NULL, "{\"type\": \"number\", \"minimum\": 0, \"maximum\": 1e15}");
        calc_putf(put, "{type: %s, minimum: %g, maximum: %d}]", "number", 1e-6, 1);
        calc_putf(put, "minItems: %d, maxItems: %d} minItems: %d, maxItems: %d", 2, 2, 1,
                  CALC_MAX_CURVE_STEPS);
        break;
    case CALC_TYPE_OP:
        calc_putf(put, "type: %s, prefixItems: [{type: %s, minimum: %g, maximum: %d} {type: %s",
                  "array", "number", 1e-6, 1000000, point_to_point ? "null" : "number");
        if (!point_to_point) {
            calc_putf(put, "minimum: %d, maximum: %d", -1, 1000000);
        }
        calc_putf(put, "}] minItems: %d, maxItems: %d", 2, 2);
        break;
    case CALC_TYPE_LIST:
        calc_put_text(put, "type", "array");
        calc_schema_object(put, "items", field->table, false);
        calc_putf(put, "minItems: %d, maxItems: %d", 1, CALC_MAX_NETWORKS);
        break;
    case CALC_TYPE_MAP:
        calc_putf(put, "type: %s, properties: {\n", "object");
        for (size_t i = 0; field->choices[i]; i++) {
            calc_schema_object(put, field->choices[i], field->table, false);
        }
        calc_putf(put, "} minProperties: %d, additionalProperties?: %d", 1, false);
        break;
    default:
        if (field->flags & CALC_STACK) {
            put_stack(put, field);
        } else {
            calc_put_text(put, "type", "string");
        }
        if (field->type != CALC_TYPE_NOTE || field->flags & CALC_SOFTWARE) {
            const calc_other_system *system = NULL;
            calc_putf(put, "minLength: %d, maxLength: %zu", 1,
                      field->type == CALC_TYPE_SYSTEM ? sizeof system->name - 1
                                                      : CALC_SOFTWARE_NAME - 1);
        }
    }
}

void calc_schema_value(calc_put *put, const char *key, const calc_field *field)
{
    if (field->type == CALC_TYPE_ENUM) {
        put_choices(put, key, field->choices);
    } else if (field->type == CALC_TYPE_OBJECT) {
        calc_schema_object(put, key, field->table, false);
    } else if (field->flags & (CALC_STAGES | CALC_LAYERS)) {
        calc_json_runs_schema(put, key, field->flags & CALC_LAYERS);
    } else {
        calc_put_object(put, key, CALC_PUT_LINE);
        put_value(put, field);
        calc_put_close(put);
    }
}

/* A value and its description. */
static void put_property(calc_put *put, const calc_table *table, const calc_field *field)
{
    char text[64];
    bool automatic = field->flags & CALC_AUTO;
    bool answers = table->rows[0].where != NULL; /* of calc: the table describes no input */
    const char *absent = calc_json_absent_text(field, "[]", text);
    calc_put_object(put, field->key, CALC_PUT_LINE);
    calc_put_text(put, "description", field->doc);
    if (field->unit) {
        calc_put_text(put, "unit", field->unit);
    }
    if (absent) {
        calc_put_raw(put, "default", absent);
    }
    if (automatic) {
        calc_putf(put, "anyOf: [{const: %s}", "auto");
    } else {
        calc_putf(put, "allOf: [");
    }
    if (answers && field->type == CALC_TYPE_REAL) {
        calc_put_raw(put, NULL, "{\"type\": [\"number\", \"null\"]}");
    } else {
        calc_schema_value(put, NULL, field);
    }
    calc_putf(put, "]}");
}

/* The other names of a field, NULL at the end; what describes answers has none, and parts count
 * nothing. */
static const char *const *others_of(const calc_table *table, const calc_field *field)
{
    static const char *const none[] = {NULL};
    bool counts = table == calc_part_table() && field->times[0];
    return counts || table == calc_table_of(CALC_KIND_STATS) ? none : field->also;
}

/* Another name of a field; a count of things is a number of them. */
static void put_alias(calc_put *put, const calc_field *field, const char *also)
{
    const char *times = field->times[0] ? field->times[0] : "";
    calc_put_object(put, also, CALC_PUT_LINE);
    calc_put_text(
        put, "description",
        CALC_TEXT(192, "another name of %s%s%s", field->key, *times ? ", over " : "", times));
    if (*times) {
        calc_putf(put, "type: %s, minimum: %d, maximum: %d", "integer", 0, 1000000);
    } else {
        calc_putf(put, "allOf: [");
        calc_schema_value(put, NULL, field);
        calc_putf(put, "]");
    }
    calc_put_close(put);
}

static void put_required(calc_put *put, const calc_table *table, bool named)
{
    calc_put_array(put, "required", CALC_PUT_LINE);
    if (named) {
        calc_put_text(put, NULL, "name");
    }
    for (size_t i = 0; i < table->count; i++) {
        const calc_field *field = &table->rows[i];
        if (!(field->flags & CALC_OPTIONAL) && !*others_of(table, field)) {
            calc_put_text(put, NULL, field->key);
        }
    }
    calc_put_close(put);
}

/* A field has one name in a file: at most, or exactly if it must be there. */
static void put_exclusions(calc_put *put, const calc_table *table)
{
    bool any = false;
    for (size_t i = 0; i < table->count; i++) {
        const calc_field *field = &table->rows[i];
        for (const char *const *also = others_of(table, field); *also; also++) {
            if (!any) {
                calc_put_array(put, "allOf", CALC_PUT_LINE);
            }
            any = true;
            calc_putf(put,
                      field->flags & CALC_OPTIONAL ? "{not: {required: [%s, %s]}}"
                                                   : "{oneOf: [{required: [%s]} {required: [%s]}]}",
                      *also, field->key);
        }
    }
    if (any) {
        calc_put_close(put);
    }
}

void calc_schema_object(calc_put *put, const char *key, const calc_table *table, bool document)
{
    bool named = table == calc_table_of(CALC_KIND_LAYER);
    calc_put_object(put, key, CALC_PUT_LINES);
    calc_putf(put, "type: %s, properties: {\n", "object");
    if (named) {
        calc_putf(put, "name: {type: %s}", "string");
    } else if (document) {
        calc_putf(put, "format: {type: %s, minimum: %d, maximum: %d, description: %s}", "integer",
                  1, CALC_FORMAT, "of the document");
    }
    for (size_t i = 0; i < table->count; i++) {
        const calc_field *field = &table->rows[i];
        put_property(put, table, field);
        for (const char *const *also = others_of(table, field); *also; also++) {
            put_alias(put, field, *also);
        }
    }
    calc_put_close(put);
    put_required(put, table, named);
    put_exclusions(put, table);
    calc_putf(put, "additionalProperties?: %d}", false);
}

static void write_table(calc_output *out, const calc_table *table, const char *title, bool document)
{
    calc_put put = calc_put_to(out);
    calc_putf(&put, "{\n$schema: %s, $id: %s, title: %s, $ref: %s, $defs: {\n", CALC_SCHEMA_DIALECT,
              CALC_TEXT(64, "urn:calc:schema:%s:" CALC_VERSION, table->name), title,
              "#/$defs/document");
    calc_schema_object(&put, "document", table, document);
    calc_put_close(&put);
    calc_put_end(&put);
}

void calc_schema_write(calc_output *out, calc_kind kind)
{
    static const char *const titles[CALC_KIND_COUNT] = {
        [CALC_KIND_APP] = "calc: a model",
        [CALC_KIND_SYSTEM] = "calc: a system",
        [CALC_KIND_EXEC] = "calc: an execution",
        [CALC_KIND_STATS] = "calc: the statistics of a run",
        [CALC_KIND_LAYER] = "calc: the statistics of a layer",
        [CALC_KIND_STAGE] = "calc: the statistics of a pipeline stage",
    };
    write_table(out, calc_table_of(kind), titles[kind], kind <= CALC_KIND_EXEC);
}

void calc_schema_write_engine(calc_output *out)
{
    write_table(out, calc_serving_engine_table(), "calc: a serving engine", true);
}
