#include "session/sweep_order.h"

#include <math.h>
#include <string.h>

#include "formats/export.h"
#include "spec/field.h"

const char *calc_sweep_order_calibrated(const calc_sweep_study *study, const char *machine)
{
    for (size_t i = 0; i < study->documents; i++) {
        const calc_study_document *d = &study->document[i];
        if (*d->calibrated && strncmp(d->name, machine, sizeof d->name - 1) == 0) {
            return d->calibrated;
        }
    }
    return "";
}

calc_fits calc_sweep_order_fits(const calc_residuals *measured, const calc_sweep_study *study,
                                const calc_found *layout)
{
    if (!measured || study->options.compat != CALC_COMPAT_NONE) {
        return (calc_fits){(double)NAN, (double)NAN};
    }
    calc_sweep_found found;
    calc_sweep_found_run(study, layout, &found);
    calc_app app;
    calc_system system;
    study->designs.get(study->designs.context, layout->design, &app, &system);
    calc_design_parts parts = calc_designs_parts(&study->builder, layout->design);
    const char *machine = parts.system->name;
    const calc_fits_query query = {
        &app,
        &system,
        &found.exec,
        calc_fits_family(measured, machine, calc_sweep_order_calibrated(study, machine)),
        found.stats.proc_mem_tier1_cap_req,
        NULL};
    return calc_fits_of(measured, &query);
}

calc_status calc_sweep_order_mark(calc_sweep_row *row, const calc_residuals *measured,
                                  const calc_sweep_study *study)
{
    calc_app app;
    calc_system system;
    const calc_exec exec = calc_found_exec(row->layout);
    study->designs.get(study->designs.context, row->layout->design, &app, &system);
    row->fits = calc_sweep_order_fits(measured, study, row->layout);
    calc_status status = calc_export_starts(&app, &system, &exec, NULL, &row->starts);
    if (study->options.compat == CALC_COMPAT_NONE) {
        /* If it is not known whether it fits, it counts as sure: fmin() of NaN. */
        row->worth *= row->starts ? fmin(1, row->fits.share / CALC_FITS_SURE) : 0;
    }
    return status;
}

/* Assumed where nothing is known. */
static const double alike_share = 0.01;

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
    order.objective = best->objective[0];
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
    return isnan(sure) ? fabs(lead(order, stats)) <= alike_share : sure < CALC_SWEEP_ORDER_SURE;
}

double calc_sweep_order_share(const calc_sweep_order *order, const calc_stats *stats)
{
    double share = exp(-lead(order, stats));
    return isnan(share) ? 0 : share;
}

/* What a rate is worth where experts are spread over several domains of the fastest network. Runs
 * with such experts are as far off as this (standard deviation over software that no fit has seen,
 * tests/measured/residuals.csv), and no pair of them differs in that alone: a smaller gain is not
 * one to start with. */
static const double spread_worth = 0.87;

void calc_sweep_order_weigh(const calc_sweep_order *order, calc_sweep_row *row)
{
    const calc_sweep_study *study = order->study;
    const calc_exec exec = calc_found_exec(row->layout);
    const calc_strategy *s = &exec.strategy;
    int64_t ranks = s->expert_par * (s->expert_tensor_par > 1 ? s->expert_tensor_par : 1);
    if (exec.training && s->expert_par > 1) {
        calc_app app;
        calc_system system;
        study->designs.get(study->designs.context, row->layout->design, &app, &system);
        row->spread = system.networks_count > 0 && ranks > system.networks[0].size;
    }
    if (row->number > 0) { /* one of the best, which have the objective, the less the better */
        double own = row->layout->objective[0], best = order->objective;
        row->share = own == best ? 1 : study->options.top_by.up ? own / best : best / own;
        row->share = isnan(row->share) ? 0 : row->share;
    } else {
        calc_sweep_found found;
        calc_sweep_found_run(study, row->layout, &found);
        row->share = calc_sweep_order_share(order, &found.stats);
    }
    row->worth = row->spread ? spread_worth * row->share : row->share;
}

typedef struct search {
    const calc_residuals *measured;
    const calc_sweep_study *study;
    calc_sweep_order order;
    double least; /* what a layout must be worth to matter */
    bool simple;  /* whether a simpler layout may come first */
    calc_sweep_advice advice;
} search;

/* Whether a layout comes before the start so far. */
static bool is_before(const search *s, const calc_sweep_row *row)
{
    const calc_sweep_row *start = &s->advice.start;
    if (!start->layout || !s->simple) {
        return !start->layout || row->worth > start->worth;
    }
    const calc_exec a = calc_found_exec(row->layout);
    const calc_exec b = calc_found_exec(start->layout);
    int parts = calc_sweep_found_simpler(&a, &b);
    double more = row->worth - start->worth; /* rounded; where prompts limit a server it is 0 */
    bool better = fabs(more) < 1e-9 ? a.batch_size < b.batch_size : more > 0;
    return parts < 0 || (parts == 0 && better);
}

/* Look at the best, down to where they cannot matter any more, and at the front if it may: for what
 * a layout must be worth; then, knowing it, for the start. */
static void look(search *s, const calc_sweep_group *group, bool chooses)
{
    /* A layout may be worth 2 % less and yet come first for being simpler: that costs on none of
     * the sets of measured layouts (docs/sweep.md). */
    const double part = s->simple ? 0.98 : 1;
    const calc_front *top = &group->top;
    double share = 1; /* of the last of the best */
    for (size_t i = 0;
         i < top->count + group->front.count && share >= s->least && s->advice.status == CALC_OK;
         i++) {
        bool best = i < top->count;
        calc_sweep_row row = {.layout = best ? &top->item[i] : &group->front.item[i - top->count],
                              .number = best ? i + 1 : 0};
        calc_sweep_order_weigh(&s->order, &row);
        share = best ? row.share : share;
        /* Asking frameworks takes longer than an evaluation. */
        if (row.worth < s->least && fmax(s->least, s->advice.safe.share) > row.share) {
            continue;
        }
        s->advice.status = calc_sweep_order_mark(&row, s->measured, s->study);
        if (chooses && row.worth >= s->least && is_before(s, &row)) {
            s->advice.start = row;
        }
        if (row.worth > 0 && !(row.fits.share < CALC_FITS_SURE) &&
            row.share > s->advice.safe.share) {
            s->advice.safe = row;
        }
        s->least = fmax(s->least, part * row.worth);
    }
}

calc_sweep_advice calc_sweep_order_advise(const calc_residuals *measured,
                                          const calc_sweep_study *study,
                                          const calc_sweep_result *result)
{
    const calc_found *best = calc_sweep_found_best_of_all(result);
    search s = {.measured = measured, .study = study, .order = calc_sweep_order_of(study, best)};
    if (best) {
        s.advice.start = (calc_sweep_row){.layout = best, .number = 1};
        calc_sweep_order_weigh(&s.order, &s.advice.start);
        s.advice.status = calc_sweep_order_mark(&s.advice.start, measured, study);
    }
    s.advice.fastest = s.advice.start;
    if (best && result->groups_count == 1 && study->options.compat == CALC_COMPAT_NONE) {
        const char *where = study->options.top_by.field->where; /* of servers: a rate or a time */
        s.simple = s.order.known || (where && strcmp(where, "calc_run_inference") == 0);
        look(&s, &result->group[0], false);
        s.advice.start.layout = s.least > 0 ? NULL : best; /* unless no framework runs any */
        look(&s, &result->group[0], s.least > 0);
    }
    return s.advice;
}
