#include "cli/field_text.h"

#include <stdio.h>

#include "cli/human.h"
#include "spec/alias.h"
#include "spec/choice_set.h"
#include "spec/field.h"

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
        return "any of";
    case CALC_TYPE_CURVE:
        return "[[size, efficiency], ...]";
    case CALC_TYPE_OP:
        return field->flags & CALC_POINT_TO_POINT ? "[scalar, null]" : "[scalar, offset]";
    default:
        return "text";
    }
}

void calc_field_text_range(const calc_field *field, char *buffer, size_t size)
{
    buffer[0] = '\0';
    if (field->type == CALC_TYPE_ENUM || field->type == CALC_TYPE_SET) {
        size_t length = 0;
        for (size_t i = 0; field->choices[i] && length < size; i++) {
            length += (size_t)snprintf(buffer + length, size - length, "%s%s", i ? ", " : "",
                                       field->choices[i]);
        }
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
    const calc_alias *alias = calc_alias_of(table, field->key);
    int used = snprintf(buffer, CALC_FIELD_TEXT_MEANING, "%s", field->doc);
    if (alias) {
        used += snprintf(buffer + used, CALC_FIELD_TEXT_MEANING - (size_t)used, "; also %s%s%s",
                         alias->key, alias->times[0] ? " times " : "",
                         alias->times[0] ? alias->times[0] : "");
    }
    for (size_t i = 0; field->choices && field->choices[i]; i++) {
        const char *word = calc_alias_of_choice(field->choices[i]);
        if (word) {
            used += snprintf(buffer + used, CALC_FIELD_TEXT_MEANING - (size_t)used,
                             "; also %s for %s", word, field->choices[i]);
        }
    }
    return buffer;
}

/* A curve or an operation, as a file would have it. */
static void pairs_text(const double *first, const double *second, size_t count, double scale,
                       char *buffer, size_t size)
{
    size_t used = (size_t)snprintf(buffer, size, "[");
    for (size_t i = 0; i < count && used < size; i++) {
        char a[32], b[32];
        calc_number_text(first[i], scale, a);
        calc_number_text(second[i], 1, b);
        used += (size_t)snprintf(buffer + used, size - used, "%s[%s, %s]", i ? ", " : "", a, b);
    }
    if (used < size) {
        snprintf(buffer + used, size - used, "]");
    }
}

char *calc_field_text_value(const calc_field *field, const void *member,
                            char buffer[CALC_FIELD_TEXT_VALUE])
{
    const calc_curve *curve = member;
    const calc_network_op *op = member;
    char a[32], b[32];
    switch (field->type) {
    case CALC_TYPE_BOOL:
        snprintf(buffer, CALC_FIELD_TEXT_VALUE, "%s", *(const bool *)member ? "true" : "false");
        break;
    case CALC_TYPE_ENUM:
        snprintf(buffer, CALC_FIELD_TEXT_VALUE, "%s", field->choices[*(const int *)member]);
        break;
    case CALC_TYPE_SET:
        calc_choice_set_text(field->choices, *(const int64_t *)member, buffer);
        break;
    case CALC_TYPE_INT:
        snprintf(buffer, CALC_FIELD_TEXT_VALUE, "%lld", (long long)*(const int64_t *)member);
        break;
    case CALC_TYPE_REAL:
        calc_number_text(*(const double *)member, calc_field_scale(field), buffer);
        break;
    case CALC_TYPE_CURVE:
        pairs_text(curve->threshold, curve->efficiency, (size_t)curve->count,
                   calc_field_scale(field), buffer, CALC_FIELD_TEXT_VALUE);
        break;
    case CALC_TYPE_OP:
        snprintf(buffer, CALC_FIELD_TEXT_VALUE, "[%s, %s]", calc_number_text(op->scalar, 1, a),
                 field->flags & CALC_POINT_TO_POINT ? "null" : calc_number_text(op->offset, 1, b));
        break;
    default:
        buffer[0] = '\0';
    }
    return buffer;
}
