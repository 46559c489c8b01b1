#include "validate/ranking.h"

#include <math.h>
#include <string.h>

static bool compete_training(const calc_result *a, const calc_result *b)
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

static bool compete_serving(const calc_result *a, const calc_result *b)
{
    const calc_serving_map *left = &a->serving->map;
    const calc_serving_map *right = &b->serving->map;
    const calc_inference *l = &left->exec.inference;
    const calc_inference *r = &right->exec.inference;
    bool once = left->kind == CALC_SERVING_KIND_ALL_AT_ONCE;
    return once == (right->kind == CALC_SERVING_KIND_ALL_AT_ONCE) &&
           l->arrival_rate == r->arrival_rate && left->requests == right->requests &&
           l->prompt_size == r->prompt_size && l->generate_size == r->generate_size &&
           l->engine == r->engine && l->speculative_tokens == r->speculative_tokens &&
           left->exec.strategy.weight_datatype == right->exec.strategy.weight_datatype &&
           left->exec.strategy.datatype == right->exec.strategy.datatype &&
           strcmp(left->system, right->system) == 0 &&
           strcmp(left->model.name, right->model.name) == 0 &&
           strcmp(left->row->source, right->row->source) == 0;
}

static bool compete(const calc_result *a, const calc_result *b)
{
    return a->serving ? compete_serving(a, b) : compete_training(a, b);
}

static const calc_exec *exec_of(const calc_result *r)
{
    return r->serving ? &r->serving->map.exec : &r->prediction->map.exec;
}

/* Whether two competitors are the same layout, measured twice: on another release of the software,
 * or with switches that the model does not know. */
static bool repeat(const calc_result *a, const calc_result *b)
{
    const calc_exec *left = exec_of(a);
    const calc_exec *right = exec_of(b);
    return a->predicted == b->predicted &&
           left->strategy.tensor_par == right->strategy.tensor_par &&
           left->pipeline_par == right->pipeline_par &&
           left->strategy.data_par == right->strategy.data_par &&
           left->strategy.context_par == right->strategy.context_par &&
           left->strategy.expert_par == right->strategy.expert_par &&
           left->inference.prefill_procs == right->inference.prefill_procs &&
           left->microbatch_size == right->microbatch_size &&
           left->pipeline_interleaving == right->pipeline_interleaving;
}

/* The cost of a value of its quantity: the less, the better a layout is. Times; of throughput the
 * time of a GPU per token. NaN: layouts are not ranked by it. */
static double cost_of(const calc_result *r, double value)
{
    switch (r->quantity) {
    case CALC_QUANTITY_STEP_TIME:
    case CALC_QUANTITY_TPOT:
        return value;
    case CALC_QUANTITY_E2E:
        return value * r->serving->map.gpus;
    case CALC_QUANTITY_OUTPUT_RATE:
        return r->serving->map.gpus / value;
    default:
        return (double)NAN;
    }
}

static double measured_cost(const calc_result *r)
{
    return cost_of(r, r->measured);
}

static double predicted_cost(const calc_result *r)
{
    return cost_of(r, r->predicted);
}

static bool is_ranked(const calc_result *r)
{
    return !isnan(cost_of(r, 1));
}

/* Half a percent is less than repeats of one run differ by. */
static bool differ(const calc_result *a, const calc_result *b)
{
    return fabs(log(measured_cost(a) / measured_cost(b))) >= 0.005;
}

/* Pairs of result[i] with later ones. */
static void rank_pairs(const calc_result *const *result, size_t count, size_t i, double *score,
                       size_t *pairs)
{
    const calc_result *a = result[i];
    for (size_t j = i + 1; j < count; j++) {
        const calc_result *b = result[j];
        if (is_ranked(b) && compete(a, b) && differ(a, b) && !repeat(a, b)) {
            double left = predicted_cost(a), other = predicted_cost(b);
            bool right = (measured_cost(a) > measured_cost(b)) == (left > other);
            *score += right && left != other ? 1 : -1;
            ++*pairs;
        }
    }
}

/* The least measured cost of a layout among its repeats. */
static double least_repeat(const calc_result *const *result, size_t count,
                           const calc_result *chosen)
{
    double least = measured_cost(chosen);
    for (size_t i = 0; i < count; i++) {
        if (is_ranked(result[i]) && compete(chosen, result[i]) && repeat(chosen, result[i])) {
            least = fmin(least, measured_cost(result[i]));
        }
    }
    return least;
}

/* Regret among result[i] and its competitors; NaN if an earlier result stands for them, or all are
 * the same layout. */
static double regret_of(const calc_result *const *result, size_t count, size_t i)
{
    const calc_result *chosen = result[i];
    double least = measured_cost(chosen);
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
        chosen = predicted_cost(b) < predicted_cost(chosen) ? b : chosen;
        least = fmin(least, measured_cost(b));
    }
    return others > 0 ? least_repeat(result, count, chosen) / least - 1 : (double)NAN;
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
