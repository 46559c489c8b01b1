/* The part of YAML that configurations of training frameworks use: block mappings of scalars and of
 * lists. What is deeper inside a list is passed over. */
#include "formats/read.h"

#include <string.h>

#include "base/error.h"

enum { DEPTH = 16, PATH_SIZE = 512 };

typedef struct yaml {
    calc_settings *settings;
    const char *name;
    calc_errors *errors;
    int line;
    int indent[DEPTH];         /* of the keys of each level */
    size_t path_length[DEPTH]; /* of the path above them */
    int depth;
    char path[PATH_SIZE];
    int brackets;    /* open ones of a list over many lines */
    int skip_indent; /* lines deeper than this belong to a text or a list of mappings; -1: none */
    bool last;       /* the last setting may get items of a list */
    int last_indent;
} yaml;

static calc_status wrong(yaml *y, int column, const char *text)
{
    calc_errors_add(y->errors, CALC_ERR_SYNTAX, CALC_KIND_NONE, NULL, NULL, "%s", text);
    if (y->errors && y->errors->count > 0 && y->errors->dropped == 0) {
        calc_error_place(&y->errors->item[y->errors->count - 1], y->name, y->line, column);
    }
    return CALC_ERR_SYNTAX;
}

/* Where the text of a line ends: before a comment and blanks. */
static size_t content_length(const char *at, size_t length)
{
    char quote = '\0';
    for (size_t i = 0; i < length; i++) {
        if (quote) {
            quote = at[i] == quote ? '\0' : quote;
        } else if (at[i] == '"' || at[i] == '\'') {
            quote = at[i];
        } else if (at[i] == '#' && (i == 0 || at[i - 1] == ' ')) {
            length = i;
        }
    }
    while (length > 0 && (at[length - 1] == ' ' || at[length - 1] == '\r')) {
        length--;
    }
    return length;
}

/* The colon that ends a key; `length` if there is none. */
static size_t key_end(const char *at, size_t length)
{
    for (size_t i = 0; i < length; i++) {
        if (at[i] == ':' && (i + 1 == length || at[i + 1] == ' ')) {
            return i;
        }
        if (at[i] == '"' || at[i] == '\'' || at[i] == '{' || at[i] == '[') {
            break;
        }
    }
    return length;
}

static void count_brackets(yaml *y, const char *at, size_t length)
{
    for (size_t i = 0; i < length; i++) {
        y->brackets += (at[i] == '[' || at[i] == '{') - (at[i] == ']' || at[i] == '}');
    }
    y->brackets = y->brackets < 0 ? 0 : y->brackets;
}

/* Append a scalar or the items of a flow list, without quotes, brackets and commas. */
static bool append(yaml *y, const char *at, size_t length)
{
    calc_setting *setting = &y->settings->item[y->settings->count - 1];
    count_brackets(y, at, length);
    bool list = length > 0 && (at[0] == '[' || setting->value[0]);
    size_t i = 0;
    while (i < length) {
        size_t start = i;
        const char *stops = list ? "[],\"' " : "\"'";
        while (i < length && !strchr(stops, at[i])) {
            i++;
        }
        if (i > start && !calc_setting_append(setting, at + start, i - start)) {
            return false;
        }
        i += i < length;
    }
    return true;
}

/* Anchors and tags before a value, and null. @return bytes to pass over */
static size_t decoration(const char *at, size_t length)
{
    size_t i = 0;
    while (i < length && (at[i] == '&' || at[i] == '!')) {
        while (i < length && at[i] != ' ') {
            i++;
        }
        while (i < length && at[i] == ' ') {
            i++;
        }
    }
    size_t left = length - i;
    bool null = (left == 1 && at[i] == '~') || (left == 4 && memcmp(at + i, "null", 4) == 0);
    return null ? length : i;
}

static calc_status enter_key(yaml *y, const char *key, size_t length, int indent)
{
    while (y->depth > 0 && y->indent[y->depth - 1] >= indent) {
        y->depth--;
    }
    size_t above = 0;
    if (y->depth > 0) {
        above = y->path_length[y->depth - 1];
    }
    if (y->depth == DEPTH || above + length + 2 > PATH_SIZE) {
        return wrong(y, indent + 1, "nested too deeply");
    }
    size_t dot = above > 0;
    y->path[above] = '.';
    memcpy(y->path + above + dot, key, length);
    y->indent[y->depth] = indent;
    y->path_length[y->depth] = above + dot + length;
    y->depth++;
    return CALC_OK;
}

static calc_status take_pair(yaml *y, const char *at, size_t length, int indent)
{
    size_t key = key_end(at, length);
    if (key == length || key == 0) {
        return wrong(y, indent + 1, "expected \"key: value\"");
    }
    calc_status status = enter_key(y, at, key, indent);
    if (status != CALC_OK) {
        return status;
    }
    size_t start = key + 1;
    while (start < length && at[start] == ' ') {
        start++;
    }
    start += decoration(at + start, length - start);
    y->last = false;
    if (start < length && (at[start] == '|' || at[start] == '>')) {
        y->skip_indent = indent;
        return CALC_OK;
    }
    calc_setting *setting = calc_settings_add(y->settings, y->path, y->path_length[y->depth - 1]);
    if (!setting) {
        return CALC_ERR_NOMEM;
    }
    setting->line = y->line;
    setting->column = indent + 1;
    y->last = start == length;
    y->last_indent = indent;
    return start == length || append(y, at + start, length - start) ? CALC_OK : CALC_ERR_NOMEM;
}

/* "- item": of the last key, if it is a scalar; else passed over with all that is below it. */
static calc_status take_item(yaml *y, const char *at, size_t length, int indent)
{
    size_t start = 1;
    while (start < length && at[start] == ' ') {
        start++;
    }
    bool scalar = start < length && key_end(at + start, length - start) == length - start;
    if (y->last && scalar && indent >= y->last_indent) {
        return append(y, at + start, length - start) ? CALC_OK : CALC_ERR_NOMEM;
    }
    y->skip_indent = indent;
    return CALC_OK;
}

static calc_status take_line(yaml *y, const char *at, size_t length)
{
    size_t indent = 0;
    while (indent < length && at[indent] == ' ') {
        indent++;
    }
    at += indent;
    length = content_length(at, length - indent);
    if (length == 0 || (indent == 0 && length >= 3 && memcmp(at, "---", 3) == 0)) {
        return CALC_OK;
    }
    if (y->brackets > 0 && y->settings->count > 0) {
        return append(y, at, length) ? CALC_OK : CALC_ERR_NOMEM;
    }
    if (y->skip_indent >= 0 && (int)indent > y->skip_indent) {
        return CALC_OK;
    }
    y->skip_indent = -1;
    if (at[0] == '\t') {
        return wrong(y, (int)indent + 1, "a tab cannot indent");
    }
    if (at[0] == '-' && (length == 1 || at[1] == ' ')) {
        return take_item(y, at, length, (int)indent);
    }
    return take_pair(y, at, length, (int)indent);
}

calc_status calc_settings_from_yaml(calc_settings *settings, const char *text, size_t length,
                                    const char *name, calc_errors *errors)
{
    yaml y = {.settings = settings, .name = name, .errors = errors, .skip_indent = -1};
    const char *end = text + length;
    while (text < end) {
        const char *newline = memchr(text, '\n', (size_t)(end - text));
        size_t line = newline ? (size_t)(newline - text) : (size_t)(end - text);
        y.line++;
        calc_status status = take_line(&y, text, line);
        if (status != CALC_OK) {
            return status;
        }
        text += line + (newline != NULL);
    }
    return CALC_OK;
}
