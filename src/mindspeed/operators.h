/** @file operators.h  Operator times with what is not known of them: of each type, the relative
 *  error of kernels inside a training step over kernels alone, as a Gaussian process over the
 *  logarithms of their shapes. What a kernel takes alone is measured (cache.h), or calc's model. */
#ifndef CALC_MINDSPEED_OPERATORS_H
#define CALC_MINDSPEED_OPERATORS_H

#include "gauss/process_path.h"
#include "mindspeed/cache.h"
#include "mindspeed/config.h"
#include "mindspeed/kernels.h"

/** How the errors are drawn: those of all shapes together. MindSpeed draws each shape for itself.
 */
typedef struct calc_mindspeed_sampling {
    size_t samples; /**< 100 in MindSpeed */
    uint64_t seed;
    double prior_sd; /**< of a type without kernels; 0 in MindSpeed */
} calc_mindspeed_sampling;

/** Start with calc_mindspeed_operators_start(). Owns its processes; borrows the rest. Not to be
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
    size_t kernels; /**< that were learnt from */
    size_t clamped; /**< draws that would have made a time negative */
} calc_mindspeed_operators;

/** Begin without kernels: no errors, with the spread of the prior. */
void calc_mindspeed_operators_start(calc_mindspeed_operators *operators,
                                    const calc_mindspeed_job *job, const calc_app *app,
                                    const calc_system *system, const calc_mindspeed_cache *cache,
                                    const calc_mindspeed_sampling *sampling);

/** Free what they own. */
void calc_mindspeed_operators_free(calc_mindspeed_operators *operators);

/** Add what kernels say of errors, those of a shape weighted by their number. Their effect comes
 *  with calc_mindspeed_operators_fit().
 *  @return CALC_OK; CALC_ERR_RANGE for more shapes of a type than CALC_PROCESS_DATA; CALC_ERR_NOMEM
 */
CALC_MUST_USE calc_status calc_mindspeed_operators_learn(calc_mindspeed_operators *operators,
                                                         const calc_mindspeed_timed *kernels,
                                                         size_t count, calc_errors *errors);

/** Fit the processes to what was added, forget all draws, and begin a round of new ones.
 *  @return CALC_OK or CALC_ERR_NOMEM */
CALC_MUST_USE calc_status calc_mindspeed_operators_fit(calc_mindspeed_operators *operators,
                                                       calc_errors *errors);

/** What an operator takes alone by calc's model [s]: multiplications as those of a forward pass,
 *  attention with heads of the job's size. */
double calc_mindspeed_operators_model_s(const calc_mindspeed_operators *operators,
                                        const calc_mindspeed_shape *shape);

/** The same, measured where it was: what errors are relative to [s]. */
double calc_mindspeed_operators_alone_s(const calc_mindspeed_operators *operators,
                                        const calc_mindspeed_shape *shape);

/** This round's draws of the relative error of a shape: whoever asks gets the same.
 *  @return `sampling.samples` numbers, until the round is over; NULL if memory is short */
CALC_MUST_USE const double *calc_mindspeed_operators_draws(calc_mindspeed_operators *operators,
                                                           const calc_mindspeed_shape *shape);

#endif
