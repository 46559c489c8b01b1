/** @file shipped_case.h  Shipped modern models on shipped machines, for tests of what is reported.
 */
#ifndef CALC_TESTS_SHIPPED_CASE_H
#define CALC_TESTS_SHIPPED_CASE_H

#include <check.h>
#include <stdio.h>

#include "calc.h"

typedef struct shipped_case {
    calc_app app;
    calc_system system;
    calc_exec exec;
} shipped_case;

static inline void load_shipped(calc_kind kind, void *object, const char *folder, const char *name)
{
    char path[512];
    calc_errors errors = {0};
    snprintf(path, sizeof path, CALC_DATA_DIR_SOURCE "/%s/%s.json", folder, name);
    ck_assert_msg(calc_load(kind, object, path, &errors) == CALC_OK, "%s: %s", path,
                  errors.item[0].text);
}

/** Load models/APP.json, systems/SYSTEM.json and executions/EXEC.json, which must be legal. */
static inline shipped_case load_case(const char *app, const char *system, const char *exec)
{
    shipped_case c;
    calc_errors errors = {0};
    load_shipped(CALC_KIND_APP, &c.app, "models", app);
    load_shipped(CALC_KIND_SYSTEM, &c.system, "systems", system);
    load_shipped(CALC_KIND_EXEC, &c.exec, "executions", exec);
    ck_assert_msg(calc_check(&c.app, &c.system, &c.exec, &errors) == CALC_OK, "%s: %s", exec,
                  errors.item[0].text);
    return c;
}

/** Layouts with every kind of parallel dimension. */
static const char *const modern_layouts[][3] = {
    {"llama3-405B", "h100_sxm", "llama3-405B_16384"},
    {"llama3-405B", "h100_sxm", "llama3-405B_128k"},
    {"llama3-8B", "h100_sxm", "llama3-8B_128_fsdp"},
    {"deepseek-v3-671B", "h800", "deepseek-v3_2048"},
    {"mixtral-8x7B", "h100_sxm", "mixtral-8x7B_64"},
    {"qwen3-30B-A3B", "h100_sxm", "qwen3-30B-A3B_32"},
};
enum { MODERN_LAYOUTS = sizeof modern_layouts / sizeof *modern_layouts };

static inline shipped_case modern_layout(int i)
{
    return load_case(modern_layouts[i][0], modern_layouts[i][1], modern_layouts[i][2]);
}

#endif
