/** @file reasons_stages.h  Reasons why layouts cannot run, beside networks: a machine that is too
 * small for ranks laid out over nodes, blocks that do not split over the stages, and the largest
 * part of the fullest stage's memory. Texts of up to 255 bytes; pure. */
#ifndef CALC_MODEL_REASONS_STAGES_H
#define CALC_MODEL_REASONS_STAGES_H

#include "calc.h"

/** With a rank_order: the processors do not fit the largest network.
 *  @return whether that is so; text and hint are then filled */
bool calc_reasons_stages_network(const calc_system *system, const calc_exec *exec,
                                 calc_reason *reason);

/** Blocks do not split over the stages and chunks.
 *  @return whether that is so; text and hint are then filled */
bool calc_reasons_stages_split(const calc_app *app, const calc_exec *exec, calc_compat compat,
                               calc_reason *reason);

/** Offload with too few blocks on a stage to alternate between, where they split over the stages.
 *  @return whether that is so; text and hint are then filled */
bool calc_reasons_stages_offload(const calc_app *app, const calc_exec *exec, calc_compat compat,
                                 calc_reason *reason);

/** The largest part of the fullest stage's memory: "; largest: activations, 63.56 GiB, on stage
 *  0". */
void calc_reasons_stages_most(const calc_exec *exec, const calc_stats *stats, char text[128]);

/** A measure that would shrink that part and is not in use yet. */
void calc_reasons_stages_hint(const calc_app *app, const calc_exec *exec, const calc_stats *stats,
                              char hint[256]);

#endif
