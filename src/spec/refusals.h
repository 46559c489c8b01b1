/** @file refusals.h  Lists of rules by which programs refuse layouts: what their own checks refuse,
 *  or what they have no setting for. */
#ifndef CALC_SPEC_REFUSALS_H
#define CALC_SPEC_REFUSALS_H

#include "calc.h"
#include "spec/schedule.h"

enum { CALC_MAX_REFUSED = 64 /**< most reasons that are kept */ };

/** Reasons to refuse a layout: texts with the names of our fields. Start with {0}. */
typedef struct calc_refused {
    const char *text[CALC_MAX_REFUSED];
    size_t count;
} calc_refused;

/** A list of rules: adds the reason of each that refuses the layout.
 *  @param a  the model, resolved
 *  @param e  the layout, likewise
 *  @param s  its strategy
 *  @param refused  with reasons of earlier lists */
typedef void calc_refusals(const calc_app *a, const calc_exec *e, const calc_strategy *s,
                           calc_refused *refused);

/** Begins the definition of a list, whose body has a CALC_REFUSE() for each rule. */
#define CALC_REFUSALS(name)                                                                        \
    void name(const calc_app *a __attribute__((unused)),                                           \
              const calc_exec *e __attribute__((unused)),                                          \
              const calc_strategy *s __attribute__((unused)), calc_refused *refused)

/** A rule: the layouts that it refuses, and why. */
#define CALC_REFUSE(condition, reason)                                                             \
    do {                                                                                           \
        if ((condition) && refused->count < CALC_MAX_REFUSED) {                                    \
            refused->text[refused->count++] = (reason);                                            \
        }                                                                                          \
    } while (0)

/** Whether n divides m; 0 counts as divisible by everything. */
static inline bool calc_divides(int64_t n, int64_t m)
{
    return m % n == 0;
}

#endif
