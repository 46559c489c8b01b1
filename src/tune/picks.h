/** @file picks.h  The choosers (decision.h): which layouts to measure next. */
#ifndef CALC_TUNE_PICKS_H
#define CALC_TUNE_PICKS_H

#include "tune/decision.h"

/** Choose layouts that were not tried.
 *  @param pick   filled, best first; room for scene->options->picks
 *  @param picks  set to how many: fewer if fewer are left */
void calc_tune_pick(const calc_tune_scene *scene, const calc_tune_contest *contest, size_t *pick,
                    size_t *picks);

#endif
