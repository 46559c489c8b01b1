/* Layers that are listed, in words. */
#include "cli/draw/breakdown.h"

#include "frame.h"
#include "small_case.h"
#include "spec/layer_list.h"

static calc_exec exec;
static char text[CALC_LAYER_WORDS_SIZE];

static void setup(void)
{
    exec = small_exec(2, 1, 8);
    exec.layers = (calc_layer_list){.count = 3, .ends = calc_layer_as_exec};
    for (int i = 0; i < 3; i++) {
        exec.layers.run[i] = (calc_layer_run){(int16_t)(i + 1), calc_layer_as_exec};
    }
}

const calc_test_frame calc_tests = {.setup = setup};

CALC_TEST(a_strategy_is_what_layers_come_to)
{
    calc_layer_strategy *s = &exec.layers.run[1].strategy;
    ck_assert_str_eq(calc_layer_words(&exec, text), "6x tp2");
    s->tensor_par = 4;
    s->context_par = 2;
    s->context_par_type = CALC_CONTEXT_PAR_TYPE_ULYSSES;
    s->expert_par = 2;
    s->zero_stage = 3;
    s->recompute = CALC_ACTIVATION_RECOMPUTE_FULL;
    ck_assert_str_eq(calc_layer_words(&exec, text),
                     "1x tp2, 2x tp4 cp2 ulysses ep2 zero3 full, 3x tp2");
    s->recompute = CALC_ACTIVATION_RECOMPUTE_MODULES;
    s->modules = 1U << CALC_RECOMPUTE_MODULES_MLP;
    exec.strategy.optimizer_sharding = true;
    ck_assert_str_eq(calc_layer_words(&exec, text),
                     "1x tp2 zero1, 2x tp4 cp2 ulysses ep2 zero3 mlp, 3x tp2 zero1");
}

CALC_TEST(ends_recompute_nothing)
{
    exec.layers.ends.tensor_par = 8;
    exec.layers.ends.recompute = CALC_ACTIVATION_RECOMPUTE_FULL;
    ck_assert_str_eq(calc_layer_words_ends(&exec, text), "tp8");
}

CALC_TEST(keys_join_what_they_say_alike)
{
    static const char *const want[] = {"3x 2, 3x 4", "6x 1",    "6x 1",
                                       "1x 3, 5x 0", "6x none", "tp2"};
    exec.layers.run[0].strategy.zero_stage = 3;
    exec.layers.run[2].strategy.tensor_par = 4;
    int key = 0;
    for (; calc_layer_words_keys[key]; key++) {
        ck_assert_str_eq(calc_layer_words_of(&exec, key, text), want[key]);
    }
    ck_assert_int_eq(key, sizeof want / sizeof *want);
}
