#include "io/put_fields.h"

#include "spec/alias.h"
#include "spec/field_each.h"

static const char *type_of(const calc_field *field)
{
    switch (field->type) {
    case CALC_TYPE_INT:
        return "integer";
    case CALC_TYPE_REAL:
        return "number";
    case CALC_TYPE_BOOL:
        return "boolean";
    case CALC_TYPE_ENUM:
        return "choice";
    case CALC_TYPE_SET:
        return "set";
    case CALC_TYPE_CURVE:
        return "curve";
    case CALC_TYPE_OP:
        return "operation";
    case CALC_TYPE_SYSTEM:
        return "system";
    default:
        return field->flags & CALC_STAGES   ? "stages"
               : field->flags & CALC_LAYERS ? "layers"
                                            : "text";
    }
}

static void put_choices(calc_put *put, const calc_field *field)
{
    if (field->type == CALC_TYPE_ENUM || field->type == CALC_TYPE_SET) {
        calc_put_array(put, "choices", CALC_PUT_LINE);
        for (size_t i = 0; field->choices[i]; i++) {
            calc_put_text(put, NULL, field->choices[i]);
        }
        calc_put_close(put);
    }
}

static void put_range(calc_put *put, const calc_field *field)
{
    bool number = field->type == CALC_TYPE_INT || field->type == CALC_TYPE_REAL;
    if (number && field->lo < field->hi) {
        calc_put_number(put, "minimum", field->flags & CALC_OR_ZERO ? 0 : field->lo);
        calc_put_number(put, "maximum", field->hi);
    }
}

/* The meaning of an absent key. */
static void put_default(calc_put *put, const calc_field *field)
{
    switch (field->flags & CALC_OPTIONAL ? field->type : CALC_TYPE_NOTE) {
    case CALC_TYPE_INT:
    case CALC_TYPE_REAL:
        calc_put_number(put, "default", field->absent);
        break;
    case CALC_TYPE_BOOL:
        calc_put_flag(put, "default", false);
        break;
    case CALC_TYPE_ENUM:
        calc_put_text(put, "default", field->choices[0]);
        break;
    case CALC_TYPE_SET:
        calc_put_text(put, "default", "none");
        break;
    default:
        break;
    }
}

static void put_names(calc_put *put, const calc_table *table, const calc_field *field)
{
    const calc_alias *alias = calc_alias_next(table, field->key, NULL);
    if (alias) {
        calc_put_array(put, "also", CALC_PUT_LINE);
        for (; alias; alias = calc_alias_next(table, field->key, alias)) {
            calc_put_text(put, NULL, alias->key);
        }
        calc_put_close(put);
    }
}

/* calc_field_visitor */
static void put_field(void *context, const calc_table *table, const char *path,
                      const calc_field *field)
{
    calc_put *put = context;
    calc_put_object(put, path, CALC_PUT_LINE);
    calc_put_text(put, "type", type_of(field));
    put_choices(put, field);
    put_range(put, field);
    if (field->unit) {
        calc_put_text(put, "unit", field->unit);
    }
    put_default(put, field);
    if (field->flags & CALC_AUTO) {
        calc_put_flag(put, "auto", true);
    }
    if (field->flags & CALC_MORE) {
        calc_put_flag(put, "more_is_better", true);
    }
    put_names(put, table, field);
    calc_put_text(put, "description", field->doc);
    calc_put_close(put);
}

void calc_put_fields(calc_put *put, calc_kind kind)
{
    calc_put_object(put, "fields", CALC_PUT_LINES);
    calc_field_each(calc_table_of(kind), put_field, put);
    calc_put_close(put);
}
