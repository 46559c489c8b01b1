/** @file modules.h  Reads the planner's measurements of a configuration from files
 *  `..._MODULE.json`, one per configuration. */
#ifndef CALC_MINDSPEED_MODULES_H
#define CALC_MINDSPEED_MODULES_H

#include "mindspeed/config.h"

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

#endif
