/* Configurations in JSON: objects become dotted keys. */
#include "formats/read.h"

#include <string.h>

#include "base/error.h"
#include "io/json_scan.h"
#include "io/json_syntax.h"

enum { DEPTH = 16, PATH_SIZE = 512 };

typedef struct reader {
    calc_settings *settings;
    const char *text, *name;
    calc_errors *errors;
    size_t seen; /* bytes whose lines are counted */
    int line, column;
    size_t above[DEPTH + 1]; /* length of the path above each open object */
    int depth;
    size_t path_length;
    char path[PATH_SIZE];
    int lists; /* brackets open since the first "[" */
    bool key;  /* what comes next is one */
} reader;

static calc_status wrong(const reader *r, calc_json_place place, const char *hint, const char *text)
{
    int before = r->errors ? r->errors->count : 0;
    calc_errors_add(r->errors, CALC_ERR_SYNTAX, CALC_KIND_NONE, NULL, hint, "%s", text);
    if (r->errors && r->errors->count > before) {
        calc_error_place(&r->errors->item[before], r->name, place.line, place.column);
    }
    return CALC_ERR_SYNTAX;
}

/* Tokens come in order: each byte is looked at once. */
static calc_json_place place_of(reader *r, size_t offset)
{
    for (; r->seen < offset; r->seen++) {
        bool continues = ((unsigned char)r->text[r->seen] & 0xC0) == 0x80;
        bool newline = r->text[r->seen] == '\n';
        r->line += newline;
        r->column = newline ? 1 : r->column + !continues;
    }
    return (calc_json_place){.line = r->line, .column = r->column};
}

static calc_status take_key(reader *r, const char *at, size_t length, calc_json_place place)
{
    size_t above = r->above[r->depth];
    size_t dot = above > 0;
    if (above + dot + length > PATH_SIZE) {
        return wrong(r, place, NULL, "the keys above this place are too long");
    }
    r->path[above] = '.';
    memcpy(r->path + above + dot, at, length);
    r->path_length = above + dot + length;
    calc_setting *setting = calc_settings_add(r->settings, r->path, r->path_length);
    if (!setting) {
        return CALC_ERR_NOMEM;
    }
    setting->line = place.line;
    setting->column = place.column;
    return CALC_OK;
}

static calc_status take_value(reader *r, const char *at, size_t length)
{
    bool null = length == 4 && memcmp(at, "null", 4) == 0;
    calc_setting *last = &r->settings->item[r->settings->count - 1];
    return null || calc_setting_append(last, at, length) ? CALC_OK : CALC_ERR_NOMEM;
}

static calc_status take_scalar(reader *r, calc_json_token token)
{
    calc_json_place place = place_of(r, token.start);
    bool quoted = token.type == CALC_JSON_STRING;
    const char *at = r->text + token.start + quoted;
    size_t length = token.end - token.start - 2 * (size_t)quoted;
    if (r->key) {
        return take_key(r, at, length, place);
    }
    return r->lists > 1 ? CALC_OK : take_value(r, at, length);
}

static calc_status open_object(reader *r, size_t offset)
{
    if (r->depth == DEPTH) {
        return wrong(r, place_of(r, offset), NULL, "nested too deeply");
    }
    r->above[++r->depth] = r->path_length;
    r->key = true;
    return CALC_OK;
}

/* The text is known to be JSON. */
static calc_status take(reader *r, calc_json_token token)
{
    bool opens = token.type == '{' || token.type == '[';
    bool closes = token.type == '}' || token.type == ']';
    if (r->lists > 0 || token.type == '[') {
        r->lists += opens - closes;
        bool scalar = token.type == CALC_JSON_STRING || token.type == CALC_JSON_WORD;
        return scalar ? take_scalar(r, token) : CALC_OK;
    }
    switch (token.type) {
    case '{':
        return open_object(r, token.start);
    case '}':
        r->path_length = r->above[r->depth--];
        return CALC_OK;
    case ',':
        r->key = true;
        return CALC_OK;
    case ':':
        r->key = false;
        return CALC_OK;
    default:
        return take_scalar(r, token);
    }
}

calc_status calc_settings_from_json(calc_settings *settings, const char *text, size_t length,
                                    const char *name, calc_errors *errors)
{
    reader r = {
        .settings = settings, .text = text, .name = name, .errors = errors, .line = 1, .column = 1};
    calc_json_mistake mistake;
    if (calc_json_syntax_check(text, length, &mistake)) {
        return wrong(&r, calc_json_scan_place(text, length, mistake.offset),
                     mistake.hint[0] ? mistake.hint : NULL, mistake.text);
    }
    calc_json_token token = calc_json_scan(text, length, 0);
    if (token.type != '{') {
        return wrong(&r, calc_json_scan_place(text, length, token.start), NULL,
                     "expected an object {...}");
    }
    r.seen = calc_json_scan_mark(text, length);
    calc_status status = CALC_OK;
    while (status == CALC_OK && token.type != CALC_JSON_END) {
        status = take(&r, token);
        token = calc_json_scan(text, length, token.end);
    }
    return status;
}
