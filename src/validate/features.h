/** @file features.h  Whether options move memory, or the time of a step, the way they did in
 * reality: pairs of measured runs that differ in one option only, and their predictions. */
#ifndef CALC_VALIDATE_FEATURES_H
#define CALC_VALIDATE_FEATURES_H

#include "io/text.h"
#include "validate/error_groups.h"
#include "validate/results.h"

/** Repeats of a run differ by less than this share of their memory, and of their time. */
#define CALC_FEATURES_STILL 0.01
#define CALC_FEATURES_STILL_TIME 0.02

/** Families of machines that are told apart, at most. */
enum { CALC_FEATURES_FAMILIES = 8 };

/** A layout of one machine: the mean over the runs that repeat it. */
typedef struct calc_features_cell {
    const calc_result *first;   /**< of these runs */
    double measured, predicted; /**< in the unit of the quantity */
    size_t runs;
} calc_features_cell;

/** Two layouts that differ in one option. */
typedef struct calc_features_pair {
    size_t option;
    size_t from, to;                      /**< cells */
    double measured, predicted;           /**< to over from, less 1 */
    double measured_less, predicted_less; /**< to less from */
} calc_features_pair;

/** Statistics of the pairs of one option. A pair moves if its measurements differ by more than the
 *  share above. A prediction agrees if it goes in the same direction, and misses the option if it
 *  does not but stays within that share; the rest goes the opposite way. */
typedef struct calc_features_option {
    const char *name;
    size_t moved, agreed, missed;
    size_t still, stayed; /**< pairs that do not move; of these those predicted so */
    double tau;     /**< of memory: Kendall's, of relative changes of all pairs; NaN: fewer than two
                         differ */
    double ratio;   /**< median of predicted over measured change where it moved; NaN: none */
    double regret;  /**< of time: measured time of the run predicted faster over that of the faster
                         one, less 1: mean over pairs that moved; NaN: none */
    size_t wrong;   /**< the pair with the largest change among those that move but do not agree,
                         ... */
    bool has_wrong; /**< if there is one */
} calc_features_option;

/** All of it. Owns everything. Start with {0}. */
typedef struct calc_features {
    calc_quantity quantity;
    double still; /**< share below which a pair does not move */
    calc_features_cell *cell;
    size_t cells;
    calc_features_pair *pair;
    size_t pairs;
    calc_features_option *option; /**< those with pairs */
    size_t options;
    calc_features_option family[CALC_FEATURES_FAMILIES]; /**< all options, by family of machines */
    size_t families;
    calc_features_option all; /**< all pairs; without tau and ratio */
} calc_features;

/** Form them from scored results. Runs that are compared in time train the same: model, batch,
 *  sequence length and processors are not among the options then.
 *  @param quantity  CALC_QUANTITY_MEMORY or CALC_QUANTITY_STEP_TIME */
void calc_features_make(calc_features *out, const calc_results *results, calc_quantity quantity);

/** Name of the first run of a cell. */
static inline const char *calc_features_id(const calc_features *features, size_t cell)
{
    return features->cell[cell].first->prediction->map.row->id;
}

/** Free what they own; fine on {0}. */
void calc_features_free(calc_features *features);

/* Errors that other simulators have published, beside those of calc on the same
 * runs: tests/measured/peers.csv. */

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
