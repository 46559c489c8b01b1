/** @file parts.h  The kernels and collectives of a layout's blocks and ends, as far as something
 * was measured of them, and what that makes of the cost of these parts. */
#ifndef CALC_MINDSPEED_PARTS_H
#define CALC_MINDSPEED_PARTS_H

#include "mindspeed/compose.h"
#include "model/stages/layout.h"

/** A pass over a kernel. */
typedef struct calc_mindspeed_part {
    calc_mindspeed_shape shape;
    int list; /**< which cost of the parts it is in: a kind of block, embedding, head */
    int pass; /**< a calc_pass */
    bool attention, shared, repeated;
    double model_s;       /**< in calc's step */
    double alone_s;       /**< what errors are relative to */
    const double *errors; /**< draws */
} calc_mindspeed_part;

enum { CALC_MINDSPEED_PARTS = 128 /**< multiplications, attention and norms, passes each */ };

typedef struct calc_mindspeed_parts {
    calc_mindspeed_part item[CALC_MINDSPEED_PARTS];
    size_t count;
} calc_mindspeed_parts;

/** Collect the kernels whose types' errors are modelled.
 *  @return CALC_OK or CALC_ERR_NOMEM */
CALC_MUST_USE calc_status calc_mindspeed_parts_of(calc_mindspeed_parts *out,
                                                  const calc_mindspeed_layout *layout,
                                                  const calc_layout *taken_apart,
                                                  calc_mindspeed_operators *operators);

/** Put the i-th draws into costs. What a ring exposes is beside the attention that was drawn.
 *  @param clamped  counts times that would have been negative, and are 0 */
void calc_mindspeed_parts_draw(const calc_mindspeed_parts *parts, size_t i, calc_stage_parts *costs,
                               size_t *clamped);

/** Put the times of collectives that were measured into the costs of a layout's blocks and ends.
 *  Those of data parallelism and of stages stay calc's. */
void calc_mindspeed_parts_sent(calc_layout *layout, calc_mindspeed_comm *comm);

#endif
