/* Lists of layers in JSON: every form, every refusal, and back. */
#include "documents.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "calc.h"
#include "frame.h"
#include "io/json_put.h"
#include "io/text.h"
#include "spec/layer_list.h"

static calc_exec exec;

static calc_status read_list(const char *list, calc_errors *errors)
{
    char text[8192];
    snprintf(text, sizeof text, "%.*s,\n  \"layers\": %s\n}", (int)strlen(EXEC_TEXT) - 2, EXEC_TEXT,
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
    calc_layer_list first = exec.layers;
    ck_assert_int_eq(calc_output_open_memory(&out, &text, NULL), CALC_OK);
    calc_json_save(out, CALC_KIND_EXEC, &exec, 0);
    ck_assert_int_eq(calc_output_close(out, NULL), CALC_OK);
    const char *found = strstr(text.data, "\"layers\": ");
    ck_assert_ptr_nonnull(found);
    ck_assert_msg(strncmp(found + 10, written, strlen(written)) == 0 &&
                      strcmp(found + 10 + strlen(written), "\n}") == 0,
                  "%s is written as %s", list, found + 10);
    ck_assert_int_eq(calc_parse(CALC_KIND_EXEC, &exec, text.data, text.length, "x", NULL), CALC_OK);
    ck_assert_int_eq(first.count, exec.layers.count);
    ck_assert(calc_layer_list_alike(&first.ends, &exec.layers.ends));
    for (int32_t i = 0; i < first.count; i++) {
        ck_assert_int_eq(first.run[i].blocks, exec.layers.run[i].blocks);
        ck_assert(calc_layer_list_alike(&first.run[i].strategy, &exec.layers.run[i].strategy));
    }
    calc_text_free(&text);
}

CALC_TEST(an_array_has_an_entry_per_run)
{
    read_as("[{\"blocks\": 20, \"tensor_par\": 4, \"zero_stage\": 3, \"activation_recompute\": "
            "\"full\"}, {\"blocks\": 12}]",
            "{\"blocks\": [20, 12], \"tensor_par\": [4, null], \"zero_stage\": [3, null], "
            "\"activation_recompute\": [\"full\", null]}");
    ck_assert_int_eq(exec.layers.count, 2);
    ck_assert_int_eq(exec.layers.run[0].strategy.zero_stage, 3);
    ck_assert_int_eq(exec.layers.run[1].strategy.zero_stage, CALC_LAYER_AS_EXEC);
    ck_assert_int_eq(exec.layers.run[1].strategy.recompute, CALC_LAYER_AS_EXEC);
    read_as("[{\"tensor_par\": 8}, 3, \"2x4\"]",
            "{\"blocks\": [1, 11], \"tensor_par\": [8, null]}");
    read_as("[{\"blocks\": 2, \"tensor_par\": 8}, {\"blocks\": 3, \"tensor_par\": 8}]",
            "{\"blocks\": [5], \"tensor_par\": 8}");
}

CALC_TEST(an_object_has_a_list_or_a_value_per_key)
{
    read_as("{\"blocks\": [20, 12], \"tensor_par\": [4, 1], \"context_par\": 2, "
            "\"context_par_type\": \"ulysses\", \"ends\": {\"tensor_par\": 8, \"zero_stage\": 0}}",
            "{\"blocks\": [20, 12], \"tensor_par\": [4, 1], \"context_par\": 2, "
            "\"context_par_type\": \"ulysses\", \"ends\": {\"tensor_par\": 8, \"zero_stage\": 0}}");
    ck_assert_int_eq(exec.layers.ends.tensor_par, 8);
    ck_assert_int_eq(exec.layers.ends.context_par, CALC_LAYER_AS_EXEC);
    read_as("{\"zero_stage\": [\"20x3\", \"12xnull\"]}",
            "{\"blocks\": [20, 12], \"zero_stage\": [3, null]}");
    read_as("{\"blocks\": 32, \"expert_par\": 4}", "{\"blocks\": [32], \"expert_par\": 4}");
    read_as("{\"blocks\": [4, 4, 4], \"activation_recompute\": [\"modules\", null, \"modules\"], "
            "\"recompute_modules\": [\"mlp+core_attn\", null, \"moe\"]}",
            "{\"blocks\": [\"3x4\"], \"activation_recompute\": [\"modules\", null, \"modules\"], "
            "\"recompute_modules\": [\"core_attn+mlp\", null, \"moe\"]}");
    read_as("{\"blocks\": [1, 1], \"tensor_par\": [null, 2], \"ends\": null}",
            "{\"blocks\": [\"2x1\"], \"tensor_par\": [null, 2]}");
}

static const struct {
    const char *list, *printed;
} refusals[] = {
    {"{}", "x:25:13: /layers: expected an array of runs of layers, or an object of lists, found an "
           "object\n  hint: for example {\"blocks\": [20, 12], \"tensor_par\": [4, 1]}"},
    {"[]", "x:25:13: /layers: expected an array of runs of layers, or an object of lists, found an "
           "array of 0\n  hint: for example {\"blocks\": [20, 12], \"tensor_par\": [4, 1]}"},
    {"7", "x:25:13: /layers: expected an array of runs of layers, or an object of lists, found 7\n"
          "  hint: for example {\"blocks\": [20, 12], \"tensor_par\": [4, 1]}"},
    {"{\"tensor_par\": 4}", "x:25:13: /layers: no list says how many layers there are\n  hint: "
                            "give \"blocks\", for example [20, 12]"},
    {"{\"block\": [1]}",
     "x:25:14: /layers/block: unknown key \"block\"\n  hint: did you mean \"blocks\"?"},
    {"[{\"tensorpar\": 1}]", "x:25:15: /layers/0/tensorpar: unknown key \"tensorpar\"\n  hint: "
                             "did you mean \"tensor_par\"?"},
    {"[{\"ends\": {}}]", "x:25:15: /layers/0/ends: unknown key \"ends\""},
    {"{\"blocks\": [1], \"ends\": {\"blocks\": 1}}",
     "x:25:38: /layers/ends/blocks: unknown key \"blocks\""},
    {"{\"blocks\": [1], \"ends\": 8}", "x:25:37: /layers/ends: expected an object, found 8\n  "
                                       "hint: for example {\"tensor_par\": 8}"},
    {"{\"blocks\": [0]}", "x:25:25: /layers/blocks/0: 0 is out of range, expected 1 to 10000"},
    {"{\"tensor_par\": [10001]}",
     "x:25:29: /layers/tensor_par/0: 10001 is out of range, expected 1 to 10000"},
    {"{\"zero_stage\": [4]}", "x:25:29: /layers/zero_stage/0: 4 is out of range, expected 0 to 3"},
    {"{\"blocks\": [1, 2], \"tensor_par\": [1]}",
     "x:25:46: /layers/tensor_par: 1 values beside 2 of another list\n  hint: a list has a value "
     "per run of layers"},
    {"{\"blocks\": [2], \"context_par_type\": \"round\"}",
     "x:25:49: /layers/context_par_type: \"round\" is not one of ring, all_gather, ulysses, "
     "hierarchical"},
    {"{\"blocks\": [\"1000x1\", \"25x1\"]}",
     "x:25:13: /layers: at most 1024 runs of layers are listed, not 1025"},
    {"[\"1000x1\", \"25x1\"]", "x:25:24: /layers/1: at most 1024 runs of layers are listed"},
    {"[[1]]", "x:25:14: /layers/0: expected an integer, found an array of 1"},
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

CALC_TEST(there_are_at_most_96_runs)
{
    char list[4096] = "{\"zero_stage\": [0";
    for (int i = 1; i < CALC_MAX_LAYER_RUNS; i++) {
        strcat(list, i % 2 ? ", 1" : ", 0");
    }
    size_t end = strlen(list);
    calc_errors errors = {0};
    strcat(list, "]}");
    ck_assert_int_eq(read_list(list, &errors), CALC_OK);
    ck_assert_int_eq(exec.layers.count, CALC_MAX_LAYER_RUNS);
    strcpy(list + end, ", 0]}");
    ck_assert_int_eq(read_list(list, &errors), CALC_ERR_RANGE);
    ck_assert_str_eq(errors.item[0].text, "more than 96 runs of equal layers");
}

CALC_TEST(an_assignment_takes_a_list_blocks_and_null)
{
    calc_app app = {0};
    calc_system system = {0};
    calc_errors errors = {0};
    ck_assert_int_eq(calc_parse(CALC_KIND_EXEC, &exec, EXEC_TEXT, strlen(EXEC_TEXT), "x", NULL),
                     CALC_OK);
    ck_assert_int_eq(exec.layers.count, 0);
    ck_assert_int_eq(calc_set(&app, &system, &exec,
                              "layers=[{\"blocks\": 3, \"tensor_par\": 2}, 5]", NULL, &errors),
                     CALC_OK);
    ck_assert_int_eq(exec.layers.count, 2);
    ck_assert_int_eq(calc_set(&app, &system, &exec, "layers=9,six", NULL, &errors), CALC_ERR_TYPE);
    ck_assert_int_eq(exec.layers.count, 2); /* as before */
    ck_assert_int_eq(calc_set(&app, &system, &exec, "exe.layers=3,5", NULL, &errors), CALC_OK);
    ck_assert_int_eq(exec.layers.count, 1);
    ck_assert_int_eq(exec.layers.run[0].blocks, 8);
    ck_assert_int_eq(calc_set(&app, &system, &exec, "layers=null", NULL, &errors), CALC_OK);
    ck_assert_int_eq(exec.layers.count, 0);
}
