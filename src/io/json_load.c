#include "io/json_load.h"

#include "io/json_bind.h"
#include "io/json_syntax.h"
#include "io/text.h"
#include "io/utf8.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void calc_json_allocate(void *(*allocate)(size_t size))
{
    json_set_alloc_funcs(allocate, free);
}

/* The token that byte `offset` ends or is inside of. */
static calc_json_token token_at(const char *text, size_t length, size_t offset)
{
    calc_json_token token = calc_json_scan(text, length, 0);
    while (token.end < offset && token.type != CALC_JSON_END) {
        token = calc_json_scan(text, length, token.end);
    }
    return token;
}

/* Jansson's reason knows what json_syntax.c cannot: the rest is explained there. */
static void explain(calc_json_report *report, const char *text, size_t length,
                    const json_error_t *error)
{
    size_t mark = calc_json_scan_mark(text, length);
    calc_json_token token = token_at(text, length, mark + (size_t)error->position);
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

calc_status calc_parse(calc_kind kind, void *object, const char *text, size_t length,
                       const char *name, calc_errors *errors)
{
    assert(kind == CALC_KIND_APP || kind == CALC_KIND_SYSTEM || kind == CALC_KIND_EXEC);
    calc_json_report report = {.kind = kind, .name = name, .text = text, .length = length};
    json_t *root = calc_json_load_text(&report, text, length);
    if (root) {
        calc_json_bind_table(&report, calc_table_of(kind), root, object);
        json_decref(root);
    }
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
