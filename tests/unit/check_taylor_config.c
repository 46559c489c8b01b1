#include <stdlib.h>

#include "frame.h"
#include "taylor_case.h"

const calc_test_frame calc_tests = {.timeout_s = 60};

CALC_TEST(sizes_are_those_of_the_file)
{
    calc_taylor_config c = taylor_config(NULL, NULL, NULL, NULL);
    ck_assert_int_eq(c.data, 16);
    ck_assert_int_eq(c.tensor, 4);
    ck_assert_int_eq(c.pipeline, 16);
    ck_assert_int_eq(c.expert, 32);
    ck_assert_int_eq(c.microbatches, 64);
    ck_assert_int_eq(c.chunks, 1);
    ck_assert_int_eq(c.layers, 61);
    ck_assert_int_eq(c.prediction, 1);
    ck_assert_int_eq(c.dense, 3);
    ck_assert_int_eq(c.experts, 256);
    ck_assert_int_eq(c.heads, 128);
    ck_assert_int_eq(c.strategies, 3);
    ck_assert_int_eq(c.again, CALC_TAYLOR_AGAIN_FULL);
    ck_assert_double_eq(c.memory_mb, 55 * 1024);
    ck_assert(c.says_memory && c.shards && !c.selects);
    ck_assert_int_eq(calc_taylor_config_world(&c), 1024);
}

/* The shipped model comes from its authors' configuration. */
CALC_TEST(the_model_is_the_shipped_one)
{
    calc_taylor_config c = taylor_config("model.model_config.mtp_depth", "0", NULL, NULL);
    calc_app shipped;
    calc_parameters found, expected;
    load_shipped(CALC_KIND_APP, &shipped, "models", "deepseek-v3-671B");
    calc_count_parameters(&c.app, &found);
    calc_count_parameters(&shipped, &expected);
    ck_assert_double_eq_tol(found.total / expected.total, 1, 1e-6); /* biases of the router */
    ck_assert_int_eq(c.app.num_blocks, 61);
    ck_assert_int_eq(c.app.shared_feedforward, shipped.shared_feedforward);
    ck_assert_int_eq(c.app.groups_per_token, shipped.groups_per_token);
}

CALC_TEST(prediction_layers_are_layers)
{
    calc_taylor_config c = taylor_config(NULL, NULL, NULL, NULL);
    ck_assert_int_eq(c.app.num_blocks, 62);
    ck_assert_int_eq(c.app.mtp_blocks, 0);
}

CALC_TEST(recomputation_is_a_truth_or_counts)
{
    static const struct {
        const char *full, *select;
        calc_taylor_again again;
    } cases[] = {{"True", "False", CALC_TAYLOR_AGAIN_FULL},
                 {"False", "False", CALC_TAYLOR_AGAIN_NONE},
                 {"False", "True", CALC_TAYLOR_AGAIN_SELECT},
                 {"[0, 0, 2]", "False", CALC_TAYLOR_AGAIN_FULL},
                 {"[[0, 0], [0, 0]]", "{'add': [1, 0]}", CALC_TAYLOR_AGAIN_SELECT},
                 {"[0, 0]", "", CALC_TAYLOR_AGAIN_NONE}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        calc_taylor_config c = taylor_config("recompute_config.recompute", cases[i].full,
                                             "recompute_config.select_recompute", cases[i].select);
        ck_assert_int_eq(c.again, cases[i].again);
    }
}

CALC_TEST(a_model_without_experts_has_no_dense_layers)
{
    calc_taylor_config c =
        taylor_config("moe_config.expert_num", "1", "parallel_config.expert_parallel", "1");
    ck_assert_int_eq(c.experts, 0);
    ck_assert_int_eq(c.dense, 0);
}

CALC_TEST(memory_is_the_first_number_or_presumed)
{
    ck_assert_double_eq(
        taylor_config("context.max_device_memory", "\"29.5GB\"", NULL, NULL).memory_mb, 29 * 1024);
    calc_taylor_config c = taylor_config("context.max_device_memory", "", NULL, NULL);
    ck_assert_double_eq(c.memory_mb, 58 * 1024);
    ck_assert(!c.says_memory);
}

static void fails(const char *key, const char *value, const char *printed)
{
    calc_text text = taylor_text(key, value, NULL, NULL);
    calc_taylor_config config;
    calc_errors errors = {0};
    char line[1024];
    ck_assert_msg(calc_taylor_config_parse(&config, text.data, text.length, "a.yaml", &errors) !=
                      CALC_OK,
                  "%s: %s", key, value);
    calc_error_print(&errors.item[0], line, sizeof line);
    ck_assert_str_eq(line, printed);
    calc_text_free(&text);
}

CALC_TEST(what_is_wrong_is_told_with_its_place)
{
    fails("parallel_config.data_parallel", "x",
          "a.yaml:20:3: parallel_config.data_parallel: expected a whole number from 1, found "
          "\"x\"");
    fails("parallel_config.pipeline_stage", "0",
          "a.yaml:22:3: parallel_config.pipeline_stage: expected a whole number from 1, found "
          "\"0\"");
    fails("parallel_config.context_parallel", "2",
          "a.yaml:27:3: parallel_config.context_parallel: expected 1, since the planner has no "
          "context parallelism, found \"2\"");
    fails("model.model_config.num_layers", "",
          "a.yaml: model.model_config.num_layers or model.model_config.num_hidden_layers is "
          "missing");
    fails("recompute_config.recompute", "perhaps",
          "a.yaml:30:3: recompute_config.recompute: expected true, false or counts of layers, "
          "found \"perhaps\"");
    fails("context.max_device_memory", "\"much\"",
          "a.yaml:10:3: context.max_device_memory: expected an amount from 1GB to 1000000GB, "
          "found \"much\"");
    fails("moe_config.first_k_dense_replace", "62",
          "a.yaml: first_k_dense_replace: 62 layers of 61 cannot be dense");
    fails("model.model_config.hidden_size", "wide",
          "a.yaml:54:5: model.model_config.hidden_size: expected a number, found \"wide\"");
}

CALC_TEST(layouts_differ_in_what_they_are_asked_for)
{
    calc_taylor_config c = taylor_config(NULL, NULL, NULL, NULL);
    calc_system system = taylor_system();
    calc_errors errors = {0};
    calc_exec e = calc_taylor_config_exec(&c, 8, 2, 4, 16, 128, CALC_TAYLOR_AGAIN_SELECT);
    ck_assert_msg(calc_check(&c.app, &system, &e, &errors) == CALC_OK, "%s", errors.item[0].text);
    ck_assert_int_eq(e.num_procs, 64);
    ck_assert_int_eq(e.strategy.zero_stage, 1);
    ck_assert_int_eq(e.strategy.activation_recompute, CALC_ACTIVATION_RECOMPUTE_MODULES);
    e = calc_taylor_config_exec(&c, 1, 1, 4, 1, 128, CALC_TAYLOR_AGAIN_FULL);
    ck_assert_msg(calc_check(&c.app, &system, &e, &errors) == CALC_OK, "%s", errors.item[0].text);
    ck_assert_int_eq(e.strategy.zero_stage, 0);
    ck_assert_int_eq(e.strategy.tensor_par_comm_type, CALC_TENSOR_PAR_COMM_TYPE_AR);
}
