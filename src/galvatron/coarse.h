/** @file coarse.h  The same strategy for every layer, and for embedding and head. */
#ifndef CALC_GALVATRON_COARSE_H
#define CALC_GALVATRON_COARSE_H

#include "galvatron/posed.h"

/** The best of a task into an answer's layers, ends, step and memory, with upstream's step.
 *  @return false if none fits */
bool calc_galvatron_coarse(const calc_galvatron_posed *posed, calc_galvatron_answer *out);

#endif
