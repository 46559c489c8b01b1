/** @file truth.h  A cluster that is made up: what its kernels take beyond calc's times is drawn
 * once for all shapes, and is not known to who measures configurations on it. */
#ifndef CALC_MINDSPEED_TRUTH_H
#define CALC_MINDSPEED_TRUTH_H

#include "mindspeed/compose.h"

/** Start with calc_mindspeed_truth_start(). Not to be moved. */
typedef struct calc_mindspeed_truth {
    calc_mindspeed_operators operators; /**< one draw */
} calc_mindspeed_truth;

/** Begin. Errors of a type hang together over shapes that are less than a factor of e apart.
 *  @param sd  of a kernel's relative error, >= 0 */
void calc_mindspeed_truth_start(calc_mindspeed_truth *truth, const calc_mindspeed_job *job,
                                const calc_app *app, const calc_system *system, double sd,
                                uint64_t seed);

/** Free what it owns. */
void calc_mindspeed_truth_free(calc_mindspeed_truth *truth);

/** Step of a configuration [s]; infinite if memory is short. */
double calc_mindspeed_truth_s(calc_mindspeed_truth *truth, const calc_mindspeed_layout *layout);

/** Kernels that a profile of that step has, one of each pass over each operator whose type's errors
 *  are modelled.
 *  @param out  CALC_MINDSPEED_PARTS kernels
 *  @return how many; 0 if memory is short */
size_t calc_mindspeed_truth_kernels(calc_mindspeed_truth *truth,
                                    const calc_mindspeed_layout *layout,
                                    calc_mindspeed_kernel *out);

#endif
