#include "spec/field_each.h"

#include <stdio.h>

enum { PATH_SIZE = 128 };

static void each(const calc_table *table, const char *prefix, calc_field_visitor *visit,
                 void *context)
{
    for (size_t i = 0; i < table->count; i++) {
        const calc_field *field = &table->rows[i];
        char path[PATH_SIZE];
        const char *inside = field->type == CALC_TYPE_LIST  ? "[N]."
                             : field->type == CALC_TYPE_MAP ? ".DATATYPE."
                                                            : ".";
        snprintf(path, sizeof path, "%s%s%s", prefix, field->key, field->table ? inside : "");
        if (field->table) {
            each(field->table, path, visit, context);
        } else {
            visit(context, table, path, field);
        }
    }
}

void calc_field_each(const calc_table *table, calc_field_visitor *visit, void *context)
{
    each(table, "", visit, context);
}
