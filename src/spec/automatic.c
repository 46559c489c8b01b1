#include "spec/automatic.h"

uint32_t calc_automatic_bit(const calc_field *field)
{
    const calc_table *table = calc_table_of(CALC_KIND_EXEC);
    uint32_t bit = 1;
    for (size_t i = 0; i < table->count; i++) {
        if (&table->rows[i] == field) {
            return field->flags & CALC_AUTO ? bit : 0;
        }
        bit <<= table->rows[i].flags & CALC_AUTO ? 1 : 0;
    }
    return 0;
}

void calc_automatic_set(calc_exec *exec, const calc_field *field)
{
    char *member = (char *)exec + field->offset;
    exec->automatic |= calc_automatic_bit(field);
    switch (field->type) {
    case CALC_TYPE_INT:
        *(int64_t *)(void *)member = 1;
        break;
    case CALC_TYPE_BOOL:
        *(bool *)member = false;
        break;
    default: /* ENUM */
        *(int *)(void *)member = 0;
    }
}
