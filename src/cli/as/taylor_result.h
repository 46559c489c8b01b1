/** @file taylor_result.h  Writes ranked candidates as Taylor's table of results. */
#ifndef CALC_CLI_AS_TAYLOR_RESULT_H
#define CALC_CLI_AS_TAYLOR_RESULT_H

#include "cli/as/files.h"
#include "cli/as/taylor.h"
#include "cli/as/taylor_solve.h"
#include "taylor/yaml.h"

typedef struct calc_taylor_result {
    char path[CALC_AS_PATH_SIZE];
    calc_taylor_candidate candidate; /**< as in the file's name */
    calc_taylor_file file;           /**< without its text */
    calc_taylor_job job;
    double cost_ms;    /**< time of a step; INFINITY: it fits nowhere, or failed */
    char failure[512]; /**< reason for no solution; empty: it was solved */
} calc_taylor_result;

/** Writes the header of the table after a byte order mark. */
void calc_taylor_result_head(calc_output *out);

/** Writes one row. */
void calc_taylor_result_row(const calc_taylor_result *result, calc_output *out);

/** Writes all candidates in order, for people. */
void calc_taylor_result_table(calc_taylor_result *const *results, size_t count, calc_output *out);

#endif
