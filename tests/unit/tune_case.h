/* Candidates for tests: layouts that are numbers only. */
#ifndef CALC_TESTS_TUNE_CASE_H
#define CALC_TESTS_TUNE_CASE_H

#include <check.h>
#include <math.h>
#include <stdlib.h>

#include "tune/decision.h"

/* A step that computes for the whole of its time, in kernels of a shape. */
static inline calc_tune_candidate tune_case(double step_s, double tokens, double stages)
{
    calc_tune_candidate c = {
        .step_s = step_s, .memory_bytes = 50e9, .capacity_bytes = 80e9, .fits = (double)NAN};
    c.term[CALC_TUNE_TERM_MATRIX] = 1;
    c.space[CALC_TUNE_SPACE_STATE] = 1;
    c.coordinate[CALC_TUNE_COORDINATE_TOKENS] = tokens;
    c.coordinate[CALC_TUNE_COORDINATE_PIPELINE] = stages;
    return c;
}

static inline calc_tune_decision tune_decide(const calc_tune_candidate *candidate, size_t count,
                                             const calc_tune_measurement *m, size_t measurements,
                                             const calc_tune_options *options)
{
    calc_tune_decision d;
    calc_errors errors = {0};
    ck_assert_int_eq(calc_tune_decide(&d, candidate, count, m, measurements, options, &errors),
                     CALC_OK);
    return d;
}

/* Two layouts' errors have these standard deviations apart, of what the prior has no field for. */
static inline calc_tune_prior tune_prior_of_own(double own)
{
    calc_tune_prior prior = {.own = own};
    prior.kernels.sd = prior.schedule.sd = 1e-9;
    prior.memory_own = 0.05;
    return prior;
}

#endif
