#include "taylor/yaml.h"

#include "formats/read.h"
#include "frame.h"
#include "taylor_case.h"

const calc_test_frame calc_tests = {.timeout_s = 60};

CALC_TEST(names_of_files_are_layouts)
{
    const calc_taylor_candidate c = {.layout = {16, 4, 1, 8}, .expert = 32};
    calc_taylor_candidate found;
    char name[CALC_TAYLOR_NAME_SIZE];
    ck_assert_str_eq(calc_taylor_file_name(&c, name), "DP16_TP4_PP8_EP32_pretrain.yaml");
    ck_assert(calc_taylor_file_layout(name, &found));
    ck_assert_int_eq(found.layout.data, 16);
    ck_assert_int_eq(found.layout.tensor, 4);
    ck_assert_int_eq(found.layout.pipeline, 8);
    ck_assert_int_eq(found.expert, 32);
    ck_assert(calc_taylor_file_layout("my_DP_DP2_TP1_PP4_EP1.yaml", &found));
    ck_assert_int_eq(found.layout.data, 2);
    static const char *const none[] = {"",
                                       "DP16_TP4_PP8.yaml",
                                       "DP0_TP4_PP8_EP1",
                                       "DPx_TP4_PP8_EP1",
                                       "DP16-TP4_PP8_EP1",
                                       "DP1_TP1_PP1_EP99999999999999999999"};
    for (size_t i = 0; i < sizeof none / sizeof *none; i++) {
        ck_assert_msg(!calc_taylor_file_layout(none[i], &found), "%s", none[i]);
    }
}

static const char *value_of(const calc_taylor_edits *edits, const char *key)
{
    for (size_t i = 0; i < edits->count; i++) {
        if (strcmp(edits->item[i].key, key) == 0) {
            return edits->item[i].value;
        }
    }
    return "";
}

CALC_TEST(candidates_are_laid_out)
{
    calc_taylor_config c = taylor_config(NULL, NULL, NULL, NULL);
    const calc_taylor_candidate candidate = {.layout = {8, 8, 1, 4}, .expert = 16};
    calc_taylor_edits edits = {.count = 0};
    calc_taylor_edits_layout(&c, &candidate, 1024, NULL, &edits);
    ck_assert_str_eq(value_of(&edits, "parallel_config.data_parallel"), "8");
    ck_assert_str_eq(value_of(&edits, "parallel_config.model_parallel"), "8");
    ck_assert_str_eq(value_of(&edits, "parallel_config.pipeline_stage"), "4");
    ck_assert_str_eq(value_of(&edits, "parallel_config.expert_parallel"), "16");
    ck_assert_str_eq(value_of(&edits, "parallel_config.micro_batch_num"), "128");
    ck_assert_str_eq(value_of(&edits, "parallel.dataset_strategy"), "[[8, 1], [8, 1], [8, 1]]");
    ck_assert_str_eq(value_of(&edits, "model.model_config.offset"), "[1, 0, 1, 0]");
    ck_assert_str_eq(value_of(&edits, "train_dataset.data_loader.dataset_dir"), "");
}

static void profile(calc_taylor_candidate candidate, int64_t ranks, const char *sizes,
                    const char *layers, const char *offset, const char *recompute)
{
    calc_taylor_config c = taylor_config(NULL, NULL, NULL, NULL);
    calc_taylor_edits edits = {.count = 0};
    char text[64];
    ck_assert(calc_taylor_edits_profile(&c, &candidate, 1024, ranks, "big", "small", &edits));
    snprintf(text, sizeof text, "%s %s %s", value_of(&edits, "parallel_config.data_parallel"),
             value_of(&edits, "parallel_config.pipeline_stage"),
             value_of(&edits, "parallel_config.expert_parallel"));
    ck_assert_str_eq(text, sizes);
    ck_assert_str_eq(value_of(&edits, "model.model_config.num_layers"), layers);
    ck_assert_str_eq(value_of(&edits, "model.model_config.offset"), offset);
    ck_assert_str_eq(value_of(&edits, "recompute_config.recompute"), recompute);
    ck_assert_str_eq(value_of(&edits, "profile"), "True");
    ck_assert_str_eq(value_of(&edits, "train_dataset.data_loader.dataset_dir"),
                     candidate.layout.data <= 4 ? "\"small\"" : "\"big\"");
}

CALC_TEST(profiles_are_cut_down_to_the_shapes_of_taylor)
{
    /* dp, pp and ep that are left */
    profile((calc_taylor_candidate){.layout = {8, 4, 1, 2}, .expert = 8}, 64, "8 2 8", "10",
            "[1, 0]", "[6, 0]");
    profile((calc_taylor_candidate){.layout = {4, 4, 1, 16}, .expert = 8}, 64, "4 4 8", "10",
            "[1, 1, 1, 0]", "[3, 3, 0, 0]");
    profile((calc_taylor_candidate){.layout = {2, 4, 1, 8}, .expert = 8}, 64, "2 8 8", "12",
            "[2, 0, 0, 0, 0, 1, 1, 1]", "[3, 1, 1, 1, 1, 2, 0, 2]");
    profile((calc_taylor_candidate){.layout = {1, 1, 1, 32}, .expert = 1}, 64, "1 8 1", "12",
            "[2, 0, 0, 0, 0, 1, 1, 1]", "[3, 1, 1, 1, 1, 2, 0, 2]");
    profile((calc_taylor_candidate){.layout = {64, 4, 1, 16}, .expert = 64}, 64, "8 2 32", "10",
            "[1, 0]", "[6, 0]");
}

CALC_TEST(what_has_no_such_shape_is_left_out)
{
    calc_taylor_config c = taylor_config(NULL, NULL, NULL, NULL);
    static const calc_taylor_candidate none[] = {
        {.layout = {1, 64, 1, 16}, .expert = 1}, /* two stages are too many processors */
        {.layout = {1, 1, 1, 6}, .expert = 1},
        {.layout = {1, 1, 1, 3}, .expert = 1},
        {.layout = {3, 32, 1, 2}, .expert = 1}};
    for (size_t i = 0; i < sizeof none / sizeof *none; i++) {
        calc_taylor_edits edits = {.count = 0};
        ck_assert(!calc_taylor_edits_profile(&c, &none[i], 1024, 64, NULL, NULL, &edits) ||
                  none[i].layout.pipeline == 6);
    }
}

CALC_TEST(solutions_are_written_in_the_words_of_the_framework)
{
    calc_taylor_config c = taylor_config("recompute_config.select_recompute", "True", NULL, NULL);
    const calc_balance_share share[] = {{{3, 1}, {0, 1}, {2, 0}}, {{0, 2}, {0}, {0}}};
    calc_taylor_ask ask = {.stages = 2, .chunks = 1, .layers = {3, 3}};
    calc_taylor_edits off = {.count = 0}, on = {.count = 0};
    calc_taylor_edits_balance(&c, &ask, share, &off);
    ck_assert_str_eq(value_of(&off, "model.model_config.offset"), "[1, -1]");
    ck_assert_str_eq(value_of(&off, "recompute_config.recompute"), "[2, 0]");
    ck_assert_str_eq(value_of(&off, "recompute_config.select_recompute"), "False");
    ck_assert_str_eq(value_of(&off, "recompute_config.parallel_optimizer_comm_recompute"), "False");
    ck_assert_str_eq(value_of(&off, "recompute_config.mp_comm_recompute"), "True");
    ask.may_select = true;
    calc_taylor_edits_balance(&c, &ask, share, &on);
    ck_assert_str_eq(
        value_of(&on, "recompute_config.select_recompute"),
        "{'feed_forward\\.null': [1, 0], 'feed_forward\\.w1\\.activation\\.silu': [1, 0], "
        "'feed_forward\\.w1\\.reshape': [1, 0], 'feed_forward\\.w2\\.reshape': [1, 0], "
        "'add': [1, 0], 'cast_up': [1, 0]}");
    ck_assert_str_eq(value_of(&on, "recompute_config.select_comm_recompute"),
                     "{'.*\\.norm': [1, 0], 'attention\\.wq\\.reshape': [1, 0], "
                     "'attention\\.wk\\.reshape': [1, 0], 'feed_forward\\.w1\\.reshape': [1, 0], "
                     "'feed_forward\\.w3\\.reshape': [1, 0]}");
}

CALC_TEST(the_longest_lists_have_room)
{
    calc_taylor_config c = taylor_config(NULL, NULL, NULL, NULL);
    calc_balance_share share[CALC_BALANCE_PLACES];
    calc_taylor_ask ask = {.stages = 256, .chunks = 2, .layers = {0, 1024}, .may_select = true};
    calc_taylor_edits edits = {.count = 0};
    for (int i = 0; i < CALC_BALANCE_PLACES; i++) {
        share[i] = (calc_balance_share){{0, 2}, {0, 10}, {0}};
    }
    calc_taylor_edits_balance(&c, &ask, share, &edits);
    ck_assert_uint_eq(edits.count, 7);
    const char *last = value_of(&edits, "recompute_config.select_comm_recompute");
    ck_assert_str_eq(last + strlen(last) - 7, ", 10]]}");
    calc_settings settings = {0};
    calc_errors errors = {0};
    ck_assert_int_eq(calc_settings_from_yaml(&settings, last, strlen(last), "f", &errors), CALC_OK);
    ck_assert_uint_eq(settings.count, 5);
    calc_settings_free(&settings);
}
