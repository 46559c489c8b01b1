/** @file coarse.h  Searches with the same strategy for every layer, and for embedding and head. */
#ifndef CALC_GALVATRON_COARSE_H
#define CALC_GALVATRON_COARSE_H

#include "galvatron/posed.h"

/** Fills the layers, ends, step and memory of an answer with the best strategy of a task, by
 *  upstream's step time.
 *  @return false if none fits */
bool calc_galvatron_coarse(const calc_galvatron_posed *posed, calc_galvatron_answer *out);

#endif
