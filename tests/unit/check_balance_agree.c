/* Three judges of random tiny problems: every division simulated one by one, the mixed-integer
 * program solved by glpsol, and calc's search. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "balance/evaluate.h"
#include "balance/milp.h"
#include "balance/solve.h"
#include "base/rng.h"
#include "frame.h"
#include "sampled.h"

const calc_test_frame calc_tests = {.needs = "glpsol"};

enum { PROBLEMS = 1000, SEED = 20261122 };

static calc_balance_problem problem;

/* ---- Problems ---------------------------------------------------------------------------------*/

static int below(calc_rng *rng, int bound)
{
    return (int)calc_rng_below(rng, (uint32_t)bound);
}

static bool once_in(calc_rng *rng, int times)
{
    return below(rng, times) == 0;
}

/* Some of them whole numbers, so that ties and full stages occur. */
static double cost(calc_rng *rng, double most)
{
    double value = calc_rng_real(rng) * most;
    return once_in(rng, 2) ? floor(value) : value;
}

static void choose_layers(calc_rng *rng)
{
    for (int chip = 0; chip < problem.chips; chip++) {
        for (int kind = 0; kind < CALC_BALANCE_KINDS; kind++) {
            double kept = 1 + cost(rng, 9);
            problem.layer[chip][kind] = (calc_balance_layer){
                .fw_s = .5 + cost(rng, 4),
                .agrad_s = .5 + cost(rng, 4),
                .wgrad_s = cost(rng, 3),
                .again_s = {0, cost(rng, 2), cost(rng, 4)},
                .held_bytes = cost(rng, 20),
                .flight_bytes = {kept, kept * .7, kept * .2},
            };
        }
    }
}

static void choose_rules(calc_rng *rng)
{
    problem.may_full = !once_in(rng, 4);
    problem.may_select = once_in(rng, 3);
    problem.may_mix = once_in(rng, 2);
    problem.alike_on_chip = once_in(rng, 3);
    problem.least_layers = once_in(rng, 2);
    problem.most_layers = once_in(rng, 3) ? 2 + below(rng, 3) : 0;
}

static int places(void)
{
    return (int)(problem.shape.stages * problem.shape.chunks);
}

/* Half of the problems have hardly enough memory, or not: a limit beside the need of a division
 * with layers at random. */
static void choose_limits(calc_rng *rng)
{
    calc_balance_share share[CALC_BALANCE_PLACES];
    calc_balance_answer need;
    memset(share, 0, sizeof share);
    for (int kind = 0; kind < CALC_BALANCE_KINDS; kind++) {
        for (int i = 0; i < problem.layers[kind]; i++) {
            calc_balance_share *at = &share[below(rng, places())];
            at->layers[kind]++;
            at->full[kind] += problem.may_full && once_in(rng, 2);
        }
    }
    ck_assert_int_eq(calc_balance_evaluate(&problem, share, &need), CALC_OK);
    bool tight = once_in(rng, 2);
    for (int stage = 0; stage < problem.shape.stages; stage++) {
        double room = tight ? .7 + calc_rng_real(rng) : 10;
        problem.stage[stage].limit_bytes =
            !tight && once_in(rng, 2) ? INFINITY : (need.peak_bytes[stage] + 1) * room;
    }
}

static void choose_problem(calc_rng *rng)
{
    static const int unit[] = {1, 1000, 1000000};
    problem = (calc_balance_problem){
        .shape = {CALC_PIPELINE_SCHEDULE_1F1B, 1 + below(rng, 3), 1, 1 + below(rng, 4)},
        .chips = 1 + below(rng, 2),
        .less_memory = once_in(rng, 2),
    };
    if (once_in(rng, 4)) {
        problem.shape.chunks = 2;
    } else if (once_in(rng, 8)) {
        problem.shape.kind = CALC_PIPELINE_SCHEDULE_GPIPE;
    }
    int layers = places() > 4 ? 4 : 2 + below(rng, 5);
    problem.layers[0] = below(rng, layers + 1);
    problem.layers[1] = layers - problem.layers[0];
    choose_layers(rng);
    choose_rules(rng);
    for (int stage = 0; stage < problem.shape.stages; stage++) {
        problem.stage[stage].chip = below(rng, problem.chips);
        problem.stage[stage].fixed_bytes = cost(rng, 20);
        problem.stage[stage].working_bytes = once_in(rng, 2) ? cost(rng, 20) : 0;
    }
    for (int place = 0; place < places(); place++) {
        problem.place[place] = (calc_balance_place){.fw_s = cost(rng, 2),
                                                    .agrad_s = cost(rng, 2),
                                                    .wgrad_s = once_in(rng, 2) ? cost(rng, 2) : 0,
                                                    .flight_bytes = cost(rng, 3)};
    }
    choose_limits(rng);
    /* Any unit of time will do. */
    double scale = 1. / unit[below(rng, 3)];
    for (int chip = 0; chip < problem.chips; chip++) {
        for (int kind = 0; kind < CALC_BALANCE_KINDS; kind++) {
            calc_balance_layer *l = &problem.layer[chip][kind];
            l->fw_s *= scale;
            l->agrad_s *= scale;
            l->wgrad_s *= scale;
            l->again_s[CALC_BALANCE_SELECTIVE] *= scale;
            l->again_s[CALC_BALANCE_FULL] *= scale;
        }
    }
    for (int place = 0; place < places(); place++) {
        problem.place[place].fw_s *= scale;
        problem.place[place].agrad_s *= scale;
        problem.place[place].wgrad_s *= scale;
    }
}

/* ---- Every division ---------------------------------------------------------------------------*/

typedef struct search {
    calc_balance_share share[CALC_BALANCE_PLACES];
    double best_s; /* INFINITY: none fits */
    int64_t divisions;
} search;

/* Whether a number of layers for each chip explains how many each place recomputes. */
static bool is_alike(const search *s)
{
    for (int chip = 0; chip < problem.chips && problem.alike_on_chip; chip++) {
        bool found = false;
        for (int r = 0; !found && r <= problem.layers[0] + problem.layers[1]; r++) {
            found = true;
            for (int place = 0; place < places(); place++) {
                const calc_balance_share *at = &s->share[place];
                int stage = calc_balance_stage_of(&problem.shape, place);
                int all = at->layers[0] + at->layers[1];
                int full = at->full[0] + at->full[1];
                found = found && (problem.stage[stage].chip != chip || full == (r < all ? r : all));
            }
        }
        if (!found) {
            return false;
        }
    }
    return true;
}

static void go_on(search *s, int place, int dense, int others);

static void recompute(search *s, int place, int dense, int others)
{
    calc_balance_share *at = &s->share[place];
    int most_s = problem.may_select ? 1 : 0;
    int most_f = problem.may_full ? 1 : 0;
    for (int a = 0; a <= most_s * at->layers[0]; a++) {
        for (int b = 0; b <= most_s * at->layers[1]; b++) {
            for (int c = 0; c <= most_f * (at->layers[0] - a); c++) {
                for (int d = 0; d <= most_f * (at->layers[1] - b); d++) {
                    if (!problem.may_mix && a + b > 0 && c + d > 0) {
                        continue;
                    }
                    at->selective[0] = a;
                    at->selective[1] = b;
                    at->full[0] = c;
                    at->full[1] = d;
                    go_on(s, place + 1, dense, others);
                }
            }
        }
    }
}

static void go_on(search *s, int place, int dense, int others)
{
    if (place == places()) {
        calc_balance_answer answer;
        if (dense == 0 && others == 0 && is_alike(s)) {
            ck_assert_int_eq(calc_balance_evaluate(&problem, s->share, &answer), CALC_OK);
            s->best_s = answer.fits && answer.step_s < s->best_s ? answer.step_s : s->best_s;
            s->divisions++;
        }
        return;
    }
    calc_balance_share *at = &s->share[place];
    for (int a = 0; a <= dense; a++) {
        /* None of the others before all dense ones are placed. */
        for (int b = 0; b <= (a == dense ? others : 0); b++) {
            if (a + b < problem.least_layers ||
                (problem.most_layers > 0 && a + b > problem.most_layers)) {
                continue;
            }
            at->layers[0] = a;
            at->layers[1] = b;
            recompute(s, place, dense - a, others - b);
        }
    }
}

/* ---- Beside glpsol ----------------------------------------------------------------------------*/

static void expect(int number, double best_s)
{
    calc_milp milp;
    calc_solver_result result;
    calc_balance_share share[CALC_BALANCE_PLACES];
    calc_balance_answer answer;
    ck_assert_int_eq(calc_milp_build(&problem, &milp, NULL), CALC_OK);
    ck_assert_int_eq(calc_solver_glpsol(&milp, 0, &result, NULL), CALC_OK);
    ck_assert_int_eq(result.outcome, isinf(best_s) ? CALC_SOLVER_INFEASIBLE : CALC_SOLVER_OPTIMAL);
    if (!isinf(best_s)) {
        ck_assert_msg(fabs(result.objective_s - best_s) <= 1e-7 * best_s,
                      "problem %d: glpsol %.12g, all divisions %.12g", number, result.objective_s,
                      best_s);
        calc_milp_shares(&milp, result.value, share);
        ck_assert_int_eq(calc_balance_evaluate(&problem, share, &answer), CALC_OK);
        ck_assert(fabs(answer.step_s - best_s) <= 1e-7 * best_s);
        for (int stage = 0; stage < problem.shape.stages; stage++) {
            ck_assert(answer.peak_bytes[stage] <= problem.stage[stage].limit_bytes * (1 + 1e-7));
        }
    }
    calc_solver_free(&result);
    calc_milp_free(&milp);
}

/* ---- Beside the search ------------------------------------------------------------------------*/

static calc_balance_solution solution;

/* With one chunk per stage it proves the optimum; with several it may miss it, but knows less than
 * it does. @return whether it found the best */
static bool expect_of_search(int number, double best_s)
{
    calc_balance_options options = {0};
    ck_assert_int_eq(calc_balance_solve(&problem, &options, &solution), CALC_OK);
    bool proven = solution.proven;
    ck_assert_msg(proven || problem.shape.chunks > 1, "problem %d is not proven", number);
    if (!solution.feasible || isinf(best_s)) {
        ck_assert_msg(solution.feasible == !isinf(best_s) || (!solution.feasible && !proven),
                      "problem %d: feasible %d, best %.12g", number, solution.feasible, best_s);
        return isinf(best_s);
    }
    double step_s = solution.answer.step_s;
    bool best = fabs(step_s - best_s) <= 1e-9 * best_s;
    ck_assert_msg(best || !proven, "problem %d: search %.12g, best %.12g", number, step_s, best_s);
    ck_assert(step_s >= best_s * (1 - 1e-9));
    ck_assert_msg(solution.bound_s <= best_s * (1 + 1e-9), "problem %d: bound %.12g, best %.12g",
                  number, solution.bound_s, best_s);
    return best;
}

CALC_TEST(glpsol_and_the_search_find_the_best_of_all_divisions)
{
    calc_rng rng;
    calc_rng_init(&rng, SEED, 0);
    const int problems = sample_of(PROBLEMS);
    int infeasible = 0;
    int missed = 0;
    int64_t divisions = 0;
    for (int i = 0; i < problems; i++) {
        search s = {.best_s = INFINITY};
        choose_problem(&rng);
        go_on(&s, 0, problem.layers[0], problem.layers[1]);
        expect(i, s.best_s);
        missed += !expect_of_search(i, s.best_s);
        infeasible += isinf(s.best_s) != 0;
        divisions += s.divisions;
    }
    printf("%d problems, %d infeasible, %lld divisions; %d missed by the search\n", problems,
           infeasible, (long long)divisions, missed);
    ck_assert_int_le(missed, problems / 40);
    ck_assert_int_ge(infeasible, problems / 10);
    ck_assert_int_le(infeasible, problems / 2);
}
