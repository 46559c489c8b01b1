/** @file schedule.h  What tells pipeline schedules apart, a row each: all that is asked of a
 * schedule outside of model/schedule/, which has its times and its order of passes. */
#ifndef CALC_SPEC_SCHEDULE_H
#define CALC_SPEC_SCHEDULE_H

#include "calc.h"

typedef struct calc_schedule_traits {
    int chunks;       /**< parts of the model that a stage holds; 0: any number, which interleave */
    int copies;       /**< of the model: 2 if micro-batches come from both ends of the pipeline */
    bool both_ends;   /**< a stage has layers near both ends of the model */
    bool wgrad_apart; /**< weight gradients are computed apart from the other gradients */
    int64_t least;    /**< micro-batches for each stage */
    int64_t even;     /**< 2: stages and micro-batches are even */
    const char *title; /**< for people, where it asks for so many */
} calc_schedule_traits;

static inline calc_schedule_traits calc_schedule_traits_of(calc_pipeline_schedule schedule)
{
    static const calc_schedule_traits rows[] = {
#define CALC_X(name, ...) {__VA_ARGS__},
        CALC_PIPELINE_SCHEDULE_TRAITS(CALC_X)
#undef CALC_X
    };
    _Static_assert(sizeof rows / sizeof *rows == CALC_PIPELINE_SCHEDULE_COUNT, "a row each");
    return rows[schedule];
}

/** Micro-batches of a replica in one step. */
static inline int64_t calc_microbatches(const calc_exec *e)
{
    return e->batch_size / e->strategy.data_par / e->microbatch_size;
}

#endif
