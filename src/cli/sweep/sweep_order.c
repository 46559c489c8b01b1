#include "cli/sweep/sweep_order.h"

#include <math.h>
#include <string.h>

#include "spec/field.h"
#include "tune/model.h"

/* Assumed where nothing is known. */
static const double same_share = 0.01;

/* Whether a statistic is off by the same factor as the time of a step. */
static bool follows_time(const calc_field *field)
{
    return strcmp(field->key, "total_time") == 0 ||
           (field->where && strcmp(field->where, "calc_run_rates") == 0);
}

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
    order.known = study->options.compat == CALC_COMPAT_NONE &&
                  follows_time(study->options.top_by.field) &&
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

/* Whether two designs have the same model and machine, apart from swept fields. */
static bool alike(const calc_designs_builder *builder, uint64_t one, uint64_t other)
{
    if (one == other) {
        return true;
    }
    calc_design_parts a = calc_designs_parts(builder, one);
    calc_design_parts b = calc_designs_parts(builder, other);
    return a.app == b.app && a.system == b.system;
}

double calc_sweep_order_sure(const calc_sweep_order *order, uint64_t design, const calc_exec *exec,
                             const calc_stats *stats)
{
    enum { FAR = 2 /* larger than any error */ };
    calc_tune_candidate other;
    double ahead = order->known ? lead(order, stats) : (double)NAN;
    if (!(ahead <= FAR)) {
        return isnan(ahead) ? ahead : 1;
    }
    if (!candidate_of(&other, order->study, design, exec)) {
        return (double)NAN;
    }
    return calc_tune_model_sure(&order->prior, &order->best, &other,
                                alike(&order->study->builder, order->design, design), ahead);
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

void calc_sweep_order_put(calc_put *put, const calc_sweep_order *order,
                          const calc_sweep_found *found)
{
    calc_put_rounded(put, "sure",
                     calc_sweep_order_sure(order, found->design, &found->exec, &found->stats), 4);
}
