#include "io/json_locate.h"

#include "base/error.h"

#include <jansson.h>
#include <stdio.h>
#include <string.h>

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
