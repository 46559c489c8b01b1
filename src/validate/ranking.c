#include "validate/ranking.h"

#include <math.h>
#include <string.h>

static bool compete(const calc_result *a, const calc_result *b)
{
    const calc_run_map *left = &a->prediction->map;
    const calc_run_map *right = &b->prediction->map;
    return left->machine == right->machine && left->app.hidden == right->app.hidden &&
           left->app.num_blocks == right->app.num_blocks &&
           left->app.seq_size == right->app.seq_size &&
           left->exec.num_procs == right->exec.num_procs &&
           left->exec.batch_size == right->exec.batch_size;
}

static bool is_ranked(const calc_result *r)
{
    return r->quantity == CALC_QUANTITY_STEP_TIME;
}

/* Half a percent is less than repeats of one run differ by. */
static bool differ(const calc_result *a, const calc_result *b)
{
    return fabs(log(a->measured / b->measured)) >= 0.005;
}

/* Pairs of result[i] with later ones. */
static void rank_pairs(const calc_result *const *result, size_t count, size_t i, double *score,
                       size_t *pairs)
{
    const calc_result *a = result[i];
    for (size_t j = i + 1; j < count; j++) {
        const calc_result *b = result[j];
        if (is_ranked(b) && compete(a, b) && differ(a, b)) {
            bool right = (a->measured > b->measured) == (a->predicted > b->predicted);
            *score += right && a->predicted != b->predicted ? 1 : -1;
            ++*pairs;
        }
    }
}

/* Regret among result[i] and its competitors; NaN if an earlier result stands for them, or there
 * are none. */
static double regret_of(const calc_result *const *result, size_t count, size_t i)
{
    const calc_result *chosen = result[i];
    double shortest_s = chosen->measured;
    size_t competitors = 0;
    for (size_t j = 0; j < count; j++) {
        const calc_result *b = result[j];
        if (j == i || !is_ranked(b) || !compete(result[i], b)) {
            continue;
        }
        if (j < i) {
            return (double)NAN;
        }
        competitors++;
        chosen = b->predicted < chosen->predicted ? b : chosen;
        shortest_s = fmin(shortest_s, b->measured);
    }
    return competitors > 0 ? chosen->measured / shortest_s - 1 : (double)NAN;
}

calc_ranking calc_ranking_of(const calc_result *const *result, size_t count)
{
    calc_ranking ranking = {.regret_worst = (double)NAN};
    double score = 0;
    double regrets = 0;
    for (size_t i = 0; i < count; i++) {
        if (!is_ranked(result[i])) {
            continue;
        }
        rank_pairs(result, count, i, &score, &ranking.pairs);
        double regret = regret_of(result, count, i);
        if (!isnan(regret)) {
            ranking.choices++;
            regrets += regret;
            ranking.regret_worst = fmax(ranking.regret_worst, regret);
        }
    }
    ranking.tau = ranking.pairs > 0 ? score / (double)ranking.pairs : (double)NAN;
    ranking.regret_mean = ranking.choices > 0 ? regrets / (double)ranking.choices : (double)NAN;
    return ranking;
}
