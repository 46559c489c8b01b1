#include "splits.h"

#include <stdlib.h>
#include <string.h>

#include "base/hash.h"

static calc_split_key key_of(const calc_cell *k)
{
    const calc_exec *e = &k->exec;
    int64_t microbatches = e->batch_size / e->strategy.data_par / e->microbatch_size;
    return (calc_split_key){
        .stages = e->pipeline_par,
        .whole = microbatches % e->pipeline_par == 0,
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
    return a->stages == b->stages && a->whole == b->whole && a->first_blocks == b->first_blocks &&
           a->last_blocks == b->last_blocks && a->balance == b->balance &&
           a->schedule == b->schedule && a->phase == b->phase && a->training == b->training &&
           a->rounds == b->rounds;
}

/* The place of a key, or the free one where it belongs: there are more places than items. */
static size_t place_of(const calc_splits *s, const calc_split_key *k)
{
    /* Cells differ in these. */
    uint64_t flags = (uint64_t)k->balance * 4 + (uint64_t)k->rounds * 2 + k->whole;
    uint64_t ends = (uint64_t)k->first_blocks << 20 ^ (uint64_t)k->last_blocks << 40;
    uint64_t mixed = ((uint64_t)k->stages * 16 + flags) ^ ends;
    size_t place = (size_t)(calc_hash_word(0, mixed) >> 32) % CALC_SPLIT_PLACES;
    while (s->place[place] > 0 && !same(&s->item[s->place[place] - 1].key, k)) {
        place = (place + 1) % CALC_SPLIT_PLACES;
    }
    return place;
}

void calc_splits_forget(calc_splits *s)
{
    if (s->count > 0) {
        memset(s->place, 0, sizeof s->place);
    }
    s->count = s->chunkings = 0;
}

void calc_splits_free(calc_splits *s)
{
    free(s->item);
    free(s->chunking);
    *s = (calc_splits){0};
}

bool calc_splits_find(const calc_splits *s, calc_cell *k)
{
    const calc_split_key key = key_of(k);
    const size_t place = s->place[place_of(s, &key)];
    if (place == 0) {
        return false;
    }
    const calc_split *x = &s->item[place - 1];
    const calc_split_chunking *c = &s->chunking[x->first];
    k->fitting = x->fitting;
    k->unfit = x->unfit;
    k->plain_of = -1;
    k->fewest_blocks = x->fewest_blocks;
    k->offloads = x->offloads;
    for (size_t i = 0; i < x->fitting; i++) {
        k->chunking[i] = c[i].chunking;
        k->shape[i] = c[i].shape;
    }
    for (size_t i = 0; i < x->unfit; i++) {
        k->unfit_chunking[i] = c[x->fitting + i].chunking;
    }
    return true;
}

static bool has_room(calc_splits *s, size_t chunkings)
{
    if (s->count == CALC_SPLITS || s->chunkings + chunkings > CALC_SPLIT_ROOM) {
        calc_splits_forget(s);
    }
    if (!s->item) {
        s->item = malloc(CALC_SPLITS * sizeof *s->item);
        s->chunking = malloc(CALC_SPLIT_ROOM * sizeof *s->chunking);
    }
    return s->item && s->chunking;
}

void calc_splits_keep(calc_splits *s, const calc_cell *k)
{
    if (k->fitting > CALC_SPLIT_CHUNKINGS || k->unfit > CALC_SPLIT_CHUNKINGS ||
        !has_room(s, k->fitting + k->unfit)) {
        return;
    }
    calc_split *x = &s->item[s->count];
    calc_split_chunking *c = &s->chunking[s->chunkings];
    *x = (calc_split){.key = key_of(k),
                      .first = s->chunkings,
                      .fitting = k->fitting,
                      .unfit = k->unfit,
                      .fewest_blocks = k->fewest_blocks,
                      .offloads = k->offloads};
    for (size_t i = 0; i < k->fitting; i++) {
        c[i].chunking = k->chunking[i];
        c[i].shape = k->shape[i];
    }
    for (size_t i = 0; i < k->unfit; i++) {
        c[k->fitting + i].chunking = k->unfit_chunking[i];
    }
    s->place[place_of(s, &x->key)] = (unsigned short)++s->count;
    s->chunkings += k->fitting + k->unfit;
}
