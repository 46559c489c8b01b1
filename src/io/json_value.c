#include "io/json_value.h"

#include "base/error.h"
#include "io/utf8.h"
#include "spec/amount.h"
#include "spec/compat.h"
#include "spec/field.h"
#include "spec/serving_engine.h"
#include "spec/value_text.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FOUND_SIZE = CALC_UTF8_SHOW_SIZE + 16, NUMBER_SIZE = CALC_JSON_VALUE_NUMBER_SIZE };

/* ---- Words for messages --------------------------------------------------------------------- */

char *calc_json_value_number_text(const json_t *value, char *buffer)
{
    if (json_is_integer(value)) {
        snprintf(buffer, NUMBER_SIZE, "%lld", (long long)json_integer_value(value));
        return buffer;
    }
    calc_number_text(json_real_value(value), 1, buffer);
    return strpbrk(buffer, ".e") ? buffer : strcat(buffer, ".0");
}

/* Describes a value: `string "8"`, `8.5`, `an object`. */
static const char *found(const json_t *value, char *buffer)
{
    char shown[CALC_UTF8_SHOW_SIZE];
    switch (json_typeof(value)) {
    case JSON_OBJECT:
        return "an object";
    case JSON_ARRAY:
        snprintf(buffer, FOUND_SIZE, "an array of %zu", json_array_size(value));
        return buffer;
    case JSON_STRING:
        calc_utf8_show(shown, json_string_value(value), json_string_length(value));
        snprintf(buffer, FOUND_SIZE, "string \"%s\"", shown);
        return buffer;
    case JSON_TRUE:
        return "true";
    case JSON_FALSE:
        return "false";
    case JSON_NULL:
        return "null";
    default:
        return calc_json_value_number_text(value, buffer);
    }
}

void calc_json_value_type_error(calc_json_report *report, const char *expected, const json_t *value,
                                const char *hint)
{
    char buffer[FOUND_SIZE];
    calc_json_report_add(report, CALC_ERR_TYPE, CALC_JSON_VALUE, hint, "expected %s, found %s",
                         expected, found(value, buffer));
}

static void range_error(calc_json_report *report, const calc_field *field, const json_t *value)
{
    char shown[NUMBER_SIZE];
    char range[128];
    calc_json_report_add(
        report, CALC_ERR_RANGE, CALC_JSON_VALUE, NULL, "%s is out of range, expected %s",
        calc_json_value_number_text(value, shown),
        calc_field_range_text(field, json_number_value(value), range, sizeof range));
}

/* ---- Scalars -------------------------------------------------------------------------------- */

/* Hint for a value that is right except for its quotes or its point; NULL if it is not. */
static const char *unquoted_hint(const json_t *value, bool whole, char *buffer, size_t size)
{
    const char *text = json_string_value(value);
    char number[NUMBER_SIZE];
    double real = json_real_value(value);
    if (text && text[0] && strspn(text, "+-.0123456789eE") == strlen(text) && strlen(text) < 24) {
        char *end;
        real = strtod(text, &end);
        if (*end) {
            return NULL;
        }
    } else if (!json_is_real(value)) {
        return NULL;
    }
    if (!isfinite(real) || (whole && (real != floor(real) || fabs(real) >= 0x1p53))) {
        return NULL;
    }
    snprintf(buffer, size, "write %s", calc_number_text(real, 1, number));
    return buffer;
}

/* Report a text with a unit, "10us", where files have the number alone. @return whether it is
 * one */
static bool is_amount(calc_json_report *report, const calc_field *field, const char *expected,
                      const json_t *value)
{
    char number[NUMBER_SIZE];
    char hint[NUMBER_SIZE + 48];
    double in_unit;
    const char *text = json_string_value(value);
    switch (text ? calc_amount_read(text, field->unit, &in_unit) : CALC_AMOUNT_NO_NUMBER) {
    case CALC_AMOUNT_UNIT:
        snprintf(hint, sizeof hint, "write %s%s%s", calc_number_text(in_unit, 1, number),
                 field->unit ? ": it is in " : "", field->unit ? field->unit : "");
        calc_json_value_type_error(report, expected, value, hint);
        return true;
    case CALC_AMOUNT_WRONG_UNIT:
        calc_json_value_type_error(report, expected, value, calc_amount_units(field->unit));
        return true;
    default:
        return false;
    }
}

static void bind_int(calc_json_report *report, const calc_field *field, const json_t *value,
                     int64_t *member)
{
    char hint[NUMBER_SIZE + 8];
    if (is_amount(report, field, "an integer", value)) {
        return;
    }
    if (!json_is_integer(value)) {
        calc_json_value_type_error(report, "an integer", value,
                                   unquoted_hint(value, true, hint, sizeof hint));
    } else if (!calc_field_in_range(field, (double)json_integer_value(value))) {
        range_error(report, field, value);
    } else {
        *member = json_integer_value(value);
    }
}

bool calc_json_value_number(calc_json_report *report, const json_t *value, double *out)
{
    char hint[NUMBER_SIZE + 8];
    if (!json_is_number(value)) {
        calc_json_value_type_error(report, "a number", value,
                                   unquoted_hint(value, false, hint, sizeof hint));
        return false;
    }
    double number = json_number_value(value);
    *out = number == 0 ? 0 : number;
    return true;
}

static void bind_real(calc_json_report *report, const calc_field *field, const json_t *value,
                      double *member)
{
    double number;
    if (is_amount(report, field, "a number", value) ||
        !calc_json_value_number(report, value, &number)) {
        return;
    }
    if (!calc_field_in_range(field, number)) {
        range_error(report, field, value);
        return;
    }
    *member = number * calc_field_scale(field);
}

static void bind_bool(calc_json_report *report, const json_t *value, bool *member)
{
    const char *text = json_string_value(value);
    const char *hint = NULL;
    if ((text && strcmp(text, "true") == 0) || json_integer_value(value) == 1) {
        hint = "write true";
    } else if ((text && strcmp(text, "false") == 0) ||
               (json_is_integer(value) && json_integer_value(value) == 0)) {
        hint = "write false";
    }
    if (!json_is_boolean(value)) {
        calc_json_value_type_error(report, "true or false", value, hint);
        return;
    }
    *member = json_is_true(value);
}

/* Report "WORD is not one of ...", with the nearest choice. */
static void not_a_choice(calc_json_report *report, const calc_field *field, const char *word)
{
    char choices[CALC_CHOICE_SET_SIZE];
    char shown[CALC_UTF8_SHOW_SIZE];
    char hint[CALC_HINT_SIZE];
    const char *near = calc_nearest(word, field->choices);
    calc_did_you_mean(near, hint);
    if (!near && field->type == CALC_TYPE_SET) {
        snprintf(hint, sizeof hint, "several are joined by +: %s+%s", field->choices[0],
                 field->choices[1]);
    }
    calc_json_report_add(report, CALC_ERR_RANGE, CALC_JSON_VALUE, hint, "\"%s\" is not one of %s",
                         calc_utf8_show(shown, word, strlen(word)),
                         calc_choices_text(field->choices, choices, sizeof choices));
}

static void not_a_word(calc_json_report *report, const calc_field *field, const json_t *value,
                       const char *expected)
{
    char choices[CALC_CHOICE_SET_SIZE];
    char text[sizeof choices + 32];
    snprintf(text, sizeof text, "%s %s", expected,
             calc_choices_text(field->choices, choices, sizeof choices));
    calc_json_value_type_error(report, text, value, NULL);
}

static void bind_enum(calc_json_report *report, const calc_field *field, const json_t *value,
                      int *member)
{
    const char *text = json_string_value(value);
    if (json_is_boolean(value) && calc_choice_index(field->choices, "true") >= 0) {
        text = json_is_true(value) ? "true" : "false";
    }
    if (!text) {
        not_a_word(report, field, value, "one of");
        return;
    }
    int index = calc_choice_index(field->choices, text);
    if (index < 0) {
        not_a_choice(report, field, text);
        return;
    }
    *member = index;
}

/* An array of choices; or a text, as in CSV: one of them, or several with "+" between. */
static void bind_set(calc_json_report *report, const calc_field *field, const json_t *value,
                     int64_t *member)
{
    char word[CALC_CHOICE_SET_SIZE];
    int64_t set = 0;
    size_t most = 0;
    size_t count = json_array_size(value);
    if (json_is_string(value)) {
        if (!calc_choice_set_parse(field->choices, json_string_value(value), &set, word)) {
            not_a_choice(report, field, word);
        }
    } else if (!json_is_array(value)) {
        not_a_word(report, field, value, "an array of");
    }
    while (field->choices[most]) {
        most++;
    }
    if (count > most) {
        calc_json_report_add(report, CALC_ERR_RANGE, CALC_JSON_VALUE, NULL,
                             "%zu choices are out of range, expected at most %zu", count, most);
        return;
    }
    for (size_t i = 0; i < count; i++) {
        int index = 0;
        size_t mark = calc_json_report_enter_index(report, i);
        bind_enum(report, field, json_array_get(value, i), &index);
        calc_json_report_leave(report, mark);
        set |= (int64_t)1 << index;
    }
    *member = set;
}

bool calc_json_value_name(calc_json_report *report, const json_t *value, const char *of, char *name,
                          size_t size)
{
    const char *text = json_string_value(value);
    size_t length = text ? strlen(text) : 0, shown = 0, step = 0;
    char expected[64];
    snprintf(expected, sizeof expected, "the name of a %s", of);
    while (shown < length && !calc_utf8_hostile(text + shown, length - shown, &step)) {
        shown += step;
    }
    if (!text || !*text) {
        calc_json_value_type_error(report, expected, value, NULL);
    } else if (shown < length) {
        calc_json_report_add(report, CALC_ERR_RANGE, CALC_JSON_VALUE, NULL,
                             "names of %ss have no control characters", of);
    } else if (length >= size) {
        calc_json_report_add(report, CALC_ERR_RANGE, CALC_JSON_VALUE, NULL,
                             "names of %ss have at most %zu letters", of, size - 1);
    } else {
        memset(name, 0, size);
        memcpy(name, text, length);
        return true;
    }
    return false;
}

void calc_json_value_scalar(calc_json_report *report, const calc_field *field, const json_t *value,
                            void *member)
{
    calc_other_system *other;
    calc_serving_engine engine;
    switch (field->type) {
    case CALC_TYPE_INT:
        bind_int(report, field, value, member);
        break;
    case CALC_TYPE_REAL:
        bind_real(report, field, value, member);
        break;
    case CALC_TYPE_BOOL:
        bind_bool(report, value, member);
        break;
    case CALC_TYPE_ENUM:
        bind_enum(report, field, value, member);
        break;
    case CALC_TYPE_SET:
        bind_set(report, field, value, member);
        break;
    case CALC_TYPE_SYSTEM:
        other = member;
        if (calc_json_value_name(report, value, "system", other->name, sizeof other->name)) {
            other->system = NULL;
        }
        break;
    case CALC_TYPE_ENGINE:
        if (calc_json_value_name(report, value, "serving engine", engine.name,
                                 sizeof engine.name)) {
            calc_serving_engine_put(member, engine.name);
        }
        break;
    default: /* a note is checked, not kept */
        if (!json_is_string(value)) {
            calc_json_value_type_error(report, "a string", value, NULL);
        }
    }
}

void calc_json_value_compat(calc_json_report *report, const json_t *value, calc_compat *compat)
{
    calc_errors errors = {0};
    const char *text = json_string_value(value);
    if (!text) {
        calc_json_value_type_error(report, "a string", value, NULL);
    } else if (calc_compat_read(text, compat, &errors) != CALC_OK) {
        calc_json_report_add(report, CALC_ERR_RANGE, CALC_JSON_VALUE, NULL, "%s",
                             errors.item[0].text);
    }
}
