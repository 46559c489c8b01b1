/* Operators of blocks and of the ends: unit/check_transformer.txt. */
#include "model/operators/transformer.h"

#include "model/operators/adapter.h"
#include "model_formulas.h"

const calc_test_frame calc_tests = {.cases = "unit/check_transformer.txt",
                                    .answer = formula_answer};

/* What attention of another format does but for the arithmetic is the same. */
CALC_TEST(the_format_that_attention_has_anyway_changes_nothing)
{
    modern_case c = case_of(modern_app(), modern_exec(1, 1, 1));
    make_block(&c, CALC_DENSE_BLOCK);
    const calc_operator before = *named(&c, "flash attention");
    c.exec.strategy.attention_datatype = CALC_FORMAT_FLOAT16;
    make_block(&c, CALC_DENSE_BLOCK);
    ck_assert_mem_eq(&before, named(&c, "flash attention"), sizeof before);
}

/* Each of 8 experts, or of the 2 of a rank, has kernels of its own; what they do is the same. */
CALC_TEST(looped_experts_launch_once_for_each)
{
    static const char *const names[] = {"experts up", "experts activation", "experts down"};
    for (int64_t ranks = 1; ranks <= 4; ranks *= 4) {
        modern_case c = case_of(moe_app(), modern_exec(1, 1, 8));
        c.exec.strategy.expert_par = ranks;
        make_block(&c, CALC_MOE_BLOCK);
        calc_operator grouped[3];
        for (int i = 0; i < 3; i++) {
            grouped[i] = *named(&c, names[i]);
        }
        double others = named(&c, "permute")->launches[CALC_PASS_FW];
        c.exec.strategy.looped_experts = true;
        make_block(&c, CALC_MOE_BLOCK);
        for (int i = 0; i < 3; i++) {
            const calc_operator *o = named(&c, names[i]);
            for (calc_pass pass = CALC_PASS_FW; pass < CALC_PASS_COUNT; pass++) {
                ck_assert_double_eq(o->launches[pass],
                                    grouped[i].launches[pass] * 8 / (double)ranks);
                ck_assert_double_eq(o->flop[pass], grouped[i].flop[pass]);
                ck_assert_double_eq(o->bytes[pass], grouped[i].bytes[pass]);
            }
        }
        ck_assert_double_eq(named(&c, "permute")->launches[CALC_PASS_FW], others);
        ck_assert_double_gt(calc_adapter_launches(c.operators, c.count), 1.1);
        c.exec.strategy.looped_experts = false;
        make_block(&c, CALC_MOE_BLOCK);
        ck_assert_double_eq(calc_adapter_launches(c.operators, c.count), 1);
    }
}

CALC_TEST(full_recomputation_keeps_the_input_of_the_block)
{
    const calc_app apps[] = {modern_app(), latent_app(), moe_app()};
    for (int i = 0; i < 3; i++) {
        modern_case c = case_of(apps[i], modern_exec(2, 1, 2));
        c.exec.strategy.activation_recompute = CALC_ACTIVATION_RECOMPUTE_FULL;
        make_block(&c, i == 2 ? CALC_MOE_BLOCK : CALC_DENSE_BLOCK);
        ck_assert_double_eq(c.cost.kept_bytes, 2 * 32 * 64 / 2);
        for (size_t k = 0; k < c.count; k++) {
            ck_assert(c.operators[k].repeated_by & CALC_RECOMPUTE_ALL);
        }
    }
}
