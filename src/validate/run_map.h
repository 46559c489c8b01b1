/** @file run_map.h  A measured run in the terms of the model: application, machine and execution,
 *  what was measured, and what is assumed; or why it cannot be predicted. */
#ifndef CALC_VALIDATE_RUN_MAP_H
#define CALC_VALIDATE_RUN_MAP_H

#include "validate/runs.h"

/** One run. Texts are static or borrowed from the row. */
typedef struct calc_run_map {
    const calc_runs_row *row;
    calc_app app;
    calc_exec exec;
    double network;      /**< of a processor to other nodes; 0: the machine's [bytes/s] */
    bool search;         /**< micro-batch and interleaving are to be found (predict.h) */
    double step_s;       /**< measured time of a step; NaN: none */
    double memory_bytes; /**< measured peak; NaN: none */
    const char *reason;  /**< why it is not predicted; NULL: it is. app and exec are unspecified */
    calc_assumptions assumed;
} calc_run_map;

/** Map a row. Never fails: a row that cannot be mapped has a reason. */
void calc_run_map_row(calc_run_map *out, const calc_runs_row *row);

/** The machine of a run: `system`, or a copy of it in *own whose outermost network has the rate of
 *  the row. */
const calc_system *calc_run_map_system(const calc_run_map *map, const calc_system *system,
                                       calc_system *own);

/** Whether the measured memory is of a kind that the row names: "allocated", "reserved",
 *  "last_rank". */
bool calc_run_map_counts(const calc_run_map *map, const char *kind);

#endif
