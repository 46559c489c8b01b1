#include "galvatron/cost.h"

#include "frame.h"
#include "galvatron_case.h"

#include <math.h>

/* Terms that the real engine computed. */
static const char *const units[] = {
    "unit_fixture_1x8_gbsz64_chunks32_syncreduce", "unit_llama2-7b_1x8_gbsz16_chunks1",
    "unit_llama2-7b_1x8_gbsz32_chunks8_gpipe", "unit_llama2-7b_1x8_gbsz64_chunks8"};

typedef struct unit {
    galvatron_case engine;
    json_t *json;
    calc_galvatron_case at;
} unit_case;

static void open_unit(unit_case *u, const char *name)
{
    char path[256];
    snprintf(path, sizeof path, "%s.json", name);
    u->json = galvatron_json(path);
    galvatron_open(&u->engine, json_string_value(json_object_get(u->json, "case")));
    galvatron_load(&u->engine);
    galvatron_take_fits(&u->engine, json_string_value(json_object_get(u->json, "case")));
    u->at = (calc_galvatron_case){.request = &u->engine.request,
                                  .profiles = &u->engine.profiles,
                                  .gbsz = json_integer_value(json_object_get(u->json, "gbsz")),
                                  .chunks = json_integer_value(json_object_get(u->json, "chunks"))};
}

static void close_unit(unit_case *u)
{
    json_decref(u->json);
    galvatron_close(&u->engine);
}

static double real(const json_t *object, const char *key)
{
    const json_t *value = json_object_get(object, key);
    ck_assert_msg(json_is_number(value), "%s", key);
    return json_number_value(value);
}

static calc_galvatron_strategy strategy_of(const json_t *row)
{
    static const char *const types[] = {"ddp", "zero2", "zero3", NULL};
    const json_t *s = json_object_get(row, "strategy");
    return (calc_galvatron_strategy){.pp = (int)real(s, "pp"),
                                     .tp = (int)real(s, "tp"),
                                     .sp = (int)real(s, "sp"),
                                     .cp = (int)real(s, "cp"),
                                     .dp = (int)real(s, "dp"),
                                     .type = (calc_galvatron_dp)galvatron_word(
                                         json_string_value(json_object_get(s, "type")), types),
                                     .checkpoint = json_is_true(json_object_get(s, "checkpoint"))};
}

static void near(double found, double expected)
{
    ck_assert_msg(fabs(found - expected) <= 1e-9 * fabs(expected), "%.17g is not %.17g", found,
                  expected);
}

CALC_TEST_LOOP(layers_take_what_the_engine_says, 0, 4)
{
    unit_case u;
    size_t i;
    const json_t *row;
    open_unit(&u, units[_i]);
    ck_assert_uint_ge(json_array_size(json_object_get(u.json, "layer")), 4);
    json_array_foreach (json_object_get(u.json, "layer"), i, row) {
        calc_galvatron_strategy s = strategy_of(row);
        calc_galvatron_layer_cost cost = calc_galvatron_layer_cost_of(&u.at, &s, 0);
        near(cost.sync_s, real(row, "t_sync"));
        near(cost.nosync_s, real(row, "t_nosync"));
        near(cost.forward_s * 1000, real(row, "forward_ms"));
        near(cost.backward_s * 1000, real(row, "backward_ms"));
        near(cost.tp_s * 1000, real(row, "tp_sp_comm_ms"));
    }
    close_unit(&u);
}

CALC_TEST_LOOP(layers_hold_what_the_engine_says, 0, 4)
{
    unit_case u;
    size_t i, stage;
    const json_t *row, *held;
    open_unit(&u, units[_i]);
    json_array_foreach (json_object_get(u.json, "layer"), i, row) {
        calc_galvatron_strategy s = strategy_of(row);
        const json_t *activation = json_object_get(row, "activation");
        double states = calc_galvatron_layer_states_mb(&u.at, &s, 0);
        near(states, real(row, "model_states"));
        ck_assert_uint_eq(json_array_size(json_object_get(row, "layer_mem")), (size_t)s.pp);
        json_array_foreach (json_object_get(row, "layer_mem"), stage, held) {
            double mb = calc_galvatron_layer_mb(&u.at, &s, 0, (int)stage);
            near(mb, json_number_value(held));
            near(mb - states, json_number_value(json_array_get(activation, stage)));
        }
    }
    close_unit(&u);
}

CALC_TEST_LOOP(embedding_and_head_are_what_the_engine_says, 0, 4)
{
    unit_case u;
    size_t i, stage;
    const json_t *row, *held;
    open_unit(&u, units[_i]);
    json_array_foreach (json_object_get(u.json, "embedding"), i, row) {
        calc_galvatron_strategy s = strategy_of(row);
        json_array_foreach (json_object_get(row, "memory"), stage, held) {
            calc_galvatron_ends_cost cost = calc_galvatron_ends_cost_of(&u.at, &s, (int)stage);
            near(cost.mb, json_number_value(held));
            near(cost.sync_s,
                 json_number_value(json_array_get(json_object_get(row, "with_sync"), stage)));
            near(cost.nosync_s,
                 json_number_value(json_array_get(json_object_get(row, "no_sync"), stage)));
        }
    }
    close_unit(&u);
}

CALC_TEST_LOOP(a_step_of_one_strategy_is_the_engines, 0, 4)
{
    unit_case u;
    size_t i, checked = 0;
    const json_t *row;
    double sync_s[64], nosync_s[64];
    open_unit(&u, units[_i]);
    ck_assert_int_eq(u.engine.request.types, 1);
    json_array_foreach (json_object_get(u.json, "layer"), i, row) {
        calc_galvatron_strategy s = strategy_of(row);
        calc_galvatron_layer_cost layer = calc_galvatron_layer_cost_of(&u.at, &s, 0);
        for (int stage = 0; stage < s.pp; stage++) {
            double layers = (double)calc_galvatron_stage_layers(&u.engine.request, s.pp, stage);
            sync_s[stage] = layers * layer.sync_s;
            nosync_s[stage] =
                layers * layer.nosync_s + calc_galvatron_ends_cost_of(&u.at, &s, stage).nosync_s;
        }
        if (json_object_get(row, "uniform_step_s")) {
            near(calc_galvatron_pipeline_s(s.pp, u.at.chunks, sync_s, nosync_s),
                 real(row, "uniform_step_s"));
            checked++;
        }
    }
    ck_assert_uint_ge(checked, 4);
    close_unit(&u);
}

/* Ties are decided by the last digits. */
CALC_TEST_LOOP(the_order_of_the_arithmetic_is_the_engines, 0, 4)
{
    unit_case u;
    size_t i;
    const json_t *row;
    open_unit(&u, units[_i]);
    json_array_foreach (json_object_get(u.json, "layer"), i, row) {
        calc_galvatron_strategy s = strategy_of(row);
        calc_galvatron_layer_cost cost = calc_galvatron_layer_cost_of(&u.at, &s, 0);
        ck_assert_double_eq(cost.nosync_s, real(row, "t_nosync"));
        ck_assert_double_eq(cost.sync_s, real(row, "t_sync"));
        ck_assert_double_eq(
            calc_galvatron_layer_mb(&u.at, &s, 0, 0),
            json_number_value(json_array_get(json_object_get(row, "layer_mem"), 0)));
    }
    close_unit(&u);
}

/* ---- By hand --------------------------------------------------------------------------------- */

CALC_TEST(a_pipeline_is_as_slow_as_its_slower_end)
{
    const double sync[] = {3, 9}, nosync[] = {2, 1};
    /* The first is slower: max(1 * 2, 1) + 2 * 3 = 8; the last exposes 9 - 3. */
    ck_assert_double_eq(calc_galvatron_pipeline_s(2, 4, sync, nosync), 8 + 6);
    const double swapped[] = {1, 2}, none[] = {0, 0};
    ck_assert_double_eq(calc_galvatron_pipeline_s(2, 4, none, swapped), 3 + 2 * 3);
    ck_assert_double_eq(calc_galvatron_pipeline_s(1, 3, sync, nosync), 3 * 2 + 1);
}

CALC_TEST(the_last_stage_has_what_is_left)
{
    const calc_galvatron_request request = {.types = 2, .layers = {{1, 5, 1}, {1, 6, 1}}};
    ck_assert_int_eq(calc_galvatron_stage_layers(&request, 4, 0), 2);
    ck_assert_int_eq(calc_galvatron_stage_layers(&request, 4, 3), 5);
    ck_assert_int_eq(calc_galvatron_stage_layers(&request, 1, 0), 11);
}

CALC_TEST(between_layers_is_resharding_or_what_decides_ties)
{
    unit_case u;
    open_unit(&u, units[3]);
    const calc_galvatron_strategy plain = {1, 2, 1, 1, 4, CALC_GALVATRON_ZERO2, false};
    calc_galvatron_strategy to = plain;
    ck_assert_double_eq(calc_galvatron_transition(&u.at, &plain, &to, 0), 0);
    to.type = CALC_GALVATRON_ZERO3;
    ck_assert_double_eq(calc_galvatron_transition(&u.at, &plain, &to, 0), 1e-9);
    ck_assert_double_eq(calc_galvatron_transition(&u.at, &to, &plain, 0), 0);
    to.checkpoint = true;
    ck_assert_double_eq(calc_galvatron_transition(&u.at, &plain, &to, 0), 3e-9);
    calc_galvatron_strategy from = plain;
    from.checkpoint = true;
    ck_assert_double_eq(calc_galvatron_transition(&u.at, &plain, &from, 0), 2e-9);
    ck_assert_double_eq(calc_galvatron_transition(&u.at, &from, &to, 0), 3e-9);
    from = to;
    from.checkpoint = false;
    to.type = CALC_GALVATRON_ZERO2;
    ck_assert_double_eq(calc_galvatron_transition(&u.at, &from, &to, 0), 1e-9);
    to = plain;
    to.tp = 1;
    to.sp = 2;
    ck_assert_double_eq(calc_galvatron_transition(&u.at, &plain, &to, 0), 1e-10);
    ck_assert_double_eq(calc_galvatron_transition(&u.at, &to, &plain, 0), 0);
    /* 3/4 of 64 / 8 / 2 samples of 2048 x 4096 values of 2 bytes, at 159.119 MB/ms. */
    to = (calc_galvatron_strategy){1, 4, 1, 1, 2, CALC_GALVATRON_ZERO2, false};
    near(calc_galvatron_transition(&u.at, &plain, &to, 0),
         0.75 * 4 * 2048 * 4096 * 2 * 1e-7 / 159.119);
    u.engine.request.sequence_parallel = false;
    ck_assert_double_eq(calc_galvatron_transition(&u.at, &plain, &to, 0), 0);
    close_unit(&u);
}

CALC_TEST(the_buffer_is_of_a_micro_batch_of_the_widest_group)
{
    unit_case u;
    open_unit(&u, units[3]);
    /* 8 samples over 8 / 4 groups, 4 bytes of 2048 x 4096 values, halved. */
    near(calc_galvatron_buffer_mb(&u.at, 1, 4), 4 * 2048.0 * 4096 * 4 / 1048576 / 2);
    near(calc_galvatron_buffer_mb(&u.at, 2, 4), 8 * 2048.0 * 4096 * 4 / 1048576 / 2);
    u.engine.request.global_memory_buffer = false;
    ck_assert_double_eq(calc_galvatron_buffer_mb(&u.at, 1, 4), 0);
    close_unit(&u);
}
