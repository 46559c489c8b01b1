/** @file ranking.h  Whether predictions put layouts in the right order, and the cost of choosing
 *  the layout that is predicted fastest. Layouts compete if model, machine, GPUs, batch, sequence
 *  length and number formats are equal; layouts that serve if model, machine, engine, requests in
 *  flight, lengths, number formats and source are, on any number of GPUs. A layout that was
 * measured more than once does not compete with itself, and stands with its shortest time where it
 * is chosen. */
#ifndef CALC_VALIDATE_RANKING_H
#define CALC_VALIDATE_RANKING_H

#include "validate/results.h"

/** The order of competing layouts. */
typedef struct calc_ranking {
    size_t pairs;   /**< competing layouts whose measurements differ by half a percent */
    double tau;     /**< Kendall: pairs in the right order less the others, over all; NaN: none */
    size_t choices; /**< sets of two or more competing layouts */
    double regret_mean;  /**< measured time of the predicted best over the least, less 1 */
    double regret_worst; /**< NaN: no choices */
} calc_ranking;

/** Rank times of steps, and for serving tpot, or tokens per second and GPU (of e2e its time times
 *  the GPUs); other quantities are passed over. All results are of one quantity. */
calc_ranking calc_ranking_of(const calc_result *const *result, size_t count);

#endif
