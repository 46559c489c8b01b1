/* The chips of a cluster as AIAK's planner is told of them. */
#include "aiak/pipeline.h"

#include <stdio.h>
#include <string.h>

#include "frame.h"
#include "small_case.h"

static char complaint[256];

static bool parse(const char *text, calc_aiak_gpus *out)
{
    complaint[0] = '\0';
    return calc_aiak_gpus_parse(text, out, complaint, sizeof complaint);
}

CALC_TEST(chips_are_named_with_a_limit_or_without)
{
    calc_aiak_gpus gpus;
    ck_assert(parse("a800:120,h800:256", &gpus));
    ck_assert_int_eq(gpus.count, 2);
    ck_assert_str_eq(gpus.of[0].chip->name, "a800");
    ck_assert_int_eq(gpus.of[0].most, 120);
    ck_assert_str_eq(gpus.of[1].chip->file, "h800");
    ck_assert_int_eq(gpus.of[1].most, 256);
    ck_assert(parse("ascend_910b", &gpus));
    ck_assert_int_eq(gpus.of[0].most, CALC_AIAK_UNLIMITED);
    ck_assert(parse("kunlun3:-1,h100,a800:1", &gpus));
    ck_assert_int_eq(gpus.count, 3);
    ck_assert_int_eq(gpus.of[0].most, CALC_AIAK_UNLIMITED);
    ck_assert_int_eq(gpus.of[1].most, CALC_AIAK_UNLIMITED);
    ck_assert_int_eq(gpus.of[2].most, 1);
    ck_assert(parse("a800,h800,h100,kunlun3,ascend_910b", &gpus));
    ck_assert_int_eq(gpus.count, 5);
}

static const char *const wrong[][2] = {
    {"", "\"\" is no chip: a800, h800, h100, kunlun3 or ascend_910b"},
    {"a100", "\"a100\" is no chip: a800, h800, h100, kunlun3 or ascend_910b"},
    {"A800", "\"A800\" is no chip: a800, h800, h100, kunlun3 or ascend_910b"},
    {"a800,", "\"\" is no chip: a800, h800, h100, kunlun3 or ascend_910b"},
    {"a800:", "\"\" is no number of a800: 1 or more, or -1 for any"},
    {"a800:0", "\"0\" is no number of a800: 1 or more, or -1 for any"},
    {"a800:-2", "\"-2\" is no number of a800: 1 or more, or -1 for any"},
    {"a800:-10", "\"-10\" is no number of a800: 1 or more, or -1 for any"},
    {"a800:8x", "\"8x\" is no number of a800: 1 or more, or -1 for any"},
    {"a800:8:8", "\"8:8\" is no number of a800: 1 or more, or -1 for any"},
    {"a800:9999999999", "\"9999999999\" is no number of a800: 1 or more, or -1 for any"},
    {"a800:8,h800:8,a800", "a800 is named twice"},
};

CALC_TEST_LOOP(wrong_texts_are_refused_with_a_reason, 0, sizeof wrong / sizeof *wrong)
{
    calc_aiak_gpus gpus;
    ck_assert(!parse(wrong[_i][0], &gpus));
    ck_assert_str_eq(complaint, wrong[_i][1]);
}

CALC_TEST(limits_must_leave_enough_unless_one_has_none)
{
    calc_aiak_gpus gpus;
    ck_assert(parse("a800:8,h800:16", &gpus));
    ck_assert(calc_aiak_gpus_suffice(&gpus, 24, complaint, sizeof complaint));
    ck_assert(!calc_aiak_gpus_suffice(&gpus, 32, complaint, sizeof complaint));
    ck_assert_str_eq(complaint, "24 processors at most, fewer than 32");
    ck_assert(parse("a800:8,h800", &gpus));
    ck_assert(calc_aiak_gpus_suffice(&gpus, 1048576, complaint, sizeof complaint));
}

CALC_TEST(models_of_theirs_are_files_of_ours)
{
    int count = 0;
    for (const calc_aiak_name *model = calc_aiak_models; model->name; model++, count++) {
        char path[512];
        calc_app app;
        calc_errors errors = {0};
        snprintf(path, sizeof path, CALC_DATA_DIR_SOURCE "/models/%s.json", model->file);
        ck_assert_msg(calc_load(CALC_KIND_APP, &app, path, &errors) == CALC_OK, "%s", path);
        ck_assert_ptr_eq(calc_aiak_find(calc_aiak_models, model->name), model);
    }
    ck_assert_int_eq(count, 14);
    ck_assert_ptr_null(calc_aiak_find(calc_aiak_models, "llama3-8b"));
}
