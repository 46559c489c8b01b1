#include "io/json_load.h"

#include <assert.h>
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "base/buffer.h"
#include "base/error.h"
#include "io/json_report.h"
#include "io/json_runs.h"
#include "io/text.h"
#include "io/utf8.h"
#include "spec/absent.h"
#include "spec/alias.h"
#include "spec/compat.h"
#include "spec/field.h"
#include "spec/serving_engine.h"
#include "spec/software.h"
#include "spec/value_text.h"

enum { FOUND_SIZE = CALC_UTF8_SHOW_SIZE + 16, NUMBER_SIZE = CALC_JSON_VALUE_NUMBER_SIZE };

char *calc_json_value_number_text(const json_t *value, char *buffer)
{
    if (json_is_integer(value)) {
        snprintf(buffer, NUMBER_SIZE, "%lld", (long long)json_integer_value(value));
        return buffer;
    }
    calc_number_text(json_real_value(value), 1, buffer);
    return strpbrk(buffer, ".e") ? buffer : strcat(buffer, ".0");
}

char *calc_json_value_words(const json_t *value)
{
    return json_is_string(value)   ? strdup(json_string_value(value))
           : json_is_number(value) ? strdup(calc_json_value_number_shown(value))
                                   : json_dumps(value, JSON_COMPACT | JSON_ENCODE_ANY);
}

/* Describes a value: `string "8"`, `8.5`, `an object`. */
static const char *found(const json_t *value, char *buffer)
{
    switch (json_typeof(value)) {
    case JSON_OBJECT:
        return "an object";
    case JSON_ARRAY:
        snprintf(buffer, FOUND_SIZE, "an array of %zu", json_array_size(value));
        return buffer;
    case JSON_STRING:
        snprintf(buffer, FOUND_SIZE, "string \"%s\"",
                 calc_utf8_shown(json_string_value(value), json_string_length(value)));
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
    calc_json_report_add(
        report, CALC_ERR_RANGE, CALC_JSON_VALUE, NULL, "%s is out of range, expected %s",
        calc_json_value_number_shown(value),
        calc_field_range_text(field, json_number_value(value), (char[128]){""}, 128));
}

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
    double in_unit;
    const char *text = json_string_value(value);
    switch (text ? calc_amount_read(text, field->unit, &in_unit) : CALC_AMOUNT_NO_NUMBER) {
    case CALC_AMOUNT_UNIT:
        calc_json_value_type_error(report, expected, value,
                                   CALC_TEXT(NUMBER_SIZE + 48, "write %s%s%s", CALC_NUMBER(in_unit),
                                             field->unit ? ": it is in " : "",
                                             field->unit ? field->unit : ""));
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
    const char *const *choices = field->choices, *near = calc_nearest(word, choices);
    calc_json_report_add(
        report, CALC_ERR_RANGE, CALC_JSON_VALUE,
        near || field->type != CALC_TYPE_SET ? CALC_DID_YOU_MEAN(near) : CALC_JOINED(choices),
        "\"%s\" is not one of %s", calc_utf8_shown(word, strlen(word)), CALC_CHOICES(choices));
}

static void not_a_word(calc_json_report *report, const calc_field *field, const json_t *value,
                       const char *expected)
{
    calc_json_value_type_error(
        report,
        CALC_TEXT(CALC_CHOICE_SET_SIZE + 32, "%s %s", expected, CALC_CHOICES(field->choices)),
        value, NULL);
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
    size_t most = calc_choices_count(field->choices);
    size_t count = json_array_size(value);
    size_t i;
    json_t *element;
    if (json_is_string(value)) {
        if (!calc_choice_set_parse(field->choices, json_string_value(value), &set, word)) {
            not_a_choice(report, field, word);
        }
    } else if (!json_is_array(value)) {
        not_a_word(report, field, value, "an array of");
    }
    if (count > most) {
        calc_json_report_add(report, CALC_ERR_RANGE, CALC_JSON_VALUE, NULL,
                             "%zu choices are out of range, expected at most %zu", count, most);
        return;
    }
    CALC_JSON_ELEMENTS (report, value, i, element) {
        int index = 0;
        bind_enum(report, field, element, &index);
        set |= (int64_t)1 << index;
    }
    *member = set;
}

bool calc_json_value_name(calc_json_report *report, const json_t *value, const char *of, char *name,
                          size_t size)
{
    const char *text = json_string_value(value);
    size_t length = text ? strlen(text) : 0, shown = 0, step = 0;
    while (shown < length && !calc_utf8_hostile(text + shown, length - shown, &step)) {
        shown += step;
    }
    if (!text || !*text) {
        calc_json_value_type_error(report, CALC_TEXT(64, "the name of a %s", of), value, NULL);
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

/* Whether searching a nearest name would be wasted work: a document may have a million bad keys. */
static bool is_full(const calc_json_report *report)
{
    return report->found.count == CALC_MAX_ERRORS;
}

const char *calc_json_bind_nearest(const calc_table *table, const char *word)
{
    enum { MAX_ROWS = 192 };
    const char *keys[MAX_ROWS + 1] = {NULL};
    assert(table->count <= MAX_ROWS);
    for (size_t i = 0; i < table->count; i++) {
        keys[i] = table->rows[i].key;
    }
    const calc_field *other = calc_alias_find(table, word);
    calc_field_ref inside; /* of inference, which a name alone does not say in a file */
    if (table == calc_table_of(CALC_KIND_EXEC) &&
        calc_field_find(CALC_KIND_EXEC, word, &inside) == CALC_OK) {
        return "inference";
    }
    return other ? other->key : calc_nearest(word, keys);
}

/* Position of a key in its object. */
static int position_of(json_t *object, const char *wanted)
{
    int position = 0;
    const char *key;
    json_t *value;
    json_object_foreach (object, key, value) {
        if (strcmp(key, wanted) == 0) {
            break;
        }
        position++;
    }
    return position;
}

void calc_json_bind_unknown(calc_json_report *report, json_t *object, const char *key,
                            const char *nearest)
{
    const char *shown = calc_utf8_shown(key, strlen(key));
    CALC_JSON_INSIDE (report, calc_json_report_enter(report, shown)) {
        calc_json_report_add(report, CALC_ERR_FIELD,
                             is_full(report) ? CALC_JSON_VALUE : position_of(object, key),
                             CALC_DID_YOU_MEAN(nearest), "unknown key \"%s\"", shown);
    }
}

/* Keep every time finite; io/schema.c says the same. */
#define LEAST_SHARE 1e-6
#define MOST_MOVED 1e6

/* One number of a pair, with the pointer on it. */
static bool bind_part(calc_json_report *report, const json_t *pair, size_t index, double *out)
{
    size_t mark = calc_json_report_enter_index(report, index);
    bool fine = calc_json_value_number(report, json_array_get(pair, index), out);
    calc_json_report_leave(report, mark);
    return fine;
}

/* The number at `index` of a pair is wrong: "NUMBER is ...". */
static void part_error(calc_json_report *report, const json_t *pair, size_t index, const char *hint,
                       const char *is)
{
    size_t mark = calc_json_report_enter_index(report, index);
    calc_json_report_add(report, CALC_ERR_RANGE, CALC_JSON_VALUE, hint, "%s is %s",
                         calc_json_value_number_shown(json_array_get(pair, index)), is);
    calc_json_report_leave(report, mark);
}

/* Whether the array has between 1 and `most` elements. */
static bool array_fits(calc_json_report *report, const json_t *array, const char *expected,
                       const char *elements, size_t most)
{
    size_t count = json_array_size(array);
    if (!json_is_array(array)) {
        calc_json_value_type_error(report, expected, array, NULL);
        return false;
    }
    if (count == 0 || count > most) {
        calc_json_report_add(report, CALC_ERR_RANGE, CALC_JSON_VALUE, NULL,
                             "%zu %s are out of range, expected 1 to %zu", count, elements, most);
        return false;
    }
    return true;
}

/* One step; the threshold of the step before it bounds its size. */
static bool bind_step(calc_json_report *report, const calc_field *field, const json_t *step,
                      double before, double *threshold, double *efficiency)
{
    const double MAX_SIZE = 1e15; /* keeps thresholds finite */
    if (json_array_size(step) != 2) {
        calc_json_value_type_error(report, "[size, efficiency]", step, NULL);
        return false;
    }
    double size;
    if (!bind_part(report, step, 0, &size) || !bind_part(report, step, 1, efficiency)) {
        return false;
    }
    *threshold = size * calc_field_scale(field);
    if (size < 0 || size > MAX_SIZE) {
        part_error(report, step, 0, NULL, "out of range, expected 0 to 1e15");
        return false;
    }
    if (*threshold >= before) {
        part_error(report, step, 0, "put the largest size first",
                   "not smaller than the size of the step before");
        return false;
    }
    if (*efficiency < LEAST_SHARE || *efficiency > 1) {
        part_error(report, step, 1, NULL, "out of range, expected 1e-06 to 1");
        return false;
    }
    return true;
}

static void bind_curve(calc_json_report *report, const calc_field *field, const json_t *value,
                       calc_curve *curve)
{
    char expected[64];
    snprintf(expected, sizeof expected, "an array of [size in %s, efficiency]", field->unit);
    if (!array_fits(report, value, expected, "steps", CALC_MAX_CURVE_STEPS)) {
        return;
    }
    size_t count = json_array_size(value);
    double before = HUGE_VAL;
    memset(curve, 0, sizeof *curve);
    for (size_t i = 0; i < count; i++) {
        size_t mark = calc_json_report_enter_index(report, i);
        const json_t *step = json_array_get(value, i);
        bool fine =
            bind_step(report, field, step, before, &curve->threshold[i], &curve->efficiency[i]);
        if (fine && i + 1 == count && curve->threshold[i] > 0) {
            part_error(report, step, 0, "add a step [0, efficiency]",
                       "not 0: the curve must end at size 0 so that every size is covered");
        }
        calc_json_report_leave(report, mark);
        if (!fine) {
            return;
        }
        before = curve->threshold[i];
    }
    curve->count = (int64_t)count;
}

static void bind_op(calc_json_report *report, const calc_field *field, const json_t *value,
                    calc_network_op *op)
{
    bool p2p = field->flags & CALC_POINT_TO_POINT;
    if (json_array_size(value) != 2) {
        calc_json_value_type_error(report, p2p ? "[scalar, null]" : "[scalar, offset]", value,
                                   NULL);
        return;
    }
    if (bind_part(report, value, 0, &op->scalar) &&
        (op->scalar < LEAST_SHARE || op->scalar > MOST_MOVED)) {
        part_error(report, value, 0, NULL, "out of range, expected 1e-06 to 1000000");
    }
    if (!p2p) {
        if (bind_part(report, value, 1, &op->offset) &&
            (op->offset < -1 || op->offset > MOST_MOVED)) {
            part_error(report, value, 1, NULL, "out of range, expected -1 to 1000000");
        }
    } else if (!json_is_null(json_array_get(value, 1))) {
        size_t mark = calc_json_report_enter_index(report, 1);
        calc_json_value_type_error(report, "null, because point-to-point has no offset",
                                   json_array_get(value, 1), NULL);
        calc_json_report_leave(report, mark);
    }
}

static void bind_list(calc_json_report *report, const calc_field *field, json_t *value,
                      char *member)
{
    if (!array_fits(report, value, "an array of objects", "elements", CALC_MAX_NETWORKS)) {
        return;
    }
    size_t i;
    json_t *element;
    memset(member, 0, field->element * CALC_MAX_NETWORKS);
    CALC_JSON_ELEMENTS (report, value, i, element) {
        calc_json_bind_table(report, field->table, element, member + i * field->element);
    }
    *(int64_t *)(void *)(member - field->offset + field->count) = (int64_t)i;
}

static void bind_map(calc_json_report *report, const calc_field *field, json_t *value, char *member)
{
    if (!json_is_object(value)) {
        calc_json_value_type_error(report, "an object", value, NULL);
        return;
    }
    if (json_object_size(value) == 0) {
        calc_json_report_add(report, CALC_ERR_FIELD, CALC_JSON_VALUE, NULL,
                             "expected at least one of %s", CALC_CHOICES(field->choices));
    }
    memset(member, 0, field->element * calc_choices_count(field->choices));
    const char *key;
    json_t *element;
    json_object_foreach (value, key, element) {
        int index = calc_choice_index(field->choices, key);
        if (index < 0) {
            calc_json_bind_unknown(report, value, key,
                                   is_full(report) ? NULL : calc_nearest(key, field->choices));
        } else if (strcmp(field->choices[index], key) != 0 &&
                   json_object_get(value, field->choices[index])) {
            calc_json_report_add(report, CALC_ERR_FIELD, position_of(value, key),
                                 "keep one of them", "\"%s\" and \"%s\" set the same field", key,
                                 field->choices[index]);
        } else {
            CALC_JSON_INSIDE (report, calc_json_report_enter(report, key)) {
                calc_json_bind_table(report, field->table, element,
                                     member + (size_t)index * field->element);
            }
        }
    }
}

void calc_json_bind_field(calc_json_report *report, const calc_field *field, json_t *value,
                          void *member)
{
    switch (field->type) {
    case CALC_TYPE_CURVE:
        bind_curve(report, field, value, member);
        break;
    case CALC_TYPE_OP:
        bind_op(report, field, value, member);
        break;
    case CALC_TYPE_OBJECT:
        calc_json_bind_table(report, field->table, value, member);
        break;
    case CALC_TYPE_LIST:
        bind_list(report, field, value, member);
        break;
    case CALC_TYPE_MAP:
        bind_map(report, field, value, member);
        break;
    default:
        calc_json_value_scalar(report, field, value, member);
    }
}

bool calc_json_bind_automatic(const calc_field *field, const json_t *value, void *object)
{
    const char *text = json_string_value(value);
    if (!(field->flags & CALC_AUTO)) {
        return false;
    }
    calc_exec *exec = object;
    exec->automatic &= ~calc_automatic_bit(field);
    if (!text || strcmp(text, "auto") != 0) {
        return false;
    }
    calc_automatic_set(exec, field);
    return true;
}

/* The key by which an object names a field: its own, another one, or NULL. */
static const char *key_in(calc_json_report *report, const calc_field *field, json_t *object)
{
    const char *key = json_object_get(object, field->key) ? field->key : NULL;
    for (const char *const *also = field->also; *also; also++) {
        if (key && json_object_get(object, *also)) {
            size_t mark = calc_json_report_enter(report, *also);
            calc_json_report_add(report, CALC_ERR_FIELD, position_of(object, *also),
                                 "keep one of them", "\"%s\" and \"%s\" set the same field", *also,
                                 key);
            calc_json_report_leave(report, mark);
        }
        key = json_object_get(object, *also) ? *also : key;
    }
    return key;
}

/* Converts a number of things into the field's quantity: num_shared_experts into
 * shared_feedforward. */
static void bind_count(calc_json_report *report, const calc_table *table, const calc_field *total,
                       const json_t *value, char *object)
{
    const calc_field count_row = {.type = CALC_TYPE_INT, .lo = 0, .hi = 1e6};
    int64_t count = 0;
    int64_t each = 0;
    const char *times = total->times[0];
    for (size_t i = 0; i < 2 && each == 0; i++) {
        times = total->times[i];
        each = *(const int64_t *)(void *)(object + calc_table_find(table, times)->offset);
    }
    calc_json_value_scalar(report, &count_row, value, &count);
    if (!calc_field_in_range(total, (double)(count * each))) {
        calc_json_report_add(report, CALC_ERR_RANGE, CALC_JSON_VALUE, NULL,
                             "%lld times %s = %lld is out of range for %s, expected at most %.0f",
                             (long long)count, times, (long long)each, total->key, total->hi);
        return;
    }
    *(int64_t *)(void *)(object + total->offset) = count * each;
}

bool calc_json_bind_format(calc_json_report *report, const json_t *document)
{
    static const calc_field row = {.type = CALC_TYPE_INT, .lo = 1, .hi = 1e9};
    const json_t *value = json_object_get(document, "format");
    int64_t format = CALC_FORMAT;
    size_t mark = calc_json_report_enter(report, "format");
    if (value) {
        bind_int(report, &row, value, &format);
    }
    if (format > CALC_FORMAT) {
        calc_json_report_add(report, CALC_ERR_UNSUPPORTED, CALC_JSON_VALUE, NULL,
                             "format %lld is of a newer calc, expected at most %d",
                             (long long)format, CALC_FORMAT);
    }
    calc_json_report_leave(report, mark);
    return format <= CALC_FORMAT;
}

void calc_json_bind_table(calc_json_report *report, const calc_table *table, json_t *value,
                          void *object)
{
    if (!json_is_object(value)) {
        calc_json_value_type_error(report, "an object", value, NULL);
        return;
    }
    bool document = table == calc_serving_engine_table() || table == calc_job_table();
    for (calc_kind kind = CALC_KIND_APP; kind <= CALC_KIND_EXEC; kind++) {
        document = document || table == calc_table_of(kind);
    }
    bool exec = table == calc_table_of(CALC_KIND_EXEC);
    if (document && !calc_json_bind_format(report, value)) {
        return;
    }
    calc_absent_fill(table, object);
    if (exec || table == calc_table_of(CALC_KIND_APP)) {
        calc_json_lists_clear(exec ? CALC_KIND_EXEC : CALC_KIND_APP, object);
    }
    const char *key;
    json_t *member;
    json_object_foreach (value, key, member) {
        bool format = document && strcmp(key, "format") == 0;
        if (!format && !calc_table_find(table, key) && !calc_alias_find(table, key)) {
            calc_json_bind_unknown(report, value, key,
                                   is_full(report) ? NULL : calc_json_bind_nearest(table, key));
        }
    }
    for (size_t i = 0; i < table->count; i++) {
        const calc_field *field = &table->rows[i];
        key = key_in(report, field, value);
        if (key) {
            size_t mark = calc_json_report_enter(report, key);
            member = json_object_get(value, key);
            if (key != field->key && field->times[0]) {
                bind_count(report, table, field, member, object);
            } else if (calc_json_is_list(field)) {
                calc_json_lists_bind(report, field, member, object);
            } else if (!calc_json_bind_automatic(field, member, object)) {
                calc_json_bind_field(report, field, member, (char *)object + field->offset);
            }
            if (exec) {
                calc_software_state(object, field);
            }
            calc_json_report_leave(report, mark);
        } else if (report->partial && exec) {
            report->absent += !(field->flags & CALC_OPTIONAL);
        } else if (!(field->flags & CALC_OPTIONAL)) {
            calc_json_report_add(report, CALC_ERR_FIELD, CALC_JSON_VALUE, NULL,
                                 "missing key \"%s\"", field->key);
        }
    }
}

void calc_json_allocate(void *(*allocate)(size_t size))
{
    json_set_alloc_funcs(allocate, free);
}

/* Jansson's reason knows what json_syntax.c cannot: the rest is explained there. */
static void explain(calc_json_report *report, const char *text, size_t length,
                    const json_error_t *error)
{
    size_t mark = calc_json_scan_mark(text, length);
    /* The token that this byte ends or is inside of. */
    const size_t offset = mark + (size_t)error->position;
    calc_json_token token = calc_json_scan(text, length, 0);
    while (token.end < offset && token.type != CALC_JSON_END) {
        token = calc_json_scan(text, length, token.end);
    }
    char shown[CALC_UTF8_SHOW_SIZE];
    calc_utf8_show(shown, text + token.start, token.end - token.start);
    calc_json_mistake mistake;
    switch (json_error_code(error)) {
    case json_error_duplicate_key:
        calc_json_report_add_at(report, CALC_ERR_FIELD, token.start, "remove one of the two",
                                "key %s is given twice", shown);
        break;
    case json_error_numeric_overflow:
        calc_json_report_add_at(report, CALC_ERR_RANGE, token.start, NULL,
                                "%s is too large a number", shown);
        break;
    case json_error_null_character:
    case json_error_null_byte_in_key:
        calc_json_report_add_at(report, CALC_ERR_SYNTAX, token.start, NULL,
                                "\\u0000 is not allowed in a string");
        break;
    default:
        if (error->text[0] && calc_json_syntax_check(text, length, false, &mistake)) {
            calc_json_report_add_at(report, CALC_ERR_SYNTAX, mistake.offset, mistake.hint, "%s",
                                    mistake.text);
        } else {
            calc_json_report_add_at(report, CALC_ERR_NOMEM, 0, NULL, "out of memory");
        }
    }
}

/* Whether Jansson would need more than half a GiB for the values: 140 bytes for "[]", say. A few
 * bytes of a compressed file may be gigabytes of them. */
static bool is_too_large(const char *text, size_t length)
{
    enum { SMALL = 4 << 20, TEXT = 48, LIST = 128, OBJECT = 256 };
    size_t bytes = 0;
    bool quoted = false;
    for (size_t i = 0; length > SMALL && i < length; i++) {
        quoted ^= text[i] == '"';
        if (quoted) {
            bytes += text[i] == '"' ? TEXT : 0;
            i += text[i] == '\\';
        } else {
            bytes += text[i] == '[' ? LIST : text[i] == '{' ? OBJECT : text[i] == ',' ? TEXT : 0;
        }
    }
    return bytes > (size_t)1 << 29;
}

json_t *calc_json_load_text(calc_json_report *report, const char *text, size_t length)
{
    json_error_t error = {0};
    size_t mark = calc_json_scan_mark(text, length);
    if (is_too_large(text, length)) {
        calc_json_report_add_at(report, CALC_ERR_RANGE, mark, NULL,
                                "holds more values than half a GiB of memory does");
        return NULL;
    }
    /* Jansson passes over a zero byte after a number. */
    if (memchr(text, '\0', length)) {
        snprintf(error.text, sizeof error.text, "zero byte");
    }
    json_t *value = error.text[0] ? NULL
                                  : json_loadb(text + mark, length - mark,
                                               JSON_REJECT_DUPLICATES | JSON_DECODE_ANY, &error);
    if (!value) {
        explain(report, text, length, &error);
    }
    return value;
}

void calc_json_bind_document(calc_json_report *report, const calc_table *table, void *object)
{
    json_t *root = calc_json_load_text(report, report->text, report->length);
    if (root) {
        calc_json_bind_table(report, table, root, object);
        json_decref(root);
    }
}

calc_status calc_parse(calc_kind kind, void *object, const char *text, size_t length,
                       const char *name, calc_errors *errors)
{
    assert(kind == CALC_KIND_APP || kind == CALC_KIND_SYSTEM || kind == CALC_KIND_EXEC);
    calc_json_report report = {.kind = kind, .name = name, .text = text, .length = length};
    calc_json_bind_document(&report, calc_table_of(kind), object);
    return calc_json_report_close(&report, errors);
}

calc_status calc_load(calc_kind kind, void *object, const char *path, calc_errors *errors)
{
    calc_text text = {0};
    calc_status status = calc_text_read(&text, path, errors);
    if (status == CALC_OK) {
        const char *name = strcmp(path, "-") == 0 ? "<stdin>" : path;
        status = calc_parse(kind, object, text.data, text.length, name, errors);
    }
    calc_text_free(&text);
    return status;
}

char *calc_libraries_text(char *buffer, size_t size)
{
    snprintf(buffer, size, "Jansson %s, zlib %s", jansson_version_str(), zlibVersion());
    return buffer;
}
