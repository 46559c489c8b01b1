#include "model/serve/pass_memo.h"

#include <string.h>

enum { WORDS = CALC_PASS_MEMO_WORDS };

/* Multiplicative hashing (Knuth 1998, vol. 3, 6.4), word by word: the upper bits are mixed best. */
static size_t place_of(const calc_pass_memo *memo, uint64_t number, const uint64_t word[WORDS])
{
    uint64_t hash = 0;
    for (size_t i = 0; i < WORDS; i++) {
        hash = (hash ^ (hash >> 32) ^ word[i]) * 0x9e3779b97f4a7c15;
    }
    return (size_t)((hash >> 32) + number) & (memo->count - 1);
}

calc_pass_memo_entry *calc_pass_memo_at(calc_pass_memo *memo, uint64_t number, uint64_t variant,
                                        const calc_inference_pass_work *work)
{
    uint64_t word[WORDS];
    memcpy(word, work, sizeof word);
    calc_pass_memo_entry *e = &memo->entry[place_of(memo, number, word)];
    if (e->number != number || e->variant != variant || memcmp(e->word, word, sizeof word) != 0) {
        e->number = number;
        e->variant = variant;
        memcpy(e->word, word, sizeof word);
        e->known = false;
    }
    return e;
}
