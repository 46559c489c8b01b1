/** @file arguments.h  Reads the job from a launch script of MindSpeed or from its flags: Megatron's
 *  flags and those that the planner adds. */
#ifndef CALC_MINDSPEED_ARGUMENTS_H
#define CALC_MINDSPEED_ARGUMENTS_H

#include "calc.h"
#include "formats/plan.h"
#include "formats/settings.h"

/** A configuration, in the order of its vector. Sequence parallelism is always on. */
typedef struct calc_mindspeed_config {
    int pp, tp, dp;
    int cp; /**< ring attention */
    int up; /**< Ulysses */
    int mbs;
    int vpp; /**< chunks per stage; 1 without interleaving */
    int ep;  /**< 0 for dense models */
} calc_mindspeed_config;

/** Generations of the planner whose rules are implemented here: `mindspeed/core/auto_parallel` of
 *  2024 and of 2025. */
typedef enum calc_mindspeed_generation {
    CALC_MINDSPEED_GEN1 = 1,
    CALC_MINDSPEED_GEN2
} calc_mindspeed_generation;

/** The job, from Megatron's arguments in a script. Sizes are counts. */
typedef struct calc_mindspeed_job {
    int layers, hidden, ffn, heads;
    int groups;  /**< number of key and value heads; `heads` without grouped queries */
    int head;    /**< size of a head */
    int seq;     /**< tokens of a sequence */
    int batch;   /**< sequences of a step */
    int vocab;   /**< padded; 0: not given */
    int experts; /**< 0: dense */
    int topk;    /**< experts per token */
    int nodes, per_node;
    int target_nodes; /**< nodes to plan for; `nodes` if they are the same */
    bool swiglu, untied;
    bool fp16; /**< false: bfloat16 */
    bool distributed_optimizer, reuse_fp32;
    bool full_recompute, recompute_activation_function, swap_attention;
} calc_mindspeed_job;

/** Number of devices to plan for. */
static inline int calc_mindspeed_devices(const calc_mindspeed_job *job)
{
    return job->target_nodes * job->per_node;
}

enum { CALC_MINDSPEED_NAME = 128 };

/** The file name of a configuration: PP1_TP8_DP1_CP1_UP1_MBS4, followed by _VP1_EP0 in the second
 *  generation. @return text */
char *calc_mindspeed_config_name(const calc_mindspeed_config *config,
                                 calc_mindspeed_generation generation,
                                 char text[CALC_MINDSPEED_NAME]);

/* Enumerates the configurations that MindSpeed's planner chooses from, before
 * memory is considered (mindspeed/core/auto_parallel of July 2024 and of January 2025). */

/** Configurations in the order of their enumeration: stages outermost, then tensor, context and
 *  Ulysses parallelism, micro-batch, chunks, experts. Owns its list; start with {0}. */
typedef struct calc_mindspeed_space {
    calc_mindspeed_config *config;
    size_t count;
} calc_mindspeed_space;

/** Enumerates every configuration of the devices to plan for (calc_mindspeed_devices()). Sizes must
 *  divide devices, layers, heads, sequences and experts.
 *
 *  The first generation allows any micro-batch that divides the batch of a replica, and applies the
 *  requirements of both ring attention and Ulysses to every configuration. The second has
 *  micro-batches of 1 and 2; chunks if there are more than 2 stages and they divide the
 *  micro-batches; experts; and at least 4096 tokens on a rank if sequences are split.
 *
 *  Experts that are not spread over ranks are ep = 1, dense models ep = 0. */
void calc_mindspeed_space_list(const calc_mindspeed_job *job, calc_mindspeed_generation generation,
                               calc_mindspeed_space *space);

/** Frees the list; {0} is allowed. */
void calc_mindspeed_space_free(calc_mindspeed_space *space);

enum { CALC_MINDSPEED_UNUSED = 1024 };

/** The request. */
typedef struct calc_mindspeed_arguments {
    calc_mindspeed_job job;
    calc_plan plan; /**< the script's settings of the model and its execution (memory.h) */
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
