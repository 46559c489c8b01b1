/** @file layout.h  A layout taken apart: shape, cost of its parts, classes of equal stages, terms
 * of its step. calc_run() puts them together; stages, timelines and reports look at them. */
#ifndef CALC_MODEL_LAYOUT_H
#define CALC_MODEL_LAYOUT_H

#include "model/stages/stages.h"

/** A layout. Borrows the three documents and points into itself: not to be copied. */
typedef struct calc_layout {
    const calc_app *app;
    const calc_system *system;
    const calc_exec *exec;
    calc_shape shape;
    calc_cost_context context;
    calc_stages stages;
    calc_stage_parts parts;
    calc_stage_lines lines;
    calc_stage_terms terms;
    calc_stage_links links;
    double exposed; /**< share of the messages between stages that is not hidden */
} calc_layout;

/** Fill it.
 *  @param measured  kernels to look up before the model is asked, or NULL
 *  @param parts     those of a layout whose parts are the same, or NULL: they are computed */
void calc_layout_of(const calc_app *app, const calc_system *system, const calc_exec *exec,
                    calc_compat compat, const calc_kernel_table *measured,
                    const calc_stage_parts *parts, calc_layout *out);

/** The cost of the kind of block that most blocks are of. */
const calc_cost *calc_layout_block(const calc_layout *layout);

#endif
