#include "tune/decision.h"

#include "base/rng.h"
#include "frame.h"
#include "gauss/process.h"
#include "unit/tune_case.h"

enum { FEW = 11, SPACES = CALC_TUNE_SPACES };

static void make(calc_tune_candidate *c, calc_rng *rng)
{
    *c = tune_case(1 + calc_rng_real(rng), 12, 0);
    double state = 0.2 + 0.6 * calc_rng_real(rng);
    c->space[CALC_TUNE_SPACE_STATE] = state;
    c->space[CALC_TUNE_SPACE_ACTIVATIONS] = (1 - state) * calc_rng_real(rng);
    c->space[CALC_TUNE_SPACE_OTHER] = 1 - state - c->space[CALC_TUNE_SPACE_ACTIVATIONS];
}

/* Condition number of the normal matrix of the layouts of a set of bits. */
static double condition_of(const calc_tune_candidate *candidate, unsigned bits)
{
    double normal[SPACES * SPACES] = {0}, value[SPACES];
    for (unsigned i = 0; i < FEW; i++) {
        for (unsigned k = 0; bits >> i & 1 && k < SPACES * SPACES; k++) {
            normal[k] += candidate[i].space[k / SPACES] * candidate[i].space[k % SPACES];
        }
    }
    ck_assert(calc_gauss_eigenvalues(normal, SPACES, value));
    return value[SPACES - 1] / value[0];
}

static unsigned count_bits(unsigned bits)
{
    unsigned count = 0;
    for (; bits; bits &= bits - 1) {
        count++;
    }
    return count;
}

/* Exchanges end at the best set of five, or within a tenth of its condition number. */
CALC_TEST_LOOP(probes_are_the_best_conditioned, 0, 40)
{
    calc_tune_candidate candidate[FEW];
    size_t probe[CALC_TUNE_PROBES];
    double condition, best = (double)INFINITY;
    unsigned chosen = 0;
    calc_rng rng;
    calc_rng_init(&rng, 11, (uint64_t)_i);
    for (int i = 0; i < FEW; i++) {
        make(&candidate[i], &rng);
    }
    for (unsigned bits = 0; bits < 1U << FEW; bits++) {
        best =
            count_bits(bits) == CALC_TUNE_PROBES ? fmin(best, condition_of(candidate, bits)) : best;
    }
    ck_assert_uint_eq(calc_tune_probes(candidate, FEW, probe, &condition), CALC_TUNE_PROBES);
    for (int i = 0; i < CALC_TUNE_PROBES; i++) {
        chosen |= 1U << probe[i];
    }
    ck_assert_uint_eq(count_bits(chosen), CALC_TUNE_PROBES);
    ck_assert_double_eq_tol(condition_of(candidate, chosen) / condition, 1, 1e-6);
    ck_assert_double_ge(condition, best * (1 - 1e-9));
    ck_assert_double_le(condition, best * 1.1);
}

CALC_TEST(what_may_not_fit_is_no_probe)
{
    calc_tune_candidate candidate[FEW];
    size_t probe[CALC_TUNE_PROBES];
    double condition;
    calc_rng rng;
    calc_rng_init(&rng, 1, 1);
    for (int i = 0; i < FEW; i++) {
        make(&candidate[i], &rng);
        candidate[i].memory_bytes = (i < 3 ? 0.79 : 0.81) * candidate[i].capacity_bytes;
    }
    ck_assert_uint_eq(calc_tune_probes(candidate, FEW, probe, &condition), 3);
    for (size_t i = 0; i < 3; i++) {
        ck_assert_uint_eq(probe[i], i);
    }
    ck_assert_uint_eq(calc_tune_probes(candidate, 0, probe, &condition), 0);
    ck_assert(isinf(condition));
}

/* Layouts that are all alike cannot tell one part from another. */
CALC_TEST(layouts_alike_determine_nothing)
{
    calc_tune_candidate candidate[FEW];
    size_t probe[CALC_TUNE_PROBES];
    double condition;
    for (int i = 0; i < FEW; i++) {
        candidate[i] = tune_case(1, 12, 0);
    }
    ck_assert_uint_eq(calc_tune_probes(candidate, FEW, probe, &condition), CALC_TUNE_PROBES);
    ck_assert(isinf(condition));
}
