#include "base/error.h"
#include "io/json_report.h"

#include <string.h>

#include "frame.h"

static const char text[] = "{\n"
                           "  \"a\": 1,\n"
                           "  \"list\": [10, {\"x\": true}, [\"]\", 5]],\r\n"
                           "\t\"\xc3\xa4\xe2\x82\xac\": {\"q\\\"}\": 2},\n"
                           "  \"h\\u0069\": 7, \"a/b~c\": 8\n"
                           "}\n";

static void found_at(const char *pointer, int member, int line, int column)
{
    calc_json_place place;
    ck_assert_msg(calc_json_locate(text, strlen(text), pointer, member, &place), "%s", pointer);
    ck_assert_msg(place.line == line && place.column == column, "%s is at %d:%d, not %d:%d",
                  pointer, place.line, place.column, line, column);
}

CALC_TEST(values_are_found)
{
    found_at("", CALC_JSON_VALUE, 1, 1);
    found_at("/a", CALC_JSON_VALUE, 2, 8);
    found_at("/list", CALC_JSON_VALUE, 3, 11);
    found_at("/list/0", CALC_JSON_VALUE, 3, 12);
    found_at("/list/1/x", CALC_JSON_VALUE, 3, 22);
    found_at("/list/2", CALC_JSON_VALUE, 3, 29);
    found_at("/list/2/1", CALC_JSON_VALUE, 3, 35);
}

CALC_TEST(columns_count_characters_not_bytes)
{
    found_at("/\xc3\xa4\xe2\x82\xac", CALC_JSON_VALUE, 4, 8);
    found_at("/\xc3\xa4\xe2\x82\xac/q\"}", CALC_JSON_VALUE, 4, 17);
}

CALC_TEST(escapes_of_keys_and_pointers_are_undone)
{
    found_at("/hi", CALC_JSON_VALUE, 5, 14);
    found_at("/a~1b~0c", CALC_JSON_VALUE, 5, 26);
}

CALC_TEST(keys_are_found_by_number)
{
    found_at("", 0, 2, 3);
    found_at("", 1, 3, 3);
    found_at("", 3, 5, 3);
    found_at("", 4, 5, 17);
    found_at("/list/1", 0, 3, 17);
    found_at("", 5, 1, 1); /* no such key: the object */
}

CALC_TEST(a_pointer_that_leads_nowhere_gives_the_deepest_value)
{
    calc_json_place place;
    ck_assert(!calc_json_locate(text, strlen(text), "/list/1/y", CALC_JSON_VALUE, &place));
    ck_assert_int_eq(place.line, 3);
    ck_assert_int_eq(place.column, 16);
    ck_assert(!calc_json_locate(text, strlen(text), "/list/3", CALC_JSON_VALUE, &place));
    ck_assert_int_eq(place.column, 11);
    ck_assert(!calc_json_locate(text, strlen(text), "/a/b", CALC_JSON_VALUE, &place));
    ck_assert_int_eq(place.line, 2);
    ck_assert_int_eq(place.column, 8);
    ck_assert(!calc_json_locate(text, strlen(text), "/", CALC_JSON_VALUE, &place));
    ck_assert_int_eq(place.line, 1);
}

CALC_TEST(a_byte_order_mark_has_no_column)
{
    calc_json_place place;
    ck_assert(calc_json_locate("\xef\xbb\xbf{\"a\": 1}", 11, "/a", CALC_JSON_VALUE, &place));
    ck_assert_int_eq(place.line, 1);
    ck_assert_int_eq(place.column, 7);
}

CALC_TEST(every_cut_of_a_text_ends)
{
    for (size_t length = 0; length < sizeof text; length++) {
        calc_json_place place;
        calc_json_locate(text, length, "/list/2/1", CALC_JSON_VALUE, &place);
        ck_assert_int_ge(place.line, 1);
        calc_json_locate(text, length, "", 4, &place);
        ck_assert_int_ge(place.column, 1);
    }
}

CALC_TEST(errors_of_one_kind_without_a_place_get_one)
{
    calc_errors errors = {0};
    calc_errors_add(&errors, CALC_ERR_RULE, CALC_KIND_APP, "/a", NULL, "one");
    calc_errors_add(&errors, CALC_ERR_RULE, CALC_KIND_EXEC, "/a", NULL, "two");
    calc_errors_add(&errors, CALC_ERR_RULE, CALC_KIND_APP, "/none", NULL, "three");
    calc_errors_add(&errors, CALC_ERR_RULE, CALC_KIND_APP, "/a", NULL, "four");
    calc_error_place(&errors.item[3], "--set a=1", 0, 0);
    calc_errors_locate(&errors, CALC_KIND_APP, text, strlen(text), "app.json");
    ck_assert_str_eq(errors.item[0].file, "app.json");
    ck_assert_int_eq(errors.item[0].line, 2);
    ck_assert_int_eq(errors.item[0].column, 8);
    ck_assert_str_eq(errors.item[1].file, "");
    ck_assert_int_eq(errors.item[1].line, 0);
    ck_assert_int_eq(errors.item[2].line, 1);
    ck_assert_str_eq(errors.item[3].file, "--set a=1");
    calc_errors_locate(NULL, CALC_KIND_APP, text, strlen(text), "app.json");
}
