#include "io/json_save.h"

#include "io/utf8.h"
#include "spec/absent.h"
#include "spec/field.h"

#include <inttypes.h>
#include <string.h>

enum { STEP = 2 /* spaces per level */ };

static void save_table(calc_output *out, const calc_table *table, const char *object, int indent);

void calc_json_string(calc_output *out, const char *text)
{
    size_t length = strlen(text);
    calc_output_text(out, "\"");
    for (size_t i = 0; i < length;) {
        size_t step = calc_utf8_length(text + i, length - i);
        if (step == 0) {
            calc_output_text(out, "\xef\xbf\xbd"); /* U+FFFD */
            step = 1;
        } else if (text[i] == '"' || text[i] == '\\') {
            calc_output_printf(out, "\\%c", text[i]);
        } else if ((unsigned char)text[i] < 0x20) {
            calc_output_printf(out, "\\u%04x", (unsigned)text[i]);
        } else {
            calc_output_write(out, text + i, step);
        }
        i += step;
    }
    calc_output_text(out, "\"");
}

static void save_number(calc_output *out, double value, double scale)
{
    char text[32];
    calc_output_text(out, calc_number_text(value, scale, text));
}

static void save_curve(calc_output *out, const calc_field *field, const calc_curve *curve)
{
    calc_output_text(out, "[");
    for (int64_t i = 0; i < curve->count; i++) {
        calc_output_text(out, i > 0 ? ", [" : "[");
        save_number(out, curve->threshold[i], calc_field_scale(field));
        calc_output_text(out, ", ");
        save_number(out, curve->efficiency[i], 1);
        calc_output_text(out, "]");
    }
    calc_output_text(out, "]");
}

static void save_op(calc_output *out, const calc_field *field, const calc_network_op *op)
{
    calc_output_text(out, "[");
    save_number(out, op->scalar, 1);
    calc_output_text(out, ", ");
    if (field->flags & CALC_POINT_TO_POINT) {
        calc_output_text(out, "null");
    } else {
        save_number(out, op->offset, 1);
    }
    calc_output_text(out, "]");
}

/* The members of a set, in the order of their choices. */
static void save_set(calc_output *out, const calc_field *field, int64_t set)
{
    bool first = true;
    calc_output_text(out, "[");
    for (size_t i = 0; field->choices[i]; i++) {
        if (set >> i & 1) {
            calc_output_printf(out, "%s\"%s\"", first ? "" : ", ", field->choices[i]);
            first = false;
        }
    }
    calc_output_text(out, "]");
}

static void save_list(calc_output *out, const calc_field *field, const char *member, int indent)
{
    int64_t count = *(const int64_t *)(const void *)(member - field->offset + field->count);
    calc_output_text(out, "[");
    for (int64_t i = 0; i < count; i++) {
        calc_output_printf(out, "%s\n%*s", i > 0 ? "," : "", indent + STEP, "");
        save_table(out, field->table, member + (size_t)i * field->element, indent + STEP);
    }
    calc_output_printf(out, "\n%*s]", indent, "");
}

static bool is_zero(const char *bytes, size_t size)
{
    for (size_t i = 0; i < size; i++) {
        if (bytes[i]) {
            return false;
        }
    }
    return true;
}

/* An element that is all zero is not offered. */
static void save_map(calc_output *out, const calc_field *field, const char *member, int indent)
{
    bool first = true;
    calc_output_text(out, "{");
    for (size_t i = 0; field->choices[i]; i++) {
        const char *element = member + i * field->element;
        if (!is_zero(element, field->element)) {
            calc_output_printf(out, "%s\n%*s\"%s\": ", first ? "" : ",", indent + STEP, "",
                               field->choices[i]);
            save_table(out, field->table, element, indent + STEP);
            first = false;
        }
    }
    calc_output_printf(out, "\n%*s}", indent, "");
}

/* A choice between yes, no and auto is true or false in JSON. */
static void save_choice(calc_output *out, const char *choice)
{
    bool plain = strcmp(choice, "true") == 0 || strcmp(choice, "false") == 0;
    calc_output_printf(out, plain ? "%s" : "\"%s\"", choice);
}

static void save_member(calc_output *out, const calc_field *field, const char *member, int indent)
{
    const void *value = member;
    switch (field->type) {
    case CALC_TYPE_INT:
        calc_output_printf(out, "%" PRId64, *(const int64_t *)value);
        break;
    case CALC_TYPE_REAL:
        save_number(out, *(const double *)value, calc_field_scale(field));
        break;
    case CALC_TYPE_BOOL:
        calc_output_text(out, *(const bool *)value ? "true" : "false");
        break;
    case CALC_TYPE_ENUM:
        save_choice(out, field->choices[*(const int *)value]);
        break;
    case CALC_TYPE_SET:
        save_set(out, field, *(const int64_t *)value);
        break;
    case CALC_TYPE_CURVE:
        save_curve(out, field, value);
        break;
    case CALC_TYPE_OP:
        save_op(out, field, value);
        break;
    case CALC_TYPE_OBJECT:
        save_table(out, field->table, member, indent);
        break;
    case CALC_TYPE_LIST:
        save_list(out, field, member, indent);
        break;
    case CALC_TYPE_MAP:
        save_map(out, field, member, indent);
        break;
    case CALC_TYPE_NOTE:
        break;
    }
}

static bool is_left_out(const calc_field *field, const char *member)
{
    return field->type == CALC_TYPE_NOTE ||
           (field->flags & CALC_OPTIONAL && calc_absent_is(field, member));
}

static void save_table(calc_output *out, const calc_table *table, const char *object, int indent)
{
    bool first = true;
    calc_output_text(out, "{");
    for (size_t i = 0; i < table->count; i++) {
        const calc_field *field = &table->rows[i];
        const char *member = object + field->offset;
        if (!is_left_out(field, member)) {
            calc_output_printf(out, "%s\n%*s\"%s\": ", first ? "" : ",", indent + STEP, "",
                               field->key);
            save_member(out, field, member, indent + STEP);
            first = false;
        }
    }
    calc_output_printf(out, "\n%*s}", indent, "");
}

void calc_json_save(calc_output *out, calc_kind kind, const void *object, int indent)
{
    save_table(out, calc_table_of(kind), object, indent);
}
