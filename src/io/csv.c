#include "io/csv.h"

#include "spec/field.h"
#include "spec/value_text.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

void calc_csv_text(calc_output *out, const char *text, bool first)
{
    calc_output_text(out, first ? "" : ",");
    if (!strpbrk(text, ",\"\r\n")) {
        calc_output_text(out, text);
        return;
    }
    calc_output_text(out, "\"");
    for (; *text; text++) {
        calc_output_write(out, "\"", *text == '"');
        calc_output_write(out, text, 1);
    }
    calc_output_text(out, "\"");
}

static bool is_scalar(const calc_field *field)
{
    return field->type == CALC_TYPE_INT || field->type == CALC_TYPE_REAL ||
           field->type == CALC_TYPE_BOOL || field->type == CALC_TYPE_ENUM ||
           field->type == CALC_TYPE_SET || field->type == CALC_TYPE_SYSTEM ||
           field->type == CALC_TYPE_ENGINE;
}

/* @return whether the next column is still the first */
static bool header(calc_output *out, const calc_table *table, const char *prefix, bool first)
{
    for (size_t i = 0; i < table->count; i++) {
        const calc_field *field = &table->rows[i];
        char path[128];
        if (is_scalar(field)) {
            snprintf(path, sizeof path, "%s%s", prefix, field->key);
            calc_csv_text(out, path, first);
            first = false;
        } else if (field->type == CALC_TYPE_OBJECT) {
            snprintf(path, sizeof path, "%s%s.", prefix, field->key);
            first = header(out, field->table, path, first);
        }
    }
    return first;
}

void calc_csv_header(calc_output *out, calc_kind kind, bool first)
{
    header(out, calc_table_of(kind), "", first);
}

static const char *cell(const calc_field *field, const char *member, char *buffer)
{
    const void *value = member;
    switch (field->type) {
    case CALC_TYPE_BOOL:
        return *(const bool *)value ? "true" : "false";
    case CALC_TYPE_ENUM:
        return field->choices[*(const int *)value];
    case CALC_TYPE_SET:
        return calc_choice_set_text(field->choices, *(const int64_t *)value, buffer);
    case CALC_TYPE_SYSTEM:
        return value;
    case CALC_TYPE_ENGINE:
        return *member ? value : "none";
    case CALC_TYPE_REAL:
        if (!isfinite(*(const double *)value)) {
            return "";
        }
        return calc_number_text(*(const double *)value, calc_field_scale(field), buffer);
    default:
        return calc_number_text(calc_member_number(field, member), 1, buffer);
    }
}

static bool values(calc_output *out, const calc_table *table, const char *object, bool first)
{
    for (size_t i = 0; i < table->count; i++) {
        const calc_field *field = &table->rows[i];
        char buffer[CALC_CHOICE_SET_SIZE];
        if (is_scalar(field)) {
            calc_csv_text(out, cell(field, object + field->offset, buffer), first);
            first = false;
        } else if (field->type == CALC_TYPE_OBJECT) {
            first = values(out, field->table, object + field->offset, first);
        }
    }
    return first;
}

void calc_csv_values(calc_output *out, calc_kind kind, const void *object, bool first)
{
    values(out, calc_table_of(kind), object, first);
}
