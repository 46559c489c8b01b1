#include "rl/step.h"

#include <math.h>
#include <stdio.h>

#include "base/error.h"
#include "gauss/normal.h"
#include "rl/sync.h"

/* Of an engine that sleeps: its context, graphs and buffers of collectives (vLLM and SGLang: 1 to 3
 * GB beside the tensors that they free). */
#define ASLEEP_BYTES (2 * 0x1p30)
/* Of the memory that other roles leave, an engine takes this share: vLLM's gpu_memory_utilization.
 */
#define ENGINE_SHARE 0.9
/* Of a switch beside the bytes: a trainer that sleeps and wakes (slime's perf lines of a small run:
 * 4.0 to 6.3 s and 1.9 to 2.5 s), an engine that does (vLLM: 1.5 to 1.6 s and 0.85 to 2.6 s). */
#define TRAINER_SWITCH_S 7.3
#define ENGINE_SWITCH_S 3.2
/* Of a host whose system does not say it: PCIe 4 by 16. */
#define HOST_BYTE_PER_S 25e9

#define TEXT(name, text, key, role) text,
static const char *const phase_names[] = {CALC_RL_PHASE_LIST(TEXT)};
#undef TEXT
#define KEY(name, text, key, role) key,
static const char *const phase_keys[] = {CALC_RL_PHASE_LIST(KEY)};
#undef KEY
#define ROLE(name, text, key, role) CALC_JOB_##role,
static const calc_job_role_index phase_roles[] = {CALC_RL_PHASE_LIST(ROLE)};
#undef ROLE

const char *calc_rl_phase_name(calc_rl_phase_index phase)
{
    return phase_names[phase];
}

const char *calc_rl_phase_key(calc_rl_phase_index phase)
{
    return phase_keys[phase];
}

calc_job_role_index calc_rl_phase_role(calc_rl_phase_index phase)
{
    return phase_roles[phase];
}

/* A step that is being evaluated. */
typedef struct work {
    const calc_rl_case *c;
    const calc_job *job;
    calc_rl_step *out;
    calc_errors *errors;
    calc_rl_tokens tokens;
    double sequences;                   /* of the step, and those that are generated for them */
    double rounds;                      /* rollouts of a step */
    calc_stats trained[CALC_JOB_ROLES]; /* of roles that train: an optimizer step */
    calc_stats forward[CALC_JOB_ROLES]; /* of roles that have a pass without gradients */
    double engine_bytes;                /* that the engine takes */
    calc_rl_rollout rollout;
} work;

static const calc_rl_seat *seat(const work *w, calc_job_role_index role)
{
    return &w->c->seat[role];
}

static bool is_trained(calc_job_role_index role)
{
    return role == CALC_JOB_ACTOR || role == CALC_JOB_CRITIC;
}

static bool shares_pool(const calc_rl_case *c, calc_job_role_index a, calc_job_role_index b)
{
    return a != b && c->seat[a].runs && c->seat[b].runs && c->seat[a].pool == c->seat[b].pool;
}

/* By default what is trained makes room for engines, and other weights make room for any role. */
bool calc_rl_offloads(const calc_rl_case *c, calc_job_role_index role, int what)
{
    const calc_job_role *said = calc_job_role_of(c->job, role);
    bool shared = false;
    for (int other = 0; other < CALC_JOB_ROLES; other++) {
        bool engine = other == CALC_JOB_ROLLOUT;
        shared |= (engine || !is_trained(role)) && shares_pool(c, role, (calc_job_role_index)other);
    }
    return said->offload_given ? (said->offload >> what & 1) != 0 : shared;
}

static void cannot(work *w, const char *text)
{
    if (w->out->reasons < CALC_RL_REASONS) {
        snprintf(w->out->reason[w->out->reasons++], sizeof *w->out->reason, "%s", text);
    }
    w->out->feasible = false;
}

/* ---- Passes ---------------------------------------------------------------------------------- */

/* A pass of a role. Its statistics are NaN or zero where the networks forbid the layout. */
static calc_status run_pass(work *w, calc_job_role_index role, double sequences, bool training,
                            calc_stats *stats)
{
    const calc_rl_seat *s = seat(w, role);
    const calc_job_role *said = calc_job_role_of(w->job, role);
    int64_t micro =
        training || said->forward_tokens == 0 ? said->micro_tokens : said->forward_tokens;
    const calc_exec exec = calc_rl_pass_exec(s->exec, &w->tokens, sequences, micro, training);
    int before = w->errors->count;
    calc_status status = calc_check(s->app, s->system, &exec, w->errors);
    for (int i = before; i < w->errors->count; i++) {
        char place[64];
        snprintf(place, sizeof place, "%s, %s", calc_job_role_name(role),
                 training ? "update" : "forward pass");
        calc_error_place(&w->errors->item[i], place, 0, 0);
    }
    if (status != CALC_OK) {
        return status;
    }
    calc_verdict verdict = calc_run(s->app, s->system, &exec, CALC_COMPAT_NONE, stats);
    bool memory = verdict == CALC_VERDICT_MEM1_CAPACITY || verdict == CALC_VERDICT_MEM2_CAPACITY;
    if (verdict != CALC_VERDICT_OK && !memory) {
        calc_reason reason[CALC_MAX_REASONS];
        char text[320];
        size_t n = calc_reasons(s->app, s->system, &exec, CALC_COMPAT_NONE, stats, reason);
        snprintf(text, sizeof text, "%s: %s", calc_job_role_name(role), n ? reason[0].text : "");
        cannot(w, text);
    }
    return CALC_OK;
}

static void put_phase(work *w, calc_rl_phase_index phase, double time_s)
{
    const calc_rl_seat *s = seat(w, phase_roles[phase]);
    w->out->phase[phase] = (calc_rl_phase){.runs = true,
                                           .pool = s->pool,
                                           .time_s = time_s,
                                           .capacity_bytes = s->system->chip.mem1.capacity_bytes};
}

static calc_status run_forward(work *w, calc_rl_phase_index phase, double sequences)
{
    calc_job_role_index role = phase_roles[phase];
    calc_status status = run_pass(w, role, sequences, false, &w->forward[role]);
    put_phase(w, phase, w->forward[role].total_time);
    return status;
}

/* Optimizer steps, one after the other. */
static calc_status run_update(work *w, calc_rl_phase_index phase)
{
    calc_job_role_index role = phase_roles[phase];
    double mini = w->job->mini_batch > 0 ? (double)w->job->mini_batch : w->sequences;
    double steps = ceil(w->sequences / mini) * (double)w->job->epochs;
    calc_status status = run_pass(w, role, mini, true, &w->trained[role]);
    put_phase(w, phase, steps * w->trained[role].total_time);
    return status;
}

static calc_status run_passes(work *w)
{
    bool actor = seat(w, CALC_JOB_ACTOR)->runs;
    calc_status status = CALC_OK;
    const struct {
        bool runs;
        calc_rl_phase_index phase;
        double sequences;
    } forward[] = {{seat(w, CALC_JOB_REWARD)->runs, CALC_RL_REWARD, w->sequences * w->rounds},
                   {actor && calc_job_old_pass(w->job), CALC_RL_OLD_LOGPROB, w->sequences},
                   {seat(w, CALC_JOB_REFERENCE)->runs, CALC_RL_REFERENCE, w->sequences},
                   {seat(w, CALC_JOB_CRITIC)->runs, CALC_RL_VALUES, w->sequences},
                   {seat(w, CALC_JOB_TEACHER)->runs, CALC_RL_TEACHER, w->sequences}};
    for (size_t i = 0; i < sizeof forward / sizeof *forward && status == CALC_OK; i++) {
        status = forward[i].runs ? run_forward(w, forward[i].phase, forward[i].sequences) : CALC_OK;
    }
    if (status == CALC_OK && seat(w, CALC_JOB_CRITIC)->runs) {
        status = run_update(w, CALC_RL_CRITIC_UPDATE);
    }
    return status == CALC_OK && actor ? run_update(w, CALC_RL_UPDATE) : status;
}

/* ---- Memory ---------------------------------------------------------------------------------- */

/* What a role keeps on its processors while another one runs. */
static double resident_bytes(const work *w, calc_job_role_index role)
{
    if (role == CALC_JOB_ROLLOUT) {
        return calc_job_role_of(w->job, role)->sleep > 0 ? ASLEEP_BYTES : w->engine_bytes;
    }
    const calc_stats *s = is_trained(role) ? &w->trained[role] : &w->forward[role];
    double bytes = calc_rl_offloads(w->c, role, CALC_JOB_OFFLOAD_WEIGHTS) ? 0 : s->weight_space;
    if (is_trained(role)) {
        bytes +=
            calc_rl_offloads(w->c, role, CALC_JOB_OFFLOAD_GRADIENTS) ? 0 : s->weight_grad_space;
        bytes += calc_rl_offloads(w->c, role, CALC_JOB_OFFLOAD_OPTIMIZER) ? 0 : s->optimizer_space;
    }
    return bytes;
}

static double others_bytes(const work *w, calc_job_role_index role)
{
    double bytes = 0;
    for (int other = 0; other < CALC_JOB_ROLES; other++) {
        bool there = shares_pool(w->c, role, (calc_job_role_index)other);
        bytes += there ? resident_bytes(w, (calc_job_role_index)other) : 0;
    }
    return bytes;
}

static void put_need(work *w, calc_rl_phase_index phase, double own_bytes)
{
    calc_rl_phase *p = &w->out->phase[phase];
    char text[256];
    p->need_bytes = own_bytes + others_bytes(w, phase_roles[phase]);
    if (p->need_bytes > p->capacity_bytes) {
        snprintf(text, sizeof text,
                 "%s needs %.1f GiB of a processor's %.1f: %.1f of its own, %.1f "
                 "that other roles keep there",
                 phase_names[phase], p->need_bytes / 0x1p30, p->capacity_bytes / 0x1p30,
                 own_bytes / 0x1p30, (p->need_bytes - own_bytes) / 0x1p30);
        cannot(w, text);
    }
}

/* A pass without gradients of what is trained also holds what is not moved away. */
static double forward_bytes(const work *w, calc_job_role_index role)
{
    double bytes = w->forward[role].proc_mem_tier1_cap_req;
    if (is_trained(role)) {
        const calc_stats *s = &w->trained[role];
        bytes +=
            calc_rl_offloads(w->c, role, CALC_JOB_OFFLOAD_GRADIENTS) ? 0 : s->weight_grad_space;
        bytes += calc_rl_offloads(w->c, role, CALC_JOB_OFFLOAD_OPTIMIZER) ? 0 : s->optimizer_space;
    }
    return bytes;
}

static void put_needs(work *w)
{
    for (int i = 0; i < CALC_RL_PHASES; i++) {
        calc_rl_phase_index phase = (calc_rl_phase_index)i;
        calc_job_role_index role = phase_roles[phase];
        bool pass = phase != CALC_RL_ROLLOUT && phase < CALC_RL_CRITIC_UPDATE;
        bool update = phase == CALC_RL_UPDATE || phase == CALC_RL_CRITIC_UPDATE;
        if (w->out->phase[phase].runs && (update || (pass && seat(w, role)->runs))) {
            put_need(w, phase,
                     update ? w->trained[role].proc_mem_tier1_cap_req : forward_bytes(w, role));
        }
    }
}

/* ---- The rollout ----------------------------------------------------------------------------- */

/* The engines' execution, with the share of the memory that they get. */
static calc_exec engine_exec(work *w, double *taken_bytes)
{
    const calc_rl_seat *s = seat(w, CALC_JOB_ROLLOUT);
    const calc_job_role *said = calc_job_role_of(w->job, CALC_JOB_ROLLOUT);
    calc_exec exec = *s->exec;
    double capacity_bytes = s->system->chip.mem1.capacity_bytes;
    double others = others_bytes(w, CALC_JOB_ROLLOUT) / capacity_bytes;
    double *share = &exec.inference.memory_share;
    if (said->memory_share > 0) {
        *share = said->memory_share;
    } else if (*share == 0 && others > 0) {
        *share = fmax(1e-3, ENGINE_SHARE * (1 - others));
    }
    *taken_bytes = *share * capacity_bytes;
    return exec;
}

static calc_status run_rollout(work *w)
{
    const calc_rl_seat *s = seat(w, CALC_JOB_ROLLOUT);
    calc_rl_step *out = w->out;
    double taken_bytes;
    const calc_exec exec = engine_exec(w, &taken_bytes);
    const calc_rl_ask ask = {.lengths = w->tokens.lengths,
                             .prompt = w->tokens.prompt,
                             .sequences = w->sequences,
                             .copies = w->c->chips[s->pool] / (double)exec.num_procs,
                             .samples = (double)w->job->samples,
                             .stop_share = w->job->partial};
    calc_rl_rollout *r = &w->rollout;
    calc_status status = calc_rl_rollout_of(s->app, s->system, &exec, &ask, r, w->errors);
    if (status != CALC_OK) {
        return status;
    }
    double full_s = w->rounds * r->full_s;
    bool kept_full = w->job->steps_off > 1;
    w->engine_bytes = r->kept_bytes + r->other_bytes +
                      (exec.inference.memory_share > 0 ? r->cache_bytes : r->used_bytes);
    put_phase(w, CALC_RL_ROLLOUT, kept_full ? full_s : w->rounds * r->time_s);
    put_need(w, CALC_RL_ROLLOUT, w->engine_bytes);
    if (!r->fits) {
        char text[256];
        snprintf(text, sizeof text,
                 "rollout: %.1f GiB of weights leave no room for the cache of one sequence in the "
                 "%.1f GiB that an engine may take of a processor",
                 r->kept_bytes / 0x1p30,
                 (taken_bytes > 0 ? taken_bytes : out->phase[CALC_RL_ROLLOUT].capacity_bytes) /
                     0x1p30);
        cannot(w, text);
    }
    out->prefill_time = w->rounds * r->prefill_s;
    out->tail_time = kept_full ? 0 : w->rounds * r->tail_s;
    out->tail_share = r->time_s > 0 && !kept_full ? r->tail_s / r->time_s : 0;
    out->floor_time = r->floor_s;
    out->engines = r->engines;
    out->running = r->running;
    out->requests = r->requests;
    out->longest = r->longest;
    out->decode_step_time = r->step_s;
    out->cache_tokens = r->cache_tokens;
    return CALC_OK;
}

/* Scoring by rules or programs, beside a model that scores. */
static void put_reward(work *w)
{
    const calc_job_reward *r = &w->job->reward;
    double each = w->sequences * w->rounds / (double)r->parallel;
    double time_s = r->overlapped ? r->time_s : r->time_s * each;
    calc_rl_phase *p = &w->out->phase[CALC_RL_REWARD];
    if (!p->runs && time_s > 0) {
        const calc_rl_seat *s =
            seat(w, seat(w, CALC_JOB_ROLLOUT)->runs ? CALC_JOB_ROLLOUT : CALC_JOB_ACTOR);
        *p = (calc_rl_phase){.runs = true, .pool = s->pool};
    }
    p->time_s += time_s;
}

/* ---- Switch and sync ------------------------------------------------------------------------- */

/* Between training and generating: optimizer states and weights go to the host and come back,
 * gradients are dropped; weights that do not change have a copy there. */
static double switched_bytes(const work *w, size_t pool)
{
    double bytes = 0;
    for (int i = 0; i < CALC_JOB_ROLES; i++) {
        calc_job_role_index role = (calc_job_role_index)i;
        const calc_rl_seat *s = seat(w, role);
        if (!s->runs || s->pool != pool) {
            continue;
        }
        if (is_trained(role)) {
            const calc_stats *t = &w->trained[role];
            bytes += calc_rl_offloads(w->c, role, CALC_JOB_OFFLOAD_OPTIMIZER)
                         ? 2 * t->optimizer_space
                         : 0;
            bytes +=
                calc_rl_offloads(w->c, role, CALC_JOB_OFFLOAD_WEIGHTS) ? 2 * t->weight_space : 0;
        } else if (role == CALC_JOB_ROLLOUT) {
            bool shared = false;
            for (int other = 0; other < CALC_JOB_ROLES; other++) {
                shared |= shares_pool(w->c, role, (calc_job_role_index)other);
            }
            bool moved = shared && calc_job_role_of(w->job, role)->sleep == 1;
            bytes += moved ? 2 * w->rollout.kept_bytes : 0;
        } else if (calc_rl_offloads(w->c, role, CALC_JOB_OFFLOAD_WEIGHTS)) {
            bytes += w->forward[role].weight_space;
        }
    }
    return bytes;
}

/* What does not depend on the bytes, where a trainer and an engine make room for each other. */
static double switch_fixed_s(const work *w, size_t pool)
{
    const calc_rl_seat *actor = seat(w, CALC_JOB_ACTOR), *engine = seat(w, CALC_JOB_ROLLOUT);
    bool both = actor->runs && engine->runs && actor->pool == pool && engine->pool == pool;
    bool sleeps = calc_job_role_of(w->job, CALC_JOB_ROLLOUT)->sleep > 0;
    bool moves = calc_rl_offloads(w->c, CALC_JOB_ACTOR, CALC_JOB_OFFLOAD_OPTIMIZER) ||
                 calc_rl_offloads(w->c, CALC_JOB_ACTOR, CALC_JOB_OFFLOAD_WEIGHTS);
    return both ? (moves ? TRAINER_SWITCH_S : 0) + (sleeps ? ENGINE_SWITCH_S : 0) : 0;
}

static void put_switch(work *w)
{
    double time_s = 0;
    for (int i = 0; i < CALC_JOB_ROLES; i++) {
        const calc_rl_seat *s = seat(w, (calc_job_role_index)i);
        double bytes = s->runs ? switched_bytes(w, s->pool) : 0;
        double fixed_s = s->runs ? switch_fixed_s(w, s->pool) : 0;
        if (bytes == 0 && fixed_s == 0) {
            continue;
        }
        const calc_memory_tier *host = &s->system->chip.mem2;
        bool known = host->capacity_bytes > 0 && host->efficiency.count > 0;
        double rate = known ? host->bytes_per_s * host->efficiency.efficiency[0] : HOST_BYTE_PER_S;
        if (fixed_s + bytes / rate > time_s) {
            time_s = fixed_s + bytes / rate;
            w->out->switch_bytes = bytes;
            w->out->phase[CALC_RL_SWITCH] =
                (calc_rl_phase){.runs = true, .pool = s->pool, .time_s = time_s};
        }
    }
}

static void put_sync(work *w)
{
    const calc_rl_seat *actor = seat(w, CALC_JOB_ACTOR), *engine = seat(w, CALC_JOB_ROLLOUT);
    if (!actor->runs || !engine->runs) {
        return;
    }
    bool same = actor->pool == engine->pool;
    const calc_system *system = engine->system;
    const calc_network *net = &system->networks[system->networks_count - 1];
    bool inside = same && w->c->chips[engine->pool] <= (double)system->networks[0].size;
    net = inside ? &system->networks[0] : net;
    calc_job_sync_method method = calc_rl_sync_method(w->job, same);
    double ranks = (double)(engine->exec->strategy.tensor_par * engine->exec->pipeline_par);
    w->out->sync_tensors = calc_rl_tensors(actor->app, actor->exec);
    w->out->sync_bytes = calc_rl_weight_bytes(actor->app, engine->exec, w->job->sync.format);
    double time_s = calc_rl_sync_s(method, w->out->sync_tensors, w->out->sync_bytes, ranks,
                                   net->bytes_per_s * net->efficiency);
    put_phase(w, CALC_RL_SYNC, time_s);
    if (same) { /* weights of both, and two buckets; the cache comes later */
        double trained = w->trained[CALC_JOB_ACTOR].weight_space;
        bool gone = calc_rl_offloads(w->c, CALC_JOB_ACTOR, CALC_JOB_OFFLOAD_WEIGHTS);
        put_need(w, CALC_RL_SYNC,
                 w->rollout.kept_bytes + 2 * (double)w->job->sync.bucket_bytes +
                     (gone ? trained : 0));
    }
}

/* ---- Composition ----------------------------------------------------------------------------- */

/* Phases from `first` to `last` of a pool one after the other, pools side by side; those of the
 * pool `but` are left out. Marks what is beside the pool that takes longest. */
static double longest_pool_s(work *w, int first, int last, size_t but)
{
    double sum[CALC_MAX_NETWORKS] = {0};
    size_t slowest = 0;
    for (int i = first; i <= last; i++) {
        const calc_rl_phase *p = &w->out->phase[i];
        sum[p->pool] += p->runs && p->pool != but ? p->time_s : 0;
        slowest = sum[p->pool] > sum[slowest] ? p->pool : slowest;
    }
    for (int i = first; i <= last; i++) {
        w->out->phase[i].beside = w->out->phase[i].pool != slowest;
    }
    return sum[slowest];
}

static double phase_s(const work *w, calc_rl_phase_index phase)
{
    return w->out->phase[phase].runs ? w->out->phase[phase].time_s : 0;
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

static void compose(work *w)
{
    calc_rl_step *out = w->out;
    bool engine = seat(w, CALC_JOB_ROLLOUT)->runs;
    size_t apart = engine ? seat(w, CALC_JOB_ROLLOUT)->pool : (size_t)-1;
    double forward_s = longest_pool_s(w, CALC_RL_OLD_LOGPROB, CALC_RL_TEACHER, (size_t)-1);
    double update_s = longest_pool_s(w, CALC_RL_CRITIC_UPDATE, CALC_RL_UPDATE, (size_t)-1);
    double between_s = phase_s(w, CALC_RL_SWITCH) + phase_s(w, CALC_RL_SYNC);
    double side_s = 0, time_s;
    out->generate_time = phase_s(w, CALC_RL_ROLLOUT) + phase_s(w, CALC_RL_REWARD);
    out->train_time = forward_s + update_s;
    if (w->job->steps_off == 0 || !engine) {
        time_s = out->generate_time + out->train_time;
        out->rollout_wait = seat(w, CALC_JOB_ACTOR)->pool == apart ? 0 : out->train_time;
        out->train_wait = seat(w, CALC_JOB_ACTOR)->pool == apart ? 0 : out->generate_time;
    } else {
        for (int i = CALC_RL_OLD_LOGPROB; i <= CALC_RL_UPDATE; i++) { /* on the engines' side */
            side_s += out->phase[i].runs && out->phase[i].pool == apart ? out->phase[i].time_s : 0;
        }
        out->generate_time += side_s;
        out->train_time = longest_pool_s(w, CALC_RL_OLD_LOGPROB, CALC_RL_TEACHER, apart) +
                          longest_pool_s(w, CALC_RL_CRITIC_UPDATE, CALC_RL_UPDATE, apart);
        double deviation_s = w->job->steps_off > 1 ? 0 : w->rollout.deviation_s * w->rounds;
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
    out->overhead_time = time_s * w->job->overhead;
    out->step_time = time_s + out->overhead_time;
}

/* One more processor shortens what is divided by their number, if it is waited for. */
static void put_gains(work *w)
{
    calc_rl_step *out = w->out;
    size_t apart = seat(w, CALC_JOB_ROLLOUT)->pool;
    bool together = w->job->steps_off == 0 || !seat(w, CALC_JOB_ROLLOUT)->runs;
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

static calc_status check(const work *w)
{
    const calc_rl_seat *actor = seat(w, CALC_JOB_ACTOR), *engine = seat(w, CALC_JOB_ROLLOUT);
    if (w->job->steps_off > 0 && actor->runs && engine->runs && actor->pool == engine->pool) {
        return calc_errors_add(w->errors, CALC_ERR_RULE, CALC_KIND_NONE, "/steps_off",
                               "give the rollout a pool of its own, or use steps_off 0",
                               "the rollout and the actor share processors, so that one waits for "
                               "the other: steps_off %lld is not possible",
                               (long long)w->job->steps_off);
    }
    return CALC_OK;
}

calc_status calc_rl_step_of(const calc_rl_case *c, calc_rl_step *out, calc_errors *errors)
{
    work w = {.c = c, .job = c->job, .out = out, .errors = errors};
    *out = (calc_rl_step){.feasible = true};
    w.tokens = (calc_rl_tokens){(double)c->job->lengths.prompt,
                                calc_rl_lengths_of(&c->job->lengths.response)};
    w.sequences = (double)c->job->prompts * (double)c->job->samples;
    w.rounds = ceil(1 / c->job->kept_share - 1e-9);
    calc_status status = check(&w);
    status = status == CALC_OK ? run_passes(&w) : status;
    if (status == CALC_OK && c->seat[CALC_JOB_ROLLOUT].runs) {
        status = run_rollout(&w);
    }
    if (status != CALC_OK) {
        return status;
    }
    put_reward(&w);
    put_needs(&w);
    put_switch(&w);
    put_sync(&w);
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
