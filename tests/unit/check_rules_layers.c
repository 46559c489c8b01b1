/* Rules of lists of layers (calc_exec.layers), through calc_check(). */
#include "spec/layer_list.h"

#include <string.h>

#include "frame.h"
#include "small_case.h"

static calc_app app;
static calc_system system_;
static calc_exec exec;

/* Eight blocks on two stages of eight ranks, with a micro-batch of four sequences. */
static void setup(void)
{
    app = small_app();
    system_ = small_system();
    exec = small_exec(2, 2, 4);
    exec.layers = (calc_layer_list){.count = 2, .ends = calc_layer_as_exec};
    exec.layers.run[0] = (calc_layer_run){3, calc_layer_as_exec};
    exec.layers.run[1] = (calc_layer_run){5, calc_layer_as_exec};
}

const calc_test_frame calc_tests = {.setup = setup};

static void legal(void)
{
    calc_errors errors = {0};
    ck_assert_msg(calc_check(&app, &system_, &exec, &errors) == CALC_OK, "%s", errors.item[0].text);
}

static void broken(const char *text, const char *hint)
{
    calc_errors errors = {0};
    ck_assert_int_eq(calc_check(&app, &system_, &exec, &errors), CALC_ERR_RULE);
    ck_assert_str_eq(errors.item[0].text, text);
    ck_assert_str_eq(errors.item[0].hint, hint);
    ck_assert_str_eq(errors.item[0].pointer, "/layers");
    ck_assert_int_eq(errors.count, 1);
}

CALC_TEST(blocks_are_those_of_the_model)
{
    legal();
    exec.layers.run[1].blocks = 4;
    broken("7 blocks are listed, the model has 8", "1 are missing");
    exec.layers.run[1].blocks = 7;
    broken("10 blocks are listed, the model has 8", "2 too many");
}

CALC_TEST(ranks_and_sequences_are_shared_out_evenly)
{
    exec.layers.run[1].strategy.tensor_par = 3;
    broken("layers 3 to 7: tensor_par * context_par = 3 does not divide the 8 ranks of a stage",
           "use a product that is 1, 2, 4 or 8");
    exec.layers.run[1].strategy.tensor_par = 1;
    broken("layers 3 to 7: data_par = 8 does not divide the 4 sequences of a micro-batch",
           "use microbatch_size 2, or a larger tensor_par here");
    exec.microbatch_size = 2;
    legal();
    exec.layers.run[0].blocks = 7;
    exec.layers.run[1].blocks = 1;
    exec.layers.run[1].strategy.tensor_par = 16;
    broken("layer 7: tensor_par * context_par = 16 does not divide the 8 ranks of a stage",
           "use a product that is 1, 2, 4 or 8");
    exec.layers.run[1].strategy.tensor_par = CALC_LAYER_AS_EXEC;
    exec.layers.ends.tensor_par = 5;
    broken("ends: tensor_par * context_par = 5 does not divide the 8 ranks of a stage",
           "use a product that is 1, 2, 4 or 8");
}

CALC_TEST(every_strategy_is_legal_by_itself)
{
    exec.layers.run[0].strategy.tensor_par = 8;
    broken("layers 0 to 2: tensor_par: 8 does not divide attn_heads = 4", "use 1, 2 or 4");
    exec.layers.run[0].strategy.tensor_par = 4;
    legal();
    exec.layers.run[0].strategy.tensor_par = CALC_LAYER_AS_EXEC;
    exec.layers.run[0].strategy.modules = 1;
    broken("layers 0 to 2: recompute_modules are of their own",
           "give their activation_recompute, too: \"modules\"");
    exec.layers.run[0].strategy.recompute = CALC_ACTIVATION_RECOMPUTE_FULL;
    broken("layers 0 to 2: recompute_modules: modules are only recomputed with "
           "activation_recompute \"modules\"",
           "use activation_recompute \"modules\", or leave them out");
}

CALC_TEST(one_replica_shards_nothing)
{
    app.attn_heads = 8;
    exec.layers.run[0].strategy.tensor_par = 8;
    exec.layers.run[0].strategy.zero_stage = 0;
    legal();
    exec.layers.run[0].strategy.zero_stage = 3;
    broken("layers 0 to 2: nothing to shard over with data_par = 1",
           "use 0, or a smaller tensor_par");
    /* Also where that comes to the same as layers before. */
    exec.layers.run[1].strategy = exec.layers.run[0].strategy;
    exec.layers.run[0].strategy.zero_stage = 0;
    broken("layers 3 to 7: nothing to shard over with data_par = 1",
           "use 0, or a smaller tensor_par");
}

CALC_TEST(the_execution_may_ask_for_what_only_some_layers_have)
{
    exec = small_exec(1, 2, 8);
    exec.strategy.tensor_par_overlap = CALC_TENSOR_PAR_OVERLAP_RING;
    calc_errors errors = {0};
    ck_assert_int_eq(calc_check(&app, &system_, &exec, &errors), CALC_ERR_RULE);
    exec.layers = (calc_layer_list){.count = 1, .ends = calc_layer_as_exec};
    exec.layers.run[0] = (calc_layer_run){8, calc_layer_as_exec};
    exec.layers.run[0].strategy.tensor_par = 2;
    legal();
}

CALC_TEST(some_things_are_not_beside_a_list)
{
    calc_exec before = exec;
    exec.strategy.weight_offload = true;
    broken("layers that are listed keep nothing in tier 2",
           "leave weight_offload, activations_offload, optimizer_offload and offload_modules out");
    exec = before;
    exec.recompute_blocks = 1;
    broken("which layers recompute is what their list says", "leave recompute_blocks out");
    exec = before;
    exec.pipeline_schedule = CALC_PIPELINE_SCHEDULE_ZB_V;
    broken("with pipeline_schedule \"zb_v\" a stage has both ends of the model: its layers are not "
           "listed",
           "use \"1f1b\", \"gpipe\", \"zb_h1\" or \"zb_h2\"");
    exec = before;
    exec.pipeline_balance = CALC_PIPELINE_BALANCE_FREE;
    broken("with pipeline_balance \"free\" stages have parts of layers",
           "use \"blocks\" or \"ends\", or list the stages, too");
    exec = before;
    exec.stages.count = 1;
    exec.stages.run[0] = (calc_stage_run){.places = 2,
                                          .blocks = 4,
                                          .recompute_blocks = CALC_STAGE_AS_EXEC,
                                          .recompute = CALC_STAGE_AS_EXEC};
    legal();
    exec.stages.run[0].recompute = CALC_ACTIVATION_RECOMPUTE_FULL;
    broken("which layers recompute is what their list says, not that of stages",
           "leave it out of the list of stages");
    exec = before;
    exec.training = false;
    exec.inference.phase = CALC_INFERENCE_PHASE_DECODE;
    calc_errors errors = {0};
    ck_assert_int_ne(calc_check(&app, &system_, &exec, &errors), CALC_OK);
    ck_assert_str_eq(errors.item[errors.count - 1].text,
                     "layers are listed for training, not for serving");
}

CALC_TEST(frozen_layers_are_all_alike)
{
    const calc_layer_list list = exec.layers;
    exec = small_exec(2, 1, 4);
    exec.layers = list;
    exec.strategy.trained = CALC_TRAINED_ADAPTERS;
    legal();
    exec.strategy.trained_blocks = 1;
    broken("that some of the layers that are listed are frozen is not modelled",
           "leave the list out, or trained_blocks");
}

/* A stage has the same ranks for all of its layers. */
CALC_TEST(replicas_outside_the_pipeline_keep_layers_alike_in_their_split)
{
    exec.rank_order = CALC_RANK_ORDER_TP_CP_EP_PP_DP;
    exec.layers.run[1].strategy.zero_stage = 3;
    legal();
    exec.layers.run[1].strategy.tensor_par = 4;
    broken("layers 3 to 7: with rank_order \"tp-cp-ep-pp-dp\" their split would decide which ranks "
           "a stage has",
           "use rank_order \"tp-cp-ep-dp-pp\"");
    exec.rank_order = CALC_RANK_ORDER_TP_CP_EP_DP_PP;
    legal();
    exec.rank_order = CALC_RANK_ORDER_TP_CP_EP_PP_DP;
    exec.pipeline_par = 1;
    exec.num_procs = 8;
    legal();
}

CALC_TEST(there_are_at_most_128_stages_and_chunks)
{
    app.num_blocks = 129;
    exec = small_exec(1, 1, 2);
    exec.layers = (calc_layer_list){.count = 1, .ends = calc_layer_as_exec};
    exec.layers.run[0] = (calc_layer_run){129, calc_layer_as_exec};
    exec.pipeline_par = 128;
    exec.num_procs = 256;
    legal();
    exec.pipeline_par = 129;
    exec.num_procs = 258;
    broken("layers are listed on at most 128 stages and chunks, not 129",
           "leave the list out, or lower pipeline_par or pipeline_interleaving");
}

CALC_TEST(there_are_at_most_24_strategies)
{
    /* Divisors for tensor and context parallelism: pairs of them are strategies. */
    static const int16_t sizes[] = {1, 2, 4, 8, 16};
    app.num_blocks = CALC_MAX_LAYER_RECIPES;
    app.attn_heads = 16;
    app.seq_size = 512;
    exec = small_exec(1, 1, 256);
    exec.strategy.flash_attention = true;
    exec.layers = (calc_layer_list){.count = CALC_MAX_LAYER_RECIPES, .ends = calc_layer_as_exec};
    for (int i = 0; i < CALC_MAX_LAYER_RECIPES; i++) {
        exec.layers.run[i] = (calc_layer_run){1, calc_layer_as_exec};
        exec.layers.run[i].strategy.tensor_par = sizes[i % 5];
        exec.layers.run[i].strategy.context_par = sizes[i / 5];
    }
    legal(); /* the ends are as the first */
    exec.layers.ends.zero_stage = 3;
    broken("more than 24 strategies", "let layers agree");
}
