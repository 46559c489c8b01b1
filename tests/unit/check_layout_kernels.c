/* Kernels of a layout: they add up to the blocks that the model costs, and have the shapes that a
 * person would write down. */
#include "model/layout_kernels.h"
#include "modern_case.h"

#include "frame.h"

static calc_layout_kernel list[CALC_LAYOUT_KERNELS];

static double sum(size_t count, bool keyed_only)
{
    double s = 0;
    for (size_t i = 0; i < count; i++) {
        s += keyed_only && !list[i].keyed ? 0 : list[i].time_s;
    }
    return s;
}

static double block_s(modern_case *c, calc_block_kind kind)
{
    make_block(c, kind);
    return c->cost.fw_s + c->cost.agrad_s + c->cost.wgrad_s + c->cost.re_s;
}

static size_t make(const modern_case *c)
{
    return calc_layout_kernels(&c->app, &c->system, &c->exec, list);
}

CALC_TEST(they_add_up_to_the_blocks)
{
    modern_case c = case_of(modern_app(), modern_exec(1, 1, 1));
    c.exec.training = true;
    size_t count = make(&c);
    assert_near(sum(count, false), 8 * block_s(&c, CALC_DENSE_BLOCK));
    c.exec.strategy.activation_recompute = CALC_ACTIVATION_RECOMPUTE_FULL;
    count = make(&c);
    assert_near(sum(count, false), 8 * block_s(&c, CALC_DENSE_BLOCK));
    ck_assert_double_gt(c.cost.re_s, 0);
}

CALC_TEST(blocks_that_do_not_recompute_run_once)
{
    modern_case c = case_of(modern_app(), modern_exec(1, 2, 1));
    c.exec.training = true;
    c.exec.strategy.activation_recompute = CALC_ACTIVATION_RECOMPUTE_FULL;
    c.exec.recompute_blocks = 1; /* of 4 on each of 2 stages */
    double s = sum(make(&c), false);
    double with = block_s(&c, CALC_DENSE_BLOCK);
    assert_near(s, 8 * (with - c.cost.re_s) + 2 * c.cost.re_s);
    c.exec.recompute_blocks = 100;
    assert_near(sum(make(&c), false), 8 * with);
}

CALC_TEST(experts_and_dense_blocks_are_counted)
{
    modern_case c = case_of(moe_app(), modern_exec(1, 1, 1));
    c.exec.training = true;
    double s = sum(make(&c), false);
    assert_near(s, 2 * block_s(&c, CALC_DENSE_BLOCK) + 6 * block_s(&c, CALC_MOE_BLOCK));
}

/* 32 tokens of width 64 to twice 256 columns. */
CALC_TEST(shapes_are_those_of_multiplications)
{
    modern_case c = case_of(modern_app(), modern_exec(1, 1, 1));
    c.exec.training = true;
    size_t count = make(&c);
    const double up[] = {log2(32), log2(64), log2(512), 0};
    size_t found = 0;
    for (size_t i = 0; i < count; i++) {
        const calc_kernel_key *k = &list[i].key;
        bool same = list[i].keyed && k->kind == CALC_KERNEL_MATRIX && k->pass == CALC_PASS_FW;
        for (int j = 0; j < 4; j++) {
            same = same && k->log2_size[j] == up[j];
        }
        found += same;
        ck_assert_double_gt(list[i].time_s, 0);
    }
    ck_assert_uint_eq(found, 1);
}

/* Attention on part of a context is not what benchmarks measure. */
CALC_TEST(what_is_never_measured_has_no_key)
{
    modern_case c = case_of(modern_app(), modern_exec(1, 1, 1));
    c.exec.training = true;
    size_t whole = make(&c);
    ck_assert(sum(whole, true) == sum(whole, false));
    c.app.window_size = 8;
    size_t count = make(&c);
    ck_assert_double_lt(sum(count, true), sum(count, false));
    for (size_t i = 0; i < count; i++) {
        ck_assert(!list[i].keyed || list[i].key.kind != CALC_KERNEL_ATTENTION);
    }
}

CALC_TEST(serving_has_none)
{
    modern_case c = case_of(modern_app(), modern_exec(1, 1, 1));
    c.exec.training = false;
    ck_assert_uint_eq(make(&c), 0);
}
