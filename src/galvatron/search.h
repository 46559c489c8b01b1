/** @file search.h  Galvatron's search: the strategy of every layer, and of embedding and head, that
 *  takes least for a sample. In compat its answer is upstream's, with its budget rule, whole MB,
 * the objective of its dynamic programme and the order in which equal ones come (docs/layers.md).
 * Else the step itself is made least, with the time that re-sharding takes, in a budget that grows
 * with memory: an answer is never worse than compat's. */
#ifndef CALC_GALVATRON_SEARCH_H
#define CALC_GALVATRON_SEARCH_H

#include "calc.h"
#include "galvatron/cost.h"

enum {
    CALC_GALVATRON_LAYERS = 1024, /**< of a model */
    CALC_GALVATRON_STAGES = 256   /**< of a pipeline; more are not searched */
};

/** Which strategies a task allows. */
typedef enum calc_galvatron_mode {
    CALC_GALVATRON_TP_ONLY,
    CALC_GALVATRON_SP_ONLY,
    CALC_GALVATRON_TP_WITH_SP
} calc_galvatron_mode;

/** What is shared by all layers of an answer. */
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
    calc_galvatron_strategy ends;                         /**< of embedding and head */
    calc_galvatron_strategy layer[CALC_GALVATRON_LAYERS]; /**< from first to last */
    int division[CALC_GALVATRON_STAGES];                  /**< layers of each stage */
    double step_s;
    double reshard_s;  /**< of it, re-sharding between layers that differ; in compat 0 */
    double throughput; /**< samples a second */
    double used_mb[CALC_GALVATRON_STAGES];   /**< with what is reserved, as upstream reports it */
    double remain_mb[CALC_GALVATRON_STAGES]; /**< left of the budget */
} calc_galvatron_answer;

/** What a search found. */
typedef struct calc_galvatron_found {
    calc_galvatron_answer best;
    calc_galvatron_answer second; /**< the best with another batch, chunks or pp, if feasible */
    bool proven;                  /**< nothing in the space is better (compat: it is upstream's) */
    double gap;                   /**< else: it may be better by this share of the step, at most */
    int tasks;                    /**< that there were */
    int solved;                   /**< of them; the others cannot be better */
    double limit_mb;              /**< what layers, ends and buffers of a stage may hold */
    double reserve_mb;            /**< kept from them */
    double unlimited_s;           /**< no sample takes less without a limit; INFINITY: no tasks */
    double least_mb;              /**< with a lower limit nothing fits; INFINITY: no tasks */
} calc_galvatron_found;

/** Search.
 *  @return CALC_OK also if nothing is feasible; CALC_ERR_NOMEM; CALC_ERR_RULE if the model has more
 *          than CALC_GALVATRON_LAYERS layers */
CALC_MUST_USE calc_status calc_galvatron_search(const calc_galvatron_request *request,
                                                const calc_galvatron_profiles *profiles,
                                                calc_galvatron_found *out);

/** Time of a step as the default judges it: upstream's, with re-sharding in every micro-batch.
 *  @param reshard_s  NULL, or set to what of it that is */
double calc_galvatron_judge_s(const calc_galvatron_request *request,
                              const calc_galvatron_profiles *profiles,
                              const calc_galvatron_answer *answer, double *reshard_s);

#endif
