#include "plan/planner_balance.h"

#include <math.h>

#include "plan/planner_place.h"

enum { QUICK = 12 /* divisions of a first look */ };

/* Gain to expect from simulating more of them, as a share of the step. */
#define NEAR_LINE 1.005
#define NEAR_CHUNKS 1.03

/* Optimality gap that a line may keep while layouts are compared, as a share of the step. */
#define CLOSE 2e-4

/* Lower the limit of every stage by what it lacks, by more with every attempt. */
static void tighten(const calc_planner *planner, const calc_planner_found *f, int round,
                    calc_planner_bench *b)
{
    const calc_system *system = &planner->chip[f->chip].system;
    size_t stages = calc_each_stage(planner->app, system, &f->exec, CALC_COMPAT_NONE, b->stage,
                                    CALC_BALANCE_STAGES);
    for (size_t i = 0; i < stages && i < CALC_BALANCE_STAGES; i++) {
        double has_bytes = b->chip[b->problem.stage[i].chip].full->system->chip.mem1.capacity_bytes;
        double over_bytes = b->stage[i].mem_tier1 - has_bytes;
        if (over_bytes > 0) {
            b->problem.stage[i].limit_bytes -= over_bytes * (round + 1);
        }
    }
}

/* Evaluate the division with calc_run(). @return whether it is a legal layout */
static bool judge(const calc_planner *planner, const calc_planner_place *place,
                  calc_planner_bench *b, calc_planner_found *f)
{
    f->exec = calc_planner_exec_of(planner, &b->layouts, place, &b->problem, b->solution.share);
    f->chip = place->chip[0];
    const calc_system *system = &planner->chip[f->chip].system;
    calc_errors ignored = {0};
    if (f->exec.stages.count == 0) {
        return false;
    }
    calc_resolve(planner->app, system, &f->exec);
    if (calc_check(planner->app, system, &f->exec, &ignored) != CALC_OK) {
        return false;
    }
    calc_run(planner->app, system, &f->exec, CALC_COMPAT_NONE, &f->stats);
    return true;
}

/* A short search comes first: only divisions that are nearly quick enough are improved.
 */
static calc_planner_outcome solve(const calc_balance_options *effort, double limit_s,
                                  calc_planner_bench *b, calc_planner_found *f)
{
    bool line = b->problem.shape.chunks == 1;
    const calc_balance_solution *s = &b->solution;
    for (int look = 0; look < 2; look++) {
        calc_balance_options options = *effort;
        options.evaluations = look == 0 ? QUICK : effort->evaluations;
        options.gap = line && effort->evaluations > 0 ? CLOSE : 0;
        if (calc_balance_solve(&b->problem, &options, &b->solution) == CALC_ERR_NOMEM) {
            return CALC_PLANNER_NO_MEMORY;
        }
        if (!s->feasible) {
            return CALC_PLANNER_NO_ROOM;
        }
        f->proven = s->proven && f->rounds == 0;
        f->planned_s = calc_balance_total_s(b->chip, &b->problem, s->share, s->answer.step_s);
        if (f->rounds == 0) { /* bounds under tightened limits do not hold in general */
            f->bound_s = fmax(f->bound_s, f->planned_s * s->bound_s / s->answer.step_s);
        }
        if (f->planned_s >= limit_s * (look > 0 ? 1 : line ? NEAR_LINE : NEAR_CHUNKS)) {
            return CALC_PLANNER_SLOWER;
        }
    }
    return CALC_PLANNER_FOUND;
}

calc_planner_outcome calc_planner_balance(const calc_planner *planner, const calc_exec *exec,
                                          const calc_planner_place *place, double limit_s,
                                          const calc_balance_options *effort, calc_planner_bench *b,
                                          calc_planner_found *f, const char **why)
{
    const char *reason = "that breaks a rule";
    bool legal = calc_planner_layouts_of(planner, exec, &b->layouts);
    reason =
        legal ? calc_planner_problem(planner, &b->layouts, place, b->chip, &b->problem) : reason;
    if (why) {
        *why = reason;
    }
    if (reason) {
        return CALC_PLANNER_UNBALANCED;
    }
    f->base = *exec;
    f->place = *place;
    f->bound_s = calc_planner_bound_s(b->chip, &b->problem);
    for (f->rounds = 0; f->rounds <= CALC_PLANNER_ROUNDS; f->rounds++) {
        calc_planner_outcome outcome = solve(effort, limit_s, b, f);
        if (outcome != CALC_PLANNER_FOUND) {
            return outcome;
        }
        if (!judge(planner, place, b, f)) {
            return CALC_PLANNER_UNBALANCED;
        }
        if (f->stats.verdict == CALC_VERDICT_OK) {
            /* The head of the problem gathers again; in a stage that recomputes it does not.
             */
            f->bound_s = fmin(f->bound_s, f->stats.total_time);
            return f->stats.total_time < limit_s ? CALC_PLANNER_FOUND : CALC_PLANNER_SLOWER;
        }
        if (f->stats.verdict != CALC_VERDICT_MEM1_CAPACITY) {
            return CALC_PLANNER_UNBALANCED;
        }
        tighten(planner, f, f->rounds, b);
    }
    return CALC_PLANNER_NO_ROOM;
}

bool calc_planner_even(const calc_planner *planner, const calc_exec *exec, int chip,
                       calc_exec *best, calc_stats *stats)
{
    const calc_system *system = &planner->chip[chip].system;
    bool any = false;
    for (int which = 0; which < (planner->recompute ? 4 : 2); which++) {
        bool full = which >= 2;
        calc_exec e = *exec;
        calc_stats s;
        calc_errors ignored = {0};
        e.stages = (calc_stage_list){0};
        e.first_stage_blocks = e.last_stage_blocks = e.recompute_blocks = 0;
        e.pipeline_balance = which % 2 ? CALC_PIPELINE_BALANCE_ENDS : CALC_PIPELINE_BALANCE_BLOCKS;
        e.strategy.activation_recompute =
            full ? CALC_ACTIVATION_RECOMPUTE_FULL : CALC_ACTIVATION_RECOMPUTE_NONE;
        e.strategy.recompute_modules = 0;
        e.strategy.seq_par_ag_redo = e.strategy.seq_par_ag_redo && !full;
        if (calc_check(planner->app, system, &e, &ignored) == CALC_OK &&
            calc_run(planner->app, system, &e, CALC_COMPAT_NONE, &s) == CALC_VERDICT_OK &&
            (!any || s.total_time < stats->total_time)) {
            any = true;
            *best = e;
            *stats = s;
        }
    }
    return any;
}
