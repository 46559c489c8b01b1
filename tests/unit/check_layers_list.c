/* Candidates against all layouts of a space. */
#include "plan/layers_list.h"

#include "frame.h"
#include "layers_plan_case.h"
#include "spec/layer_list.h"
#include "units.h"

static layers_plan l;
static calc_layers_list list;
static size_t layouts;
static double best_s;

/* Every layout is one of a candidate's: its base with a strategy that it has. */
static bool is_of(const calc_layers_candidate *c, const calc_exec *e)
{
    const calc_layer_strategy s = calc_layers_strategy_of(e);
    bool has = false;
    for (size_t i = 0; i < c->strategies; i++) {
        has = has || calc_layer_list_alike(&c->strategy[i], &s);
    }
    return has && c->base.strategy.cuda_graph == e->strategy.cuda_graph &&
           c->base.strategy.expert_par_overlap == e->strategy.expert_par_overlap &&
           c->base.pipeline_par == e->pipeline_par &&
           c->base.pipeline_interleaving == e->pipeline_interleaving &&
           calc_layer_list_sequences(&c->base) == calc_layer_list_sequences(e);
}

static void visit_row(void *context, const calc_worker_place *place)
{
    (void)context;
    for (uint64_t i = place->first; i < place->worker->counts.total; i++) {
        calc_exec e;
        calc_stats stats;
        int found = 0;
        if (calc_worker_decode(place, i - place->first, &e) != CALC_VERDICT_OK) {
            continue;
        }
        for (size_t k = 0; k < list.count; k++) {
            found += is_of(&list.candidate[k], &e);
        }
        layouts++;
        ck_assert(found == 1 || e.pipeline_balance != CALC_PIPELINE_BALANCE_BLOCKS);
        if (calc_run(&l.app, &l.chip.system, &e, CALC_COMPAT_NONE, &stats) == CALC_VERDICT_OK) {
            best_s = fmin(best_s, stats.total_time);
        }
    }
}

CALC_TEST(every_layout_belongs_to_one_candidate_and_the_quickest_is_known)
{
    calc_sweep_counts counts;
    layers_plan_init(&l, "deepseek-v2-lite", "h100_sxm", 6, 8, 16);
    layers_plan_ready(&l);
    ck_assert_int_eq(calc_layers_list_make(&l.planner, &list), CALC_OK);
    best_s = INFINITY;
    ck_assert_int_eq(
        calc_units_walk(&l.space, &l.planner.design, CALC_COMPAT_NONE, visit_row, NULL, &counts),
        CALC_OK);
    double uniform_s = INFINITY;
    for (size_t i = 0; i < list.count; i++) {
        uniform_s = fmin(uniform_s, list.candidate[i].uniform_s);
    }
    ck_assert_uint_eq(list.layouts, layouts);
    ck_assert_uint_gt(layouts, 100);
    ck_assert_double_eq(uniform_s, best_s);
    calc_layers_list_free(&list);
    layers_plan_free(&l);
}

/* What somebody gave several values is not mixed up. */
CALC_TEST(other_axes_tell_candidates_apart)
{
    static const int64_t both[] = {false, true};
    size_t count[2];
    for (int i = 0; i < 2; i++) {
        layers_plan_init(&l, "llama3.2-1B", "h100_sxm", 8, 4, 8);
        layers_plan_axis(&l, CALC_AXIS_fused_activation, both, 1 + (size_t)i);
        layers_plan_ready(&l);
        ck_assert_int_eq(calc_layers_list_make(&l.planner, &list), CALC_OK);
        count[i] = list.count;
        calc_layers_list_free(&list);
        layers_plan_free(&l);
    }
    ck_assert_uint_gt(count[0], 5);
    ck_assert_uint_eq(count[1], 2 * count[0]);
}

CALC_TEST(a_strategy_says_what_a_layout_has)
{
    calc_exec e = {.strategy = {.tensor_par = 4,
                                .optimizer_sharding = true,
                                .activation_recompute = CALC_ACTIVATION_RECOMPUTE_FULL}};
    calc_layer_strategy s = calc_layers_strategy_of(&e);
    ck_assert_int_eq(s.tensor_par, 4);
    ck_assert_int_eq(s.context_par, 1);
    ck_assert_int_eq(s.expert_par, 1);
    ck_assert_int_eq(s.zero_stage, 1);
    ck_assert_int_eq(s.recompute, CALC_ACTIVATION_RECOMPUTE_FULL);
    e.strategy.zero_stage = 3;
    ck_assert_int_eq(calc_layers_strategy_of(&e).zero_stage, 3);
}
