#include "io/json_member.h"

#include "io/json_bind.h"
#include "io/json_value.h"
#include "spec/compat.h"
#include "spec/field.h"

#include <math.h>
#include <string.h>

void calc_json_member(calc_json_report *report, json_t *object, const char *key,
                      calc_json_read *read, void *out)
{
    json_t *value = json_object_get(object, key);
    if (!value) {
        calc_json_report_add(report, CALC_ERR_FIELD, CALC_JSON_VALUE, NULL, "missing key \"%s\"",
                             key);
        return;
    }
    size_t mark = calc_json_report_enter(report, key);
    read(report, value, out);
    calc_json_report_leave(report, mark);
}

bool calc_json_is_object(calc_json_report *report, json_t *value)
{
    if (!json_is_object(value)) {
        calc_json_value_type_error(report, "an object", value, NULL);
        return false;
    }
    return true;
}

bool calc_json_is_array(calc_json_report *report, json_t *value)
{
    if (!json_is_array(value)) {
        calc_json_value_type_error(report, "an array", value, NULL);
        return false;
    }
    return true;
}

void calc_json_read_name(calc_json_report *report, json_t *value, void *out)
{
    if (json_is_string(value)) {
        snprintf(out, CALC_JSON_NAME, "%s", json_string_value(value));
    } else {
        calc_json_value_type_error(report, "a text", value, NULL);
    }
}

void calc_json_no_memory(calc_json_report *report)
{
    calc_json_report_add(report, CALC_ERR_NOMEM, CALC_JSON_VALUE, NULL, "%s",
                         calc_status_text(CALC_ERR_NOMEM));
}

char *calc_json_text_of(calc_json_report *report, const json_t *value)
{
    char *text = json_dumps(value, JSON_ENCODE_ANY | JSON_REAL_PRECISION(17));
    if (!text) {
        calc_json_no_memory(report);
    }
    return text;
}

void calc_json_read_exec(calc_json_report *report, json_t *value, void *out)
{
    calc_json_bind_table(report, calc_table_of(CALC_KIND_EXEC), value, out);
}

void calc_json_read_compat(calc_json_report *report, json_t *value, void *out)
{
    calc_errors errors = {0};
    const char *text = json_string_value(value);
    if (!text) {
        calc_json_value_type_error(report, "a string", value, NULL);
    } else if (calc_compat_read(text, out, &errors) != CALC_OK) {
        calc_json_report_add(report, CALC_ERR_RANGE, CALC_JSON_VALUE, NULL, "%s",
                             errors.item[0].text);
    }
}

void calc_json_read_number(calc_json_report *report, json_t *value, void *out)
{
    double *number = out;
    *number = NAN;
    if (!json_is_null(value)) {
        (void)calc_json_value_number(report, value, number);
    }
}

void calc_json_read_stats(calc_json_report *report, json_t *value, void *out)
{
    const calc_table *table = calc_table_of(CALC_KIND_STATS);
    if (!calc_json_is_object(report, value)) {
        return;
    }
    memset(out, 0, sizeof(calc_stats));
    for (size_t i = 0; i < table->count; i++) {
        calc_json_member(report, value, table->rows[i].key, calc_json_read_number,
                         (char *)out + table->rows[i].offset);
    }
}
