/** @file json_save.h  Structs to JSON text. Numbers read back to the same bits; NaN and infinity
 *  are written as null. */
#ifndef CALC_IO_JSON_SAVE_H
#define CALC_IO_JSON_SAVE_H

#include "io/json_put.h"

/** Write the struct of a kind as one object, in the order of its rows. Optional fields that hold
 *  their default and datatypes a system does not offer are left out, so that the text is a valid
 *  input again. STATS and LAYER have no "verdict" or "name" here. */
void calc_put_struct(calc_put *put, const char *key, calc_kind kind, const void *object);

/** Write the document of a serving engine, likewise. */
void calc_put_engine(calc_put *put, const calc_serving_engine *engine);

/** Write one member of a struct by its row; nothing for a NOTE. */
void calc_json_put_member(calc_put *put, const calc_field *field, const void *member);

/** The same as a text of its own, without a newline at the end; lines after the first are indented
 *  by `indent` spaces more. */
void calc_json_save(calc_output *out, calc_kind kind, const void *object, int indent);

/* Writes the allowed values of the fields of a kind, for programs that compose
 * documents. A JSON Schema (io/schema.h) says the same to programs that check them. */

/** "fields": an object with a member per field, by its path as --set takes it. Each has "type" and
 *  "description", and where they say something "choices", "minimum", "maximum" (in units of the
 *  files), "unit", "default", "also" (other names), "auto" and "more_is_better" (both true).
 *  docs/programs.md describes them. */
void calc_put_fields(calc_put *put, calc_kind kind);

#endif
