/** @file parts.h  Collects the kernels and collectives of a layout's blocks and ends for which
 *  there are measurements, and applies the measurements to the costs of these parts. */
#ifndef CALC_MINDSPEED_PARTS_H
#define CALC_MINDSPEED_PARTS_H

#include "mindspeed/compose.h"
#include "model/stages/layout.h"

/** One pass of one kernel. */
typedef struct calc_mindspeed_part {
    calc_mindspeed_shape shape;
    int list; /**< index of the cost that contains it: a kind of block, embedding, head */
    int pass; /**< a calc_pass */
    bool attention, shared, repeated;
    double model_s;       /**< its time in calc's step */
    double alone_s;       /**< the time that errors are relative to */
    const double *errors; /**< draws */
} calc_mindspeed_part;

enum { CALC_MINDSPEED_PARTS = 128 /**< multiplications, attention and norms, in all passes */ };

typedef struct calc_mindspeed_parts {
    calc_mindspeed_part item[CALC_MINDSPEED_PARTS];
    size_t count;
} calc_mindspeed_parts;

/** Collects the kernels of types with modelled errors.
 *  @return CALC_OK or CALC_ERR_NOMEM */
CALC_MUST_USE calc_status calc_mindspeed_parts_of(calc_mindspeed_parts *out,
                                                  const calc_mindspeed_layout *layout,
                                                  const calc_layout *taken_apart,
                                                  calc_mindspeed_operators *operators);

/** Applies the i-th draws to the costs. The exposed time of a ring is relative to the drawn
 *  attention.
 *  @param clamped  counts times that would have been negative and are set to 0 */
void calc_mindspeed_parts_draw(const calc_mindspeed_parts *parts, size_t i, calc_stage_parts *costs,
                               size_t *clamped);

/** Applies the measured times of collectives to the costs of a layout's blocks and ends.
 *  Collectives of data parallelism and between stages keep calc's times. */
void calc_mindspeed_parts_sent(calc_layout *layout, calc_mindspeed_comm *comm);

#endif
