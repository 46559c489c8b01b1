/** @file hash.h  Hashes of bytes, to tell whether they are the same, and of words, for their place
 * in a table; no protection against an adversary. */
#ifndef CALC_BASE_HASH_H
#define CALC_BASE_HASH_H

#include <stddef.h>
#include <stdint.h>

/** The hash of nothing. */
#define CALC_HASH_START UINT64_C(0xcbf29ce484222325)

/** Continue a hash with these bytes: FNV-1a with 64 bits (Fowler, Noll, Vo). */
static inline uint64_t calc_hash(uint64_t hash, const void *bytes, size_t size)
{
    const unsigned char *at = bytes;
    for (size_t i = 0; i < size; i++) {
        hash = (hash ^ at[i]) * UINT64_C(0x100000001b3);
    }
    return hash;
}

/** Continue the hash of a key of few words, which starts with 0: by multiplication (Knuth 1998,
 * vol. 3, 6.4). Fast; the upper 32 bits are mixed well enough for a place. */
static inline uint64_t calc_hash_word(uint64_t hash, uint64_t word)
{
    return (hash ^ (hash >> 32) ^ word) * UINT64_C(0x9e3779b97f4a7c15);
}

#endif
