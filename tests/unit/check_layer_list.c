/* Strategies of layers: the execution that each stands for. */
#include "spec/layer_list.h"

#include "frame.h"
#include "small_case.h"

static calc_exec exec;

/* Eight ranks of a stage share the eight sequences of a micro-batch. */
static void setup(void)
{
    exec = small_exec(2, 2, 4);
    exec.microbatch_size = 2;
    exec.strategy.tensor_par_comm_type = CALC_TENSOR_PAR_COMM_TYPE_RS_AG;
    exec.strategy.tensor_par_overlap = CALC_TENSOR_PAR_OVERLAP_RING;
    exec.strategy.seq_par_ag_redo = true;
    exec.strategy.optimizer_sharding = true;
    exec.strategy.data_par_overlap = true;
    exec.layers.count = 1;
}

const calc_test_frame calc_tests = {.setup = setup};

static calc_exec with(calc_layer_strategy s)
{
    return calc_layer_list_exec(&exec, &s);
}

CALC_TEST(ranks_and_sequences_are_shared_out)
{
    calc_layer_strategy s = calc_layer_as_exec;
    ck_assert_int_eq(calc_layer_list_ranks(&exec), 8);
    ck_assert_int_eq(calc_layer_list_sequences(&exec), 8);
    static const int rows[][5] = {
        /* tensor, context, data, sequences of a replica */
        {1, 1, 8, 1}, {4, 1, 2, 4}, {8, 1, 1, 8}, {2, 2, 2, 4}, {1, 4, 2, 4},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        s.tensor_par = (int16_t)rows[i][0];
        s.context_par = (int16_t)rows[i][1];
        calc_exec e = with(s);
        ck_assert_int_eq(e.strategy.tensor_par, rows[i][0]);
        ck_assert_int_eq(e.strategy.context_par, rows[i][1]);
        ck_assert_int_eq(e.strategy.data_par, rows[i][2]);
        ck_assert_int_eq(e.microbatch_size, rows[i][3]);
        ck_assert_int_eq(e.num_procs, 16);
        ck_assert_int_eq(e.layers.count, 0);
        ck_assert_int_eq(calc_layer_list_ranks(&e), 8);
        ck_assert_int_eq(calc_layer_list_sequences(&e), 8);
    }
}

CALC_TEST(what_is_left_out_is_the_executions)
{
    calc_exec e = with(calc_layer_as_exec);
    ck_assert_int_eq(e.strategy.tensor_par, 2);
    ck_assert_int_eq(e.strategy.data_par, 4);
    ck_assert_int_eq(e.microbatch_size, 2);
    ck_assert(e.strategy.seq_par_ag_redo && e.strategy.optimizer_sharding);
    ck_assert_int_eq(e.strategy.tensor_par_overlap, CALC_TENSOR_PAR_OVERLAP_RING);
    ck_assert(calc_layer_list_same(&e, &exec));
}

CALC_TEST(what_is_nothing_to_a_strategy_is_off)
{
    calc_layer_strategy s = calc_layer_as_exec;
    s.tensor_par = 1;
    calc_exec e = with(s);
    ck_assert_int_eq(e.strategy.tensor_par_overlap, CALC_TENSOR_PAR_OVERLAP_NONE);
    ck_assert(e.strategy.data_par_overlap);
    s.tensor_par = 8;
    e = with(s);
    ck_assert_int_eq(e.strategy.tensor_par_overlap, CALC_TENSOR_PAR_OVERLAP_RING);
    ck_assert(!e.strategy.data_par_overlap && !e.strategy.optimizer_sharding);
    ck_assert_int_eq(e.strategy.zero_stage, 0);
    s = calc_layer_as_exec;
    s.recompute = CALC_ACTIVATION_RECOMPUTE_FULL;
    ck_assert(!with(s).strategy.seq_par_ag_redo);
    s.recompute = CALC_ACTIVATION_RECOMPUTE_ATTN_ONLY;
    ck_assert(with(s).strategy.seq_par_ag_redo);
}

CALC_TEST(sharding_is_said_by_zero_stage_or_not_at_all)
{
    calc_layer_strategy s = calc_layer_as_exec;
    s.zero_stage = 0;
    ck_assert(!with(s).strategy.optimizer_sharding);
    ck_assert_int_eq(with(s).strategy.zero_stage, 0);
    s.zero_stage = 3;
    ck_assert_int_eq(with(s).strategy.zero_stage, 3);
    s.zero_stage = 1; /* what optimizer_sharding says already */
    ck_assert_int_eq(with(s).strategy.zero_stage, 0);
    ck_assert(with(s).strategy.optimizer_sharding);
    calc_exec one = with(s);
    exec.strategy.optimizer_sharding = false;
    ck_assert_int_eq(with(s).strategy.zero_stage, 1);
    calc_exec other = with(s);
    ck_assert(calc_layer_list_same(&one, &other));
    s.zero_stage = 2;
    other = with(s);
    ck_assert(!calc_layer_list_same(&one, &other));
}

CALC_TEST(a_type_of_context_parallelism_is_nothing_without_it)
{
    calc_layer_strategy s = calc_layer_as_exec;
    s.context_par_type = CALC_CONTEXT_PAR_TYPE_ULYSSES;
    calc_exec e = with(s);
    ck_assert(calc_layer_list_same(&e, &exec));
    s.context_par = 2;
    e = with(s);
    s.context_par_type = CALC_CONTEXT_PAR_TYPE_RING;
    calc_exec ring = with(s);
    ck_assert(!calc_layer_list_same(&e, &ring));
}

CALC_TEST(equal_neighbours_are_one_run)
{
    calc_layer_run run[] = {
        {2, calc_layer_as_exec}, {3, calc_layer_as_exec}, {1, calc_layer_as_exec}};
    run[2].strategy.zero_stage = 3;
    ck_assert(calc_layer_list_pack(run, 3, &exec.layers));
    ck_assert_int_eq(exec.layers.count, 2);
    ck_assert_int_eq(exec.layers.run[0].blocks, 5);
    ck_assert_int_eq(calc_layer_list_blocks(&exec.layers), 6);
    /* As far as one entry can have them. */
    run[0].blocks = CALC_MAX_RUN_BLOCKS - 3;
    ck_assert(calc_layer_list_pack(run, 2, &exec.layers));
    ck_assert_int_eq(exec.layers.count, 1);
    run[0].blocks++;
    ck_assert(calc_layer_list_pack(run, 2, &exec.layers));
    ck_assert_int_eq(exec.layers.count, 2);
    static calc_layer_run many[CALC_MAX_LAYER_RUNS + 1];
    for (int i = 0; i <= CALC_MAX_LAYER_RUNS; i++) {
        many[i] = (calc_layer_run){1, calc_layer_as_exec};
        many[i].strategy.zero_stage = (int16_t)(i % 2);
    }
    ck_assert(calc_layer_list_pack(many, CALC_MAX_LAYER_RUNS, &exec.layers));
    ck_assert(!calc_layer_list_pack(many, CALC_MAX_LAYER_RUNS + 1, &exec.layers));
}

CALC_TEST(ends_recompute_as_the_layers_beside_them_do_but_for_what_predicts_more_tokens)
{
    calc_app app = small_app();
    calc_layer_list list = {.count = 2, .ends = calc_layer_as_exec};
    list.run[0].strategy = list.run[1].strategy = calc_layer_as_exec;
    list.run[1].strategy.recompute = CALC_ACTIVATION_RECOMPUTE_FULL;
    list.ends.tensor_par = 4;
    ck_assert_int_eq(calc_layer_list_end(&app, &list, false).recompute, CALC_LAYER_AS_EXEC);
    ck_assert_int_eq(calc_layer_list_end(&app, &list, true).recompute,
                     CALC_ACTIVATION_RECOMPUTE_FULL);
    ck_assert_int_eq(calc_layer_list_end(&app, &list, true).tensor_par, 4);
    app.mtp_blocks = 1;
    ck_assert_int_eq(calc_layer_list_end(&app, &list, true).recompute, CALC_LAYER_AS_EXEC);
}
