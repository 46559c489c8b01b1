/** @file sweep_more.h  The gain from 10 % more of each resource of the machines, for the best
 * layout as it is and with the layout that is then the best. And where there is none: the layout
 * that needs the least memory, more processors with which one fits, or why a space has no layout at
 * all. */
#ifndef CALC_PLAN_SWEEP_MORE_H
#define CALC_PLAN_SWEEP_MORE_H

#include "designs.h"
#include "plan/why.h"
#include "sweep.h"

/** A document that was read. */
typedef struct calc_study_document {
    char name[64];       /**< for people to read; a long one is cut */
    char sha256[65];     /**< of the document's bytes, in hexadecimal digits */
    char remark[512];    /**< what to know before using its numbers; "": nothing */
    char calibrated[64]; /**< of a system: the machine whose runs its constants were fitted to */
} calc_study_document;

/** A study. Owns its lists. Start with {0}. */
typedef struct calc_sweep_study {
    calc_space space;
    calc_designs_builder builder;
    calc_designs designs;       /**< borrows builder */
    calc_system prefill;        /**< that the space names for prefill pools */
    calc_sweep_options options; /**< without callbacks */
    size_t top;  /**< number of best layouts asked for; options.top keeps more, so that similar ones
                      can be shown as one */
    bool ranked; /**< options.top_by was asked for, not chosen by the use of the layouts */
    size_t constraints;
    calc_constraint *constraint;
    size_t documents;
    calc_study_document *document;
} calc_sweep_study;

/** A layout and its statistics. */
typedef struct calc_sweep_found {
    uint64_t design;
    calc_exec exec;
    calc_stats stats;
} calc_sweep_found;

/** Give the layouts of a result the systems that the space names: results that were saved, or come
 *  from other ranks, have none. */
void calc_sweep_found_systems(const calc_sweep_study *study, calc_sweep_result *result);

/** Evaluate a layout with calc_run(). */
void calc_sweep_found_run(const calc_sweep_study *study, const calc_found *found,
                          calc_sweep_found *out);

/** Whether an axis is a length of sequences: of training, of prompts, of answers. */
bool calc_axis_is_length(calc_axis axis);

/** Whether a study has several models or several lengths of sequences, and no statistic was asked
 * for to rank them by: a sample or a token of one is another amount of work than one of the other.
 */
bool calc_sweep_study_mixes(const calc_sweep_study *study);

/** Whether layouts of two designs that the study mixes may be compared: they are of one model, with
 *  the same fields, and of one length. */
bool calc_sweep_study_compares(const calc_sweep_study *study, const calc_found *a,
                               const calc_found *b);

/** Sweep a study again, without groups and files.
 *  @param top   how many best layouts to keep
 *  @param each  those of every design, with its front, as a group
 *  @return as calc_sweep(); *result must be freed in any case */
CALC_MUST_USE calc_status calc_sweep_study_again(const calc_sweep_study *study, size_t top,
                                                 bool each, bool no_prune,
                                                 calc_sweep_result *result, calc_errors *errors);

/** Sweep a study for its best layout alone.
 *  @param no_prune  skip nothing, so that the counts of verdicts are whole
 *  @param counts    filled with the counts of verdicts, if not NULL
 *  @param found     whether there is one; then *best is filled
 *  @return as calc_sweep() */
CALC_MUST_USE calc_status calc_sweep_found_search(const calc_sweep_study *study, bool no_prune,
                                                  calc_sweep_counts *counts, bool *found,
                                                  calc_found *best, calc_errors *errors);

/** Whether a layout has fewer parts that move than another. Compared are, one after the other: the
 *  processors that the model is split over, by tensor, pipeline and context parallelism and sharded
 *  weights; those that split matrices, of servers, which hardly ever have stages, the stages; those
 *  that experts are spread over; the chunks of a stage; how many of recomputation and the three
 *  offloads are on. The size of a micro-batch is no such part: of measured layouts that it alone
 *  tells apart, the one predicted to be faster is.
 *  @return negative: `a` is simpler; positive: `b` is; 0: they are alike in that */
int calc_sweep_found_simpler(const calc_exec *a, const calc_exec *b);

/** Whether calc_run() accepts every layout and gives it the objectives that the sweep found, to the
 *  bit. If not, that is a bug in calc, or a part of a sweep that it was read from is forged. */
bool calc_sweep_found_agree(const calc_sweep_study *study, const calc_sweep_result *result);

/** The best layout of a group: the first of its list or, without one, of its front; NULL if there
 *  is none. */
const calc_found *calc_sweep_found_best(const calc_sweep_group *group);

/** The best of all groups; the first of equals. NULL if there is none. */
const calc_found *calc_sweep_found_best_of_all(const calc_sweep_result *result);

/** Whether a sweep may be swept again, so many times: how long that takes is counted in what it
 *  evaluated and not read off the clock, so that the same sweep shows the same everywhere. Once is
 *  some seconds of two cores; what may take a minute asks for a twelfth. */
bool calc_sweep_repeats(const calc_sweep_study *study, const calc_sweep_result *result,
                        double times);

/** One resource. */
typedef struct calc_sweep_more_item {
    char text[CALC_RESOURCE_TEXT];
    calc_stats same; /**< the best layout of the sweep on the larger machine */
    bool found;      /**< swept again: `best` */
    calc_found best; /**< of the larger machine */
    calc_stats stats;
} calc_sweep_more_item;

/** All resources of the best layout's machine. */
typedef struct calc_sweep_more {
    size_t count;
    calc_sweep_more_item item[CALC_RESOURCES];
} calc_sweep_more;

/** Compute the gains; none if the sweep found nothing. All machines of the study get more at once.
 *  @param result  of the whole sweep
 *  @return CALC_OK, or the status of an error that was added */
CALC_MUST_USE calc_status calc_sweep_more_find(calc_sweep_more *out, const calc_sweep_study *study,
                                               const calc_sweep_result *result,
                                               calc_errors *errors);

enum { CALC_SWEEP_NEED_TIMES = 64 /**< at most this many times the processors are tried */ };

/** A layout that does not fit, and one on more processors that does. */
typedef struct calc_sweep_need {
    bool known;               /**< a layout would run with a larger first tier */
    calc_sweep_found least;   /**< the layout that needs the smallest one */
    bool spares;              /**< one fits if axes that nobody chose take values that were not
                                   searched: recomputation, and offload to the second tier */
    calc_sweep_found sparing; /**< the best of these */
    int64_t num_procs;        /**< the first of 2, 4, ... times the largest number of processors on
                                   which a layout fits; 0: none of them */
    calc_sweep_found larger;  /**< the best on these */
} calc_sweep_need;

/** The axes of `sparing`; 0 ends them. */
extern const calc_axis calc_sweep_need_axes[];

/** Whether the space has the value that `sparing` has of an axis. */
bool calc_sweep_need_has(const calc_sweep_need *need, const calc_space *space, calc_axis axis);

/** Find it. `known` stays false for serving, whose cache takes all memory that is left, for sweeps
 *  with conditions, and for sweeps that are too large to be repeated.
 *  @param result  of the whole sweep, without a layout
 *  @return CALC_OK, or the status of an error that was added */
CALC_MUST_USE calc_status calc_sweep_need_find(calc_sweep_need *out, const calc_sweep_study *study,
                                               const calc_sweep_result *result,
                                               calc_errors *errors);

/** The complaints of calc_check() and calc_compat_check() about a layout that has the first value
 * of every axis. Fields that an execution may leave to calc are left to it, and a largest batch is
 * rounded down to a multiple of its replicas. Where nobody chose tensor and pipeline parallelism,
 * powers of two are tried and those with the fewest complaints taken.
 *  @return whether there are any, which are then in *errors */
bool calc_sweep_empty(const calc_sweep_study *study, calc_errors *errors);

enum {
    CALC_SWEEP_CLOUD_POINTS = 20000, /**< that a picture holds */
    CALC_SWEEP_CLOUD_ALL = 100000    /**< larger spaces are sampled */
};

/** A feasible layout that meets the constraints. */
typedef calc_sweep_found calc_sweep_cloud_point;

/** Points. Owns them. Start with {0}. */
typedef struct calc_sweep_cloud {
    calc_sweep_cloud_point *point;
    size_t count;
    uint64_t seen; /**< feasible layouts that were seen; equal to count if all of them are here */
    bool all;      /**< every layout was evaluated; else they were drawn at random */
} calc_sweep_cloud;

/** Collect points. They depend on the study alone.
 *  @return CALC_OK, or CALC_ERR_NOMEM with an error; *out must be freed in any case */
CALC_MUST_USE calc_status calc_sweep_cloud_make(calc_sweep_cloud *out,
                                                const calc_sweep_study *study, calc_errors *errors);

/** Free what it owns; fine on {0}. */
void calc_sweep_cloud_free(calc_sweep_cloud *cloud);

enum { CALC_SWEEP_CELLS_SIDE = 16 /**< values of a side that are shown */ };

/** One part: its counts, and its best by the study's top_by. */
typedef struct calc_sweep_cell {
    int64_t tensor_par, pipeline_par, num_procs; /**< 0: any */
    calc_sweep_counts counts;
    bool found; /**< a feasible layout: `best` */
    calc_found best;
} calc_sweep_cell;

/** Parts. Owns them. Start with {0}. */
typedef struct calc_sweep_cells {
    calc_sweep_cell *item;
    size_t count;
    bool counted; /**< counts are exact: no layout was skipped by its bound */
} calc_sweep_cells;

/** Sweep the splits whose values appear in a cloud and among the best.
 *  @param result  of the whole sweep
 *  @return CALC_OK, or the status of an error that was added; *out must be freed in any case */
CALC_MUST_USE calc_status calc_sweep_cells_splits(calc_sweep_cells *out,
                                                  const calc_sweep_study *study,
                                                  const calc_sweep_result *result,
                                                  const calc_sweep_cloud *cloud,
                                                  calc_errors *errors);

/** Sweep numbers of processors, if there are several: at most 2 * CALC_SWEEP_CELLS_SIDE, evenly
 *  spread. */
CALC_MUST_USE calc_status calc_sweep_cells_procs(calc_sweep_cells *out,
                                                 const calc_sweep_study *study,
                                                 const calc_sweep_result *result,
                                                 calc_errors *errors);

/** Free what they own; fine on {0}. */
void calc_sweep_cells_free(calc_sweep_cells *cells);

#endif
