/** @file listing.h  Tables for people: rows of cells under heads, as wide as what is in them. Where
 * a line has no room for all columns, those that matter least are left out. */
#ifndef CALC_CLI_DRAW_LISTING_H
#define CALC_CLI_DRAW_LISTING_H

#include "calc.h"
#include "io/output.h"

/** A column, and what calc_listing_add() sees of it. */
typedef struct calc_listing_column {
    const char *head; /**< NULL: no heads are written */
    int order; /**< where there is no room those with the largest are left out first, of equals the
                  last; 0: never */
    bool cut;  /**< texts of the last column end with "..." where a line has no room for all of them
                */
    bool left; /**< aligned to the left, as texts are */
    bool hidden;  /**< not shown: the caller's choice, or by calc_listing_fit() */
    bool dropped; /**< hidden for want of room */
    bool varies;  /**< two rows differ */
    int width;    /**< of the widest cell, or of the head */
} calc_listing_column;

enum { CALC_LISTING_CUT = 23 /**< characters that a text keeps at least which is cut */ };

/** Columns, and cells row by row. Start with CALC_LISTING(); end with calc_listing_end() or
 *  calc_listing_free(). */
typedef struct calc_listing {
    calc_listing_column *column;
    size_t columns;
    int gap; /**< blanks between columns: two, or if all then have room this many */
    size_t cells;
    size_t *at; /* where in `text` a cell begins */
    char *text;
    size_t at_capacity, length, capacity;
    bool no_memory; /* a cell is missing */
} calc_listing;

/** A column: its head, and other members as .order = 1. */
#define CALC_COLUMN(...)                                                                           \
    {                                                                                              \
        .head = __VA_ARGS__                                                                        \
    }

/** A listing without rows. @param array  its columns  @param blanks  between them, at
 *  least: 1 or 2 */
#define CALC_LISTING(array, blanks)                                                                \
    {                                                                                              \
        .column = (array), .columns = sizeof(array) / sizeof *(array), .gap = (blanks)             \
    }

/** Add the next cell, from left to right; after the last column a new row begins. "" is blank. */
void calc_listing_add(calc_listing *listing, const char *text);

/** Add the next cell as printf() writes it; at most 159 bytes. */
void calc_listing_addf(calc_listing *listing, const char *fmt, ...) CALC_PRINTF(2, 3);

/** The text of a cell. */
const char *calc_listing_cell(const calc_listing *listing, size_t row, size_t column);

/** Narrow the gaps from two blanks to `gap`, then hide columns, until a line is no wider than
 *  `width`. */
void calc_listing_fit(calc_listing *listing, int width);

/** Write the heads, or a row, with `indent` blanks before it and none behind it. */
void calc_listing_write_head(const calc_listing *listing, calc_output *out, int indent);
void calc_listing_write_row(const calc_listing *listing, calc_output *out, size_t row, int indent);

/** Fit into the width of drawings (calc_paint_columns()), write the heads, all rows and what was
 *  left out, nothing without rows, and free it. An error is added if it lacked memory for a cell.
 */
void calc_listing_end(calc_listing *listing, calc_output *out, calc_errors *errors);

void calc_listing_free(calc_listing *listing);

#endif
