/** @file taylor_case.h  The configuration of DeepSeek-V3 that tests of Taylor's programs share. */
#ifndef CALC_TESTS_TAYLOR_CASE_H
#define CALC_TESTS_TAYLOR_CASE_H

#include <string.h>

#include "formats/yaml_edit.h"
#include "shipped_case.h"
#include "taylor/config.h"

/** Its text, with up to two keys changed; `key` NULL: none. */
static inline calc_text taylor_text(const char *key, const char *value, const char *other,
                                    const char *other_value)
{
    const calc_yaml_edit edits[] = {{key, value}, {other, other_value}};
    calc_errors errors = {0};
    calc_text text = {0}, edited = {0};
    ck_assert_int_eq(calc_text_read(&text, CALC_TEST_DATA "/cli/taylor/deepseek3.yaml", &errors),
                     CALC_OK);
    calc_status status = calc_yaml_edit_text(text.data, text.length, "a.yaml", edits,
                                             key ? (other ? 2 : 1) : 0, &edited, &errors);
    ck_assert_msg(status == CALC_OK, "%s", errors.item[0].text);
    calc_text_free(&text);
    return edited;
}

static inline calc_taylor_config taylor_config(const char *key, const char *value,
                                               const char *other, const char *other_value)
{
    calc_text text = taylor_text(key, value, other, other_value);
    calc_taylor_config config;
    calc_errors errors = {0};
    calc_status status =
        calc_taylor_config_parse(&config, text.data, text.length, "a.yaml", &errors);
    ck_assert_msg(status == CALC_OK, "%s", errors.item[0].text);
    calc_text_free(&text);
    return config;
}

static inline calc_system taylor_system(void)
{
    calc_system system;
    load_shipped(CALC_KIND_SYSTEM, &system, "systems", "ascend_910b");
    return system;
}

#endif
