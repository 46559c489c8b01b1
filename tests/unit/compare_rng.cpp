// Compares calc_rng with pcg32 of the reference implementation (package libpcg-cpp-dev).
#include <cinttypes>
#include <cstdio>
#include <pcg_random.hpp>

/* The source itself, so that this program is C++ throughout and needs no flags of the C build. */
#include "base/rng.c"

static int failures = 0;

static void expect_equal(const char *what, uint64_t seed, uint64_t stream, uint32_t ours,
                         uint32_t theirs)
{
    if (ours != theirs) {
        std::printf("%s, seed %" PRIu64 ", stream %" PRIu64 ": %08" PRIx32 ", not %08" PRIx32 "\n",
                    what, seed, stream, ours, theirs);
        failures++;
    }
}

int main()
{
    pcg64 pick(2026);
    for (int i = 0; i < 2000; i++) {
        // pcg32 takes 63 bits of the stream.
        uint64_t seed = i < 20 ? i % 5 : pick();
        uint64_t stream = (i < 20 ? i / 5 : pick()) >> 1;
        calc_rng ours;
        calc_rng_init(&ours, seed, stream);
        pcg32 theirs(seed, stream);
        for (int j = 0; j < 50; j++) {
            expect_equal("next", seed, stream, calc_rng_next(&ours), theirs());
        }
        for (uint32_t bound : {1u, 6u, 1000u, 3u << 30, 0xffffffffu}) {
            expect_equal("below", seed, stream, calc_rng_below(&ours, bound), theirs(bound));
        }
    }
    std::printf("2000 sequences compared, %d differences\n", failures);
    return failures == 0 ? 0 : 1;
}
