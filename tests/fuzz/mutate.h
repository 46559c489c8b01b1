/* Changes an input as somebody might who knows the formats, so that most changes get past the first
 * check of a reader. What comes out depends on the generator, the input and the seeds alone. */
#ifndef CALC_TESTS_FUZZ_MUTATE_H
#define CALC_TESTS_FUZZ_MUTATE_H

#include "base/rng.h"
#include "io/text.h"

enum {
    FUZZ_INPUT_MAX = 1 << 16, /* bytes of a mutated input */
    FUZZ_SEED_MAX = 1 << 14   /* of a seed; tables longer than that give some of their rows */
};

/* A file that is mutated, or lends others its parts. */
typedef struct fuzz_seed {
    calc_text text; /* with the first bytes that its target wants */
    bool whole;     /* mutated; else it lends parts only */
} fuzz_seed;

typedef struct fuzz_seeds {
    size_t count, capacity;
    fuzz_seed *seed;
    size_t wholes;
    size_t prefix; /* first bytes of an input that are not its text */
} fuzz_seeds;

/* An argument of the command line: "--seeds=PREFIX@PATH" adds the file, or those of the folder,
 * each behind the bytes PREFIX; "--parts=PATH" those that lend parts. A script gives the documents
 * in it, too. @return whether it is one of these */
bool fuzz_seeds_argument(fuzz_seeds *seeds, const char *argument);

/* The file, or those of the folder, as they are: they have their prefix. */
void fuzz_seeds_add_corpus(fuzz_seeds *seeds, const char *path);

void fuzz_seeds_free(fuzz_seeds *seeds);

/* @param out  of `capacity` bytes. @return its length */
size_t fuzz_mutate(const fuzz_seeds *seeds, calc_rng *rng, const char *data, size_t size, char *out,
                   size_t capacity);

/* A seed, mutated. */
size_t fuzz_mutate_seed(const fuzz_seeds *seeds, calc_rng *rng, char *out, size_t capacity);

#endif
