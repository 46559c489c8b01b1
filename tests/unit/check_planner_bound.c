/* The bound of a candidate is below every division of it: against the search's proven optimum, on
 * random pipelines of shipped models and machines. */

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "balance/solve.h"
#include "base/rng.h"
#include "frame.h"
#include "plan/planner_place.h"
#include "shipped_case.h"

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
static bool make(const shipped_case *c)
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
static double check(const shipped_case *c)
{
    double bound_s = calc_planner_pipeline_s(&problem);
    if (!solution.feasible) {
        return 0;
    }
    double step_s = solution.answer.step_s;
    if (!(bound_s <= step_s * (1 + 1e-9))) {
        print_problem(c);
        ck_abort_msg("the bound %.17g is above the step %.17g", bound_s, step_s);
    }
    double total_s = calc_balance_total_s(on, &problem, solution.share, step_s);
    double least_s = calc_planner_bound_s(on, &problem);
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
    while (made < PROBLEMS) {
        shipped_case c = random_case(CALC_PIPELINE_SCHEDULE_1F1B, 1);
        if (!make(&c)) {
            continue;
        }
        if (made++ % 2 > 0) {
            vary();
        }
        unlimit();
        solve(0);
        ck_assert(solution.proven);
        double free_s = solution.answer.step_s;
        sum += check(&c);
        limit();
        solve(0);
        ck_assert(solution.proven);
        check(&c);
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
        for (int made = 0; made < WITH_CHUNKS;) {
            shipped_case c = random_case(kinds[i], i == 0 ? 3 : 1);
            if (!make(&c)) {
                continue;
            }
            if (made++ % 2 > 0) {
                vary();
            }
            unlimit();
            solve(200);
            sum += check(&c);
            limit();
            solve(200);
            check(&c);
        }
        ck_assert_double_ge(sum / WITH_CHUNKS, .55);
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
        if (!make(&c) || problem.chips > 1) {
            continue;
        }
        i++;
        unlimit();
        memset(problem.place, 0, sizeof problem.place);
        solve(0);
        double share = check(&c);
        double *least = layers > 1 ? &least_many : &least_few;
        *least = fmin(*least, share);
    }
    ck_assert_double_ge(least_few, .96);
    ck_assert_double_ge(least_many, .96);
}
