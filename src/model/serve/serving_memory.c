#include "model/serve/serving_memory.h"

#include <math.h>

#include "model/operators/processor.h"
#include "model/serve/serving_step.h"
#include "spec/serving_engine.h"

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
