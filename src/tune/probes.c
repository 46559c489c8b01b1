#include "tune/probes.h"

#include <math.h>

#include "gauss/normal.h"

enum { POOL = 512 /* layouts considered, evenly spread over the candidates */ };

/* Probes must fit, whatever the model's error. */
static const double most_of_capacity = 0.8;

/* Condition number of the normal matrix of rows of shares. */
static double condition_of(const calc_tune_candidate *candidate, const size_t *probe, size_t probes)
{
    double normal[CALC_TUNE_SPACES * CALC_TUNE_SPACES] = {0};
    double value[CALC_TUNE_SPACES];
    for (size_t p = 0; p < probes; p++) {
        const double *row = candidate[probe[p]].space;
        for (size_t i = 0; i < CALC_TUNE_SPACES * CALC_TUNE_SPACES; i++) {
            normal[i] += row[i / CALC_TUNE_SPACES] * row[i % CALC_TUNE_SPACES];
        }
    }
    bool fine = calc_gauss_eigenvalues(normal, CALC_TUNE_SPACES, value);
    double least = value[0], largest = value[CALC_TUNE_SPACES - 1];
    return fine && least > 1e-14 * largest ? largest / least : (double)INFINITY;
}

static size_t gather(const calc_tune_candidate *candidate, size_t count, size_t pool[POOL])
{
    size_t all = 0, seen = 0, kept = 0;
    for (size_t i = 0; i < count; i++) {
        all += candidate[i].memory_bytes <= most_of_capacity * candidate[i].capacity_bytes;
    }
    for (size_t i = 0; i < count && kept < POOL; i++) {
        if (candidate[i].memory_bytes <= most_of_capacity * candidate[i].capacity_bytes) {
            if (all <= POOL || seen * POOL >= kept * all) {
                pool[kept++] = i;
            }
            seen++;
        }
    }
    return kept;
}

static bool is_probe(const size_t *probe, size_t candidate)
{
    for (size_t i = 0; i < CALC_TUNE_PROBES; i++) {
        if (probe[i] == candidate) {
            return true;
        }
    }
    return false;
}

/* The exchange of one probe for another layout that helps most. @return whether one does */
static bool exchange(const calc_tune_candidate *candidate, const size_t *pool, size_t count,
                     size_t *probe, double *condition)
{
    size_t best_place = 0, best = SIZE_MAX;
    for (size_t place = 0; place < CALC_TUNE_PROBES; place++) {
        size_t before = probe[place];
        for (size_t i = 0; i < count; i++) {
            if (is_probe(probe, pool[i])) {
                continue;
            }
            probe[place] = pool[i];
            double here = condition_of(candidate, probe, CALC_TUNE_PROBES);
            if (here < *condition * (1 - 1e-9)) {
                *condition = here;
                best_place = place;
                best = pool[i];
            }
            probe[place] = before;
        }
    }
    if (best != SIZE_MAX) {
        probe[best_place] = best;
    }
    return best != SIZE_MAX;
}

/* The layouts with the largest share of each part, then any: a start for the exchanges. */
static void start(const calc_tune_candidate *candidate, const size_t *pool, size_t count,
                  size_t *probe)
{
    for (size_t p = 0; p < CALC_TUNE_PROBES; p++) {
        probe[p] = SIZE_MAX;
    }
    for (size_t p = 0; p < CALC_TUNE_PROBES; p++) {
        size_t chosen = SIZE_MAX;
        for (size_t i = 0; i < count; i++) {
            size_t part = p % CALC_TUNE_SPACES;
            bool more = chosen == SIZE_MAX ||
                        candidate[pool[i]].space[part] > candidate[chosen].space[part];
            chosen = more && !is_probe(probe, pool[i]) ? pool[i] : chosen;
        }
        probe[p] = chosen;
    }
}

size_t calc_tune_probes(const calc_tune_candidate *candidate, size_t count,
                        size_t probe[CALC_TUNE_PROBES], double *condition)
{
    size_t pool[POOL];
    size_t kept = gather(candidate, count, pool);
    *condition = (double)INFINITY;
    if (kept <= CALC_TUNE_PROBES) {
        for (size_t i = 0; i < kept; i++) {
            probe[i] = pool[i];
        }
        *condition = kept > 0 ? condition_of(candidate, probe, kept) : *condition;
        return kept;
    }
    start(candidate, pool, kept, probe);
    *condition = condition_of(candidate, probe, CALC_TUNE_PROBES);
    while (exchange(candidate, pool, kept, probe, condition)) {
    }
    return CALC_TUNE_PROBES;
}
