#include "cli/sweep/sweep_order.h"

#include <math.h>
#include <string.h>

#include "spec/field.h"
#include "tune/model.h"

/* Assumed where nothing is known. */
static const double same_share = 0.01;

static bool candidate_of(calc_tune_candidate *out, const calc_sweep_study *study, uint64_t design,
                         const calc_exec *exec)
{
    calc_app app;
    calc_system system;
    study->designs.get(study->designs.context, design, &app, &system);
    return exec->training && calc_tune_candidate_of(out, &app, &system, exec);
}

calc_sweep_order calc_sweep_order_of(const calc_sweep_study *study, const calc_found *best)
{
    calc_sweep_order order = {.study = study};
    if (!best) {
        return order;
    }
    calc_sweep_found found;
    calc_sweep_found_run(study, best, &found);
    order.prior = calc_tune_prior_default();
    order.design = found.design;
    order.stats = found.stats;
    /* A time or what is derived from it, off by the same factor. */
    const calc_field *by = study->options.top_by.field;
    bool time = strcmp(by->key, "total_time") == 0 ||
                (by->where && strcmp(by->where, "calc_run_rates") == 0);
    order.known = study->options.compat == CALC_COMPAT_NONE && time &&
                  candidate_of(&order.best, study, found.design, &found.exec);
    return order;
}

/* The logarithm of the factor by which the best is better. */
static double lead(const calc_sweep_order *order, const calc_stats *stats)
{
    const calc_objective *by = &order->study->options.top_by;
    double best = calc_member_number(by->field, (const char *)&order->stats + by->field->offset);
    double other = calc_member_number(by->field, (const char *)stats + by->field->offset);
    return best == other ? 0 : by->up ? log(best / other) : log(other / best);
}

double calc_sweep_order_sure(const void *of, uint64_t design, const calc_exec *exec,
                             const calc_stats *stats)
{
    enum { FAR = 2 /* larger than any error */ };
    const calc_sweep_order *order = of;
    calc_tune_candidate other;
    double ahead = order->known ? lead(order, stats) : (double)NAN;
    if (!(ahead <= FAR)) {
        return isnan(ahead) ? ahead : 1;
    }
    if (!candidate_of(&other, order->study, design, exec)) {
        return (double)NAN;
    }
    bool alike = order->design == design; /* but for swept fields */
    if (!alike) {
        calc_design_parts a = calc_designs_parts(&order->study->builder, order->design);
        calc_design_parts b = calc_designs_parts(&order->study->builder, design);
        alike = a.app == b.app && a.system == b.system;
    }
    return calc_tune_model_sure(&order->prior, &order->best, &other, alike, ahead);
}

bool calc_sweep_order_equal(const calc_sweep_order *order, double sure, const calc_stats *stats)
{
    return isnan(sure) ? fabs(lead(order, stats)) <= same_share : sure < CALC_SWEEP_ORDER_SURE;
}

double calc_sweep_order_share(const calc_sweep_order *order, const calc_stats *stats)
{
    double share = exp(-lead(order, stats));
    return isnan(share) ? 0 : share;
}
