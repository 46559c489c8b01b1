/** @file loop.h  Chooses the configurations to measure, and when to stop: Thompson sampling by
 *  probability matching. Each sample of the times of all configurations adds its k fastest to a
 *  pool. The next configuration is drawn from the pool, with the probability of being among the
 *  fastest. The loop ends when only a small share of the pool is unmeasured. */
#ifndef CALC_MINDSPEED_LOOP_H
#define CALC_MINDSPEED_LOOP_H

#include "base/rng.h"
#include "calc.h"
#include "mindspeed/arguments.h"
#include "mindspeed/compose.h"
#include "mindspeed/memory.h"
#include "mindspeed/operators.h"

/** Rules. MindSpeed: 100 samples, k 1 (2024) or 3 (2025), threshold 0.05. */
typedef struct calc_mindspeed_loop_rules {
    size_t samples;        /**< samples of a time, 1 or more */
    size_t top_k;          /**< 1 or more */
    double stop_threshold; /**< largest unmeasured share of the pool at the end */
    size_t max_trials;     /**< 0: no limit */
    uint64_t seed;
    bool every; /**< measures all in their order (full_precision) */
} calc_mindspeed_loop_rules;

/** State of a candidate. */
typedef enum calc_mindspeed_mark {
    CALC_MINDSPEED_UNEXPLORED,
    CALC_MINDSPEED_EXPLORED, /**< measured */
    CALC_MINDSPEED_REMOVED   /**< failed, or needs at least as much memory as one that ran out of
                              *  it */
} calc_mindspeed_mark;

/** Result of a measurement. */
typedef enum calc_mindspeed_end {
    CALC_MINDSPEED_RAN,
    CALC_MINDSPEED_FAILED,
    CALC_MINDSPEED_OUT_OF_MEMORY
} calc_mindspeed_end;

/** Reason for the end of the measurements. */
typedef enum calc_mindspeed_stop {
    CALC_MINDSPEED_GOES_ON,
    CALC_MINDSPEED_CONCENTRATED, /**< the unmeasured ones are rarely among the fastest */
    CALC_MINDSPEED_EXHAUSTED,    /**< no candidates are left */
    CALC_MINDSPEED_TRIALS        /**< the limit of trials is reached */
} calc_mindspeed_stop;

/* Reads measured configurations: rows of model_results.csv, columns pp, tp, dp,
 * ring_attention, ulysses, mbs, vpp, ep, peak_memory in GB and e2e_time in ms. */

typedef struct calc_mindspeed_result {
    calc_mindspeed_config config;
    calc_mindspeed_end end;
    double step_s;     /**< if it ran, > 0 */
    double peak_bytes; /**< NaN: not given */
    int line;          /**< line on which its row starts */
} calc_mindspeed_result;

/** Results. Owns its list; start with {0}. */
typedef struct calc_mindspeed_results {
    calc_mindspeed_result *item;
    size_t count;
} calc_mindspeed_results;

/** Reads a file. Columns vpp, ep and peak_memory may be missing; they are then 1, 0 and not given.
 *  A time is a number, `oom` or `failed`.
 *  @return CALC_OK; CALC_ERR_TYPE for a malformed size or time; CALC_ERR_RULE for a configuration
 *  that is there twice; or the status of calc_csv_table_read(). Errors name file, line and column.
 *  *out must be freed in any case. */
CALC_MUST_USE calc_status calc_mindspeed_results_read(calc_mindspeed_results *out, const char *path,
                                                      calc_errors *errors);

/** Frees the list; {0} is allowed. */
void calc_mindspeed_results_free(calc_mindspeed_results *results);

/** @return the result of a configuration; NULL if it was not measured */
const calc_mindspeed_result *calc_mindspeed_results_find(const calc_mindspeed_results *results,
                                                         const calc_mindspeed_config *config);

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
    double step_s;     /**< mean of the samples; infinite without a time */
    double sd_s;       /**< standard deviation of the samples; 0 if they are equal */
    double best;       /**< share of the samples in which no fitting configuration is faster */
    double *samples_s; /**< of the ranking: infinite without a time; the i-th samples of all belong
                        *  to one draw */
    calc_mindspeed_mark mark;
    size_t tally; /**< how often it is in the loop's pool */
} calc_mindspeed_candidate;

/** State of the loop. Borrows its candidates. */
typedef struct calc_mindspeed_loop {
    calc_mindspeed_loop_rules rules;
    calc_mindspeed_candidate *item;
    size_t count;
    size_t pool, rest; /**< entries of the pool, and those of unmeasured candidates */
    size_t trials;     /**< number of recorded results */
    size_t next;       /**< the candidate to measure next */
    calc_mindspeed_stop stop;
} calc_mindspeed_loop;

/** Records a result. If it ran out of memory, all candidates that need at least as much are
 *  removed, unless they ran. */
void calc_mindspeed_loop_record(calc_mindspeed_loop *loop, size_t candidate,
                                calc_mindspeed_end end);

/** Fills the pool from the samples of all candidates that are not removed. */
void calc_mindspeed_loop_judge(calc_mindspeed_loop *loop);

/** Chooses `next` from the pool; the choice depends on the seed and the number of trials only. Or
 *  finds that the loop has ended.
 *  @return loop->stop */
calc_mindspeed_stop calc_mindspeed_loop_choose(calc_mindspeed_loop *loop);

/** Share of a candidate in the pool; with k = 1, its probability of being the fastest. */
double calc_mindspeed_loop_chance(const calc_mindspeed_loop *loop, size_t candidate);

/** All configurations of a space: first those that fit, from the fastest on, then the rest in the
 *  order of the space. Owns its lists; start with {0}. */
typedef struct calc_mindspeed_ranking {
    calc_mindspeed_candidate *item;
    double *samples_s;
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

/** Finds the state of the planner's loop over all timed configurations.
 *  @param results  what was measured; NULL: nothing */
calc_mindspeed_next calc_mindspeed_next_find(calc_mindspeed_ranking *ranking,
                                             const calc_mindspeed_results *results,
                                             const calc_mindspeed_loop_rules *rules);

/* Reads a folder of MindSpeed's planner except the profiles of modules: kernels,
 * operators that were timed alone, and collectives. */

/** The contents of a folder. Owns them; start with {0}. */
typedef struct calc_mindspeed_folder {
    calc_mindspeed_times kernels; /**< from all files kernel_details.csv, in the order of their
                                   *  paths */
    size_t details;               /**< number of such files */
    calc_mindspeed_times cache;   /**< operator_cache.csv; empty if it is missing */
    calc_mindspeed_comm comm;     /**< comm_prof.csv; empty if it is missing */
} calc_mindspeed_folder;

/** Reads a folder: `comm_prof.csv` and `operator_cache.csv` in it, and every `kernel_details.csv`,
 *  a profiler's file, in it or up to five folders below. Each may be missing.
 *  @return CALC_OK; CALC_ERR_NOT_FOUND if there is no such folder; CALC_ERR_NOMEM; or the status of
 *  reading a file. Errors name file, line and column. *out must be freed in any case */
CALC_MUST_USE calc_status calc_mindspeed_folder_read(calc_mindspeed_folder *out, const char *path,
                                                     calc_errors *errors);

/** Frees the contents; {0} is allowed. */
void calc_mindspeed_folder_free(calc_mindspeed_folder *folder);

/** Start with calc_mindspeed_evidence_start(). Must not be moved. */
typedef struct calc_mindspeed_evidence {
    const calc_mindspeed_study *study; /**< borrowed */
    calc_mindspeed_folder folder;
    calc_mindspeed_operators operators;
    bool started;
    size_t profiled;  /**< number of times so far that came from profiles of modules */
    calc_notes notes; /**< damaged and missing files */
} calc_mindspeed_evidence;

/** Reads the folder of a study and fits the operators to it.
 *  @param sampling  how errors of operators are drawn
 *  @return CALC_OK, or the status of reading or fitting. *out must be freed in any case */
CALC_MUST_USE calc_status calc_mindspeed_evidence_start(calc_mindspeed_evidence *out,
                                                        const calc_mindspeed_study *study,
                                                        const calc_mindspeed_sampling *sampling,
                                                        calc_errors *errors);

/** A calc_mindspeed_rank_timer for evidence: times from profiled modules (second generation), or
 *  from operators. A damaged profile gives no time. */
bool calc_mindspeed_evidence_time(void *evidence, const calc_mindspeed_config *config,
                                  double *samples_s, size_t count);

/** Frees it; {0} is allowed. */
void calc_mindspeed_evidence_free(calc_mindspeed_evidence *evidence);

#endif
