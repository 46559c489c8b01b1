/* Files of what MindSpeed's planner measured. */
#include "mindspeed/memory.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "frame.h"
#include "mindspeed_jobs.h"
#include "scratch.h"

#define MODULE(key, time) "\"" key "\": {\"time\": " time ", \"memory\": 0.5, \"max_memory\": 2}"
#define SECOND                                                                                     \
    "{" MODULE("embedding", "1") ", " MODULE("0", "20") ", " MODULE(                               \
        "final_layernorm", "0.5") ", " MODULE("output_layer",                                      \
                                              "8") ", " MODULE("loss",                             \
                                                               "3") ", \"step_time\": 400, "       \
                                                                    "\"forward_step_time\": 120, " \
                                                                    "\"backward_step_time\": "     \
                                                                    "240, \"1\": {\"time\": 9}}"

static calc_mindspeed_profile profile;
static calc_errors errors;

static calc_status parse(calc_mindspeed_generation generation, const char *text)
{
    errors = (calc_errors){0};
    return calc_mindspeed_modules_parse(&profile, generation, text, strlen(text), "a.json",
                                        &errors);
}

static void refuses(calc_mindspeed_generation generation, const char *text, const char *expected)
{
    char line[1024];
    ck_assert_int_ne(parse(generation, text), CALC_OK);
    ck_assert_int_gt(errors.count, 0);
    calc_error_print(&errors.item[0], line, sizeof line);
    ck_assert_str_eq(line, expected);
}

CALC_TEST(the_first_generation)
{
    ck_assert_int_eq(parse(CALC_MINDSPEED_GEN1, "{\"step_time\": 2.5, \"transformer_act_mem\": "
                                                "0.25, \"more\": [1]}"),
                     CALC_OK);
    ck_assert_double_eq(profile.step_s, 2.5);
    ck_assert_double_eq(profile.layer_gib, 0.25);
    ck_assert_int_eq(parse(CALC_MINDSPEED_GEN1, "{\"transformer_act_mem\": 0.25}"), CALC_OK);
    ck_assert(isnan(profile.step_s));
    refuses(CALC_MINDSPEED_GEN1, "{}",
            "a.json: neither step_time nor transformer_act_mem is there");
}

CALC_TEST(the_second_generation)
{
    static const double time_ms[] = {1, 20, 0.5, 8, 3};
    ck_assert_int_eq(parse(CALC_MINDSPEED_GEN2, SECOND), CALC_OK);
    ck_assert_double_eq(profile.step_s, 0.4);
    ck_assert_double_eq(profile.forward_s, 0.12);
    ck_assert_double_eq(profile.backward_s, 0.24);
    for (int i = 0; i < CALC_MINDSPEED_MODULES; i++) {
        ck_assert_double_eq(profile.time_s[i], time_ms[i] * 1e-3);
        ck_assert_double_eq(profile.memory_gib[i], 0.5);
        ck_assert_double_eq(profile.most_gib[i], 2);
    }
    ck_assert(isnan(profile.layer_gib));
}

CALC_TEST(damaged_files)
{
    refuses(CALC_MINDSPEED_GEN2, "{\"step_time\": 400}", "a.json: missing forward_step_time");
    refuses(CALC_MINDSPEED_GEN2,
            "{\"step_time\": 1, \"forward_step_time\": 1, \"backward_step_time\": 1, "
            "\"embedding\": {\"time\": 1}}",
            "a.json: missing 0/time");
    refuses(CALC_MINDSPEED_GEN1, "{\"step_time\": \"inf\"}",
            "a.json:1:15: /step_time: expected a number, found string \"inf\"");
    refuses(CALC_MINDSPEED_GEN1, "{\"step_time\": 1",
            "a.json:1:15: the text ends too early\n  hint: the \"{\" of line 1 is not closed");
    ck_assert_int_ne(parse(CALC_MINDSPEED_GEN1, "{\"step_time\": -1}"), CALC_OK);
    ck_assert_int_ne(parse(CALC_MINDSPEED_GEN2, "{\"0\": 3}"), CALC_OK);
}

static calc_status from_folder(calc_mindspeed_generation generation,
                               const calc_mindspeed_config *config)
{
    const calc_mindspeed_job job = mindspeed_65b();
    errors = (calc_errors){0};
    return calc_mindspeed_modules_read(&profile, ".", &job, generation, config, &errors);
}

static void put(const char *name, const char *text)
{
    scratch_write(name, text, strlen(text));
}

/* Of itself before its crop, with and without the node's number. */
CALC_TEST(which_file_is_read)
{
    char folder[512];
    const calc_mindspeed_config c = {4, 2, 2, 2, 1, 1, 4, 0};
    scratch_enter(folder, sizeof folder);
    ck_assert_int_eq(from_folder(CALC_MINDSPEED_GEN2, &c), CALC_ERR_NOT_FOUND);
    ck_assert_int_eq(errors.count, 0);
    ck_assert(isnan(profile.step_s));
    put("PP1_TP2_DP8_CP2_UP1_MBS1_VP1_EP0_MODULE.json", SECOND);
    ck_assert_int_eq(from_folder(CALC_MINDSPEED_GEN2, &c), CALC_OK);
    put("PP4_TP2_DP2_CP2_UP1_MBS1_VP4_EP0_node0_MODULE.json", "{");
    ck_assert_int_eq(from_folder(CALC_MINDSPEED_GEN2, &c), CALC_ERR_SYNTAX);
    ck_assert_int_eq(errors.count, 1);
    put("PP4_TP2_DP2_CP2_UP1_MBS1_MODULE.json", "{\"step_time\": 7}");
    ck_assert_int_eq(from_folder(CALC_MINDSPEED_GEN1, &c), CALC_OK);
    ck_assert_double_eq(profile.step_s, 7);
    scratch_leave(folder);
}

/* Four nodes at hand: 32 devices, of which a stage without a pipeline has all. */
CALC_TEST(what_is_run)
{
    const calc_mindspeed_config c = {4, 2, 2, 2, 1, 1, 4, 0};
    calc_mindspeed_job job = mindspeed_65b();
    calc_mindspeed_config crop = calc_mindspeed_modules_crop(&job, CALC_MINDSPEED_GEN2, &c);
    ck_assert_int_eq(crop.pp, 1);
    ck_assert_int_eq(crop.vpp, 1);
    ck_assert_int_eq(crop.dp, 8);
    job.nodes = 1; /* small for large */
    crop = calc_mindspeed_modules_crop(&job, CALC_MINDSPEED_GEN2, &c);
    ck_assert_int_eq(crop.dp, 2);
    ck_assert_int_eq(calc_mindspeed_modules_crop(&job, CALC_MINDSPEED_GEN1, &c).pp, 4);
}
