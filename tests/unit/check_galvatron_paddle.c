/* What PaddleNLP's port of Galvatron computes otherwise, and what it writes. */
#include "galvatron/paddle.h"

#include <string.h>

#include "frame.h"
#include "galvatron/posed.h"
#include "galvatron/profiles.h"
#include "galvatron/search.h"
#include "small_case.h"

static calc_galvatron_request request;
static calc_galvatron_profiles profiles;
static calc_galvatron_case c;

/* 10 ms a sample, 16 MB of activations, 100 MB of parameters; 0.01 ms/MB everywhere. */
static void start(int64_t chunks)
{
    request = calc_galvatron_request_default();
    request.dialect = CALC_GALVATRON_PADDLE;
    request.pipeline_type = CALC_GALVATRON_PIPEDREAM_FLUSH;
    request.types = 1;
    request.layers[0] = (calc_galvatron_layers){4096, 4, 2048};
    request.disable_sp = true;
    profiles = (calc_galvatron_profiles){.overlap = 1.25};
    profiles.layer[0].line.offset = 10;
    profiles.other.line.offset = 20;
    profiles.memory[0].parameter_mb = 100;
    for (int k = 0; k < 4; k++) {
        profiles.consecutive[k] = profiles.strided[k] = k ? 0.01 : 0;
        profiles.memory[0].activation_mb[k] = 64 >> k;
        profiles.p2p[k] = 0.01;
        for (int place = 0; place < CALC_GALVATRON_PLACES; place++) {
            profiles.other_memory[place].states_mb[k] = 900 >> k;
            profiles.other_memory[place].activation_mb[k] = 32 >> k;
        }
    }
    c = (calc_galvatron_case){&request, &profiles, 8 * chunks, chunks};
}

static calc_galvatron_strategy strategy(int pp, int tp, int dp, calc_galvatron_dp type)
{
    return (calc_galvatron_strategy){.pp = pp, .tp = tp, .sp = 1, .cp = 1, .dp = dp, .type = type};
}

CALC_TEST(states_are_of_two_byte_parameters)
{
    start(1);
    assert_near(calc_galvatron_paddle_states(&c), 7);
    const calc_galvatron_strategy whole = strategy(1, 1, 8, CALC_GALVATRON_DDP);
    assert_near(calc_galvatron_layer_states_mb(&c, &whole, 0), 700);
    start(2);
    assert_near(calc_galvatron_layer_states_mb(&c, &whole, 0), 900);
}

CALC_TEST(sharded_states_have_no_remainder)
{
    const double shares[][2] = {/* one micro-batch, several */
                                {1, 1},
                                {1.0 / 7 + 6.0 / 7 / 8, 1.0 / 3 + 2.0 / 3 / 8},
                                {1.0 / 8, 2.0 / 9 + 7.0 / 9 / 8}};
    for (int type = 0; type < 3; type++) {
        start(1);
        assert_near(calc_galvatron_paddle_ratio(&c, (calc_galvatron_dp)type, 8), shares[type][0]);
        assert_near(calc_galvatron_paddle_ratio(&c, (calc_galvatron_dp)type, 1), 1);
        start(4);
        assert_near(calc_galvatron_paddle_ratio(&c, (calc_galvatron_dp)type, 8), shares[type][1]);
        assert_near(calc_galvatron_paddle_ratio(&c, (calc_galvatron_dp)type, 1), 1);
    }
}

CALC_TEST(no_more_micro_batches_are_in_flight_than_there_are)
{
    start(2);
    assert_near(calc_galvatron_in_flight(&c, 8, 0), 2);
    assert_near(calc_galvatron_in_flight(&c, 8, 6), 2);
    assert_near(calc_galvatron_in_flight(&c, 8, 7), 1);
    request.dialect = CALC_GALVATRON_UPSTREAM;
    assert_near(calc_galvatron_in_flight(&c, 8, 0), 8);
}

CALC_TEST(tensor_parallelism_sends_four_all_reduces)
{
    start(1);
    calc_galvatron_strategy s = strategy(1, 4, 2, CALC_GALVATRON_DDP);
    double mb = calc_galvatron_message_mb(&request, 4, 0); /* 4 samples a rank */
    assert_near(mb, 64);
    assert_near(calc_galvatron_paddle_tp_ms(&c, &s, mb), 4 * 2 * 0.75 * 64 * 0.01);
    assert_near(calc_galvatron_layer_cost_of(&c, &s, 0).tp_s, 0.001 * 4 * 2 * 0.75 * 64 * 0.01);
    s.checkpoint = true; /* not repeated */
    assert_near(calc_galvatron_paddle_tp_ms(&c, &s, mb), 4 * 2 * 0.75 * 64 * 0.01);
    request.disable_sp = false;
    profiles.all_gather[2].line.slope = 0.5;
    assert_near(calc_galvatron_paddle_tp_ms(&c, &s, mb), 6 * 32);
    s.checkpoint = false;
    assert_near(calc_galvatron_paddle_tp_ms(&c, &s, mb), 4 * 32);
}

/* 8 GPUs, tp 1: 10 ms forward, 20 back; 2 * 7/8 * 100 MB at 0.01 ms/MB are 1.75 ms. */
CALC_TEST(gradients_hide_behind_the_backward_pass_or_half_of_it)
{
    start(1);
    calc_galvatron_strategy s = strategy(1, 1, 8, CALC_GALVATRON_DDP);
    assert_near(calc_galvatron_paddle_hiding(&s), 1);
    assert_near(calc_galvatron_layer_cost_of(&c, &s, 0).sync_s, 0.001 * (30 + 0.25 * 1.75));
    assert_near(calc_galvatron_layer_cost_of(&c, &s, 0).nosync_s, 0.001 * 30);
    /* dp 2, tp 4: 4 samples of 10 / 4 ms; 100 / 4 MB * 2 * 1/2 take 0.25 ms. */
    s = strategy(1, 4, 2, CALC_GALVATRON_DDP);
    assert_near(calc_galvatron_paddle_hiding(&s), 0.5);
    double tp_ms = 4 * 2 * 0.75 * 64 * 0.01;
    assert_near(calc_galvatron_layer_cost_of(&c, &s, 0).sync_s,
                0.001 * (10 + 20 + 0.25 * 0.25 + tp_ms));
    /* Messages beyond what may hide them: 100 times as slow, 25 ms beside 10 of 20. */
    profiles.strided[1] = 1;
    assert_near(calc_galvatron_layer_cost_of(&c, &s, 0).sync_s,
                0.001 * (10 + 10 + (25 + 0.25 * 10) + tp_ms));
}

CALC_TEST(ends_are_sharded_and_nothing_else_is_held)
{
    start(2);
    const calc_galvatron_strategy s = strategy(1, 2, 4, CALC_GALVATRON_ZERO2);
    double share = 2.0 / 9 + 7.0 / 9 / 4;
    assert_near(calc_galvatron_ends_cost_of(&c, &s, 0).mb, 450 * share + 2 * 16);
    assert_near(calc_galvatron_buffer_mb(&c, 1, 2), 0);
    start(1);
    assert_near(calc_galvatron_ends_cost_of(&c, &s, 0).mb, 450 * 7.0 / 9 / 4 + 2 * 16);
    const calc_galvatron_strategy middle = strategy(4, 1, 2, CALC_GALVATRON_ZERO2);
    assert_near(calc_galvatron_ends_cost_of(&c, &middle, 1).mb, 0);
}

CALC_TEST(layers_have_any_stage_of_sharding)
{
    static calc_galvatron_strategy list[256];
    start(1);
    int of[3] = {0, 0, 0}, of_ends[3] = {0, 0, 0};
    int count = calc_galvatron_strategies(&request, 1, false, list);
    for (int i = 0; i < count; i++) {
        of[list[i].type] += list[i].dp > 1;
    }
    request.default_dp_type = CALC_GALVATRON_ZERO2;
    count = calc_galvatron_strategies(&request, 1, true, list);
    for (int i = 0; i < count; i++) {
        of_ends[list[i].type] += list[i].dp > 1;
    }
    /* tp 1, 2 and 4, plain and checkpointed; ends are not checkpointed. */
    ck_assert(of[CALC_GALVATRON_DDP] == 6 && of[CALC_GALVATRON_ZERO2] == 6 &&
              of[CALC_GALVATRON_ZERO3] == 6);
    ck_assert(of_ends[CALC_GALVATRON_DDP] == 0 && of_ends[CALC_GALVATRON_ZERO2] == 3 &&
              of_ends[CALC_GALVATRON_ZERO3] == 3);
}

CALC_TEST(more_than_20_gb_lose_30_percent_of_them)
{
    start(1);
    const double limits[][2] = {{20, 20480}, {24, 20480}, {40, 28672}, {80, 57344}};
    for (size_t i = 0; i < sizeof limits / sizeof *limits; i++) {
        request.memory_constraint = limits[i][0];
        assert_near(calc_galvatron_limits_of(&request).limit_mb, limits[i][1]);
    }
}

/* ---- Files ----------------------------------------------------------------------------------- */

static calc_galvatron_layout layout_of(void)
{
    calc_galvatron_layout l = {.world = 8,
                               .pp = 2,
                               .gbsz = 64,
                               .chunks = 4,
                               .layers = 3,
                               .layer = {strategy(2, 2, 2, CALC_GALVATRON_ZERO2),
                                         strategy(2, 1, 4, CALC_GALVATRON_ZERO3),
                                         strategy(2, 1, 2, CALC_GALVATRON_DDP)},
                               .ends = strategy(2, 4, 1, CALC_GALVATRON_ZERO3),
                               .division = {1, 2}};
    l.layer[1].checkpoint = true;
    l.layer[2].sp = 2;
    return l;
}

static void writes(void (*write)(const calc_galvatron_layout *, calc_output *),
                   const calc_galvatron_layout *layout, const char *expected)
{
    calc_output *out;
    calc_text text = {0};
    calc_errors errors = {0};
    ck_assert_int_eq(calc_output_open_memory(&out, &text, &errors), CALC_OK);
    write(layout, out);
    ck_assert_int_eq(calc_output_close(out, &errors), CALC_OK);
    ck_assert_str_eq(text.data, expected);
    calc_text_free(&text);
}

CALC_TEST(the_file_has_the_ports_keys)
{
    const calc_galvatron_layout l = layout_of();
    writes(calc_galvatron_paddle_write, &l,
           "{\n    \"pp_size\": 2,\n    \"vtp\": 4,\n    \"vsp_flag\": 0,\n    \"embed_sdp\": 1,\n"
           "    \"global_batch_size\": 64,\n    \"gradient_accumulation_steps\": 4,\n"
           "    \"dp_size_list\": \"2,4,2\",\n    \"sharding_stage_list\": \"2,3,0\",\n"
           "    \"tp_size_list\": \"2,1,2\",\n    \"usp_flag_list\": \"0,0,1\",\n"
           "    \"recompute_list\": \"0,1,0\",\n    \"pp_stage_idx_list\": \"0,1,1\"\n}");
}

CALC_TEST(the_trainer_is_told_of_the_first_layer)
{
    calc_galvatron_layout l = layout_of();
    writes(calc_galvatron_paddle_options, &l,
           "--sharding_parallel_degree 2\n--tensor_parallel_degree 2\n--pipeline_parallel_degree "
           "2\n--recompute true\n--gradient_accumulation_steps 4\n--per_device_train_batch_size "
           "8\n");
    ck_assert(!calc_galvatron_paddle_uniform(&l));
    l.layer[1] = l.layer[2] = l.layer[0];
    ck_assert(calc_galvatron_paddle_uniform(&l));
    writes(calc_galvatron_paddle_options, &l,
           "--sharding_parallel_degree 2\n--tensor_parallel_degree 2\n--pipeline_parallel_degree "
           "2\n--recompute false\n--gradient_accumulation_steps 4\n--per_device_train_batch_size "
           "8\n");
}
