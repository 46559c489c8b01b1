/** @file csv.h  Writes rows of comma-separated values (RFC 4180) from the tables of fields. */
#ifndef CALC_IO_CSV_H
#define CALC_IO_CSV_H

#include "calc.h"
#include "io/output.h"

/** Column names of a kind: its scalar fields in row order, nested ones by path ("mem1.GiB").
 *  Curves, ops, maps, lists and notes have no column. A `,` goes before each unless `first`. */
void calc_csv_header(calc_output *out, calc_kind kind, bool first);

/** The values under that header; NaN is empty, enumerations are their text, sets too
 *  ("core_attn+mlp"; empty without a member), booleans true/false. */
void calc_csv_values(calc_output *out, calc_kind kind, const void *object, bool first);

/** One text cell, quoted if it needs to be. */
void calc_csv_text(calc_output *out, const char *text, bool first);

#endif
