#include "screen.h"

/* Less than any rate. */
static const float none = 1e-37F;

void calc_screen_clear(calc_screen *s, double tier1_bytes, double tier2_bytes)
{
    s->tier1_per_byte = tier1_bytes > 0 ? CALC_SCREEN_TIER1 / tier1_bytes : 0;
    s->tier2_per_byte = tier2_bytes > 0 ? CALC_SCREEN_TIER2 / tier2_bytes : 0;
    for (size_t i = 0; i < CALC_SCREEN_SIZE; i++) {
        s->rate[i] = none;
    }
}

/* The first step of which all needs are at least as large. */
static size_t first_step(double bytes, double per_byte, size_t steps)
{
    if (bytes <= 0) {
        return 0;
    }
    double at = bytes * per_byte;
    return at < (double)steps ? (size_t)at + 1 : steps;
}

void calc_screen_add(calc_screen *s, double rate, double tier1_bytes, double tier2_bytes)
{
    size_t first1 = first_step(tier1_bytes, s->tier1_per_byte, CALC_SCREEN_TIER1);
    size_t first2 = first_step(tier2_bytes, s->tier2_per_byte, CALC_SCREEN_TIER2);
    float less = (float)(rate * (1 - 1e-6)); /* rounding keeps to the safe side */
    for (size_t i = first1; i < CALC_SCREEN_TIER1; i++) {
        for (size_t j = first2; j < CALC_SCREEN_TIER2; j++) {
            float *known = &s->rate[i * CALC_SCREEN_TIER2 + j];
            *known = less > *known ? less : *known;
        }
    }
}
