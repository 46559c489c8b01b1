/** @file results.h  Measurements paired with predictions. The error of a pair is predicted over
 *  measured, less 1. Rates were turned into the time of a step before, so that a
 *  positive error always means a prediction that is too slow, or needs too much memory. */
#ifndef CALC_VALIDATE_RESULTS_H
#define CALC_VALIDATE_RESULTS_H

#include "calc.h"
#include "io/text.h"
#include "validate/runs.h"
#include "validate/serving_map.h"

/** A run and its prediction; NaN: none. */
typedef struct calc_serving_prediction {
    calc_serving_map map;      /**< map.exec is complete where there is a prediction */
    const calc_app *app;       /**< borrowed, as is the system */
    const calc_system *system; /**< NULL where there is no prediction */
    char reason[256];          /**< why there is none; "" if there is one */
    char misfit[80];           /**< parts that do not fit the machine, though it ran; "" if all
                                    fit */
    double predicted[CALC_QUANTITY_COUNT]; /**< rates of as many requests as were in flight */
} calc_serving_prediction;

/** Predict one run. A static batch is the prefill of all its prompts and then its steps, one for
 *  each token after the first. */
void calc_serving_predict(calc_serving_prediction *out, const calc_serving_row *row,
                          calc_documents *apps, calc_documents *systems,
                          const calc_serving_engines *engines);

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

/** Read the times per token of runs whose model was left out of all fits.
 *  @param engine  calc_serving_engine.name
 *  @param path    of their errors, with columns engine and error (predicted / measured - 1)
 *  @return CALC_OK, or the status of calc_csv_table_read() */
CALC_MUST_USE calc_status calc_serving_reach_read(calc_serving_reach *out, const char *engine,
                                                  const char *path, calc_errors *errors);

/* The model's prediction of a measured run. */

/** A run and its prediction. */
typedef struct calc_prediction {
    calc_run_map map;  /**< map.exec is complete here: networks, micro-batch, interleaving */
    char reason[256];  /**< why there is no prediction; "" if there is one */
    char misfit[80];   /**< parts that do not fit the machine, though it ran; "" if all fit */
    double need_bytes; /**< of the first memory tier, in all; NaN: none */
    double predicted[CALC_QUANTITY_COUNT]; /**< NaN: none. Memory is the peak as it was counted:
                                                allocated by tensors, or all */
} calc_prediction;

/** Predict one run. A layout whose micro-batch was not published is the fastest of micro-batches
 *  1 to 16 and interleavings 1 to 4 that divide what they must (up to 2 sequences from 8 stages on,
 *  as larger ones do not fit). A need beyond the capacity of the machine is an assumption, not a
 *  failure: the run did run. */
void calc_predict(calc_prediction *out, const calc_runs_row *row, calc_documents *systems);

/* Published rows that look wrong or should not be scored, by name and with the
 * reason: tests/measured/remarks.csv. */

/** One remark. Texts are borrowed from the file. */
typedef struct calc_remark {
    const char *id;       /**< a pattern as in file names: "vtrain_multi_002?" */
    const char *quantity; /**< a word of CALC_QUANTITY_LIST, or "any" */
    const char *use;      /**< "unscored": left out of all groups; "suspect": scored, but no
                               serving engine is fitted to it */
    const char *remark;
} calc_remark;

/** All remarks, of a file with the columns id, quantity, use and remark. */
CALC_CSV_LIST(calc_remarks, calc_remark, calc_remarks_read, calc_remarks_free);

/** The first remark on a run and quantity; NULL if there is none. */
const calc_remark *calc_remarks_find(const calc_remarks *remarks, const char *id,
                                     const char *quantity);

/** The treatment of a measurement: X(NAME, word). */
#define CALC_USE_LIST(X)                                                                           \
    X(SCORED, "scored")           /* in the groups */                                              \
    X(UNSCORED, "unscored")       /* predicted, but in no group; the remark says why */            \
    X(REFUSED, "refused")         /* it ran, and is predicted not to fit: in no group */           \
    X(UNPREDICTED, "unpredicted") /* the remark says why */

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
    size_t grown, grown_from;   /**< of a shape: results whose times it compares */
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

/** Measured runs, and what their prediction needs. Borrowed. */
typedef struct calc_measured_runs {
    const calc_runs *runs; /**< of training, `files` of them */
    size_t files;
    const calc_remarks *remarks;
    calc_documents *systems;          /**< machines; the values of a calibration are put in here */
    const calc_serving_rows *serving; /**< of serving, instead of `runs`; NULL: of training */
    calc_documents *apps;             /**< models that they name */
    const calc_serving_engines *engines;
} calc_measured_runs;

/** Predict the runs and pair them. A run without any measurement has one result, unpredicted. What
 *  is borrowed must outlive the results.
 *  @return CALC_OK; CALC_ERR_NOMEM or CALC_ERR_IO of reading a machine or a model */
CALC_MUST_USE calc_status calc_results_make(calc_results *out, const calc_measured_runs *of,
                                            calc_errors *errors);

/** Free what they own; fine on {0}. */
void calc_results_free(calc_results *results);

/** How many have that use. */
size_t calc_results_count(const calc_results *results, calc_use use);

/** Words of the uses. */
extern const char *const calc_use_words[];

/* Memory that PyTorch's allocator has taken from the device at the peak of a
 * step, which some publications print ("max_reserved"): more than tensors occupy
 * ("max_memory_allocated"), less than the processor needs, as contexts and communication buffers
 * are outside of it.
 *
 * The allocator gives nothing back, and free memory lies in pieces between used memory. So tensors
 * of different times add up where they do not fit into the free pieces:
 * - those that the current blocks need forward, in many small pieces, and the logits that follow;
 * - the logits' narrow copy, freed before the gradients of the wide ones come, which are larger;
 * - with a split vocabulary, the probabilities, a third wide copy beside two gradients
 *    (torch/distributed/tensor/parallel/loss.py).
 *
 * FSDP2 under the stages of torch.distributed.pipelining (stage.py) holds, besides, the shards of
 * gradients that are still whole, and a buffer per micro-batch of a step for the input and for the
 * gradient of the output of each chunk. */

/** It, on the fullest stage [bytes]; NaN: the layout cannot be evaluated. */
double calc_reserved_of(const calc_run_map *map, const calc_system *system);

#endif
