/** @file differences.h  The fields in which two documents differ, as words: "path=value
 * path=value". */
#ifndef CALC_TESTS_DIFFERENCES_H
#define CALC_TESTS_DIFFERENCES_H

#include <stdio.h>
#include <string.h>

#include "calc.h"
#include "spec/field.h"
#include "spec/stack.h"
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
static inline void see_field(void *context, const char *path, const calc_field *field)
{
    char element[256];
    const char *list = strstr(path, "[N]"), *map = strstr(path, "DATATYPE");
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

/** Writes the layers of a model that lists them, and what its parts have that the model has not. */
static inline void print_stack(const calc_app *app, FILE *out)
{
    char text[CALC_STACK_TEXT], before[CALC_VALUE_TEXT], after[CALC_VALUE_TEXT];
    const calc_table *rows = calc_part_table();
    for (int mtp = 0; mtp < 2; mtp++) {
        calc_stack_text(&app->stack, mtp, text, sizeof text);
        if (text[0]) {
            fprintf(out, "%s: %s\n", mtp ? "mtp_layers" : "layers", text);
        }
    }
    for (int i = 0; i < app->stack.parts; i++) {
        const calc_part *part = &app->stack.part[i];
        const calc_part plain = calc_part_of(app, part->type);
        fprintf(out, "part %s: %s", part->name, calc_part_type_names[part->type]);
        for (size_t k = 0; k < rows->count; k++) {
            const calc_field *row = &rows->rows[k];
            calc_value_text(row, (const char *)&plain + row->offset, before);
            calc_value_text(row, (const char *)part + row->offset, after);
            if (strcmp(before, after) != 0) {
                fprintf(out, " %s=%s", row->key, after);
            }
        }
        fputs("\n", out);
    }
}

#endif
