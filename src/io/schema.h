/** @file schema.h  JSON Schemas (draft 2020-12) from the tables of fields: what a document may
 *  contain, for editors and for programs that check a file without calc. They say what one field
 *  may hold; what fields mean to each other (calc_check()) and the order of an efficiency curve no
 *  schema can say. */
#ifndef CALC_IO_SCHEMA_H
#define CALC_IO_SCHEMA_H

#include "calc.h"
#include "io/json_put.h"

/** The dialect that every schema names. */
#define CALC_SCHEMA_DIALECT "https://json-schema.org/draft/2020-12/schema"

/** Write the schema of one value of a field, in one line if the field has no table of its own:
 *  `{"type": "integer", "minimum": 1, ...}`. With other names of choices; without description. */
void calc_schema_value(calc_put *put, const char *key, const calc_field *field);

/** Write the schema of an object with the rows of a table, without "$schema": properties with
 *  description, unit and default, the required ones, other names of fields, and nothing else.
 *  Numbers of STATS, LAYER and STAGE may be null; LAYER has a name, too.
 *  @param document  with the property "format" of whole documents */
void calc_schema_object(calc_put *put, const char *key, const calc_table *table, bool document);

/** Write the whole schema of a kind, with a newline at the end. */
void calc_schema_write(calc_output *out, calc_kind kind);

/** The same of the document of a serving engine. */
void calc_schema_write_engine(calc_output *out);

#endif
