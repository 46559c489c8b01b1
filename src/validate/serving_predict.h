/** @file serving_predict.h  The model's prediction of a measured run of serving. */
#ifndef CALC_VALIDATE_SERVING_PREDICT_H
#define CALC_VALIDATE_SERVING_PREDICT_H

#include "calc.h"
#include "validate/runs.h"
#include "validate/serving_map.h"

enum { CALC_SERVING_APPS_MAX = 64 };

/** Reads the model of that name.
 *  @return CALC_OK, or a status with errors added */
typedef calc_status (*calc_serving_load)(const char *name, calc_app *out, calc_errors *errors);

/** Models that runs name, each read once, and the engines. Start with {.load = ..., .engines =
 * ...}; owns nothing. */
typedef struct calc_serving_apps {
    calc_serving_load load;
    const calc_serving_engines *engines;
    calc_status failed; /**< as in calc_systems */
    int count;
    struct {
        const char *name; /* borrowed */
        bool fine;
        calc_app app;
    } entry[CALC_SERVING_APPS_MAX];
} calc_serving_apps;

/** A run and its prediction; NaN: none. */
typedef struct calc_serving_prediction {
    calc_serving_map map;      /**< map.exec is complete where there is a prediction */
    const calc_app *app;       /**< borrowed, as is the system */
    const calc_system *system; /**< NULL where there is no prediction */
    char reason[256];          /**< why there is none; "" if there is one */
    char misfit[80];           /**< parts that do not fit the machine, though it ran; "" if all
                                    fit */
    double tpot_s, ttft_s, e2e_s;
    double output_tokens_per_s; /**< of as many requests as were in flight */
} calc_serving_prediction;

/** Predict one run. A static batch is the prefill of all its prompts and then its steps, one for
 *  each token after the first. */
void calc_serving_predict(calc_serving_prediction *out, const calc_serving_row *row,
                          calc_serving_apps *apps, calc_systems *systems);

/** Predict it again with other traits of its engine. */
void calc_serving_predict_with(calc_serving_prediction *prediction,
                               const calc_engine_traits *traits);

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
