/** @file run_data.h  What the page of a run draws beyond the run itself: passes, stages, parts of
 * time and memory, the pipeline, and the effects of changes. */
#ifndef CALC_REPORT_RUN_DATA_H
#define CALC_REPORT_RUN_DATA_H

#include "calc.h"
#include "io/json_put.h"
#include "model/schedule/schedule_sim.h"
#include "model/timeline.h"

/** A run that was evaluated. Borrows everything. */
typedef struct calc_run_data {
    const calc_app *app;
    const calc_system *system;
    const calc_exec *exec;
    calc_compat compat;
    const calc_stats *stats;
    const calc_stage_stats *stage; /**< of every stage */
    size_t stages;                 /**< 0: they are not known */
    /** Evaluates a layout on a changed system; NULL: calc_run() does. */
    calc_status (*run)(const void *context, const calc_system *system, const calc_exec *exec,
                       calc_stats *stats, calc_errors *errors);
    const void *context;
} calc_run_data;

/** Write the members of the open object.
 *  @return CALC_OK, or CALC_ERR_NOMEM, or what `run` returns, with an error */
CALC_MUST_USE calc_status calc_run_data_put(calc_put *put, const calc_run_data *data,
                                            calc_errors *errors);

/* Takes the time of a step and the memory of a processor apart, as numbers and
 * as JSON. */

/** Parts of the time of a step, in the order in which they are drawn: X(label, member of
 *  calc_stats, the kind as which a bar of one line shows it). */
#define CALC_BREAKDOWN_TIME_LIST(X)                                                                \
    X("forward", fw_time, FORWARD)                                                                 \
    X("backward", bw_time, BACKWARD)                                                               \
    X("optimizer", optim_step_time, OPTIMIZER)                                                     \
    X("recompute", recompute_time, RECOMPUTE)                                                      \
    X("repeated communication", recomm_exposed_time, COMMUNICATION)                                \
    X("pipeline bubble", bubble_time, BUBBLE)                                                      \
    X("tensor-parallel comm.", tp_comm_exposed_time, COMMUNICATION)                                \
    X("pipeline comm.", pp_comm_exposed_time, COMMUNICATION)                                       \
    X("data-parallel comm.", dp_comm_exposed_time, COMMUNICATION)                                  \
    X("forward offload", fw_offload_exposed_time, OTHER)                                           \
    X("backward offload", bw_offload_exposed_time, OTHER)                                          \
    X("embedding and head", head_time, HEAD)                                                       \
    X("context-parallel comm.", cp_comm_exposed_time, COMMUNICATION)                               \
    X("expert-parallel comm.", ep_comm_exposed_time, COMMUNICATION)                                \
    X("waiting for the host", host_time, OTHER)                                                    \
    X("stragglers", straggler_time, OTHER)                                                         \
    X("fixed overhead", overhead_time, OTHER)

enum { CALC_BREAKDOWN_TIMES = 17, CALC_BREAKDOWN_SPACES = 10, CALC_BREAKDOWN_LOSSES = 8 };

/** Parts of total_time, in the order shown: they add up to it. */
void calc_breakdown_times(const calc_stats *stats, double time_s[CALC_BREAKDOWN_TIMES]);

/** Parts of proc_mem_tier1_cap_req (tier 1) or proc_mem_tier2_cap_req (tier 2): weights,
 *  activations, checkpoints, activation gradients, weight gradients, optimizer. */
void calc_breakdown_spaces(const calc_exec *exec, const calc_stats *stats, int tier,
                           double space_bytes[CALC_BREAKDOWN_SPACES]);

/** The label of a part: "pipeline bubble", "weights". */
const char *calc_breakdown_time_label(size_t part);
const char *calc_breakdown_space_label(size_t part);

/** The label of a part of memory, on a page or in a table.
 *  @param ours  without Calculon's rules: "activation gradients" then include everything that the
 *  block in its backward pass needs beyond stored tensors */
const char *calc_breakdown_space_name(size_t part, bool ours);

/** Fraction of peak performance lost to each part of a step; with model_flops_utilization the parts
 *  add up to one. The first is the time that forward, backward and head take beyond their model
 *  FLOP at peak: other operations, efficiencies, and more work than a mean processor has; it is
 *  below zero where kernels run in a format with a higher peak. NaN where the step or the
 *  utilisation is not known. */
void calc_breakdown_losses(const calc_stats *stats, double share[CALC_BREAKDOWN_LOSSES]);

/** The same parts as a JSON object of label and value [s, bytes], those that are not zero. */
void calc_breakdown_put_time(calc_put *put, const char *key, const calc_stats *stats);
void calc_breakdown_put_memory(calc_put *put, const char *key, const calc_exec *exec,
                               const calc_stats *stats, int tier, bool ours);

/* Writes small changes of a layout and their effects (plan/why.h), for pages. */

/** The member `key` of the open object: the number of changes tried, and those that can run and
 *  have an effect, fastest first: in words, as assignments FIELD=VALUE, whether a framework can
 *  start the changed layout (if it can start the original), and the statistics that change.
 *  @return CALC_OK or CALC_ERR_NOMEM with an error */
CALC_MUST_USE calc_status calc_changes_put(calc_put *put, const char *key, const calc_app *app,
                                           const calc_system *system, const calc_exec *exec,
                                           calc_errors *errors);

/* Timeline of every stage of the pipeline and parts of the step, for
 * pictures. */

enum {
    CALC_TIMELINE_EVENTS = 40000, /**< above this, fewer micro-batches are shown, */
    CALC_TIMELINE_MOST = 120000   /**< but at least two rounds if there are no more than these */
};

/** Operations of a step. Owns `event`. Start with {0}. */
typedef struct calc_page_timeline {
    calc_schedule_shape shape; /**< shown shape, maybe with fewer micro-batches than the step */
    int64_t microbatches;      /**< of the step */
    double end_s;              /**< of the shown part */
    size_t count;              /**< 0: there is nothing to show */
    calc_schedule_event *event;
    const char *reason; /**< reason why there is nothing to show; NULL if there is */
} calc_page_timeline;

/** Runs a schedule.
 *  @param pass  [shape->stages * shape->chunks] as in calc_schedule_sim, including exposed
 *  messages; NULL: not known
 *  @return CALC_OK, or CALC_ERR_NOMEM with an error; *out must be freed in any case */
CALC_MUST_USE calc_status calc_page_timeline_make(calc_page_timeline *out,
                                                  const calc_schedule_shape *shape,
                                                  const calc_schedule_pass *pass,
                                                  calc_errors *errors);

/** Frees its events; {0} is allowed. */
void calc_page_timeline_free(calc_page_timeline *timeline);

/* Writes the data of a pipeline's picture other than its operations: the parts
 * of a pass, the phases after it, and the memory of a stage. */

/** Writes the member "step" of the open object: the names of the parts of a pass; for each stage
 *  the parts of its passes, the phases after a pipeline that ends at `pipeline_s`, its static
 *  memory, and the memory that a micro-batch in flight adds, in activations of a whole stage; and
 *  the end of the step. */
void calc_page_step_put(calc_put *put, const calc_timeline *timeline, double pipeline_s);

#endif
