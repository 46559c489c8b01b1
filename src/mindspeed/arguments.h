/** @file arguments.h  The job out of a launch script of MindSpeed, or out of its flags: Megatron's
 *  names, with what the planner adds to them. */
#ifndef CALC_MINDSPEED_ARGUMENTS_H
#define CALC_MINDSPEED_ARGUMENTS_H

#include "formats/plan.h"
#include "formats/settings.h"
#include "mindspeed/config.h"

enum { CALC_MINDSPEED_UNUSED = 1024 };

/** What is asked. */
typedef struct calc_mindspeed_arguments {
    calc_mindspeed_job job;
    calc_plan plan; /**< what is said of the model and of how it is computed (exec.h) */
    calc_app app;   /**< the model, for calc's rules */
    bool every;     /**< `--search-algo full_precision`: all configurations are measured, not few */
    char unused[CALC_MINDSPEED_UNUSED]; /**< flags without effect, "a, b and 3 more"; "": none */
} calc_mindspeed_arguments;

/** Read a job from settings, of which the last of a kind counts.
 *
 *  Needed are the sizes of the model, --seq-length, --global-batch-size, --fp16 or --bf16,
 *  --use-flash-attn, --nproc-per-node and --nnodes, which may be called --nodes. Sizes of a layout
 *  that a script has are what the planner decides, and are passed over; so are where the master is
 *  and what a training run reads and writes. The first generation plans for the devices at hand:
 *  --target-nnodes is not among its flags.
 *  @param settings  keys are given their usual spelling: dashes for underscores
 *  @param name      what errors call the script; NULL: there is none
 *  @return CALC_OK; CALC_ERR_RANGE, CALC_ERR_RULE, CALC_ERR_FIELD or CALC_ERR_UNSUPPORTED with
 *  errors that name the flag, and its place in the script */
CALC_MUST_USE calc_status calc_mindspeed_arguments_read(calc_mindspeed_arguments *out,
                                                        calc_settings *settings,
                                                        calc_mindspeed_generation generation,
                                                        const char *name, calc_errors *errors);

#endif
