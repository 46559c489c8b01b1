#include "spec/same.h"

#include <string.h>

#include "spec/stack.h"

static bool same_curve(const calc_curve *a, const calc_curve *b)
{
    bool same = a->count == b->count;
    for (int64_t i = 0; i < a->count && same; i++) {
        same = a->threshold[i] == b->threshold[i] && a->efficiency[i] == b->efficiency[i];
    }
    return same;
}

/* Elements of a row with a count of its own. */
static size_t elements_of(const calc_field *field, const char *object)
{
    return field->type == CALC_TYPE_LIST
               ? (size_t) * (const int64_t *)(const void *)(object + field->count)
           : field->type == CALC_TYPE_MAP ? CALC_DATATYPE_COUNT
                                          : 1;
}

static bool same_row(const calc_field *field, const char *a, const char *b)
{
    const void *x = a + field->offset;
    const void *y = b + field->offset;
    const calc_network_op *p = x, *q = y;
    bool same = true;
    switch (field->type) {
    case CALC_TYPE_NOTE:
        return true;
    case CALC_TYPE_REAL:
        return *(const double *)x == *(const double *)y;
    case CALC_TYPE_BOOL:
        return *(const bool *)x == *(const bool *)y;
    case CALC_TYPE_ENUM:
        return *(const int *)x == *(const int *)y;
    case CALC_TYPE_INT:
    case CALC_TYPE_SET:
        return *(const int64_t *)x == *(const int64_t *)y;
    case CALC_TYPE_CURVE:
        return same_curve(x, y);
    case CALC_TYPE_OP:
        return p->scalar == q->scalar && p->offset == q->offset;
    case CALC_TYPE_SYSTEM:
    case CALC_TYPE_ENGINE: /* their names */
        return strcmp(x, y) == 0;
    case CALC_TYPE_OBJECT:
        return calc_same(field->table, x, y);
    case CALC_TYPE_LIST:
    case CALC_TYPE_MAP:
        same = elements_of(field, a) == elements_of(field, b);
        for (size_t i = 0; i < elements_of(field, a) && same; i++) {
            same = calc_same(field->table, (const char *)x + i * field->element,
                             (const char *)y + i * field->element);
        }
    }
    return same;
}

bool calc_same(const calc_table *table, const void *a, const void *b)
{
    bool same = table != calc_table_of(CALC_KIND_APP) ||
                calc_stack_same(&((const calc_app *)a)->stack, &((const calc_app *)b)->stack);
    for (size_t i = 0; i < table->count && same; i++) {
        same = same_row(&table->rows[i], a, b);
    }
    return same;
}
