/** @file rng.h  PCG32 (XSH-RR, 64-bit state): small, fast, with independent streams.
 *  Source: M. E. O'Neill, "PCG: A Family of Simple Fast Space-Efficient Statistically Good
 *  Algorithms for Random Number Generation", HMC-CS-2014-0905. Same numbers as pcg32 of the
 *  reference implementation for the same seed and stream. */
#ifndef CALC_BASE_RNG_H
#define CALC_BASE_RNG_H

#include <stdint.h>

/** One generator: copy it to fork its sequence. */
typedef struct calc_rng {
    uint64_t state;
    uint64_t increment; /**< odd; selects one of 2^63 streams */
} calc_rng;

/** Start a sequence. Generators with different streams are independent: one per thread, shard
 *  or test. */
void calc_rng_init(calc_rng *rng, uint64_t seed, uint64_t stream);

/** Next 32 random bits. */
uint32_t calc_rng_next(calc_rng *rng);

/** Uniform integer in [0, bound), without bias; bound >= 1. */
uint32_t calc_rng_below(calc_rng *rng, uint32_t bound);

/** Uniform real in [0, 1), with 32 random bits. */
double calc_rng_real(calc_rng *rng);

#endif
