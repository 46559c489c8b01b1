/* What a micro-batch on a stage spends its time on, which adds up to the pass:
 * unit/check_stage_spent.txt. */
#include "model_formulas.h"

const calc_test_frame calc_tests = {.cases = "unit/check_stage_spent.txt",
                                    .answer = formula_answer};

/* Embedding and head are gathered and scattered as blocks are: every weight of the stage three
   times. They stay what they are, and take as long as without. */
CALC_TEST(sharded_ends_are_gathered_in_every_pass_too)
{
    stage_case s;
    for (int64_t stages = 1; stages <= 4; stages *= 4) {
        for (int tied = 0; tied < 2; tied++) {
            build(&s, modern_app(), modern_exec(1, stages, 4));
            s.c.app.tied_embeddings = tied ? CALC_CHOICE_TRUE : CALC_CHOICE_FALSE;
            s.c.app.mtp_blocks = 1;
            size_t last = stages > 1 ? 2 : 0;
            double ends_s = spent_of(&s, 0).ends_s, last_ends_s = spent_of(&s, last).ends_s;
            s.c.exec.strategy.zero_stage = 3;
            for (size_t i = 0; i <= last; i++) {
                calc_stage_weights w = weights_of(&s, i);
                assert_near(spent_of(&s, i).sharded_s, 0.75 * (2 * 2 + 4) * w.dense / slow);
            }
            assert_near(spent_of(&s, 0).ends_s, ends_s);
            assert_near(spent_of(&s, last).ends_s, last_ends_s);
            s.c.exec.software_efficiency = 0.5;
            assert_near(spent_of(&s, last).sharded_s,
                        2 * 0.75 * (2 * 2 + 4) * weights_of(&s, last).dense / slow);
            s.c.exec.software_efficiency = 0;
            s.c.exec.strategy.data_par_overlap = true; /* beside their own passes */
            settle(&s);
            double link_s = 0.75 * 2 * s.terms.embedding.weights.dense / slow;
            calc_stage_sharded_ends e =
                calc_stage_sharded_ends_of(&s.c.context, &s.c.exec, &s.parts, &s.lines);
            assert_near(e.embedding.link_s, 4 * link_s);
            assert_near(e.embedding.fw_s, link_s - 0.7 * calc_cost_fw_s(&s.parts.embedding));
        }
    }
}
