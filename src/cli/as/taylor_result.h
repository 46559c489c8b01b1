/** @file taylor_result.h  Ranked candidates, as Taylor's table of results has them. */
#ifndef CALC_CLI_AS_TAYLOR_RESULT_H
#define CALC_CLI_AS_TAYLOR_RESULT_H

#include "cli/as/files.h"
#include "cli/as/taylor.h"
#include "cli/as/taylor_solve.h"
#include "taylor/yaml.h"

typedef struct calc_taylor_result {
    char path[CALC_AS_PATH_SIZE];
    calc_taylor_candidate candidate; /**< as the file's name says */
    calc_taylor_file file;           /**< without its text */
    calc_taylor_job job;
    double cost_ms;    /**< of a step; INFINITY: it fits nowhere, or failed */
    char failure[512]; /**< why it was not solved; empty: it was */
} calc_taylor_result;

/** The columns of the table, a byte order mark before them. */
void calc_taylor_result_head(calc_output *out);

/** A row of it. */
void calc_taylor_result_row(const calc_taylor_result *result, calc_output *out);

/** All in order, for people. */
void calc_taylor_result_table(calc_taylor_result *const *results, size_t count, calc_output *out);

#endif
