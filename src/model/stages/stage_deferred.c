#include "model/operators/processor.h"
#include "model/stages/stages.h"

/* The buffers take the first micro-batches of a step; the head runs once for the next token and
 * once for each that is predicted beyond. The part of the last micro-batch is held in any case
 * while it passes. */
void calc_stage_set_deferred(const calc_cost_context *c, const calc_exec *e,
                             const calc_stage_parts *p, calc_stage_terms *t)
{
    const calc_shape *s = c->shape;
    bool none = e->deferred_head_wgrad == 0 || !e->training || e->pipeline_par <= 1 ||
                e->pipeline_schedule != CALC_PIPELINE_SCHEDULE_1F1B || s->vocab <= 0;
    if (none) {
        return;
    }
    double runs = t->microbatches * (1 + s->mtp_blocks);
    double limit = e->deferred_head_wgrad < 0 ? runs : (double)e->deferred_head_wgrad;
    double deferred = calc_min(limit, runs);
    bool split = e->strategy.tensor_par_comm_type == CALC_TENSOR_PAR_COMM_TYPE_RS_AG;
    double input = s->hidden / (split ? s->tensor_par : 1);
    t->deferred.any = true;
    t->deferred.all_s = deferred * p->head.wgrad_s / calc_share_or(e->software_efficiency, 1);
    t->deferred.bytes = calc_min(deferred, runs - 1) * s->tokens *
                        (input + s->vocab / s->tensor_par) * s->element_bytes;
    t->head.wgrad_s -= t->deferred.all_s / t->microbatches;
}
