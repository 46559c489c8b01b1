#include "cli/as/taylor_solve.h"

#include <math.h>
#include <stdio.h>
#include <time.h>

#include "balance/solver.h"
#include "base/buffer.h"
#include "base/error.h"

const char *const calc_taylor_solvers[] = {"calc", "GLPK", "HIGHS", NULL};

calc_status calc_taylor_job_of(const calc_taylor_config *config, const calc_system *system,
                               int64_t batch, calc_taylor_job *out, calc_errors *errors)
{
    const calc_taylor_config *c = config;
    *out = (calc_taylor_job){.config = c,
                             .system = system,
                             .ask = calc_taylor_ask_of(c, batch),
                             .ratios = {.dense = 0.3, .backward = 2, .again = 1, .head = 1.5}};
    calc_status status = calc_taylor_ask_check(&out->ask, errors);
    if (status != CALC_OK) {
        return status;
    }
    int64_t sequences = out->ask.microbatches * c->data * c->exec.microbatch_size;
    out->exec = calc_taylor_config_exec(c, c->data, c->tensor, c->pipeline, c->expert, sequences,
                                        CALC_TAYLOR_AGAIN_NONE);
    status = calc_check(&c->app, system, &out->exec, errors);
    if (status == CALC_OK) {
        calc_taylor_memory_of(c, system, &out->exec, &out->memory);
    }
    return status;
}

static calc_status solve_once(calc_taylor_job *j, calc_errors *errors)
{
    const calc_balance_options options = {.time_limit_s = j->time_limit_s};
    calc_taylor_problem(&j->ask, &j->ratios, &j->memory, &j->problem);
    if (j->solver == CALC_TAYLOR_SOLVER_CALC) {
        return calc_balance_solve(&j->problem, &options, &j->solution);
    }
    calc_solver_solve *solve =
        j->solver == CALC_TAYLOR_SOLVER_GLPK ? calc_solver_glpk : calc_solver_highs;
    calc_errors before = *errors;
    calc_status status = calc_solver_divide(&j->problem, solve, &options, &j->solution, errors);
    if (status == CALC_ERR_NOT_FOUND) { /* a planner with this default would not stop here */
        *errors = before;
        j->solver = CALC_TAYLOR_SOLVER_CALC;
        status = calc_balance_solve(&j->problem, &options, &j->solution);
    }
    return status;
}

/* Compares the peaks by calc's model with the limit. Fills the largest excess of each end. @return
 * whether all stages fit */
static bool check(calc_taylor_job *j, double over_mb[CALC_TAYLOR_ENDS])
{
    bool fits = true;
    for (int end = 0; end < CALC_TAYLOR_ENDS; end++) {
        over_mb[end] = 0;
    }
    for (int64_t s = 0; s < j->ask.stages; s++) {
        calc_taylor_end end = calc_taylor_end_of(s, j->ask.stages);
        j->checked_mb[s] = calc_taylor_checked_mb(j->config, j->system, &j->exec, &j->problem,
                                                  j->solution.share, &j->solution.answer, s);
        double over = j->checked_mb[s] - j->ask.memory_mb;
        over_mb[end] = fmax(over_mb[end], over);
        fits = fits && over <= 0;
    }
    return fits;
}

static void tell_round(const calc_taylor_job *j, const double over_mb[CALC_TAYLOR_ENDS])
{
    char line[256];
    snprintf(line, sizeof line,
             "check %d: over by %.0f MB on the first stage, %.0f between, %.0f on the last: limits "
             "down by %.0f, %.0f and %.0f",
             j->rounds, over_mb[0], over_mb[1], over_mb[2], j->ask.tighter_mb[0],
             j->ask.tighter_mb[1], j->ask.tighter_mb[2]);
    if (j->tell) {
        j->tell(line);
    }
}

static calc_status solve_rounds(calc_taylor_job *j, calc_errors *errors)
{
    double over_mb[CALC_TAYLOR_ENDS];
    calc_status status = solve_once(j, errors);
    while (status == CALC_OK && j->check && j->solution.feasible) {
        j->fits = check(j, over_mb);
        if (j->fits || j->rounds == CALC_TAYLOR_ROUNDS) {
            return status;
        }
        j->rounds++;
        for (int end = 0; end < CALC_TAYLOR_ENDS; end++) {
            j->ask.tighter_mb[end] += j->rounds * over_mb[end];
        }
        tell_round(j, over_mb);
        status = solve_once(j, errors);
    }
    j->fits = j->solution.feasible && !j->check;
    return status;
}

void calc_taylor_tell_solver(const calc_taylor_job *j, calc_taylor_solver wanted)
{
    if (j->solver != wanted) {
        fprintf(stderr, "no command \"highs\" in the folders of PATH: by calc's own search\n");
    }
}

calc_status calc_taylor_solve(calc_taylor_job *j, calc_errors *errors)
{
    struct timespec from, to;
    clock_gettime(CLOCK_MONOTONIC, &from);
    calc_status status = solve_rounds(j, errors);
    clock_gettime(CLOCK_MONOTONIC, &to);
    j->took_s = (double)(to.tv_sec - from.tv_sec) + (double)(to.tv_nsec - from.tv_nsec) * 1e-9;
    if (status == CALC_ERR_NOMEM && errors->count == 0) {
        calc_errors_no_memory(errors);
    }
    return status;
}

char *calc_taylor_stem(const calc_taylor_job *j, char stem[CALC_TAYLOR_STEM_SIZE])
{
    const calc_taylor_config *c = j->config;
    snprintf(stem, CALC_TAYLOR_STEM_SIZE,
             "layers%lld_%lld_micro%lld_dp%lld_tp%lld_pp%lld_vp%lld_ep%lld",
             (long long)j->ask.layers[0], (long long)j->ask.layers[1],
             (long long)j->ask.microbatches, (long long)c->data, (long long)c->tensor,
             (long long)c->pipeline, (long long)j->ask.chunks, (long long)c->expert);
    return stem;
}
