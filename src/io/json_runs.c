#include "io/json_runs.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "io/json_load.h"
#include "io/utf8.h"
#include "spec/field.h"
#include "spec/software.h"

json_t *calc_json_runs_repeated(json_t *value, bool number, int64_t most, int64_t *times)
{
    const char *text = json_string_value(value);
    char *end;
    *times = 1;
    if (!text || text[0] < '0' || text[0] > '9') {
        return json_incref(value);
    }
    long n = strtol(text, &end, 10);
    if (*end != 'x' || n < 1 || n > most) {
        return json_incref(value);
    }
    const char *rest = end + 1;
    char *all;
    long whole = strtol(rest, &all, 10);
    *times = n;
    if (strcmp(rest, "null") == 0) {
        return json_null();
    }
    return number && *rest && !*all ? json_integer(whole) : json_string(rest);
}

int64_t calc_json_runs_length(json_t *list, int64_t most)
{
    int64_t count = 0;
    size_t i;
    json_t *element;
    json_array_foreach (list, i, element) {
        int64_t times;
        json_decref(calc_json_runs_repeated(element, false, most, &times));
        count += times;
    }
    return count;
}

static const calc_field *row_of(const char *key)
{
    return calc_table_find(calc_table_of(CALC_KIND_EXEC), key);
}

void calc_json_runs_recompute(calc_json_report *report, const json_t *value, int8_t *recompute)
{
    int kind = 0;
    calc_json_value_scalar(report, row_of("activation_recompute"), value, &kind);
    *recompute = (int8_t)kind;
}

void calc_json_runs_modules(calc_json_report *report, const json_t *value, uint16_t *out)
{
    const calc_field *row = row_of("recompute_modules");
    int64_t modules = 0;
    char bad[CALC_CHOICE_SET_SIZE];
    const char *text = json_string_value(value);
    if (!text) {
        calc_json_value_scalar(report, row, value, &modules);
    } else if (!calc_choice_set_parse(row->choices, text, &modules, bad)) {
        char choices[160], shown[CALC_UTF8_SHOW_SIZE];
        calc_json_report_add(report, CALC_ERR_RANGE, CALC_JSON_VALUE, NULL,
                             "\"%s\" is not one of %s", calc_utf8_show(shown, bad, strlen(bad)),
                             calc_choices_text(row->choices, choices, sizeof choices));
    }
    *out = (uint16_t)modules;
}

void calc_json_runs_recompute_text(int recompute, char *text)
{
    snprintf(text, CALC_CHOICE_SET_SIZE, "%s", row_of("activation_recompute")->choices[recompute]);
}

void calc_json_runs_modules_text(unsigned modules, char *text)
{
    char set[CALC_CHOICE_SET_SIZE];
    snprintf(text, CALC_CHOICE_SET_SIZE, "%s",
             calc_choice_set_text(row_of("recompute_modules")->choices, modules, set));
}

bool calc_json_runs_agree(const calc_json_runs *r, int key)
{
    char text[CALC_CHOICE_SET_SIZE], next[CALC_CHOICE_SET_SIZE];
    bool same = true;
    r->text(r->list, 0, key, text);
    for (int64_t i = 1; i < r->count; i++) {
        r->text(r->list, i, key, next);
        same = same && strcmp(text, next) == 0;
    }
    return same;
}

void calc_json_runs_put(calc_put *put, const char *name, const char *text, bool word, int64_t times,
                        bool always)
{
    char many[CALC_CHOICE_SET_SIZE + 32];
    snprintf(many, sizeof many, "%lldx%s", (long long)times, text);
    if (times > 1 || always) {
        calc_put_text(put, name, many);
    } else if (word) {
        calc_put_text(put, name, text);
    } else {
        calc_put_raw(put, name, text);
    }
}

void calc_json_runs_put_all(calc_put *put, const char *name, const calc_json_runs *r, int key)
{
    char text[CALC_CHOICE_SET_SIZE];
    bool word = r->text(r->list, 0, key, text);
    calc_json_runs_put(put, name, text, word, 1, false);
}

void calc_json_runs_put_each(calc_put *put, const char *name, const calc_json_runs *r, int key)
{
    char text[CALC_CHOICE_SET_SIZE], next[CALC_CHOICE_SET_SIZE];
    calc_put_array(put, name, CALC_PUT_LINE);
    for (int64_t i = 0; i < r->count;) {
        int64_t times = 0;
        bool word = r->text(r->list, i, key, text);
        do {
            times += r->times(r->list, i++);
            if (i < r->count) {
                r->text(r->list, i, key, next);
            }
        } while (i < r->count && strcmp(text, next) == 0);
        bool digits = text[0] >= '0' && text[0] <= '9'; /* of a name: not how often */
        calc_json_runs_put(put, NULL, text, word, times, word && digits);
    }
    calc_put_close(put);
}

void calc_json_lists_clear(calc_kind kind, void *object)
{
    if (kind == CALC_KIND_EXEC) {
        calc_exec *exec = object;
        exec->stages = (calc_stage_list){0};
        exec->layers = (calc_layer_list){0};
    } else if (kind == CALC_KIND_APP) {
        ((calc_app *)object)->stack = (calc_stack){0};
    }
}

void calc_json_lists_bind(calc_json_report *report, const calc_field *field, json_t *value,
                          void *object)
{
    if (field->flags & CALC_STAGES) {
        calc_json_stages_bind(report, value, object);
    } else if (field->flags & CALC_LAYERS) {
        calc_json_layers_bind(report, value, object);
    } else if (field->flags & CALC_SOFTWARE) {
        calc_exec *exec = object;
        exec->software_read &= !calc_json_value_name(report, value, "software document",
                                                     exec->software, sizeof exec->software);
    } else {
        calc_json_stack_bind(report, field, value, object);
    }
}

void calc_json_lists_take(const calc_field *field, void *object)
{
    if (field->flags & CALC_STAGES) {
        ((calc_exec *)object)->stages = (calc_stage_list){0};
    } else if (field->flags & CALC_LAYERS) {
        ((calc_exec *)object)->layers = (calc_layer_list){0};
    } else if (field->flags & CALC_SOFTWARE) {
        calc_software_apply(object, &(calc_exec){.automatic = 0}); /* nor what it gave */
        ((calc_exec *)object)->software[0] = '\0';
    } else {
        ((calc_app *)object)->stack = (calc_stack){0};
    }
}

bool calc_json_lists_put(calc_put *put, const calc_field *field, const void *object)
{
    const calc_exec *exec = object;
    if (field->flags & CALC_STAGES && exec->stages.count > 0) {
        calc_json_stages_put(put, field->key, &exec->stages);
    } else if (field->flags & CALC_LAYERS && exec->layers.count > 0) {
        calc_json_layers_put(put, field->key, &exec->layers);
    } else if (field->flags & CALC_SOFTWARE && exec->software[0]) {
        calc_put_text(put, field->key, exec->software);
    } else if (field->flags & CALC_STACK) {
        calc_json_stack_put(put, field, object);
    }
    return calc_json_is_list(field);
}
