/** @file schema_validation.h  The JSON Schema of what `calc validate --json` writes. */
#ifndef CALC_CLI_SCHEMA_VALIDATION_H
#define CALC_CLI_SCHEMA_VALIDATION_H

#include "io/output.h"

/** Write it. */
void calc_schema_validation_write(calc_output *out);

#endif
