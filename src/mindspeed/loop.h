/** @file loop.h  The configurations of a space with their memory and time, and what to measure
 * next: calc tune (tune/decision.h) decides from all results so far. */
#ifndef CALC_MINDSPEED_LOOP_H
#define CALC_MINDSPEED_LOOP_H

#include "calc.h"
#include "mindspeed/arguments.h"
#include "mindspeed/compose.h"
#include "mindspeed/memory.h"
#include "mindspeed/operators.h"
#include "tune/decision.h"
#include "tune/kernels.h"

/* Reads measured configurations: rows of model_results.csv, columns pp, tp, dp,
 * ring_attention, ulysses, mbs, vpp, ep, peak_memory in GB and e2e_time in ms. */

typedef struct calc_mindspeed_result {
    calc_mindspeed_config config;
    calc_tune_end end;
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

/* Reads a folder of MindSpeed's planner except the profiles of modules: kernels,
 * operators that were timed alone, and collectives. */

/** The contents of a folder. Owns them; start with {0}. */
typedef struct calc_mindspeed_folder {
    calc_mindspeed_times kernels; /**< from all files kernel_details.csv, in the order of their
                                   *  paths */
    calc_mindspeed_times cache;   /**< operator_cache.csv; empty if it is missing */
    calc_mindspeed_comm comm;     /**< comm_prof.csv; empty if it is missing */
} calc_mindspeed_folder;

/** Reads a folder: `comm_prof.csv` and `operator_cache.csv` in it, and every `kernel_details.csv`,
 *  a profiler's file, in it or up to five folders below. Each may be missing.
 *  @return CALC_OK; CALC_ERR_NOT_FOUND if there is no such folder; or the status of reading a file.
 *  Errors name file, line and column. *out must be freed in any case */
CALC_MUST_USE calc_status calc_mindspeed_folder_read(calc_mindspeed_folder *out, const char *path,
                                                     calc_errors *errors);

/** Frees the contents; {0} is allowed. */
void calc_mindspeed_folder_free(calc_mindspeed_folder *folder);

/** What was measured besides whole steps. Start with calc_mindspeed_evidence_start(). */
typedef struct calc_mindspeed_evidence {
    calc_mindspeed_folder folder;
    calc_point_table kernels; /**< of the folder */
    size_t profiled;          /**< number of times so far that came from profiles of modules */
    calc_notes notes;         /**< damaged and missing files */
} calc_mindspeed_evidence;

/** Reads the folder of a study.
 *  @return CALC_OK, or the status of reading. *out must be freed in any case */
CALC_MUST_USE calc_status calc_mindspeed_evidence_start(calc_mindspeed_evidence *out,
                                                        const calc_mindspeed_study *study,
                                                        calc_errors *errors);

/** Frees it; {0} is allowed. */
void calc_mindspeed_evidence_free(calc_mindspeed_evidence *evidence);

/** Source of a time. */
typedef enum calc_mindspeed_source {
    CALC_MINDSPEED_UNTIMED,  /**< too much memory, or no time */
    CALC_MINDSPEED_MODELLED, /**< expected, given all measurements */
    CALC_MINDSPEED_MEASURED  /**< read from a file */
} calc_mindspeed_source;

/** A configuration and its results. */
typedef struct calc_mindspeed_candidate {
    calc_mindspeed_config config;
    double peak_bytes; /**< by the requested memory model */
    double calc_bytes; /**< by calc's model; infinite: calc cannot lay it out */
    bool fits;         /**< it may be an answer */
    calc_mindspeed_source source;
    double step_s;      /**< measured, or the median of what is expected; infinite without a time */
    double p5_s, p95_s; /**< nine of ten times are expected between them */
    double best;        /**< probability that it is the fastest that fits */
} calc_mindspeed_candidate;

/** Reason for the end of the measurements. */
typedef enum calc_mindspeed_stop {
    CALC_MINDSPEED_GOES_ON,
    CALC_MINDSPEED_CONCENTRATED, /**< hardly any unmeasured one may be faster by what matters */
    CALC_MINDSPEED_EXHAUSTED,    /**< no candidates are left */
    CALC_MINDSPEED_TRIALS        /**< the limit of trials is reached */
} calc_mindspeed_stop;

/** All configurations of a space: first those that fit, from the fastest on, then the rest in the
 *  order of the space. Owns its list; start with {0}. */
typedef struct calc_mindspeed_ranking {
    calc_mindspeed_candidate *item;
    size_t count;
    size_t timed; /**< configurations within the memory limit of trials that have a time */
    size_t fit;   /**< of these, configurations that may be an answer */
    size_t measured;
    size_t trials;              /**< results, failed ones included */
    calc_mindspeed_stop stop;   /**< whether to go on measuring, or why not */
    calc_mindspeed_config next; /**< what to measure, if to go on */
    double chance;              /**< that an unmeasured one is faster by what matters */
    calc_mindspeed_peak peak;
    calc_notes notes;
} calc_mindspeed_ranking;

/** Lists, prunes and times the configurations of a study, and decides what to measure next. Results
 *  take precedence over steps that the first generation measured.
 *  @param evidence  NULL: none
 *  @param results   of runs; NULL: none
 *  @param options   of the decision; its kernels are replaced by those of the evidence
 *  @param most      runs, at most; 0: any number
 *  @return CALC_OK, also if nothing fits; CALC_ERR_RULE with an error for an empty space; or what
 *  calc_tune_decide() returns. *out must be freed in any case */
CALC_MUST_USE calc_status calc_mindspeed_rank(const calc_mindspeed_study *study,
                                              calc_mindspeed_evidence *evidence,
                                              const calc_mindspeed_results *results,
                                              const calc_tune_options *options, size_t most,
                                              calc_mindspeed_ranking *out, calc_errors *errors);

/** Frees the list; {0} is allowed. */
void calc_mindspeed_rank_free(calc_mindspeed_ranking *ranking);

#endif
