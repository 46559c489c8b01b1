#include "replicas.h"

#include <stdlib.h>
#include <string.h>

#include "base/hash.h"

enum { PLACES = 1 << 12 };

/* Statistics that are the same however many replicas there are, and those that follow from the
 * throughput of each. */
static const size_t of_one[] = {
#define CALC_X(name) offsetof(calc_stats, name)
    CALC_X(ttft),
    CALC_X(ttft_p50),
    CALC_X(ttft_p99),
    CALC_X(queue_time),
    CALC_X(tpot),
    CALC_X(request_time),
    CALC_X(prefill_time),
    CALC_X(decode_step_time),
    CALC_X(tokens_per_step),
    CALC_X(tokens_per_s_per_user),
    CALC_X(total_time),
    CALC_X(prefill_share),
    CALC_X(kv_cache_space),
    CALC_X(kv_capacity_tokens),
    CALC_X(weight_space),
    CALC_X(mem_allocated),
    CALC_X(proc_mem_tier1_cap_req),
    CALC_X(proc_mem_tier2_cap_req),
};
static const size_t of_all[] = {
    CALC_X(requests_per_s),      CALC_X(sample_rate),
    CALC_X(output_tokens_per_s), CALC_X(output_tokens_per_s_per_proc),
    CALC_X(tokens_per_s),        CALC_X(tokens_per_s_per_proc),
    CALC_X(energy_per_token),    CALC_X(usd_per_million_output_tokens),
#undef CALC_X
};

static bool is_among(const size_t *list, size_t count, size_t offset)
{
    bool found = false;
    for (size_t i = 0; i < count; i++) {
        found = found || list[i] == offset;
    }
    return found;
}

static void ask(calc_replicas *r, const calc_field *field)
{
    if (is_among(of_all, sizeof of_all / sizeof *of_all, field->offset)) {
        return; /* made anew each time */
    }
    if (is_among(r->offset, r->asked, field->offset)) {
        return;
    }
    if (r->asked == CALC_REPLICA_ASKED || field->type != CALC_TYPE_REAL) {
        r->keeps = false;
        return;
    }
    r->offset[r->asked++] = field->offset;
    r->shared = r->shared && is_among(of_one, sizeof of_one / sizeof *of_one, field->offset);
}

bool calc_replicas_init(calc_replicas *r, const calc_sweep_options *o)
{
    *r = (calc_replicas){.keeps = true, .shared = true, .count = PLACES};
    for (size_t i = 0; i < o->objectives; i++) {
        ask(r, o->objective[i].field);
    }
    if (o->top > 0) {
        ask(r, o->top_by.field);
    }
    for (size_t i = 0; i < o->constraints; i++) {
        if (o->constraint[i].kind == CALC_KIND_STATS) {
            ask(r, o->constraint[i].field);
        }
    }
    r->item = calloc(r->count, sizeof *r->item);
    return r->item != NULL;
}

void calc_replicas_free(calc_replicas *r)
{
    free(r->item);
    r->item = NULL;
}

/* Batches that follow one another have places that do. */
size_t calc_replicas_place(const calc_replica_key *key)
{
    uint64_t hash = calc_hash_word(calc_hash_word(0, key->number), (uint64_t)key->stages);
    hash = calc_hash_word(hash, (uint64_t)key->replicas);
    return (size_t)(hash >> 32);
}

/* No function call here, and the batch, which was just written, is compared separately: both would
 * take longer than the rest. */
static bool same(const calc_replica_key *a, const calc_replica_key *b)
{
    enum { WORDS = offsetof(calc_replica_key, batch) / sizeof(uint64_t) };
    uint64_t x[WORDS];
    uint64_t y[WORDS];
    uint64_t differs = 0;
    memcpy(x, a, sizeof x);
    memcpy(y, b, sizeof y);
    for (size_t i = 0; i < WORDS; i++) {
        differs |= x[i] ^ y[i];
    }
    return differs == 0 && a->batch == b->batch;
}

calc_replica *calc_replicas_at(calc_replicas *r, size_t place, const calc_replica_key *key)
{
    calc_replica *at = &r->item[(place + (size_t)key->batch) & (r->count - 1)];
    if (at->known && !same(&at->key, key)) {
        at->known = false;
    }
    if (!at->known) {
        at->key = *key;
    }
    return at;
}

void calc_replicas_keep(const calc_replicas *r, calc_replica *at, const calc_serving_flow *flow,
                        const calc_stats *stats)
{
    at->known = true;
    at->verdict = stats->verdict;
    if (!flow) {
        return;
    }
    at->flow = *flow;
    for (size_t i = 0; i < r->asked; i++) {
        memcpy(&at->value[i], (const char *)stats + r->offset[i], sizeof at->value[i]);
    }
}

void calc_replicas_put(const calc_replicas *r, const calc_replica *from, double count, double procs,
                       calc_stats *stats)
{
    stats->verdict = from->verdict;
    if (from->verdict != CALC_VERDICT_OK) {
        return;
    }
    calc_serving_flow flow = from->flow;
    flow.replicas = count;
    flow.procs = procs;
    for (size_t i = 0; i < r->asked; i++) {
        memcpy((char *)stats + r->offset[i], &from->value[i], sizeof from->value[i]);
    }
    calc_serving_flow_put(&flow, stats);
}

bool calc_replicas_know(const calc_replicas *r, size_t offset)
{
    return is_among(r->offset, r->asked, offset) ||
           is_among(of_all, sizeof of_all / sizeof *of_all, offset);
}
