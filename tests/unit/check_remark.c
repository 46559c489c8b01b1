#include "cli/shell/inputs.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "frame.h"
#include "scratch.h"

const calc_test_frame calc_tests = {.timeout_s = 60};

static calc_input input_of(const char *name, char *text)
{
    calc_input input = {.text = {text, strlen(text)}};
    strcpy(input.name, name);
    return input;
}

static calc_remark_origin origin(char *source)
{
    const calc_text text = {source, strlen(source)};
    return calc_remark_read(&text).origin;
}

CALC_TEST(files_of_machines_say_where_their_constants_come_from)
{
    const calc_text nothing = {0};
    ck_assert_int_eq(origin("Calibrated on 2026-01-02 to 8 runs"), CALC_REMARK_CALIBRATED);
    ck_assert_int_eq(origin("No runs of this machine: constants. Calibrated on 2026-01-02"),
                     CALC_REMARK_FAMILY);
    ck_assert_int_eq(origin("No run was fitted: all are assumed"), CALC_REMARK_ASSUMED);
    ck_assert_int_eq(origin("rates rounded and efficiencies as in Calculon"), CALC_REMARK_CALCULON);
    ck_assert_int_eq(origin("{}"), CALC_REMARK_ASSUMED);
    ck_assert_int_eq(calc_remark_read(&nothing).origin, CALC_REMARK_ASSUMED);
    ck_assert_str_eq(calc_remark_origin_text(CALC_REMARK_CALIBRATED), "calibrated");
}

CALC_TEST(machines_that_are_not_calibrated_say_which_is)
{
    char text[CALC_REMARK_SIZE];
    setenv("CALC_PATH", CALC_DATA_DIR_SOURCE, 1);
    calc_input input = input_of("a100_80g", "efficiencies as in Calculon");
    ck_assert_str_eq(
        calc_input_remark(&input, CALC_KIND_SYSTEM, NULL, text),
        "a100_80g is not calibrated: its efficiencies are Calculon's; a100_sxm_80g is");
    input = input_of("h100", "{}");
    ck_assert_str_eq(calc_input_remark(&input, CALC_KIND_SYSTEM, NULL, text),
                     "h100 is not calibrated: its efficiencies are assumed; h100_sxm is");
    input = input_of("mi300x", "{}");
    ck_assert_str_eq(calc_input_remark(&input, CALC_KIND_SYSTEM, NULL, text),
                     "mi300x is not calibrated: its efficiencies are assumed");
    input = input_of("h200", "No runs of this machine");
    ck_assert_str_eq(calc_input_remark(&input, CALC_KIND_SYSTEM, NULL, text),
                     "no run of h200 was fitted: its constants are those of its family");
    input = input_of("a100_sxm_80g", "Calibrated on 2026-01-02");
    ck_assert_str_eq(calc_input_remark(&input, CALC_KIND_SYSTEM, NULL, text), "");
}

/* One's own come first in the list; a short name is the plain machine. */
CALC_TEST(the_plain_machine_is_named_before_variants_of_it)
{
    char folder[256], text[CALC_REMARK_SIZE];
    scratch_enter(folder, sizeof folder);
    ck_assert_int_eq(mkdir("systems", 0755), 0);
    FILE *file = fopen("systems/h100_a_cluster.json", "w");
    ck_assert_ptr_nonnull(file);
    fputs("{\"source\": \"Calibrated on 2026-01-02\"}", file);
    fclose(file);
    setenv("CALC_PATH", ".:" CALC_DATA_DIR_SOURCE, 1);
    calc_input input = input_of("h100_80g_nvl8", "{}");
    ck_assert_ptr_nonnull(
        strstr(calc_input_remark(&input, CALC_KIND_SYSTEM, NULL, text), "; h100_sxm is"));
    input = input_of("h100_a_clusters", "{}");
    ck_assert_ptr_nonnull(
        strstr(calc_input_remark(&input, CALC_KIND_SYSTEM, NULL, text), "; h100_sxm is"));
    setenv("CALC_PATH", ".", 1);
    ck_assert_ptr_nonnull(
        strstr(calc_input_remark(&input, CALC_KIND_SYSTEM, NULL, text), "; h100_a_cluster is"));
    ck_assert_int_eq(remove("systems/h100_a_cluster.json"), 0);
    scratch_leave(folder);
}

CALC_TEST(models_say_what_their_file_leaves_out)
{
    char text[CALC_REMARK_SIZE];
    calc_app app = {0};
    calc_input input = input_of("m", "{\"hidden\": 1}");
    ck_assert_str_eq(
        calc_input_remark(&input, CALC_KIND_APP, &app, text),
        "no structure_type, no causal: GPT's block and attention over the full square, "
        "as in Calculon");
    app.causal = true;
    ck_assert_str_eq(calc_input_remark(&input, CALC_KIND_APP, &app, text),
                     "no structure_type: GPT's block, as in Calculon");
    app.structure_type = CALC_STRUCTURE_TYPE_LLAMA; /* by --set */
    ck_assert_str_eq(calc_input_remark(&input, CALC_KIND_APP, &app, text), "");
    app.causal = false;
    input = input_of("m", "{\"hidden\": 1, \"structure_type\": \"gpt\"}");
    ck_assert_str_eq(calc_input_remark(&input, CALC_KIND_APP, &app, text),
                     "no causal: attention over the full square, as in Calculon");
    input = input_of("m", "{\"hidden\": 1, \"structure_type\": \"gpt\", \"causal\": false}");
    ck_assert_str_eq(calc_input_remark(&input, CALC_KIND_APP, &app, text), "");
    input = input_of("config", "{\"model_type\": \"gpt2\"}");
    ck_assert_str_eq(calc_input_remark(&input, CALC_KIND_APP, &app, text), "");
}

CALC_TEST(what_is_served_has_an_engine_and_graphs_of_its_own)
{
    char text[CALC_REMARK_SIZE];
    calc_inference inference = {.phase = CALC_INFERENCE_PHASE_NONE};
    ck_assert_str_eq(calc_remark_inference(&inference, true, text), ""); /* training's field */
    inference.phase = CALC_INFERENCE_PHASE_SERVE;
    ck_assert_str_eq(calc_remark_inference(&inference, false, text),
                     "no inference.engine is named: its time beside the model is not counted");
    strcpy(inference.engine.name, "vllm-0.11");
    ck_assert_str_eq(calc_remark_inference(&inference, false, text), "");
    ck_assert_ptr_nonnull(
        strstr(calc_remark_inference(&inference, true, text), "has inference.traits.eager"));
}
