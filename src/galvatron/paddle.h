/** @file paddle.h  Differences of the cost model in PaddleNLP's port of Galvatron
 *  (calc_galvatron_request.dialect): optimizer states beside parameters and gradients of other
 *  formats, three ways of sharding states, and messages of tensor parallelism as all-reduces.
 *  Everything else is as in upstream. */
#ifndef CALC_GALVATRON_PADDLE_H
#define CALC_GALVATRON_PADDLE_H

#include "galvatron/cost.h"
#include "galvatron/layout.h"

static inline bool calc_galvatron_is_paddle(const calc_galvatron_case *c)
{
    return c->request->dialect == CALC_GALVATRON_PADDLE;
}

/** All states of a layer divided by its parameters of two bytes. With one micro-batch there are no
 *  accumulated gradients. */
double calc_galvatron_paddle_states(const calc_galvatron_case *c);

/** Share of the states on a rank. @param sdp  number of ranks that shard them */
double calc_galvatron_paddle_ratio(const calc_galvatron_case *c, calc_galvatron_dp type, int sdp);

/** Messages of tensor parallelism in one layer [ms]: four all-reduces, which recomputation does not
 *  repeat; all-gathers if Ulysses is searched too.
 *  @param mb  activations of the micro-batch */
double calc_galvatron_paddle_tp_ms(const calc_galvatron_case *c, const calc_galvatron_strategy *s,
                                   double mb);

/** Share of a backward pass that can hide the reduction of gradients. */
double calc_galvatron_paddle_hiding(const calc_galvatron_strategy *s);

/* Writes a strategy for every layer in the file of PaddleNLP's port of
 * Galvatron, and as options of its trainer. */

#define CALC_GALVATRON_PADDLE_FILE "fine_grained_config.json"

/** Writes the file. */
void calc_galvatron_paddle_write(const calc_galvatron_layout *layout, calc_output *out);

/** Writes the options of the trainer, one per line. They are those of the first layer, except that
 *  recompute is set if any layer recomputes. */
void calc_galvatron_paddle_options(const calc_galvatron_layout *layout, calc_output *out);

/** Whether the options express the whole layout: the trainer has one strategy for all layers. */
bool calc_galvatron_paddle_uniform(const calc_galvatron_layout *layout);

#endif
