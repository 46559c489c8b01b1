/** @file milp.h  A problem as a mixed-integer program, for solvers that prove optima.
 *
 *  Columns are the layers of each chunk by kind, and how many of them recompute; whether layers of
 *  kind 0 come at a place or later; how long a micro-batch takes forward and backward; and when
 *  each starts. Rows say that
 *
 *      layers add up, stay within their bounds, and those of kind 0 come before those of kind 1;
 *      at most the layers that are there recompute, and a chunk does so in one way (not may_mix);
 *      a pass takes the sum of its layers' times;
 *      a stage does one thing after the other, in the order below, and a micro-batch goes
 * from chunk to chunk; for every number of micro-batches in flight by chunk that no other exceeds,
 * a stage holds at most its limit.
 *
 *  The objective is the end of the last backward pass. Since starts are free, the optimum is that
 *  of the step as calc_schedule_sim_s() finds it, to rounding. */
#ifndef CALC_BALANCE_MILP_H
#define CALC_BALANCE_MILP_H

#include "balance/evaluate.h"
#include "balance/solve.h"

/** The meaning of a column, and its name in lists. */
#define CALC_MILP_WHAT_LIST(X)                                                                     \
    X(LAYERS, "layers")          /* of a kind */                                                   \
    X(SELECTIVE, "selective")    /* of them, of a kind */                                          \
    X(FULL, "full")              /* likewise */                                                    \
    X(REACHES, "reaches")        /* 1: layers of kind 0 are here or later */                       \
    X(SELECTS, "selects")        /* 1: recomputes in parts, 0: in full */                          \
    X(WORKS, "works")            /* 1: the stage has the working memory of recomputation */        \
    X(CHIP_FULL, "full_on_chip") /* layers of each chunk on a chip, if it has as many */           \
    X(PARTLY, "partly")          /* 0: the chunk recomputes all, 1: as many as others */           \
    X(FW_TIME, "forward_time")                                                                     \
    X(BW_TIME, "backward_time")                                                                    \
    X(FLIGHT, "flight") /* memory of a micro-batch in flight */                                    \
    X(FW_START, "forward_start")                                                                   \
    X(BW_START, "backward_start")

#define CALC_MILP_WHAT_NAME(name, text) CALC_MILP_##name,
typedef enum calc_milp_what {
    CALC_MILP_WHAT_LIST(CALC_MILP_WHAT_NAME) CALC_MILP_WHATS
} calc_milp_what;
#undef CALC_MILP_WHAT_NAME

extern const char *const calc_milp_what_names[CALC_MILP_WHATS];

typedef struct calc_milp_column {
    calc_milp_what what;
    int kind; /**< of layers, or the chip; -1: none, as the next ones */
    int stage, chunk, microbatch;
    bool integer;
    double upper; /**< finite; none is below 0 */
    double cost;  /**< in the objective, which is minimised */
} calc_milp_column;

typedef enum calc_milp_sense { CALC_MILP_LESS, CALC_MILP_EQUAL, CALC_MILP_MORE } calc_milp_sense;

typedef struct calc_milp_row {
    calc_milp_sense sense; /**< of the sum of its terms */
    double bound;
} calc_milp_row;

typedef struct calc_milp_term {
    int row, column;
    double factor;
} calc_milp_term;

/** The program; owns its lists. Times and memory are in units that keep its numbers near one. */
typedef struct calc_milp {
    calc_milp_column *column;
    calc_milp_row *row;
    calc_milp_term *term; /**< by row; no row has a column twice */
    size_t columns, rows, terms;
    size_t column_room, row_room, term_room;
    calc_schedule_shape shape; /**< of the problem: all micro-batches */
    double unit_s, unit_bytes; /**< value of 1 in the program */
} calc_milp;

enum { CALC_MILP_NAME_SIZE = 9, CALC_MILP_MOST = 999999 };

/** Make the program.
 *  @param out  on CALC_OK to be freed; else empty
 *  @return CALC_OK; CALC_ERR_UNSUPPORTED for a schedule other than 1F1B and GPipe, or one that does
 *  not run on the shape; CALC_ERR_RANGE beyond CALC_MILP_MOST rows or columns, with an error */
CALC_MUST_USE calc_status calc_milp_build(const calc_balance_problem *problem, calc_milp *out,
                                          calc_errors *errors);

void calc_milp_free(calc_milp *milp);

/** "C000012"; "R000034". @return name */
char *calc_milp_column_name(size_t column, char name[CALC_MILP_NAME_SIZE]);
char *calc_milp_row_name(size_t row, char name[CALC_MILP_NAME_SIZE]);

/** The division given by values of the columns; integers are rounded.
 *  @param share  [stages * chunks] */
void calc_milp_shares(const calc_milp *milp, const double *value, calc_balance_share *share);

/** Takes a text piece by piece. @return false to stop */
typedef bool (*calc_mps_write)(void *context, const char *text, size_t length);

/** Write the program. @return false if `write` stopped */
bool calc_mps_program(const calc_milp *milp, calc_mps_write write, void *context);

/** Write the meaning of its columns, as comma-separated values:
 *  name,variable,stage,chunk,microbatch, counted from 0; blank where it does not apply.
 *  @return false if `write` stopped */
bool calc_mps_names(const calc_milp *milp, calc_mps_write write, void *context);

enum { CALC_MPS_NUMBER_SIZE = 13 };

/** A number in 12 characters, as near as they allow. @return text */
char *calc_mps_number(double value, char text[CALC_MPS_NUMBER_SIZE]);

typedef enum calc_solver_outcome {
    CALC_SOLVER_OPTIMAL,    /**< proven */
    CALC_SOLVER_FEASIBLE,   /**< a solution, not proven */
    CALC_SOLVER_INFEASIBLE, /**< proven to have no solution */
    CALC_SOLVER_LIMIT       /**< neither a solution nor a proof */
} calc_solver_outcome;

typedef struct calc_solver_result {
    calc_solver_outcome outcome;
    double objective_s; /**< of the solution; INFINITY: none */
    double bound_s;     /**< no solution is less; -INFINITY: not known */
    double *value;      /**< [columns]; owned; NULL without a solution */
} calc_solver_result;

/** Start glpsol, which has to be installed, on the text of milp.h, and wait for it.
 *  @param time_limit_s  whole seconds, others are rounded up; 0: none
 *  @param out           on CALC_OK to be freed; else empty
 *  @return CALC_OK, whatever the outcome; CALC_ERR_IO if it is not installed or gave up, with an
 *  error that says why */
CALC_MUST_USE calc_status calc_solver_glpsol(const calc_milp *milp, double time_limit_s,
                                             calc_solver_result *out, calc_errors *errors);

void calc_solver_free(calc_solver_result *result);

/** Divide the layers by glpsol instead of the search of solve.h, with the same answer;
 *  `evaluations`, `stage` and `needs_bytes` of it are 0, -1 and 0. Solvers tolerate small excesses
 *  of memory: where one occurs, the limit is lowered by 1e-4, and the answer is then not proven.
 *  @return as calc_milp_build() and calc_solver_glpsol() */
CALC_MUST_USE calc_status calc_solver_divide(const calc_balance_problem *problem,
                                             double time_limit_s, calc_balance_solution *out,
                                             calc_errors *errors);

/* The operations of each stage in order, in the form of
 * model/schedule/schedule_order.h: its orders, except that 1F1B with several chunks has the order
 * of evaluate.h. */

/** Write the order of every stage.
 *  @param shape        one that calc_schedule_check() accepts
 *  @param less_memory  as in calc_balance_problem
 *  @param op           room for shape->stages times calc_schedule_ops_room(); those of stage i
 * begin at i times that
 *  @param count        [stages] operations of each stage */
void calc_balance_orders(const calc_schedule_shape *shape, bool less_memory, calc_schedule_op *op,
                         int64_t *count);

/** Columns of a place: the first column of each kind, -1 where it has none. */
typedef struct calc_milp_place {
    int layers[CALC_BALANCE_KINDS], selective[CALC_BALANCE_KINDS], full[CALC_BALANCE_KINDS];
    int reaches, selects, fw_time, bw_time, flight;
    int fw_start, bw_start; /**< of micro-batch 0; the others follow */
} calc_milp_place;

typedef struct calc_milp_maker {
    const calc_balance_problem *problem;
    calc_milp *out;
    bool too_large; /**< then nothing is added */
    int places;
    calc_schedule_op *op; /**< of all stages, as calc_balance_orders() writes them */
    int64_t room, *count;
    double horizon; /**< in units: longer than any step */
    calc_milp_place place[CALC_BALANCE_PLACES];
} calc_milp_maker;

/** Columns and rows of the layers of all places and their recomputation. */
void calc_milp_make_layers(calc_milp_maker *maker);

/** Rows for the memory of stages, with the columns that they need. After the layers. */
void calc_milp_make_memory(calc_milp_maker *maker);

/** Columns and rows of passes, and the objective. After the layers. */
void calc_milp_make_times(calc_milp_maker *maker);

#endif
