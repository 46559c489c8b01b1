/** @file results.h  Measurements paired with predictions. The error of a pair is predicted over
 *  measured, less 1. Rates were turned into the time of a step before, so that a
 *  positive error always means a prediction that is too slow, or needs too much memory. */
#ifndef CALC_VALIDATE_RESULTS_H
#define CALC_VALIDATE_RESULTS_H

#include "validate/predict.h"
#include "validate/remarks.h"
#include "validate/serving_predict.h"

/** The quantity measured: X(NAME, word, unit). */
#define CALC_QUANTITY_LIST(X)                                                                      \
    X(STEP_TIME, "step_time", "s")                                                                 \
    X(MEMORY, "memory", "bytes")                                                                   \
    X(TPOT, "tpot", "s")                                                                           \
    X(TTFT, "ttft", "s")                                                                           \
    X(E2E, "e2e", "s")                                                                             \
    X(OUTPUT_RATE, "output_tokens_per_s", "tokens/s")                                              \
    X(TPOT_SHAPE, "tpot_shape", "1")

/** The treatment of a measurement: X(NAME, word). */
#define CALC_USE_LIST(X)                                                                           \
    X(SCORED, "scored")           /* in the groups */                                              \
    X(UNSCORED, "unscored")       /* predicted, but in no group; the remark says why */            \
    X(REFUSED, "refused")         /* it ran, and is predicted not to fit: in no group */           \
    X(UNPREDICTED, "unpredicted") /* the remark says why */

typedef enum calc_quantity {
#define CALC_X(name, word, unit) CALC_QUANTITY_##name,
    CALC_QUANTITY_LIST(CALC_X)
#undef CALC_X
        CALC_QUANTITY_COUNT
} calc_quantity;

typedef enum calc_use {
#define CALC_X(name, word) CALC_USE_##name,
    CALC_USE_LIST(CALC_X)
#undef CALC_X
        CALC_USE_COUNT
} calc_use;

/** One measurement. */
typedef struct calc_result {
    const calc_prediction *prediction;      /**< of a run of training; NULL: of serving */
    const calc_serving_prediction *serving; /**< of a run of serving; NULL: of training */
    calc_quantity quantity;
    calc_use use;
    double measured, predicted; /**< in the unit of the quantity; NaN: none */
    double error;               /**< NaN: none */
    const char *remark;         /**< "" if there is none */
} calc_result;

/** All measurements of all runs, in the order of the runs. Owns everything. Start with {0}. */
typedef struct calc_results {
    calc_prediction *prediction; /**< of runs of training; NULL: they are of serving */
    size_t predictions;
    calc_serving_prediction *serving; /**< of runs of serving; NULL: they are of training */
    size_t servings;
    calc_result *item;
    size_t count;
} calc_results;

/** Predict the runs of `files` files and pair them. A run without any measurement has one result,
 *  unpredicted. The runs, remarks and systems must outlive the results.
 *  @return CALC_OK; CALC_ERR_NOMEM or CALC_ERR_IO, also of reading a machine */
CALC_MUST_USE calc_status calc_results_make(calc_results *out, const calc_runs *runs, size_t files,
                                            const calc_remarks *remarks, calc_systems *systems,
                                            calc_errors *errors);

/** Free what they own; fine on {0}. */
void calc_results_free(calc_results *results);

/** How many have that use. */
size_t calc_results_count(const calc_results *results, calc_use use);

/** The note on runs that are not scored for their confidence. */
extern const char calc_results_low_confidence[];

/** Words of the quantities, NULL at the end. */
extern const char *const calc_quantity_words[];

/** Words of a quantity and of a use. */
const char *calc_quantity_word(calc_quantity quantity);
const char *calc_use_word(calc_use use);

#endif
