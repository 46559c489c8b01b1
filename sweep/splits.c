#include "splits.h"

static calc_split_key key_of(const calc_cell *k)
{
    const calc_exec *e = &k->exec;
    return (calc_split_key){
        .stages = e->pipeline_par,
        .microbatches = e->batch_size / e->strategy.data_par / e->microbatch_size,
        .first_blocks = e->first_stage_blocks,
        .last_blocks = e->last_stage_blocks,
        .balance = (int64_t)e->pipeline_balance,
        .schedule = (int64_t)e->pipeline_schedule,
        .phase = (int64_t)e->inference.phase,
        .training = e->training,
        .rounds = k->rounds,
    };
}

static bool same(const calc_split_key *a, const calc_split_key *b)
{
    return a->stages == b->stages && a->microbatches == b->microbatches &&
           a->first_blocks == b->first_blocks && a->last_blocks == b->last_blocks &&
           a->balance == b->balance && a->schedule == b->schedule && a->phase == b->phase &&
           a->training == b->training && a->rounds == b->rounds;
}

/* Cells of a unit differ in these. */
static size_t place_of(const calc_split_key *k)
{
    uint64_t mixed = (uint64_t)k->stages * 4 + (uint64_t)k->balance * 2 + k->rounds;
    mixed = (mixed ^ (uint64_t)k->microbatches << 7) * UINT64_C(0x9e3779b97f4a7c15);
    return (size_t)(mixed >> 32) % CALC_SPLITS;
}

void calc_splits_forget(calc_splits *s)
{
    for (size_t i = 0; i < CALC_SPLITS; i++) {
        s->item[i].known = false;
    }
}

bool calc_splits_find(const calc_splits *s, calc_cell *k)
{
    const calc_split_key key = key_of(k);
    const calc_split *x = &s->item[place_of(&key)];
    if (!x->known || !same(&x->key, &key)) {
        return false;
    }
    k->fitting = x->fitting;
    k->unfit = x->unfit;
    for (size_t i = 0; i < x->fitting; i++) {
        k->chunking[i] = x->chunking[i];
        k->shape[i] = x->shape[i];
    }
    for (size_t i = 0; i < x->unfit; i++) {
        k->unfit_chunking[i] = x->unfit_chunking[i];
    }
    k->plain = x->plain;
    k->plain_of = x->plain_of;
    k->fewest_blocks = x->fewest_blocks;
    k->offloads = x->offloads;
    k->floor = x->floor;
    return true;
}

void calc_splits_keep(calc_splits *s, const calc_cell *k)
{
    const calc_split_key key = key_of(k);
    calc_split *x = &s->item[place_of(&key)];
    if (k->fitting > CALC_SPLIT_CHUNKINGS || k->unfit > CALC_SPLIT_CHUNKINGS) {
        return;
    }
    x->known = true;
    x->key = key;
    x->fitting = k->fitting;
    x->unfit = k->unfit;
    for (size_t i = 0; i < k->fitting; i++) {
        x->chunking[i] = k->chunking[i];
        x->shape[i] = k->shape[i];
    }
    for (size_t i = 0; i < k->unfit; i++) {
        x->unfit_chunking[i] = k->unfit_chunking[i];
    }
    x->plain = k->plain;
    x->plain_of = k->plain_of;
    x->fewest_blocks = k->fewest_blocks;
    x->offloads = k->offloads;
    x->floor = k->floor;
}
