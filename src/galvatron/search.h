/** @file search.h  Galvatron's search for the strategy of every layer, and of embedding and head,
 *  with the least time per sample. In compat the answer is upstream's, with its budget rule, whole
 *  MB, the objective of its dynamic programme and its order of equal answers, except for ties that
 *  its inexact fits decide (docs/layers.md). Otherwise the search minimizes the step time itself,
 *  including re-sharding, within a budget that grows with memory; the answer is never worse than
 *  compat's. */
#ifndef CALC_GALVATRON_SEARCH_H
#define CALC_GALVATRON_SEARCH_H

#include "calc.h"
#include "galvatron/cost.h"
#include "layerwise/stage.h"

enum {
    CALC_GALVATRON_LAYERS = 1024, /**< most layers of a model */
    CALC_GALVATRON_STAGES = 256   /**< most stages of a pipeline; deeper ones are not searched */
};

/** The strategies that a task allows. */
typedef enum calc_galvatron_mode {
    CALC_GALVATRON_TP_ONLY,
    CALC_GALVATRON_SP_ONLY,
    CALC_GALVATRON_TP_WITH_SP
} calc_galvatron_mode;

/** Values shared by all layers of an answer. */
typedef struct calc_galvatron_task {
    int64_t gbsz, chunks;
    int pp;
    calc_galvatron_mode mode;
    int buffer_tp; /**< most ranks that one layer is split over by tp or sp */
} calc_galvatron_task;

/** One answer. */
typedef struct calc_galvatron_answer {
    bool feasible;
    calc_galvatron_task task;
    calc_galvatron_strategy ends;                         /**< strategy of embedding and head */
    calc_galvatron_strategy layer[CALC_GALVATRON_LAYERS]; /**< from first to last */
    int division[CALC_GALVATRON_STAGES];                  /**< layers of each stage */
    double step_s;
    double reshard_s;  /**< its part for re-sharding between layers that differ; in compat 0 */
    double throughput; /**< samples a second */
    double used_mb[CALC_GALVATRON_STAGES];   /**< including reserved memory, as upstream reports
                                              *  it */
    double remain_mb[CALC_GALVATRON_STAGES]; /**< left of the budget */
} calc_galvatron_answer;

/** The result of a search. */
typedef struct calc_galvatron_found {
    calc_galvatron_answer best;
    calc_galvatron_answer second; /**< the best answer with another batch, chunks or pp, if
                                   *  feasible */
    bool proven;                  /**< no better answer exists in the space (compat: it is
                                   *  upstream's) */
    double gap;                   /**< else: largest possible improvement, as a share of the step */
    int tasks;                    /**< number of tasks */
    int solved;                   /**< tasks solved; the others cannot be better */
    double limit_mb;              /**< memory for layers, ends and buffers of a stage */
    double reserve_mb;            /**< reserved memory */
    double unlimited_s;           /**< lower bound per sample without a memory limit; INFINITY: no
                                   *  tasks */
    double least_mb;              /**< nothing fits with a lower limit; INFINITY: no tasks */
} calc_galvatron_found;

/** Searches.
 *  @return CALC_OK also if nothing is feasible; CALC_ERR_RULE if the model has more than
 *  CALC_GALVATRON_LAYERS layers */
CALC_MUST_USE calc_status calc_galvatron_search(const calc_galvatron_request *request,
                                                const calc_galvatron_profiles *profiles,
                                                calc_galvatron_found *out);

/** Step time by the default objective: upstream's, plus re-sharding in every micro-batch.
 *  @param reshard_s  NULL, or set to the part of re-sharding */
double calc_galvatron_judge_s(const calc_galvatron_request *request,
                              const calc_galvatron_profiles *profiles,
                              const calc_galvatron_answer *answer, double *reshard_s);

/* Enumerates the strategies, the tasks, and the strategies that a task
 * allows. */

/** Lists all strategies of a pp in upstream's order: by tp, sp, cp, dp, type, checkpoint.
 *  @param ends  lists those of embedding and head, without checkpoints
 *  @param out   NULL: only count
 *  @return how many */
int calc_galvatron_strategies(const calc_galvatron_request *request, int pp, bool ends,
                              calc_galvatron_strategy *out);

/** Whether a task allows a strategy of its pp. In compat this includes strategies whose ranks would
 *  have unequal micro-batches. */
bool calc_galvatron_allows(const calc_galvatron_request *request, const calc_galvatron_task *task,
                           const calc_galvatron_strategy *strategy);

/** Lists all tasks in upstream's order.
 *  @param out  NULL: only count
 *  @return how many */
int calc_galvatron_tasks(const calc_galvatron_request *request, calc_galvatron_task *out);

typedef struct calc_galvatron_posed calc_galvatron_posed; /**< a task with its costs: posed.h */

/* Finds the shortest step of a task with given ends. It chooses the layers of all
 *  stages together to minimize the step, not the time of each stage alone.
 *
 *  The step time (calc_galvatron_pipeline_s) rises with the micro-batch time of every stage. It
 *  also contains the exposed part of the last micro-batch's gradient reduction: for stage i, sync_s
 *  of the stage minus the time of its ends and of the stages before it. A stage that exposes
 *  nothing when all micro-batches are as short as possible keeps its choice; every other stage
 *  chooses from its front of micro_s and sync_s. */

typedef struct calc_galvatron_joined {
    calc_layerwise_point point[CALC_GALVATRON_STAGES]; /**< its bytes are MB */
    double step_s;
    double bound_s; /**< lower bound: no answer is faster, or none below the limit; the answer is
                     *  proven if the bound equals step_s or the limit */
} calc_galvatron_joined;

/** Finds the shortest step.
 *  @param limit_s  the search for the minimum stops if no step can be below it; then the answer is
 *  any that fits
 *  @return false if a stage does not fit */
CALC_MUST_USE bool calc_galvatron_better(calc_galvatron_posed *posed, int end, double limit_s,
                                         calc_galvatron_joined *out);

/** calc_galvatron_judge_s() for an answer to this task. */
double calc_galvatron_judge_posed_s(const calc_galvatron_posed *posed,
                                    const calc_galvatron_answer *answer, double *reshard_s);

/** Fills the layers, ends, step and memory of an answer with the best strategy of a task, by
 *  upstream's step time.
 *  @return false if none fits */
bool calc_galvatron_coarse(const calc_galvatron_posed *posed, calc_galvatron_answer *out);

#endif
