/* What must hold for any input of the fuzz targets; a violation aborts. */
#ifndef CALC_TESTS_FUZZ_H
#define CALC_TESTS_FUZZ_H

#include "calc.h"
#include "io/json_put.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const unsigned char *data, size_t size);

#define MUST(condition)                                                                            \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            fprintf(stderr, "%s:%d: broken: %s\n", __FILE__, __LINE__, #condition);                \
            abort();                                                                               \
        }                                                                                          \
    } while (0)

/* Save through a pipe: a saved struct is smaller than what a pipe holds. */
static inline size_t fuzz_save(calc_kind kind, const void *object, char *text, size_t size)
{
    int ends[2];
    char path[32];
    calc_output *out;
    MUST(pipe(ends) == 0);
    snprintf(path, sizeof path, "/dev/fd/%d", ends[1]);
    MUST(calc_output_open(&out, path, NULL) == CALC_OK);
    calc_json_save(out, kind, object, 0);
    MUST(calc_output_close(out, NULL) == CALC_OK);
    close(ends[1]);
    size_t length = 0;
    for (ssize_t count = 1; count > 0; length += (size_t)count) {
        count = read(ends[0], text + length, size - length);
        MUST(count >= 0);
    }
    close(ends[0]);
    return length;
}

static inline void fuzz_check_errors(const calc_errors *errors, calc_status status, bool placed)
{
    MUST(errors->count >= 1 && errors->count <= CALC_MAX_ERRORS);
    MUST(status == errors->item[0].status && status != CALC_ERR_NOMEM);
    for (int i = 0; i < errors->count; i++) {
        char line[2048];
        int length = calc_error_print(&errors->item[i], line, sizeof line);
        MUST(length > 0 && length < (int)sizeof line);
        MUST(errors->item[i].text[0]);
        for (const char *c = errors->item[i].text; *c; c++) {
            MUST((unsigned char)*c >= ' ' && *c != '\x7f');
        }
        MUST(!placed || (errors->item[i].line >= 1 && errors->item[i].column >= 1));
    }
}

/* What is not written is not stated: neutral values of a layout without a software, and notes. */
static inline void fuzz_agree_on_stated(const calc_exec *first, calc_exec *second)
{
    const calc_table *table = calc_table_of(CALC_KIND_EXEC);
    for (size_t i = 0; i < table->count; i++) {
        uint64_t bit = UINT64_C(1) << i % 64;
        if (!first->software[0] || table->rows[i].type == CALC_TYPE_NOTE) {
            second->stated.bits[i / 64] &= ~bit;
            second->stated.bits[i / 64] |= first->stated.bits[i / 64] & bit;
        }
    }
}

/* Any bytes either fail with errors that have a place, or give a struct that survives saving.
 * @return it, or NULL */
static inline const void *fuzz_document(calc_kind kind, const unsigned char *data, size_t size)
{
    static union {
        calc_app app;
        calc_system system;
        calc_exec exec;
    } first, second;
    static char text[1 << 16];
    calc_errors errors = {0};
    calc_status status = calc_parse(kind, &first, (const char *)data, size, "input", &errors);
    if (status != CALC_OK) {
        fuzz_check_errors(&errors, status, true);
        return NULL;
    }
    MUST(errors.count == 0);
    size_t length = fuzz_save(kind, &first, text, sizeof text);
    MUST(calc_parse(kind, &second, text, length, "saved", NULL) == CALC_OK);
    if (kind == CALC_KIND_EXEC) {
        fuzz_agree_on_stated(&first.exec, &second.exec);
    } else if (kind == CALC_KIND_APP && first.app.stack.parts > 0) {
        /* Parts like their type go, others may be in another order: what is written is the same. */
        static char again[sizeof text];
        MUST(fuzz_save(kind, &second, again, sizeof again) == length);
        MUST(memcmp(text, again, length) == 0);
        second.app.stack = first.app.stack;
    }
    MUST(memcmp(&first, &second, calc_table_of(kind)->size) == 0);
    return &first;
}

#endif
