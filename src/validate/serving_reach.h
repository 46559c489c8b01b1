/** @file serving_reach.h  How far measured times per output token are from their predictions, of an
 * engine's runs that no fit has seen. */
#ifndef CALC_VALIDATE_SERVING_REACH_H
#define CALC_VALIDATE_SERVING_REACH_H

#include "calc.h"

enum { CALC_SERVING_REACH_RUNS = 30 /**< that an engine has to have; else those of all engines */ };

/** Nine in ten runs, and of one more, are within prediction * exp(-reach) and exp(reach). */
typedef struct calc_serving_reach {
    double reach; /**< NaN: there are too few runs */
    size_t runs;
    bool own; /**< they are of this engine, and not of all */
} calc_serving_reach;

/** The runs whose layouts the fit of the engines left out (column `half` is 1), and that are
 * scored.
 *  @param engine   calc_serving_engine.name
 *  @param runs     path of the measured runs of serving
 *  @param results  path of the errors of their predictions
 *  @return CALC_OK, or the status of calc_csv_table_read() */
CALC_MUST_USE calc_status calc_serving_reach_read(calc_serving_reach *out, const char *engine,
                                                  const char *runs, const char *results,
                                                  calc_errors *errors);

#endif
