/** @file point_fit.h  The constants of a machine under which the model is nearest to its measured
 *  operators. Kernels are fitted together, each collective of each network for itself. Minimises
 *
 *      sum over points of w 2 (sqrt(1 + r^2) - 1),  r = (log predicted - log measured) / scatter
 *      + sum over constants of (number - start)^2 / 2^2
 *
 *  in the logarithms of constants, or of their odds (constant.h). `scatter` is estimated from the
 *  points of a class themselves. A step adds times up: the w of a multiplication is its arithmetic
 *  over the mean of its class. It is 1 for attention, whose work grows with the square of its
 *  length so that the longest would decide alone, and for messages, of which the small ones tell
 *  the latency. The second sum is weak: a factor of seven costs as much as a point that is one
 *  scatter off; it decides where the points do not. */
#ifndef CALC_CALIBRATE_POINT_FIT_H
#define CALC_CALIBRATE_POINT_FIT_H

#include "calibrate/fit.h"
#include "calibrate/points.h"
#include "model/cost/kernel_table.h"
#include "model/operators/collective.h"

/** A constant is determined if its relative standard error is below this; the points contradict
 *  the file if they moved it by more than so many standard errors. What is neither stays. */
#define CALC_POINT_DETERMINED 0.25
#define CALC_POINT_CONTRADICTED 3

enum { CALC_POINT_CONSTANTS = 64, CALC_POINT_PATH = 64 };

/** The outcome for a constant. */
typedef enum calc_point_standing {
    CALC_POINT_STAYS, /**< the points do not determine it */
    CALC_POINT_FITTED,
    CALC_POINT_ADJUSTED /**< they contradict the file, without saying much more */
} calc_point_standing;

/** One constant. Not to be copied: `constant` has its paths in `path`. */
typedef struct calc_point_constant {
    calc_constant constant;
    char path[CALC_CONSTANT_PATHS][CALC_POINT_PATH];
    calc_point_standing standing;
    double before; /**< in the file; 0: not given */
    double value;
    double relative_error; /**< standard error over the value; NaN if it stays */
} calc_point_constant;

/** All that have points. */
typedef struct calc_point_fit {
    calc_point_constant item[CALC_POINT_CONSTANTS];
    size_t count;
    bool curve[CALC_DATATYPE_COUNT]; /**< the matrix engine's efficiency became one of size */
    calc_system system;              /**< with their values, of four digits */
} calc_point_fit;

/** Fit.
 *  @param points  `count` of them; those that are not used are passed over
 *  @param skip    by index: passed over too; NULL: none
 *  @param before  the machine as its file says
 *  @return CALC_OK, CALC_ERR_NOMEM, or CALC_ERR_RULE if a point cannot be predicted */
CALC_MUST_USE calc_status calc_point_fit_make(calc_point_fit *out, const calc_point *points,
                                              size_t count, const bool *skip,
                                              const calc_system *before, calc_errors *errors);

/** A number with four digits, as files have it. */
double calc_point_round(double value);

/* Time of a measured operator, or block of them, by the model. */

/** Predicted time [s] of a point that is used, by the functions that cost a step: operators are
 *  built as for a block, and timed by calc_cost_kernel_s() and calc_collective_s().
 */
double calc_point_time_s(const calc_point *point, const calc_system *system);

/** Memory traffic of a memory-bound kernel [bytes]; 0 of anything else. */
double calc_point_bytes(const calc_point *point);

/** The operation of a collective. */
calc_collective_op calc_point_op(calc_point_class class);

/** The network with the deciding constants: the highest that its ranks span.
 *  @return its index; -1 for a kernel, and where ranks of several networks have a part */
int64_t calc_point_network(const calc_point *point, const calc_system *system);

/** A model of one block, and a layout of one micro-batch on the ranks that share it. Every word of
 *  the point's shape sets a field of the two, as calc_set() does. Absent ones are as in a document,
 *  required ones 1, false or the first choice; heads share the width, and attention has the type
 *  that kv_heads implies.
 *  @param reason  filled if a word is of nothing that a block has
 *  @return whether none is */
bool calc_point_block_of(const calc_point *point, calc_app *app, calc_exec *exec,
                         char reason[CALC_POINT_REASON]);

/** Whether a machine can run it, by the rules of all layouts.
 *  @param reason  filled if not */
bool calc_point_block_runs(const calc_point *point, const calc_system *system,
                           char reason[CALC_POINT_REASON]);

/** Its key on a machine. */
calc_kernel_key calc_point_block_key(const calc_point *point, const calc_system *system);

#endif
