/** @file files.h  The JSON Schemas of this folder, embedded by the build. "@name" in them stands
 *  for a part generated from the tables of fields. */
#ifndef CALC_CLI_SCHEMA_FILES_H
#define CALC_CLI_SCHEMA_FILES_H

#include "cli/shell/help.h"

extern const calc_fill_file calc_schema_result;       /**< output of calc run --json */
extern const calc_fill_file calc_schema_space;        /**< input of calc sweep */
extern const calc_fill_file calc_schema_runs;         /**< measured runs */
extern const calc_fill_file calc_schema_serving_runs; /**< measured runs of serving */
extern const calc_fill_file calc_schema_operators;  /**< measured kernels, collectives and blocks */
extern const calc_fill_file calc_schema_validation; /**< output of calc validate --json */
extern const calc_fill_file calc_schema_plan;       /**< output of calc plan --json */
extern const calc_fill_file calc_schema_tune;       /**< output of calc tune --json */

#endif
