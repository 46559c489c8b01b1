#include "model/serve/serving_step.h"

#include <math.h>

#include "model/operators/processor.h"
#include "spec/serving_engine.h"

double calc_serving_steps(const calc_serving *r)
{
    return (r->generate - 1) / r->tokens_per_step;
}

double calc_serving_room(const calc_serving *r)
{
    double chunk = (double)r->i->chunk_size;
    return chunk > 0 ? r->groups * chunk / r->fresh : r->prefill_batch;
}

bool calc_serving_queues(const calc_serving *r)
{
    return r->i->phase == CALC_INFERENCE_PHASE_SERVE ||
           r->i->phase == CALC_INFERENCE_PHASE_DISAGGREGATED;
}

/* ---- Prefill --------------------------------------------------------------------------------- */

double calc_serving_beside_s(const calc_serving *r, const calc_exec *pool, double pass_s,
                             double sequences, bool prompts)
{
    bool issued = prompts || r->engine.eager;
    double issued_s = issued ? r->model.launches * r->engine.issue_s : 0;
    return calc_engine_beside_s(&r->engine, pass_s, sequences, (double)pool->strategy.tensor_par,
                                issued_s / (double)pool->pipeline_par);
}

/* Overhead of the engine for the passes of a prefill [s]. */
static double engine_s(const calc_serving *r)
{
    const calc_exec *pool = r->prefill->exec;
    const calc_prefill *p = &r->prefilled;
    double chunks_s =
        p->chunks * calc_serving_beside_s(r, pool, p->chunk.latency_s, p->work.prompts, true);
    return chunks_s + calc_serving_beside_s(r, pool, p->last.latency_s, p->work.prompts, true);
}

double calc_serving_run_prefill(calc_serving *r, double prompts)
{
    calc_inference_prefill_of(r->prefill, prompts, r->fresh, r->cached, r->chunk, &r->prefilled);
    return r->prefilled.latency_s + engine_s(r);
}

double calc_serving_busy_s(const calc_serving *r)
{
    return r->prefilled.busy_s + engine_s(r);
}

void calc_serving_report_prefill(calc_serving *r, double times)
{
    r->part[r->parts++] = (calc_serving_part){&r->prefilled.chunk, times * r->prefilled.chunks};
    r->part[r->parts++] = (calc_serving_part){&r->prefilled.last, times};
    r->overhead_s += times * engine_s(r);
}

/* ---- Decoding -------------------------------------------------------------------------------- */

double calc_serving_around_s(const calc_serving *r, const calc_inference_pass *pass)
{
    return calc_max(pass->latency_s, r->groups * pass->slow.total_s);
}

calc_inference_pass_work calc_serving_decoding(const calc_serving *r, double sequences)
{
    double spread = r->i->generate_spread;
    return (calc_inference_pass_work){
        .sequences = sequences / r->groups,
        .queries = 1 + (double)r->i->speculative_tokens,
        .drafts = r->model.drafts,
        .context = r->prompt + r->generate / 2 * (1 + spread * spread / 3),
    };
}

/* Drafts by another model, in a step [s]. */
static double drafting_s(const calc_serving *r, const calc_inference_pass_work *work)
{
    double drafts = (double)r->i->speculative_tokens;
    if (drafts <= 0 || r->i->speculative_cost <= 0) {
        return 0;
    }
    calc_inference_pass_work one = *work;
    calc_inference_pass alone;
    one.queries = 1;
    calc_inference_pass_of(&r->model, &one, &alone);
    return drafts * r->i->speculative_cost * calc_serving_around_s(r, &alone);
}

double calc_serving_step_s(const calc_serving *r, const calc_inference_pass *pass, bool prompts)
{
    double pass_s = calc_serving_around_s(r, pass);
    return pass_s + calc_serving_beside_s(r, r->exec, pass_s, r->sequences, prompts) +
           r->drafting_s;
}

double calc_serving_run_decode(calc_serving *r, double sequences)
{
    calc_inference_pass_work work = calc_serving_decoding(r, sequences);
    calc_inference_pass_of(&r->model, &work, &r->plain);
    r->sequences = sequences;
    r->drafting_s = drafting_s(r, &work);
    r->plain_s = calc_serving_step_s(r, &r->plain, false);
    r->work = work;
    return r->plain_s - calc_serving_around_s(r, &r->plain);
}

/* Memory of the pools that serve: weights, activations of the widest pass, and cached keys and
 * values. Where requests queue, an engine admits what fits and lets the rest wait. It takes pages
 * as sequences grow, so that those that run need room for their mean length in use, prompt and
 * half of their output, or for all of it where the engine reserves that before it admits them; one
 * alone needs all of its length. The reported use is the full length of all running sequences, or
 * all the room there is. */

/* Sequences that a pool holds. */
typedef struct held {
    double sequences, context; /* on a replica, each of so many tokens */
    double longest;            /* tokens that one of them may have */
    double in_use;             /* tokens of one in the mean */
    bool queues;               /* others wait */
} held;

/* Bytes that the program leaves free beside a stage and its cache. */
static double spared_bytes(const calc_inference *i, const calc_chip *chip,
                           const calc_stage_memory *stage, double cache)
{
    double share = calc_serving_engine_share(i);
    double spared = (1 - share) * chip->mem1.capacity_bytes;
    switch (i->engine.memory_taken) {
    case CALC_MEMORY_TAKEN_STATIC:
        return calc_max(0, spared - (stage->total - stage->state));
    case CALC_MEMORY_TAKEN_FREE:
        return cache / share - cache;
    default:
        return spared;
    }
}

static calc_serving_memory memory_of(const calc_inference *i, const calc_inference_pass_model *m,
                                     const calc_inference_pass *pass, const held *h)
{
    const calc_chip *chip = &m->system->chip;
    double usable =
        (chip->mem1.capacity_bytes - chip->mem_reserved_bytes) / (1 + chip->mem_fragmentation);
    double spared = 0;
    bool limited = false;
    calc_serving_memory out = {.room = {INFINITY, INFINITY}, .running = INFINITY, .fits = true};
    for (size_t n = 0; n < m->stages.count; n++) {
        double blocks = calc_inference_pass_cached_blocks(m, n);
        calc_stage_memory stage = calc_pass_cost_memory(&pass->cost, &m->stages.item[n]);
        double left =
            usable - stage.total - spared_bytes(i, chip, &stage, 0) / (1 + chip->mem_fragmentation);
        left *= i->engine.memory_taken == CALC_MEMORY_TAKEN_FREE ? calc_serving_engine_share(i) : 1;
        double cache = calc_kv_cache_space(&m->cache, blocks, h->sequences, h->context);
        double least = calc_kv_cache_space(&m->cache, blocks, 1, h->longest);
        calc_kv_room room = calc_kv_cache_capacity(&m->cache, blocks, h->context, left);
        calc_kv_room mean = calc_kv_cache_capacity(&m->cache, blocks, h->in_use, left);
        bool less = h->queues && cache > left;
        cache = less ? calc_max(left, least) : cache;
        out.room.tokens = calc_min(out.room.tokens, room.tokens);
        out.room.sequences = calc_min(out.room.sequences, room.sequences);
        out.running = calc_min(out.running, mean.sequences);
        out.fits = out.fits && least <= left;
        if (n == 0 || stage.total + cache > out.stage.total + out.cache_bytes) {
            spared = spared_bytes(i, chip, &stage, cache);
            out.stage = stage;
            out.cache_bytes = cache;
            out.position = m->stages.item[n].position;
            limited = less;
        }
    }
    double allocated = out.stage.total + out.cache_bytes;
    out.need_bytes = allocated * (1 + chip->mem_fragmentation) + chip->mem_reserved_bytes + spared;
    if (limited && out.fits) {
        /* All of it, less rounding. */
        out.need_bytes = calc_min(out.need_bytes, chip->mem1.capacity_bytes);
    }
    return out;
}

/* The pass of a prefill that has most tokens. */
static const calc_inference_pass *widest(const calc_prefill *p)
{
    return p->chunks > 0 ? &p->chunk : &p->last;
}

void calc_serving_hold(calc_serving *r)
{
    bool prompts = r->i->phase == CALC_INFERENCE_PHASE_PREFILL;
    bool serves = r->i->phase == CALC_INFERENCE_PHASE_SERVE;
    bool chunked = serves && r->i->chunk_size > 0;
    bool queues = calc_serving_queues(r);
    double generate = prompts ? 0 : r->generate;
    const calc_inference_pass *pass = chunked             ? &r->mixed
                                      : prompts || serves ? widest(&r->prefilled)
                                                          : &r->plain;
    held h = {
        .sequences = queues ? r->running : r->batch,
        .context = r->prompt + generate,
        .longest =
            ceil(r->prompt * (1 + r->i->prompt_spread) + generate * (1 + r->i->generate_spread)),
        .in_use =
            r->i->engine.reserves ? r->prompt + generate : calc_serving_decoding(r, 1).context,
        .queues = queues,
    };
    r->held = memory_of(r->i, &r->model, pass, &h);
}

calc_serving_memory calc_serving_prefill_memory(const calc_serving *r)
{
    double longest = ceil(r->prompt * (1 + r->i->prompt_spread));
    held h = {r->prefill_batch, r->prompt, longest, r->prompt, false};
    return memory_of(r->i, r->prefill, widest(&r->prefilled), &h);
}

bool calc_serving_limit(calc_serving *r)
{
    calc_serving_hold(r);
    const calc_serving_memory *m = &r->held;
    if (!m->fits || r->running <= m->room.sequences || r->running <= m->running) {
        return false;
    }
    r->slots = m->running;
    return true;
}
