#include "written.h"

#include <stdio.h>
#include <stdlib.h>

static void add(written *w, const char *key, const char *value)
{
    ck_assert_int_lt(w->count, WRITTEN_MAX);
    ck_assert_uint_lt(strlen(key), WRITTEN_TEXT);
    ck_assert_uint_lt(strlen(value), WRITTEN_TEXT);
    strcpy(w->key[w->count], key);
    strcpy(w->value[w->count], value);
    w->count++;
}

/* Without what surrounds it: blanks, quotes, a comma at the end. */
static char *bare(char *text)
{
    size_t length = strlen(text);
    while (length > 0 && strchr(" ,\r", text[length - 1])) {
        text[--length] = '\0';
    }
    while (*text == ' ') {
        text++;
        length--;
    }
    if (length >= 2 && strchr("\"'", *text) && text[length - 1] == *text) {
        text[length - 1] = '\0';
        text++;
    }
    return text;
}

/* The next line into `line`; NULL at the end. */
static const char *next_line(const char *text, char *line)
{
    size_t length = strcspn(text, "\n");
    if (!*text) {
        return NULL;
    }
    ck_assert_uint_lt(length, WRITTEN_TEXT);
    memcpy(line, text, length);
    line[length] = '\0';
    return text + length + (text[length] == '\n');
}

void written_shell(written *w, const char *text)
{
    char line[WRITTEN_TEXT];
    while ((text = next_line(text, line))) {
        char *option = strstr(line, "    --");
        char *variable = strncmp(line, "export ", 7) == 0 ? line + 7 : NULL;
        if (option == line || variable) {
            char *key = variable ? variable : option + 4;
            char *value = key + strcspn(key, variable ? "=" : " ");
            bool valued = *value != '\0';
            *value = '\0';
            add(w, key, valued ? bare(value + 1) : "");
        }
    }
}

void written_nested(written *w, const char *text)
{
    enum { DEPTH = 8 };
    char line[WRITTEN_TEXT], path[DEPTH][WRITTEN_TEXT] = {""}, key[WRITTEN_TEXT];
    bool json = *text == '{';
    while ((text = next_line(text, line))) {
        char *colon = strstr(line, json ? "\":" : ":");
        size_t level = strspn(line, " ") / 2 - json;
        if (*line == '#' || !colon) {
            continue;
        }
        ck_assert_uint_lt(level + 1, DEPTH);
        colon += json;
        *colon = '\0';
        snprintf(key, sizeof key, "%s%s%s", path[level], level ? "." : "", bare(line));
        char *value = bare(colon + 1);
        if (*value && *value != '{') {
            add(w, key, value);
        } else {
            memcpy(path[level + 1], key, sizeof key);
        }
    }
}

void written_tables(written *w, const char *text)
{
    char line[WRITTEN_TEXT], table[WRITTEN_TEXT / 4] = "", key[2 * WRITTEN_TEXT];
    while ((text = next_line(text, line))) {
        char *equals = strstr(line, " = ");
        if (*line == '[') {
            snprintf(table, sizeof table, "%.*s", (int)strcspn(line + 1, "]"), line + 1);
        } else if (*line != '#' && equals) {
            *equals = '\0';
            snprintf(key, sizeof key, "%s.%s", table, line);
            add(w, key, bare(equals + 3));
        }
    }
}

const char *written_value(const written *w, const char *key)
{
    for (int i = 0; i < w->count; i++) {
        if (strcmp(w->key[i], key) == 0) {
            return w->value[i];
        }
    }
    return NULL;
}

int64_t written_number(const written *w, const char *key, int64_t absent)
{
    const char *value = written_value(w, key);
    return value ? strtoll(value, NULL, 10) : absent;
}

bool written_yes(const written *w, const char *key)
{
    const char *value = written_value(w, key);
    return value && strcmp(value, "false") != 0;
}

bool written_is(const written *w, const char *key, const char *value)
{
    const char *found = written_value(w, key);
    return found && strcmp(found, value) == 0;
}

/* ---- Stages ---------------------------------------------------------------------------------- */

enum { LETTERS = 8192 };

/* Replace what stands before each "*n", a group in brackets or one letter, by n of it. */
static void multiply(char *text, bool groups)
{
    static char out[LETTERS];
    size_t length = 0;
    for (const char *at = text; *at;) {
        const char *from = at;
        const char *to = at + 1;
        if (groups && *at == '(') {
            to = strchr(at, ')');
            ck_assert_ptr_nonnull(to);
            from = at + 1;
        }
        const char *next = to + (from > at);
        long times = 1;
        if (*next == '*' && (from > at || !groups)) {
            char *end;
            times = strtol(next + 1, &end, 10);
            next = end;
        }
        for (long i = 0; i < times; i++) {
            ck_assert_uint_lt(length + (size_t)(to - from), LETTERS);
            memcpy(out + length, from, (size_t)(to - from));
            length += (size_t)(to - from);
        }
        at = next;
    }
    out[length] = '\0';
    memcpy(text, out, length + 1);
}

int64_t written_stages(const char *text, int64_t *blocks, int64_t *predictions)
{
    char letters[LETTERS];
    int64_t stages = 1;
    *blocks = *predictions = 0;
    ck_assert_uint_lt(strlen(text), LETTERS);
    strcpy(letters, text);
    multiply(letters, true);
    multiply(letters, false);
    size_t length = strlen(letters);
    bool fine = length > 1 && letters[0] == 'E' && letters[length - 1] == 'L';
    for (size_t i = 1; fine && i < length - 1; i++) {
        fine = strchr("tm|", letters[i]) && (letters[i] != 't' || *predictions == 0) &&
               (letters[i] != '|' || *predictions == 0);
        stages += letters[i] == '|';
        *blocks += letters[i] == 't';
        *predictions += letters[i] == 'm';
    }
    return fine ? stages : 0;
}
