#include "io/schema.h"

#include <string.h>

#include "io/json_runs.h"
#include "spec/alias.h"
#include "spec/field.h"

#define TEXT_OF(number) TEXT_OF_(number)
#define TEXT_OF_(number) #number
/* Of documents, whose other members are fields. */
#define FORMAT                                                                                     \
    "\n        \"format\": {\"type\": \"integer\", \"minimum\": 1, \"maximum\": " TEXT_OF(         \
        CALC_FORMAT) ", \"description\": \"of the document\"},"

enum { STEP = 2 /* spaces per level */ };

static void write_number(calc_output *out, const char *key, double value)
{
    calc_output_printf(out, ", \"%s\": %s", key, CALC_NUMBER(value));
}

static void write_range(calc_output *out, const calc_field *field)
{
    if (field->lo < field->hi) {
        bool below = field->flags & CALC_BELOW_HI;
        bool or_zero = field->flags & CALC_OR_ZERO;
        calc_output_text(out, or_zero ? ", \"anyOf\": [{\"const\": 0}, {\"type\": \"number\"" : "");
        write_number(out, "minimum", field->lo);
        calc_output_text(out, or_zero ? "}]" : "");
        write_number(out, below ? "exclusiveMaximum" : "maximum", field->hi);
    }
}

/* The choices, their other names, and true and false where they are choices. */
static void write_choices(calc_output *out, const char *const *choices)
{
    calc_output_text(out, "{\"enum\": [");
    for (size_t i = 0; choices[i]; i++) {
        const char *other = calc_alias_of_choice(choices[i]);
        bool plain = strcmp(choices[i], "true") == 0 || strcmp(choices[i], "false") == 0;
        calc_output_printf(out, "%s\"%s\"", i ? ", " : "", choices[i]);
        if (plain) {
            calc_output_printf(out, ", %s", choices[i]);
        }
        if (other) {
            calc_output_printf(out, ", \"%s\"", other);
        }
    }
    calc_output_text(out, "]}");
}

/* Choices as an array, or one text with "+" between them. */
static void write_set(calc_output *out, const char *const *choices)
{
    size_t count = 0;
    calc_output_text(out, "{\"anyOf\": [{\"type\": \"array\", \"items\": ");
    write_choices(out, choices);
    while (choices[count]) {
        count++;
    }
    calc_output_printf(out, ", \"maxItems\": %zu}, {\"type\": \"string\", \"pattern\": \"^(none|(",
                       count);
    for (size_t i = 0; i < count; i++) {
        calc_output_printf(out, "%s%s", i ? "|" : "", choices[i]);
    }
    calc_output_text(out, "|\\\\+)*)$\"}]}");
}

static void write_pair(calc_output *out, const char *first, const char *second)
{
    calc_output_printf(out,
                       "{\"type\": \"array\", \"prefixItems\": [{%s}, {%s}], \"minItems\": 2, "
                       "\"maxItems\": 2}",
                       first, second);
}

/* Parts of layers, or a pattern over them. */
static void write_stack(calc_output *out, const calc_field *field, int indent)
{
    if (strcmp(field->key, "parts") != 0) {
        calc_output_text(out, "{\"type\": \"string\", \"minLength\": 1}");
        return;
    }
    calc_output_text(out, "{\"type\": \"object\", \"additionalProperties\": {\"anyOf\": [");
    write_choices(out, calc_part_type_names);
    calc_output_text(out, ", ");
    calc_schema_object(out, calc_part_table(), "", indent);
    calc_output_printf(out, "]}, \"maxProperties\": %d}", CALC_MAX_PARTS);
}

static void write_map(calc_output *out, const calc_field *field, int indent)
{
    calc_output_text(out, "{\"type\": \"object\", \"properties\": {");
    for (size_t i = 0; field->choices[i]; i++) {
        calc_output_printf(out, "%s\n%*s\"%s\": ", i ? "," : "", indent + STEP, "",
                           field->choices[i]);
        calc_schema_object(out, field->table, "", indent + STEP);
    }
    calc_output_printf(out, "\n%*s}, \"minProperties\": 1, \"additionalProperties\": false}",
                       indent, "");
}

void calc_schema_value(calc_output *out, const calc_field *field, int indent)
{
    switch (field->type) {
    case CALC_TYPE_INT:
    case CALC_TYPE_REAL:
        calc_output_printf(out, "{\"type\": \"%s\"",
                           field->type == CALC_TYPE_INT ? "integer" : "number");
        write_range(out, field);
        calc_output_text(out, "}");
        break;
    case CALC_TYPE_BOOL:
        calc_output_text(out, "{\"type\": \"boolean\"}");
        break;
    case CALC_TYPE_ENUM:
        write_choices(out, field->choices);
        break;
    case CALC_TYPE_SET:
        write_set(out, field->choices);
        break;
    case CALC_TYPE_CURVE:
        calc_output_text(out, "{\"type\": \"array\", \"items\": ");
        write_pair(out, "\"type\": \"number\", \"minimum\": 0, \"maximum\": 1e15",
                   "\"type\": \"number\", \"minimum\": 1e-06, \"maximum\": 1");
        calc_output_printf(out, ", \"minItems\": 1, \"maxItems\": %d}", CALC_MAX_CURVE_STEPS);
        break;
    case CALC_TYPE_OP:
        write_pair(out, "\"type\": \"number\", \"minimum\": 1e-06, \"maximum\": 1000000",
                   field->flags & CALC_POINT_TO_POINT
                       ? "\"type\": \"null\""
                       : "\"type\": \"number\", \"minimum\": -1, \"maximum\": 1000000");
        break;
    case CALC_TYPE_OBJECT:
        calc_schema_object(out, field->table, "", indent);
        break;
    case CALC_TYPE_LIST:
        calc_output_text(out, "{\"type\": \"array\", \"items\": ");
        calc_schema_object(out, field->table, "", indent);
        calc_output_printf(out, ", \"minItems\": 1, \"maxItems\": %d}", CALC_MAX_NETWORKS);
        break;
    case CALC_TYPE_MAP:
        write_map(out, field, indent);
        break;
    case CALC_TYPE_ENGINE:
        calc_output_printf(out, "{\"type\": \"string\", \"minLength\": 1, \"maxLength\": %d}",
                           CALC_SOFTWARE_NAME - 1);
        break;
    case CALC_TYPE_SYSTEM:
        calc_output_printf(out, "{\"type\": \"string\", \"minLength\": 1, \"maxLength\": %zu}",
                           sizeof((calc_other_system *)0)->name - 1);
        break;
    case CALC_TYPE_NOTE:
        if (field->flags & CALC_STACK) {
            write_stack(out, field, indent);
        } else if (field->flags & CALC_SOFTWARE) {
            calc_output_printf(out, "{\"type\": \"string\", \"minLength\": 1, \"maxLength\": %d}",
                               CALC_SOFTWARE_NAME - 1);
        } else if (field->flags & (CALC_STAGES | CALC_LAYERS)) {
            calc_json_runs_schema(out, field->flags & CALC_LAYERS);
        } else {
            calc_output_text(out, "{\"type\": \"string\"}");
        }
        break;
    }
}

/* A value and its description. */
static void write_property(calc_output *out, const calc_table *table, const calc_field *field,
                           int indent)
{
    char text[64];
    calc_output_printf(out, "\n%*s\"%s\": {\"description\": ", indent, "", field->key);
    calc_json_string(out, field->doc);
    if (field->unit) {
        calc_output_text(out, ", \"unit\": ");
        calc_json_string(out, field->unit);
    }
    const char *absent = calc_json_absent_text(field, "[]", text);
    if (absent) {
        calc_output_printf(out, ", \"default\": %s", absent);
    }
    bool automatic = field->flags & CALC_AUTO;
    calc_output_text(out, automatic ? ", \"anyOf\": [{\"const\": \"auto\"}, " : ", \"allOf\": [");
    /* Whether the table describes answers of calc, not input. */
    if ((table->count > 0 && table->rows[0].where != NULL) && field->type == CALC_TYPE_REAL) {
        calc_output_text(out, "{\"type\": [\"number\", \"null\"]}");
    } else {
        calc_schema_value(out, field, indent);
    }
    calc_output_text(out, "]}");
}

/* The other name of a field; a count of things is a number of them. */
static void write_alias(calc_output *out, const calc_field *field, const calc_alias *alias,
                        int indent)
{
    calc_output_printf(out, ",\n%*s\"%s\": {\"description\": \"another name of %s%s%s\", ", indent,
                       "", alias->key, field->key, alias->times[0] ? ", over " : "",
                       alias->times[0] ? alias->times[0] : "");
    if (alias->times[0]) {
        calc_output_text(out, "\"type\": \"integer\", \"minimum\": 0, \"maximum\": 1000000}");
        return;
    }
    calc_output_text(out, "\"allOf\": [");
    calc_schema_value(out, field, indent);
    calc_output_text(out, "]}");
}

static void write_required(calc_output *out, const calc_table *table, bool named)
{
    const char *glue = "";
    calc_output_text(out, "\"required\": [");
    if (named) {
        calc_output_text(out, "\"name\"");
        glue = ", ";
    }
    for (size_t i = 0; i < table->count; i++) {
        bool other = calc_alias_of(table, table->rows[i].key) != NULL;
        if (!(table->rows[i].flags & CALC_OPTIONAL) && !other) {
            calc_output_printf(out, "%s\"%s\"", glue, table->rows[i].key);
            glue = ", ";
        }
    }
    calc_output_text(out, "]");
}

/* A field has one name in a file: at most, or exactly if it must be there. */
static void write_exclusions(calc_output *out, const calc_table *table, int indent)
{
    const char *glue = ",\n";
    for (size_t i = 0; i < table->count; i++) {
        const calc_alias *alias = calc_alias_of(table, table->rows[i].key);
        if (alias) {
            bool optional = table->rows[i].flags & CALC_OPTIONAL;
            calc_output_printf(out, "%s%*s%s", glue, glue[1] == '\n' ? indent : 0, "",
                               glue[1] == '\n' ? "\"allOf\": [" : "");
            calc_output_printf(out,
                               optional ? "{\"not\": {\"required\": [\"%s\", \"%s\"]}}"
                                        : "{\"oneOf\": [{\"required\": [\"%s\"]}, "
                                          "{\"required\": [\"%s\"]}]}",
                               alias->key, alias->field);
            glue = ", ";
        }
    }
    calc_output_text(out, glue[1] == '\n' ? "" : "]");
}

void calc_schema_object(calc_output *out, const calc_table *table, const char *first, int indent)
{
    int inner = indent + STEP;
    calc_output_printf(out, "{\n%*s\"type\": \"object\",\n%*s\"properties\": {%s", inner, "", inner,
                       "", first);
    for (size_t i = 0; i < table->count; i++) {
        const calc_field *field = &table->rows[i];
        const calc_alias *alias = calc_alias_of(table, field->key);
        calc_output_text(out, i ? "," : "");
        write_property(out, table, field, inner + STEP);
        if (alias) {
            write_alias(out, field, alias, inner + STEP);
        }
    }
    calc_output_printf(out, "\n%*s},\n%*s", inner, "", inner, "");
    write_required(out, table, table == calc_table_of(CALC_KIND_LAYER) && *first);
    write_exclusions(out, table, inner);
    calc_output_printf(out, ",\n%*s\"additionalProperties\": false\n%*s}", inner, "", indent, "");
}

static void write_table(calc_output *out, const calc_table *table, const char *title,
                        const char *first)
{
    calc_output_printf(out,
                       "{\n  \"$schema\": \"" CALC_SCHEMA_DIALECT "\",\n"
                       "  \"$id\": \"urn:calc:schema:%s:" CALC_VERSION "\",\n  \"title\": ",
                       table->name);
    calc_json_string(out, title);
    calc_output_text(out, ",\n");
    calc_output_text(out, "  \"$ref\": \"#/$defs/document\",\n  \"$defs\": {\n    \"document\": ");
    calc_schema_object(out, table, first, 4);
    calc_output_text(out, "\n  }\n}\n");
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
    write_table(out, calc_table_of(kind), titles[kind],
                kind == CALC_KIND_LAYER  ? "\n        \"name\": {\"type\": \"string\"},"
                : kind <= CALC_KIND_EXEC ? FORMAT
                                         : "");
}

void calc_schema_write_engine(calc_output *out)
{
    write_table(out, calc_serving_engine_table(), "calc: a serving engine", FORMAT);
}
