#include "spec/value_text.h"

#include <stdio.h>
#include <string.h>

#include "base/buffer.h"
#include "spec/field.h"

char *calc_choice_set_text(const char *const *choices, int64_t set, char *buffer)
{
    buffer[0] = '\0';
    for (size_t i = 0; choices[i]; i++) {
        if (set >> i & 1) {
            calc_append(buffer, CALC_CHOICE_SET_SIZE, "%s%s", *buffer ? "+" : "", choices[i]);
        }
    }
    return buffer;
}

bool calc_choice_set_parse(const char *const *choices, const char *text, int64_t *set, char *bad)
{
    int64_t found = 0;
    bool more = *text && strcmp(text, "none") != 0;
    while (more) {
        size_t length = strcspn(text, "+,");
        snprintf(bad, CALC_CHOICE_SET_SIZE, "%.*s", (int)length, text);
        int index = length < CALC_CHOICE_SET_SIZE ? calc_choice_index(choices, bad) : -1;
        if (index < 0) {
            return false;
        }
        found |= (int64_t)1 << index;
        more = text[length] != '\0';
        text += length + more;
    }
    *set = found;
    return true;
}

char *calc_value_text(const calc_field *field, const void *member, char buffer[CALC_VALUE_TEXT])
{
    const calc_curve *curve = member;
    const calc_network_op *op = member;
    char a[32], b[32];
    switch (field->type) {
    case CALC_TYPE_BOOL:
        return strcpy(buffer, *(const bool *)member ? "true" : "false");
    case CALC_TYPE_ENUM:
        return strcpy(buffer, field->choices[*(const int *)member]);
    case CALC_TYPE_SET:
        calc_choice_set_text(field->choices, *(const int64_t *)member, buffer);
        break;
    case CALC_TYPE_INT:
        snprintf(buffer, CALC_VALUE_TEXT, "%lld", (long long)*(const int64_t *)member);
        break;
    case CALC_TYPE_REAL:
        calc_number_text(*(const double *)member, calc_field_scale(field), buffer);
        break;
    case CALC_TYPE_CURVE:
        snprintf(buffer, CALC_VALUE_TEXT, "[");
        for (int64_t i = 0; i < curve->count; i++) {
            calc_append(buffer, CALC_VALUE_TEXT, "%s[%s, %s]", i ? ", " : "",
                        calc_number_text(curve->threshold[i], calc_field_scale(field), a),
                        calc_number_text(curve->efficiency[i], 1, b));
        }
        calc_append(buffer, CALC_VALUE_TEXT, "]");
        break;
    case CALC_TYPE_OP:
        snprintf(buffer, CALC_VALUE_TEXT, "[%s, %s]", calc_number_text(op->scalar, 1, a),
                 field->flags & CALC_POINT_TO_POINT ? "null" : calc_number_text(op->offset, 1, b));
        break;
    case CALC_TYPE_SYSTEM:
    case CALC_TYPE_ENGINE: /* both begin with it */
        snprintf(buffer, CALC_VALUE_TEXT, "%s", (const char *)member);
        break;
    default:
        buffer[0] = '\0';
    }
    return buffer;
}

char *calc_join_words(char *text, size_t size, int64_t count, calc_word_at *word_at,
                      const void *context, const char *times, int64_t least)
{
    char word[CALC_JOINED_WORD], next[CALC_JOINED_WORD];
    text[0] = '\0';
    for (int64_t i = 0, places; i < count;) {
        places = word_at(context, i++, word);
        for (int64_t more; i < count; i++, places += more) {
            more = word_at(context, i, next);
            if (strcmp(word, next) != 0) {
                break;
            }
        }
        calc_append(text, size, "%s", text[0] ? ", " : "");
        if (places >= least) {
            calc_append(text, size, "%jd%s", places, times);
        }
        calc_append(text, size, "%s", word);
    }
    return text;
}

/* Whether a field differs; its words. Lists have none. */
static bool differs(const calc_field *field, const void *from, const void *to,
                    char before[CALC_VALUE_TEXT], char after[CALC_VALUE_TEXT])
{
    if (calc_same_row(field, from, to)) {
        return false;
    }
    calc_value_text(field, (const char *)from + field->offset, before);
    calc_value_text(field, (const char *)to + field->offset, after);
    return strcmp(before, after) != 0;
}

static void differences(const calc_table *table, const char *prefix, const char *from,
                        const char *to, calc_value_visitor *visit, void *context)
{
    char before[CALC_VALUE_TEXT], after[CALC_VALUE_TEXT], path[128];
    for (size_t i = 0; i < table->count; i++) {
        const calc_field *field = &table->rows[i];
        bool object = field->type == CALC_TYPE_OBJECT;
        if (!object && !differs(field, from, to, before, after)) {
            continue; /* most of them */
        }
        snprintf(path, sizeof path, "%s%s%s", prefix, field->key, object ? "." : "");
        if (object) {
            differences(field->table, path, from + field->offset, to + field->offset, visit,
                        context);
        } else {
            visit(context, path, before, after);
        }
    }
}

void calc_value_differences(calc_kind kind, const void *from, const void *to,
                            calc_value_visitor *visit, void *context)
{
    differences(calc_table_of(kind), "", from, to, visit, context);
}
