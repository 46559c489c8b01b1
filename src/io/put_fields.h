/** @file put_fields.h  Writes the allowed values of the fields of a kind, for programs that compose
 *  documents. A JSON Schema (io/schema.h) says the same to programs that check them. */
#ifndef CALC_IO_PUT_FIELDS_H
#define CALC_IO_PUT_FIELDS_H

#include "io/json_put.h"

/** "fields": an object with a member per field, by its path as --set takes it. Each has "type" and
 *  "description", and where they say something "choices", "minimum", "maximum" (in units of the
 *  files), "unit", "default", "also" (other names), "auto" and "more_is_better" (both true).
 *  docs/programs.md describes them. */
void calc_put_fields(calc_put *put, calc_kind kind);

#endif
