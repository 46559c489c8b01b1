/* Statistics of a step: unit/check_run.txt. */
#include "model_formulas.h"

const calc_test_frame calc_tests = {.cases = "unit/check_run.txt", .answer = formula_answer};

/* The head weighs more than the embedding by its norm: the last stage has most in the second tier,
   the first the most in the first. */
CALC_TEST(both_tiers_are_the_sum_of_their_parts)
{
    static const double shares[] = {0, 0.25, 1};
    for (int i = 0; i < 3; i++) {
        for (int flags = 1; flags < 8; flags++) {
            modern_case c = case_of(modern_app(), modern_exec(1, 2, 2));
            c.exec.strategy.weight_offload = flags & 1;
            c.exec.strategy.activations_offload = flags & 2;
            c.exec.strategy.optimizer_offload = flags & 4;
            c.exec.strategy.offload_share = shares[i];
            calc_stats s;
            calc_run(&c.app, &c.system, &c.exec, CALC_COMPAT_NONE, &s);
            double away = shares[i] > 0 ? shares[i] : 1;
            double here = s.act_grad_space + s.weight_grad_space + s.head_space;
            here += flags & 1 ? s.weight_space_with_offload : s.weight_space;
            here += flags & 2 ? s.act_space_with_offload : s.act_space;
            here += flags & 4 ? s.optimizer_space_with_offload : s.optimizer_space;
            double there = (flags & 1 ? s.weight_space : 0) + (flags & 2 ? s.act_space : 0) +
                           (flags & 4 ? s.optimizer_space : 0);
            assert_near(here, s.proc_mem_tier1_cap_req);
            assert_near(away * there, s.proc_mem_tier2_cap_req);
            ck_assert_double_gt(s.proc_mem_tier2_cap_req, 0);
            double last = 4 * (64 * 128 + 64 * 64 + 3 * 64 * 256 + 2 * 64) + 512 * 64 + 64;
            if (flags == 4) {
                assert_near(s.proc_mem_tier2_cap_req, away * 12 * last);
                assert_near(s.optimizer_space, 12 * last);
            }
        }
    }
}
