/** @file arguments.h  Reads the job from a launch script of MindSpeed or from its flags: Megatron's
 *  flags and those that the planner adds. */
#ifndef CALC_MINDSPEED_ARGUMENTS_H
#define CALC_MINDSPEED_ARGUMENTS_H

#include "formats/plan.h"
#include "formats/settings.h"
#include "mindspeed/config.h"

enum { CALC_MINDSPEED_UNUSED = 1024 };

/** The request. */
typedef struct calc_mindspeed_arguments {
    calc_mindspeed_job job;
    calc_plan plan; /**< the script's settings of the model and its execution (exec.h) */
    calc_app app;   /**< the model, for calc's rules */
    bool every;     /**< `--search-algo full_precision`: measures all configurations, not only a
                     *  few */
    char unused[CALC_MINDSPEED_UNUSED]; /**< flags without effect, "a, b and 3 more"; "": none */
} calc_mindspeed_arguments;

/** Reads a job from settings. If a setting is repeated, the last one counts.
 *
 *  Required are the sizes of the model, --seq-length, --global-batch-size, --fp16 or --bf16,
 *  --use-flash-attn, --nproc-per-node and --nnodes (or --nodes). The planner decides the layout, so
 *  a script's layout sizes are skipped; so are the master's address and the files that a training
 *  run reads and writes. The first generation has no --target-nnodes and plans for the devices at
 *  hand.
 *  @param settings  keys are changed to their usual spelling, with dashes for underscores
 *  @param name      the script's name in errors; NULL: there is none
 *  @return CALC_OK; CALC_ERR_RANGE, CALC_ERR_RULE, CALC_ERR_FIELD or CALC_ERR_UNSUPPORTED with
 *  errors that name the flag, and its place in the script */
CALC_MUST_USE calc_status calc_mindspeed_arguments_read(calc_mindspeed_arguments *out,
                                                        calc_settings *settings,
                                                        calc_mindspeed_generation generation,
                                                        const char *name, calc_errors *errors);

#endif
