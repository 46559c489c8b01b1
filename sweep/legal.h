/** @file legal.h  Whether the sizes of a cell are compatible: the rules of calc_check() that
 *  neither variants nor rows cover. */
#ifndef CALC_SWEEP_LEGAL_H
#define CALC_SWEEP_LEGAL_H

#include "calc.h"
#include "space.h"
#include "variants.h"

/** Axes of a space with several values that may change nothing. */
typedef struct calc_legal_axes {
    size_t count;
    calc_axis axis[CALC_AXIS_EXEC_COUNT];
} calc_legal_axes;

calc_legal_axes calc_legal_axes_of(const calc_space *space);

/** Those of them that may rule out a cell of a unit: others have the first of their values in all
 *  its cells.
 *  @param base  of the unit: calc_units_base() */
calc_legal_axes calc_legal_axes_in(const calc_legal_axes *axes, const calc_space *space,
                                   const calc_exec *base);

/** Which spreads of experts are legal in a cell, and the first of those that are the same.
 *  @param axes   of the space, or of the unit
 *  @param exec   its sizes, of a variant; as before on return
 *  @param legal  filled, one per spread
 *  @return whether any is */
bool calc_legal_cell(const calc_space *space, const calc_legal_axes *axes, const calc_app *app,
                     const calc_spreads *spreads, calc_exec *exec, bool *legal);

/** Whether that may depend on the batch. */
bool calc_legal_by_batch(const calc_exec *exec);

#endif
