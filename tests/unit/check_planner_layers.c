/* A plan of layers against all lists there are: every option of every layer and of the ends, on
 * every division over stages, judged by calc_run(). */
#include "plan/planner.h"

#include "frame.h"
#include "layers_plan_case.h"
#include "spec/layer_list.h"
#include "spec/stage_list.h"

static layers_plan l;

/* ---- All lists ------------------------------------------------------------------------------- */

enum { MOST_LAYERS = 8 };

/* Options of layers are counted through. */
typedef struct brute {
    const calc_layers_case *c;
    int layers, stages;
    int option[MOST_LAYERS], ends;
    int blocks[MOST_LAYERS];
    long tried;
    double best_s;
} brute;

static void try_one(brute *b)
{
    calc_exec e = b->c->candidate->base;
    calc_layer_run run[MOST_LAYERS];
    calc_stage_run stage[MOST_LAYERS];
    calc_errors errors = {0};
    calc_stats stats;
    for (int i = 0; i < b->layers; i++) {
        run[i] = (calc_layer_run){1, b->c->option[b->option[i]].strategy};
    }
    ck_assert(calc_layer_list_pack(run, b->layers, &e.layers));
    e.layers.ends = b->c->option[b->ends].strategy;
    for (int i = 0; i < b->stages; i++) {
        stage[i] = (calc_stage_run){
            1, (int16_t)b->blocks[i], CALC_STAGE_AS_EXEC, CALC_STAGE_AS_EXEC, 0, 0};
    }
    ck_assert(b->stages == 1 || calc_stage_list_pack(stage, b->stages, &e.stages));
    calc_resolve(&l.app, &l.chip.system, &e);
    ck_assert_msg(calc_check(&l.app, &l.chip.system, &e, &errors) == CALC_OK, "%s",
                  errors.item[0].text);
    b->tried++;
    if (calc_run(&l.app, &l.chip.system, &e, CALC_COMPAT_NONE, &stats) == CALC_VERDICT_OK) {
        b->best_s = fmin(b->best_s, stats.total_time);
    }
}

static void try_options(brute *b, int layer)
{
    if (layer == b->layers) {
        try_one(b);
        return;
    }
    for (int i = 0; i < b->c->options; i++) {
        b->option[layer] = i;
        try_options(b, layer + 1);
    }
}

static void try_divisions(brute *b, int stage, int left)
{
    int later = b->stages - 1 - stage;
    if (stage == b->stages) {
        try_options(b, 0);
        return;
    }
    for (int n = later > 0 ? 1 : left; n <= left - later; n++) {
        b->blocks[stage] = n;
        try_divisions(b, stage + 1, left - n);
    }
}

static brute all_lists;

static void try_case(const layers_plan *plan, const calc_layers_case *c)
{
    brute *b = &all_lists;
    b->c = c;
    b->layers = (int)plan->app.num_blocks;
    b->stages = (int)c->common.stages;
    ck_assert_int_eq((int)c->common.chunks, 1);
    for (b->ends = 0; b->ends < c->options; b->ends++) {
        if (c->option[b->ends].strategy.recompute == CALC_ACTIVATION_RECOMPUTE_NONE) {
            try_divisions(b, 0, b->layers);
        }
    }
}

/* A model of four layers with few options, of so many stages. */
static void make(const char *app, int stages, double gib)
{
    static const int64_t tensor[] = {1, 2};
    static const int64_t zero[] = {0, 3};
    static const int64_t micro[] = {2, 4};
    static const int64_t again[] = {CALC_ACTIVATION_RECOMPUTE_NONE, CALC_ACTIVATION_RECOMPUTE_FULL};
    layers_plan_init(&l, app, "a100_sxm_40g", stages > 1 ? 4 : 3, 4, 16);
    l.chip.system.chip.mem1.capacity_bytes = gib * 0x1p30;
    layers_plan_set(&l, CALC_AXIS_pipeline_par, stages);
    layers_plan_set(&l, CALC_AXIS_pipeline_interleaving, 1);
    layers_plan_set(&l, CALC_AXIS_pipeline_balance, CALC_PIPELINE_BALANCE_BLOCKS);
    layers_plan_axis(&l, CALC_AXIS_microbatch_size, micro, 2);
    layers_plan_axis(&l, CALC_AXIS_tensor_par, tensor, 2);
    layers_plan_axis(&l, CALC_AXIS_zero_stage, zero, stages > 1 ? 1 : 2);
    layers_plan_axis(&l, CALC_AXIS_activation_recompute, again, 2);
    layers_plan_ready(&l);
}

/* What is found is the best, or no further from it than it says. */
CALC_TEST(the_best_of_all_lists_is_found)
{
    static const double memory_gib[][4] = {{40, 11, 10, 9}, {40, 8, 7, 6}};
    int found = 0;
    int lists = 0;
    for (int stages = 1; stages <= 2; stages++) {
        for (int i = 0; i < 4; i++) {
            make("llama2-7B", stages, memory_gib[stages - 1][i]);
            all_lists = (brute){.best_s = INFINITY};
            ck_assert_int_gt(layers_plan_cases(&l, try_case), 0);
            calc_planner_result r = layers_plan_run(&l);
            ck_assert_int_eq(r.count > 0, isfinite(all_lists.best_s));
            if (r.count > 0) {
                double s = r.found[0].stats.total_time;
                found++;
                lists += r.found[0].exec.layers.count > 0;
                ck_assert_double_ge(s, all_lists.best_s * (1 - 1e-12));
                ck_assert_double_le(r.bound_s, all_lists.best_s * (1 + 1e-3));
                ck_assert_double_le(s, all_lists.best_s * (1 + 2e-3));
            }
            calc_planner_result_free(&r);
            layers_plan_free(&l);
        }
    }
    ck_assert_int_ge(found, 4);
    ck_assert_int_ge(lists, 3);
    ck_assert_int_gt(all_lists.tried, 500);
}

/* ---- What is found --------------------------------------------------------------------------- */

static void free_layers(const char *app, int blocks, int procs, int batch, double gib)
{
    layers_plan_init(&l, app, "h100_sxm", blocks, procs, batch);
    l.chip.system.chip.mem1.capacity_bytes = gib * 0x1p30;
    layers_plan_ready(&l);
}

CALC_TEST(more_memory_never_makes_it_slower_and_no_uniform_layout_is_quicker)
{
    static const char *const app[] = {"llama3.2-1B", "deepseek-v2-lite"};
    int quicker = 0;
    for (int i = 0; i < 2; i++) {
        double before_s = INFINITY;
        for (double gib = 3; gib <= 24; gib *= 1.25) {
            free_layers(app[i], 8, 8, 32, gib);
            calc_planner_result r = layers_plan_run(&l);
            if (r.count > 0) {
                double s = r.found[0].stats.total_time;
                ck_assert_double_le(s, before_s * (1 + 1e-3));
                ck_assert(!r.uniform || s <= r.uniform_stats.total_time);
                quicker += !r.uniform || s < r.uniform_stats.total_time;
                before_s = s;
            } else {
                ck_assert(!isfinite(before_s));
            }
            calc_planner_result_free(&r);
            layers_plan_free(&l);
        }
    }
    ck_assert_int_gt(quicker, 3);
}

/* The statistics are those of the execution, which is a layout; the bound is below; the order is
 * that of steps; threads change nothing. */
CALC_TEST(what_is_found_is_what_calc_run_says)
{
    free_layers("deepseek-v2-lite", 6, 8, 32, 12);
    l.planner.top = 4;
    calc_planner_result r = layers_plan_run(&l);
    l.planner.threads = 3;
    calc_planner_result again = layers_plan_run(&l);
    ck_assert_uint_eq(r.count, 4);
    ck_assert_uint_eq(again.count, r.count);
    for (size_t i = 0; i < r.count; i++) {
        const calc_planner_found *f = &r.found[i];
        calc_exec e = f->exec;
        calc_errors errors = {0};
        calc_stats stats;
        calc_resolve(&l.app, &l.chip.system, &e);
        ck_assert_int_eq(calc_check(&l.app, &l.chip.system, &e, &errors), CALC_OK);
        ck_assert_int_eq(calc_run(&l.app, &l.chip.system, &e, CALC_COMPAT_NONE, &stats),
                         CALC_VERDICT_OK);
        ck_assert_double_eq(stats.total_time, f->stats.total_time);
        ck_assert_double_eq(again.found[i].stats.total_time, f->stats.total_time);
        ck_assert_double_le(f->bound_s, f->stats.total_time);
        ck_assert_double_eq_tol(f->planned_s, f->stats.total_time, 5e-3 * f->stats.total_time);
        ck_assert(i == 0 || r.found[i - 1].stats.total_time <= f->stats.total_time);
        for (size_t k = 0; k < i; k++) {
            ck_assert_uint_ne(r.found[k].candidate, f->candidate);
        }
    }
    ck_assert(r.complete);
    calc_planner_result_free(&r);
    calc_planner_result_free(&again);
    layers_plan_free(&l);
}

CALC_TEST(what_does_not_fit_says_what_it_lacks)
{
    free_layers("llama3.2-1B", 8, 4, 8, 0.5);
    calc_planner_result r = layers_plan_run(&l);
    ck_assert_uint_eq(r.count, 0);
    ck_assert(!r.uniform);
    ck_assert_double_eq(r.has_bytes, 0x1p29);
    ck_assert_double_gt(r.needs_bytes, r.has_bytes);
    ck_assert_int_eq(r.lacking.num_procs, 4);
    calc_planner_result_free(&r);
    layers_plan_free(&l);
}

static bool stop(void *context, const calc_planner_progress *progress)
{
    int *asked = context;
    ck_assert_double_gt(progress->bound_s, 0);
    return ++*asked > 0;
}

CALC_TEST(a_search_that_is_stopped_has_the_uniform_layouts)
{
    int asked = 0;
    free_layers("llama3.2-1B", 8, 4, 8, 8);
    l.planner.progress = stop;
    l.planner.context = &asked;
    calc_planner_result r = layers_plan_run(&l);
    ck_assert_int_eq(asked, 1);
    ck_assert(!r.complete);
    ck_assert_uint_eq(r.balanced, 0);
    ck_assert(r.uniform);
    ck_assert_double_eq(r.found[0].stats.total_time, r.uniform_stats.total_time);
    ck_assert_double_le(r.bound_s, r.found[0].stats.total_time);
    calc_planner_result_free(&r);
    layers_plan_free(&l);
}
