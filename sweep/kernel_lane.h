/** @file kernel_lane.h  One lane of a tile of stages. */
#ifndef CALC_SWEEP_KERNEL_LANE_H
#define CALC_SWEEP_KERNEL_LANE_H

#include "kernel.h"

#define CALC_X(member) .member = l->member[lane],

CALC_STAGE_INLINE calc_stage_class calc_kernel_class_of(const calc_kernel_class *l, size_t lane)
{
    return (calc_stage_class){CALC_STAGE_CLASS_LIST(CALC_X)};
}

CALC_STAGE_INLINE calc_stage_links calc_kernel_links_of(const calc_kernel_links *l, size_t lane)
{
    return (calc_stage_links){CALC_STAGE_LINK_LIST(CALC_X)};
}

#undef CALC_X

/** @param classes  of lanes; a constant where speed matters, as is
 *  @param experts  whether some blocks have experts
 *  @param least    a lower bound will do: calc_stage_step_or_less() */
CALC_STAGE_INLINE calc_stage_step calc_kernel_step_of(const calc_stage_terms *terms,
                                                      calc_pipeline_schedule schedule, int classes,
                                                      bool experts, const calc_kernel_tile *tile,
                                                      size_t lane, bool least)
{
    const calc_kernel_lanes *lanes = tile->lanes;
    calc_stage_links links = calc_kernel_links_of(tile->links, lane);
    const calc_stage_class none = {0};
    calc_stage_class c[CALC_MAX_STAGE_CLASSES] = {none, none, none, none};
    c[0] = calc_kernel_class_of(&lanes->item[0], lane);
    if (classes > 1) {
        c[1] = calc_kernel_class_of(&lanes->item[1], lane);
        c[2] = calc_kernel_class_of(&lanes->item[2], lane);
        c[3] = calc_kernel_class_of(&lanes->item[3], lane);
    }
    for (int i = 0; i < CALC_MAX_STAGE_CLASSES; i++) {
        c[i].moe = experts ? c[i].moe : 0;
    }
    double exposed = lanes->overlapped[lane] > 0 ? 1 - terms->message_hidden : 1;
    return calc_stage_step_or_less(terms, &links, schedule, classes, c, lanes->chunks[lane],
                                   exposed, least);
}

#endif
