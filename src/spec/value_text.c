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

/* Element `k` of a list or a map, or the object that a member is. NULL: it is not there. */
static const char *element_of(const calc_field *field, const char *object, size_t k)
{
    const calc_field *first = &field->table->rows[0];
    const char *element = object ? object + field->offset + k * field->element : NULL;
    const void *count = object ? object + field->count : NULL;
    bool there = field->type == CALC_TYPE_LIST ? count && (int64_t)k < *(const int64_t *)count
                 : field->type == CALC_TYPE_MAP
                     ? element && calc_member_number(first, element + first->offset) != 0
                     : true;
    return there ? element : NULL;
}

/* @param of  two objects of the table; NULL: absent on that side */
static void differences(const calc_table *table, const char *prefix, const char *const of[2],
                        calc_value_visitor *visit, void *context)
{
    for (size_t i = 0; i < table->count; i++) {
        const calc_field *field = &table->rows[i];
        char text[2][CALC_VALUE_TEXT] = {"-", "-"}, path[128];
        bool list = field->type == CALC_TYPE_LIST, map = field->type == CALC_TYPE_MAP;
        bool both = of[0] && of[1];
        if (field->type == CALC_TYPE_NOTE || (both && calc_same_row(field, of[0], of[1]))) {
            continue; /* most of them */
        }
        for (int k = 0; k < 2 && !field->table; k++) {
            if (of[k] && !*calc_value_text(field, of[k] + field->offset, text[k])) {
                strcpy(text[k], "none");
            }
        }
        snprintf(path, sizeof path, "%s%s", prefix, field->key);
        if (!field->table && strcmp(text[0], text[1]) != 0) {
            visit(context, path, field, text[0], text[1]);
        }
        const size_t most = list ? CALC_MAX_NETWORKS : map ? CALC_DATATYPE_COUNT : 1;
        for (size_t k = 0; k < most && field->table; k++) {
            const char *const inner[2] = {element_of(field, of[0], k), element_of(field, of[1], k)};
            const char *name = list  ? CALC_TEXT(8, "[%zu]", k)
                               : map ? CALC_TEXT(32, ".%s", field->choices[k])
                                     : "";
            snprintf(path, sizeof path, "%s%s%s.", prefix, field->key, name);
            if (inner[0] || inner[1]) {
                differences(field->table, path, inner, visit, context);
            }
        }
    }
}

void calc_value_differences(calc_kind kind, const void *from, const void *to,
                            calc_value_visitor *visit, void *context)
{
    differences(calc_table_of(kind), "", (const char *const[]){from, to}, visit, context);
}
