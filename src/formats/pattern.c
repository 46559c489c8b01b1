#include "formats/pattern.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { DEPTH = 16 };

/* A list under construction. */
typedef struct list {
    const char *at; /* rest of the text */
    size_t count;
    char item[CALC_PATTERN_MAX]; /* 0 or 1 */
} list;

static bool sum(list *l, int depth);

static void skip_space(list *l)
{
    l->at += strspn(l->at, " \t");
}

static bool take(list *l, char c)
{
    skip_space(l);
    if (*l->at != c) {
        return false;
    }
    l->at++;
    return true;
}

static bool number(list *l, long *out)
{
    char *end;
    skip_space(l);
    if (!isdigit((unsigned char)*l->at)) {
        return false;
    }
    *out = strtol(l->at, &end, 10);
    l->at = end;
    return true;
}

/* Reads zeros and ones, separated by commas or blanks, up to a bracket or the end. */
static bool items(list *l)
{
    long value;
    while (number(l, &value)) {
        if (value > 1 || l->count == CALC_PATTERN_MAX) {
            return false;
        }
        l->item[l->count++] = (char)value;
        (void)take(l, ',');
    }
    return true;
}

/* Reads [0, 1]*n or (sum)*n. */
static bool term(list *l, int depth)
{
    size_t start = l->count;
    long times = 1;
    bool good = take(l, '[')   ? items(l) && take(l, ']')
                : take(l, '(') ? depth < DEPTH && sum(l, depth + 1) && take(l, ')')
                               : false;
    if (!good || (take(l, '*') && !number(l, &times))) {
        return false;
    }
    size_t length = l->count - start;
    if (times > CALC_PATTERN_MAX || start + length * (size_t)times > CALC_PATTERN_MAX) {
        return false;
    }
    for (long i = 1; i < times; i++) {
        memcpy(l->item + start + (size_t)i * length, l->item + start, length);
    }
    l->count = start + length * (size_t)times;
    return true;
}

static bool sum(list *l, int depth)
{
    bool good = term(l, depth);
    while (good && take(l, '+')) {
        good = term(l, depth);
    }
    return good;
}

bool calc_pattern_of(const char *mark, size_t count, calc_pattern *out)
{
    size_t dense = 0;
    size_t every = 1;
    while (dense < count && !mark[dense]) {
        dense++;
    }
    if (dense == count) {
        return false;
    }
    while (dense + every < count && !mark[dense + every]) {
        every++;
    }
    for (size_t i = dense; i < count; i++) {
        if (mark[i] != ((i - dense) % every == 0)) {
            return false;
        }
    }
    *out = (calc_pattern){.dense = (int64_t)dense, .every = (int64_t)every};
    return true;
}

/* Reads a list, with or without brackets. */
static bool whole(list *l)
{
    skip_space(l);
    bool good = *l->at == '[' || *l->at == '(' ? sum(l, 0) : items(l);
    skip_space(l);
    return good && *l->at == '\0';
}

size_t calc_pattern_list(const char *text, char mark[CALC_PATTERN_MAX])
{
    list l = {.at = text};
    if (!whole(&l)) {
        return 0;
    }
    memcpy(mark, l.item, l.count);
    return l.count;
}

bool calc_pattern_read(const char *text, calc_pattern *out)
{
    list l = {.at = text};
    long every;
    if (number(&l, &every) && (skip_space(&l), *l.at == '\0')) {
        *out = (calc_pattern){.every = every};
        return every >= 1 && every <= 1000000;
    }
    l = (list){.at = text};
    return whole(&l) && calc_pattern_of(l.item, l.count, out);
}

bool calc_pattern_list_write(const char *mark, size_t count, bool plain, char *text, size_t size)
{
    size_t unit = plain ? count : 1;
    while (unit < count && (count % unit != 0 || memcmp(mark, mark + unit, count - unit) != 0)) {
        unit++;
    }
    size_t length = (size_t)snprintf(text, size, plain ? "[" : "(");
    for (size_t i = 0, run; i < unit && length < size; i += run) {
        run = 1;
        while (!plain && i + run < unit && mark[i + run] == mark[i]) {
            run++;
        }
        const char *glue = i == 0 ? "" : plain ? ", " : "+";
        length += (size_t)snprintf(text + length, size - length, plain ? "%s%d" : "%s[%d]", glue,
                                   mark[i]);
        if (run > 1 && length < size) {
            length += (size_t)snprintf(text + length, size - length, "*%zu", run);
        }
    }
    if (length < size) {
        length += (size_t)snprintf(text + length, size - length, plain ? "]" : ")");
    }
    if (unit < count && length < size) {
        length += (size_t)snprintf(text + length, size - length, "*%zu", count / unit);
    }
    return length < size;
}

static bool write_plain(calc_pattern pattern, int64_t blocks, char *text, size_t size)
{
    size_t length = (size_t)snprintf(text, size, "[");
    for (int64_t i = 0; i < blocks && length < size; i++) {
        bool experts = i >= pattern.dense && (i - pattern.dense) % pattern.every == 0;
        length += (size_t)snprintf(text + length, size - length, "%s%d", i ? ", " : "", experts);
    }
    if (length + 1 >= size) {
        return false;
    }
    snprintf(text + length, size - length, "]");
    return true;
}

bool calc_pattern_write(calc_pattern pattern, int64_t blocks, bool plain, char *text, size_t size)
{
    int64_t rest = blocks - pattern.dense;
    if (pattern.dense == 0) {
        return (size_t)snprintf(text, size, "%lld", (long long)pattern.every) < size;
    }
    if (rest < 1) {
        return false;
    }
    if (plain || (pattern.every > 1 && rest % pattern.every != 0)) {
        return write_plain(pattern, blocks, text, size);
    }
    if (pattern.every > 1) {
        return (size_t)snprintf(text, size, "([0]*%lld+([1]+[0]*%lld)*%lld)",
                                (long long)pattern.dense, (long long)(pattern.every - 1),
                                (long long)(rest / pattern.every)) < size;
    }
    return (size_t)snprintf(text, size, "([0]*%lld+[1]*%lld)", (long long)pattern.dense,
                            (long long)rest) < size;
}
