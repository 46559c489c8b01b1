/* Texts in buffers and lists that grow: src/base/buffer.c. */
#include "base/buffer.h"

#include <stdlib.h>

#include "frame.h"

CALC_TEST(what_does_not_fit_is_cut_off)
{
    char text[8] = "ab";
    ck_assert_str_eq(calc_append(text, sizeof text, "%d%s", 12, "cd"), "ab12cd");
    ck_assert_str_eq(calc_append(text, sizeof text, "efgh"), "ab12cde");
    ck_assert_str_eq(calc_append(text, sizeof text, "i"), "ab12cde");
}

CALC_TEST(choices_are_joined_as_people_do)
{
    static const char *const words[] = {"a", "b", "c", NULL};
    char text[32] = "x: ";
    ck_assert_str_eq(calc_append_choices(text, sizeof text, NULL), "x: ");
    ck_assert_str_eq(calc_append_choices(text, sizeof text, words + 2), "x: c");
    text[0] = '\0';
    ck_assert_str_eq(calc_append_choices(text, sizeof text, words + 1), "b or c");
    text[0] = '\0';
    ck_assert_str_eq(calc_append_choices(text, sizeof text, words), "a, b or c");
}

CALC_TEST(a_list_keeps_its_elements_while_it_grows)
{
    int *list = NULL;
    size_t capacity = 0;
    for (int i = 0; i < 1000; i++) {
        int *grown = calc_grown(list, (size_t)i, &capacity, sizeof *grown);
        ck_assert_ptr_nonnull(grown);
        ck_assert_uint_gt(capacity, (size_t)i);
        ck_assert_uint_le(capacity, i < 8 ? 16 : 2 * (size_t)i);
        list = grown;
        list[i] = i;
    }
    for (int i = 0; i < 1000; i++) {
        ck_assert_int_eq(list[i], i);
    }
    free(list);
}

CALC_TEST(elements_are_added_behind_the_others)
{
    int64_t *list = NULL;
    size_t count = 0, capacity = 0;
    for (int64_t i = 0; i < 100; i++) {
        ck_assert(CALC_PUSH(list, count, capacity, &i));
        ck_assert_uint_eq(count, (size_t)i + 1);
        ck_assert_uint_ge(capacity, count);
    }
    for (int64_t i = 0; i < 100; i++) {
        ck_assert_int_eq(list[i], i);
    }
    free(list);
}
