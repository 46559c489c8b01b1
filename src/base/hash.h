/** @file hash.h  FNV-1a with 64 bits (Fowler, Noll, Vo): tells whether bytes are the same; no
 *  protection against an adversary. */
#ifndef CALC_BASE_HASH_H
#define CALC_BASE_HASH_H

#include <stddef.h>
#include <stdint.h>

/** The hash of nothing. */
#define CALC_HASH_START UINT64_C(0xcbf29ce484222325)

/** Continue a hash with these bytes. */
static inline uint64_t calc_hash(uint64_t hash, const void *bytes, size_t size)
{
    const unsigned char *at = bytes;
    for (size_t i = 0; i < size; i++) {
        hash = (hash ^ at[i]) * UINT64_C(0x100000001b3);
    }
    return hash;
}

#endif
