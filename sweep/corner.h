/** @file corner.h  Corners: a lane with no more time or memory of any kind than each of a few
 *  neighbours of a panel. Limits that it exceeds are exceeded by them, too, in every cell.
 */
#ifndef CALC_SWEEP_CORNER_H
#define CALC_SWEEP_CORNER_H

#include "adapt_source.h"
#include "panel.h"

/** Lanes that share a corner: neighbours, a vector of them. */
enum { CALC_CORNER_LANES = CALC_PANEL_VECTOR };

/** Put the corner of some lanes of a panel.
 *  @param first   of them, of CALC_CORNER_LANES; behind the last of a panel are copies of its first
 *  @param source  of the panel if its lanes are not the same in all cells: adapt.h; else NULL
 *  @param shared_weights  elements that the head may have less where it shares a table
 *  @param rules   whether there are any of Calculon's, */
void calc_corner_put(calc_panel *to, size_t lane, const calc_panel *panel, size_t first,
                     const calc_adapt_source *source, double shared_weights, bool rules);

#endif
