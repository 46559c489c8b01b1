#include "balance_case.h"

static const uint64_t seed = 20250611;
static uint64_t current_case;
calc_rng balance_rng;
calc_balance_problem problem;
calc_balance_solution solution;

uint64_t balance_cases(uint64_t usual)
{
    const char *text = getenv("CALC_PROPERTY_CASES");
    return text ? strtoull(text, NULL, 10) : usual;
}

void balance_must(bool holds, const char *what, double got, double want)
{
    if (!holds) {
        ck_abort_msg("seed %llu, case %llu: %s: %.17g, against %.17g", (unsigned long long)seed,
                     (unsigned long long)current_case, what, got, want);
    }
}

bool balance_close(double a, double b)
{
    return fabs(a - b) <= 1e-11 * fmax(fabs(a), fabs(b));
}

/* ---- Random problems --------------------------------------------------------------------------*/

int balance_between(int least, int most)
{
    return least + (int)calc_rng_below(&balance_rng, (uint32_t)(most - least + 1));
}

/* Quarters, so that equal sums are common; or any number. */
static double amount(bool round, double least, double most)
{
    double x = least + (most - least) * calc_rng_real(&balance_rng);
    return round ? ceil(4 * x) / 4 : x;
}

static void pose_layers(bool round)
{
    for (int chip = 0; chip < problem.chips; chip++) {
        double slow = amount(round, 0.5, 3);
        for (int kind = 0; kind < CALC_BALANCE_KINDS; kind++) {
            double fw_s = slow * amount(round, 0.25, 1.5);
            double act_bytes = amount(round, 1, 3);
            problem.layer[chip][kind] = (calc_balance_layer){
                .fw_s = fw_s,
                .agrad_s = fw_s * amount(round, 0.5, 2),
                .wgrad_s = fw_s * amount(round, 0, 1),
                .again_s = {0, fw_s * amount(round, 0, 0.5), fw_s * amount(round, 0.5, 1.25)},
                .held_bytes = amount(round, 1, 6),
                .flight_bytes = {act_bytes, 0.75 * act_bytes, 0.125 * act_bytes},
            };
        }
    }
}

/* Limits around what an even division needs, so that they bind in about half of the cases. */
void balance_pose_stages(bool round)
{
    int stages = (int)problem.shape.stages;
    bool tight = calc_rng_below(&balance_rng, 4) > 0;
    double each = (double)(problem.layers[0] + problem.layers[1]) / stages;
    double room = amount(false, 0.8, 2);
    for (int s = 0; s < stages; s++) {
        int chip = s < stages / 2 ? 0 : problem.chips - 1;
        const calc_balance_layer *l = problem.layer[chip];
        double flight = fmin(stages - s, (double)problem.shape.microbatches);
        double bytes = fmax(l[0].held_bytes, l[1].held_bytes) +
                       flight * 0.5 * fmax(l[0].flight_bytes[0], l[1].flight_bytes[0]);
        problem.stage[s] = (calc_balance_stage){
            .chip = chip,
            .fixed_bytes = amount(round, 0, 2),
            .working_bytes = calc_rng_below(&balance_rng, 2) ? 0 : amount(round, 0, 2),
            .limit_bytes = tight ? 1 + room * bytes * each : INFINITY,
        };
    }
    for (int place = 0; place < stages * problem.shape.chunks; place++) {
        bool end = place == 0 || place == stages * problem.shape.chunks - 1;
        double end_s = end ? amount(round, 0, 2) : 0.125;
        problem.place[place] =
            (calc_balance_place){.fw_s = end_s, .agrad_s = 2 * end_s, .flight_bytes = 0.25};
    }
}

void balance_pose(uint64_t stream, int stages, int chunks, int layers, int microbatches)
{
    current_case = stream;
    calc_rng_init(&balance_rng, seed, stream);
    memset(&problem, 0, sizeof problem);
    bool round = calc_rng_below(&balance_rng, 2) > 0;
    problem.shape = (calc_schedule_shape){CALC_PIPELINE_SCHEDULE_1F1B, balance_between(1, stages),
                                          chunks, balance_between(1, microbatches)};
    int places = (int)problem.shape.stages * chunks;
    int all = balance_between(places, layers > places ? layers : places);
    problem.layers[0] = calc_rng_below(&balance_rng, 2) ? 0 : balance_between(0, all);
    problem.layers[1] = all - problem.layers[0];
    problem.chips = balance_between(1, 2);
    problem.may_full = calc_rng_below(&balance_rng, 4) > 0;
    problem.may_select = calc_rng_below(&balance_rng, 3) == 0;
    problem.may_mix = calc_rng_below(&balance_rng, 2) > 0;
    problem.least_layers = balance_between(0, 1);
    problem.most_layers =
        calc_rng_below(&balance_rng, 3) ? 0 : all / places + 1 + balance_between(0, 2);
    pose_layers(round);
    balance_pose_stages(round);
}

/* ---- Solutions --------------------------------------------------------------------------------*/

void balance_solve(int64_t evaluations)
{
    calc_balance_options options = {.evaluations = evaluations};
    balance_must(calc_balance_solve(&problem, &options, &solution) == CALC_OK, "is solved", 0, 0);
}

/* What a solution says of itself, and what it must keep to. */
/* Chips whose stages are alike: as many layers in full everywhere, or all there are. */
static void check_alike(void)
{
    int most[CALC_BALANCE_CHIPS] = {0};
    for (int again = 0; again < 2; again++) {
        for (int place = 0; place < problem.shape.stages * problem.shape.chunks; place++) {
            const calc_balance_share *x = &solution.share[place];
            int chip = problem.stage[calc_balance_stage_of(&problem.shape, place)].chip;
            int full = x->full[0] + x->full[1];
            most[chip] = full > most[chip] ? full : most[chip];
            balance_must(again == 0 || full == most[chip] || full == x->layers[0] + x->layers[1],
                         "alike on a chip", full, most[chip]);
        }
    }
}

void balance_check_solution(void)
{
    int left[CALC_BALANCE_KINDS] = {problem.layers[0], problem.layers[1]};
    calc_balance_answer answer;
    balance_must(calc_balance_evaluate(&problem, solution.share, &answer) == CALC_OK,
                 "is evaluated", 0, 0);
    balance_must(answer.fits, "fits", answer.lacks_bytes, 0);
    balance_must(answer.step_s == solution.answer.step_s, "the step", answer.step_s,
                 solution.answer.step_s);
    for (int place = 0; place < problem.shape.stages * problem.shape.chunks; place++) {
        const calc_balance_share *x = &solution.share[place];
        int all = x->layers[0] + x->layers[1];
        balance_must(x->layers[1] == 0 || left[0] == x->layers[0], "kind 0 first", x->layers[1],
                     left[0]);
        balance_must(all >= problem.least_layers, "least layers", all, problem.least_layers);
        balance_must(problem.most_layers == 0 || all <= problem.most_layers, "most layers", all,
                     problem.most_layers);
        int full = x->full[0] + x->full[1];
        int some = x->selective[0] + x->selective[1];
        balance_must(full == 0 || problem.may_full, "may be full", full, 0);
        balance_must(some == 0 || problem.may_select, "may be selective", some, 0);
        balance_must(full == 0 || some == 0 || problem.may_mix, "may be mixed", full, some);
        for (int kind = 0; kind < CALC_BALANCE_KINDS; kind++) {
            left[kind] -= x->layers[kind];
            balance_must(x->full[kind] >= 0 && x->selective[kind] >= 0 &&
                             x->full[kind] + x->selective[kind] <= x->layers[kind],
                         "of its layers", x->full[kind], x->layers[kind]);
        }
    }
    balance_must(left[0] == 0 && left[1] == 0, "all layers", left[0], left[1]);
    if (problem.alike_on_chip) {
        check_alike();
    }
}
