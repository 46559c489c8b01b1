/** @file rank.h  Ranks the configurations of a job by time; the next one to measure. */
#ifndef CALC_MINDSPEED_RANK_H
#define CALC_MINDSPEED_RANK_H

#include "mindspeed/loop.h"
#include "mindspeed/memory.h"

/** Source of a time. */
typedef enum calc_mindspeed_source {
    CALC_MINDSPEED_UNTIMED,  /**< too much memory, or no time */
    CALC_MINDSPEED_MODELLED, /**< by a model */
    CALC_MINDSPEED_MEASURED  /**< read from a file */
} calc_mindspeed_source;

/** A configuration and its results. */
typedef struct calc_mindspeed_candidate {
    calc_mindspeed_config config;
    double peak_bytes; /**< by the requested memory model */
    double calc_bytes; /**< by calc's model; infinite: calc cannot lay it out */
    bool fits;         /**< it may be an answer */
    calc_mindspeed_source source;
    double step_s; /**< mean of the samples; infinite without a time */
    double sd_s;   /**< standard deviation of the samples; 0 if they are equal */
    double best;   /**< share of the samples in which no fitting configuration is faster */
} calc_mindspeed_candidate;

/** All configurations of a space: first those that fit, from the fastest on, then the rest in the
 *  order of the space. Owns its list; start with {0}. */
typedef struct calc_mindspeed_ranking {
    calc_mindspeed_candidate *item;
    size_t count;
    size_t timed; /**< configurations within the memory limit of trials that have a time */
    size_t fit;   /**< of these, configurations that may be an answer */
    size_t measured;
    double scale; /**< of predicted times: the median of measured over predicted ones; 1: none was
                       measured */
    bool spread;  /**< some samples differ */
    calc_mindspeed_peak peak;
    calc_notes notes;
} calc_mindspeed_ranking;

/** Fills samples of a configuration's step time [s], as a judge estimates it. The i-th samples of
 *  two configurations belong together.
 *  @return false if it has no time */
typedef bool (*calc_mindspeed_rank_timer)(void *judge, const calc_mindspeed_config *config,
                                          double *samples_s, size_t count);

/** Sources of times. */
typedef struct calc_mindspeed_rank_times {
    calc_mindspeed_rank_timer timer;       /**< NULL: calc's model, all samples equal */
    void *judge;                           /**< borrowed */
    size_t samples;                        /**< at least 1 */
    const calc_mindspeed_results *results; /**< results of runs, which take precedence; NULL:
                                            *  none */
} calc_mindspeed_rank_times;

/** Lists, prunes and times the configurations of a study. Results take precedence over steps that
 *  the first generation measured, and both over a model.
 *  @return CALC_OK, also if nothing fits; CALC_ERR_RULE with an error for an empty space;
 *  CALC_ERR_NOMEM. *out must be freed in any case */
CALC_MUST_USE calc_status calc_mindspeed_rank(const calc_mindspeed_study *study,
                                              const calc_mindspeed_rank_times *times,
                                              calc_mindspeed_ranking *out, calc_errors *errors);

/** Frees the list; {0} is allowed. */
void calc_mindspeed_rank_free(calc_mindspeed_ranking *ranking);

/** The choice. */
typedef struct calc_mindspeed_next {
    calc_mindspeed_stop stop;     /**< whether the loop goes on, or why it ended */
    calc_mindspeed_config config; /**< the choice, if the loop goes on */
    double chance;                /**< its share of the pool */
    double unmeasured;            /**< unmeasured share of the pool */
    size_t trials;                /**< results so far */
} calc_mindspeed_next;

/** Finds the state of the planner's loop with the results of `times`, over all timed configurations
 *  and with the same samples.
 *  @return CALC_OK or CALC_ERR_NOMEM */
CALC_MUST_USE calc_status calc_mindspeed_next_find(const calc_mindspeed_ranking *ranking,
                                                   const calc_mindspeed_rank_times *times,
                                                   const calc_mindspeed_loop_rules *rules,
                                                   calc_mindspeed_next *out);

#endif
