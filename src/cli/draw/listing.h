/** @file listing.h  Tables for people: rows of cells under heads, as wide as what is in them. Where
 * a line has no room for all columns, those that matter least are left out. */
#ifndef CALC_CLI_DRAW_LISTING_H
#define CALC_CLI_DRAW_LISTING_H

#include "calc.h"
#include "io/output.h"

/** A column, and what calc_listing_add() sees of it. */
typedef struct calc_listing_column {
    const char *head;
    int order; /**< where there is no room those with the largest are left out first, of equals the
                  last; 0: never */
    bool left; /**< aligned to the left, as texts are */
    bool hidden;  /**< not shown: the caller's choice, or by calc_listing_fit() */
    bool dropped; /**< hidden for want of room */
    bool varies;  /**< two rows differ */
    int width;    /**< of the widest cell, or of the head */
} calc_listing_column;

enum { CALC_LISTING_GAP = 2 /**< blanks between columns */ };

/** Columns, and cells row by row. Start with {.column = columns, .columns = their count}; end with
 * calc_listing_free(). */
typedef struct calc_listing {
    calc_listing_column *column;
    size_t columns;
    size_t cells;
    size_t *at; /* where in `text` a cell begins */
    char *text;
    size_t at_capacity, length, capacity;
    bool no_memory; /* a cell is missing */
} calc_listing;

/** Add the next cell, from left to right; after the last column a new row begins. "" is blank. */
void calc_listing_add(calc_listing *listing, const char *text);

/** Add the next cell as printf() writes it; at most 159 bytes. */
void calc_listing_addf(calc_listing *listing, const char *fmt, ...) CALC_PRINTF(2, 3);

/** The text of a cell. */
const char *calc_listing_cell(const calc_listing *listing, size_t row, size_t column);

/** Hide columns until a line is no wider than `width`. */
void calc_listing_fit(calc_listing *listing, int width);

/** Write the heads, or a row, with `indent` blanks before it and none behind it. */
void calc_listing_write_head(const calc_listing *listing, calc_output *out, int indent);
void calc_listing_write_row(const calc_listing *listing, calc_output *out, size_t row, int indent);

/** Fit into the width of drawings (calc_paint_columns()), and write the heads and all rows; nothing
 * without rows.
 *  @return CALC_OK, or CALC_ERR_NOMEM if it lacked memory for a cell */
CALC_MUST_USE calc_status calc_listing_write(calc_listing *listing, calc_output *out);

void calc_listing_free(calc_listing *listing);

#endif
