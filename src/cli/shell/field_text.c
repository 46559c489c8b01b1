#include "cli/shell/field_text.h"

#include <stdio.h>
#include <string.h>

#include "base/buffer.h"
#include "cli/draw/human.h"
#include "spec/alias.h"
#include "spec/field.h"
#include "spec/value_text.h"

const char *calc_field_text_type(const calc_field *field)
{
    switch (field->type) {
    case CALC_TYPE_INT:
        return "integer";
    case CALC_TYPE_REAL:
        return "number";
    case CALC_TYPE_BOOL:
        return "true or false";
    case CALC_TYPE_ENUM:
        return "one of";
    case CALC_TYPE_SET:
        return "any, joined by +, of";
    case CALC_TYPE_SYSTEM:
        return "name of a system";
    case CALC_TYPE_ENGINE:
        return "name of an engine";
    case CALC_TYPE_CURVE:
        return "[[size, efficiency], ...]";
    case CALC_TYPE_OP:
        return field->flags & CALC_POINT_TO_POINT ? "[scalar, null]" : "[scalar, offset]";
    default:
        return field->flags & CALC_STAGES     ? "list of stages"
               : field->flags & CALC_LAYERS   ? "list of layers"
               : field->flags & CALC_STACK    ? "pattern of layers"
               : field->flags & CALC_SOFTWARE ? "name of a software document"
                                              : "text";
    }
}

void calc_field_text_range(const calc_field *field, char *buffer, size_t size)
{
    buffer[0] = '\0';
    if (field->type == CALC_TYPE_ENUM || field->type == CALC_TYPE_SET) {
        calc_choices_text(field->choices, buffer, size);
    } else if (field->lo < field->hi) {
        const char *from = field->flags & CALC_OR_ZERO ? "0, or " : "";
        const char *to = field->flags & CALC_BELOW_HI ? " to below " : " to ";
        char lo[CALC_HUMAN_MAX], hi[CALC_HUMAN_MAX];
        bool is_share = field->lo > 0 && field->lo < 1;
        snprintf(buffer, size, "%s%s%s%s", from,
                 is_share ? calc_number_text(field->lo, 1, lo) : calc_human_integer(field->lo, lo),
                 to, calc_human_integer(field->hi, hi));
    }
}

const char *calc_field_text_meaning(const calc_table *table, const calc_field *field,
                                    char buffer[CALC_FIELD_TEXT_MEANING])
{
    const char *glue = "; also ";
    snprintf(buffer, CALC_FIELD_TEXT_MEANING, "%s", field->doc);
    for (const calc_alias *alias = NULL; (alias = calc_alias_next(table, field->key, alias));) {
        bool label = strpbrk(alias->key, " /") != NULL;
        calc_append(buffer, CALC_FIELD_TEXT_MEANING, "%s%s%s%s%s%s", glue, label ? "\"" : "",
                    alias->key, label ? "\"" : "", alias->times[0] ? " times " : "",
                    alias->times[0] ? alias->times[0] : "");
        glue = ", ";
    }
    for (size_t i = 0; field->choices && field->choices[i]; i++) {
        const char *word = calc_alias_of_choice(field->choices[i]);
        if (word) {
            calc_append(buffer, CALC_FIELD_TEXT_MEANING, "; also %s for %s", word,
                        field->choices[i]);
        }
    }
    return buffer;
}
