#include "rl/step.h"

#include <math.h>

#include "base/error.h"
#include "gauss/normal.h"
#include "rl/phases.h"

/* Phases from `first` to `last` of a pool one after the other, pools side by side; those of the
 * pool `but` are left out. Marks what is beside the pool that takes longest. */
static double longest_pool_s(calc_rl_phases *w, int first, int last, size_t but)
{
    double sum[CALC_MAX_NETWORKS] = {0};
    size_t slowest = 0;
    for (int i = first; i <= last; i++) {
        const calc_rl_phase *p = &w->step->phase[i];
        sum[p->pool] += p->runs && p->pool != but ? p->time_s : 0;
        slowest = sum[p->pool] > sum[slowest] ? p->pool : slowest;
    }
    for (int i = first; i <= last; i++) {
        w->step->phase[i].beside = w->step->phase[i].pool != slowest;
    }
    return sum[slowest];
}

static double phase_s(const calc_rl_phases *w, calc_rl_phase_index phase)
{
    return w->step->phase[phase].runs ? w->step->phase[phase].time_s : 0;
}

/* E max of two independent normal times (Clark 1961). */
static double expected_max_s(double a_s, double b_s, double deviation_s)
{
    if (deviation_s == 0) {
        return fmax(a_s, b_s);
    }
    double x = (a_s - b_s) / deviation_s;
    return a_s * calc_normal_below(x) + b_s * calc_normal_below(-x) +
           deviation_s * calc_normal_density(x);
}

static void compose(calc_rl_phases *w)
{
    calc_rl_step *out = w->step;
    bool engine = w->c->seat[CALC_JOB_ROLLOUT].runs;
    size_t apart = engine ? w->c->seat[CALC_JOB_ROLLOUT].pool : (size_t)-1;
    double forward_s = longest_pool_s(w, CALC_RL_OLD_LOGPROB, CALC_RL_TEACHER, (size_t)-1);
    double update_s = longest_pool_s(w, CALC_RL_CRITIC_UPDATE, CALC_RL_UPDATE, (size_t)-1);
    double between_s = phase_s(w, CALC_RL_SWITCH) + phase_s(w, CALC_RL_SYNC);
    double side_s = 0, time_s;
    out->generate_time = phase_s(w, CALC_RL_ROLLOUT) + phase_s(w, CALC_RL_REWARD);
    out->train_time = forward_s + update_s;
    if (w->c->job->steps_off == 0 || !engine) {
        time_s = out->generate_time + out->train_time;
        out->rollout_wait = w->c->seat[CALC_JOB_ACTOR].pool == apart ? 0 : out->train_time;
        out->train_wait = w->c->seat[CALC_JOB_ACTOR].pool == apart ? 0 : out->generate_time;
    } else {
        for (int i = CALC_RL_OLD_LOGPROB; i <= CALC_RL_UPDATE; i++) { /* on the engines' side */
            side_s += out->phase[i].runs && out->phase[i].pool == apart ? out->phase[i].time_s : 0;
        }
        out->generate_time += side_s;
        out->train_time = longest_pool_s(w, CALC_RL_OLD_LOGPROB, CALC_RL_TEACHER, apart) +
                          longest_pool_s(w, CALC_RL_CRITIC_UPDATE, CALC_RL_UPDATE, apart);
        double deviation_s = w->c->job->steps_off > 1 ? 0 : w->rollout.deviation_s * w->rounds;
        time_s = expected_max_s(out->generate_time, out->train_time, deviation_s);
        for (int i = 0; i <= CALC_RL_UPDATE; i++) {
            bool generates = i < CALC_RL_OLD_LOGPROB || out->phase[i].pool == apart;
            bool later = generates == (out->generate_time > out->train_time);
            out->phase[i].beside = !later || (!generates && out->phase[i].beside);
        }
        out->rollout_wait = time_s - out->generate_time;
        out->train_wait = time_s - out->train_time;
    }
    time_s += between_s;
    out->overhead_time = time_s * w->c->job->overhead;
    out->step_time = time_s + out->overhead_time;
}

/* One more processor shortens what is divided by their number, if it is waited for. */
static void put_gains(calc_rl_phases *w)
{
    calc_rl_step *out = w->step;
    size_t apart = w->c->seat[CALC_JOB_ROLLOUT].pool;
    bool together = w->c->job->steps_off == 0 || !w->c->seat[CALC_JOB_ROLLOUT].runs;
    for (size_t pool = 0; pool < w->c->pools; pool++) {
        double divided_s = 0;
        for (int i = 0; i < CALC_RL_SWITCH; i++) {
            const calc_rl_phase *p = &out->phase[i];
            double fixed_s = i == CALC_RL_ROLLOUT ? fmin(p->time_s, out->floor_time) : 0;
            divided_s += p->runs && p->pool == pool ? p->time_s - fixed_s : 0;
        }
        double other_s = pool == apart ? out->train_wait : out->rollout_wait;
        bool waited = together || other_s > 0.01 * out->step_time;
        out->gain_s[pool] = waited ? divided_s / (w->c->chips[pool] + 1) : 0;
    }
}

static calc_status check(const calc_rl_phases *w)
{
    const calc_rl_seat *actor = &w->c->seat[CALC_JOB_ACTOR];
    const calc_rl_seat *engine = &w->c->seat[CALC_JOB_ROLLOUT];
    if (w->c->job->steps_off > 0 && actor->runs && engine->runs && actor->pool == engine->pool) {
        return calc_errors_add(w->errors, CALC_ERR_RULE, CALC_KIND_NONE, "/steps_off",
                               "give the rollout a pool of its own, or use steps_off 0",
                               "the rollout and the actor share processors, so that one waits for "
                               "the other: steps_off %lld is not possible",
                               (long long)w->c->job->steps_off);
    }
    return CALC_OK;
}

calc_status calc_rl_step_of(const calc_rl_case *c, calc_rl_step *out, calc_errors *errors)
{
    calc_rl_phases w = {.c = c, .step = out, .errors = errors};
    *out = (calc_rl_step){.feasible = true};
    calc_status status = check(&w);
    status = status == CALC_OK ? calc_rl_phases_make(&w) : status;
    if (status != CALC_OK) {
        return status;
    }
    compose(&w);
    put_gains(&w);
    out->sequences = w.sequences;
    out->tokens = w.sequences * (w.tokens.prompt + w.tokens.lengths.mean);
    for (size_t pool = 0; pool < c->pools; pool++) {
        out->chips += c->chips[pool];
    }
    out->staleness = (double)c->job->steps_off;
    out->tokens_per_s = out->tokens / out->step_time;
    out->tokens_per_s_per_chip = out->tokens_per_s / out->chips;
    return CALC_OK;
}
