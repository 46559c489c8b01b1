#include "spec/absent.h"

#include <string.h>

#include "frame.h"

static const calc_field *row(size_t i)
{
    return &calc_table_of(CALC_KIND_EXEC)->rows[i];
}

CALC_TEST(each_field_that_may_say_auto_has_a_bit_of_its_own)
{
    uint32_t seen = 0;
    for (size_t i = 0; i < calc_table_of(CALC_KIND_EXEC)->count; i++) {
        uint32_t bit = calc_automatic_bit(row(i));
        ck_assert_int_eq(bit != 0, (row(i)->flags & CALC_AUTO) != 0);
        ck_assert_uint_eq(bit & seen, 0);
        ck_assert_uint_eq(bit & (bit - 1), 0);
        seen |= bit;
    }
    ck_assert_uint_eq(calc_automatic_bit(&calc_table_of(CALC_KIND_APP)->rows[0]), 0);
}

CALC_TEST(a_field_that_says_auto_asks_least_and_leaves_the_others)
{
    for (size_t i = 0; i < calc_table_of(CALC_KIND_EXEC)->count; i++) {
        if (!(row(i)->flags & CALC_AUTO)) {
            continue;
        }
        calc_exec exec;
        calc_exec before;
        memset(&exec, 0x77, sizeof exec);
        exec.automatic = 0;
        before = exec;
        calc_automatic_set(&exec, row(i));
        calc_field_ref ref = {CALC_KIND_EXEC, row(i), row(i)->offset};
        ck_assert_double_eq(calc_field_number(&ref, &exec), row(i)->type == CALC_TYPE_INT ? 1 : 0);
        ck_assert_uint_eq(exec.automatic, calc_automatic_bit(row(i)));
        size_t size = row(i)->type == CALC_TYPE_INT    ? sizeof(int64_t)
                      : row(i)->type == CALC_TYPE_BOOL ? sizeof(bool)
                                                       : sizeof(int);
        memset((char *)&exec + row(i)->offset, 0x77, size);
        exec.automatic = 0;
        ck_assert_mem_eq(&exec, &before, sizeof exec);
    }
}
