/** @file parity_svg.h  Predicted over measured times of steps, or tpot and e2e for serving, as a
 *  picture: logarithmic axes, bands of 10 and 25 percent, a colour per machine. */
#ifndef CALC_VALIDATE_PARITY_SVG_H
#define CALC_VALIDATE_PARITY_SVG_H

#include "io/output.h"
#include "validate/results.h"

/* ---- Drawing --------------------------------------------------------------------------------- */

/* Parts that the pictures of a validation share. */

enum { CALC_SVG_MACHINES = 16 };

/** The machines of a picture, in the order of their first points. Start with {0}. */
typedef struct calc_svg_machines {
    const char *name[CALC_SVG_MACHINES];
    size_t points[CALC_SVG_MACHINES];
    int count;
} calc_svg_machines;

/** Count a point. @return the colour of its machine; those beyond the 16th share the last one */
const char *calc_svg_machine_color(calc_svg_machines *machines, const char *name);

/** Text between tags: reserved characters of XML are replaced. */
void calc_svg_text(calc_output *out, const char *text);

/** A line per machine with its colour and number of points, from (x, y) downwards [pixels]. */
void calc_svg_legend(calc_output *out, const calc_svg_machines *machines, int x, int y);

/* ---- Predicted over measured ----------------------------------------------------------------- */

/** Write an SVG document of the scored times. */
void calc_parity_svg_write(calc_output *out, const calc_results *results);

#endif
