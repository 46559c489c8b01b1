/** @file engine_calibration.h  Serving engines calibrated to measured runs, with predictions by
 * fits that have not seen a run. Engines share what they have in common. */
#ifndef CALC_CALIBRATE_ENGINE_CALIBRATION_H
#define CALC_CALIBRATE_ENGINE_CALIBRATION_H

#include "calibrate/fit.h"
#include "validate/results.h"

/* The traits of a serving engine under which the model is nearest to measured
 * runs of it. Minimises
 *
 *     sum over measurements of w * 2 (sqrt(1 + r^2) - 1),  r = (log predicted - log measured) /
 * 0.1
 *     + sum over traits of z^2,                             z = (number - centre) / spread
 *
 * within the ranges of the fields, a prior of centre and spread being what is documented, or what
 * the runs of other engines say;
 * numbers being logarithms of times and log-odds of shares, w 1 for times per token
 * and of whole batches, and a third for first tokens, which depend on how a run was driven, too.
 * Whether the host works ahead, and whether compiled code issues kernels, are known properties of
 * an engine and not fitted; without compiled code the time to issue a kernel starts at 20 us: vLLM
 * 0.2 issues the 350 of a token of Llama 2 7B in 12 ms at most (its pull request 1440). */

/** Traits that are fitted: X(name of the field, member, whether it is a share, start where nothing
 *  is known, spread of its number in runs of one's own, and among engines; 0: its kernels' own, of
 *  which others say nothing). Servers of all engines are processes that pass text on: first tokens
 *  of 22 ms are published of vLLM, 27 of SGLang. */
#define CALC_ENGINE_TRAIT_LIST(X)                                                                  \
    X("host", host_s, false, 1.5e-3, 1.5, 1.5)                                                     \
    X("host_sequence", host_sequence_s, false, 30e-6, 1.5, 1.5)                                    \
    X("host_growth", host_growth, false, 0.1, 1, 1)                                                \
    X("issue", issue_s, false, 20e-6, 1, 1)                                                        \
    X("request", request_s, false, 10e-3, 1, 0.15)                                                 \
    X("request_sequence", request_sequence_s, false, 0.2e-3, 1, 0.15)                              \
    X("request_token", request_token_s, false, 2e-6, 1, 1)                                         \
    X("gap", gap_s, false, 0.2e-3, 1.5, 1.5)                                                       \
    X("matrix_share", matrix_share, true, 0.85, 0.5, 0.5)                                          \
    X("cache_share", cache_share, true, 0.98, 1, 0)                                                \
    X("experts_undivided", experts_undivided, false, 0.01, 1.5, 1.5)                               \
    X("handover_steps", handover_steps, false, 1, 1, 1)

enum {
#define CALC_X(name, member, share, start, spread, among) CALC_ENGINE_TRAIT_##member,
    CALC_ENGINE_TRAIT_LIST(CALC_X)
#undef CALC_X
        CALC_ENGINE_TRAITS
};

/** A measurement that counts. Borrows the result. */
typedef struct calc_engine_point {
    const calc_result *result;
    size_t index;  /**< of the result among all */
    bool use;      /**< whether a fit sees it */
    double weight; /**< then, of its squared error */
} calc_engine_point;

/** What is assumed of the numbers of traits before an engine's runs are seen: normal. */
typedef struct calc_engine_prior {
    double centre[CALC_ENGINE_TRAITS], spread[CALC_ENGINE_TRAITS];
} calc_engine_prior;

/** An engine and what was fitted to it. */
typedef struct calc_engine_fit {
    const calc_serving_engine *engine; /**< borrowed */
    size_t first, count;               /**< its points among all */
    calc_engine_traits start, traits;
    calc_engine_prior prior;
    double number[CALC_ENGINE_TRAITS], error[CALC_ENGINE_TRAITS]; /**< fitted, its standard error */
    double relative_error[CALC_ENGINE_TRAITS]; /**< standard errors over the values */
    bool determined[CALC_ENGINE_TRAITS];       /**< the runs are stronger than the prior */
    size_t points;                             /**< that were seen */
} calc_engine_fit;

/** The name of a trait's field, and its number in a set of them. */
const char *calc_engine_trait_name(int trait);
double *calc_engine_trait(calc_engine_traits *traits, int trait);

/** The start of a fit: the traits of the engine, with almost 0 for traits that it lacks; or
 *  defaults where nothing is known of it. */
calc_engine_traits calc_engine_fit_start(const calc_serving_engine *engine, bool documented);

/** The prediction of a measurement with these traits; NaN if there is none. */
double calc_engine_fit_predict(const calc_engine_point *point, const calc_engine_traits *traits);

/** What is asked. Names are borrowed, NULL at the end; NULL: none. */
typedef struct calc_engine_plan {
    const calc_serving_engines *engines; /**< that runs may be of */
    calc_cross cross;
    bool documented;             /**< start where nothing is known, not from the engines' traits */
    const char *const *machine;  /**< only runs on these; NULL: on all */
    const char *const *held_out; /**< sources and machines that no fit sees */
} calc_engine_plan;

/** The engines that have runs. */
typedef struct calc_engine_calibration {
    calc_engine_fit *fit; /**< by month and name; free() it */
    size_t count;
} calc_engine_calibration;

/** Fit all engines.
 *  @param results  of runs of serving
 *  @param fitted   by index of the result: prediction by the fit that saw it; NaN: none did
 *  @param unseen   by a fit that did not; NaN: there is none
 *  @return CALC_OK, or CALC_ERR_RULE if there is nothing to fit to; out->fit is to be freed in any
 *  case */
CALC_MUST_USE calc_status calc_engine_calibrate(calc_engine_calibration *out,
                                                const calc_engine_plan *plan,
                                                const calc_results *results, double *fitted,
                                                double *unseen, calc_errors *errors);

#endif
