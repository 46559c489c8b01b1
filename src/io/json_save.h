/** @file json_save.h  Structs to JSON text. Numbers read back to the same bits; NaN and infinity
 *  are written as null. */
#ifndef CALC_IO_JSON_SAVE_H
#define CALC_IO_JSON_SAVE_H

#include "calc.h"
#include "io/output.h"

/** Write the struct of a kind as one JSON object, in the order of its rows, each line after the
 *  first indented by `indent` spaces more than its nesting (2 per level). Optional fields that
 *  hold their default and datatypes a system does not offer are left out, so that the text is a
 *  valid input again. No newline at the end. STATS and LAYER have no "verdict" or "name" here. */
void calc_json_save(calc_output *out, calc_kind kind, const void *object, int indent);

/** Write `text` as a JSON string, quotes included, escaped; invalid UTF-8 becomes U+FFFD. */
void calc_json_string(calc_output *out, const char *text);

#endif
