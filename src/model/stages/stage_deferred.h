/** @file stage_deferred.h  Weight gradients of the head that wait until the last stage has no
 *  micro-batch left (deferred_head_wgrad): then the other stages still drain the pipeline. The
 *  stage keeps the head's input and the gradient of its output for every micro-batch. Source:
 *  Megatron-LM, tensor_parallel/layers.py (the first so many micro-batches go into buffers that
 *  nothing takes them from before the end) and pipeline_parallel/schedules.py
 *  (finish_embedding_wgrad_compute: after the last backward pass, before gradients are reduced). */
#ifndef CALC_MODEL_STAGE_DEFERRED_H
#define CALC_MODEL_STAGE_DEFERRED_H

#include "calc.h"
#include "model/cost/cost.h"
#include "model/stages/stage_types.h"

struct calc_stage_parts;

/** Memory that the stage holds for them [bytes]. @param c  a class of stages */
CALC_STAGE_INLINE double calc_stage_deferred_bytes(const calc_stage_terms *t,
                                                   const calc_stage_class *c)
{
    return t->deferred.any ? c->last * t->deferred.bytes : 0;
}

/** Their time beyond the pipeline [s].
 *  @param drain_s  the other stages' backward passes over a chunk, messages included */
CALC_STAGE_INLINE double calc_stage_deferred_after_s(const calc_stage_deferred *d, double drain_s)
{
    return d->any ? calc_max(0, d->all_s - drain_s) : 0;
}

/** The same of classes in order of the pipeline, the last stage in the last of them. */
CALC_STAGE_INLINE double calc_stage_deferred_s(const calc_stage_terms *t, int classes,
                                               const calc_stage_class *c,
                                               const calc_stage_pass *pass, double chunks)
{
    if (!t->deferred.any) {
        return 0;
    }
    double drain_s = 0;
    for (int i = 0; i < classes; i++) {
        double others = c[i].stages - (i == classes - 1 ? 1 : 0);
        drain_s += others * (pass[i].agrad_s + pass[i].wgrad_s) / chunks;
    }
    return calc_stage_deferred_after_s(&t->deferred, drain_s);
}

/** Fill terms whose pipeline and head are, where the execution defers any. */
void calc_stage_set_deferred(const calc_cost_context *context, const calc_exec *exec,
                             const struct calc_stage_parts *parts, calc_stage_terms *terms);

#endif
