/** @file refusals.h  Lists of rules by which programs refuse layouts: what their own checks refuse,
 *  or what they have no setting for. */
#ifndef CALC_SPEC_REFUSALS_H
#define CALC_SPEC_REFUSALS_H

#include "calc.h"

/** A model and its layout, resolved. */
typedef struct calc_resolved {
    calc_app app;
    calc_exec exec;
} calc_resolved;

/** One rule: a combination that is refused. */
typedef struct calc_refusal {
    bool (*applies)(const calc_resolved *r);
    const char *reason; /**< text with the names of our fields */
} calc_refusal;

/** A list of rules. */
typedef struct calc_refusals {
    const calc_refusal *item;
    size_t count;
} calc_refusals;

/** A rule: its name, and when it applies to the model `a`, the layout `e` and its strategy `s`. */
#define CALC_REFUSAL(name, condition)                                                              \
    static bool name(const calc_resolved *r)                                                       \
    {                                                                                              \
        const calc_app *a = &r->app;                                                               \
        const calc_exec *e = &r->exec;                                                             \
        const calc_strategy *s = &e->strategy;                                                     \
        (void)a, (void)e, (void)s;                                                                 \
        return condition;                                                                          \
    }

/** Defines a list under `name` from the array `rules`. */
#define CALC_REFUSALS(name, rules)                                                                 \
    const calc_refusals name = {rules, sizeof(rules) / sizeof *(rules)}

/** Micro-batches of a replica in one step. */
static inline int64_t calc_microbatches(const calc_exec *e)
{
    return e->batch_size / e->strategy.data_par / e->microbatch_size;
}

/** Whether n divides m; 0 counts as divisible by everything. */
static inline bool calc_divides(int64_t n, int64_t m)
{
    return m % n == 0;
}

#endif
