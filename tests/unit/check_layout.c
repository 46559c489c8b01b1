#include "model/stages/layout.h"

#include "frame.h"
#include "stage_case.h"

/* The parts of a layout are those that its functions give one by one. */
CALC_TEST(a_layout_is_taken_apart_into_what_its_functions_say)
{
    for (int i = 0; i < 4; i++) {
        stage_case s;
        calc_layout l;
        build(&s, i & 1 ? moe_app() : modern_app(), modern_exec(2, 2, 2));
        s.c.exec.strategy.pipeline_par_overlap = i & 2;
        settle(&s);
        calc_layout_of(&s.c.app, &s.c.system, &s.c.exec, CALC_COMPAT_NONE, NULL, NULL, &l);
        ck_assert_ptr_eq(l.app, &s.c.app);
        ck_assert_ptr_eq(l.context.shape, &l.shape); /* of its own */
        ck_assert_ptr_null(l.context.measured);
        ck_assert_double_eq(l.shape.hidden, 64);
        ck_assert_uint_eq(l.stages.count, s.stages.count);
        ck_assert_double_eq(l.parts.block[0].fw_s, s.parts.block[0].fw_s);
        ck_assert_double_eq(l.parts.block[1].fw_s, s.parts.block[1].fw_s);
        ck_assert_double_eq(l.lines.message.s_per_byte, s.lines.message.s_per_byte);
        ck_assert_double_eq(l.terms.block[0].fw_s, s.terms.block[0].fw_s);
        ck_assert_double_eq(l.terms.head.fw_s, s.terms.head.fw_s);
        ck_assert_double_eq(l.links.message_s, s.links.message_s);
        ck_assert_double_eq(l.exposed, i & 2 ? 1 - 0.85 : 1);
    }
}

CALC_TEST(rules_reach_every_part)
{
    calc_app app = small_app();
    calc_system system = small_system();
    calc_exec exec = small_exec(2, 3, 2);
    calc_layout l;
    calc_layout_of(&app, &system, &exec, CALC_COMPAT_REPAIRED, NULL, NULL, &l);
    ck_assert_int_eq(l.context.compat, CALC_COMPAT_REPAIRED);
    ck_assert_int_eq(l.terms.compat, CALC_COMPAT_REPAIRED);
    ck_assert_uint_eq(l.stages.count, 1); /* even */
    ck_assert_double_eq(l.stages.item[0].missing, 1);
    ck_assert_uint_eq(l.parts.layers[0], 8); /* Calculon's layers with weights */
    ck_assert_double_gt(l.terms.rule[0].optimizer_s, 0);
}

/* Of eight blocks: where half of them are dense, a dense one. */
CALC_TEST(the_block_is_of_the_kind_that_most_are_of)
{
    calc_app app = moe_app();
    calc_system system = small_system();
    calc_exec exec = modern_exec(1, 1, 1);
    calc_layout l;
    for (int64_t dense = 2; dense <= 6; dense++) {
        app.dense_blocks = dense;
        calc_layout_of(&app, &system, &exec, CALC_COMPAT_NONE, NULL, NULL, &l);
        calc_block_kind kind = dense < 4 ? CALC_MOE_BLOCK : CALC_DENSE_BLOCK;
        ck_assert_ptr_eq(calc_layout_block(&l), &l.parts.block[kind]);
    }
}
