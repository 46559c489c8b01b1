/* The planner of stages with one chunk against slow ones written apart: every division with every
   recomputation, each simulated operation by operation. CALC_PROPERTY_CASES says how many (600 if
   not given). A failure names the case: case n is what stream n of the seed gives. */
#include "balance_case.h"

#include "balance/line.h"
#include "balance/relaxed.h"
#include "frame.h"

static uint64_t cases(void)
{
    return balance_cases(600);
}

/* ---- A step, written apart --------------------------------------------------------------------*/

static double done_s[2][MOST_STAGES][MOST_MICROBATCHES]; /* forwards, backwards */

/* One chunk per stage: each operation when what it needs is done, asked for again and again. */
static double slow_step_s(const calc_schedule_pass *pass)
{
    int p = (int)problem.shape.stages;
    int m = (int)problem.shape.microbatches;
    int next[MOST_STAGES] = {0};
    double now_s[MOST_STAGES] = {0};
    memset(done_s, 0, sizeof done_s);
    for (int left = 2 * p * m; left > 0;) {
        for (int s = 0; s < p; s++) {
            int warm = p - 1 - s < m ? p - 1 - s : m;
            int i = next[s];
            if (i == 2 * m) {
                continue;
            }
            /* Forwards alone, then in turns, then backwards alone. */
            bool turns = i >= warm && i < 2 * m - warm;
            bool back = turns ? (i - warm) % 2 == 1 : i >= warm;
            int k = turns ? (i - warm) / 2 + (back ? 0 : warm) : (back ? i - m : i);
            double *input_s = back ? (s < p - 1 ? &done_s[1][s + 1][k] : &done_s[0][s][k])
                                   : (s > 0 ? &done_s[0][s - 1][k] : NULL);
            if (input_s != NULL && *input_s == 0) {
                continue;
            }
            double start_s = fmax(now_s[s], input_s ? *input_s : 0);
            double takes_s = back ? pass[s].bw_s + pass[s].wgrad_s : pass[s].fw_s;
            now_s[s] = done_s[back][s][k] = start_s + takes_s;
            next[s]++;
            left--;
        }
    }
    return now_s[0];
}

/* ---- Every division, written apart ------------------------------------------------------------*/

static double best_s, best_unlimited_s;
static int layers_of[MOST_STAGES];

/* The shortest backward pass of a stage that fits, all counts tried; INFINITY if none does. */
static double slow_choice_s(int stage, int dense, int moe, double limit_bytes, int alike,
                            calc_schedule_pass *pass)
{
    const calc_balance_stage *at = &problem.stage[stage];
    const calc_balance_layer *l = problem.layer[at->chip];
    double live = fmin((double)(problem.shape.stages - stage), (double)problem.shape.microbatches);
    double best = INFINITY;
    int all_full = problem.may_full ? 1 : 0;
    int all_some = problem.may_select ? 1 : 0;
    for (int f0 = 0; f0 <= all_full * dense; f0++) {
        for (int f1 = 0; f1 <= all_full * moe; f1++) {
            if (alike >= 0 && f0 + f1 != (alike < dense + moe ? alike : dense + moe)) {
                continue;
            }
            for (int s0 = 0; s0 <= all_some * (dense - f0); s0++) {
                for (int s1 = 0; s1 <= all_some * (moe - f1); s1++) {
                    if (!problem.may_mix && f0 + f1 > 0 && s0 + s1 > 0) {
                        continue;
                    }
                    double bytes = at->fixed_bytes + (f0 + f1 > 0 ? at->working_bytes : 0) +
                                   dense * l[0].held_bytes + moe * l[1].held_bytes +
                                   live * (problem.place[stage].flight_bytes +
                                           (dense - f0 - s0) * l[0].flight_bytes[0] +
                                           s0 * l[0].flight_bytes[1] + f0 * l[0].flight_bytes[2] +
                                           (moe - f1 - s1) * l[1].flight_bytes[0] +
                                           s1 * l[1].flight_bytes[1] + f1 * l[1].flight_bytes[2]);
                    double again_s = s0 * l[0].again_s[1] + f0 * l[0].again_s[2] +
                                     s1 * l[1].again_s[1] + f1 * l[1].again_s[2];
                    if (bytes <= limit_bytes * (1 + 1e-12) && again_s < best) {
                        best = again_s;
                    }
                }
            }
        }
    }
    const calc_balance_place *place = &problem.place[stage];
    pass->fw_s = place->fw_s + dense * l[0].fw_s + moe * l[1].fw_s;
    pass->bw_s = place->agrad_s + dense * l[0].agrad_s + moe * l[1].agrad_s + best;
    pass->wgrad_s = place->wgrad_s + dense * l[0].wgrad_s + moe * l[1].wgrad_s;
    return best;
}

static void settle(bool limited, const int *alike)
{
    calc_schedule_pass pass[MOST_STAGES];
    int dense_left = problem.layers[0];
    for (int s = 0; s < problem.shape.stages; s++) {
        int dense = layers_of[s] < dense_left ? layers_of[s] : dense_left;
        dense_left -= dense;
        double limit_bytes = limited ? problem.stage[s].limit_bytes : INFINITY;
        int number = alike != NULL ? alike[problem.stage[s].chip] : -1;
        if (slow_choice_s(s, dense, layers_of[s] - dense, limit_bytes, number, &pass[s]) ==
            INFINITY) {
            return;
        }
    }
    double step_s = slow_step_s(pass);
    if (limited) {
        best_s = fmin(best_s, step_s);
    } else {
        best_unlimited_s = fmin(best_unlimited_s, step_s);
    }
}

static void try_all(int stage, int left, bool limited, const int *alike)
{
    int most = problem.most_layers > 0 ? problem.most_layers : left;
    if (stage == problem.shape.stages - 1) {
        if (left >= problem.least_layers && left <= most) {
            layers_of[stage] = left;
            settle(limited, alike);
        }
        return;
    }
    for (int n = problem.least_layers; n <= left && n <= most; n++) {
        layers_of[stage] = n;
        try_all(stage + 1, left - n, limited, alike);
    }
}

static void brute_force(void)
{
    best_s = best_unlimited_s = INFINITY;
    int all = problem.layers[0] + problem.layers[1];
    if (!problem.alike_on_chip) {
        try_all(0, all, true, NULL);
        try_all(0, all, false, NULL);
        return;
    }
    for (int a = 0; a <= (problem.may_full ? all : 0); a++) {
        for (int b = 0; b <= (problem.may_full && problem.chips > 1 ? all : 0); b++) {
            try_all(0, all, true, (int[]){a, b});
        }
    }
    try_all(0, all, false, (int[]){0, 0});
}

/* ---- Laws -------------------------------------------------------------------------------------*/

static void against_brute_force(void)
{
    brute_force();
    /* What is left open early is no proof. */
    balance_solve(2);
    balance_must(solution.bound_s <= best_s * (1 + 1e-11), "early, a bound", solution.bound_s,
                 best_s);
    balance_must(!solution.feasible || solution.answer.step_s >= best_s * (1 - 1e-11),
                 "early, no better", solution.answer.step_s, best_s);
    balance_solve(0);
    balance_must(solution.feasible == (best_s < INFINITY), "feasible", solution.feasible, best_s);
    balance_must(solution.proven, "is proven", solution.bound_s, solution.answer.step_s);
    if (!solution.feasible) {
        balance_must(solution.stage >= 0 || problem.most_layers > 0, "names a stage",
                     solution.stage, 0);
        return;
    }
    balance_check_solution();
    balance_must(balance_close(solution.answer.step_s, best_s), "the best step",
                 solution.answer.step_s, best_s);
    balance_must(solution.bound_s <= best_s * (1 + 1e-11), "is a bound", solution.bound_s, best_s);
}

CALC_TEST(no_division_is_better_than_the_one_found)
{
    uint64_t bound = 0;
    uint64_t infeasible = 0;
    for (uint64_t i = 0; i < cases(); i++) {
        balance_pose(i, MOST_STAGES, 1, i % 16 == 0 ? 16 : 10, 12);
        against_brute_force();
        infeasible += best_s == INFINITY;
        bound += best_s < INFINITY && best_s > best_unlimited_s * (1 + 1e-9);
    }
    /* Memory binds in about half of them, and a few have no solution. */
    ck_assert_uint_ge(4 * (bound + infeasible), cases());
    ck_assert_uint_le(4 * (bound + infeasible), 3 * cases());
    ck_assert_uint_ge(5 * bound, cases());
    ck_assert_uint_ge(100 * infeasible, cases());
}

CALC_TEST(no_division_alike_on_chips_is_better_than_the_one_found)
{
    for (uint64_t i = 0; i < cases() / 4; i++) {
        balance_pose(1000000 + i, 4, 1, 7, 8);
        problem.alike_on_chip = true;
        against_brute_force();
    }
}

/* The least of all divisions by paths, kept apart or merged, and by the busiest stage. */
CALC_TEST(no_bound_is_beyond_the_best)
{
    uint64_t exact = 0;
    uint64_t near = 0;
    uint64_t feasible = 0;
    uint64_t times = 10000 * cases() / 600;
    for (uint64_t i = 0; i < times; i++) {
        balance_pose(6000000 + i, 4, 1, 6, 8);
        problem.may_select = problem.may_select && problem.may_mix;
        best_s = INFINITY;
        try_all(0, problem.layers[0] + problem.layers[1], true, NULL);
        calc_balance_line line;
        calc_balance_bound bound;
        calc_balance_line_begin(&line, &problem);
        calc_balance_bound_begin(&bound, &line);
        for (int most = 1; most <= 4096; most *= 16) {
            calc_balance_bound_find(&bound, INFINITY, most);
            balance_must(bound.least_s <= best_s * (1 + 1e-11), "by paths", bound.least_s, best_s);
            balance_must(most < 4096 || bound.exact, "room for all divisions", most, 0);
        }
        exact += best_s < INFINITY && balance_close(bound.least_s, best_s);
        feasible += best_s < INFINITY;
        balance_must((bound.least_s < INFINITY) == (best_s < INFINITY), "feasible", bound.least_s,
                     best_s);
        calc_balance_bound_end(&bound);
        calc_balance_line_end(&line);
        int layers[CALC_BALANCE_STAGES];
        double least_s = calc_balance_relaxed(&problem, INFINITY, layers);
        balance_must(least_s <= best_s * (1 + 1e-11), "by stages", least_s, best_s);
        double quick_s = calc_balance_quick_s(&problem);
        balance_must(quick_s <= best_s, "quick", quick_s, best_s);
        near += best_s < INFINITY && quick_s > 0.9 * best_s;
    }
    /* By paths it mostly is the best. */
    ck_assert_uint_ge(100 * exact, 90 * feasible);
    ck_assert_msg(100 * near >= 80 * feasible, "%d of %d", (int)near, (int)feasible);
    ck_assert_uint_ge(100 * feasible, 75 * times);
}

/* Of any one division, in every schedule that is a line. */
CALC_TEST(no_path_is_longer_than_the_step)
{
    static const calc_pipeline_schedule kinds[] = {
        CALC_PIPELINE_SCHEDULE_1F1B, CALC_PIPELINE_SCHEDULE_GPIPE, CALC_PIPELINE_SCHEDULE_ZB_H1,
        CALC_PIPELINE_SCHEDULE_ZB_H2};
    uint64_t exact[4] = {0};
    uint64_t times = 10 * cases();
    for (uint64_t i = 0; i < times; i++) {
        balance_pose(7000000 + i, MOST_STAGES, 1, 12, MOST_MICROBATCHES);
        problem.shape.kind = kinds[i % 4];
        problem.least_layers = problem.most_layers = 0;
        for (int s = 0; s < problem.shape.stages; s++) {
            problem.stage[s].limit_bytes = INFINITY;
        }
        calc_balance_line line;
        calc_balance_line_begin(&line, &problem);
        calc_balance_before before = CALC_BALANCE_NOTHING_BEFORE;
        int layers[CALC_BALANCE_STAGES] = {0};
        int left = line.layers;
        for (int s = 0; s < line.stages; s++) {
            layers[s] = s == line.stages - 1 ? left : balance_between(0, left < 4 ? left : 4);
            calc_balance_option o =
                calc_balance_line_option(&line, s, line.layers - left, layers[s]);
            before = calc_balance_before_on(&before, &o.terms);
            left -= layers[s];
        }
        double path_s = fmax(before.at_s[0], fmax(before.at_s[1], before.at_s[2]));
        double step_s = calc_balance_line_s(&line, layers);
        balance_must(path_s <= step_s * (1 + 1e-11), "a path", path_s, step_s);
        exact[i % 4] += balance_close(path_s, step_s);
        calc_balance_line_end(&line);
    }
    /* Few divisions are far from even, and their stages are the ones that paths miss. */
    ck_assert_uint_ge(4 * 100 * exact[0], 70 * times);
    ck_assert_uint_ge(4 * 100 * exact[1], 60 * times);
}
