#include "base/rng.h"

#define PCG_MULTIPLIER 6364136223846793005u

void calc_rng_init(calc_rng *rng, uint64_t seed, uint64_t stream)
{
    rng->state = 0;
    rng->increment = (stream << 1) | 1;
    calc_rng_next(rng);
    rng->state += seed;
    calc_rng_next(rng);
}

uint32_t calc_rng_next(calc_rng *rng)
{
    uint64_t state = rng->state;
    rng->state = state * PCG_MULTIPLIER + rng->increment;
    uint32_t shifted = (uint32_t)(((state >> 18) ^ state) >> 27);
    uint32_t rotation = (uint32_t)(state >> 59);
    return (shifted >> rotation) | (shifted << ((32 - rotation) & 31));
}

uint32_t calc_rng_below(calc_rng *rng, uint32_t bound)
{
    /* Numbers below 2^32 mod bound would make small results likelier: draw again. */
    uint32_t threshold = (0u - bound) % bound;
    for (;;) {
        uint32_t bits = calc_rng_next(rng);
        if (bits >= threshold) {
            return bits % bound;
        }
    }
}

double calc_rng_real(calc_rng *rng)
{
    return calc_rng_next(rng) * 0x1p-32;
}
