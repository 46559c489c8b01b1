#include "formats/read.h"

#include <stdio.h>
#include <string.h>

#include "frame.h"

/* What a file says, as "key=value;..."; keys without a value are left out. */
static const char *said(const char *json)
{
    static char text[8192];
    calc_settings settings = {0};
    calc_errors errors = {0};
    ck_assert_int_eq(calc_settings_from_json(&settings, json, strlen(json), "f", &errors), CALC_OK);
    text[0] = '\0';
    for (size_t i = 0; i < settings.count; i++) {
        const calc_setting *setting = &settings.item[i];
        if (setting->value[0]) {
            strcat(strcat(strcat(strcat(text, setting->key), "="), setting->value), ";");
        }
    }
    calc_settings_free(&settings);
    return text;
}

static void fails(const char *json, const char *printed)
{
    calc_settings settings = {0};
    calc_errors errors = {0};
    char line[512];
    ck_assert_int_eq(calc_settings_from_json(&settings, json, strlen(json), "f.json", &errors),
                     CALC_ERR_SYNTAX);
    ck_assert_int_eq(errors.count, 1);
    calc_error_print(&errors.item[0], line, sizeof line);
    ck_assert_str_eq(line, printed);
    calc_settings_free(&settings);
}

CALC_TEST(nested_keys_get_dots)
{
    ck_assert_str_eq(said("{\"a\": {\"b\": 1, \"c\": {\"d\": \"two\"}, \"e\": 3}, \"f\": 4}"),
                     "a.b=1;a.c.d=two;a.e=3;f=4;");
    ck_assert_str_eq(said("{\"a\": true, \"b\": -1.5e3, \"c\": \"x: {y}, \\\"z\"}"),
                     "a=true;b=-1.5e3;c=x: {y}, \"z;");
    ck_assert_str_eq(said("{\"a\":\"\\u00e4\\/\\t\",\n\t\"b\"\t:\t1}"), "a=\xC3\xA4/\t;b=1;");
    ck_assert_str_eq(said("{}"), "");
    ck_assert_str_eq(said("\xEF\xBB\xBF{\"a\": 1}"), "a=1;");
}

CALC_TEST(null_and_empty_are_no_value)
{
    ck_assert_str_eq(said("{\"a\": null, \"b\": \"\", \"c\": {}, \"d\": [], \"e\": \"null\"}"),
                     "e=null;");
}

CALC_TEST(lists_of_scalars_are_values)
{
    ck_assert_str_eq(said("{\"a\": [1, \"two\", true], \"b\": 3}"), "a=1 two true;b=3;");
    ck_assert_str_eq(said("{\"a\": [1, [2, {\"x\": 3}], 4], \"b\": {\"c\": 5}}"), "a=1 2 4;b.c=5;");
}

CALC_TEST(settings_have_their_place)
{
    const char *json = "{\n  \"\xC3\xA4\": 1, \"b\": 2,\n\"c\": 3}";
    calc_settings settings = {0};
    ck_assert_int_eq(calc_settings_from_json(&settings, json, strlen(json), "f", NULL), CALC_OK);
    ck_assert_uint_eq(settings.count, 3);
    ck_assert_int_eq(settings.item[1].line, 2);
    ck_assert_int_eq(settings.item[1].column, 11);
    ck_assert_int_eq(settings.item[2].line, 3);
    ck_assert_int_eq(settings.item[2].column, 1);
    calc_settings_free(&settings);
}

CALC_TEST(what_is_no_configuration_has_a_place)
{
    char deep[256] = "";
    fails("[1]", "f.json:1:1: expected an object {...}");
    fails("3", "f.json:1:1: expected an object {...}");
    fails("{\n \"a\": 1,\n}", "f.json:2:8: a comma with nothing between it and \"}\"\n"
                              "  hint: remove the comma");
    fails("{\"a\": \"\\ud83d\\ude00\"}", "f.json:1:10: found invalid Unicode character escape code "
                                         "while parsing a quoted scalar\n"
                                         "  hint: write the character itself");
    for (int i = 0; i < 17; i++) {
        strcat(deep, "{\"a\":");
    }
    strcat(deep, "1}}}}}}}}}}}}}}}}}");
    fails(deep, "f.json:1:81: nested too deeply");
}

CALC_TEST(keys_that_are_too_long_are_refused)
{
    char json[600] = "{\"";
    memset(json + 2, 'k', 512);
    strcpy(json + 514, "\": 1}");
    ck_assert_uint_eq(strlen(said(json)), 512 + 3);
    memset(json + 2, 'k', 513);
    strcpy(json + 515, "\": 1}");
    fails(json, "f.json:1:2: the keys above this place are too long");
}
