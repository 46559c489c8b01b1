/** @file paddle_layout.h  A strategy for every layer as PaddleNLP's port of Galvatron writes it,
 * and as its trainer is told of it. */
#ifndef CALC_GALVATRON_PADDLE_LAYOUT_H
#define CALC_GALVATRON_PADDLE_LAYOUT_H

#include "galvatron/layout.h"

#define CALC_GALVATRON_PADDLE_FILE "fine_grained_config.json"

/** Write that file. */
void calc_galvatron_paddle_write(const calc_galvatron_layout *layout, calc_output *out);

/** Write the options of the trainer, a line each: those of the first layer, but recompute if any
 *  layer does. */
void calc_galvatron_paddle_options(const calc_galvatron_layout *layout, calc_output *out);

/** Whether these are all that there is to say: the trainer has one strategy for all layers. */
bool calc_galvatron_paddle_uniform(const calc_galvatron_layout *layout);

#endif
