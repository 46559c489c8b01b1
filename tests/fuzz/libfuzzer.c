/* The mutations for libFuzzer, beside its own. Its arguments may have those of the seeds. */

#include "mutate.h"

size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t max);
int LLVMFuzzerInitialize(int *argc, char ***argv);
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max, unsigned seed);
size_t LLVMFuzzerCustomCrossOver(const uint8_t *first, size_t first_size, const uint8_t *second,
                                 size_t second_size, uint8_t *out, size_t max, unsigned seed);

static fuzz_seeds seeds;

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
    int kept = 0;
    for (int i = 0; i < *argc; i++) {
        if (!fuzz_seeds_argument(&seeds, (*argv)[i])) {
            (*argv)[kept++] = (*argv)[i];
        }
    }
    *argc = kept;
    (*argv)[kept] = NULL;
    return 0;
}

static size_t settle(uint8_t *data, size_t max, const char *made, size_t length)
{
    length = length < max ? length : max;
    memcpy(data, made, length);
    return length;
}

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max, unsigned seed)
{
    static char made[FUZZ_INPUT_MAX];
    calc_rng rng;
    calc_rng_init(&rng, seed, 0);
    uint32_t way = calc_rng_below(&rng, 16);
    if (way == 0) {
        return LLVMFuzzerMutate(data, size, max);
    }
    size_t length = way == 1
                        ? fuzz_mutate_seed(&seeds, &rng, made, sizeof made)
                        : fuzz_mutate(&seeds, &rng, (const char *)data, size, made, sizeof made);
    return settle(data, max, made, length);
}

size_t LLVMFuzzerCustomCrossOver(const uint8_t *first, size_t first_size, const uint8_t *second,
                                 size_t second_size, uint8_t *out, size_t max, unsigned seed)
{
    static char made[FUZZ_INPUT_MAX];
    fuzz_seed lender = {{(char *)(uintptr_t)second, second_size}, true};
    const fuzz_seeds one = {.count = 1, .seed = &lender, .wholes = 1, .prefix = seeds.prefix};
    calc_rng rng;
    calc_rng_init(&rng, seed, 1);
    size_t length = fuzz_mutate(&one, &rng, (const char *)first, first_size, made, sizeof made);
    return settle(out, max, made, length);
}
