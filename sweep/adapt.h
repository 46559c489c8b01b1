/** @file adapt.h  Lanes that differ between cells: blocks with sharded weights wait for the network
 *  of data parallelism; by rule, the state is shared block by block; and a table that both ends
 *  share is held once if they are on one stage. This does to a panel what calc_stage_terms_cell()
 *  does to terms. */
#ifndef CALC_SWEEP_ADAPT_H
#define CALC_SWEEP_ADAPT_H

#include "adapt_source.h"
#include "cell.h"
#include "kernel.h"

/** Whether the lanes of a state are not the same in all cells. @param row  any of the table */
bool calc_adapt_varies(const calc_row *row, const calc_row_choice *state);

/** Fill the source of a lane, as far as its state needs one.
 *  @param terms  calc_stage_terms_row() */
void calc_adapt_put(calc_adapt_source *source, size_t lane, const calc_row *row,
                    const calc_row_choice *choice, const calc_stage_terms *terms);

/** The cell that a panel is adapted to. */
typedef struct calc_adapt_place {
    const calc_kernel *kernel;
    const calc_rows *rows;
    calc_cell *cell;
    const calc_exec *exec; /**< of any lane of the panel in the cell, with networks and flags */
    const calc_stage_lines *lines;
} calc_adapt_place;

/** Adapt the lanes of a panel to a cell. */
void calc_adapt_panel(const calc_adapt_place *place, const calc_adapt_source *source,
                      calc_panel *panel);

#endif
