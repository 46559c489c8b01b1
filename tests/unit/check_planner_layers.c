/* A plan of layers against all lists there are: every option of every layer and of the ends, on
 * every division over stages, judged by calc_run(). */
#include "plan/planner.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "balance/relaxed.h"
#include "balance/solve.h"
#include "base/rng.h"
#include "frame.h"
#include "layers_plan_case.h"
#include "plan/planner_place.h"
#include "sampled.h"
#include "shipped_case.h"
#include "small_case.h"
#include "spec/layer_list.h"
#include "spec/stage_list.h"

static layers_plan listed;

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
    calc_resolve(&listed.app, &listed.chip.system, &e);
    ck_assert_msg(calc_check(&listed.app, &listed.chip.system, &e, &errors) == CALC_OK, "%s",
                  errors.item[0].text);
    b->tried++;
    if (calc_run(&listed.app, &listed.chip.system, &e, CALC_COMPAT_NONE, &stats) ==
        CALC_VERDICT_OK) {
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
    layers_plan_init(&listed, app, "a100_sxm_40g", stages > 1 ? 4 : 3, 4, 16);
    listed.chip.system.chip.mem1.capacity_bytes = gib * 0x1p30;
    layers_plan_set(&listed, CALC_AXIS_pipeline_par, stages);
    layers_plan_set(&listed, CALC_AXIS_pipeline_interleaving, 1);
    layers_plan_set(&listed, CALC_AXIS_pipeline_balance, CALC_PIPELINE_BALANCE_BLOCKS);
    layers_plan_axis(&listed, CALC_AXIS_microbatch_size, micro, 2);
    layers_plan_axis(&listed, CALC_AXIS_tensor_par, tensor, 2);
    layers_plan_axis(&listed, CALC_AXIS_zero_stage, zero, stages > 1 ? 1 : 2);
    layers_plan_axis(&listed, CALC_AXIS_activation_recompute, again, 2);
    layers_plan_ready(&listed);
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
            ck_assert_int_gt(layers_plan_cases(&listed, try_case), 0);
            calc_planner_result r = layers_plan_run(&listed);
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
            layers_plan_free(&listed);
        }
    }
    ck_assert_int_ge(found, 4);
    ck_assert_int_ge(lists, 3);
    ck_assert_int_gt(all_lists.tried, 500);
}

/* ---- What is found --------------------------------------------------------------------------- */

static void free_layers(const char *app, int blocks, int procs, int batch, double gib)
{
    layers_plan_init(&listed, app, "h100_sxm", blocks, procs, batch);
    listed.chip.system.chip.mem1.capacity_bytes = gib * 0x1p30;
    layers_plan_ready(&listed);
}

CALC_TEST(more_memory_never_makes_it_slower_and_no_uniform_layout_is_quicker)
{
    static const char *const app[] = {"llama3.2-1B", "deepseek-v2-lite"};
    int quicker = 0;
    for (int i = 0; i < 2; i++) {
        double before_s = INFINITY;
        for (double gib = 3; gib <= 24; gib *= 1.25) {
            free_layers(app[i], 8, 8, 32, gib);
            calc_planner_result r = layers_plan_run(&listed);
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
            layers_plan_free(&listed);
        }
    }
    ck_assert_int_gt(quicker, 3);
}

/* The statistics are those of the execution, which is a layout; the bound is below; the order is
 * that of steps; threads change nothing. */
CALC_TEST(what_is_found_is_what_calc_run_says)
{
    free_layers("deepseek-v2-lite", 6, 8, 32, 12);
    listed.planner.top = 4;
    calc_planner_result r = layers_plan_run(&listed);
    listed.planner.threads = 3;
    calc_planner_result again = layers_plan_run(&listed);
    ck_assert_uint_eq(r.count, 4);
    ck_assert_uint_eq(again.count, r.count);
    for (size_t i = 0; i < r.count; i++) {
        const calc_planner_found *f = &r.found[i];
        calc_exec e = f->exec;
        calc_errors errors = {0};
        calc_stats stats;
        calc_resolve(&listed.app, &listed.chip.system, &e);
        ck_assert_int_eq(calc_check(&listed.app, &listed.chip.system, &e, &errors), CALC_OK);
        ck_assert_int_eq(calc_run(&listed.app, &listed.chip.system, &e, CALC_COMPAT_NONE, &stats),
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
    layers_plan_free(&listed);
}

CALC_TEST(what_does_not_fit_says_what_it_lacks)
{
    free_layers("llama3.2-1B", 8, 4, 8, 0.5);
    calc_planner_result r = layers_plan_run(&listed);
    ck_assert_uint_eq(r.count, 0);
    ck_assert(!r.uniform);
    ck_assert_double_eq(r.has_bytes, 0x1p29);
    ck_assert_double_gt(r.needs_bytes, r.has_bytes);
    ck_assert_int_eq(r.lacking.num_procs, 4);
    calc_planner_result_free(&r);
    layers_plan_free(&listed);
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
    listed.planner.progress = stop;
    listed.planner.context = &asked;
    calc_planner_result r = layers_plan_run(&listed);
    ck_assert_int_eq(asked, 1);
    ck_assert(!r.complete);
    ck_assert_uint_eq(r.balanced, 0);
    ck_assert(r.uniform);
    ck_assert_double_eq(r.found[0].stats.total_time, r.uniform_stats.total_time);
    ck_assert_double_le(r.bound_s, r.found[0].stats.total_time);
    calc_planner_result_free(&r);
    layers_plan_free(&listed);
}

/* All ways to put the stages of a layout on chips, against a count of the sequences of chips. */

enum { MOST = 4096 };

typedef struct seen {
    int count, stop_after;
    calc_planner_place place[MOST];
} seen;

static calc_planner_chip the_chip[4];
static calc_planner the_planner = {.chip = the_chip};
static seen got;

static bool see(void *context, const calc_planner_place *place)
{
    seen *s = context;
    ck_assert_int_lt(s->count, MOST);
    s->place[s->count++] = *place;
    return s->count != s->stop_after;
}

/* 8 processors to a stage. */
static bool walk(int chips, int stages)
{
    calc_exec e = {.num_procs = (int64_t)8 * stages, .pipeline_par = stages};
    the_planner.chips = chips;
    got.count = 0;
    return calc_planner_places(&the_planner, &e, see, &got);
}

static void caps(int64_t a, int64_t b, int64_t c)
{
    the_chip[0].most_procs = a;
    the_chip[1].most_procs = b;
    the_chip[2].most_procs = c;
}

static bool same_place(const calc_planner_place *a, const calc_planner_place *b)
{
    size_t size = (size_t)a->kinds * sizeof *a->chip;
    return a->kinds == b->kinds && memcmp(a->chip, b->chip, size) == 0 &&
           memcmp(a->stages, b->stages, size) == 0;
}

/* Sequences of a chip per stage, in which the stages of a chip are beside each other, in order if
 * that is asked for, and no chip has more than there is. */
static int sequences(int chips, int stages, bool *among_got)
{
    int all = 1;
    int count = 0;
    for (int i = 0; i < stages; i++) {
        all *= chips;
    }
    *among_got = true;
    for (int code = 0; code < all; code++) {
        calc_planner_place p = {0};
        int64_t procs[4] = {0};
        bool good = true;
        for (int i = 0, rest = code; i < stages; i++, rest /= chips) {
            int on = rest % chips;
            procs[on] += 8;
            good = good && procs[on] <= the_chip[on].most_procs;
            if (p.kinds > 0 && p.chip[p.kinds - 1] == on) {
                p.stages[p.kinds - 1]++;
                continue;
            }
            bool back = p.kinds > 0 && on < p.chip[p.kinds - 1];
            good = good && procs[on] == 8 && !(the_planner.keep_order && back);
            if (!good || p.kinds == CALC_MAX_CHIPS) {
                break;
            }
            p.chip[p.kinds] = on;
            p.stages[p.kinds++] = 1;
        }
        bool found = false;
        for (int i = 0; good && i < got.count; i++) {
            found = found || same_place(&p, &got.place[i]);
        }
        *among_got = *among_got && (!good || found);
        count += good;
    }
    return count;
}

static void check(int chips, int stages)
{
    bool among;
    ck_assert(walk(chips, stages));
    ck_assert_int_eq(got.count, sequences(chips, stages, &among));
    ck_assert(among);
    for (int i = 0; i < got.count; i++) {
        for (int k = 0; k < i; k++) {
            ck_assert(!same_place(&got.place[i], &got.place[k]));
        }
    }
}

CALC_TEST(every_placement_is_there_once)
{
    for (int keep = 0; keep < 2; keep++) {
        the_planner.keep_order = keep > 0;
        for (int chips = 1; chips <= 3; chips++) {
            for (int stages = 1; stages <= 6; stages++) {
                caps(INT64_MAX, INT64_MAX, INT64_MAX);
                check(chips, stages);
                caps(16, INT64_MAX, 8); /* two stages, any, one */
                check(chips, stages);
                caps(24, 23, 7); /* three, two, none */
                check(chips, stages);
            }
        }
    }
}

/* A: 5 stages; AB: 4 splits; and the other way round. */
CALC_TEST(two_chips_stand_in_both_orders_unless_the_order_is_kept)
{
    caps(INT64_MAX, INT64_MAX, 0);
    the_planner.keep_order = false;
    ck_assert(walk(2, 5));
    ck_assert_int_eq(got.count, 2 + 2 * 4);
    the_planner.keep_order = true;
    ck_assert(walk(2, 5));
    ck_assert_int_eq(got.count, 2 + 4);
}

CALC_TEST(there_is_none_where_processors_are_too_few)
{
    caps(16, 16, 0);
    the_planner.keep_order = false;
    ck_assert(walk(2, 5));
    ck_assert_int_eq(got.count, 0);
    ck_assert(walk(2, 4));
    ck_assert_int_eq(got.count, 2);
}

CALC_TEST(the_visitor_ends_the_walk)
{
    caps(INT64_MAX, INT64_MAX, INT64_MAX);
    got.stop_after = 3;
    ck_assert(!walk(3, 4));
    ck_assert_int_eq(got.count, 3);
    got.stop_after = 0;
}

CALC_TEST(layouts_are_those_of_the_chips_that_there_are)
{
    static calc_planner_layouts l;
    calc_app app = small_app();
    calc_exec e = small_exec(1, 4, 2);
    the_planner = (calc_planner){.app = &app, .chip = the_chip, .chips = 2};
    the_chip[0].system = the_chip[1].system = the_chip[2].system = small_system();
    the_chip[1].system.chip.matrix[CALC_DATATYPE_FLOAT16].flop_per_s = 0;
    l.chip[2].full = &l.of_none[3];
    ck_assert(calc_planner_layouts_of(&the_planner, &e, &l));
    ck_assert(l.legal[0] && !l.legal[1] && !l.legal[2]);
    ck_assert_ptr_eq(l.chip[0].full, &l.of_none[0]);
    ck_assert_ptr_eq(l.chip[2].full, &l.of_none[3]);
    the_planner.recompute = true;
    ck_assert(calc_planner_layouts_of(&the_planner, &e, &l));
    ck_assert_ptr_eq(l.chip[0].full, &l.of_full[0]);
    the_planner.chips = 1;
    the_chip[0].system = the_chip[1].system;
    ck_assert(!calc_planner_layouts_of(&the_planner, &e, &l));
}

/* The bound of a candidate is below every division of it: against the search's proven optimum, on
 * random pipelines of shipped models and machines. */

enum { CHIPS = 3, PROBLEMS = 2500, WITH_CHUNKS = 150 };

static const char *const chip_names[CHIPS] = {"a800", "h800", "h100_sxm"};
static calc_planner_chip chips[CHIPS];
static calc_planner_layouts layouts;
static calc_balance_chip on[CALC_MAX_CHIPS];
static calc_balance_problem problem;
static calc_balance_solution solution;
static calc_rng rng;

static int below(int bound)
{
    return (int)calc_rng_below(&rng, (uint32_t)bound);
}

static int between(int least, int most)
{
    return least + below(most - least + 1);
}

static void load_chips(void)
{
    calc_rng_init(&rng, 20261122, 7);
    for (int i = 0; i < CHIPS; i++) {
        snprintf(chips[i].name, sizeof chips[i].name, "%s", chip_names[i]);
        load_shipped(CALC_KIND_SYSTEM, &chips[i].system, "systems", chip_names[i]);
        chips[i].most_procs = INT64_MAX;
    }
}

const calc_test_frame calc_tests = {.setup = load_chips};

/* A shipped model and layout, with few blocks, stages and micro-batches. */
static shipped_case random_case(calc_pipeline_schedule schedule, int most_chunks)
{
    shipped_case c = modern_layout(below(MODERN_LAYOUTS));
    calc_exec *e = &c.exec;
    e->pipeline_par = between(2, 6);
    e->pipeline_interleaving = most_chunks > 1 ? between(2, most_chunks) : 1;
    int places = (int)(e->pipeline_par * e->pipeline_interleaving);
    c.app.num_blocks = below(4) > 0 ? between(places, places + 10) : places;
    if (c.app.num_experts > 0) {
        c.app.dense_blocks = below((int)c.app.num_blocks);
    }
    e->pipeline_schedule = schedule;
    e->pipeline_balance = CALC_PIPELINE_BALANCE_BLOCKS;
    e->first_stage_blocks = e->last_stage_blocks = 0;
    e->strategy.activation_recompute = CALC_ACTIVATION_RECOMPUTE_NONE;
    int rounds = below(2) > 0 ? between(1, 24) : between(1, 4);
    bool whole = most_chunks > 1;
    int64_t m = whole ? 2 * e->pipeline_par * between(1, 3) : rounds;
    e->num_procs = e->strategy.tensor_par * e->pipeline_par * e->strategy.data_par *
                   (e->strategy.context_par > 0 ? e->strategy.context_par : 1);
    e->batch_size = m * e->strategy.data_par * e->microbatch_size;
    return c;
}

/* Its pipeline on one chip or two, in any order. @return false if a rule of layouts forbids it */
static bool bound_make(const shipped_case *c)
{
    calc_planner planner = {.app = &c->app,
                            .chips = CHIPS,
                            .chip = chips,
                            .recompute = below(8) > 0,
                            .join_latency_s = below(2) * 1e-4};
    calc_planner_place place = {.kinds = 1 + below(2)};
    place.chip[0] = below(CHIPS);
    place.chip[1] = (place.chip[0] + 1 + below(CHIPS - 1)) % CHIPS;
    place.stages[0] = (int32_t)c->exec.pipeline_par;
    if (place.kinds > 1) {
        place.stages[0] = between(1, (int)c->exec.pipeline_par - 1);
        place.stages[1] = (int32_t)c->exec.pipeline_par - place.stages[0];
    }
    return calc_planner_layouts_of(&planner, &c->exec, &layouts) &&
           !calc_planner_problem(&planner, &layouts, &place, on, &problem);
}

static void unlimit(void)
{
    for (int stage = 0; stage < problem.shape.stages; stage++) {
        problem.stage[stage].limit_bytes = INFINITY;
    }
}

/* A layer takes and holds other amounts on every chip than it does, by kind; and some models have
 * no ends. */
static void vary(void)
{
    if (below(2) > 0) {
        memset(problem.place, 0, sizeof problem.place);
    }
    for (int chip = 0; chip < problem.chips; chip++) {
        for (int kind = 0; kind < CALC_BALANCE_KINDS; kind++) {
            calc_balance_layer *l = &problem.layer[chip][kind];
            double time = .4 + 2 * calc_rng_real(&rng);
            double held = .4 + 2 * calc_rng_real(&rng);
            double flight = .4 + 2 * calc_rng_real(&rng);
            l->fw_s *= time * (.5 + calc_rng_real(&rng));
            l->agrad_s *= time * (.5 + calc_rng_real(&rng));
            l->wgrad_s *= time * (.5 + calc_rng_real(&rng));
            l->again_s[CALC_BALANCE_FULL] *= .4 + 2 * calc_rng_real(&rng);
            l->held_bytes *= held;
            l->flight_bytes[CALC_BALANCE_NONE] *= flight;
            l->flight_bytes[CALC_BALANCE_FULL] *= flight;
        }
    }
}

static void solve(int64_t evaluations)
{
    const calc_balance_options options = {.evaluations = evaluations};
    ck_assert_int_eq(calc_balance_solve(&problem, &options, &solution), CALC_OK);
}

/* Limits about what the quickest division needs: they bind on some stages. */
static void limit(void)
{
    double tight = .6 + .6 * calc_rng_real(&rng);
    for (int stage = 0; stage < problem.shape.stages; stage++) {
        const calc_balance_stage *s = &problem.stage[stage];
        double more = solution.answer.peak_bytes[stage] - s->fixed_bytes;
        double share = tight + .6 * calc_rng_real(&rng);
        problem.stage[stage].limit_bytes = s->fixed_bytes + share * more;
    }
}

static void print_problem(const shipped_case *c)
{
    printf("%s: %d + %d layers, %d stages, %d chunks, %d micro-batches, schedule %d, %d chips\n",
           c->exec.strategy.expert_par > 1 ? "experts" : "dense", problem.layers[0],
           problem.layers[1], (int)problem.shape.stages, (int)problem.shape.chunks,
           (int)problem.shape.microbatches, (int)problem.shape.kind, problem.chips);
}

/* @return the bound's share of the step found, 0 if nothing fits */
static double bound_check(const shipped_case *c)
{
    double bound_s = calc_balance_quick_s(&problem);
    if (!solution.feasible) {
        return 0;
    }
    double step_s = solution.answer.step_s;
    if (!(bound_s <= step_s * (1 + 1e-9))) {
        print_problem(c);
        ck_abort_msg("the bound %.17g is above the step %.17g", bound_s, step_s);
    }
    double total_s = calc_balance_step_of(on, &problem, solution.share, step_s).total_s;
    double least_s = calc_balance_least_total_s(on, &problem, bound_s);
    ck_assert_double_le(least_s, total_s * (1 + 1e-9));
    ck_assert_double_ge(least_s, bound_s);
    return bound_s / step_s;
}

CALC_TEST(no_division_is_quicker_than_the_bound)
{
    int made = 0;
    int bound = 0;
    int none = 0;
    double sum = 0;
    while (made < sample_of(PROBLEMS)) {
        shipped_case c = random_case(CALC_PIPELINE_SCHEDULE_1F1B, 1);
        if (!bound_make(&c)) {
            continue;
        }
        if (made++ % 2 > 0) {
            vary();
        }
        unlimit();
        solve(0);
        ck_assert(solution.proven);
        double free_s = solution.answer.step_s;
        sum += bound_check(&c);
        limit();
        solve(0);
        ck_assert(solution.proven);
        bound_check(&c);
        none += !solution.feasible;
        bound += !solution.feasible || solution.answer.step_s > free_s * (1 + 1e-9);
    }
    ck_assert_int_ge(bound, made * 2 / 5);
    ck_assert_int_le(none, made / 5);
    ck_assert_double_ge(sum / made, .68);
}

CALC_TEST(nor_with_chunks_or_another_schedule)
{
    static const calc_pipeline_schedule kinds[] = {
        CALC_PIPELINE_SCHEDULE_1F1B, CALC_PIPELINE_SCHEDULE_1F1B, CALC_PIPELINE_SCHEDULE_GPIPE,
        CALC_PIPELINE_SCHEDULE_ZB_H1, CALC_PIPELINE_SCHEDULE_ZB_H2};
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        double sum = 0;
        for (int made = 0; made < sample_of(WITH_CHUNKS);) {
            shipped_case c = random_case(kinds[i], i == 0 ? 3 : 1);
            if (!bound_make(&c)) {
                continue;
            }
            if (made++ % 2 > 0) {
                vary();
            }
            unlimit();
            solve(200);
            sum += bound_check(&c);
            limit();
            solve(200);
            bound_check(&c);
        }
        ck_assert_double_ge(sum / sample_of(WITH_CHUNKS), .55);
    }
}

/* Alike layers on alike stages, without ends and limits: the layers of a stage are far from being
 * water only where there are few. */
CALC_TEST(the_bound_is_near_the_step_of_even_stages)
{
    double least_few = 1;
    double least_many = 1;
    for (int i = 0; i < 300;) {
        shipped_case c = random_case(CALC_PIPELINE_SCHEDULE_1F1B, 1);
        int layers = i % 2 > 0 ? 10 : 1;
        c.app.dense_blocks = 0;
        c.app.num_blocks = c.exec.pipeline_par * layers;
        int64_t m = c.exec.pipeline_par * between(4, 8);
        c.exec.batch_size = m * c.exec.strategy.data_par * c.exec.microbatch_size;
        if (!bound_make(&c) || problem.chips > 1) {
            continue;
        }
        i++;
        unlimit();
        memset(problem.place, 0, sizeof problem.place);
        solve(0);
        double share = bound_check(&c);
        double *least = layers > 1 ? &least_many : &least_few;
        *least = fmin(*least, share);
    }
    ck_assert_double_ge(least_few, .96);
    ck_assert_double_ge(least_many, .96);
}
