#include "model/serve/pass_memo.h"

#include <string.h>

#include "base/hash.h"
#include "model/serve/inference_pass.h"

enum { WORDS = CALC_PASS_MEMO_WORDS };

static size_t place_of(size_t count, const calc_pass_memo_key *key)
{
    uint64_t hash = 0;
    for (size_t i = 0; i < WORDS; i++) {
        hash = calc_hash_word(hash, key->word[i]);
    }
    return (size_t)((hash >> 32) + key->number) & (count - 1);
}

static calc_pass_memo_key key_of(uint64_t number, uint64_t variant,
                                 const calc_inference_pass_work *work)
{
    calc_pass_memo_key key = {.number = number, .variant = variant};
    memcpy(key.word, work, sizeof key.word);
    return key;
}

/* @return whether the entry has this key; it has from now on */
static bool take(calc_pass_memo_key *at, const calc_pass_memo_key *key)
{
    bool same = memcmp(at, key, sizeof *key) == 0;
    *at = *key;
    return same;
}

calc_pass_memo_entry *calc_pass_memo_at(calc_pass_memo *memo, uint64_t number, uint64_t variant,
                                        const calc_inference_pass_work *work)
{
    const calc_pass_memo_key key = key_of(number, variant, work);
    calc_pass_memo_entry *e = &memo->entry[place_of(memo->count, &key)];
    e->known = take(&e->key, &key) && e->known;
    return e;
}

calc_pass_common_entry *calc_pass_memo_common_at(calc_pass_memo *memo, uint64_t number,
                                                 uint64_t variant,
                                                 const calc_inference_pass_work *work)
{
    if (memo->commons == 0) {
        return NULL;
    }
    const calc_pass_memo_key key = key_of(number, variant, work);
    calc_pass_common_entry *e = &memo->common[place_of(memo->commons, &key)];
    e->known = take(&e->key, &key) && e->known;
    return e;
}

/* Beside the strategy costs depend on whether one stage has a table that both ends use, and, if
 * ranks are not laid out over nodes, on the network that experts may have from the replicas. */
static uint64_t variant_of(const calc_inference_pass_model *m)
{
    const calc_exec *e = m->exec;
    bool named = e->rank_order == CALC_RANK_ORDER_NETWORKS && e->strategy.expert_par > 1;
    bool shared = m->shape.tied && e->pipeline_par <= 1;
    return (named ? 2 * (uint64_t)e->strategy.data_par_net : 0) + shared;
}

/* Where a strategy that spreads experts another way ran the same batch, only they are computed. */
static void compute_cost(const calc_inference_pass_model *m, const calc_inference_pass_work *w,
                         calc_pass_cost *out)
{
    /* The blocks that draft have experts, too. */
    bool shares = m->shape.experts > 0 && m->common > 0 && m->drafts <= 0;
    calc_pass_common_entry *entry =
        shares ? calc_pass_memo_common_at(m->memo, m->common, variant_of(m), w) : NULL;
    if (!entry) {
        calc_pass_cost_of(m, w, out);
    } else if (!entry->known || !calc_pass_cost_like(m, w, &entry->common, out)) {
        calc_pass_common_of(m, w, &entry->common);
        entry->known = true;
        *out = entry->common.cost;
    }
}

void calc_pass_memo_cost(const calc_inference_pass_model *m, const calc_inference_pass_work *w,
                         calc_pass_cost *out)
{
    /* Sharded weights are gathered over networks and ranks that differ. */
    if (!m->memo || calc_zero_stage(&m->exec->strategy) >= 3) {
        calc_pass_cost_of(m, w, out);
        return;
    }
    calc_pass_memo_entry *entry = calc_pass_memo_at(m->memo, m->number, variant_of(m), w);
    if (!entry->known) {
        compute_cost(m, w, &entry->cost);
        entry->known = true;
    }
    *out = entry->cost;
}
