#include "base/buffer.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

char *calc_append(char *text, size_t size, const char *fmt, ...)
{
    size_t used = strlen(text);
    va_list args;
    va_start(args, fmt);
    vsnprintf(text + used, size - used, fmt, args);
    va_end(args);
    return text;
}

size_t calc_next_word(const char **at, const char *gaps)
{
    *at += strspn(*at, gaps);
    size_t length = strcspn(*at, gaps);
    *at += length;
    return length;
}

bool calc_word_in(const char *words, const char *word, size_t length)
{
    size_t found;
    while (words && length > 0 && (found = calc_next_word(&words, " ")) > 0) {
        if (found == length && memcmp(words - found, word, length) == 0) {
            return true;
        }
    }
    return false;
}

bool calc_is_word(const char *words, const char *word)
{
    return calc_word_in(words, word, strlen(word));
}

size_t calc_word_begins(const char *words, const char *text)
{
    size_t found;
    while (words && (found = calc_next_word(&words, " ")) > 0) {
        if (strncmp(words - found, text, found) == 0) {
            return found;
        }
    }
    return 0;
}

bool calc_text_has(const char *words, const char *text, size_t length)
{
    size_t found;
    while (words && (found = calc_next_word(&words, "|")) > 0) {
        for (size_t i = 0; i + found <= length; i++) {
            if (memcmp(text + i, words - found, found) == 0) {
                return true;
            }
        }
    }
    return false;
}

const calc_embedded *calc_embedded_find(const calc_embedded *list, const char *name)
{
    while (list->name && strcmp(list->name, name) != 0) {
        list++;
    }
    return list;
}

char *calc_append_choices(char *text, size_t size, const char *const *words)
{
    for (const char *const *word = words; word && *word; word++) {
        const char *between = word == words ? "" : word[1] ? ", " : " or ";
        calc_append(text, size, "%s%s", between, *word);
    }
    return text;
}

void *calc_grown(void *list, size_t count, size_t *capacity, size_t size)
{
    enum { FIRST = 16 };
    if (count < *capacity) {
        return list;
    }
    size_t larger = *capacity > 0 ? 2 * *capacity : FIRST;
    void *grown = realloc(list, larger * size);
    *capacity = grown ? larger : *capacity;
    return grown;
}

bool calc_push(void *list, size_t *count, size_t *capacity, const void *element, size_t size)
{
    char *had;
    memcpy(&had, list, sizeof had);
    char *grown = calc_grown(had, *count, capacity, size);
    if (grown) {
        memcpy(grown + *count * size, element, size);
        memcpy(list, &grown, sizeof grown);
        ++*count;
    }
    return grown != NULL;
}

void calc_free_all(void *const *list, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        free(list[i]);
    }
}

void calc_sort(void *list, size_t count, size_t size, int (*compare)(const void *, const void *))
{
    if (count > 0) {
        qsort(list, count, size, compare);
    }
}

int calc_order_numbers(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return CALC_ORDER(x, y);
}

int calc_order_texts(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}
