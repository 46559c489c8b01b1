/** @file spreads.h  Values of expert_par whose layouts are evaluated side by side: they share the
 *  cells of a unit, and differ in its rows. */
#ifndef CALC_SWEEP_SPREADS_H
#define CALC_SWEEP_SPREADS_H

#include "calc.h"
#include "space.h"

enum { CALC_SPREADS = 16 };

/** Such values, ascending. */
typedef struct calc_spreads {
    size_t count; /**< 0, or at least two */
    int64_t expert_par[CALC_SPREADS];
} calc_spreads;

/** Those of a space for a model: none if layouts serve, or if networks are chosen for groups of
 *  ranks, as these then differ in what networks and blocks take; none if there are more than
 *  CALC_SPREADS. Variants then have one each. */
calc_spreads calc_spreads_of(const calc_space *space, const calc_app *app);

/** Those that a unit has: the values of the space, or that of the unit's base alone. */
calc_spreads calc_spreads_in(const calc_space *space, const calc_app *app, const calc_exec *base);

#endif
