#include "io/json_runs.h"

#include <stdio.h>
#include <string.h>

#include "base/buffer.h"
#include "base/error.h"
#include "io/json_load.h"
#include "io/json_put.h"
#include "io/utf8.h"
#include "spec/field.h"
#include "spec/stack.h"

static bool is(const calc_field *field, const char *key)
{
    return strcmp(field->key, key) == 0;
}

/* A row under its other name, if the papers of the mixer use that. */
static calc_field named_row(calc_part_type type, const calc_field *field)
{
    static const char *const keys[CALC_PART_TYPE_COUNT] = {
        [CALC_PART_TYPE_MAMBA2] = "value_heads value_size key_heads key_size",
        [CALC_PART_TYPE_MAMBA1] = "key_size",
        [CALC_PART_TYPE_KIMI_DELTA] = "value_heads value_size",
        [CALC_PART_TYPE_LIGHTNING] = "value_heads value_size"};
    calc_field row = *field;
    row.key = keys[type] && calc_is_word(keys[type], field->key) ? field->also[0] : field->key;
    return row;
}

/* The type of a part: the text itself, or its "type". */
static int type_of(calc_json_report *report, json_t *value)
{
    json_t *said = json_is_object(value) ? json_object_get(value, "type") : value;
    const char *word = json_string_value(said);
    int type = word ? calc_choice_index(calc_part_type_names, word) : -1;
    if (type >= 0) {
        return type;
    }
    if (!said) {
        calc_json_report_add(report, CALC_ERR_FIELD, CALC_JSON_VALUE, "for example \"attention\"",
                             "missing key \"type\"");
        return -1;
    }
    size_t mark = json_is_object(value) ? calc_json_report_enter(report, "type") : 0;
    if (word) {
        calc_json_report_add(report, CALC_ERR_RANGE, CALC_JSON_VALUE,
                             CALC_DID_YOU_MEAN(calc_nearest(word, calc_part_type_names)),
                             "\"%s\" is not allowed, expected %s",
                             calc_utf8_shown(word, strlen(word)),
                             CALC_CHOICES(calc_part_type_names));
    } else {
        calc_json_value_type_error(
            report, json_is_object(value) ? "a string" : "an object, or the type of a part", said,
            NULL);
    }
    if (json_is_object(value)) {
        calc_json_report_leave(report, mark);
    }
    return -1;
}

static void bind_part(calc_json_report *report, const char *name, json_t *value, calc_app *app)
{
    const calc_table *table = calc_part_table();
    int type = type_of(report, value);
    const char *why = NULL;
    calc_part *part = type < 0 ? NULL : calc_stack_declare(app, name, (calc_part_type)type, &why);
    if (why) {
        calc_json_report_add(report, CALC_ERR_RANGE, CALC_JSON_VALUE, NULL, "%s", why);
    }
    const char *key;
    json_t *member;
    json_object_foreach (value, key, member) {
        const calc_field *field = calc_table_find(table, key);
        if (!field) {
            calc_json_bind_unknown(report, value, key, calc_json_bind_nearest(table, key));
        } else if (part && field != table->rows) {
            CALC_JSON_INSIDE (report, calc_json_report_enter(report, key)) {
                calc_json_bind_field(report, field, member, (char *)part + field->offset);
            }
        }
    }
}

static void bind_parts(calc_json_report *report, json_t *value, calc_app *app)
{
    const char *name;
    json_t *part;
    if (!json_is_object(value)) {
        calc_json_value_type_error(report, "an object of parts", value,
                                   "for example {\"local\": {\"type\": \"attention\", "
                                   "\"window_size\": 4096}}");
        return;
    }
    app->stack = (calc_stack){0};
    CALC_JSON_MEMBERS (report, value, name, part) {
        bind_part(report, name, part, app);
    }
}

static void bind_pattern(calc_json_report *report, json_t *value, bool mtp, calc_app *app)
{
    calc_stack_fault fault;
    const char *text = json_string_value(value);
    if (!text) {
        calc_json_value_type_error(report, "a pattern", value,
                                   "for example \"3xattention+mlp "
                                   "58xattention+moe\"");
    } else if (!calc_stack_read(app, text, mtp, &fault)) {
        calc_json_report_add(
            report, CALC_ERR_RANGE, CALC_JSON_VALUE, fault.hint, "%s, at %.24s", fault.text,
            text[fault.at] ? calc_utf8_shown(text + fault.at, strlen(text + fault.at)) : "the end");
    } else if (!mtp && app->stack.layers != app->num_blocks) {
        calc_json_report_add(report, CALC_ERR_RULE, CALC_JSON_VALUE,
                             "num_blocks says how many, so that a slip shows",
                             "the pattern has %d layers, num_blocks is %lld",
                             (int)app->stack.layers, (long long)app->num_blocks);
    }
}

void calc_json_stack_bind(calc_json_report *report, const calc_field *field, json_t *value,
                          calc_app *app)
{
    if (is(field, "parts")) {
        bind_parts(report, value, app);
    } else {
        bind_pattern(report, value, is(field, "mtp_layers"), app);
    }
}

/* Whether a part needs to be declared. */
static bool declares(const calc_app *app)
{
    bool any = false;
    for (int i = 0; i < app->stack.parts && !any; i++) {
        const calc_part own = calc_part_of(app, app->stack.part[i].type);
        any = !calc_stack_part_same(&app->stack.part[i], &own);
    }
    return any;
}

static void put_parts(calc_put *put, const char *key, const calc_app *app)
{
    const calc_table *table = calc_part_table();
    calc_put_object(put, key, CALC_PUT_LINES);
    for (int i = 0; i < app->stack.parts; i++) {
        const calc_part *part = &app->stack.part[i];
        const calc_part own = calc_part_of(app, part->type);
        if (calc_stack_part_same(part, &own)) {
            continue; /* there without declaration */
        }
        calc_put_object(put, part->name, CALC_PUT_LINE);
        for (size_t k = 0; k < table->count; k++) {
            const calc_field *field = &table->rows[k];
            double said = calc_member_number(field, (const char *)part + field->offset);
            if (k == 0 || said != calc_member_number(field, (const char *)&own + field->offset)) {
                const calc_field row = named_row(part->type, field);
                calc_json_put_member(put, &row, (const char *)part + field->offset);
            }
        }
        calc_put_close(put);
    }
    calc_put_close(put);
}

void calc_json_stack_put(calc_put *put, const calc_field *field, const calc_app *app)
{
    const calc_stack *s = &app->stack;
    char text[CALC_STACK_TEXT];
    if (is(field, "parts") && declares(app)) {
        put_parts(put, field->key, app);
    } else if (is(field, "layers") && s->layers > 0) {
        calc_put_text(put, field->key, calc_stack_text(s, false, text, sizeof text));
    } else if (is(field, "mtp_layers") && s->mtp > 0) {
        calc_put_text(put, field->key, calc_stack_text(s, true, text, sizeof text));
    }
}
