/** @file stage_kernel_lane.h  One lane of a tile of stages. */
#ifndef CALC_SWEEP_STAGE_KERNEL_LANE_H
#define CALC_SWEEP_STAGE_KERNEL_LANE_H

#include "stage_kernel.h"

static inline calc_stage_step calc_stage_kernel_step(const calc_stage_terms *terms,
                                                     calc_pipeline_schedule schedule,
                                                     const calc_stage_lanes *lanes, size_t lane)
{
    calc_stage_class c[CALC_MAX_STAGE_CLASSES];
    for (int i = 0; i < CALC_MAX_STAGE_CLASSES; i++) {
        const calc_stage_lane_class *l = &lanes->item[i];
        c[i].stages = l->stages[lane];
        c[i].position = l->position[lane];
        c[i].dense = l->dense[lane];
        c[i].moe = l->moe[lane];
        c[i].first = l->first[lane];
        c[i].last = l->last[lane];
    }
    double exposed = lanes->overlapped[lane] > 0 ? 1 - terms->message_hidden : 1;
    return calc_stage_step_of(terms, schedule, c, lanes->chunks[lane], exposed);
}

#endif
