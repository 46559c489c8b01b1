/** @file kernel.h  The hot loops: needs and times of the lanes of a panel (panel.h), in the pieces
 * of model/stages/stage_step.h, each computed as often as it changes and no more. The memory of a
 * layout depends on its chunking, the pipeline on that and its network, the exposed time of data
 * parallelism on both and its own network. */
#ifndef CALC_SWEEP_KERNEL_H
#define CALC_SWEEP_KERNEL_H

#include "bound.h"
#include "panel.h"

/** Longer than any step, for what is not allowed; finite, as the kernel is compiled without
 *  infinities. */
#define CALC_KERNEL_NEVER_S 1e300

/** An array over the lanes of a panel. */
typedef struct calc_lanes {
    _Alignas(CALC_PANEL_ALIGN) double of[CALC_PANEL_LANES];
} calc_lanes;

/** Lanes in a cell. Borrows. */
typedef struct calc_kernel_job {
    const calc_panel *panel;
    const calc_stage_terms *shared; /**< terms of the cell and the state: calc_panel_terms() */
    calc_pipeline_schedule schedule;
    double tier1_capacity_bytes, tier2_capacity_bytes;
    const calc_screen *screen; /**< of the group */
    double numerator;          /**< of its rates */
    double most_s;             /**< steps that take longer do not matter, */
    double least_longest_s;    /**< but steps up to this always do, whatever the screen says */
} calc_kernel_job;

/** An interleaving, with or without overlap of pipeline messages. */
typedef struct calc_kernel_chunking {
    double chunks, overlapped;
    int classes;  /**< of stages, the first ones of item */
    bool experts; /**< the model has some */
    calc_stage_class item[CALC_MAX_STAGE_CLASSES];
    double held[CALC_MAX_STAGE_CLASSES]; /**< calc_stage_held() */
} calc_kernel_chunking;

/** Memory needs of lanes with a chunking. */
typedef struct calc_kernel_needs {
    size_t feasible;   /**< lanes; of the others, */
    size_t over_tier1; /**< those for which the first tier is too small, */
    size_t over_tier2; /**< and those for which only the second is */
    calc_lanes tier1_bytes, tier2_bytes, optimizer_s;
    /** Steps that take longer do not matter [s]; -1 where memory does not fit. */
    calc_lanes longest_s;
} calc_kernel_needs;

/** Members of calc_stage_links that depend on how experts are spread. */
#define CALC_KERNEL_EXPERT_LINK_LIST(X)                                                            \
    X(reduce_expert_latency_s)                                                                     \
    X(reduce_expert_s_per_byte)                                                                    \
    X(gather_expert_latency_s)                                                                     \
    X(gather_expert_s_per_byte)

/** The pipeline of lanes with a chunking and its network. */
typedef struct calc_kernel_pipelines {
    calc_lanes message_s, back_message_s; /**< given */
    /** Given, if there are experts: links of those of a lane, in addition to those of all lanes. */
#define CALC_X(member) calc_lanes member;
    CALC_KERNEL_EXPERT_LINK_LIST(CALC_X)
#undef CALC_X
    calc_lanes pipeline_s; /**< calc_stage_pipeline_least_s() */
    calc_lanes fw_s[CALC_MAX_STAGE_CLASSES], bw_s[CALC_MAX_STAGE_CLASSES];
    calc_lanes base_bw_s[CALC_MAX_STAGE_CLASSES], edge_bw_s[CALC_MAX_STAGE_CLASSES]; /**< by rule */
} calc_kernel_pipelines;

/** A range of steps [s]: no step outside of `least_s` to `most_s` belongs to it, all from
 *  `sure_from_s` to `sure_to_s` do, and the others are undecided. CALC_KERNEL_NEVER_S: without end.
 */
typedef struct calc_kernel_range {
    double least_s, most_s;
    double sure_from_s, sure_to_s;
} calc_kernel_range;

/** One level of CPU. */
typedef struct calc_kernel {
    /** Which lanes of some vectors of a panel may matter, by their bounds.
     *  @param vector  numbers of the vectors, ascending
     *  @param alive   filled with the positions of the lanes, ascending
     *  @return their number */
    size_t (*bound)(const calc_kernel_job *job, const calc_floor *floor,
                    const unsigned char *vector, size_t vectors, unsigned char *alive);
    /** Compute the memory needs of lanes with a chunking. */
    void (*needs)(const calc_kernel_job *job, const calc_kernel_chunking *chunking,
                  calc_kernel_needs *out);
    /** Which steps matter: when needs are new, and when more is known. */
    void (*screen)(const calc_kernel_job *job, calc_kernel_needs *needs);
    /** Their passes and pipelines. @param links  of the pair of networks, but for the messages */
    void (*pipeline)(const calc_kernel_job *job, const calc_kernel_chunking *chunking,
                     const calc_stage_links *links, calc_kernel_pipelines *io);
    /** Their steps.
     *  @param allowed  [gradients overlap][weights overlap]
     *  @param best_s   filled with the shortest step of the allowed ones; a lower bound of it with
     *                  chunks, and with schedules beside 1F1B
     *  @return lanes whose step is no longer than needs->longest_s */
    size_t (*step)(const calc_kernel_job *job, const calc_kernel_chunking *chunking,
                   const calc_stage_links *links, const calc_kernel_needs *needs,
                   const calc_kernel_pipelines *pipelines, bool allowed[2][2], calc_lanes *best_s);
} calc_kernel;

/** The kernel at each CPU level; the last two only on x86-64. Ask calc_kernel_levels() which this
 * machine can run. */
extern const calc_kernel calc_kernel_generic;
extern const calc_kernel calc_kernel_v3;
extern const calc_kernel calc_kernel_v4;

/** The step of one lane, or what the kernel minimises over: a lower bound
 *  (calc_stage_step_or_less()).
 *  @param links  with the messages of the lane */
calc_stage_step calc_kernel_lane_step(const calc_kernel_job *job,
                                      const calc_kernel_chunking *chunking,
                                      const calc_stage_links *links, size_t lane, bool least);

/** One kernel per CPU level; the best that this machine has, or that CALC_CPU names
 *  ("x86-64", "x86-64-v3", "x86-64-v4"). */
typedef struct calc_kernel_level {
    const char *name;
    const calc_kernel *run;
} calc_kernel_level;

/** Levels that this machine can run, lowest first.
 *  @return their number, at least 1 */
size_t calc_kernel_levels(calc_kernel_level out[4]);

#endif
