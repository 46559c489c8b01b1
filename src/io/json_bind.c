#include "io/json_bind.h"

#include "base/error.h"
#include "io/json_runs.h"
#include "io/json_value.h"
#include "io/utf8.h"
#include "spec/absent.h"
#include "spec/alias.h"
#include "spec/automatic.h"
#include "spec/field.h"
#include "spec/software.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

/* ---- Unknown keys --------------------------------------------------------------------------- */

const char *calc_json_bind_nearest(const calc_table *table, const char *word)
{
    enum { MAX_ROWS = 192 };
    const char *keys[MAX_ROWS + 1] = {NULL};
    assert(table->count <= MAX_ROWS);
    for (size_t i = 0; i < table->count; i++) {
        keys[i] = table->rows[i].key;
    }
    const calc_alias *alias = calc_alias_find(table, word);
    return alias ? alias->field : calc_nearest(word, keys);
}

void calc_json_bind_unknown(calc_json_report *report, const char *key, int member,
                            const char *nearest)
{
    char shown[CALC_UTF8_SHOW_SIZE];
    char hint[CALC_HINT_SIZE];
    size_t mark = calc_json_report_enter(report, calc_utf8_show(shown, key, strlen(key)));
    calc_json_report_add(report, CALC_ERR_FIELD, member, calc_did_you_mean(nearest, hint),
                         "unknown key \"%s\"", shown);
    calc_json_report_leave(report, mark);
}

/* Whether searching a nearest name would be wasted work: a document may have a million bad keys. */
static bool is_full(const calc_json_report *report)
{
    return report->found.count == CALC_MAX_ERRORS;
}

/* ---- Arrays --------------------------------------------------------------------------------- */

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
    char number[CALC_JSON_VALUE_NUMBER_SIZE];
    size_t mark = calc_json_report_enter_index(report, index);
    calc_json_report_add(report, CALC_ERR_RANGE, CALC_JSON_VALUE, hint, "%s is %s",
                         calc_json_value_number_text(json_array_get(pair, index), number), is);
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

/* ---- Objects -------------------------------------------------------------------------------- */

static void bind_list(calc_json_report *report, const calc_field *field, json_t *value,
                      char *member)
{
    if (!array_fits(report, value, "an array of objects", "elements", CALC_MAX_NETWORKS)) {
        return;
    }
    size_t count = json_array_size(value);
    memset(member, 0, field->element * CALC_MAX_NETWORKS);
    for (size_t i = 0; i < count; i++) {
        size_t mark = calc_json_report_enter_index(report, i);
        calc_json_bind_table(report, field->table, json_array_get(value, i),
                             member + i * field->element);
        calc_json_report_leave(report, mark);
    }
    *(int64_t *)(void *)(member - field->offset + field->count) = (int64_t)count;
}

static void bind_map(calc_json_report *report, const calc_field *field, json_t *value, char *member)
{
    char choices[160];
    if (!json_is_object(value)) {
        calc_json_value_type_error(report, "an object", value, NULL);
        return;
    }
    if (json_object_size(value) == 0) {
        calc_json_report_add(report, CALC_ERR_FIELD, CALC_JSON_VALUE, NULL,
                             "expected at least one of %s",
                             calc_choices_text(field->choices, choices, sizeof choices));
    }
    size_t elements = 0;
    while (field->choices[elements]) {
        elements++;
    }
    memset(member, 0, field->element * elements);
    const char *key;
    json_t *element;
    int position = 0;
    json_object_foreach (value, key, element) {
        int index = calc_choice_index(field->choices, key);
        if (index < 0) {
            calc_json_bind_unknown(report, key, position,
                                   is_full(report) ? NULL : calc_nearest(key, field->choices));
        } else {
            size_t mark = calc_json_report_enter(report, key);
            calc_json_bind_table(report, field->table, element,
                                 member + (size_t)index * field->element);
            calc_json_report_leave(report, mark);
        }
        position++;
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

/* ---- Other names of fields ------------------------------------------------------------------ */

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

/* The key by which an object names a field: its own, its other one, or NULL. */
static const char *key_in(calc_json_report *report, const calc_table *table,
                          const calc_field *field, json_t *object)
{
    const calc_alias *alias = calc_alias_of(table, field->key);
    bool own = json_object_get(object, field->key) != NULL;
    if (!alias || !json_object_get(object, alias->key)) {
        return own ? field->key : NULL;
    }
    if (own) {
        size_t mark = calc_json_report_enter(report, alias->key);
        calc_json_report_add(report, CALC_ERR_FIELD, position_of(object, alias->key),
                             "keep one of them", "\"%s\" and \"%s\" set the same field", alias->key,
                             field->key);
        calc_json_report_leave(report, mark);
    }
    return alias->key;
}

/* Converts a number of things into the field's quantity: num_shared_experts into
 * shared_feedforward. */
static void bind_count(calc_json_report *report, const calc_table *table, const calc_alias *alias,
                       const json_t *value, char *object)
{
    const calc_field count_row = {.type = CALC_TYPE_INT, .lo = 0, .hi = 1e6};
    const calc_field *total = calc_table_find(table, alias->field);
    int64_t count = 0;
    int64_t each = 0;
    const char *times = alias->times[0];
    for (size_t i = 0; i < 2 && each == 0; i++) {
        times = alias->times[i];
        each = *(const int64_t *)(void *)(object + calc_table_find(table, times)->offset);
    }
    calc_json_value_scalar(report, &count_row, value, &count);
    if (!calc_field_in_range(total, (double)(count * each))) {
        calc_json_report_add(report, CALC_ERR_RANGE, CALC_JSON_VALUE, NULL,
                             "%lld times %s = %lld is out of range for %s, expected at most %.0f",
                             (long long)count, times, (long long)each, alias->field, total->hi);
        return;
    }
    *(int64_t *)(void *)(object + total->offset) = count * each;
}

void calc_json_bind_table(calc_json_report *report, const calc_table *table, json_t *value,
                          void *object)
{
    if (!json_is_object(value)) {
        calc_json_value_type_error(report, "an object", value, NULL);
        return;
    }
    calc_absent_fill(table, object);
    if (table == calc_table_of(CALC_KIND_EXEC) || table == calc_table_of(CALC_KIND_APP)) {
        calc_json_lists_clear(
            table == calc_table_of(CALC_KIND_EXEC) ? CALC_KIND_EXEC : CALC_KIND_APP, object);
    }
    const char *key;
    json_t *member;
    int position = 0;
    json_object_foreach (value, key, member) {
        if (!calc_table_find(table, key) && !calc_alias_find(table, key)) {
            calc_json_bind_unknown(report, key, position,
                                   is_full(report) ? NULL : calc_json_bind_nearest(table, key));
        }
        position++;
    }
    for (size_t i = 0; i < table->count; i++) {
        const calc_field *field = &table->rows[i];
        key = key_in(report, table, field, value);
        if (key) {
            const calc_alias *alias = calc_alias_find(table, key);
            size_t mark = calc_json_report_enter(report, key);
            member = json_object_get(value, key);
            if (alias && alias->times[0]) {
                bind_count(report, table, alias, member, object);
            } else if (calc_json_is_list(field)) {
                calc_json_lists_bind(report, field, member, object);
            } else if (!calc_json_bind_automatic(field, member, object)) {
                calc_json_bind_field(report, field, member, (char *)object + field->offset);
            }
            if (table == calc_table_of(CALC_KIND_EXEC)) {
                calc_software_state(object, field);
            }
            calc_json_report_leave(report, mark);
        } else if (report->partial && table == calc_table_of(CALC_KIND_EXEC)) {
            report->absent += !(field->flags & CALC_OPTIONAL);
        } else if (!(field->flags & CALC_OPTIONAL)) {
            calc_json_report_add(report, CALC_ERR_FIELD, CALC_JSON_VALUE, NULL,
                                 "missing key \"%s\"", field->key);
        }
    }
}
