/** @file taylor.h  Shared parts of Taylor's three programs. */
#ifndef CALC_CLI_AS_TAYLOR_H
#define CALC_CLI_AS_TAYLOR_H

#include "cli/as/flags.h"
#include "io/output.h"
#include "io/text.h"
#include "taylor/config.h"
#include "taylor/memory.h"
#include "taylor/yaml.h"

/** A calc flag that all three programs have. */
#define CALC_TAYLOR_SYSTEM_FLAG(X)                                                                 \
    X(SYSTEM, "--system", "SYS", .preset = "ascend_910b", .ours = true,                            \
      .doc = "the machine, whose framework and reserve are part of its memory: a path, or a name " \
             "in systems/; how much there is, the configuration says")

/** A configuration with its text. */
typedef struct calc_taylor_file {
    calc_text text; /**< owned */
    calc_taylor_config config;
} calc_taylor_file;

/** Reads it. Start with {0}. @return CALC_OK, or a status with errors added */
CALC_MUST_USE calc_status calc_taylor_file_read(calc_taylor_file *out, const char *path,
                                                calc_errors *errors);

/** Writes it with edits. @param yaml  its own path, for errors @param path  "-": standard output */
CALC_MUST_USE calc_status calc_taylor_write(const calc_taylor_file *file, const char *yaml,
                                            const calc_taylor_edits *edits, const char *path,
                                            calc_errors *errors);

/** Gives errors without a place the place of the whole file. */
void calc_taylor_place(calc_errors *errors, const char *path);

/** Reports on standard error where the configuration departs from Taylor's default. */
void calc_taylor_tell(const calc_taylor_config *config, const char *path);

/* Divides one layout as Taylor does: solves it and tightens the limits until
 * calc's memory model agrees that it fits. */

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
    bool tells; /**< a line on standard error about each round of the check */
} calc_taylor_job;

/** Fills the layout of a configuration with its memory terms; the rest of the request gets
 *  defaults.
 *  @param batch  0: taken from micro_batch_num
 *  @return CALC_OK, or CALC_ERR_RULE or _RANGE with errors */
CALC_MUST_USE calc_status calc_taylor_job_of(const calc_taylor_config *config,
                                             const calc_system *system, int64_t batch,
                                             calc_taylor_job *out, calc_errors *errors);

/** Solves it. CALC_TAYLOR_SOLVER_HIGHS becomes CALC_TAYLOR_SOLVER_CALC.
 *  @return CALC_OK, whether or not it fits, or the solver's status */
CALC_MUST_USE calc_status calc_taylor_solve(calc_taylor_job *job, calc_errors *errors);

/** Reports on standard error if another solver than the requested one was used. */
void calc_taylor_tell_solver(const calc_taylor_job *job, calc_taylor_solver wanted);

enum { CALC_TAYLOR_STEM_SIZE = 160 };

/** Taylor's file stem for a layout: "layers3_59_micro64_dp16_tp4_pp16_vp1_ep32". @return stem */
char *calc_taylor_stem(const calc_taylor_job *job, char stem[CALC_TAYLOR_STEM_SIZE]);

/** Shows the result of calc_taylor_solve(): each stage, the step and the lists, or why nothing
 *  fits. */
void calc_taylor_show(const calc_taylor_job *job, calc_output *out);

/** Shows the lists in the form of the configuration. */
void calc_taylor_show_lists(const calc_taylor_ask *ask, const calc_balance_share *share,
                            calc_output *out);

extern const calc_command calc_as_taylor_rank;

#endif
