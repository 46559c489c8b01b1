/** @file rank.h  The configurations of a job in the order of their times. */
#ifndef CALC_MINDSPEED_RANK_H
#define CALC_MINDSPEED_RANK_H

#include "mindspeed/peak.h"
#include "mindspeed/results.h"

/** Where a time is from. */
typedef enum calc_mindspeed_source {
    CALC_MINDSPEED_UNTIMED,  /**< too much memory, or no time */
    CALC_MINDSPEED_MODELLED, /**< by a model */
    CALC_MINDSPEED_MEASURED  /**< read from a file */
} calc_mindspeed_source;

/** A configuration and what is known of it. */
typedef struct calc_mindspeed_candidate {
    calc_mindspeed_config config;
    double peak_bytes; /**< by the memory model that is asked for */
    double calc_bytes; /**< by calc's; infinite: calc cannot lay it out */
    bool fits;         /**< it may be an answer */
    calc_mindspeed_source source;
    double step_s; /**< mean of the samples; infinite without a time */
    double sd_s;   /**< of the samples; 0 where they are alike */
    double best;   /**< share of the samples in which nothing that fits is faster */
} calc_mindspeed_candidate;

/** All of a space: first those that fit, the fastest first, then the rest in the order of the
 * space. Owns its list; start with {0}. */
typedef struct calc_mindspeed_ranking {
    calc_mindspeed_candidate *item;
    size_t count;
    size_t timed; /**< within the memory up to which configurations are tried, and timed */
    size_t fit;   /**< of them: those that may be an answer */
    size_t measured;
    bool spread; /**< some samples differ */
    calc_mindspeed_peak peak;
    calc_notes notes;
} calc_mindspeed_ranking;

/** Samples of the step time of a configuration, seconds: what a judge thinks of it. The i-th
 * samples of two configurations belong together.
 *  @return false: it has no time */
typedef bool (*calc_mindspeed_rank_timer)(void *judge, const calc_mindspeed_config *config,
                                          double *samples_s, size_t count);

/** How times are found. */
typedef struct calc_mindspeed_rank_times {
    calc_mindspeed_rank_timer timer;       /**< NULL: calc's model, all samples alike */
    void *judge;                           /**< borrowed */
    size_t samples;                        /**< at least 1 */
    const calc_mindspeed_results *results; /**< of runs, which count more; NULL: none */
} calc_mindspeed_rank_times;

/** List, prune and time the configurations of a study. Results count more than steps that the
 *  first generation measured, and these more than a model.
 *  @return CALC_OK, also if nothing fits; CALC_ERR_RULE with an error for a space that is empty;
 *  CALC_ERR_NOMEM. *out is to be freed in any case */
CALC_MUST_USE calc_status calc_mindspeed_rank(const calc_mindspeed_study *study,
                                              const calc_mindspeed_rank_times *times,
                                              calc_mindspeed_ranking *out, calc_errors *errors);

/** Fine on {0}. */
void calc_mindspeed_rank_free(calc_mindspeed_ranking *ranking);

#endif
