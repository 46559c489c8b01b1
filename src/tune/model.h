/** @file model.h  The errors of candidates as effects that they share (gauss/effects.h): of the
 *  logarithm of a step's time, and of the logarithm of the memory it needs. */
#ifndef CALC_TUNE_MODEL_H
#define CALC_TUNE_MODEL_H

#include "gauss/effects.h"
#include "tune/prior.h"

/** Errors learnt from measured kernels, in place of the prior's errors of shapes: jointly normal
 *  errors of the logarithm of compute time, one per cell, which is a combination of the coordinates
 *  TOKENS, TENSOR and CONTEXT. Arrays are the caller's. */
typedef struct calc_tune_kernels {
    size_t cells;
    const double (*coordinate)[3];
    const double *mean;       /**< by cell */
    const double *covariance; /**< cells x cells */
} calc_tune_kernels;

/** Fields of a time: shapes of kernels, schedules, and from VALUES on the values of single
 *  coordinates. */
enum {
    CALC_TUNE_FIELD_KERNELS,
    CALC_TUNE_FIELD_SCHEDULE,
    CALC_TUNE_FIELD_VALUES,
    CALC_TUNE_FIELDS = CALC_TUNE_FIELD_VALUES + CALC_TUNE_COORDINATE_CHUNKS + 1
};

/** The errors of a list of candidates. Owns its memory. */
typedef struct calc_tune_model {
    calc_effects time, memory;
    calc_effects_item *time_item, *memory_item; /**< by candidate */
} calc_tune_model;

/** Make it.
 *  @param kernels  has the cells of all candidates; NULL: the prior's field
 *  @return CALC_OK or CALC_ERR_NOMEM; free *out in any case */
CALC_MUST_USE calc_status calc_tune_model_make(calc_tune_model *out, const calc_tune_prior *prior,
                                               const calc_tune_kernels *kernels,
                                               const calc_tune_candidate *candidate, size_t count,
                                               calc_errors *errors);

/** Give the errors of a model's times other sizes. @param time  with those of the prior */
void calc_tune_model_resize(calc_effects *time, const calc_tune_sizes *sizes);

/** Prior standard deviation of the error in the logarithm of the ratio of two times.
 *  @param alike  layouts of one model on one machine: the errors that they share cancel */
double calc_tune_model_difference(const calc_tune_prior *prior, const calc_tune_candidate *a,
                                  const calc_tune_candidate *b, bool alike);

/** The probability that `a` is faster than `b`, of which it is ahead by a logarithm of predicted
 *  times. Some publishers' runs are in the predicted order far more often than others', so the size
 *  of errors is itself uncertain, as if learnt from four of them: the difference has a Student-t
 *  distribution with four degrees of freedom, as the errors of calc tune (scene.c) have. */
double calc_tune_model_sure(const calc_tune_prior *prior, const calc_tune_candidate *a,
                            const calc_tune_candidate *b, bool alike, double ahead);

/** Free what it owns; fine on {0}. */
void calc_tune_model_free(calc_tune_model *model);

#endif
