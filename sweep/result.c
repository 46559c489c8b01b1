/* Results of sweeps, and of their threads, put together. */
#include "result.h"

#include <stdlib.h>

void calc_sweep_result_free(calc_sweep_result *result)
{
    for (size_t i = 0; result->group && i < result->groups_count; i++) {
        calc_front_free(&result->group[i].front);
        calc_front_free(&result->group[i].top);
    }
    free(result->group);
    *result = (calc_sweep_result){0};
}

/* Both lists are then to be settled. */
static calc_status merge_group(const calc_sweep_options *options, calc_sweep_group *into,
                               const calc_sweep_group *from)
{
    calc_status status = calc_front_merge(&into->front, &from->front, options->objectives);
    for (size_t i = 0; i < from->top.count && status == CALC_OK; i++) {
        status = calc_top_insert(&into->top, &from->top.item[i], options->top);
    }
    return status;
}

static calc_status settle_group(const calc_sweep_options *options, calc_sweep_group *group)
{
    calc_top_settle(&group->top, options->top);
    return calc_front_settle(&group->front);
}

void calc_result_add_counts(calc_sweep_counts *sum, const calc_sweep_counts *counts)
{
    sum->total += counts->total;
    sum->feasible += counts->feasible;
    sum->filtered += counts->filtered;
    sum->refused += counts->refused;
    sum->skipped += counts->skipped;
    sum->evaluated += counts->evaluated;
    for (size_t v = 0; v < CALC_VERDICT_COUNT; v++) {
        sum->rejected[v] += counts->rejected[v];
    }
}

calc_status calc_sweep_merge(const calc_sweep_options *options, calc_sweep_result *into,
                             const calc_sweep_result *from)
{
    calc_status status = CALC_OK;
    for (size_t g = 0; g < from->groups_count && g < into->groups_count && status == CALC_OK; g++) {
        status = merge_group(options, &into->group[g], &from->group[g]);
        status = status == CALC_OK ? settle_group(options, &into->group[g]) : status;
    }
    calc_result_add_counts(&into->counts, &from->counts);
    return status;
}

calc_status calc_result_collect(const calc_sweep_options *options, calc_sweep_group *into,
                                calc_worker *const *worker, int threads, size_t g, bool last)
{
    calc_status status = CALC_OK;
    for (int t = 0; t < threads && status == CALC_OK; t++) {
        calc_sweep_group *from = &worker[t]->groups[g];
        if (worker[t]->guest) {
            continue;
        }
        calc_top_settle(&from->top, options->top);
        if (last && into->front.count == 0) {
            calc_front_free(&into->front);
            into->front = from->front;
            from->front = (calc_front){0};
        }
        status = merge_group(options, into, from);
        if (last) {
            calc_front_free(&from->front);
        }
    }
    return status == CALC_OK ? settle_group(options, into) : status;
}
