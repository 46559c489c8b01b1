/** @file paddle.h  Where the cost model of PaddleNLP's port of Galvatron is its own
 *  (calc_galvatron_request.dialect): optimizer states beside parameters and gradients of other
 *  formats, states sharded in three ways, messages of tensor parallelism as all-reduces. What is
 *  not here is as upstream has it. */
#ifndef CALC_GALVATRON_PADDLE_H
#define CALC_GALVATRON_PADDLE_H

#include "galvatron/cost.h"

static inline bool calc_galvatron_is_paddle(const calc_galvatron_case *c)
{
    return c->request->dialect == CALC_GALVATRON_PADDLE;
}

/** All states of a layer over its parameters, which are of two bytes: with one micro-batch there
 *  are no accumulated gradients. */
double calc_galvatron_paddle_states(const calc_galvatron_case *c);

/** Share of them on a rank. @param sdp  ranks that they are sharded over */
double calc_galvatron_paddle_ratio(const calc_galvatron_case *c, calc_galvatron_dp type, int sdp);

/** Messages of one layer of tensor parallelism, in ms: four all-reduces, which recomputation does
 *  not repeat; where Ulysses is searched too, all-gathers.
 *  @param mb  activations of the micro-batch */
double calc_galvatron_paddle_tp_ms(const calc_galvatron_case *c, const calc_galvatron_strategy *s,
                                   double mb);

/** Of a backward pass, what the reduction of gradients may hide behind. */
double calc_galvatron_paddle_hiding(const calc_galvatron_strategy *s);

#endif
