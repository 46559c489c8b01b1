/** @file synthesis.h  Galvatron's profiles without a GPU: the measurements that its profilers would
 *  take of a model on a machine, computed with calc's own model of both. */
#ifndef CALC_GALVATRON_SYNTHESIS_H
#define CALC_GALVATRON_SYNTHESIS_H

#include "galvatron/profiles.h"
#include "io/output.h"

/** A model on a machine. These parts of the request are used: nodes and GPUs, precision, limits of
 *  degrees, and the sequence length of its one type of layers. */
typedef struct calc_galvatron_synthesis {
    const calc_app *app;
    const calc_system *system;
    const calc_galvatron_request *request;
} calc_galvatron_synthesis;

/** Fills the one type of layers from a model where the request leaves it open: width and number of
 *  blocks, and the sequence length. Blocks with and without experts form one type, the mean of
 *  both. */
void calc_galvatron_layers_of_app(const calc_app *app, calc_galvatron_request *request);

/** Writes one of the six files, under upstream's keys. The inputs must have been checked. */
void calc_galvatron_synthesis_write(const calc_galvatron_synthesis *s, calc_galvatron_file file,
                                    calc_output *out);

/** Fills profiles with the same numbers, as if the files had been written and read.
 *  @return CALC_OK, or the status of the first error that was added */
CALC_MUST_USE calc_status calc_galvatron_profiles_of_model(const calc_app *app,
                                                           const calc_system *system,
                                                           const calc_galvatron_request *request,
                                                           calc_galvatron_profiles *out,
                                                           calc_errors *errors);

/* Single figures of a synthesis: the result of one measurement by Galvatron's
 * profilers, computed with calc's model. */

/** Settings of a measurement of the model: ranks, batch and options. */
typedef struct calc_galvatron_run {
    int64_t tensor_par;
    int64_t batch, sequence;
    bool sequence_par; /**< Megatron's: activations between layers are split, too */
    bool checkpoint;   /**< layers keep only their input */
    bool stages;       /**< embedding and head are on separate stages */
} calc_galvatron_run;

/** Figures of one rank, per micro-batch; MB of 2^20 bytes. */
typedef struct calc_galvatron_measured {
    double layer_ms, other_ms; /**< forward */
    double layer_elements;     /**< parameters */
    double layer_mb;           /**< activations kept for the backward pass */
    double first_elements, last_elements;
    double first_mb, last_mb; /**< kept by embedding and head, including the temporary peak */
} calc_galvatron_measured;

/** Measures the model. @return false if the model cannot be split this way; *out is then
 *  unchanged */
bool calc_galvatron_measure(const calc_galvatron_synthesis *s, const calc_galvatron_run *run,
                            calc_galvatron_measured *out);

/** Bus bandwidth [MB/ms] of a long all-reduce over ranks that are neighbours, or as far apart as
 *  possible. */
double calc_galvatron_measure_allreduce(const calc_galvatron_synthesis *s, int64_t ranks,
                                        bool neighbours);

/** Time [ms] of an all-reduce or an all-to-all of the given MB over neighbours. */
double calc_galvatron_measure_collective_ms(const calc_galvatron_synthesis *s, bool allreduce,
                                            int64_t ranks, double mb);

/** Factor by which computing and messages slow down when they run at the same time: messages occupy
 *  part of the processor. */
double calc_galvatron_measure_overlap(const calc_galvatron_synthesis *s);

/** Checks that the model can be profiled: one type of layers, a number format of the machine, and
 *  an allowed number of GPUs.
 *  @return CALC_OK, or the status of the first error that was added */
CALC_MUST_USE calc_status calc_galvatron_synthesis_check(const calc_galvatron_synthesis *s,
                                                         calc_errors *errors);

#endif
