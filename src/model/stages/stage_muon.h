/** @file stage_muon.h  Muon on a stage: its matrices made orthogonal, and the second moment that
 *  Adam keeps of embedding and head. Ranks that share a state have whole matrices each
 * (Megatron-LM, layer_wise_optimizer.py). Norms and biases, which Adam updates, too, count as
 * matrices: they are few. */
#ifndef CALC_MODEL_STAGE_MUON_H
#define CALC_MODEL_STAGE_MUON_H

#include "calc.h"
#include "model/cost/cost.h"
#include "model/stages/stage_types.h"

struct calc_stage_parts;

/** Matrices of a stage of a class [s]. */
CALC_STAGE_INLINE double calc_stage_muon_s(const calc_stage_terms *t, const calc_stage_class *c)
{
    const calc_stage_muon *m = &t->muon;
    if (!m->any) {
        return 0;
    }
    double matrices_s = c->dense * m->block_s[0] + c->moe * m->block_s[1] + c->last * m->head_s;
    bool some = c->dense + c->moe > 0;
    return calc_max(matrices_s, some ? m->longest_s : 0) + c->first * m->embedding_adam_s +
           c->last * m->head_adam_s;
}

/** Second moments [bytes]: in the first tier, and in the second. */
typedef struct calc_stage_muon_state {
    double here, away;
} calc_stage_muon_state;

CALC_STAGE_INLINE calc_stage_muon_state calc_stage_muon_bytes(const calc_stage_terms *t,
                                                              const calc_stage_class *c)
{
    const calc_stage_muon *m = &t->muon;
    double bytes = m->any ? c->first * m->embedding_bytes + c->last * m->head_bytes : 0;
    double away = m->any ? m->away : 0;
    return (calc_stage_muon_state){(1 - away) * bytes, away * bytes};
}

/** Fill terms whose ranks are, where Muon is the optimizer. */
void calc_stage_set_muon(const calc_cost_context *context, const calc_exec *exec,
                         const struct calc_stage_parts *parts, calc_stage_terms *terms);

#endif
