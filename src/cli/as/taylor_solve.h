/** @file taylor_solve.h  Divides one layout as Taylor does: solves it and tightens the limits until
 *  calc's memory model agrees that it fits. */
#ifndef CALC_CLI_AS_TAYLOR_SOLVE_H
#define CALC_CLI_AS_TAYLOR_SOLVE_H

#include "taylor/pipeline.h"

enum { CALC_TAYLOR_ROUNDS = 5 /* most rounds of tightening */ };

/** The solvers, in the order of their names on the command line. */
typedef enum calc_taylor_solver {
    CALC_TAYLOR_SOLVER_CALC,
    CALC_TAYLOR_SOLVER_GLPK,
    CALC_TAYLOR_SOLVER_HIGHS
} calc_taylor_solver;

/** Names of the solvers; NULL at the end. */
extern const char *const calc_taylor_solvers[];

typedef struct calc_taylor_job {
    /* The request. Borrows the configuration and the machine. */
    const calc_taylor_config *config;
    const calc_system *system;
    calc_exec exec;
    calc_taylor_ask ask;
    calc_taylor_ratios ratios;
    calc_taylor_memory memory;
    calc_taylor_solver solver;
    double time_limit_s; /**< 0: none */
    bool check;

    /* The result. */
    calc_balance_problem problem; /**< of the last round */
    calc_balance_solution solution;
    double checked_mb[CALC_BALANCE_STAGES]; /**< by calc's model; with `check` */
    bool fits;                              /**< the solution fits and, with `check`, passes the
                                             *  check */
    int rounds;                             /**< rounds of tightening */
    double took_s;
    /** Called with a line about each round of the check; NULL: not called. */
    void (*tell)(const char *line);
} calc_taylor_job;

/** Fills the layout of a configuration with its memory terms; the rest of the request gets
 *  defaults.
 *  @param batch  0: taken from micro_batch_num
 *  @return CALC_OK, or CALC_ERR_RULE or _RANGE with errors */
CALC_MUST_USE calc_status calc_taylor_job_of(const calc_taylor_config *config,
                                             const calc_system *system, int64_t batch,
                                             calc_taylor_job *out, calc_errors *errors);

/** Solves it. If there is no command `highs`, CALC_TAYLOR_SOLVER_HIGHS becomes
 *  CALC_TAYLOR_SOLVER_CALC.
 *  @return CALC_OK, whether or not it fits; CALC_ERR_NOMEM; or the solver's status */
CALC_MUST_USE calc_status calc_taylor_solve(calc_taylor_job *job, calc_errors *errors);

/** Reports on standard error if another solver than the requested one was used. */
void calc_taylor_tell_solver(const calc_taylor_job *job, calc_taylor_solver wanted);

enum { CALC_TAYLOR_STEM_SIZE = 160 };

/** Taylor's file stem for a layout: "layers3_59_micro64_dp16_tp4_pp16_vp1_ep32". @return stem */
char *calc_taylor_stem(const calc_taylor_job *job, char stem[CALC_TAYLOR_STEM_SIZE]);

#endif
