/** @file taylor_solve.h  One layout as Taylor divides it: solved, and checked with calc's model of
 *  memory until it fits. */
#ifndef CALC_CLI_AS_TAYLOR_SOLVE_H
#define CALC_CLI_AS_TAYLOR_SOLVE_H

#include "taylor/pipeline.h"

enum { CALC_TAYLOR_ROUNDS = 5 /* of tightening, at most */ };

/** The ways to solve, as they are called on the command line. */
typedef enum calc_taylor_solver {
    CALC_TAYLOR_SOLVER_CALC,
    CALC_TAYLOR_SOLVER_GLPK,
    CALC_TAYLOR_SOLVER_HIGHS
} calc_taylor_solver;

/** Their names; NULL at the end. */
extern const char *const calc_taylor_solvers[];

typedef struct calc_taylor_job {
    /* What is asked. Borrows the configuration and the machine. */
    const calc_taylor_config *config;
    const calc_system *system;
    calc_exec exec;
    calc_taylor_ask ask;
    calc_taylor_ratios ratios;
    calc_taylor_memory memory;
    calc_taylor_solver solver;
    double time_limit_s; /**< 0: none */
    bool check;

    /* What is found. */
    calc_balance_problem problem; /**< of the last round */
    calc_balance_solution solution;
    double checked_mb[CALC_BALANCE_STAGES]; /**< by calc's model; with `check` */
    bool fits;                              /**< the solution, and with `check` the check */
    int rounds;                             /**< of tightening */
    double took_s;
    /** Called with a line about each round of the check; NULL: not called. */
    void (*tell)(const char *line);
} calc_taylor_job;

/** The layout of a configuration, with the terms of its memory; what else is asked is preset.
 *  @param batch  0: micro_batch_num says
 *  @return CALC_OK, or CALC_ERR_RULE or _RANGE with errors */
CALC_MUST_USE calc_status calc_taylor_job_of(const calc_taylor_config *config,
                                             const calc_system *system, int64_t batch,
                                             calc_taylor_job *out, calc_errors *errors);

/** Solve it. Without a command `highs` CALC_TAYLOR_SOLVER_HIGHS becomes CALC_TAYLOR_SOLVER_CALC.
 *  @return CALC_OK, whatever fits; CALC_ERR_NOMEM; what the solver returns */
CALC_MUST_USE calc_status calc_taylor_solve(calc_taylor_job *job, calc_errors *errors);

/** Say on standard error if it was solved by another solver than was wanted. */
void calc_taylor_tell_solver(const calc_taylor_job *job, calc_taylor_solver wanted);

enum { CALC_TAYLOR_STEM_SIZE = 160 };

/** How Taylor calls files of a layout: "layers3_59_micro64_dp16_tp4_pp16_vp1_ep32". @return stem */
char *calc_taylor_stem(const calc_taylor_job *job, char stem[CALC_TAYLOR_STEM_SIZE]);

#endif
