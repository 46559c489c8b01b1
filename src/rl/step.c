#include "rl/step.h"

#include <math.h>
#include <stdio.h>

#include "base/buffer.h"
#include "base/error.h"
#include "gauss/process.h"
#include "model/operators/parameters.h"
#include "spec/format.h"

calc_rl_sync_row calc_rl_sync_row_of(calc_job_sync_method method)
{
    /* scripts/fit_rl_sync.py, least squares of logarithms over 32 published times; a tensor is what
     * calc_parameters_tensors() counts. */
    static const calc_rl_sync_row rows[CALC_JOB_SYNC_METHOD_COUNT] = {
        [CALC_JOB_SYNC_IPC_BUCKETS] = {1.4, 470e-6, 25e9, false},
        [CALC_JOB_SYNC_BUCKETS] = {3.0, 0, 32e9, false},
        [CALC_JOB_SYNC_PER_TENSOR] = {0, 1.1e-3, INFINITY, false},
        [CALC_JOB_SYNC_SHARDS] = {0.31, 37e-6, INFINITY, true},
        [CALC_JOB_SYNC_TRANSFER] = {0.05, 72e-6, INFINITY, true},
        [CALC_JOB_SYNC_HOST] = {0, 210e-6, INFINITY, false}};
    return rows[method];
}

double calc_rl_sync_s(calc_job_sync_method method, double tensors, double bytes, double ranks,
                      double network_byte_per_s)
{
    const calc_rl_sync_row row = calc_rl_sync_row_of(method);
    double sent = row.sharded ? bytes / ranks : bytes;
    double time_s = row.fixed_s + row.tensor_s * tensors + sent / row.rate_byte_per_s;
    return fmax(time_s, sent / network_byte_per_s);
}

calc_job_sync_method calc_rl_sync_method(const calc_job *job, bool same_pool)
{
    return job->sync.method != CALC_JOB_SYNC_AUTO ? job->sync.method
           : same_pool                            ? CALC_JOB_SYNC_IPC_BUCKETS
                                                  : CALC_JOB_SYNC_BUCKETS;
}

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

/* A step whose phases are made: their times, what they need of the memory beside what other roles
 * keep there, and what is moved between them. */
typedef struct work {
    const calc_rl_case *c;
    calc_rl_step *step; /* gets the phases, the statistics that belong to one, and reasons */
    calc_errors *errors;
    calc_rl_tokens tokens;
    double sequences;                   /* that are trained on */
    double rounds;                      /* rollouts of a step */
    calc_stats trained[CALC_JOB_ROLES]; /* of roles that train: an optimizer step */
    calc_stats forward[CALC_JOB_ROLES]; /* of roles that have a pass without gradients */
    double engine_bytes;                /* that the engine takes */
    calc_rl_rollout rollout;
} work;

/* What the list says of a phase. */
static const struct {
    const char *name, *key;
    calc_job_role_index role;
} phases[] = {
#define ROW(id, text, key, role) {text, key, CALC_JOB_##role},
    CALC_RL_PHASE_LIST(ROW)
#undef ROW
};

const char *calc_rl_phase_name(calc_rl_phase_index phase)
{
    return phases[phase].name;
}

const char *calc_rl_phase_key(calc_rl_phase_index phase)
{
    return phases[phase].key;
}

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

/* Whether only adapters travel to the engines. */
static bool sends_adapters(const calc_rl_case *c)
{
    const calc_rl_seat *actor = &c->seat[CALC_JOB_ACTOR];
    return c->job->sync.adapters && actor->runs &&
           actor->exec->strategy.trained == CALC_TRAINED_ADAPTERS;
}

/* A reference that is the actor without its adapters: the same weights on the same processors. */
static bool is_base(const calc_rl_case *c, calc_job_role_index role)
{
    const calc_rl_seat *actor = &c->seat[CALC_JOB_ACTOR], *own = &c->seat[role];
    return role == CALC_JOB_REFERENCE && actor->runs && own->runs && own->pool == actor->pool &&
           own->app == actor->app && own->exec == actor->exec &&
           actor->exec->strategy.trained == CALC_TRAINED_ADAPTERS;
}

/* Whether a role keeps something on the host while others of its pool run. By default what is
 * trained makes room for engines, and other weights make room for any role.
 * @param what  CALC_JOB_OFFLOAD_... */
static bool offloads(const calc_rl_case *c, calc_job_role_index role, int what)
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
    if (w->step->reasons < CALC_RL_REASONS) {
        snprintf(w->step->reason[w->step->reasons++], sizeof *w->step->reason, "%.255s", text);
    }
    w->step->feasible = false;
}

/* ---- Passes ---------------------------------------------------------------------------------- */

/* A pass of a role. Its statistics are NaN or zero where the networks forbid the layout. */
static calc_status run_pass(work *w, calc_job_role_index role, double sequences, bool training,
                            calc_stats *stats)
{
    const calc_rl_seat *s = seat(w, role);
    const calc_job_role *said = calc_job_role_of(w->c->job, role);
    int64_t micro =
        training || said->forward_tokens == 0 ? said->micro_tokens : said->forward_tokens;
    calc_exec exec = calc_rl_pass_exec(s->exec, &w->tokens, sequences, micro, training);
    if (role == CALC_JOB_REFERENCE && s->exec == seat(w, CALC_JOB_ACTOR)->exec) {
        exec.strategy.lora_rank = 0; /* as the actor was before it had adapters */
    }
    int before = w->errors->count;
    calc_status status = calc_check(s->app, s->system, &exec, w->errors);
    for (int i = before; i < w->errors->count; i++) {
        const char *place =
            CALC_TEXT(64, "%s, %s", calc_job_role_name(role), training ? "update" : "forward pass");
        calc_error_place(&w->errors->item[i], place, 0, 0);
    }
    if (status != CALC_OK) {
        return status;
    }
    calc_verdict verdict = calc_run(s->app, s->system, &exec, CALC_COMPAT_NONE, stats);
    bool memory = verdict == CALC_VERDICT_MEM1_CAPACITY || verdict == CALC_VERDICT_MEM2_CAPACITY;
    if (verdict != CALC_VERDICT_OK && !memory) {
        calc_reason reason[CALC_MAX_REASONS];
        size_t n = calc_reasons(s->app, s->system, &exec, CALC_COMPAT_NONE, stats, reason);
        cannot(w, CALC_TEXT(320, "%s: %s", calc_job_role_name(role), n ? reason[0].text : ""));
    }
    return CALC_OK;
}

/* Ranks and engines wait for the longest sequences; what the host moves does not. */
static void put_phase(work *w, calc_rl_phase_index phase, double time_s)
{
    const calc_rl_seat *s = seat(w, phases[phase].role);
    double longer = phase < CALC_RL_SWITCH ? 1 + w->c->job->overhead : 1;
    w->step->phase[phase] = (calc_rl_phase){.runs = true,
                                            .pool = s->pool,
                                            .time_s = time_s * longer,
                                            .capacity_bytes = s->system->chip.mem1.capacity_bytes};
}

/* Optimizer steps, one after the other. */
static calc_status run_update(work *w, calc_rl_phase_index phase)
{
    calc_job_role_index role = phases[phase].role;
    double mini = w->c->job->mini_batch > 0 ? (double)w->c->job->mini_batch : w->sequences;
    double steps = ceil(w->sequences / mini) * (double)w->c->job->epochs;
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
                   {actor && calc_job_old_pass(w->c->job), CALC_RL_OLD_LOGPROB, w->sequences},
                   {seat(w, CALC_JOB_REFERENCE)->runs, CALC_RL_REFERENCE, w->sequences},
                   {seat(w, CALC_JOB_CRITIC)->runs, CALC_RL_VALUES, w->sequences},
                   {seat(w, CALC_JOB_TEACHER)->runs, CALC_RL_TEACHER, w->sequences}};
    for (size_t i = 0; i < sizeof forward / sizeof *forward && status == CALC_OK; i++) {
        if (forward[i].runs) {
            calc_job_role_index role = phases[forward[i].phase].role;
            status = run_pass(w, role, forward[i].sequences, false, &w->forward[role]);
            put_phase(w, forward[i].phase, w->forward[role].total_time);
        }
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
        return calc_job_role_of(w->c->job, role)->sleep > 0 ? ASLEEP_BYTES : w->engine_bytes;
    }
    if (is_base(w->c, role)) {
        return 0;
    }
    const calc_stats *s = is_trained(role) ? &w->trained[role] : &w->forward[role];
    double bytes = offloads(w->c, role, CALC_JOB_OFFLOAD_WEIGHTS) ? 0 : s->weight_space;
    if (is_trained(role)) {
        bytes += offloads(w->c, role, CALC_JOB_OFFLOAD_GRADIENTS) ? 0 : s->weight_grad_space;
        bytes += offloads(w->c, role, CALC_JOB_OFFLOAD_OPTIMIZER) ? 0 : s->optimizer_space;
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
    calc_rl_phase *p = &w->step->phase[phase];
    p->need_bytes = own_bytes + others_bytes(w, phases[phase].role);
    if (p->need_bytes > p->capacity_bytes) {
        cannot(w, CALC_TEXT(256,
                            "%s needs %.1f GiB of a processor's %.1f: %.1f of its own, %.1f "
                            "that other roles keep there",
                            phases[phase].name, p->need_bytes / 0x1p30, p->capacity_bytes / 0x1p30,
                            own_bytes / 0x1p30, (p->need_bytes - own_bytes) / 0x1p30));
    }
}

static void put_needs(work *w)
{
    for (int i = 0; i < CALC_RL_PHASES; i++) {
        calc_rl_phase_index phase = (calc_rl_phase_index)i;
        calc_job_role_index role = phases[phase].role;
        bool pass = phase != CALC_RL_ROLLOUT && phase < CALC_RL_CRITIC_UPDATE;
        bool update = phase == CALC_RL_UPDATE || phase == CALC_RL_CRITIC_UPDATE;
        const calc_stats *s = &w->trained[role];
        double bytes = (update ? s : &w->forward[role])->proc_mem_tier1_cap_req;
        if (!update && is_trained(role)) {
            /* A pass without gradients of what is trained also holds what is not moved away. */
            bytes += offloads(w->c, role, CALC_JOB_OFFLOAD_GRADIENTS) ? 0 : s->weight_grad_space;
            bytes += offloads(w->c, role, CALC_JOB_OFFLOAD_OPTIMIZER) ? 0 : s->optimizer_space;
        }
        if (w->step->phase[phase].runs && (update || (pass && seat(w, role)->runs))) {
            put_need(w, phase, bytes);
        }
    }
}

/* ---- The rollout ----------------------------------------------------------------------------- */

/* The engines' execution, with the share of the memory that they get. */
static calc_exec engine_exec(work *w, double *taken_bytes)
{
    const calc_rl_seat *s = seat(w, CALC_JOB_ROLLOUT);
    const calc_job_role *said = calc_job_role_of(w->c->job, CALC_JOB_ROLLOUT);
    calc_exec exec = *s->exec;
    double capacity_bytes = s->system->chip.mem1.capacity_bytes;
    double others = others_bytes(w, CALC_JOB_ROLLOUT) / capacity_bytes;
    if (sends_adapters(w->c)) {
        const calc_strategy *actor = &seat(w, CALC_JOB_ACTOR)->exec->strategy;
        exec.strategy.lora_rank = actor->lora_rank;
        exec.strategy.lora_modules = actor->lora_modules;
        exec.strategy.lora_experts = actor->lora_experts;
        exec.strategy.lora_fused = actor->lora_fused;
    }
    double *share = &exec.inference.memory_share;
    if (said->memory_share > 0) {
        *share = said->memory_share;
    } else if (*share == 0 && others > 0) {
        *share = fmax(1e-3, ENGINE_SHARE * (1 - others));
    }
    *taken_bytes = *share * capacity_bytes;
    return exec;
}

static void run_rollout(work *w)
{
    const calc_rl_seat *s = seat(w, CALC_JOB_ROLLOUT);
    calc_rl_step *out = w->step;
    double taken_bytes;
    const calc_exec exec = engine_exec(w, &taken_bytes);
    const calc_rl_ask ask = {.lengths = w->tokens.lengths,
                             .prompt = w->tokens.prompt,
                             .sequences = w->sequences,
                             .copies = w->c->chips[s->pool] / (double)exec.num_procs,
                             .samples = (double)w->c->job->samples,
                             .stop_share = w->c->job->partial,
                             .ahead = fmax(1, (double)w->c->job->steps_off)};
    calc_rl_rollout *r = &w->rollout;
    calc_rl_rollout_of(s->app, s->system, &exec, &ask, r);
    double longer = w->rounds * (1 + w->c->job->overhead);
    bool kept_full = w->c->job->steps_off > 1;
    r->deviation_s *= longer;
    w->engine_bytes = r->kept_bytes + r->other_bytes +
                      (exec.inference.memory_share > 0 ? r->cache_bytes : r->used_bytes);
    put_phase(w, CALC_RL_ROLLOUT, w->rounds * (kept_full ? r->full_s : r->time_s));
    put_need(w, CALC_RL_ROLLOUT, w->engine_bytes);
    if (!r->fits) {
        const char *text = CALC_TEXT(
            256,
            "rollout: %.1f GiB of weights leave no room for the cache of one sequence in the "
            "%.1f GiB that an engine may take of a processor",
            r->kept_bytes / 0x1p30,
            (taken_bytes > 0 ? taken_bytes : out->phase[CALC_RL_ROLLOUT].capacity_bytes) / 0x1p30);
        cannot(w, text);
    }
    out->prefill_time = longer * r->prefill_s;
    out->tail_time = kept_full ? 0 : longer * r->tail_s;
    out->tail_share = r->time_s > 0 && !kept_full ? r->tail_s / r->time_s : 0;
    out->floor_time = r->floor_s;
    out->engines = r->engines;
    out->running = r->running;
    out->requests = r->requests;
    out->longest = r->longest;
    out->decode_step_time = r->step_s;
    out->cache_tokens = r->cache_tokens;
}

/* Scoring by rules or programs, beside a model that scores. */
static void put_reward(work *w)
{
    const calc_job_reward *r = &w->c->job->reward;
    double each = ceil(w->sequences * w->rounds / (double)r->parallel);
    double time_s = r->overlapped ? r->time_s : r->time_s * each;
    calc_rl_phase *p = &w->step->phase[CALC_RL_REWARD];
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
            bytes += offloads(w->c, role, CALC_JOB_OFFLOAD_OPTIMIZER) ? 2 * t->optimizer_space : 0;
            bytes += offloads(w->c, role, CALC_JOB_OFFLOAD_WEIGHTS) ? 2 * t->weight_space : 0;
        } else if (role == CALC_JOB_ROLLOUT) {
            bool shared = false;
            for (int other = 0; other < CALC_JOB_ROLES; other++) {
                shared |= shares_pool(w->c, role, (calc_job_role_index)other);
            }
            bool moved = shared && calc_job_role_of(w->c->job, role)->sleep == 1;
            bytes += moved ? 2 * w->rollout.kept_bytes : 0;
        } else if (offloads(w->c, role, CALC_JOB_OFFLOAD_WEIGHTS) && !is_base(w->c, role)) {
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
    bool sleeps = calc_job_role_of(w->c->job, CALC_JOB_ROLLOUT)->sleep > 0;
    bool moves = offloads(w->c, CALC_JOB_ACTOR, CALC_JOB_OFFLOAD_OPTIMIZER) ||
                 offloads(w->c, CALC_JOB_ACTOR, CALC_JOB_OFFLOAD_WEIGHTS);
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
            w->step->switch_bytes = bytes;
            w->step->phase[CALC_RL_SWITCH] =
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
    calc_job_sync_method method = calc_rl_sync_method(w->c->job, same);
    double ranks = (double)(engine->exec->strategy.tensor_par * engine->exec->pipeline_par);
    w->step->sync_tensors = calc_rl_tensors(actor->app, actor->exec);
    w->step->sync_bytes = calc_rl_weight_bytes(actor->app, engine->exec, w->c->job->sync.format);
    if (sends_adapters(w->c)) {
        double each = calc_format_bytes_or(w->c->job->sync.format,
                                           calc_datatype_bytes(actor->exec->strategy.datatype));
        w->step->sync_tensors = calc_parameters_adapter_tensors(actor->app, actor->exec);
        w->step->sync_bytes = each * calc_parameters_trained(actor->app, actor->exec);
    }
    double time_s = calc_rl_sync_s(method, w->step->sync_tensors, w->step->sync_bytes, ranks,
                                   net->bytes_per_s * net->efficiency);
    put_phase(w, CALC_RL_SYNC, time_s);
    if (same) { /* weights of both, and two buckets; the cache comes later */
        double trained = w->trained[CALC_JOB_ACTOR].weight_space;
        bool gone = offloads(w->c, CALC_JOB_ACTOR, CALC_JOB_OFFLOAD_WEIGHTS);
        put_need(w, CALC_RL_SYNC,
                 w->rollout.kept_bytes + 2 * (double)w->c->job->sync.bucket_bytes +
                     (gone ? trained : 0));
    }
}

static calc_status make_phases(work *w)
{
    const calc_job *job = w->c->job;
    w->tokens =
        (calc_rl_tokens){(double)job->lengths.prompt, calc_rl_lengths_of(&job->lengths.response)};
    w->sequences = (double)job->prompts * (double)job->samples;
    w->rounds = ceil(1 / job->kept_share - 1e-9);
    calc_status status = run_passes(w);
    if (status == CALC_OK) {
        if (seat(w, CALC_JOB_ROLLOUT)->runs) {
            run_rollout(w);
        }
        put_reward(w);
        put_needs(w);
        put_switch(w);
        put_sync(w);
    }
    return status;
}

/* ---- The step -------------------------------------------------------------------------------- */

/* Phases from `first` to `last` of a pool one after the other, pools side by side; those of the
 * pool `but` are left out. Marks what is beside the pool that takes longest. */
static double longest_pool_s(work *w, int first, int last, size_t but)
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

static double phase_s(const work *w, calc_rl_phase_index phase)
{
    return w->step->phase[phase].runs ? w->step->phase[phase].time_s : 0;
}

static void compose(work *w)
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
        double deviation_s = w->c->job->steps_off > 1 ? 0 : w->rollout.deviation_s;
        double x = (out->generate_time - out->train_time) / deviation_s; /* Clark 1961 */
        time_s = deviation_s == 0 ? fmax(out->generate_time, out->train_time)
                                  : out->generate_time * calc_normal_below(x) +
                                        out->train_time * calc_normal_below(-x) +
                                        deviation_s * calc_normal_density(x);
        for (int i = 0; i <= CALC_RL_UPDATE; i++) {
            bool generates = i < CALC_RL_OLD_LOGPROB || out->phase[i].pool == apart;
            bool later = generates == (out->generate_time > out->train_time);
            out->phase[i].beside = !later || (!generates && out->phase[i].beside);
        }
        out->rollout_wait = time_s - out->generate_time;
        out->train_wait = time_s - out->train_time;
    }
    out->step_time = time_s + between_s;
}

/* One more processor shortens what is divided by their number, if it is waited for. */
static void put_gains(work *w)
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

static calc_status check(const work *w)
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
    work w = {.c = c, .step = out, .errors = errors};
    *out = (calc_rl_step){.feasible = true};
    calc_status status = check(&w);
    status = status == CALC_OK ? make_phases(&w) : status;
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
