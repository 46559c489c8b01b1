/** @file operator_stats.h  calc_layers() for layouts that use more than Calculon's fields: the
 *  statistics of each operator, for one micro-batch on one processor. */
#ifndef CALC_MODEL_OPERATOR_STATS_H
#define CALC_MODEL_OPERATOR_STATS_H

#include "calc.h"

/** Operators of the blocks, in order of the forward pass, those that both kinds of blocks have
 *  once; then those of embedding, head and multi-token prediction. See calc_layers().
 *  @return how many there are, CALC_MAX_LAYERS at most */
size_t calc_operator_stats(const calc_app *app, const calc_system *system, const calc_exec *exec,
                           calc_layer_stats *out, size_t capacity);

#endif
