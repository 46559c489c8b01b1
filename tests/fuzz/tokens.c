#include "tokens.h"

#include <string.h>

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static bool is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

static size_t number_end(const char *text, size_t length, size_t i)
{
    for (i++; i < length; i++) {
        bool exponent = (text[i] == 'e' || text[i] == 'E') && i + 1 < length &&
                        (is_digit(text[i + 1]) || text[i + 1] == '-' || text[i + 1] == '+');
        if (exponent) {
            i++;
        } else if (!is_digit(text[i]) && text[i] != '.') {
            break;
        }
    }
    return i;
}

/* Words of options and keys have dashes inside: --num-layers, pipe-parallel-size. */
static size_t word_end(const char *text, size_t length, size_t i)
{
    while (i < length && (is_letter(text[i]) || is_digit(text[i]) || text[i] == '-')) {
        i++;
    }
    return i;
}

/* A quote without its partner in the line is a mark. */
static size_t string_end(const char *text, size_t length, size_t i)
{
    char quote = text[i];
    for (size_t k = i + 1; k < length && text[k] != '\n'; k++) {
        if (text[k] == quote) {
            return k + 1;
        }
        k += text[k] == '\\';
    }
    return i + 1;
}

static fuzz_token token_at(const char *text, size_t length, size_t i)
{
    fuzz_token token = {i, 1, FUZZ_MARK};
    size_t end = i + 1;
    char c = text[i], next = i + 1 < length ? text[i + 1] : '\0';
    if (c == '\n') {
        token.type = FUZZ_NEWLINE;
    } else if (c == ' ' || c == '\t' || c == '\r') {
        token.type = FUZZ_SPACE;
        while (end < length && (text[end] == ' ' || text[end] == '\t' || text[end] == '\r')) {
            end++;
        }
    } else if (is_digit(c) || ((c == '-' || c == '+' || c == '.') && is_digit(next))) {
        token.type = FUZZ_NUMBER;
        end = number_end(text, length, i);
    } else if (is_letter(c) || (c == '-' && (next == '-' || is_letter(next)))) {
        token.type = FUZZ_WORD;
        end = word_end(text, length, i);
    } else if (c == '"' || c == '\'') {
        end = string_end(text, length, i);
        token.type = end > i + 1 ? FUZZ_STRING : FUZZ_MARK;
    }
    token.length = end - i;
    return token;
}

static void add_element(fuzz_tokens *tokens, int first, int end, int colon, bool last)
{
    while (first < end && tokens->token[first].type <= FUZZ_NEWLINE) {
        first++;
    }
    int value = colon >= first ? colon + 1 : first;
    while (value < end && tokens->token[value].type <= FUZZ_NEWLINE) {
        value++;
    }
    if (first < end && value < end && tokens->elements < FUZZ_ELEMENTS) {
        tokens->element[tokens->elements++] = (fuzz_element){first, end, value, last};
    }
}

static void find_elements(fuzz_tokens *tokens)
{
    enum { DEPTH = 64 };
    int first[DEPTH] = {0}, colon[DEPTH] = {-1}, depth = 0;
    tokens->elements = 0;
    for (int i = 0; i < tokens->count; i++) {
        char c = tokens->token[i].type == FUZZ_MARK ? tokens->text[tokens->token[i].at] : '\0';
        if (c == '{' || c == '[' || c == '(') {
            if (++depth >= DEPTH) {
                return;
            }
            first[depth] = i + 1;
            colon[depth] = -1;
        } else if (c == '}' || c == ']' || c == ')') {
            if (depth > 0) {
                add_element(tokens, first[depth], i, colon[depth], true);
                depth--;
            }
        } else if (c == ',' && depth > 0) {
            add_element(tokens, first[depth], i, colon[depth], false);
            first[depth] = i + 1;
            colon[depth] = -1;
        } else if (c == ':' && colon[depth] < 0) {
            colon[depth] = i;
        }
    }
}

fuzz_form fuzz_form_of(const char *text, size_t length)
{
    size_t from = 0;
    while (from < length && (strchr(" \t\r\n", text[from]) || (text[from] & 0x80))) {
        from++;
    }
    if (from < length && (text[from] == '{' || text[from] == '[')) {
        return FUZZ_JSON;
    }
    size_t end = fuzz_line_of(text, length, from, &from);
    int commas = 0;
    for (size_t i = from; i < end; i++) {
        commas += text[i] == ',';
    }
    if (commas >= 2) {
        return FUZZ_CSV;
    }
    return end == length && memchr(text, '=', length) ? FUZZ_ASSIGNMENT : FUZZ_LINES;
}

void fuzz_tokens_make(fuzz_tokens *tokens, const char *text, size_t length)
{
    size_t at = 0;
    tokens->text = text;
    tokens->length = length;
    tokens->form = fuzz_form_of(text, length);
    tokens->count = 0;
    while (at < length && tokens->count < FUZZ_TOKENS - 1) {
        tokens->token[tokens->count] = token_at(text, length, at);
        at += tokens->token[tokens->count++].length;
    }
    if (at < length) {
        tokens->token[tokens->count++] = (fuzz_token){at, length - at, FUZZ_MARK};
    }
    find_elements(tokens);
}

size_t fuzz_line_of(const char *text, size_t length, size_t at, size_t *from)
{
    while (at > 0 && text[at - 1] != '\n') {
        at--;
    }
    *from = at;
    const char *newline = at < length ? memchr(text + at, '\n', length - at) : NULL;
    return newline ? (size_t)(newline - text) + 1 : length;
}

size_t fuzz_cell_end(const char *text, size_t length, size_t at)
{
    bool quoted = false;
    for (; at < length; at++) {
        if (text[at] == '"') {
            quoted = !quoted;
        } else if (!quoted && (text[at] == ',' || text[at] == '\n')) {
            break;
        }
    }
    return at;
}
