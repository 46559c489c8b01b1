/** @file paint.h  Writes colours and bars on a terminal that supports them. */
#ifndef CALC_CLI_DRAW_PAINT_H
#define CALC_CLI_DRAW_PAINT_H

#include "io/output.h"

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

/** Write a bar of `width` columns, blanks included; fractions are clamped to [0, 1]. Block
 *  characters resolve an eighth of a column, '#' half of one; every positive fraction shows. */
void calc_paint_bar(calc_output *out, const calc_paint *paint, const char *color, double fraction,
                    int width);

#endif
