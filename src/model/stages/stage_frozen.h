/** @file stage_frozen.h  Frozen weights on a stage: memory that knows no gradients and no
 * optimizer. Sharded weights (zero_stage 3) are split over the ranks that share them, and gathered
 * block by block, one ahead; so are those that come from the second memory tier. */
#ifndef CALC_MODEL_STAGE_FROZEN_H
#define CALC_MODEL_STAGE_FROZEN_H

#include "calc.h"
#include "model/cost/cost.h"
#include "model/stages/stage_types.h"

struct calc_stage_parts;

/** Frozen weights of a stage of a class [bytes]: in the first tier, and in the second. */
typedef struct calc_stage_frozen_state {
    double here, away;
} calc_stage_frozen_state;

CALC_STAGE_INLINE calc_stage_frozen_state calc_stage_frozen_of(const calc_stage_terms *t,
                                                               const calc_stage_class *c)
{
    const calc_stage_frozen *f = &t->frozen;
    if (!f->any) {
        return (calc_stage_frozen_state){0, 0};
    }
    double ahead =
        calc_max(c->dense > 0 ? f->ahead_bytes[0] : 0, c->moe > 0 ? f->ahead_bytes[1] : 0);
    return (calc_stage_frozen_state){
        c->dense * f->block_bytes[0] + c->moe * f->block_bytes[1] + c->first * f->embedding_bytes +
            c->last * f->head_bytes + ahead,
        c->dense * f->block_away_bytes[0] + c->moe * f->block_away_bytes[1] +
            c->first * f->embedding_away_bytes + c->last * f->head_away_bytes};
}

/** Fill terms whose ranks are, where weights are frozen. */
void calc_stage_set_frozen(const calc_exec *exec, const struct calc_stage_parts *parts,
                           calc_stage_terms *terms);

#endif
