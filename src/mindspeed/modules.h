/** @file modules.h  What MindSpeed's planner measured of a configuration, in files
 *  `..._MODULE.json`, one per configuration. */
#ifndef CALC_MINDSPEED_MODULES_H
#define CALC_MINDSPEED_MODULES_H

#include "mindspeed/config.h"

/** Parts of a model of which there are times. */
typedef enum calc_mindspeed_module {
    CALC_MINDSPEED_EMBEDDING,
    CALC_MINDSPEED_LAYER, /**< the first one: its key is "0" */
    CALC_MINDSPEED_FINAL_NORM,
    CALC_MINDSPEED_OUTPUT,
    CALC_MINDSPEED_LOSS,
    CALC_MINDSPEED_MODULES
} calc_mindspeed_module;

/** A file. What it does not have is NaN. */
typedef struct calc_mindspeed_profile {
    double step_s;
    double layer_gib;             /**< first generation: activations of one layer */
    double forward_s, backward_s; /**< second generation: of the step */
    /** Second generation: of a forward pass, and memory kept and at most. */
    double time_s[CALC_MINDSPEED_MODULES], memory_gib[CALC_MINDSPEED_MODULES],
        most_gib[CALC_MINDSPEED_MODULES];
} calc_mindspeed_profile;

/** What is run of a configuration to measure it: in the second generation one stage of one chunk
 * and as many replicas as the cluster at hand, which may be smaller than the one that is planned
 * for, has; in the first the configuration itself. */
calc_mindspeed_config calc_mindspeed_modules_crop(const calc_mindspeed_job *job,
                                                  calc_mindspeed_generation generation,
                                                  const calc_mindspeed_config *config);

/** Read what was measured of a configuration: of itself, or of its crop.
 *
 *  The first generation's files are `{"step_time": s, "transformer_act_mem": GiB}`, either may be
 *  missing; the second's have `step_time`, `forward_step_time`, `backward_step_time` in ms and
 *  objects `embedding`, `0`, `final_layernorm`, `output_layer`, `loss` with `time` in ms, `memory`
 *  and `max_memory` in GiB, all of them, and `_node0` in their names, or none.
 *  @return CALC_OK; CALC_ERR_NOT_FOUND without an error: there is no file; or a status with an
 * error that names the file, for one that is damaged */
CALC_MUST_USE calc_status calc_mindspeed_modules_read(
    calc_mindspeed_profile *out, const char *folder, const calc_mindspeed_job *job,
    calc_mindspeed_generation generation, const calc_mindspeed_config *config, calc_errors *errors);

/** The same of a text. @param name  what errors call it */
CALC_MUST_USE calc_status calc_mindspeed_modules_parse(calc_mindspeed_profile *out,
                                                       calc_mindspeed_generation generation,
                                                       const char *text, size_t length,
                                                       const char *name, calc_errors *errors);

#endif
