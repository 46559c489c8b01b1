/** @file features.h  Whether options move memory the way they did in reality: pairs of measured
 * runs that differ in one option only, and what is predicted of them. */
#ifndef CALC_VALIDATE_FEATURES_H
#define CALC_VALIDATE_FEATURES_H

#include "validate/results.h"

/** Repeats of a run differ by less than this share of their memory. */
#define CALC_FEATURES_STILL 0.01

/** A layout of one machine: the mean over the runs that repeat it. */
typedef struct calc_features_cell {
    const calc_result *first; /**< of these runs */
    double measured_bytes, predicted_bytes;
    size_t runs;
} calc_features_cell;

/** Two layouts that differ in one option. */
typedef struct calc_features_pair {
    size_t option;
    size_t from, to;                        /**< cells */
    double measured, predicted;             /**< to over from, less 1 */
    double measured_bytes, predicted_bytes; /**< to less from */
} calc_features_pair;

/** What the pairs of one option say. A pair moves if its measured memory differs by more than
 *  CALC_FEATURES_STILL. A prediction agrees if it goes in the same direction, and misses the option
 *  if it does not but stays within that share; the rest goes the opposite way. */
typedef struct calc_features_option {
    const char *name;
    size_t moved, agreed, missed;
    size_t still, stayed; /**< pairs that do not move; of these those predicted so */
    double tau;   /**< Kendall's, of relative changes of all pairs; NaN: fewer than two differ */
    double ratio; /**< median of predicted over measured change [bytes] where it moved; NaN: none */
    size_t wrong; /**< of the pairs that move but do not agree, that of the largest change, ... */
    bool has_wrong; /**< if there is one */
} calc_features_option;

/** All of it. Owns everything. Start with {0}. */
typedef struct calc_features {
    calc_features_cell *cell;
    size_t cells;
    calc_features_pair *pair;
    size_t pairs;
    calc_features_option *option; /**< those with pairs */
    size_t options;
} calc_features;

/** Form them from scored results of memory. @return CALC_OK or CALC_ERR_NOMEM */
CALC_MUST_USE calc_status calc_features_make(calc_features *out, const calc_results *results,
                                             calc_errors *errors);

/** Free what they own; fine on {0}. */
void calc_features_free(calc_features *features);

#endif
