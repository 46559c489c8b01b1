/** @file evidence.h  The measured runs that a calibration uses: mapped once, so that evaluating
 * them again is a call of the model. */
#ifndef CALC_CALIBRATE_EVIDENCE_H
#define CALC_CALIBRATE_EVIDENCE_H

#include "validate/results.h"

/** One run with a measured time that counts. Borrows the result. */
typedef struct calc_evidence_row {
    const calc_result *result;
    size_t index;          /**< of the result among all */
    size_t machine;        /**< index of its machine in the family */
    double log_measured;   /**< of seconds */
    int width_fold;        /**< runs of models of one width are in one fold */
    int source_fold;       /**< runs of one publisher's software are in one fold */
    const char *publisher; /**< calc_run_source_publisher(); `publisher_length` bytes */
    size_t publisher_length;
} calc_evidence_row;

/** All of them. Owns the rows. Start with {0}. */
typedef struct calc_evidence {
    calc_evidence_row *row;
    size_t count;
    int width_folds, source_folds;
} calc_evidence;

enum { CALC_EVIDENCE_WIDTH_FOLDS = 6 };

/** Take the scored times of runs on these machines.
 *  @return CALC_OK or CALC_ERR_NOMEM; *out must be freed in any case */
CALC_MUST_USE calc_status calc_evidence_make(calc_evidence *out, const calc_results *results,
                                             const char *const *machine, size_t machines,
                                             calc_errors *errors);

/** Free what it owns; fine on {0}. */
void calc_evidence_free(calc_evidence *evidence);

/** The fold of a text, below `folds`: the same everywhere. */
int calc_evidence_fold(const char *text, int folds);

/** The fold of a width, below CALC_EVIDENCE_WIDTH_FOLDS.
 *  @param depth  number of blocks if it matters too, else 0 */
int calc_evidence_width_fold(int64_t hidden, int64_t depth);

/** Whether the run is of one of these sources, of those whose names have this first word, of one of
 *  these publishers (calc_run_source_publisher()), or was published in one of these months
 *  ("2025-07") or later. NULL: of none.
 *  @param names  NULL at the end */
bool calc_evidence_is_of(const calc_result *result, const char *const *names);

/** Predicted time of a step on a system [s]; NaN if there is none. */
double calc_evidence_predict_s(const calc_evidence_row *row, const calc_system *system);

#endif
