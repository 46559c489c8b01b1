#include "io/json_report.h"

#include <jansson.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

size_t calc_json_report_enter(calc_json_report *report, const char *key)
{
    size_t mark = strlen(report->pointer);
    size_t used = mark;
    size_t room = sizeof report->pointer - 1;
    /* Keys of the tables always fit; an unknown one may be cut, its place is found by its number.
     * Behind a cut one there may be no room for anything. */
    if (used < room) {
        report->pointer[used++] = '/';
    }
    for (; *key && used + 2 <= room; key++) {
        bool escape = *key == '~' || *key == '/';
        if (escape) {
            report->pointer[used++] = '~';
        }
        report->pointer[used++] = *key == '~' ? '0' : *key == '/' ? '1' : *key;
    }
    report->pointer[used] = '\0';
    return mark;
}

size_t calc_json_report_enter_index(calc_json_report *report, size_t index)
{
    char word[24];
    snprintf(word, sizeof word, "%zu", index);
    return calc_json_report_enter(report, word);
}

void calc_json_report_leave(calc_json_report *report, size_t mark)
{
    report->pointer[mark] = '\0';
}

static void place(calc_json_report *report, calc_json_place where)
{
    calc_error *error = &report->found.item[report->found.count - 1];
    calc_error_place(error, report->name, where.line, where.column);
}

calc_status calc_json_report_add(calc_json_report *report, calc_status status, int member,
                                 const char *hint, const char *fmt, ...)
{
    if (report->found.count == CALC_MAX_ERRORS) {
        report->found.dropped++;
        return status;
    }
    char text[sizeof report->found.item->text];
    va_list args;
    va_start(args, fmt);
    vsnprintf(text, sizeof text, fmt, args);
    va_end(args);
    calc_errors_add(&report->found, status, report->kind, report->pointer, hint, "%s", text);
    calc_json_place where = {0, 0};
    if (report->text) {
        char pointer[sizeof report->pointer];
        memcpy(pointer, report->pointer, sizeof pointer);
        if (member != CALC_JSON_VALUE) {
            *strrchr(pointer, '/') = '\0'; /* the object that has the key */
        }
        calc_json_locate(report->text, report->length, pointer, member, &where);
    }
    place(report, where);
    return status;
}

calc_status calc_json_report_add_at(calc_json_report *report, calc_status status, size_t offset,
                                    const char *hint, const char *fmt, ...)
{
    char text[sizeof report->found.item->text];
    va_list args;
    va_start(args, fmt);
    vsnprintf(text, sizeof text, fmt, args);
    va_end(args);
    calc_json_place where = {0, 0};
    if (report->text) {
        where = calc_json_scan_place(report->text, report->length, offset);
    }
    calc_errors_add(&report->found, status, report->kind, NULL, hint, "%s", text);
    place(report, where);
    return status;
}

static bool is_before(const calc_error *a, const calc_error *b)
{
    return a->line != b->line ? a->line < b->line : a->column < b->column;
}

json_t *calc_json_report_made(calc_json_report *report, json_t *value)
{
    if (!value) {
        calc_json_report_add(report, CALC_ERR_NOMEM, CALC_JSON_VALUE, NULL, "out of memory");
    }
    return value;
}

calc_status calc_json_report_close(calc_json_report *report, calc_errors *errors)
{
    calc_errors *found = &report->found;
    for (int i = 1; i < found->count; i++) {
        calc_error moved = found->item[i];
        int to = i;
        for (; to > 0 && is_before(&moved, &found->item[to - 1]); to--) {
            found->item[to] = found->item[to - 1];
        }
        found->item[to] = moved;
    }
    for (int i = 0; errors && i < found->count; i++) {
        if (errors->count < CALC_MAX_ERRORS) {
            errors->item[errors->count++] = found->item[i];
        } else {
            errors->dropped++;
        }
    }
    if (errors) {
        errors->dropped += found->dropped;
    }
    return calc_errors_first(found);
}

typedef struct document {
    const char *text;
    size_t length;
} document;

static calc_json_token token_after(const document *doc, calc_json_token token)
{
    return calc_json_scan(doc->text, doc->length, token.end);
}

/* The last token of the value that starts with `token`. */
static calc_json_token last_of_value(const document *doc, calc_json_token token)
{
    int depth = 0;
    for (;;) {
        depth += token.type == '{' || token.type == '[';
        depth -= token.type == '}' || token.type == ']';
        if (depth <= 0 || token.type == CALC_JSON_END) {
            return token;
        }
        token = token_after(doc, token);
    }
}

/* The token after the value that starts with `token`. */
static calc_json_token skip_value(const document *doc, calc_json_token token)
{
    return token_after(doc, last_of_value(doc, token));
}

/* The next component of a pointer, unescaped. False if it does not fit. */
static bool next_component(const char **pointer, char *word, size_t size)
{
    size_t used = 0;
    const char *at = *pointer + 1;
    for (; *at && *at != '/'; at++) {
        if (used + 1 >= size) {
            return false;
        }
        char byte = *at;
        if (byte == '~' && (at[1] == '0' || at[1] == '1')) {
            at++;
            byte = *at == '0' ? '~' : '/';
        }
        word[used++] = byte;
    }
    word[used] = '\0';
    *pointer = at;
    return true;
}

static bool key_is(const document *doc, calc_json_token token, const char *key)
{
    const char *quoted = doc->text + token.start;
    size_t length = token.end - token.start;
    if (!memchr(quoted, '\\', length)) {
        return length == strlen(key) + 2 && memcmp(quoted + 1, key, length - 2) == 0;
    }
    json_t *decoded = json_loadb(quoted, length, JSON_DECODE_ANY, NULL);
    bool same = json_is_string(decoded) && strcmp(json_string_value(decoded), key) == 0;
    json_decref(decoded);
    return same;
}

/* Step from the container at *value into its member or element `word`. */
static bool step_into(const document *doc, calc_json_token *value, const char *word)
{
    bool object = value->type == '{';
    if (!object && value->type != '[') {
        return false;
    }
    calc_json_token token = token_after(doc, *value);
    for (size_t index = 0; token.type != CALC_JSON_END && token.type != '}' && token.type != ']';
         index++) {
        bool found;
        if (object) {
            found = key_is(doc, token, word);
            token = token_after(doc, token_after(doc, token)); /* over the colon */
        } else {
            char number[24];
            snprintf(number, sizeof number, "%zu", index);
            found = strcmp(number, word) == 0;
        }
        if (found) {
            *value = token;
            return true;
        }
        token = skip_value(doc, token);
        if (token.type == ',') {
            token = token_after(doc, token);
        }
    }
    return false;
}

/* The key of the n-th member of the object at `value`; `value` itself if there is none. */
static calc_json_token member_key(const document *doc, calc_json_token value, int n)
{
    calc_json_token key = token_after(doc, value);
    for (int i = 0; i < n && key.type == CALC_JSON_STRING; i++) {
        key = skip_value(doc, token_after(doc, token_after(doc, key)));
        if (key.type == ',') {
            key = token_after(doc, key);
        }
    }
    return key.type == CALC_JSON_STRING ? key : value;
}

/* The first token of the value at `pointer`, or of the deepest existing value on the way. */
static bool walk(const document *doc, const char *pointer, calc_json_token *value)
{
    char word[128];
    bool found = true;
    *value = calc_json_scan(doc->text, doc->length, 0);
    while (found && *pointer == '/') {
        found = next_component(&pointer, word, sizeof word) && step_into(doc, value, word);
    }
    return found;
}

bool calc_json_span(const char *text, size_t length, const char *pointer, size_t *start,
                    size_t *end)
{
    document doc = {text, length};
    calc_json_token value;
    bool found = walk(&doc, pointer, &value);
    *start = value.start;
    *end = last_of_value(&doc, value).end;
    return found;
}

bool calc_json_locate(const char *text, size_t length, const char *pointer, int member,
                      calc_json_place *out)
{
    document doc = {text, length};
    calc_json_token value;
    bool found = walk(&doc, pointer, &value);
    if (found && member >= 0 && value.type == '{') {
        value = member_key(&doc, value, member);
    }
    *out = calc_json_scan_place(text, length, value.start);
    return found;
}

void calc_errors_locate(calc_errors *errors, calc_kind kind, const char *text, size_t length,
                        const char *name)
{
    for (int i = 0; errors && i < errors->count; i++) {
        calc_error *error = &errors->item[i];
        if (error->kind == kind && !error->file[0]) {
            calc_json_place place;
            calc_json_locate(text, length, error->pointer, CALC_JSON_VALUE, &place);
            calc_error_place(error, name, place.line, place.column);
        }
    }
}
