#include "model/cost/block.h"

#include "frame.h"
#include "model/operators/transformer.h"
#include "modern_case.h"

static const calc_compat layers = 1 << CALC_COMPAT_LAYERS;

static modern_case start(calc_app app, calc_compat compat)
{
    modern_case c = case_of(app, small_exec(2, 1, 1));
    c.context.compat = compat;
    return c;
}

/* The context points into the case. */
static void settle(modern_case *c)
{
    calc_compat compat = c->context.compat;
    resolve(c);
    c->context.compat = compat;
}

/* The members that tell two lists apart. */
static void assert_block(modern_case *c, calc_block_kind kind, const calc_operator *want,
                         size_t count)
{
    c->count = calc_block_operators(&c->context, kind, c->operators);
    ck_assert_uint_eq(c->count, count);
    for (size_t i = 0; i < count; i++) {
        const calc_operator *got = &c->operators[i];
        ck_assert(got->name == want[i].name);
        ck_assert_int_eq(got->kind, want[i].kind);
        ck_assert_double_eq(got->weights, want[i].weights);
        ck_assert_double_eq(got->kept_bytes, want[i].kept_bytes);
        for (int stage = 0; stage < CALC_PASS_COUNT; stage++) {
            ck_assert_double_eq(got->flop[stage], want[i].flop[stage]);
            ck_assert_double_eq(got->bytes[stage], want[i].bytes[stage]);
        }
    }
}

CALC_TEST(dense_blocks_are_calculons_by_rule)
{
    calc_operator want[CALC_MAX_OPERATORS];
    modern_case c = start(small_app(), CALC_COMPAT_NONE);
    settle(&c);
    calc_recipe recipe = calc_block_recipe(&c.context, CALC_DENSE_BLOCK);
    size_t count = calc_transformer_block(&recipe, want);
    assert_block(&c, CALC_DENSE_BLOCK, want, count);
    ck_assert(has_operator(&c, "attention norm"));
    c.context.compat = CALC_COMPAT_CALCULON & ~layers;
    recipe.adds = true; /* reduction-flop */
    count = calc_transformer_block(&recipe, want);
    assert_block(&c, CALC_DENSE_BLOCK, want, count);
    c.context.compat = layers;
    recipe.adds = false;
    count = calc_calculon_block(&recipe, want);
    assert_block(&c, CALC_DENSE_BLOCK, want, count);
    ck_assert(has_operator(&c, "AttnBlock_Fork"));
}

CALC_TEST(blocks_with_experts_are_the_transformers_in_any_case)
{
    calc_operator want[CALC_MAX_OPERATORS];
    modern_case c = start(moe_app(), layers);
    settle(&c);
    const calc_recipe recipe = calc_block_recipe(&c.context, CALC_MOE_BLOCK);
    size_t count = calc_transformer_block(&recipe, want);
    assert_block(&c, CALC_MOE_BLOCK, want, count);
}

CALC_TEST(a_recipe_has_what_blocks_ask_of_the_networks)
{
    modern_case c = start(small_app(), CALC_COMPAT_NONE);
    c.exec.strategy.context_par = 4;
    c.exec.strategy.context_par_net = 0;
    settle(&c);
    calc_recipe r = calc_block_recipe(&c.context, CALC_MOE_BLOCK);
    ck_assert_int_eq(r.kind, CALC_MOE_BLOCK);
    ck_assert_ptr_eq(r.shape, &c.shape);
    ck_assert_ptr_eq(r.chip, &c.system.chip);
    ck_assert_ptr_eq(r.strategy, &c.exec.strategy);
    ck_assert_double_eq(r.context_inner, 4);
    ck_assert(!r.adds);
    c.exec.strategy.context_par_net = 1; /* a network between nodes */
    c.system.networks[c.exec.strategy.tensor_par_net].processor_usage = 0.25;
    settle(&c);
    r = calc_block_recipe(&c.context, CALC_MOE_BLOCK);
    ck_assert_double_eq(r.context_inner, 1);
    ck_assert(r.adds);
}

/* With words or without. */
CALC_TEST(calculons_list_has_no_ends)
{
    for (int words = 0; words < 2; words++) {
        calc_app app = small_app();
        app.vocab_size = words * 512;
        modern_case c = start(app, CALC_COMPAT_CALCULON & ~layers);
        settle(&c);
        size_t embedding = calc_transformer_embedding(&c.shape, &c.exec.strategy, c.operators);
        size_t head =
            calc_transformer_head(&c.shape, &c.exec.strategy, c.exec.training, c.operators);
        ck_assert((embedding > 0) == words);
        ck_assert((head > 0) == words);
        ck_assert_uint_eq(calc_block_embedding(&c.context, c.operators), embedding);
        ck_assert_uint_eq(calc_block_head(&c.context, c.operators), head);
        c.context.compat = layers;
        ck_assert_uint_eq(calc_block_embedding(&c.context, c.operators), 0);
        ck_assert_uint_eq(calc_block_head(&c.context, c.operators), 0);
    }
}
