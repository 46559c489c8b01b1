/* Lists of stages in JSON: every form, every refusal, and back. */
#include "documents.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "calc.h"
#include "frame.h"
#include "io/json_put.h"
#include "io/text.h"

static calc_exec exec;

/* Read an execution of 64 stages with a list. @return the status */
static calc_status read_list(const char *list, calc_errors *errors)
{
    char text[4096];
    snprintf(text, sizeof text, "%.*s,\n  \"stages\": %s\n}", (int)strlen(EXEC_TEXT) - 2, EXEC_TEXT,
             list);
    return calc_parse(CALC_KIND_EXEC, &exec, text, strlen(text), "x", errors);
}

/* It is read, and written as `written`, which is read as the same list. */
static void read_as(const char *list, const char *written)
{
    calc_errors errors = {0};
    calc_output *out;
    calc_text text = {0};
    ck_assert_msg(read_list(list, &errors) == CALC_OK, "%s: %s", list, errors.item[0].text);
    calc_stage_list first = exec.stages;
    ck_assert_int_eq(calc_output_open_memory(&out, &text, NULL), CALC_OK);
    calc_json_save(out, CALC_KIND_EXEC, &exec, 0);
    ck_assert_int_eq(calc_output_close(out, NULL), CALC_OK);
    const char *found = strstr(text.data, "\"stages\": ");
    ck_assert_ptr_nonnull(found);
    ck_assert_msg(strncmp(found + 10, written, strlen(written)) == 0 &&
                      strcmp(found + 10 + strlen(written), "\n}") == 0,
                  "%s is written as %s", list, found + 10);
    ck_assert_int_eq(calc_parse(CALC_KIND_EXEC, &exec, text.data, text.length, "x", NULL), CALC_OK);
    ck_assert_mem_eq(&first, &exec.stages, sizeof first);
    calc_text_free(&text);
}

CALC_TEST(an_array_has_an_entry_per_stage)
{
    read_as("[3, 61]", "{\"blocks\": [3, 61]}");
    read_as("[1, 1, 1, 7]", "{\"blocks\": [\"3x1\", 7]}");
    read_as("[\"63x1\", 33]", "{\"blocks\": [\"63x1\", 33]}");
    read_as("[{\"blocks\": 4, \"system\": \"a800\"}, \"2x3\", null]",
            "{\"blocks\": [4, \"2x3\", null], \"system\": [\"a800\", \"3xnull\"]}");
    read_as("[{\"activation_recompute\": \"full\", \"recompute_blocks\": 0}, {}]",
            "{\"activation_recompute\": [\"full\", null], "
            "\"recompute_blocks\": [0, null]}");
    ck_assert_int_eq(exec.stages.count, 2);
    ck_assert_int_eq(exec.stages.run[0].recompute_blocks, 0);
    ck_assert_int_eq(exec.stages.run[1].recompute_blocks, CALC_STAGE_AS_EXEC);
    ck_assert_int_eq(exec.stages.run[1].recompute, CALC_STAGE_AS_EXEC);
}

CALC_TEST(an_object_has_a_list_or_a_value_per_key)
{
    read_as("{\"blocks\": [\"64x3\"]}", "{\"blocks\": [\"64x3\"]}");
    read_as("{\"blocks\": 3}", "{\"blocks\": [\"64x3\"]}");
    read_as("{\"activation_recompute\": \"full\", \"recompute_blocks\": [0, \"63x2\"]}",
            "{\"activation_recompute\": \"full\", \"recompute_blocks\": [0, \"63x2\"]}");
    ck_assert_int_eq(exec.stages.run[0].blocks, CALC_STAGE_AS_EXEC);
    ck_assert_int_eq(exec.stages.run[0].recompute_blocks, 0);
    ck_assert_int_eq(exec.stages.run[1].places, 63);
    read_as("{\"system\": \"a800\", \"join_latency\": 1e-5}",
            "{\"blocks\": [\"64xnull\"], \"system\": \"a800\", \"join_latency\": 1e-05}");
    ck_assert_double_eq(exec.stages.join_latency_s, 1e-5);
    read_as("{\"activation_recompute\": [\"32xmodules\", \"32xnone\"], \"recompute_modules\": "
            "[\"32xmlp+core_attn\", \"32xnull\"]}",
            "{\"activation_recompute\": [\"32xmodules\", \"32xnone\"], \"recompute_modules\": "
            "[\"32xcore_attn+mlp\", \"32xnull\"]}");
    ck_assert_uint_eq(exec.stages.run[0].modules,
                      1U << CALC_RECOMPUTE_MODULES_CORE_ATTN | 1U << CALC_RECOMPUTE_MODULES_MLP);
    /* An array is of stages, here: in an entry of one it is of modules. */
    read_as("[{\"recompute_modules\": [\"mlp\", \"moe\"], \"activation_recompute\": \"modules\"}]",
            "{\"blocks\": [null], \"activation_recompute\": \"modules\", \"recompute_modules\": "
            "\"mlp+moe\"}");
}

CALC_TEST(a_map_has_a_value_per_system)
{
    read_as("{\"recompute_blocks\": {\"h800\": 1}, \"system\": [\"32xa800\", \"32xh800\"], "
            "\"activation_recompute\": {\"h800\": \"full\", \"a800\": \"none\"}}",
            "{\"system\": [\"32xa800\", \"32xh800\"], \"activation_recompute\": {\"a800\": "
            "\"none\", \"h800\": \"full\"}, \"recompute_blocks\": {\"h800\": 1}}");
    ck_assert_int_eq(exec.stages.chips, 2);
    ck_assert_int_eq(exec.stages.run[0].chip, 1);
    ck_assert_int_eq(exec.stages.run[0].recompute_blocks, CALC_STAGE_AS_EXEC);
    ck_assert_int_eq(exec.stages.run[1].recompute_blocks, 1);
    /* Names may begin with digits. */
    read_as("{\"system\": [\"2x4090\", \"62xh800\"]}", "{\"system\": [\"2x4090\", \"62xh800\"]}");
    ck_assert_str_eq(exec.stages.name[0], "4090");
    read_as("[{\"system\": \"3xa800\"}, {\"system\": \"3xa800\"}, {\"system\": \"2xh800\"}]",
            "{\"system\": [\"2x3xa800\", \"1x2xh800\"]}");
}

CALC_TEST(a_shorter_list_is_of_stages_and_counts_for_every_chunk)
{
    read_as("{\"blocks\": [\"64x1\", \"64x2\"], \"system\": [\"32xa800\", \"32xh800\"]}",
            "{\"blocks\": [\"64x1\", \"64x2\"], \"system\": [\"32xa800\", \"32xh800\", "
            "\"32xa800\", \"32xh800\"]}");
    ck_assert_int_eq(exec.stages.count, 4);
}

/* ---- Refusals -------------------------------------------------------------------------------- */

#define MANY                                                                                       \
    "[1,2,1,2,1,2,1,2,1,2,1,2,1,2,1,2,1,2,1,2,1,2,1,2,1,2,1,2,1,2,1,2,1,2,1,2,1,2,1,2,1,2,1,2,1,"  \
    "2,1,2,1]"

static const struct {
    const char *list, *printed;
} refusals[] = {
    {"{}", "x:25:13: /stages: expected an array of stages, or an object of lists, found an "
           "object\n  hint: for example {\"blocks\": [7, \"6x8\", 7]}"},
    {"[]", "x:25:13: /stages: expected an array of stages, or an object of lists, found an array "
           "of 0\n  hint: for example {\"blocks\": [7, \"6x8\", 7]}"},
    {"7", "x:25:13: /stages: expected an array of stages, or an object of lists, found 7\n  hint: "
          "for example {\"blocks\": [7, \"6x8\", 7]}"},
    {"{\"block\": [1]}",
     "x:25:14: /stages/block: unknown key \"block\"\n  hint: did you mean \"blocks\"?"},
    {"[{\"blok\": 1}]",
     "x:25:15: /stages/0/blok: unknown key \"blok\"\n  hint: did you mean \"blocks\"?"},
    {"[{\"join_latency\": 1}]", "x:25:15: /stages/0/join_latency: unknown key \"join_latency\""},
    {"{\"blocks\": [-1]}",
     "x:25:25: /stages/blocks/0: -1 is out of range, expected 0 to 10000 blocks"},
    {"{\"blocks\": [10001]}",
     "x:25:25: /stages/blocks/0: 10001 is out of range, expected 0 to 10000 blocks"},
    {"{\"blocks\": [1.5]}", "x:25:25: /stages/blocks/0: expected an integer, found 1.5"},
    {"{\"blocks\": [\"0x3\"]}",
     "x:25:25: /stages/blocks/0: expected an integer, found string \"0x3\""},
    {"[\"2x\"]", "x:25:14: /stages/0: expected an integer, found string \"\""},
    {"[[1]]", "x:25:14: /stages/0: expected an integer, found an array of 1"},
    {"{\"blocks\": [\"100x3\", \"29x2\"]}",
     "x:25:13: /stages: at most 128 stages and chunks are listed, not 129"},
    {"[\"100x3\", \"29x2\"]", "x:25:23: /stages/1: at most 128 stages and chunks are listed"},
    {"{\"blocks\": []}", "x:25:24: /stages/blocks: 0 values beside 64 of another list\n  hint: a "
                         "list has a value per stage, or per stage and chunk"},
    {"{\"blocks\": [\"64x1\"], \"activation_recompute\": [\"full\", \"none\"]}",
     "x:25:58: /stages/activation_recompute: 2 values beside 64 of another list\n  hint: a list "
     "has a value per stage, or per stage and chunk"},
    {MANY, "x:25:13: /stages: more than 48 runs of equal stages"},
    {"{\"system\": 3}", "x:25:24: /stages/system: expected the name of a system, found 3"},
    {"{\"system\": \"null\"}",
     "x:25:24: /stages/system: expected the name of a system, found string \"null\""},
    {"{\"system\": \"\"}",
     "x:25:24: /stages/system: expected the name of a system, found string \"\""},
    {"{\"system\": [\"a\", \"b\", \"c\", \"d\", \"e\", \"f\", \"g\", \"h\", \"i\"]}",
     "x:25:65: /stages/system/8: at most 8 systems are named"},
    {"{\"system\": \"a\\tb\"}",
     "x:25:24: /stages/system: names of systems have no control characters"},
    {"{\"system\": \"0123456789abcdef0123456789abcdef\"}",
     "x:25:24: /stages/system: names of systems have at most 31 letters"},
    {"{\"activation_recompute\": \"half\"}",
     "x:25:38: /stages/activation_recompute: \"half\" is "
     "not one of none, attn_only, full, modules, selective_op"},
    {"{\"activation_recompute\": {\"h800\": \"full\"}}",
     "x:25:39: /stages/activation_recompute/h800: no stage is on a system \"h800\"\n  hint: name "
     "it in \"system\", too"},
    {"{\"recompute_blocks\": -1}",
     "x:25:34: /stages/recompute_blocks: -1 is out of range, expected 0 to 10000 blocks"},
    {"{\"recompute_modules\": \"mlp+norm\"}",
     "x:25:35: /stages/recompute_modules: \"norm\" is not one of core_attn, layernorm, "
     "mla_up_proj, mlp, moe_act, shared_experts, moe"},
    {"{\"join_latency\": -1}",
     "x:25:30: /stages/join_latency: -1 is out of range, expected 0 to 1 s"},
};
enum { REFUSALS = sizeof refusals / sizeof *refusals };

CALC_TEST_LOOP(what_is_wrong_is_told_with_its_place, 0, REFUSALS)
{
    calc_errors errors = {0};
    char printed[1024];
    ck_assert_int_ne(read_list(refusals[_i].list, &errors), CALC_OK);
    ck_assert_int_ge(errors.count, 1);
    calc_error_print(&errors.item[0], printed, sizeof printed);
    ck_assert_str_eq(printed, refusals[_i].printed);
}

CALC_TEST(lists_on_either_side_of_their_bounds)
{
    read_as("[\"100x3\", \"28x2\"]", "{\"blocks\": [\"100x3\", \"28x2\"]}");
    read_as("{\"system\": \"0123456789abcdef0123456789abcde\"}",
            "{\"blocks\": [\"64xnull\"], \"system\": \"0123456789abcdef0123456789abcde\"}");
    read_as("{\"blocks\": 10000, \"recompute_blocks\": 10000, \"join_latency\": 1}",
            "{\"blocks\": [\"64x10000\"], \"recompute_blocks\": 10000, \"join_latency\": 1}");
}

CALC_TEST(without_a_list_there_is_none)
{
    ck_assert_int_eq(calc_parse(CALC_KIND_EXEC, &exec, EXEC_TEXT, strlen(EXEC_TEXT), "x", NULL),
                     CALC_OK);
    ck_assert_int_eq(exec.stages.count, 0);
}

/* ---- --set ----------------------------------------------------------------------------------- */

CALC_TEST(an_assignment_takes_blocks_a_list_and_null)
{
    calc_app app = {0};
    calc_system system = {0};
    calc_errors errors = {0};
    ck_assert_int_eq(calc_parse(CALC_KIND_EXEC, &exec, EXEC_TEXT, strlen(EXEC_TEXT), "x", NULL),
                     CALC_OK);
    ck_assert_int_eq(calc_set(&app, &system, &exec, "stages=9,6x10,11", NULL, &errors), CALC_OK);
    ck_assert_int_eq(exec.stages.count, 3);
    ck_assert_int_eq(exec.stages.run[1].places, 6);
    ck_assert_int_eq(exec.stages.run[1].blocks, 10);
    ck_assert_int_eq(
        calc_set(&app, &system, &exec, "exe.stages={\"recompute_blocks\": 2}", NULL, &errors),
        CALC_OK);
    ck_assert_int_eq(exec.stages.count, 1);
    ck_assert_int_eq(exec.stages.run[0].places, 64);
    ck_assert_int_eq(calc_set(&app, &system, &exec, "stages=9,six", NULL, &errors), CALC_ERR_TYPE);
    ck_assert_int_eq(exec.stages.count, 1); /* as before */
    ck_assert_int_eq(calc_set(&app, &system, &exec, "stages=null", NULL, &errors), CALC_OK);
    ck_assert_int_eq(exec.stages.count, 0);
}
