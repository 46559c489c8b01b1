/** @file peers.h  Errors that other simulators have published, beside those of calc on the same
 * runs: tests/measured/peers.csv. */
#ifndef CALC_VALIDATE_PEERS_H
#define CALC_VALIDATE_PEERS_H

#include "io/text.h"
#include "validate/results.h"
#include "validate/spread.h"

/** Errors that one simulator has published of one quantity on one machine, and calc's own on those
 *  of its runs that are here. Texts are borrowed from the file. */
typedef struct calc_peer {
    const char *simulator, *machine;
    calc_quantity quantity;
    const char *note; /**< of its last row; "" if there is none */
    size_t rows;      /**< published; 0: an average of unknown size */
    double mean_abs;  /**< of their errors, fractions; NaN: not published */
    double worst_abs; /**< NaN: not published */
    size_t listed;    /**< of its rows, those that name runs */
    calc_spread ours; /**< of the same runs, unscored ones, too */
} calc_peer;

/** All of them, in the order of the file. Owns everything. Start with {0}. */
typedef struct calc_peers {
    calc_peer *item;
    size_t count;
    calc_text text;
} calc_peers;

/** Read a file with the columns simulator, machine, quantity, runs (an id or a pattern as in file
 *  names; blank: none), rows, error_percent, worst_percent and note, and find the runs among the
 *  results. Quantities that no result has are left out.
 *  @return CALC_OK, or the status of the first error; *out must be freed in any case */
CALC_MUST_USE calc_status calc_peers_read(calc_peers *out, const char *path,
                                          const calc_results *results, calc_errors *errors);

/** Free what they own; fine on {0}. */
void calc_peers_free(calc_peers *peers);

#endif
