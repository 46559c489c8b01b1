#include "model/operators/operator.h"

#include "frame.h"
#include "small_case.h"

enum {
    ALWAYS = CALC_RECOMPUTE_HELD,
    ATTENTION = 1 << CALC_RECOMPUTE_MODULES_CORE_ATTN,
    MLP = 1 << CALC_RECOMPUTE_MODULES_MLP
};

CALC_TEST(an_execution_recomputes_what_it_says)
{
    calc_exec e = small_exec(2, 1, 1);
    e.strategy.recompute_modules = MLP; /* counts with the choice modules only */
    ck_assert_uint_eq(calc_operator_recompute(&e.strategy, e.training), ALWAYS);
    e.strategy.activation_recompute = CALC_ACTIVATION_RECOMPUTE_ATTN_ONLY;
    ck_assert_uint_eq(calc_operator_recompute(&e.strategy, e.training), ALWAYS | ATTENTION);
    e.strategy.activation_recompute = CALC_ACTIVATION_RECOMPUTE_FULL;
    ck_assert_uint_eq(calc_operator_recompute(&e.strategy, e.training),
                      ALWAYS | CALC_RECOMPUTE_ALL);
    e.strategy.activation_recompute = CALC_ACTIVATION_RECOMPUTE_MODULES;
    ck_assert_uint_eq(calc_operator_recompute(&e.strategy, e.training), ALWAYS | MLP);
    e.strategy.seq_par_ag_redo = true;
    ck_assert_uint_eq(calc_operator_recompute(&e.strategy, e.training),
                      ALWAYS | MLP | CALC_RECOMPUTE_GATHER);
    e.training = false;
    ck_assert_uint_eq(calc_operator_recompute(&e.strategy, e.training), 0);
}

/* No bit of a module is one of the others. */
CALC_TEST(the_bits_of_recomputation_are_distinct)
{
    unsigned modules = (1U << CALC_RECOMPUTE_MODULES_COUNT) - 1;
    ck_assert_uint_eq(modules & (CALC_RECOMPUTE_ALL | CALC_RECOMPUTE_GATHER | CALC_RECOMPUTE_HELD),
                      0);
    ck_assert_uint_eq(CALC_RECOMPUTE_ALL + CALC_RECOMPUTE_GATHER + CALC_RECOMPUTE_HELD,
                      CALC_RECOMPUTE_ALL | CALC_RECOMPUTE_GATHER | CALC_RECOMPUTE_HELD);
}

/* 100 bytes; three times backward, of which half is saved; in the last block of a chunk it is the
 * forward pass alone that sends. */
CALC_TEST(a_pass_sends_its_messages)
{
    calc_operator o = {.kind = CALC_OPERATOR_COLLECTIVE,
                       .message_bytes = 100,
                       .op = {CALC_OP_NONE, CALC_OP_ALL_REDUCE, CALC_OP_NONE},
                       .edge_op = {CALC_OP_ALL_GATHER, CALC_OP_NONE, CALC_OP_NONE},
                       .narrowed = {0, 0.5, 0},
                       .times = {1, 3, 1}};
    ck_assert_double_eq(calc_operator_message_bytes(&o, CALC_PASS_AGRAD), 50);
    for (int edge = 0; edge < 2; edge++) {
        ck_assert_double_eq(calc_operator_sent_bytes(&o, CALC_PASS_FW, edge), 0);
        ck_assert_double_eq(calc_operator_sent_bytes(&o, CALC_PASS_AGRAD, edge), 150);
    }
    o.has_edge = true;
    ck_assert_double_eq(calc_operator_sent_bytes(&o, CALC_PASS_FW, false), 0);
    ck_assert_double_eq(calc_operator_sent_bytes(&o, CALC_PASS_FW, true), 100);
    ck_assert_double_eq(calc_operator_sent_bytes(&o, CALC_PASS_AGRAD, true), 0);
    o.kind = CALC_OPERATOR_MATRIX;
    ck_assert_double_eq(calc_operator_sent_bytes(&o, CALC_PASS_FW, true), 0);
}

CALC_TEST(elementwise_operators_have_no_weight_pass_but_layers_with_weights_do)
{
    for (int kind = 0; kind <= CALC_OPERATOR_COLLECTIVE; kind++) {
        calc_operator o = {.kind = (calc_operator_kind)kind};
        bool link = kind == CALC_OPERATOR_COLLECTIVE;
        ck_assert(calc_operator_runs(&o, CALC_PASS_FW));
        ck_assert(calc_operator_runs(&o, CALC_PASS_AGRAD));
        ck_assert(calc_operator_runs(&o, CALC_PASS_WGRAD) == link);
        o.weights = 1;
        ck_assert(calc_operator_runs(&o, CALC_PASS_WGRAD) == (kind != CALC_OPERATOR_VECTOR));
    }
}

CALC_TEST(rings_pipes_and_fused_kernels_run_in_tiles)
{
    calc_exec e = small_exec(2, 1, 1);
    for (int overlap = 0; overlap < CALC_TENSOR_PAR_OVERLAP_COUNT; overlap++) {
        e.strategy.tensor_par_overlap = (calc_tensor_par_overlap)overlap;
        bool streamed =
            overlap == CALC_TENSOR_PAR_OVERLAP_RING || overlap == CALC_TENSOR_PAR_OVERLAP_PIPE;
        ck_assert(calc_operator_streamed(&e.strategy) == streamed);
        ck_assert(calc_operator_tiled(&e.strategy) ==
                  (streamed || overlap == CALC_TENSOR_PAR_OVERLAP_FUSED));
    }
}
