#include "formats/read.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_VARIABLES = 256, MAX_EXPANSIONS = 10000, WORD_SIZE = 4096 };

/* ---- Options from words ---------------------------------------------------------------------- */

static bool is_option(const char *word)
{
    return word[0] == '-' && word[1] == '-' && isalpha((unsigned char)word[2]);
}

/* Starts an option, or adds a word to the last one. */
static bool take_word(calc_settings *settings, const char *word, int argument, int line, int column)
{
    if (!is_option(word)) {
        return settings->count == 0 ||
               calc_setting_append(&settings->item[settings->count - 1], word, strlen(word));
    }
    size_t length = strcspn(word, "=");
    calc_setting *setting = calc_settings_add(settings, word, length);
    if (!setting) {
        return false;
    }
    setting->argument = argument;
    setting->line = line;
    setting->column = column;
    const char *value = word + length + (word[length] == '=');
    return !*value || calc_setting_append(setting, value, strlen(value));
}

calc_status calc_settings_from_words(calc_settings *settings, const char *const *word, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (!take_word(settings, word[i], (int)i + 1, 0, 0)) {
            return CALC_ERR_NOMEM;
        }
    }
    return CALC_OK;
}

/* ---- Words from a script --------------------------------------------------------------------- */

/* A variable: its name and value inside the text. */
typedef struct variable {
    const char *name, *value;
    size_t name_length, value_length;
} variable;

typedef struct script {
    const char *text, *end;
    int line;
    const char *line_start;
    char quote; /* quote of a string whose words are read one by one; else 0 */
    variable variable[MAX_VARIABLES];
    size_t variable_count;
    int expansions; /* so far; limited because variables may double each other */
    char word[WORD_SIZE];
    size_t word_length;
    bool has_word;
    bool closed; /* a list has ended, and no option has followed */
} script;

static void put(script *s, char c)
{
    s->has_word = true;
    if (s->word_length + 1 < WORD_SIZE) {
        s->word[s->word_length++] = c;
    }
}

static bool is_name(char c)
{
    return isalnum((unsigned char)c) || c == '_';
}

static size_t name_length(const char *at, const char *end)
{
    size_t length = 0;
    while (at + length < end && is_name(at[length])) {
        length++;
    }
    return length;
}

/* The last value given to a name among the first `count` variables. */
static const variable *find_variable(const script *s, const char *name, size_t length, size_t count)
{
    for (size_t i = count; i > 0; i--) {
        const variable *v = &s->variable[i - 1];
        if (v->name_length == length && memcmp(v->name, name, length) == 0) {
            return v;
        }
    }
    return NULL;
}

static const char *expand(script *s, const char *at, const char *end, size_t count);

/* The value of a variable or of a default, without quotes. Variables in it have the values set
 * before it. */
static void put_value(script *s, const char *at, const char *end, size_t count)
{
    while (at < end) {
        if (*at == '$') {
            at = expand(s, at, end, count);
        } else {
            if (*at != '"' && *at != '\'') {
                put(s, *at);
            }
            at++;
        }
    }
}

/* Expands $NAME, ${NAME} or ${NAME:-DEFAULT} if the text defines it; else keeps the sign itself.
 * @return the rest */
static const char *expand(script *s, const char *at, const char *end, size_t count)
{
    bool brace = at + 1 < end && at[1] == '{';
    const char *name = at + 1 + brace;
    size_t length = name_length(name, end);
    const char *after = name + length;
    size_t left = (size_t)(end - after) < WORD_SIZE ? (size_t)(end - after) : WORD_SIZE;
    const char *close = brace ? memchr(after, '}', left) : after;
    const variable *v = length > 0 ? find_variable(s, name, length, count) : NULL;
    bool possible = close && s->expansions < MAX_EXPANSIONS;
    s->expansions++;
    if (possible && v) {
        put_value(s, v->value, v->value + v->value_length, (size_t)(v - s->variable));
    } else if (possible && brace && length > 0 && close - after > 2 && after[0] == ':' &&
               after[1] == '-') {
        put_value(s, after + 2, close, count);
    } else {
        put(s, '$');
        return at + 1;
    }
    return close + brace;
}

/* The closing quote of a string; the end of the text if there is none. */
static const char *string_end(const script *s, const char *at)
{
    char quote = *at++;
    while (at < s->end && *at != quote) {
        at += *at == '\\' && quote == '"' && at + 1 < s->end ? 2 : 1;
    }
    return at;
}

/* Whether a string holds options and not one value. */
static bool holds_options(const char *at, const char *end)
{
    for (; at + 2 < end; at++) {
        if (at[0] == '-' && at[1] == '-' && isalpha((unsigned char)at[2])) {
            return true;
        }
    }
    return false;
}

/* Remembers NAME=value at the start of a word. @return the rest; NULL if there is none */
static const char *assignment(script *s, const char *at)
{
    size_t length = name_length(at, s->end);
    if (length == 0 || isdigit((unsigned char)*at) || at + length >= s->end || at[length] != '=') {
        return NULL;
    }
    const char *value = at + length + 1;
    const char *end = value;
    size_t quoted = value < s->end && (*value == '"' || *value == '\'');
    if (quoted) {
        end = string_end(s, value);
        if (end >= s->end || holds_options(value, end)) {
            return value;
        }
    } else {
        while (end < s->end && !isspace((unsigned char)*end) && *end != ';' && *end != '(') {
            end++;
        }
    }
    if (s->variable_count < MAX_VARIABLES) {
        s->variable[s->variable_count++] =
            (variable){at, value + quoted, length, (size_t)(end - value) - quoted};
    }
    return end + quoted;
}

static bool flush(script *s, calc_settings *settings, int line, int column)
{
    bool good = true;
    if (s->has_word) {
        s->word[s->word_length] = '\0';
        /* What follows a list of options is no value of the last one. */
        s->closed = s->closed && s->word[0] != '-';
        good = s->closed || take_word(settings, s->word, 0, line, column);
    }
    s->word_length = 0;
    s->has_word = false;
    return good;
}

/* Handles a character outside strings. @return the rest */
static const char *take_character(script *s, const char *at)
{
    if (*at == '\\' && at + 1 < s->end && at[1] != '\n' && at[1] != '\r') {
        put(s, at[1]);
        return at + 2;
    }
    if (*at == '$') {
        return expand(s, at, s->end, s->variable_count);
    }
    if (*at == '"' || *at == '\'') {
        const char *end = string_end(s, at);
        if (end >= s->end || holds_options(at, end)) {
            s->quote = s->quote ? s->quote : *at;
            return at + 1;
        }
        s->has_word = true;
        bool literal = *at == '\'';
        for (at++; at < end;) {
            if (*at == '$' && !literal) {
                at = expand(s, at, end, s->variable_count);
            } else {
                put(s, *at++);
            }
        }
        return end + 1;
    }
    put(s, *at);
    return at + 1;
}

static bool separates(const script *s, const char *at)
{
    return isspace((unsigned char)*at) || *at == '(' || *at == ')' || *at == ';' || *at == '`' ||
           *at == '\0' || (s->quote && *at == s->quote) ||
           (*at == '\\' && at + 1 < s->end && (at[1] == '\n' || at[1] == '\r'));
}

static calc_status read_script(script *s, calc_settings *settings)
{
    const char *at = s->text;
    int line = 1;
    int column = 1;
    while (at < s->end) {
        if (separates(s, at)) {
            if (!flush(s, settings, line, column)) {
                return CALC_ERR_NOMEM;
            }
            s->closed = s->closed || *at == ')' || *at == ';';
            s->quote = s->quote == *at ? '\0' : s->quote;
            s->line += *at == '\n';
            s->line_start = *at == '\n' ? at + 1 : s->line_start;
            at++;
            continue;
        }
        if (!s->has_word) {
            line = s->line;
            column = (int)(at - s->line_start) + 1;
            const char *after = assignment(s, at);
            if (*at == '#') {
                while (at < s->end && *at != '\n') {
                    at++;
                }
                continue;
            }
            if (after) {
                at = after;
                continue;
            }
        }
        at = take_character(s, at);
    }
    return flush(s, settings, line, column) ? CALC_OK : CALC_ERR_NOMEM;
}

calc_status calc_settings_from_script(calc_settings *settings, const char *text, size_t length)
{
    script *s = calloc(1, sizeof *s);
    if (!s) {
        return CALC_ERR_NOMEM;
    }
    s->text = s->line_start = text;
    s->end = text + length;
    s->line = 1;
    calc_status status = read_script(s, settings);
    free(s);
    return status;
}
