/** @file differences.h  The fields in which two documents differ, as words: "path=value
 * path=value". */
#ifndef CALC_TESTS_DIFFERENCES_H
#define CALC_TESTS_DIFFERENCES_H

#include <stdio.h>
#include <string.h>

#include "calc.h"
#include "spec/field.h"
#include "spec/value_text.h"

typedef struct difference {
    calc_kind kind;
    const char *before, *after;
    FILE *out;
    int count;
} difference;

static inline void compare_field(difference *d, const char *path)
{
    char before[CALC_VALUE_TEXT], after[CALC_VALUE_TEXT];
    calc_field_ref ref;
    if (calc_field_find(d->kind, path, &ref) == CALC_OK) {
        calc_value_text(ref.field, d->before + ref.offset, before);
        calc_value_text(ref.field, d->after + ref.offset, after);
        if (strcmp(before, after) != 0) {
            fprintf(d->out, "%s%s=%s", d->count++ ? " " : "", path, after);
        }
    }
}

/* The fields of elements, too: networks[N], matrix.DATATYPE. */
static inline void see_field(void *context, const calc_table *table, const char *path,
                             const calc_field *field)
{
    char element[256];
    const char *list = strstr(path, "[N]"), *map = strstr(path, "DATATYPE");
    (void)table;
    if (field->type == CALC_TYPE_NOTE) {
        return;
    }
    for (int i = 0; i < (list ? CALC_MAX_NETWORKS : map ? CALC_DATATYPE_COUNT : 1); i++) {
        if (list) {
            snprintf(element, sizeof element, "%.*s[%d]%s", (int)(list - path), path, i, list + 3);
        } else if (map) {
            snprintf(element, sizeof element, "%.*s%s%s", (int)(map - path), path,
                     calc_datatype_names[i], map + 8);
        }
        compare_field(context, list || map ? element : path);
    }
}

/** Writes what differs of one kind.
 *  @param count  of fields that were written on this line, before and after */
static inline void print_differences(calc_kind kind, const void *before, const void *after,
                                     FILE *out, int *count)
{
    difference d = {kind, before, after, out, *count};
    calc_field_each(calc_table_of(kind), see_field, &d);
    *count = d.count;
}

#endif
