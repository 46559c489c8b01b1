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
           left->exec.batch_size == right->exec.batch_size &&
           left->exec.strategy.datatype == right->exec.strategy.datatype &&
           left->exec.strategy.matrix_datatype == right->exec.strategy.matrix_datatype;
}

/* Whether two competitors are the same layout, measured twice: on another release of the software,
 * or with switches that the model does not know. */
static bool repeat(const calc_result *a, const calc_result *b)
{
    const calc_exec *left = &a->prediction->map.exec;
    const calc_exec *right = &b->prediction->map.exec;
    return a->predicted == b->predicted &&
           left->strategy.tensor_par == right->strategy.tensor_par &&
           left->pipeline_par == right->pipeline_par &&
           left->strategy.data_par == right->strategy.data_par &&
           left->strategy.context_par == right->strategy.context_par &&
           left->strategy.expert_par == right->strategy.expert_par &&
           left->microbatch_size == right->microbatch_size &&
           left->pipeline_interleaving == right->pipeline_interleaving;
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
        if (is_ranked(b) && compete(a, b) && differ(a, b) && !repeat(a, b)) {
            bool right = (a->measured > b->measured) == (a->predicted > b->predicted);
            *score += right && a->predicted != b->predicted ? 1 : -1;
            ++*pairs;
        }
    }
}

/* The shortest measured time of a layout among its repeats. */
static double shortest_repeat_s(const calc_result *const *result, size_t count,
                                const calc_result *chosen)
{
    double shortest_s = chosen->measured;
    for (size_t i = 0; i < count; i++) {
        if (is_ranked(result[i]) && compete(chosen, result[i]) && repeat(chosen, result[i])) {
            shortest_s = fmin(shortest_s, result[i]->measured);
        }
    }
    return shortest_s;
}

/* Regret among result[i] and its competitors; NaN if an earlier result stands for them, or all are
 * the same layout. */
static double regret_of(const calc_result *const *result, size_t count, size_t i)
{
    const calc_result *chosen = result[i];
    double shortest_s = chosen->measured;
    size_t others = 0;
    for (size_t j = 0; j < count; j++) {
        const calc_result *b = result[j];
        if (j == i || !is_ranked(b) || !compete(result[i], b)) {
            continue;
        }
        if (j < i) {
            return (double)NAN;
        }
        others += !repeat(result[i], b);
        chosen = b->predicted < chosen->predicted ? b : chosen;
        shortest_s = fmin(shortest_s, b->measured);
    }
    return others > 0 ? shortest_repeat_s(result, count, chosen) / shortest_s - 1 : (double)NAN;
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
