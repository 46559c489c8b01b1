/** @file human.h  Formats numbers for people: units, digits, shares that add up. NaN is "n/a". */
#ifndef CALC_CLI_DRAW_HUMAN_H
#define CALC_CLI_DRAW_HUMAN_H

#include <stddef.h>
#include <stdint.h>

#include "calc.h"
#include "io/output.h"

enum { CALC_HUMAN_MAX = 160 };

/** A function ..._in() fills the caller's buffer of CALC_HUMAN_MAX bytes and returns it. Without
 *  _in the buffer is the call's own, which lasts as long as the block around the call. */
#define CALC_HUMAN_BUFFER ((char[CALC_HUMAN_MAX]){0})

/** "3,072"; rounded to an integer. */
#define calc_human_integer(value) calc_human_integer_in((value), CALC_HUMAN_BUFFER)
char *calc_human_integer_in(double value, char *buffer);

/** "1 block", "96 blocks". */
#define calc_human_counted(value, noun) calc_human_counted_in((value), (noun), CALC_HUMAN_BUFFER)
char *calc_human_counted_in(double value, const char *noun, char *buffer);

/** Four significant digits, with commas from a thousand on: "326,701", "159.5", "0.1234". */
#define calc_human_number(value) calc_human_number_in((value), CALC_HUMAN_BUFFER)
char *calc_human_number_in(double value, char *buffer);

/** "174.6 B" for 174.6e9: K, M, B (1e9), T. */
#define calc_human_count(value) calc_human_count_in((value), CALC_HUMAN_BUFFER)
char *calc_human_count_in(double value, char *buffer);

/** Four significant digits in s, ms, us or ns: "19.26 s", "12.00 us". */
#define calc_human_seconds(value) calc_human_seconds_in((value), CALC_HUMAN_BUFFER)
char *calc_human_seconds_in(double seconds, char *buffer);

/** Four significant digits in TiB, GiB, MiB, KiB or B: "80.00 GiB". */
#define calc_human_bytes(value) calc_human_bytes_in((value), CALC_HUMAN_BUFFER)
char *calc_human_bytes_in(double bytes, char *buffer);

/** One decimal: "38.2 %". */
#define calc_human_percent(value) calc_human_percent_in((value), CALC_HUMAN_BUFFER)
char *calc_human_percent_in(double fraction, char *buffer);

/** Split `whole` into integers in proportion to `part` that add up to it: each is rounded down, and
 *  the remainder goes to the parts with the largest remainders (the first of equals).
 *  @param part  finite; their sum is not 0
 *  @param count  at most 32 */
void calc_human_apportion(const double *part, size_t count, int64_t whole, int64_t *share);

/* Folds text to fewer columns than it was written for. */

/** Write a text with lines no wider than `columns`: a longer line is broken at the last gap between
 *  its columns that fits, or else at the last space, and continues below, indented. A longer word
 *  goes on after one of its joints, '_', '-', '/', ',' or '.', in lines of 16 columns and more.
 *  UTF-8 characters are one column wide; colours take none. */
void calc_fold_write(calc_output *out, const char *text, size_t length, int columns);

/** Write a text to standard output: if COLUMNS or a terminal say how wide it is, lines are folded
 * to that.
 *  @param write  writes it; unless it returns CALC_OK nothing is folded, and an error was added
 *  @return CALC_OK, or the status of an error that was added */
CALC_MUST_USE calc_status calc_fold_print(calc_status (*write)(calc_output *out, void *what,
                                                               calc_errors *errors),
                                          void *what, calc_errors *errors);

/* Writes colours and bars on a terminal that supports them. */

/** Capabilities of the reader of standard output. */
typedef struct calc_paint {
    bool color; /**< terminal escapes */
    bool utf8;  /**< block characters */
} calc_paint;

enum { CALC_PAINT_MAX_COLUMNS = 400 };

/** Colours, by their numbers on a terminal. */
#define CALC_PAINT_BOLD "1"
#define CALC_PAINT_RED "31"
#define CALC_PAINT_GREEN "32"
#define CALC_PAINT_YELLOW "33"
#define CALC_PAINT_BLUE "34"
#define CALC_PAINT_MAGENTA "35"

/** Detect the capabilities of standard output. UTF-8 if LC_ALL, else LC_CTYPE, else LANG names it.
 *  @param when  "always", "never" or "auto": on a terminal that is not dumb, unless NO_COLOR is set
 *  and not empty */
calc_paint calc_paint_stdout(const char *when);

/** Width of drawings that fill the room there is: COLUMNS, else the width of the terminal on
 *  standard output, else 80; at most CALC_PAINT_MAX_COLUMNS. */
int calc_paint_columns(void);

/** Write text in a colour. */
void calc_paint_text(calc_output *out, const calc_paint *paint, const char *color,
                     const char *text);

/** How parts of a kind are drawn: with a block character, or a letter where there is no UTF-8. */
typedef struct calc_paint_mark {
    const char *words, *block, *letter;
    const char *color; /**< NULL: none */
} calc_paint_mark;

/** Write a mark as often as it has columns. */
void calc_paint_marks(calc_output *out, const calc_paint *paint, const calc_paint_mark *mark,
                      int64_t columns);

/** Write a bar of `width` columns, blanks included; fractions are clamped to [0, 1]. Block
 *  characters resolve an eighth of a column, '#' half of one; every positive fraction shows. */
void calc_paint_bar(calc_output *out, const calc_paint *paint, const char *color, double fraction,
                    int width);

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
    size_t length;

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

/** Add the next cells as printf() writes them, with a tab between two; at most 639 bytes. */
void calc_listing_addf(calc_listing *listing, const char *fmt, ...) CALC_PRINTF(2, 3);

/** The text of a cell. */
const char *calc_listing_cell(const calc_listing *listing, size_t row, size_t column);

/** Narrow the gaps from two blanks to `gap`, then hide columns, until a line is no wider than
 *  `width`. */
void calc_listing_fit(calc_listing *listing, int width);

/** Write a row, from 1 on, or the heads, row 0, with `indent` blanks before it and none behind. */
void calc_listing_write_row(const calc_listing *listing, calc_output *out, size_t row, int indent);

/** Fit into the width of drawings (calc_paint_columns()), write the heads, all rows and what was
 *  left out, nothing without rows, and free it. */
void calc_listing_end(calc_listing *listing, calc_output *out);

void calc_listing_free(calc_listing *listing);

enum { CALC_FIELD_TEXT_MEANING = 512 /**< bytes for the meaning of a field */ };

/** "integer", "one of", "[[size, efficiency], ...]". */
const char *calc_field_text_type(const calc_field *field);

/** "1 to 1,000", "above 0 to 1", "multihead, multiquery, flash"; "" for no limit. */
void calc_field_text_range(const calc_field *field, char *buffer, size_t size);

/** The meaning of a field, its other names, and the other names of its choices. @return buffer */
const char *calc_field_text_meaning(const calc_field *field, char buffer[CALC_FIELD_TEXT_MEANING]);

#endif
