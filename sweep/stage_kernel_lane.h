/** @file stage_kernel_lane.h  One lane of a tile of stages. */
#ifndef CALC_SWEEP_STAGE_KERNEL_LANE_H
#define CALC_SWEEP_STAGE_KERNEL_LANE_H

#include "stage_kernel.h"

CALC_STAGE_INLINE calc_stage_class calc_stage_kernel_class(const calc_stage_lane_class *l,
                                                           size_t lane)
{
    return (calc_stage_class){l->stages[lane], l->position[lane], l->dense[lane],
                              l->moe[lane],    l->first[lane],    l->last[lane]};
}

CALC_STAGE_INLINE calc_stage_step calc_stage_kernel_step(const calc_stage_terms *terms,
                                                         calc_pipeline_schedule schedule,
                                                         const calc_stage_lanes *lanes, size_t lane,
                                                         bool least)
{
    const calc_stage_class c[CALC_MAX_STAGE_CLASSES] = {
        calc_stage_kernel_class(&lanes->item[0], lane),
        calc_stage_kernel_class(&lanes->item[1], lane),
        calc_stage_kernel_class(&lanes->item[2], lane),
        calc_stage_kernel_class(&lanes->item[3], lane)};
    double exposed = lanes->overlapped[lane] > 0 ? 1 - terms->message_hidden : 1;
    return calc_stage_step_or_less(terms, schedule, c, lanes->chunks[lane], exposed, least);
}

#endif
