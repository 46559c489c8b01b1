/** @file planner.h  Planner of layouts whose stages differ: layers, recomputation and chip of every
 *  stage are searched together with everything that a sweep searches.
 *
 *  Every layout of a space and every way of placing its stages on the chips is a candidate with a
 *  lower bound (planner_place.h). Candidates are balanced (balance/solve.h): first those of the
 * best layouts that a sweep of the space finds, which are results themselves, then some with one
 * chunk per stage, then the rest by ascending bound, until no bound is below the steps found: so
 * most are never balanced, and the result is the optimum as far as balancing is exact. The
 * planner's own numbers rank nothing in the result: each layout found is an execution, and its step
 * is calc_run()'s. */
#ifndef CALC_PLAN_PLANNER_H
#define CALC_PLAN_PLANNER_H

#include <stdatomic.h>

#include "balance/solve.h"
#include "calc.h"
#include "space.h"
#include "sweep.h"

/** Processors of one kind. */
typedef struct calc_planner_chip {
    char name[32];
    calc_system system;
    int64_t most_procs; /**< processors available; INT64_MAX: any number */
} calc_planner_chip;

/** How far a plan is. */
typedef struct calc_planner_progress {
    size_t candidates, balanced;
    double best_s;  /**< step of the best so far; INFINITY: none */
    double bound_s; /**< no remaining candidate takes less */
} calc_planner_progress;

/** What is wanted. */
typedef struct calc_planner {
    const calc_app *app;
    int chips;
    const calc_planner_chip *chip;
    /** Layouts: their best as a sweep finds them are taken first, then the planner sets
     *  activation_recompute, pipeline_balance and the blocks of the stages of each. */
    const calc_space *space;
    calc_designs design;   /**< the one model and machine that the space is listed for */
    const calc_exec *only; /**< balance this layout alone; NULL: all of the space */
    bool keep_order;       /**< chips stand along the pipeline only in the given order */
    bool recompute;        /**< stages may recompute layers */
    bool ends_alone; /**< the first and the last chunk may have the embedding and the head alone */
    bool alike_on_chip;    /**< stages on one chip recompute the same number of layers */
    double join_latency_s; /**< of messages between different chips */
    size_t top;            /**< how many to find */
    double within;         /**< calc_balance_options.within of the best */
    bool curve; /**< with a list of layers: the best candidate's step for other memory, too */
    double time_limit_s; /**< 0: none */
    int threads;         /**< 0: as many as the machine has */
    /** True: stop. Called by one thread at a time. */
    bool (*progress)(void *context, const calc_planner_progress *progress);
    /** Find whether a framework runs a layout on a chip: the best of these is found, too. Called by
     *  several threads at once. NULL: nobody asks. */
    bool (*runs)(const void *context, int chip, const calc_exec *exec);
    void *context;            /**< of progress, */
    const void *runs_context; /**< and of runs */
} calc_planner;

/** Stages on each chip, one kind after the other along the pipeline. */
typedef struct calc_planner_place {
    int32_t kinds;
    int32_t chip[CALC_MAX_CHIPS];   /**< index in calc_planner.chip */
    int32_t stages[CALC_MAX_CHIPS]; /**< on it */
} calc_planner_place;

/** Whether layouts differ in how their blocks are spread and recompute, at most. */
bool calc_planner_alike(const calc_exec *a, const calc_exec *b);

/** Whether every layer of a layout recomputes a part of itself: its stages then choose their layers
 *  alone, and none recomputes them in full. */
bool calc_planner_keeps_part(const calc_exec *exec);

/** A layout that was found. */
typedef struct calc_planner_found {
    calc_exec exec;   /**< its systems are those of the planner's chips */
    int chip;         /**< whose system the run takes: calc_run(app, chip[chip].system, exec) */
    calc_stats stats; /**< calc_run() */
    double planned_s; /**< step by the planner's own numbers */
    double bound_s;   /**< no division of this layout takes less; 0: none is known */
    bool proven;      /**< no division of this layout's pipeline is shorter */
    int rounds;       /**< how often its limits had to be tightened */
    calc_exec base;   /**< the layout before it was balanced, */
    calc_planner_place place; /**< and where its stages stand */
    size_t candidate;         /**< both by the planner's own numbers */
} calc_planner_found;

/** A list of layers, and its needs. */
typedef struct calc_planner_layers_point {
    double needs_bytes; /**< of every processor */
    double step_s;
    calc_exec exec;
} calc_planner_layers_point;

/** The result. Owns `found` and `curve`; free with calc_planner_result_free(). */
typedef struct calc_planner_result {
    size_t count;
    calc_planner_found *found; /**< best first */
    bool starts;               /**< a framework runs one: */
    calc_planner_found start;  /**< the quickest of those */
    size_t candidates, balanced, infeasible;
    bool complete;  /**< every candidate was balanced or has a bound above the worst found */
    double bound_s; /**< no layout takes less */
    /** Where nothing fits: memory that a stage needs and has, in the candidate that lacks least. */
    int lacking_stage;
    double needs_bytes, has_bytes;
    calc_exec lacking;
    /** Of calc_planner_layers_run(): layouts with equal layers, and the best of them, */
    size_t layouts;
    bool uniform;
    calc_exec uniform_exec;
    calc_stats uniform_stats;
    /** and lists of the best layout's candidate by ascending memory, each quicker than those before
     *  it, also beyond the memory available (layers_join.h). */
    size_t points;
    calc_planner_layers_point *curve;
} calc_planner_result;

/** For a search: the longest step that would still be listed among so many. */
double calc_planner_limit_s(const calc_planner_result *result, size_t kept);

/** List a layout, if it is one of the best: shorter steps first; among equals the one with less
 *  memory, then the one that came first. One per candidate is kept. */
void calc_planner_take(calc_planner_result *result, size_t kept, const calc_planner_found *found);

/** Whether a search ends early. Its threads ask, one at a time. */
typedef struct calc_planner_stop {
    const calc_planner *planner;
    double end_s; /**< on the clock: then it is late */
    calc_planner_progress now;
    atomic_flag asks;
    atomic_bool stopped; /**< stays so */
} calc_planner_stop;

/** Start the time limit. */
void calc_planner_stop_begin(calc_planner_stop *stop, const calc_planner *planner);

/** Note how far the search is. No other thread may note it meanwhile.
 *  @param bound_s  no remaining candidate takes less */
void calc_planner_stop_note(calc_planner_stop *stop, const calc_planner_result *result,
                            double bound_s);

/** Whether it is late, or progress() says to stop; calc_balance_options.stop.
 *  @param stop  a calc_planner_stop */
bool calc_planner_stop_asked(void *stop);

/** A candidate listed before gets the better bound learnt since. */
void calc_planner_know_bound(calc_planner_result *result, const calc_planner_found *found);

/** Search.
 *  @return CALC_OK, also if nothing fits or nothing is found in time; CALC_ERR_NOMEM of a sweep;
 *          CALC_ERR_RULE if planner->only cannot be balanced. One error is added. */
CALC_MUST_USE calc_status calc_planner_run(const calc_planner *planner, calc_planner_result *out,
                                           calc_errors *errors);

/** Search for layouts whose layers differ, on the first chip alone: how each is split, kept and
 * recomputed together with how the model is spread over the stages of a pipeline.
 *
 *  Layouts of a space that differ only in fields that each layer may set for itself form one
 *  candidate, and their strategies are the options of its layers. A candidate has a lower bound
 *  (layers_list.h); candidates are solved (layers_join.h) by ascending bound, until no bound is
 *  below the best step found. Layouts with equal layers compete, so that no answer is slower than
 * what a sweep of the same space finds; stages have as many chunks as these.
 *  @return as calc_planner_run() */
CALC_MUST_USE calc_status calc_planner_layers_run(const calc_planner *planner,
                                                  calc_planner_result *out, calc_errors *errors);

void calc_planner_result_free(calc_planner_result *result);

#endif
