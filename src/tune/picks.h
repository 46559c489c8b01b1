/** @file picks.h  The choosers (decision.h): which layouts to measure next. */
#ifndef CALC_TUNE_PICKS_H
#define CALC_TUNE_PICKS_H

#include "tune/decision.h"

/** Choose layouts that were not tried.
 *  @param pick   filled, best first; room for scene->options->picks
 *  @param picks  set to how many: fewer if fewer are left
 *  @return CALC_OK or CALC_ERR_NOMEM */
CALC_MUST_USE calc_status calc_tune_pick(const calc_tune_scene *scene,
                                         const calc_tune_contest *contest, size_t *pick,
                                         size_t *picks, calc_errors *errors);

/** Whether a candidate was tried, or is among the picks. */
static inline bool calc_tune_is_taken(const calc_tune_scene *scene, size_t candidate,
                                      const size_t *pick, size_t picks)
{
    bool taken = !calc_tune_scene_free_to_try(scene, candidate);
    for (size_t i = 0; i < picks; i++) {
        taken = taken || pick[i] == candidate;
    }
    return taken;
}

/** Those that use the posterior, those that do not. Likewise. */
CALC_MUST_USE calc_status calc_tune_picks_posterior(const calc_tune_scene *scene,
                                                    const calc_tune_contest *contest, size_t *pick,
                                                    size_t *picks, calc_errors *errors);

#endif
