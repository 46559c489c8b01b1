/** @file memory.h  Memory of a configuration as MindSpeed's planner of January 2025 computes it
 *  without measurements (memory_model.py, its "white box"). Bytes of the first stage, which has the
 *  embedding and keeps the most micro-batches. */
#ifndef CALC_MINDSPEED_MEMORY_H
#define CALC_MINDSPEED_MEMORY_H

#include "base/notes.h"
#include "formats/plan.h"
#include "mindspeed/arguments.h"

/** Memory of a device of the first stage. */
typedef struct calc_mindspeed_memory {
    double parameters; /**< of the device; a count */
    double weight_bytes, grad_bytes, optimizer_bytes;
    double activation_bytes; /**< of all micro-batches in flight */
    double peak_bytes;       /**< their sum plus 4.5 GiB for the runtime */
} calc_mindspeed_memory;

/** Configurations above this share of a device's memory are not tried. The share is above 1 because
 *  a measurement may show less. */
#define CALC_MINDSPEED_MEMORY_PRUNE 1.2

/** An answer must need less than this share. */
#define CALC_MINDSPEED_MEMORY_FINAL 0.95

/** Computes all of it. */
calc_mindspeed_memory calc_mindspeed_memory_of(const calc_mindspeed_job *job,
                                               const calc_mindspeed_config *config);

/** Activations of one layer and one micro-batch [bytes], without swapped tensors. The activation
 *  function's is the only recomputation considered. */
double calc_mindspeed_memory_layer_bytes(const calc_mindspeed_job *job,
                                         const calc_mindspeed_config *config);

/* Memory of a configuration as MindSpeed's planner of July 2024 computes it
 * (auto_parallel_memory.py, its "grey box"). The activations of a layer are measured on a few
 * configurations, and a sum of four terms is fitted to them. All other memory follows from the
 * sizes of the model. */

enum { CALC_MINDSPEED_TERMS = 4, CALC_MINDSPEED_RUNS = 8 /* most configurations */ };

/** A configuration with the measured activations of one layer [GiB]; NaN: the run failed. */
typedef struct calc_mindspeed_measured {
    calc_mindspeed_config config;
    double layer_gib;
} calc_mindspeed_measured;

/** Weights of the terms, GiB. */
typedef struct calc_mindspeed_regression {
    double theta[CALC_MINDSPEED_TERMS];
} calc_mindspeed_regression;

/** The terms: 1, b/(tp cp up), b/(tp cp^2 up), b/(cp up), with b the micro-batch. */
void calc_mindspeed_regression_terms(const calc_mindspeed_config *config,
                                     double term[CALC_MINDSPEED_TERMS]);

/** Fits the weights by least squares, with equal weight for each measurement.
 *  @param count  at most CALC_MINDSPEED_RUNS; failed runs are left out
 *  @return false if fewer than four are left, or if they determine fewer than four weights */
CALC_MUST_USE bool calc_mindspeed_regression_fit(calc_mindspeed_regression *out,
                                                 const calc_mindspeed_measured *measured,
                                                 size_t count);

/** Activations of one layer and one micro-batch by the fit [GiB]. A bad fit can give a value below
 *  0. */
double calc_mindspeed_regression_layer_gib(const calc_mindspeed_regression *regression,
                                           const calc_mindspeed_config *config);

/** Memory of a device of the first stage [bytes], the larger of two moments: the end of the forward
 *  passes, and the backward pass with the gradients. It includes 4 GiB besides weights, states and
 *  activations.
 *  @param layer_gib  of one layer and one micro-batch; below 0 counts as 0 */
double calc_mindspeed_regression_peak_bytes(const calc_mindspeed_job *job,
                                            const calc_mindspeed_config *config, double layer_gib);

/* Chooses the configurations on which MindSpeed's planner of July 2024 measures
 * the activations of a layer: those that determine the fitted weights best. */

enum { CALC_MINDSPEED_PROBES = 5 };

/** A choice. */
typedef struct calc_mindspeed_probes {
    calc_mindspeed_config config[CALC_MINDSPEED_PROBES]; /**< one of each group */
    int count;                                           /**< 5; 0: there is no such choice */
    double condition; /**< of the normal matrix: largest eigenvalue / smallest */
    int empty;        /**< number of the first empty group, from 1; 0: none */
} calc_mindspeed_probes;

/** Chooses one configuration of each group, with micro-batches below 8: (1) whole sequences and the
 *  most tensor parallelism; (2) only a pipeline and a ring; (3) only a pipeline and Ulysses; (4)
 *  ring and Ulysses, without tensor parallelism; (5) all three. At least two micro-batch sizes must
 *  differ, and the normal matrix must have full rank. The result is the choice whose matrix has the
 *  smallest condition number, or the first below 100. If there are very many choices, only the
 *  first 200,000 are considered. */
void calc_mindspeed_probes_choose(const calc_mindspeed_space *space, calc_mindspeed_probes *out);

/** The inputs for memory and time of a job. Borrows. */
typedef struct calc_mindspeed_study {
    const calc_mindspeed_arguments *arguments;
    const calc_system *system;
    calc_mindspeed_generation generation;
    const char *profiles; /**< a folder; NULL: nothing was measured */
    bool calc_memory;     /**< uses calc's model, not the model of MindSpeed's generation */
} calc_mindspeed_study;

/** How peaks are computed. */
typedef struct calc_mindspeed_peak {
    const calc_mindspeed_study *study;
    bool regression; /**< uses a fit; else calc's model or the formulas, as the study sets */
    calc_mindspeed_probes probes;
    bool measured[CALC_MINDSPEED_PROBES]; /**< for each probe; the others come from calc's model */
    calc_mindspeed_regression fit;
    int negative; /**< number of configurations so far with activations below 0 */
} calc_mindspeed_peak;

/** Starts. For the first generation's model it chooses the probes, reads their measurements, takes
 *  the missing ones from calc's model, and fits. If there are no probes, it uses the second
 *  generation's model and adds a note. */
void calc_mindspeed_peak_start(calc_mindspeed_peak *peak, const calc_mindspeed_study *study,
                               const calc_mindspeed_space *space, calc_notes *notes);

/** Peak memory of a configuration [bytes]. */
double calc_mindspeed_peak_bytes(calc_mindspeed_peak *peak, const calc_mindspeed_config *config);

/** Shares of the capacity: above calc_mindspeed_peak_prune() a configuration is not timed, and
 *  above calc_mindspeed_peak_final() it is no answer. MindSpeed uses 1.2 and 0.95, and 1.2 and 1 in
 * its first generation, where everything that fits is an answer. With calc's memory both are 1. */
double calc_mindspeed_peak_prune(const calc_mindspeed_study *study);
double calc_mindspeed_peak_final(const calc_mindspeed_study *study);

/** Parts of a model with measured times. */
typedef enum calc_mindspeed_module {
    CALC_MINDSPEED_EMBEDDING,
    CALC_MINDSPEED_LAYER, /**< the first layer: its key is "0" */
    CALC_MINDSPEED_FINAL_NORM,
    CALC_MINDSPEED_OUTPUT,
    CALC_MINDSPEED_LOSS,
    CALC_MINDSPEED_MODULES
} calc_mindspeed_module;

/** A file. Missing values are NaN. */
typedef struct calc_mindspeed_profile {
    double step_s;
    double layer_gib;             /**< first generation: activations of one layer */
    double forward_s, backward_s; /**< second generation: of the step */
    /** Second generation: times of a forward pass, and kept and peak memory. */
    double time_s[CALC_MINDSPEED_MODULES], memory_gib[CALC_MINDSPEED_MODULES],
        most_gib[CALC_MINDSPEED_MODULES];
} calc_mindspeed_profile;

/** The configuration that is run for the measurement. Second generation: one stage of one chunk,
 *  with as many replicas as the cluster at hand, which may be smaller than the cluster to plan for.
 *  First generation: the configuration itself. */
calc_mindspeed_config calc_mindspeed_modules_crop(const calc_mindspeed_job *job,
                                                  calc_mindspeed_generation generation,
                                                  const calc_mindspeed_config *config);

/** Reads the measurements of a configuration, or of its crop.
 *
 *  Files of the first generation are `{"step_time": s, "transformer_act_mem": GiB}`, either of
 *  which may be missing. Files of the second have `step_time`, `forward_step_time`,
 *  `backward_step_time` in ms, and objects `embedding`, `0`, `final_layernorm`, `output_layer`,
 *  `loss` with `time` in ms, `memory` and `max_memory` in GiB. All of them are required. All names
 *  have `_node0`, or none.
 *  @return CALC_OK; CALC_ERR_NOT_FOUND without an error if there is no file; or a status with an
 *  error that names the file, if it is damaged */
CALC_MUST_USE calc_status calc_mindspeed_modules_read(
    calc_mindspeed_profile *out, const char *folder, const calc_mindspeed_job *job,
    calc_mindspeed_generation generation, const calc_mindspeed_config *config, calc_errors *errors);

/** Reads them from a text. @param name  the text's name in errors */
CALC_MUST_USE calc_status calc_mindspeed_modules_parse(calc_mindspeed_profile *out,
                                                       calc_mindspeed_generation generation,
                                                       const char *text, size_t length,
                                                       const char *name, calc_errors *errors);

/** Builds the model and the execution of a configuration. Ring attention together with Ulysses
 *  becomes hierarchical context parallelism with Ulysses inside. Stages are even and scheduled
 *  1F1B, whatever the script sets.
 *  @param plan  the script's settings
 *  @return CALC_OK; or CALC_ERR_RULE or CALC_ERR_RANGE with an error added */
CALC_MUST_USE calc_status calc_mindspeed_exec_of(const calc_plan *plan,
                                                 const calc_mindspeed_config *config, calc_app *app,
                                                 calc_exec *exec, calc_errors *errors);

/** Answers of calc's model. */
typedef struct calc_mindspeed_modelled {
    double peak_bytes;  /**< peak of the fullest device; infinite: calc cannot lay it out */
    double layer_bytes; /**< activations that one layer keeps for one micro-batch */
    char why[320];      /**< reason why it cannot be laid out; else "" */
} calc_mindspeed_modelled;

/** Evaluates a configuration.
 *  @param plan  the script's settings */
calc_mindspeed_modelled calc_mindspeed_modelled_of(const calc_plan *plan, const calc_system *system,
                                                   const calc_mindspeed_config *config);

#endif
