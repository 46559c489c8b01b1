#include "cli/tune/tune_order.h"

#include <math.h>
#include <stdlib.h>

double calc_tune_order_mean(const calc_tune_task *t, size_t candidate)
{
    double sum = 0;
    double count = 0;
    for (size_t i = 0; i < t->measurements; i++) {
        const calc_tune_measurement *m = &t->measurement[i];
        bool counts = m->candidate == candidate && m->end == CALC_TUNE_END_FINE;
        sum += counts ? m->step_s : 0;
        count += counts;
    }
    return count > 0 ? sum / count : (double)NAN;
}

bool calc_tune_order_is_pick(const calc_tune_decision *d, size_t candidate)
{
    for (size_t i = 0; i < d->picks && !d->stop; i++) {
        if (d->pick[i] == candidate) {
            return true;
        }
    }
    return false;
}

typedef struct place {
    double best, p50_s;
    size_t index;
} place;

static int compare_places(const void *a, const void *b)
{
    const place *x = a;
    const place *y = b;
    if (x->best != y->best) {
        return x->best > y->best ? -1 : 1;
    }
    if (x->p50_s != y->p50_s) {
        return x->p50_s < y->p50_s ? -1 : 1;
    }
    return (x->index > y->index) - (x->index < y->index);
}

size_t *calc_tune_order_make(const calc_tune_task *t, const calc_tune_decision *d)
{
    size_t count = t->layouts.count;
    place *order = malloc((count + 1) * sizeof *order);
    size_t *index = malloc((count + 1) * sizeof *index);
    for (size_t i = 0; order && i < count; i++) {
        order[i] = (place){d->outlook[i].best, d->outlook[i].p50_s, i};
    }
    if (order && index) {
        qsort(order, count, sizeof *order, compare_places);
    }
    for (size_t i = 0; order && index && i < count; i++) {
        index[i] = order[i].index;
    }
    free(order);
    return index;
}

bool calc_tune_order_regret(const calc_tune_task *t, const calc_tune_decision *d, double *best_s,
                            double *regret)
{
    *best_s = (double)INFINITY;
    for (size_t i = 0; i < t->layouts.count; i++) {
        bool fits = t->truth_bytes[i] <= t->layouts.candidate[i].capacity_bytes;
        *best_s = fits ? fmin(*best_s, t->truth_s[i]) : *best_s;
    }
    bool found = d->best != SIZE_MAX && isfinite(*best_s);
    *regret = found ? t->truth_s[d->best] / *best_s - 1 : (double)NAN;
    return found;
}
