/** @file sheet.h  The lanes of a table of rows (rows.h), laid out in panels for the kernels. Made
 *  once for a unit; each cell takes the lanes that are legal in it. */
#ifndef CALC_SWEEP_SHEET_H
#define CALC_SWEEP_SHEET_H

#include "cell.h"
#include "kernel.h"
#include "panel.h"
#include "rows.h"

/* ---- Corners --------------------------------------------------------------------------------- */

/* Corners: a lane with no more time or memory of any kind than each of a few neighbours of a
 * panel. Limits that it exceeds are exceeded by them, too, in every cell. */

/** Lanes that share a corner: neighbours, a vector of them. */
enum { CALC_CORNER_LANES = CALC_PANEL_VECTOR };

/** Put the corner of some lanes of a panel.
 *  @param first   of them, of CALC_CORNER_LANES; behind the last of a panel are copies of its first
 *  @param rows    that the panel is of, if ranks share the state of its lanes by rule; else NULL
 *  @param shared_weights  elements that the head may have less where it shares a table
 *  @param rules   whether there are any of Calculon's, */
void calc_corner_put(calc_panel *to, size_t lane, const calc_panel *panel, size_t first,
                     const calc_rows *rows, double shared_weights, bool rules);

/* ---- Sheets ---------------------------------------------------------------------------------- */

/** The lanes of one tensor-parallel network, one network of data parallelism that rows are made
 *  for, and one way to keep the state; where weights are sharded, of one spread of experts. */
typedef struct calc_sheet {
    int64_t spread;         /**< calc_row.spread; -1: all */
    size_t network;         /**< calc_row.network */
    int64_t data_network;   /**< calc_row.data_network */
    calc_row_choice state;  /**< sharding, zero and alone; nothing is offloaded */
    bool filled;            /**< it has its lanes: calc_sheets_fill() */
    bool varies;            /**< its lanes are not the same in all cells: adapt.h */
    size_t first, panels;   /**< of calc_sheets.panel */
    size_t corner, corners; /**< of calc_sheets.corner, likewise */
} calc_sheet;

/** All lanes of a table of rows. Reused from unit to unit. */
typedef struct calc_sheets {
    size_t count, capacity;
    calc_sheet *sheet;
    size_t panels, panels_capacity;
    calc_panel *panel; /**< as in the cell that they were fitted to last: adapt.h */
    /** Panels of corners of their neighbours: `row` is the position of the panel,
     * `choice` that of its first lane. */
    size_t corners, corners_capacity;
    calc_panel *corner;
    size_t messages;
    double message_bytes[CALC_PANEL_MESSAGES];
} calc_sheets;

/** List the sheets of a table that has its terms. @return CALC_OK or CALC_ERR_NOMEM */
CALC_MUST_USE calc_status calc_sheets_list(calc_sheets *sheets, const calc_rows *rows);

/** Lay out the lanes of a sheet, unless that is done: not every unit has cells for each.
 *  @param corners  their corners, too, if they have more neighbours than one corner has
 *  @return CALC_OK or CALC_ERR_NOMEM */
CALC_MUST_USE calc_status calc_sheets_fill(calc_sheets *sheets, const calc_rows *rows,
                                           calc_sheet *sheet, bool corners);

/** Memory that they take. */
size_t calc_sheets_bytes(const calc_sheets *sheets);

void calc_sheets_free(calc_sheets *sheets);

/* Lanes that differ between cells: blocks with sharded weights wait for the network
 * of data parallelism; by rule, the state is shared block by block; and a table that both ends
 * share is held once if they are on one stage. This does to a panel what calc_stage_terms_cell()
 * does to terms; where weights are sharded, evaluate.c takes these. */

/** Whether the lanes of a state are not the same in all cells. @param row  any of the table */
bool calc_adapt_varies(const calc_row *row, const calc_row_choice *state);

/** The cell that a panel is adapted to. */
typedef struct calc_adapt_place {
    const calc_rows *rows;
    calc_cell *cell;
    const calc_exec *exec; /**< of any lane of the panel in the cell, with networks and flags */
    const calc_stage_lines *lines;
} calc_adapt_place;

/** Adapt the lanes of a panel to a cell, but for weights that are sharded. */
void calc_adapt_panel(const calc_adapt_place *place, calc_panel *panel);

#endif
