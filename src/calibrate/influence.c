#include "calibrate/influence.h"

#include <math.h>
#include <stdlib.h>

#include "base/error.h"

enum { TRIED = 64 /* runs at most; the others are predicted better than these */ };

static bool is_used(const calc_fit *fit, size_t row)
{
    return !fit->use || fit->use[row];
}

/* How far off a run is under the values of the family. */
static double distance_of(const calc_fit *fit, size_t row)
{
    const calc_evidence_row *r = &fit->evidence->row[row];
    double step_s = calc_evidence_predict_s(r, &fit->family->system[r->machine]);
    return fabs(log(step_s) - r->log_measured);
}

/* The smallest distance that is tried: that of the TRIED-th worst run. */
static double worth_trying(const calc_fit *fit)
{
    double worst[TRIED] = {0}; /* falling */
    for (size_t i = 0; i < fit->evidence->count; i++) {
        double distance = is_used(fit, i) ? distance_of(fit, i) : 0;
        for (int k = 0; k < TRIED; k++) {
            if (distance > worst[k]) {
                double other = worst[k];
                worst[k] = distance;
                distance = other;
            }
        }
    }
    return worst[TRIED - 1];
}

/* The distance of a value from its prior. */
static double moved(const calc_unknown *p, double value)
{
    return fabs(calc_constant_to_free(p->constant, value) -
                calc_constant_to_free(p->constant, p->start));
}

static calc_status leave_out(calc_influence *out, const calc_fit *fit,
                             const calc_unknowns *unknowns, const bool *is_free, size_t index,
                             bool *use, calc_errors *errors)
{
    const calc_unknown *p = &unknowns->item[index];
    double least = worth_trying(fit);
    double nearest = INFINITY;
    for (size_t i = 0; i < fit->evidence->count; i++) {
        if (!is_used(fit, i) || distance_of(fit, i) < least) {
            continue;
        }
        calc_unknowns without = *unknowns;
        calc_fit one = *fit;
        one.use = use;
        use[i] = false;
        calc_status status = calc_fit_unknowns(&one, &without, is_free, errors);
        use[i] = true;
        if (status != CALC_OK) {
            return status;
        }
        double value = without.item[index].value;
        if (moved(p, value) < nearest) {
            nearest = moved(p, value);
            out->row = i;
            out->without = value;
        }
    }
    return CALC_OK;
}

/* The first unknown that left its range; `count` if none did. A start outside of it, given by a
 * file, does not count. */
static size_t outside(const calc_unknowns *unknowns, const bool *is_free)
{
    size_t i = 0;
    for (; i < unknowns->count; i++) {
        const calc_unknown *p = &unknowns->item[i];
        bool low = p->value < p->constant->lo && p->value < p->start;
        bool high = p->value > p->constant->hi && p->value > p->start;
        if (is_free[i] && (low || high)) {
            break;
        }
    }
    return i;
}

calc_status calc_influence_find(calc_influence *out, const calc_fit *fit,
                                const calc_unknowns *unknowns, const bool *is_free,
                                calc_errors *errors)
{
    size_t index = outside(unknowns, is_free);
    *out = (calc_influence){0};
    if (index == unknowns->count) {
        return CALC_OK;
    }
    const calc_unknown *p = &unknowns->item[index];
    *out = (calc_influence){.constant = p->constant, .value = p->value, .without = p->value};
    bool *use = calloc(fit->evidence->count + 1, sizeof *use);
    if (!use) {
        return calc_errors_no_memory(errors);
    }
    for (size_t i = 0; i < fit->evidence->count; i++) {
        use[i] = is_used(fit, i);
    }
    calc_status status = leave_out(out, fit, unknowns, is_free, index, use, errors);
    free(use);
    return status;
}
