#include "model/serve/pass_memo.h"

#include <string.h>

enum { WORDS = sizeof(calc_inference_pass_work) / sizeof(uint64_t) };

/* Multiplicative hashing (Knuth 1998, vol. 3, 6.4), word by word: the upper bits are mixed best. */
static size_t place_of(const calc_pass_memo *memo, uint64_t owner,
                       const calc_inference_pass_work *work)
{
    const uint64_t golden = 0x9e3779b97f4a7c15;
    uint64_t word[WORDS];
    memcpy(word, work, sizeof word);
    uint64_t hash = owner * golden;
    for (size_t i = 0; i < WORDS; i++) {
        hash = (hash ^ (hash >> 32) ^ word[i]) * golden;
    }
    return (size_t)(hash >> 32) & (memo->count - 1);
}

calc_pass_memo_entry *calc_pass_memo_at(calc_pass_memo *memo, uint64_t owner,
                                        const calc_inference_pass_work *work)
{
    calc_pass_memo_entry *e = &memo->entry[place_of(memo, owner, work)];
    if (e->owner != owner || memcmp(&e->work, work, sizeof *work) != 0) {
        e->owner = owner;
        e->work = *work;
        e->known = false;
    }
    return e;
}
