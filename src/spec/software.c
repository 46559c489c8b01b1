#include "spec/software.h"

#include <string.h>

#include "spec/absent.h"
#include "spec/field.h"

static void put_row(calc_exec_rows *rows, size_t row, bool value)
{
    uint64_t bit = UINT64_C(1) << row % 64;
    uint64_t *bits = &rows->bits[row / 64];
    *bits = value ? *bits | bit : *bits & ~bit;
}

bool calc_exec_rows_has(const calc_exec_rows *rows, size_t row)
{
    return rows->bits[row / 64] >> row % 64 & 1;
}

void calc_software_state(calc_exec *exec, const calc_field *field)
{
    const calc_table *table = calc_table_of(CALC_KIND_EXEC);
    for (size_t i = 0; i < table->count; i++) {
        if (&table->rows[i] == field) { /* and not a field of its inference */
            const void *member = (const char *)exec + field->offset;
            bool word = field->type == CALC_TYPE_ENUM &&
                        strcmp(field->choices[*(const int *)member], "auto") == 0;
            put_row(&exec->wished, i, false);
            put_row(&exec->stated, i, !word && !(exec->automatic & calc_automatic_bit(field)));
        }
    }
}

void calc_software_state_all(calc_exec *exec)
{
    memset(&exec->stated, 0xff, sizeof exec->stated);
    exec->wished = (calc_exec_rows){{0}};
}

void calc_software_copy(calc_exec *to, const calc_exec *from, size_t row)
{
    const calc_field *field = &calc_table_of(CALC_KIND_EXEC)->rows[row];
    double number = calc_member_number(field, (const char *)from + field->offset);
    calc_member_set(field, (char *)to + field->offset, number);
}

void calc_software_take(calc_exec *exec)
{
    const calc_table *table = calc_table_of(CALC_KIND_EXEC);
    for (size_t i = 0; i < table->count; i++) {
        const calc_field *field = &table->rows[i];
        bool size = field->type == CALC_TYPE_INT && !(field->flags & CALC_OPTIONAL);
        if (calc_exec_rows_has(&exec->wished, i)) {
            calc_member_set(field, (char *)exec + field->offset, size ? 1 : field->absent);
        }
    }
    exec->wished = (calc_exec_rows){{0}};
}

void calc_software_apply(calc_exec *exec, const calc_exec *software)
{
    const calc_table *table = calc_table_of(CALC_KIND_EXEC);
    calc_software_take(exec);
    for (size_t i = 0; i < table->count; i++) {
        bool scalar = table->rows[i].type < CALC_TYPE_CURVE; /* a number or words */
        if (scalar && calc_exec_rows_has(&software->stated, i) &&
            !calc_exec_rows_has(&exec->stated, i)) {
            calc_software_copy(exec, software, i);
            put_row(&exec->wished, i, true);
        }
    }
    exec->software_read = true;
}
