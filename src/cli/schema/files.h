/** @file files.h  The JSON Schemas of this folder, as the build put them into the program. "@name"
 * in them stands for what the tables of fields say. */
#ifndef CALC_CLI_SCHEMA_FILES_H
#define CALC_CLI_SCHEMA_FILES_H

#include "cli/shell/fill.h"

extern const calc_fill_file calc_schema_result;       /**< what calc run --json writes */
extern const calc_fill_file calc_schema_space;        /**< what calc sweep takes */
extern const calc_fill_file calc_schema_runs;         /**< measured runs */
extern const calc_fill_file calc_schema_serving_runs; /**< measured runs of serving */
extern const calc_fill_file calc_schema_operators;    /**< measured kernels and collectives */
extern const calc_fill_file calc_schema_validation;   /**< what calc validate --json writes */
extern const calc_fill_file calc_schema_plan;         /**< what calc plan --out writes */
extern const calc_fill_file calc_schema_tune;         /**< what calc tune --json writes */

#endif
