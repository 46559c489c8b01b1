/* Reads TOML 1.0: tables and keys become dotted keys. */
#include "formats/read.h"

#include <ctype.h>
#include <string.h>

#include "base/error.h"

enum { PATH_SIZE = 512 };

typedef struct reader {
    calc_settings *settings;
    const char *at, *end, *line_start, *name;
    int line;
    calc_errors *errors;
    size_t table; /* length of the table's part of the path */
    size_t length;
    char path[PATH_SIZE];
    bool skipped; /* inside a table of an array of tables */
} reader;

static calc_status wrong(const reader *r, const char *text)
{
    return calc_errors_at(r->errors, CALC_ERR_SYNTAX, r->name, r->line,
                          (int)(r->at - r->line_start) + 1, NULL, "%s", text);
}

static char peek(const reader *r)
{
    return r->at < r->end ? *r->at : '\0';
}

/* Skips the next character. */
static void step(reader *r)
{
    if (peek(r) == '\n') {
        r->line++;
        r->line_start = r->at + 1;
    }
    r->at++;
}

static void skip_blanks(reader *r)
{
    while (peek(r) == ' ' || peek(r) == '\t' || peek(r) == '\r') {
        step(r);
    }
}

/* Skips blanks, ends of lines and comments. */
static void skip_lines(reader *r)
{
    for (bool comment = false;
         r->at < r->end && (comment || *r->at == '#' || isspace((unsigned char)*r->at)); step(r)) {
        comment = *r->at == '#' || (comment && *r->at != '\n');
    }
}

/* Adds a.b."c" to the path. */
static calc_status read_key(reader *r)
{
    do {
        skip_blanks(r);
        char quote = peek(r);
        bool quoted = quote == '"' || quote == '\'';
        if (quoted) {
            step(r);
        }
        const char *start = r->at;
        while (r->at < r->end &&
               (quoted ? *r->at != quote && *r->at != '\n'
                       : isalnum((unsigned char)*r->at) || *r->at == '_' || *r->at == '-')) {
            step(r);
        }
        size_t length = (size_t)(r->at - start);
        if (length == 0 || (quoted && peek(r) != quote)) {
            return wrong(r, "expected the name of a key");
        }
        if (quoted) {
            step(r);
        }
        size_t dot = r->length > 0;
        if (r->length + dot + length > PATH_SIZE) {
            return wrong(r, "the keys above this place are too long");
        }
        r->path[r->length] = '.';
        memcpy(r->path + r->length + dot, start, length);
        r->length += dot + length;
        skip_blanks(r);
    } while (peek(r) == '.' && (step(r), true));
    return CALC_OK;
}

static bool begins(const reader *r, const char *text)
{
    size_t length = strlen(text);
    return (size_t)(r->end - r->at) >= length && memcmp(r->at, text, length) == 0;
}

/* Reads a string: the text between the quotes, unchanged. `setting` may be NULL. */
static calc_status read_string(reader *r, calc_setting *setting)
{
    const char quote[] = {peek(r), peek(r), peek(r), '\0'};
    bool many = begins(r, quote);
    size_t quotes = many ? 3 : 1;
    const reader opening = *r;
    r->at += quotes;
    const char *start = r->at;
    while (r->at < r->end && !(many ? begins(r, quote) : *r->at == *quote)) {
        if (*r->at == '\n' && !many) {
            break;
        }
        if (*r->at == '\\' && *quote == '"' && r->at + 1 < r->end) {
            step(r);
        }
        step(r);
    }
    if (r->at >= r->end || *r->at != *quote) {
        return wrong(&opening, "this text has no closing quote");
    }
    size_t length = (size_t)(r->at - start);
    r->at += quotes;
    return !setting || calc_setting_append(setting, start, length) ? CALC_OK : CALC_ERR_NOMEM;
}

/* Reads a number, true, false or a date; drops underscores of numbers. */
static calc_status read_plain(reader *r, calc_setting *setting)
{
    char text[64];
    size_t length = 0;
    const reader start = *r;
    while (r->at < r->end && !isspace((unsigned char)*r->at) && !strchr(",]}#\"'[{=", *r->at)) {
        if (*r->at != '_' && length < sizeof text) {
            text[length++] = *r->at;
        }
        step(r);
    }
    if (length == 0 || length == sizeof text) {
        return wrong(&start, "expected a value");
    }
    return !setting || calc_setting_append(setting, text, length) ? CALC_OK : CALC_ERR_NOMEM;
}

/* Skips the contents of an inline table. */
static calc_status skip_inline(reader *r)
{
    const reader opening = *r;
    int open = 0;
    do {
        calc_status status = CALC_OK;
        if (peek(r) == '"' || peek(r) == '\'') {
            status = read_string(r, NULL);
        } else {
            open += (peek(r) == '{') - (peek(r) == '}');
            step(r);
        }
        if (status != CALC_OK) {
            return status;
        }
    } while (open > 0 && r->at < r->end);
    return open > 0 ? wrong(&opening, "this table has no closing brace") : CALC_OK;
}

/* Adds the items of an array, and of arrays in it, to the value. */
static calc_status read_value(reader *r, calc_setting *setting)
{
    const reader opening = *r;
    int open = 0;
    do {
        calc_status status = CALC_OK;
        if (open > 0) {
            skip_lines(r);
        }
        char c = peek(r);
        if (c == '[' || (open > 0 && c == ']')) {
            open += c == '[' ? 1 : -1;
            step(r);
        } else if (open > 0 && c == ',') {
            step(r);
        } else if (c == '"' || c == '\'') {
            status = read_string(r, setting);
        } else if (c == '{') {
            status = skip_inline(r);
        } else if (r->at < r->end) {
            status = read_plain(r, setting);
        } else if (open == 0) {
            status = wrong(r, "expected a value");
        }
        if (status != CALC_OK) {
            return status;
        }
    } while (open > 0 && r->at < r->end);
    return open > 0 ? wrong(&opening, "this array has no closing bracket") : CALC_OK;
}

static calc_status read_header(reader *r)
{
    r->skipped = begins(r, "[[");
    r->length = r->table = 0;
    r->at += r->skipped ? 2 : 1;
    calc_status status = read_key(r);
    if (status == CALC_OK && !begins(r, r->skipped ? "]]" : "]")) {
        return wrong(r, "expected ] after the name of a table");
    }
    r->at += r->skipped ? 2 : 1;
    r->table = r->length;
    return status;
}

static calc_status read_pair(reader *r)
{
    const reader start = *r;
    r->length = r->table;
    calc_status status = read_key(r);
    if (status != CALC_OK) {
        return status;
    }
    if (peek(r) != '=') {
        return wrong(r, "expected = after a key");
    }
    step(r);
    skip_blanks(r);
    if (r->skipped) {
        return read_value(r, NULL);
    }
    calc_setting *setting = calc_settings_add(r->settings, r->path, r->length);
    if (!setting) {
        return r->settings->count < CALC_SETTINGS_MAX ? CALC_ERR_NOMEM
                                                      : wrong(r, CALC_SETTINGS_TOO_MANY);
    }
    setting->line = start.line;
    setting->column = (int)(start.at - start.line_start) + 1;
    return read_value(r, setting);
}

calc_status calc_settings_from_toml(calc_settings *settings, const char *text, size_t length,
                                    const char *name, calc_errors *errors)
{
    reader r = {.settings = settings,
                .at = text,
                .end = text + length,
                .line_start = text,
                .name = name,
                .line = 1,
                .errors = errors};
    calc_status status = CALC_OK;
    for (skip_lines(&r); status == CALC_OK && r.at < r.end; skip_lines(&r)) {
        status = peek(&r) == '[' ? read_header(&r) : read_pair(&r);
        skip_blanks(&r);
        if (status == CALC_OK && r.at < r.end && peek(&r) != '\n' && peek(&r) != '#') {
            status = wrong(&r, "expected the end of the line");
        }
    }
    return status;
}
