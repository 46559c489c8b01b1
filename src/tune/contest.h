/** @file contest.h  Joint draws of the times of all candidates that may be the fastest. */
#ifndef CALC_TUNE_CONTEST_H
#define CALC_TUNE_CONTEST_H

#include "tune/scene.h"

enum { CALC_TUNE_CONTENDERS = 4096 /**< at most, plus all measured ones */ };

/** Draws. Owns its lists. */
typedef struct calc_tune_contest {
    size_t count;      /**< contenders */
    size_t *contender; /**< candidates: the likeliest to be ahead of the incumbent first */
    size_t incumbent;  /**< its index among them; SIZE_MAX: there is none */
    size_t draws;
    float *drawn;    /**< by draw, then contender: log of the time; INFINITY if it does not fit */
    double left_out; /**< the largest probability of a non-contender to beat the incumbent */
} calc_tune_contest;

/** Make it.
 *  @return CALC_OK or CALC_ERR_NOMEM; free *out in any case */
CALC_MUST_USE calc_status calc_tune_contest_make(calc_tune_contest *out,
                                                 const calc_tune_scene *scene, calc_errors *errors);
void calc_tune_contest_free(calc_tune_contest *contest);

/** The log of a contender's time in a draw; INFINITY if it does not fit. */
static inline double calc_tune_contest_drawn(const calc_tune_contest *contest, size_t draw,
                                             size_t contender)
{
    return (double)contest->drawn[draw * contest->count + contender];
}

#endif
