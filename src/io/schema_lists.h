/** @file schema_lists.h  Writes the JSON Schema of lists of stages and of layers. */
#ifndef CALC_IO_SCHEMA_LISTS_H
#define CALC_IO_SCHEMA_LISTS_H

#include "calc.h"
#include "io/output.h"

/** Write it, if a field is one of them.
 *  @return whether it is */
bool calc_schema_list(calc_output *out, const calc_field *field);

#endif
