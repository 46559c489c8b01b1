#include "base/error.h"

#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

const char *calc_status_text(calc_status status)
{
    static const char *const text[] = {
#define CALC_X(name, sentence) sentence,
        CALC_STATUS_LIST(CALC_X)
#undef CALC_X
    };
    return (unsigned)status < CALC_STATUS_COUNT ? text[status] : "unknown status";
}

/* @return the new error, NULL if there is no room for it */
static calc_error *add(calc_errors *errors, calc_status status, const char *hint, const char *fmt,
                       va_list args)
{
    if (!errors) {
        return NULL;
    }
    if (errors->count >= CALC_MAX_ERRORS) {
        errors->dropped++;
        return NULL;
    }
    calc_error *error = &errors->item[errors->count++];
    memset(error, 0, sizeof *error);
    error->status = status;
    snprintf(error->hint, sizeof error->hint, "%s", hint ? hint : "");
    vsnprintf(error->text, sizeof error->text, fmt, args);
    return error;
}

calc_status calc_errors_add(calc_errors *errors, calc_status status, calc_kind kind,
                            const char *pointer, const char *hint, const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    calc_error *error = add(errors, status, hint, fmt, args);
    va_end(args);
    if (error) {
        error->kind = kind;
        snprintf(error->pointer, sizeof error->pointer, "%s", pointer ? pointer : "");
    }
    return status;
}

calc_status calc_errors_at(calc_errors *errors, calc_status status, const char *file, int line,
                           int column, const char *hint, const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    calc_error *error = add(errors, status, hint, fmt, args);
    va_end(args);
    if (error) {
        error->kind = CALC_KIND_NONE;
        calc_error_place(error, file ? file : "", line, column);
    }
    return status;
}

calc_status calc_errors_status(calc_errors *errors, calc_status status)
{
    return status == CALC_OK
               ? status
               : calc_errors_at(errors, status, NULL, 0, 0, NULL, "%s", calc_status_text(status));
}

calc_status calc_errors_no_memory(calc_errors *errors)
{
    return calc_errors_status(errors, CALC_ERR_NOMEM);
}

const char *calc_did_you_mean(const char *nearest, char hint[CALC_HINT_SIZE])
{
    hint[0] = '\0';
    if (nearest) {
        snprintf(hint, CALC_HINT_SIZE, "did you mean \"%s\"?", nearest);
    }
    return hint;
}

void calc_error_place(calc_error *error, const char *file, int line, int column)
{
    size_t length = strlen(file);
    if (length < sizeof error->file) {
        memcpy(error->file, file, length + 1);
    } else {
        const char *tail = file + length - (sizeof error->file - 4);
        snprintf(error->file, sizeof error->file, "...%s", tail);
    }
    error->line = line;
    error->column = column;
}

calc_status calc_errors_first(const calc_errors *errors)
{
    return errors && errors->count > 0 ? errors->item[0].status : CALC_OK;
}

int calc_error_print(const calc_error *error, char *buffer, size_t size)
{
    char place[320] = "";
    if (error->file[0] && error->line > 0 && error->column == 0) {
        snprintf(place, sizeof place, "%s:%d: ", error->file, error->line);
    } else if (error->file[0] && error->line > 0) {
        snprintf(place, sizeof place, "%s:%d:%d: ", error->file, error->line, error->column);
    } else if (error->file[0]) {
        snprintf(place, sizeof place, "%s: ", error->file);
    }
    return snprintf(buffer, size, "%s%s%s%s%s%s", place, error->pointer,
                    error->pointer[0] ? ": " : "", error->text, error->hint[0] ? "\n  hint: " : "",
                    error->hint);
}

int calc_edit_distance(const char *a, const char *b)
{
    enum { MAX = 64 };
    int table[MAX][MAX];
    size_t length_a = strlen(a);
    size_t length_b = strlen(b);
    if (length_a >= MAX || length_b >= MAX) {
        return INT_MAX;
    }
    for (size_t i = 0; i <= length_a; i++) {
        table[i][0] = (int)i;
    }
    for (size_t j = 0; j <= length_b; j++) {
        table[0][j] = (int)j;
    }
    for (size_t i = 1; i <= length_a; i++) {
        for (size_t j = 1; j <= length_b; j++) {
            int best = table[i - 1][j - 1] + (a[i - 1] != b[j - 1]);
            if (table[i - 1][j] + 1 < best) {
                best = table[i - 1][j] + 1;
            }
            if (table[i][j - 1] + 1 < best) {
                best = table[i][j - 1] + 1;
            }
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] &&
                table[i - 2][j - 2] + 1 < best) {
                best = table[i - 2][j - 2] + 1;
            }
            table[i][j] = best;
        }
    }
    return table[length_a][length_b];
}

enum { LEAST = 3 }; /* letters that say what a word begins with; for each one may be wrong */

/* The shortest of the words that begin with `word`, whatever its capitals; of a word of two letters
 * only one that has a letter more. NULL if none does. */
static const char *beginning_with(const char *word, size_t length, const char *const *words)
{
    const char *shortest = NULL;
    for (; *words; words++) {
        size_t other = strlen(*words);
        bool enough = length >= LEAST || (length == LEAST - 1 && other == LEAST);
        if (enough && strncasecmp(*words, word, length) == 0 &&
            (!shortest || other < strlen(shortest))) {
            shortest = *words;
        }
    }
    return shortest;
}

const char *calc_nearest(const char *word, const char *const *words)
{
    int length = (int)strnlen(word, 64);
    const char *nearest = beginning_with(word, (size_t)length, words);
    if (nearest) {
        return nearest;
    }
    int best = INT_MAX;
    for (; *words; words++) {
        int distance = calc_edit_distance(word, *words);
        int other = (int)strnlen(*words, 64);
        if (distance < best && distance <= (length > other ? length : other) / LEAST) {
            best = distance;
            nearest = *words;
        }
    }
    return nearest;
}
