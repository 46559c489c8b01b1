/* Every field with its path: src/spec/field.c. */
#include "spec/field.h"

#include <string.h>

#include "frame.h"

enum { MOST = 512 };

/* What was visited. */
typedef struct visited {
    size_t count;
    char path[MOST][128];
} visited;

/* calc_field_visitor */
static void note(void *context, const char *path, const calc_field *field)
{
    visited *v = context;
    ck_assert_uint_lt(v->count, MOST);
    ck_assert_ptr_null(field->table);
    strcpy(v->path[v->count++], path);
}

/* A path that names an element: the first of a list, one datatype of a map. */
static const char *of_an_element(const char *path, char *buffer)
{
    const char *from[] = {"[N]", "DATATYPE"};
    const char *to[] = {"[0]", "float16"};
    strcpy(buffer, path);
    for (size_t i = 0; i < 2; i++) {
        char *found = strstr(buffer, from[i]);
        if (found) {
            char rest[128];
            strcpy(rest, found + strlen(from[i]));
            strcpy(found, to[i]);
            strcat(buffer, rest);
        }
    }
    return buffer;
}

CALC_TEST_LOOP(every_path_is_one_that_finds_a_field_and_none_comes_twice, CALC_KIND_APP,
               CALC_KIND_COUNT)
{
    calc_kind kind = (calc_kind)_i;
    static visited v;
    v.count = 0;
    calc_field_each(calc_table_of(kind), note, &v);
    ck_assert_uint_ge(v.count, calc_table_of(kind)->count);
    for (size_t i = 0; i < v.count; i++) {
        char path[256];
        calc_field_ref ref;
        ck_assert_msg(calc_field_find(kind, of_an_element(v.path[i], path), &ref) == CALC_OK, "%s",
                      path);
        for (size_t j = 0; j < i; j++) {
            ck_assert_str_ne(v.path[i], v.path[j]);
        }
    }
}

CALC_TEST(fields_come_in_the_order_of_their_rows_with_those_inside_in_their_place)
{
    static visited v;
    v.count = 0;
    calc_field_each(calc_table_of(CALC_KIND_EXEC), note, &v);
    ck_assert_str_eq(v.path[0], "num_procs");
    ck_assert_str_eq(v.path[1], "tensor_par");
    ck_assert_str_eq(v.path[v.count - 1], "layers");
    size_t i = 0;
    while (strcmp(v.path[i], "software_efficiency") != 0) {
        i++;
    }
    ck_assert_str_eq(v.path[i + 1], "inference.phase");
}
