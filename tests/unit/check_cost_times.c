/* What is known of operators by themselves, and that it serves every layout that has them. */
#include "model/cost/cost_times.h"

#include "frame.h"
#include "model/cost/cost_kernel.h"
#include "modern_case.h"

/* A block with all groups of collectives but that of context. */
static modern_case start(void)
{
    modern_case c = case_of(moe_app(), modern_exec(2, 1, 4));
    c.exec.strategy.expert_par = 4;
    c.exec.strategy.expert_tensor_par = 2;
    c.system.networks[0].processor_usage = 0.125; /* of what is added up */
    make_block(&c, CALC_MOE_BLOCK);
    return c;
}

static void times_of(const modern_case *c, calc_cost_times *out)
{
    calc_cost_links known = {.count = 0};
    calc_cost_times_of(&c->context, c->operators, c->count, &known, out);
}

CALC_TEST(an_operator_takes_what_its_passes_take)
{
    modern_case c = start();
    calc_cost_times t[CALC_MAX_OPERATORS];
    for (int training = 0; training < 2; training++) {
        c.context.training = training != 0;
        times_of(&c, t);
        for (size_t i = 0; i < c.count; i++) {
            const calc_operator *o = &c.operators[i];
            for (calc_pass pass = CALC_PASS_FW; pass < CALC_PASS_COUNT; pass++) {
                bool asked = pass == CALC_PASS_FW || training;
                bool kernel =
                    asked && calc_operator_runs(o, pass) && o->kind != CALC_OPERATOR_COLLECTIVE;
                double link_s = asked ? calc_cost_link_s(&c.context, o, pass, false) : 0;
                ck_assert_double_eq(t[i].link_s[pass], link_s);
                ck_assert_double_eq(t[i].edge_s[pass], link_s);
                if (o->kind != CALC_OPERATOR_COLLECTIVE) {
                    double s = kernel ? calc_cost_kernel_s(&c.context, o, pass) : 0;
                    ck_assert_double_eq(t[i].all_s[pass], s);
                    ck_assert_double_eq(t[i].work[pass].bytes, kernel ? o->bytes[pass] : 0);
                }
            }
        }
    }
}

/* A collective of processors that add: its kernel is counted, unless it is part of another. */
CALC_TEST(what_a_collective_adds_up_is_work)
{
    modern_case c = start();
    calc_operator o = {.name = "sum", .kind = CALC_OPERATOR_COLLECTIVE, .message_bytes = 4};
    o.op[CALC_PASS_FW] = CALC_OP_ALL_REDUCE;
    o.times[CALC_PASS_FW] = 1;
    o.flop[CALC_PASS_FW] = 8;
    o.flop[CALC_PASS_WGRAD] = 8;
    c.operators[0] = o;
    c.operators[1] = o;
    c.operators[1].name = NULL;
    c.count = 2;
    calc_cost_times t[2];
    times_of(&c, t);
    ck_assert_double_eq(t[0].work[CALC_PASS_FW].flop, 8);
    ck_assert_double_gt(t[0].work[CALC_PASS_FW].flop_s, 0);
    ck_assert_double_eq(t[0].work[CALC_PASS_WGRAD].flop, 0);
    ck_assert_double_eq(t[1].work[CALC_PASS_FW].flop, 0);
    ck_assert_double_eq(t[0].link_s[CALC_PASS_FW], t[1].link_s[CALC_PASS_FW]);
}

CALC_TEST(the_last_block_of_a_chunk_has_operations_of_its_own)
{
    modern_case c = start();
    calc_operator o = {.name = "sum", .kind = CALC_OPERATOR_COLLECTIVE, .message_bytes = 4096};
    o.op[CALC_PASS_FW] = CALC_OP_ALL_REDUCE;
    o.edge_op[CALC_PASS_FW] = CALC_OP_REDUCE_SCATTER;
    o.has_edge = true;
    o.times[CALC_PASS_FW] = 1;
    c.operators[0] = o;
    c.count = 1;
    calc_cost_times t;
    times_of(&c, &t);
    ck_assert_double_eq(t.link_s[0], calc_cost_link_s(&c.context, &o, CALC_PASS_FW, false));
    ck_assert_double_eq(t.edge_s[0], calc_cost_link_s(&c.context, &o, CALC_PASS_FW, true));
    ck_assert_double_lt(t.edge_s[0], t.link_s[0]);
}

/* More different ones than are remembered, each twice: equal ones take the same, others their own.
 */
CALC_TEST(links_are_told_apart)
{
    enum { DIFFERENT = CALC_COST_LINKS + 3 };
    modern_case c = start();
    for (size_t i = 0; i < 2 * (size_t)DIFFERENT; i++) {
        size_t k = i % DIFFERENT;
        calc_operator o = {.name = "link", .kind = CALC_OPERATOR_COLLECTIVE};
        o.group = k % 2 ? CALC_IN_EXPERT : CALC_IN_TENSOR;
        o.message_bytes = k < 4 ? 4096 : k == 7 ? 4096 * 5 : 4096 * (double)k; /* 7 as 5 */
        o.op[CALC_PASS_FW] = k < 2 ? CALC_OP_ALL_GATHER : CALC_OP_ALL_REDUCE;
        o.times[CALC_PASS_FW] = k == 3 ? 3 : 1;
        o.sub_ranks = k == 5 ? 2 : 0;
        o.sub_stride = o.sub_ranks / 2;
        c.operators[i] = o;
    }
    c.count = 2 * (size_t)DIFFERENT;
    calc_cost_times t[2 * DIFFERENT];
    times_of(&c, t);
    for (size_t i = 0; i < c.count; i++) {
        double s = calc_cost_link_s(&c.context, &c.operators[i], CALC_PASS_FW, false);
        ck_assert_double_gt(s, 0);
        ck_assert_double_eq(t[i].link_s[CALC_PASS_FW], s);
    }
}

/* Whatever is recomputed, and however much of a collective is hidden. */
CALC_TEST(layouts_with_the_same_operators_share_their_times)
{
    static const calc_tensor_par_overlap overlaps[2][3] = {
        {CALC_TENSOR_PAR_OVERLAP_NONE, CALC_TENSOR_PAR_OVERLAP_ASYNC,
         CALC_TENSOR_PAR_OVERLAP_FUSED},
        {CALC_TENSOR_PAR_OVERLAP_RING, CALC_TENSOR_PAR_OVERLAP_PIPE, CALC_TENSOR_PAR_OVERLAP_RING}};
    modern_case c = start();
    calc_cost_times t[CALC_MAX_OPERATORS];
    for (int tiled = 0; tiled < 2; tiled++) {
        c.exec.strategy.activation_recompute = CALC_ACTIVATION_RECOMPUTE_NONE;
        c.exec.strategy.tensor_par_overlap = overlaps[tiled][0];
        make_block(&c, CALC_MOE_BLOCK);
        times_of(&c, t);
        double least_s = c.cost.tensor.bw_exposed_s + c.cost.re_s;
        bool differs = false;
        for (int i = 0; i < 9; i++) {
            static const calc_activation_recompute recomputes[] = {
                CALC_ACTIVATION_RECOMPUTE_NONE, CALC_ACTIVATION_RECOMPUTE_ATTN_ONLY,
                CALC_ACTIVATION_RECOMPUTE_FULL};
            modern_case d = start();
            d.exec.strategy.tensor_par_overlap = overlaps[tiled][i % 3];
            d.exec.strategy.activation_recompute = recomputes[i / 3];
            make_block(&d, CALC_MOE_BLOCK);
            calc_cost got;
            calc_cost_times_sum(&d.context, c.operators, t, c.count,
                                calc_operator_recompute(&d.exec.strategy, true), &got);
            ck_assert_mem_eq(&got, &d.cost, sizeof got);
            differs = differs || got.tensor.bw_exposed_s + got.re_s != least_s;
        }
        ck_assert(differs);
    }
}
