#include "model/inference.h"

#include <math.h>
#include <string.h>

#include "model/processor.h"
#include "model/run_stages.h"

/* A pass that counts `times` in the time that is reported. */
typedef struct part {
    const calc_pass *pass;
    double times;
} part;

/* Everything computed on the way, for the statistics. */
typedef struct run {
    const calc_system *system;
    const calc_exec *exec;
    const calc_inference *i;
    calc_pass_model model;   /* of num_procs */
    calc_pass_model prefill; /* of the prefill pool; else the same */
    double replicas, prefill_replicas;
    double batch;  /* sequences of a replica */
    double groups; /* micro-batches they are decoded in */
    double prompt, fresh, cached, generate;
    double chunk;           /* tokens of a pass */
    double tokens_per_step; /* of a sequence */
    calc_prefill prefilled;
    calc_pass plain, mixed;       /* decoding; with a chunk beside */
    double plain_s, mixed_s;      /* a step */
    double step_s, sequences;     /* mean step, and what it decodes on a replica */
    double mixed_share;           /* serve: of the steps */
    double prefill_s, transfer_s; /* of a request */
    double prefill_share;
    double requests_per_s, prefill_requests_per_s, decode_requests_per_s;
    part part[4];
    size_t parts;
    double batches;    /* of a part, in a row */
    double overhead_s; /* of the engine and of drafting elsewhere, in the reported time */
    double total_s;
} run;

/* ---- What is asked --------------------------------------------------------------------------- */

static double or_one(int64_t value)
{
    return value > 0 ? (double)value : 1;
}

static double lesser(double a, double b)
{
    return a < b ? a : b;
}

/* The execution of the prefill pool. */
static calc_exec prefill_exec(const calc_exec *exec)
{
    const calc_inference *i = &exec->inference;
    calc_exec e = *exec;
    e.num_procs = i->prefill_procs;
    e.tensor_par = i->prefill_tensor_par > 0 ? i->prefill_tensor_par : exec->tensor_par;
    e.expert_par = i->prefill_expert_par > 0 ? i->prefill_expert_par : exec->expert_par;
    int64_t replica = e.tensor_par * e.pipeline_par;
    e.data_par = e.num_procs / replica > 0 ? e.num_procs / replica : 1;
    e.tensor_par_overlap =
        e.tensor_par > 1 ? exec->tensor_par_overlap : CALC_TENSOR_PAR_OVERLAP_NONE;
    return e;
}

static void ask(run *r, const calc_app *app)
{
    const calc_inference *i = r->i;
    calc_pass_model_init(&r->model, app, r->system, r->exec);
    r->replicas = (double)r->exec->data_par;
    r->prefill_replicas = r->replicas;
    r->prefill = r->model;
    if (i->phase == CALC_INFERENCE_PHASE_DISAGGREGATED) {
        calc_exec pool = prefill_exec(r->exec);
        calc_pass_model_init(&r->prefill, app, r->system, &pool);
        r->prefill_replicas = (double)pool.data_par;
    }
    r->batch = (double)(i->batch > 0 ? i->batch : r->exec->batch_size) / r->replicas;
    r->groups = lesser(r->model.stages.stages, r->batch);
    r->prompt = i->prompt_size > 0 ? (double)i->prompt_size : r->model.shape.seq;
    r->generate = (double)i->generate_size;
    double page = r->model.cache.page;
    r->cached = lesser(floor(r->prompt * i->prefix_hit / page) * page, r->prompt - 1);
    r->fresh = r->prompt - r->cached;
    r->chunk = i->chunk_size > 0 ? lesser((double)i->chunk_size, r->fresh) : r->fresh;
    r->tokens_per_step =
        calc_inference_tokens_per_step((double)i->speculative_tokens, i->speculative_accept);
}

double calc_inference_tokens_per_step(double drafts, double accept)
{
    double sum = 1;
    double all_before = 1;
    for (double i = 0; i < drafts; i++) {
        all_before *= accept;
        sum += all_before;
    }
    return sum;
}

/* ---- Prefill --------------------------------------------------------------------------------- */

void calc_inference_prefill_of(const calc_pass_model *model, double prompts, double fresh,
                               double cached, double chunk, calc_prefill *out)
{
    double whole = ceil(fresh / chunk) - 1; /* chunks before the last */
    calc_pass_work work = {.prompts = prompts, .chunk = chunk};
    *out = (calc_prefill){.chunks = whole};
    if (whole > 0) {
        work.cached = cached + (whole - 1) * chunk / 2;
        calc_pass_of(model, &work, &out->chunk);
    }
    work.cached = cached + whole * chunk;
    work.chunk = fresh - whole * chunk;
    work.finished = prompts;
    calc_pass_of(model, &work, &out->last);
    out->latency_s = whole * out->chunk.slow.total_s + out->last.latency_s;
    out->busy_s = whole * out->chunk.slow.total_s + out->last.slow.total_s;
}

/* Prefill of one batch of prompts, where prompts are prefilled. */
static void run_prefill(run *r)
{
    calc_inference_prefill_of(&r->prefill, or_one(r->i->prefill_batch), r->fresh, r->cached,
                              r->chunk, &r->prefilled);
    double passes = r->prefilled.chunks + 1;
    r->prefill_s = r->prefilled.latency_s + passes * r->i->step_overhead_s;
}

/* Every part of a prefill, `times` in the reported time. */
static void report_prefill(run *r, double times)
{
    r->part[r->parts++] = (part){&r->prefilled.chunk, times * r->prefilled.chunks};
    r->part[r->parts++] = (part){&r->prefilled.last, times};
    r->overhead_s += times * (r->prefilled.chunks + 1) * r->i->step_overhead_s;
}

/* Prompts of the batch, one pass after the other. */
static void run_prompts(run *r)
{
    run_prefill(r);
    double passes = ceil(r->batch / or_one(r->i->prefill_batch));
    report_prefill(r, passes);
    r->batches = 1;
    r->total_s = r->prefilled.latency_s + (passes - 1) * r->prefilled.busy_s + r->overhead_s;
    r->requests_per_s = r->batch * r->replicas / r->total_s;
}

/* ---- Decoding -------------------------------------------------------------------------------- */

/* A step of `groups` micro-batches that follow one another around the pipeline [s]. */
static double around_s(const run *r, const calc_pass *pass)
{
    return calc_max(pass->latency_s, r->groups * pass->slow.total_s);
}

/* Sequences of one micro-batch. */
static calc_pass_work decoding(const run *r, double sequences)
{
    return (calc_pass_work){
        .sequences = sequences / r->groups,
        .queries = 1 + (double)r->i->speculative_tokens,
        .drafts = r->model.drafts,
        .context = r->prompt + r->generate / 2,
    };
}

/* What a step takes beside its pass: the engine, and drafts by another model. */
static double beside_s(const run *r, const calc_pass_work *work)
{
    double drafts = (double)r->i->speculative_tokens;
    double drafting_s = 0;
    if (drafts > 0 && r->i->speculative_cost > 0) {
        calc_pass_work one = *work;
        calc_pass alone;
        one.queries = 1;
        calc_pass_of(&r->model, &one, &alone);
        drafting_s = drafts * r->i->speculative_cost * around_s(r, &alone);
    }
    return r->i->step_overhead_s + drafting_s;
}

/* Decoding steps of `sequences` on a replica, and what they take beside their passes. */
static double run_plain(run *r, double sequences)
{
    calc_pass_work work = decoding(r, sequences);
    double extra_s = beside_s(r, &work);
    calc_pass_of(&r->model, &work, &r->plain);
    r->plain_s = around_s(r, &r->plain) + extra_s;
    r->sequences = sequences;
    return extra_s;
}

/* Steps of a request after its first token. */
static double steps(const run *r)
{
    return (r->generate - 1) / r->tokens_per_step;
}

static void run_decode(run *r)
{
    r->overhead_s = run_plain(r, r->batch);
    r->part[r->parts++] = (part){&r->plain, 1};
    r->batches = r->groups;
    r->step_s = r->plain_s;
    r->total_s = r->step_s;
    r->requests_per_s =
        r->generate > 0 ? r->batch * r->replicas * r->tokens_per_step / (r->step_s * r->generate)
                        : NAN;
}

/* ---- Both ------------------------------------------------------------------------------------ */

/* Chunks of prompts in the steps of the decoded ones. */
static void serve_chunks(run *r)
{
    double budget = (double)r->i->chunk_size;
    /* Micro-batches of a pipeline carry a chunk each. */
    double wanted = r->batch / r->groups * r->fresh / (steps(r) * budget);
    r->mixed_share = lesser(1, wanted);
    double extra_s = run_plain(r, wanted > 1 ? r->batch / wanted : r->batch);
    calc_pass_work work = decoding(r, r->sequences);
    work.prompts = calc_max(1, budget / r->fresh);
    work.chunk = r->chunk;
    work.cached = r->cached + (r->fresh - r->chunk) / 2;
    work.finished = budget / r->fresh;
    calc_pass_of(&r->model, &work, &r->mixed);
    r->mixed_s = around_s(r, &r->mixed) + extra_s;
    r->step_s = r->mixed_share * r->mixed_s + (1 - r->mixed_share) * r->plain_s;
    r->prefill_share = r->mixed_share * r->mixed_s / r->step_s;
    r->prefill_s = ceil(r->fresh / r->chunk) * r->mixed_s;
    r->part[r->parts++] = (part){&r->mixed, r->mixed_share};
    r->part[r->parts++] = (part){&r->plain, 1 - r->mixed_share};
    r->batches = r->groups;
    r->overhead_s = extra_s;
}

/* Whole prompts between the steps. */
static void serve_prompts(run *r)
{
    run_prefill(r);
    double passes = r->batch / steps(r) / or_one(r->i->prefill_batch); /* between two steps */
    double extra_s = run_plain(r, r->batch);
    double prefilling_s = passes * (r->prefilled.busy_s + r->i->step_overhead_s);
    r->step_s = r->plain_s + prefilling_s;
    r->prefill_share = prefilling_s / r->step_s;
    r->part[r->parts++] = (part){&r->plain, 1};
    report_prefill(r, passes / r->groups);
    r->batches = r->groups;
    r->overhead_s = extra_s + passes * r->i->step_overhead_s;
}

static void run_serve(run *r)
{
    if (r->i->chunk_size > 0) {
        serve_chunks(r);
    } else {
        serve_prompts(r);
    }
    r->total_s = r->step_s;
    r->requests_per_s = r->sequences * r->replicas / (steps(r) * r->step_s);
}

/* The cache of one prompt, from the ranks of one replica to those of another. */
static double transfer_s(const run *r)
{
    const calc_pass_model *m = &r->prefill;
    int64_t last = r->system->networks_count - 1;
    calc_group pair = {2, 0, r->i->kv_net < 0 ? last : r->i->kv_net};
    double most = 0;
    for (size_t c = 0; c < m->stages.count; c++) {
        double blocks = calc_pass_cached_blocks(m, c);
        most = calc_max(most, calc_kv_cache_space(&m->cache, blocks, 1, r->prompt));
    }
    return calc_collective_s(r->system, CALC_OP_P2P, &pair, most);
}

static void run_disaggregated(run *r)
{
    run_prefill(r);
    run_decode(r);
    double prompts = or_one(r->i->prefill_batch);
    double pass_s = r->prefilled.busy_s + (r->prefilled.chunks + 1) * r->i->step_overhead_s;
    r->transfer_s = transfer_s(r);
    r->prefill_requests_per_s = r->prefill_replicas * prompts / pass_s;
    r->decode_requests_per_s = r->batch * r->replicas / (steps(r) * r->step_s);
    r->requests_per_s = lesser(r->prefill_requests_per_s, r->decode_requests_per_s);
}

static void run_phase(run *r)
{
    switch (r->i->phase) {
    case CALC_INFERENCE_PHASE_PREFILL:
        run_prompts(r);
        break;
    case CALC_INFERENCE_PHASE_SERVE:
        run_serve(r);
        break;
    case CALC_INFERENCE_PHASE_DISAGGREGATED:
        run_disaggregated(r);
        break;
    default:
        run_decode(r);
    }
}

/* ---- Memory ---------------------------------------------------------------------------------- */

/* What one pool needs, and has room for. */
typedef struct pool {
    calc_stage_memory memory; /* of the fullest stage, without the cache */
    double stage;             /* which it is */
    double cache_bytes;       /* on it */
    double need_bytes;        /* with fragmentation and reserve */
    calc_kv_room room;        /* of a replica */
} pool;

/* @param sequences  on a replica, each of `context` tokens */
static pool pool_of(const run *r, const calc_pass_model *m, const calc_pass *pass, double sequences,
                    double context)
{
    const calc_system *s = r->system;
    double usable = (s->mem1.capacity_bytes - s->mem_reserved_bytes) / (1 + s->mem_fragmentation);
    pool out = {.room = {INFINITY, INFINITY}};
    for (size_t i = 0; i < m->stages.count; i++) {
        double blocks = calc_pass_cached_blocks(m, i);
        calc_stage_memory memory = calc_pass_memory(m, pass, i);
        double cache = calc_kv_cache_space(&m->cache, blocks, sequences, context);
        calc_kv_room room =
            calc_kv_cache_capacity(&m->cache, blocks, context, usable - memory.total);
        out.room.tokens = lesser(out.room.tokens, room.tokens);
        out.room.sequences = lesser(out.room.sequences, room.sequences);
        if (i == 0 || memory.total + cache > out.memory.total + out.cache_bytes) {
            out.memory = memory;
            out.cache_bytes = cache;
            out.stage = m->stages.item[i].position;
        }
    }
    double allocated = out.memory.total + out.cache_bytes;
    out.need_bytes = allocated * (1 + s->mem_fragmentation) + s->mem_reserved_bytes;
    return out;
}

/* The pass of a prefill that has most tokens. */
static const calc_pass *widest(const calc_prefill *p)
{
    return p->chunks > 0 ? &p->chunk : &p->last;
}

/* The pool that needs more memory for sequences at their full length. */
static pool put_memory(const run *r, calc_stats *s)
{
    bool prompts = r->i->phase == CALC_INFERENCE_PHASE_PREFILL;
    bool apart = r->i->phase == CALC_INFERENCE_PHASE_DISAGGREGATED;
    bool chunked = r->mixed_share > 0;
    bool whole = prompts || (r->i->phase == CALC_INFERENCE_PHASE_SERVE && !chunked);
    double context = r->prompt + (prompts ? 0 : r->generate);
    const calc_pass *pass = whole ? widest(&r->prefilled) : chunked ? &r->mixed : &r->plain;
    pool most = pool_of(r, &r->model, pass, r->batch, context);
    calc_kv_room room = most.room;
    if (apart) {
        pool other =
            pool_of(r, &r->prefill, widest(&r->prefilled), or_one(r->i->prefill_batch), r->prompt);
        most = other.need_bytes > most.need_bytes ? other : most;
    }
    s->weight_space = most.memory.state;
    s->act_grad_space = most.memory.working;
    s->head_space = most.memory.ends;
    s->kv_cache_space = most.cache_bytes;
    s->mem_allocated = most.memory.total + most.cache_bytes;
    s->mem_overhead = most.need_bytes - s->mem_allocated;
    s->proc_mem_tier1_cap_req = most.need_bytes;
    s->peak_stage = most.stage;
    s->kv_bytes_per_token = r->model.cache.token_bytes * r->model.shape.blocks;
    s->kv_capacity_tokens = room.tokens;
    s->max_batch = room.sequences * r->replicas;
    return most;
}

/* ---- Statistics ------------------------------------------------------------------------------ */

/* The reported time by what it is spent on; what is left is waiting for the slowest stage. */
static void put_time(const run *r, calc_stats *s)
{
    double busy_s = 0;
    for (size_t i = 0; i < r->parts; i++) {
        const calc_pass_spent *t = &r->part[i].pass->slow;
        double times = r->part[i].times * r->batches;
        s->fw_time += times * t->kernel_s;
        s->tp_comm_exposed_time += times * t->tensor_s;
        s->cp_comm_exposed_time += times * t->context_s;
        s->ep_comm_exposed_time += times * t->expert_s;
        s->pp_comm_exposed_time += times * t->message_s;
        s->dp_comm_exposed_time += times * t->sharded_s;
        s->head_time += times * t->ends_s;
        busy_s += times * t->total_s;
    }
    s->tp_comm_link_time = s->tp_comm_exposed_time;
    s->cp_comm_link_time = s->cp_comm_exposed_time;
    s->ep_comm_link_time = s->ep_comm_exposed_time;
    s->pp_comm_link_time = s->pp_comm_exposed_time;
    s->overhead_time = r->overhead_s;
    s->total_time = r->total_s;
    s->bubble_time = r->total_s - busy_s - r->overhead_s;
    s->slowest_stage = r->model.stages.item[r->part[0].pass->slowest].position;
}

/* Of the kind of block most stages are made of, in the first part. */
static void put_block(const run *r, calc_stats *s)
{
    const calc_shape *shape = &r->model.shape;
    bool moe = calc_shape_moe_blocks(shape) * 2 > shape->blocks;
    const calc_pass *pass =
        r->parts > 1 && r->part[0].times == 0 ? r->part[1].pass : r->part[0].pass;
    const calc_cost *b = &pass->parts.block[moe ? CALC_MOE_BLOCK : CALC_DENSE_BLOCK];
    s->block_fw_flops = b->flop[CALC_STAGE_FW];
    s->block_fw_mem_accessed = b->bytes[CALC_STAGE_FW];
    s->block_fw_time = b->fw_s;
    s->baseblock_fw_tp_time = b->tensor.fw_link_s;
    s->edgeblock_fw_tp_time = b->tensor.fw_link_s;
    s->baseblock_fw_tp_time_exposed = b->tensor.fw_exposed_s;
    s->edgeblock_fw_tp_time_exposed = b->tensor.fw_exposed_s;
    s->block_fw_pp_size = pass->parts.message_bytes;
    s->block_weight_space = (b->dense_weights + b->expert_weights) * shape->weight_bytes;
    s->block_act_working_space = b->kept_whole_bytes;
    s->useful_flops = b->flop[CALC_STAGE_FW];
}

/* Latencies of a request. */
static void put_latency(const run *r, calc_stats *s)
{
    bool prefills = r->i->phase != CALC_INFERENCE_PHASE_DECODE;
    bool decodes = r->i->phase != CALC_INFERENCE_PHASE_PREFILL;
    bool apart = r->i->phase == CALC_INFERENCE_PHASE_DISAGGREGATED;
    if (prefills) {
        s->prefill_time = r->prefill_s;
        s->ttft = r->prefill_s + (apart ? r->transfer_s : 0);
    }
    if (decodes) {
        s->decode_step_time = r->step_s;
        s->tokens_per_step = r->tokens_per_step;
        s->tpot = r->step_s / r->tokens_per_step;
        s->tokens_per_s_per_user = 1 / s->tpot;
        s->decode_sequences = r->sequences * r->replicas;
    }
    if (prefills && decodes) {
        s->request_time = s->ttft + (r->generate - 1) * s->tpot;
    }
    if (apart) {
        s->kv_transfer_time = r->transfer_s;
        s->prefill_requests_per_s = r->prefill_requests_per_s;
        s->decode_requests_per_s = r->decode_requests_per_s;
    }
    if (r->i->phase == CALC_INFERENCE_PHASE_SERVE) {
        s->prefill_share = r->prefill_share;
    }
}

/* Throughput, and what a token costs. */
static void put_throughput(const run *r, calc_stats *s)
{
    const calc_system *system = r->system;
    bool prompts = r->i->phase == CALC_INFERENCE_PHASE_PREFILL;
    bool decode = r->i->phase == CALC_INFERENCE_PHASE_DECODE;
    double procs = (double)(r->exec->num_procs + r->i->prefill_procs);
    double each = prompts ? 1 : r->generate;
    s->requests_per_s = r->requests_per_s;
    s->output_tokens_per_s = decode ? r->batch * r->replicas / s->tpot : r->requests_per_s * each;
    s->output_tokens_per_s_per_proc = s->output_tokens_per_s / procs;
    s->sample_rate = s->requests_per_s;
    s->tokens_per_s = decode    ? s->output_tokens_per_s
                      : prompts ? r->requests_per_s * r->prompt
                                : r->requests_per_s * (r->prompt + r->generate);
    s->tokens_per_s_per_proc = s->tokens_per_s / procs;
    double billed = prompts ? s->tokens_per_s : s->output_tokens_per_s;
    s->energy_per_token = system->watts > 0 ? system->watts * procs / billed : NAN;
    s->usd_per_million_output_tokens =
        system->usd_per_hour > 0
            ? system->usd_per_hour / 3600 * procs / s->output_tokens_per_s * 1e6
            : NAN;
}

static void put_efficiency(const run *r, calc_stats *s)
{
    double peak = r->system->matrix[r->exec->datatype].flop_per_s;
    for (size_t i = 0; i < r->parts; i++) {
        s->hardware_flops += r->part[i].times * r->batches * r->part[i].pass->flop * r->replicas;
    }
    double could = s->total_time * peak * (double)r->exec->num_procs;
    s->model_flops = s->hardware_flops;
    s->model_flops_square = s->hardware_flops;
    s->model_flops_utilization = s->model_flops / could;
    s->model_flops_utilization_square = s->model_flops_utilization;
    s->hardware_flops_utilization = s->model_flops_utilization;
    s->total_efficiency = s->model_flops_utilization;
    s->system_efficiency = s->fw_time / s->total_time;
    s->compute_efficiency = s->total_efficiency / s->system_efficiency;
    s->days_per_trillion_tokens = NAN;
    s->proc_hours_per_trillion_tokens = NAN;
    s->usd_per_trillion_tokens = NAN;
}

void calc_inference_none(calc_stats *s)
{
    double *const unknown[] = {
        &s->ttft,
        &s->tpot,
        &s->request_time,
        &s->prefill_time,
        &s->decode_step_time,
        &s->kv_transfer_time,
        &s->tokens_per_step,
        &s->tokens_per_s_per_user,
        &s->output_tokens_per_s,
        &s->output_tokens_per_s_per_proc,
        &s->requests_per_s,
        &s->prefill_requests_per_s,
        &s->decode_requests_per_s,
        &s->decode_sequences,
        &s->prefill_share,
        &s->kv_bytes_per_token,
        &s->kv_capacity_tokens,
        &s->max_batch,
        &s->usd_per_million_output_tokens,
    };
    for (size_t k = 0; k < sizeof unknown / sizeof *unknown; k++) {
        *unknown[k] = NAN;
    }
    s->kv_cache_space = 0;
}

calc_verdict calc_run_inference(const calc_app *app, const calc_system *system,
                                const calc_exec *exec, calc_stats *stats)
{
    run r = {.system = system, .exec = exec, .i = &exec->inference};
    memset(stats, 0, sizeof *stats);
    calc_inference_none(stats);
    ask(&r, app);
    run_phase(&r);
    bool fit = r.model.stages.fit && r.prefill.stages.fit;
    r.total_s = fit ? r.total_s : NAN;
    pool most = put_memory(&r, stats);
    put_time(&r, stats);
    put_block(&r, stats);
    put_latency(&r, stats);
    put_throughput(&r, stats);
    put_efficiency(&r, stats);
    stats->num_microbatches = r.batches;
    stats->blocks_per_proc = r.model.stages.most_blocks;
    stats->blocks_per_chunk = r.model.stages.most_blocks / r.model.stages.chunks;
    stats->mem_tier1_capacity = system->mem1.capacity_bytes;
    stats->mem_tier2_capacity = system->mem2.capacity_bytes;
    stats->verdict = calc_run_verdict(system, exec, fit, most.need_bytes);
    if (stats->verdict == CALC_VERDICT_OK &&
        exec->inference.phase == CALC_INFERENCE_PHASE_DISAGGREGATED) {
        stats->verdict = calc_run_verdict(system, &r.prefill.exec, fit, most.need_bytes);
    }
    return stats->verdict;
}
