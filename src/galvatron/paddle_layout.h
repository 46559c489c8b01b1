/** @file paddle_layout.h  Writes a strategy for every layer in the file of PaddleNLP's port of
 *  Galvatron, and as options of its trainer. */
#ifndef CALC_GALVATRON_PADDLE_LAYOUT_H
#define CALC_GALVATRON_PADDLE_LAYOUT_H

#include "galvatron/layout.h"

#define CALC_GALVATRON_PADDLE_FILE "fine_grained_config.json"

/** Writes the file. */
void calc_galvatron_paddle_write(const calc_galvatron_layout *layout, calc_output *out);

/** Writes the options of the trainer, one per line. They are those of the first layer, except that
 *  recompute is set if any layer recomputes. */
void calc_galvatron_paddle_options(const calc_galvatron_layout *layout, calc_output *out);

/** Whether the options express the whole layout: the trainer has one strategy for all layers. */
bool calc_galvatron_paddle_uniform(const calc_galvatron_layout *layout);

#endif
