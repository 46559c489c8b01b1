/** @file run_operators.h  Looks up the kernels of a layout among measured operators (`calc run
 *  --operators`) and reports the source of each time. */
#ifndef CALC_CLI_RUN_RUN_OPERATORS_H
#define CALC_CLI_RUN_RUN_OPERATORS_H

#include "calibrate/point_table.h"
#include "cli/shell/inputs.h"
#include "io/json_put.h"
#include "model/operator_stats.h"
#include "model/stages/measured_block.h"

/** Measured operators and their use in a layout. Owns the file and the table. Start with {0}. */
typedef struct calc_run_operators {
    calc_points points;
    char sha256[CALC_DIGEST_TEXT]; /**< of the file */
    calc_point_table table;
    calc_layer_stats layer[CALC_MAX_LAYERS];
    calc_operator_source source[CALC_MAX_LAYERS];
    size_t count;
    calc_measured_block block; /**< time_s 0: the file has no blocks */
} calc_run_operators;

/** Read a file and look up the operators of a layout; `stats` are those of a step with them.
 *  @param rows  machines in the file, see calc_points_select()
 *  @return CALC_OK, a status of reading, or CALC_ERR_UNSUPPORTED for a layout whose step is not
 *  made of operators; *out must be freed in any case */
CALC_MUST_USE calc_status calc_run_operators_make(calc_run_operators *out, const char *path,
                                                  const char *rows, const calc_inputs *inputs,
                                                  calc_stats *stats, calc_errors *errors);

/** Free what it owns; fine on {0}. */
void calc_run_operators_free(calc_run_operators *operators);

/** Write a row per operator, for people. */
void calc_run_operators_write(calc_output *out, const calc_run_operators *operators);

/** Write the member "operators" of the open object: a row per operator and pass. */
void calc_run_operators_put(calc_put *put, const calc_run_operators *operators);

#endif
