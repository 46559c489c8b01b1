/* The planner of stages with several chunks, or other schedules, against slow ones written apart.
   CALC_PROPERTY_CASES says how many (800 if not given). A failure names the case: case n is what
   stream n of the seed gives. */
#include "balance_case.h"

#include "balance/relaxed.h"
#include "frame.h"

static uint64_t cases(void)
{
    return balance_cases(800);
}

/* ---- Chunks, written apart --------------------------------------------------------------------*/

enum { MOST_OPS = 2 * MOST_CHUNKS * MOST_MICROBATCHES };

/* A stage's operations as a list: chunk, micro-batch, and whether it is a backward. */
typedef struct listed {
    int chunk, microbatch;
    bool back;
} listed;

static listed list[MOST_STAGES][MOST_OPS];
static double at_s[2][MOST_STAGES * MOST_CHUNKS][MOST_MICROBATCHES];

/* All forwards or backwards: part by part, chunk by chunk, micro-batch by micro-batch. */
static void list_passes(bool back, listed *out)
{
    int p = (int)problem.shape.stages;
    int v = (int)problem.shape.chunks;
    int m = (int)problem.shape.microbatches;
    int count = 0;
    for (int from = 0; from < m;) {
        int size = from > 0 ? p : m < p ? m : p + m % p;
        for (int c = 0; c < v; c++) {
            for (int i = from; i < from + size; i++) {
                out[count++] = (listed){back ? v - 1 - c : c, i, back};
            }
        }
        from += size;
    }
}

static void list_all(void)
{
    int p = (int)problem.shape.stages;
    int v = (int)problem.shape.chunks;
    int m = (int)problem.shape.microbatches;
    static listed fw[MOST_OPS];
    static listed bw[MOST_OPS];
    list_passes(false, fw);
    list_passes(true, bw);
    int first = m < p ? m : p + m % p;
    for (int s = 0; s < p; s++) {
        int warm = (v - 1) * first + (problem.less_memory || v == 1 ? 1 : 2) * (p - 1 - s);
        warm = warm < v * m ? warm : v * m;
        int f = 0;
        int b = 0;
        for (int i = 0; i < 2 * v * m; i++) {
            bool forward = f < warm || (f < v * m && f - warm <= b);
            list[s][i] = forward ? fw[f++] : bw[b++];
        }
    }
}

/* Start times that are pushed up until none is too early. */
static double slow_chunks_s(const calc_schedule_pass *pass)
{
    int p = (int)problem.shape.stages;
    int v = (int)problem.shape.chunks;
    int m = (int)problem.shape.microbatches;
    memset(at_s, 0, sizeof at_s);
    double end_s = 0;
    for (bool moved = true; moved;) {
        moved = false;
        for (int s = 0; s < p; s++) {
            double now_s = 0;
            for (int i = 0; i < 2 * v * m; i++) {
                const listed *o = &list[s][i];
                int place = o->chunk * p + s;
                double start_s = now_s;
                if (!o->back && place > 0) {
                    start_s = fmax(start_s, at_s[0][place - 1][o->microbatch]);
                } else if (o->back) {
                    start_s = fmax(start_s, place < p * v - 1 ? at_s[1][place + 1][o->microbatch]
                                                              : at_s[0][place][o->microbatch]);
                }
                now_s =
                    start_s + (o->back ? pass[place].bw_s + pass[place].wgrad_s : pass[place].fw_s);
                double *done = &at_s[o->back][place][o->microbatch];
                moved = moved || now_s > *done;
                *done = now_s;
            }
            end_s = fmax(end_s, now_s);
        }
    }
    return end_s;
}

static double slow_peak_bytes(const calc_balance_share *share, int stage)
{
    int p = (int)problem.shape.stages;
    int v = (int)problem.shape.chunks;
    double held_bytes = problem.stage[stage].fixed_bytes;
    bool again = false;
    for (int c = 0; c < v; c++) {
        held_bytes += calc_balance_held_bytes(&problem, c * p + stage, &share[c * p + stage]);
        again = again || share[c * p + stage].full[0] + share[c * p + stage].full[1] > 0;
    }
    double live_bytes = 0;
    double peak_bytes = 0;
    for (int i = 0; i < 2 * v * problem.shape.microbatches; i++) {
        int place = list[stage][i].chunk * p + stage;
        double bytes = calc_balance_flight_bytes(&problem, place, &share[place]);
        live_bytes += list[stage][i].back ? -bytes : bytes;
        peak_bytes = fmax(peak_bytes, live_bytes);
    }
    return held_bytes + peak_bytes + (again ? problem.stage[stage].working_bytes : 0);
}

/* ---- Every division with chunks ---------------------------------------------------------------*/

static double best_s;
static calc_balance_share slow_share[MOST_STAGES * MOST_CHUNKS];

static bool slow_fits(void)
{
    for (int s = 0; s < problem.shape.stages; s++) {
        if (slow_peak_bytes(slow_share, s) > problem.stage[s].limit_bytes * (1 + 1e-12)) {
            return false;
        }
    }
    return true;
}

/* As many layers in full on all places of a chip, or all that a place has. */
static bool slow_alike(void)
{
    int most[CALC_BALANCE_CHIPS] = {0};
    int places = (int)(problem.shape.stages * problem.shape.chunks);
    for (int i = 0; i < 2 * places; i++) {
        const calc_balance_share *x = &slow_share[i % places];
        int chip = problem.stage[calc_balance_stage_of(&problem.shape, i % places)].chip;
        int full = x->full[0] + x->full[1];
        most[chip] = full > most[chip] ? full : most[chip];
        if (i >= places && full < most[chip] && full < x->layers[0] + x->layers[1]) {
            return false;
        }
    }
    return true;
}

static void settle_slowly(void)
{
    if (problem.alike_on_chip && !slow_alike()) {
        return;
    }
    if (problem.shape.kind != CALC_PIPELINE_SCHEDULE_1F1B) {
        calc_balance_answer answer;
        balance_must(calc_balance_evaluate(&problem, slow_share, &answer) == CALC_OK,
                     "is evaluated", 0, 0);
        best_s = fmin(best_s, answer.fits ? answer.step_s : INFINITY);
    } else if (slow_fits()) {
        calc_schedule_pass pass[MOST_STAGES * MOST_CHUNKS];
        for (int i = 0; i < problem.shape.stages * problem.shape.chunks; i++) {
            pass[i] = calc_balance_pass_of(&problem, i, &slow_share[i]);
        }
        best_s = fmin(best_s, slow_chunks_s(pass));
    }
}

/* All ways to recompute of one kind of layer of a place, as full and selective layers. */
static bool next_choice(calc_balance_share *x, int kind)
{
    int n = x->layers[kind];
    if (problem.may_select && x->full[kind] + x->selective[kind] < n) {
        x->selective[kind]++;
        return true;
    }
    x->selective[kind] = 0;
    if (problem.may_full && x->full[kind] < n) {
        x->full[kind]++;
        return true;
    }
    x->full[kind] = 0;
    return false;
}

/* All divisions of the places from this one on. */
static void try_places(int place, int left)
{
    if (place == problem.shape.stages * problem.shape.chunks) {
        if (left == 0) {
            settle_slowly();
        }
        return;
    }
    int most = problem.most_layers > 0 && problem.most_layers < left ? problem.most_layers : left;
    for (int n = problem.least_layers; n <= most; n++) {
        int dense = left - problem.layers[1];
        dense = dense < 0 ? 0 : dense < n ? dense : n;
        calc_balance_share *x = &slow_share[place];
        *x = (calc_balance_share){.layers = {dense, n - dense}};
        do {
            bool full = x->full[0] + x->full[1] > 0;
            bool some = x->selective[0] + x->selective[1] > 0;
            if (problem.may_mix || !full || !some) {
                try_places(place + 1, left - n);
            }
        } while (next_choice(x, 0) || next_choice(x, 1));
    }
}

static void try_all(void)
{
    best_s = INFINITY;
    try_places(0, problem.layers[0] + problem.layers[1]);
}

/* ---- Laws -------------------------------------------------------------------------------------*/

static void check_quick(void)
{
    double quick_s = calc_balance_quick_s(&problem);
    balance_must(quick_s <= best_s, "quick bound", quick_s, best_s);
}

/* The bound itself: a solution's is never beyond its own step. */
static void check_bound(void)
{
    int layers[CALC_BALANCE_STAGES];
    double least_s = calc_balance_relaxed(&problem, INFINITY, layers);
    balance_must(least_s <= best_s * (1 + 1e-11), "bound", least_s, best_s);
    check_quick();
}

/* The bound of paths, which is asked for more than there is. @return of the best */
static double paths_of_best(void)
{
    calc_balance_flights flights;
    calc_balance_flights_begin(&flights, &problem);
    double least_s = calc_balance_paths(&problem, &flights, 1.02 * best_s, 0);
    calc_balance_flights_end(&flights);
    balance_must(least_s <= best_s * (1 + 1e-11), "bound of paths", least_s, best_s);
    return least_s / best_s;
}

/* Layers of one kind that may recompute, or of two of which none does: the bound of paths holds,
 * and most are close to the best. */
CALC_TEST(a_mean_of_paths_is_no_longer_than_the_best)
{
    uint64_t asked = 0;
    uint64_t close = 0;
    for (uint64_t i = 0; i < cases() / 8; i++) {
        balance_pose(5000000 + i, 3, 2, 7, 6);
        problem.may_select = false;
        problem.may_full = problem.may_full && problem.layers[0] == 0;
        problem.less_memory = i % 3 == 0;
        list_all();
        try_all();
        if (best_s < INFINITY) {
            double share = paths_of_best();
            asked += share > 0;
            close += share >= 0.95;
        }
    }
    ck_assert_msg(4 * close >= 3 * asked && 4 * asked >= cases() / 8, "%d close of %d", (int)close,
                  (int)asked);
}

/* A division of any kind, recomputation of any kind. */
static void random_share(calc_balance_share *share)
{
    int places = (int)(problem.shape.stages * problem.shape.chunks);
    int left[CALC_BALANCE_KINDS] = {problem.layers[0], problem.layers[1]};
    for (int place = 0; place < places; place++) {
        for (int kind = 0; kind < CALC_BALANCE_KINDS; kind++) {
            int n = place == places - 1 ? left[kind]
                                        : balance_between(0, left[kind] < 3 ? left[kind] : 3);
            left[kind] -= n;
            share[place].layers[kind] = n;
            share[place].full[kind] = balance_between(0, n);
            share[place].selective[kind] = balance_between(0, n - share[place].full[kind]);
        }
    }
}

CALC_TEST(a_division_takes_and_needs_as_much_as_its_operations_do)
{
    for (uint64_t i = 0; i < 5 * cases(); i++) {
        balance_pose(2000000 + i, MOST_STAGES, 1 + (int)(i % MOST_CHUNKS), 12, MOST_MICROBATCHES);
        problem.less_memory = calc_rng_below(&balance_rng, 2) > 0;
        calc_balance_share share[MOST_STAGES * MOST_CHUNKS] = {0};
        random_share(share);
        list_all();
        calc_schedule_pass pass[MOST_STAGES * MOST_CHUNKS];
        for (int place = 0; place < problem.shape.stages * problem.shape.chunks; place++) {
            pass[place] = calc_balance_pass_of(&problem, place, &share[place]);
        }
        calc_balance_answer answer;
        balance_must(calc_balance_evaluate(&problem, share, &answer) == CALC_OK, "is evaluated", 0,
                     0);
        double step_s = slow_chunks_s(pass);
        balance_must(balance_close(answer.step_s, step_s), "the step", answer.step_s, step_s);
        for (int s = 0; s < problem.shape.stages; s++) {
            double bytes = slow_peak_bytes(share, s);
            balance_must(balance_close(answer.peak_bytes[s], bytes), "memory", answer.peak_bytes[s],
                         bytes);
        }
    }
}

static void check_between(void)
{
    double step_s = solution.answer.step_s;
    balance_must(solution.feasible, "feasible", 0, best_s);
    balance_check_solution();
    balance_must(step_s >= best_s * (1 - 1e-11), "no better than the best", step_s, best_s);
    balance_must(solution.bound_s <= best_s * (1 + 1e-11), "is a bound", solution.bound_s, best_s);
    balance_must(!solution.proven || balance_close(step_s, best_s), "is proven", step_s, best_s);
}

/* With chunks all divisions are tried where they are few: the best is found, and mostly proven.
 * Otherwise there is a bound that holds. */
CALC_TEST(a_search_over_chunks_finds_the_best_of_few_and_stays_within_its_bound)
{
    uint64_t found = 0;
    uint64_t proven = 0;
    uint64_t feasible = 0;
    for (uint64_t i = 0; i < cases() / 4; i++) {
        balance_pose(3000000 + i, 3, 2, i % 4 == 0 ? 4 : 7, 6);
        problem.may_select = problem.may_select && i % 4 == 0;
        problem.less_memory = calc_rng_below(&balance_rng, 2) > 0;
        problem.alike_on_chip = i % 3 == 0;
        list_all();
        try_all();
        check_bound();
        balance_solve(0);
        if (best_s == INFINITY) {
            balance_must(!solution.feasible, "feasible", solution.answer.step_s, best_s);
            continue;
        }
        check_between();
        balance_must(balance_close(solution.answer.step_s, best_s), "the best",
                     solution.answer.step_s, best_s);
        proven += solution.proven;
        feasible++;
        balance_solve(150); /* too few to try all */
        if (solution.feasible) {
            check_between();
            found += balance_close(solution.answer.step_s, best_s);
        }
    }
    ck_assert_msg(10 * found >= 9 * feasible && 4 * proven >= 3 * feasible,
                  "%d found and %d proven of %d", (int)found, (int)proven, (int)feasible);
    ck_assert_uint_ge(2 * feasible, cases() / 4);
}

/* Without chunks, in every other schedule: what is proven is the best. */
CALC_TEST(other_schedules_stay_between_their_bound_and_the_best)
{
    static const calc_pipeline_schedule kinds[] = {
        CALC_PIPELINE_SCHEDULE_GPIPE, CALC_PIPELINE_SCHEDULE_ZB_H1, CALC_PIPELINE_SCHEDULE_ZB_H2};
    uint64_t found = 0;
    uint64_t feasible = 0;
    for (uint64_t i = 0; i < cases() / 2; i++) {
        balance_pose(4000000 + i, 4, 1, 7, 12);
        problem.shape.kind = kinds[i % 3];
        problem.may_select = false;
        if (calc_schedule_check(&problem.shape) != CALC_SCHEDULE_OK) {
            continue;
        }
        balance_solve(1000);
        try_all();
        check_quick();
        balance_must(solution.feasible == (best_s < INFINITY), "feasible", solution.feasible,
                     best_s);
        if (!solution.feasible) {
            continue;
        }
        balance_check_solution();
        feasible++;
        double step_s = solution.answer.step_s;
        balance_must(step_s >= best_s * (1 - 1e-11), "no better than the best", step_s, best_s);
        balance_must(solution.bound_s <= best_s * (1 + 1e-11), "is a bound", solution.bound_s,
                     best_s);
        balance_must(!solution.proven || balance_close(step_s, best_s), "is proven", step_s,
                     best_s);
        found += balance_close(step_s, best_s);
    }
    ck_assert_msg(100 * found >= 99 * feasible, "%d of %d", (int)found, (int)feasible);
    ck_assert_uint_ge(4 * feasible, cases() / 2);
}
