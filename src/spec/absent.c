#include "spec/absent.h"

#include <string.h>

#include "spec/field.h"

/* Set a default that is not zero. */
static void put(const calc_field *field, void *member)
{
    if (field->type == CALC_TYPE_INT) {
        *(int64_t *)member = (int64_t)field->absent;
    } else if (field->type == CALC_TYPE_REAL && field->flags & CALC_OPTIONAL) {
        *(double *)member = field->absent * calc_field_scale(field);
    } else if (field->type == CALC_TYPE_OP && field->flags & CALC_OPTIONAL) {
        *(calc_network_op *)member = (calc_network_op){1, field->absent};
    } else if (field->type == CALC_TYPE_OBJECT) {
        calc_absent_fill(field->table, member);
    }
}

void calc_absent_fill(const calc_table *table, void *object)
{
    memset(object, 0, table->size);
    for (size_t i = 0; i < table->count; i++) {
        put(&table->rows[i], (char *)object + table->rows[i].offset);
    }
}

static bool op_is_absent(const calc_field *field, const calc_network_op *op)
{
    bool zero = op->scalar == 0 && op->offset == 0;
    return zero || (op->scalar == 1 && op->offset == field->absent);
}

bool calc_absent_is(const calc_field *field, const void *member)
{
    switch (field->type) {
    case CALC_TYPE_NOTE:
        return true;
    case CALC_TYPE_SYSTEM:
    case CALC_TYPE_ENGINE: /* both begin with a name */
        return *(const char *)member == '\0';
    case CALC_TYPE_OP:
        return op_is_absent(field, member);
    case CALC_TYPE_CURVE:
        return ((const calc_curve *)member)->count == 0;
    case CALC_TYPE_OBJECT:
        for (size_t i = 0; i < field->table->count; i++) {
            const calc_field *row = &field->table->rows[i];
            if (!calc_absent_is(row, (const char *)member + row->offset)) {
                return false;
            }
        }
        return true;
    case CALC_TYPE_LIST:
    case CALC_TYPE_MAP:
        return false;
    default:
        return calc_member_number(field, member) == field->absent;
    }
}
