/** @file predict.h  The model's prediction of a measured run. */
#ifndef CALC_VALIDATE_PREDICT_H
#define CALC_VALIDATE_PREDICT_H

#include "validate/run_map.h"
#include "validate/systems.h"

/** A run and its prediction. */
typedef struct calc_prediction {
    calc_run_map map;    /**< map.exec is complete here: networks, micro-batch, interleaving */
    char reason[256];    /**< why there is no prediction; "" if there is one */
    char misfit[80];     /**< parts that do not fit the machine, though it ran; "" if all fit */
    double step_s;       /**< time of a step; NaN: none */
    double need_bytes;   /**< of the first memory tier, in all; NaN: none */
    double memory_bytes; /**< peak as it was counted: allocated by tensors, or all; NaN: none */
} calc_prediction;

/** Predict one run. A layout whose micro-batch was not published is the fastest of micro-batches
 *  1 to 16 and interleavings 1 to 4 that divide what they must (up to 2 sequences from 8 stages on,
 *  as larger ones do not fit). A need beyond the capacity of the machine is an assumption, not a
 *  failure: the run did run. */
void calc_predict(calc_prediction *out, const calc_runs_row *row, calc_systems *systems);

#endif
