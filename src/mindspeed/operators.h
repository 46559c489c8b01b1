/** @file operators.h  Operator times with their uncertainty. For each type of operator, a Gaussian
 *  process over the logarithms of the shapes models the relative error of kernels in a training
 *  step against kernels that ran alone. The time alone is measured (shape.h) or comes from calc's
 *  model. */
#ifndef CALC_MINDSPEED_OPERATORS_H
#define CALC_MINDSPEED_OPERATORS_H

#include "gauss/process.h"
#include "mindspeed/arguments.h"
#include "mindspeed/shape.h"
#include "model/operators/collective.h"

/** How errors are drawn: jointly for all shapes. MindSpeed draws each shape independently. */
typedef struct calc_mindspeed_sampling {
    size_t samples; /**< 100 in MindSpeed */
    uint64_t seed;
    double prior_sd; /**< standard deviation for a type without kernels; 0 in MindSpeed */
} calc_mindspeed_sampling;

/** Start with calc_mindspeed_operators_start(). Owns its processes; borrows the rest. Must not be
 *  moved. */
typedef struct calc_mindspeed_operators {
    const calc_mindspeed_job *job;
    const calc_app *app;
    const calc_system *system;
    const calc_mindspeed_cache *cache; /**< NULL: nothing was timed alone */
    calc_mindspeed_sampling sampling;
    calc_process process[CALC_MINDSPEED_TYPES];
    calc_process_path path[CALC_MINDSPEED_TYPES]; /**< this round's draws */
    uint64_t round;
    size_t kernels; /**< number of kernels in the fit */
    size_t clamped; /**< draws that would have made a time negative */
} calc_mindspeed_operators;

/** Starts without kernels: mean error 0, with the spread of the prior. */
void calc_mindspeed_operators_start(calc_mindspeed_operators *operators,
                                    const calc_mindspeed_job *job, const calc_app *app,
                                    const calc_system *system, const calc_mindspeed_cache *cache,
                                    const calc_mindspeed_sampling *sampling);

/** Frees its processes. */
void calc_mindspeed_operators_free(calc_mindspeed_operators *operators);

/** Adds the errors of kernels, weighted by the number of kernels of each shape. They take effect
 *  with calc_mindspeed_operators_fit().
 *  @return CALC_OK; CALC_ERR_RANGE for more shapes of a type than CALC_PROCESS_DATA;
 *  CALC_ERR_NOMEM */
CALC_MUST_USE calc_status calc_mindspeed_operators_learn(calc_mindspeed_operators *operators,
                                                         const calc_mindspeed_timed *kernels,
                                                         size_t count, calc_errors *errors);

/** Fits the processes to the added errors, discards all draws, and starts a new round.
 *  @return CALC_OK or CALC_ERR_NOMEM */
CALC_MUST_USE calc_status calc_mindspeed_operators_fit(calc_mindspeed_operators *operators,
                                                       calc_errors *errors);

/** Time of an operator alone by calc's model [s]. Multiplications are timed as in a forward pass;
 *  attention has heads of the job's size. */
double calc_mindspeed_operators_model_s(const calc_mindspeed_operators *operators,
                                        const calc_mindspeed_shape *shape);

/** Time of an operator alone, measured if possible, else by calc's model [s]. Errors are relative
 *  to it. */
double calc_mindspeed_operators_alone_s(const calc_mindspeed_operators *operators,
                                        const calc_mindspeed_shape *shape);

/** This round's draws of the relative error of a shape; repeated calls return the same draws.
 *  @return `sampling.samples` numbers, valid until the round ends; NULL if out of memory */
CALC_MUST_USE const double *calc_mindspeed_operators_draws(calc_mindspeed_operators *operators,
                                                           const calc_mindspeed_shape *shape);

/* Reads measured collectives: comm_prof.csv, columns type, domains, datasize and
 * time. */

/** A collective of a group on a buffer. */
typedef struct calc_mindspeed_message {
    calc_collective_op op;
    int64_t ranks; /**< column domains */
    double bytes;  /**< column datasize: the whole, unsharded buffer; for an all-to-all the bytes
                    *  that a rank sends */
} calc_mindspeed_message;

typedef struct calc_mindspeed_sent {
    calc_mindspeed_message message;
    double time_s;
} calc_mindspeed_sent;

/** Measured collectives. Owns its lists; start with {0}. */
typedef struct calc_mindspeed_comm {
    calc_mindspeed_sent *item; /**< one per message */
    size_t count;
    calc_mindspeed_message *missing; /**< messages that were requested and not found, each once */
    size_t missing_count, missing_capacity;
    size_t found; /**< successful look-ups */
} calc_mindspeed_comm;

/** Reads a file. Time is in us. If a message has three or more rows, the shortest and the longest
 *  are left out; the others are averaged.
 *  @return CALC_OK; CALC_ERR_TYPE for a malformed collective, size or time, or the status of
 *  calc_csv_table_read(). Errors name file, line and column. *out must be freed in any case. */
CALC_MUST_USE calc_status calc_mindspeed_comm_read(calc_mindspeed_comm *out, const char *path,
                                                   calc_errors *errors);

/** Time [s] of a message that was measured with exactly this number of bytes; 0 for any other,
 *  which is noted. */
double calc_mindspeed_comm_s(calc_mindspeed_comm *comm, const calc_mindspeed_message *message);

/** Frees the lists; {0} is allowed. */
void calc_mindspeed_comm_free(calc_mindspeed_comm *comm);

#endif
