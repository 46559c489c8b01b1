/** @file sweep.h  The engine: evaluate every layout of a space, keep the best.
 *
 *  A sweep is a sequence of units of work (units.h), numbered from 0 through all designs, the same
 *  for everybody who sweeps the same space: all of them are done here, or one in n (options.shard).
 *  The result depends on which units were done, not on order, threads or CPU level. */
#ifndef CALC_SWEEP_SWEEP_H
#define CALC_SWEEP_SWEEP_H

#include "calc.h"
#include "front.h"
#include "objective.h"
#include "space.h"

/** Applications and systems that a space is swept over: `count` pairs, made on demand. */
typedef struct calc_designs {
    uint64_t count;
    /** Fill the pair with this index. Called from the thread that called calc_sweep(). */
    void (*get)(const void *context, uint64_t index, calc_app *app, calc_system *system);
    const void *context;
    /** Designs are of a kind if they have the same layouts, with the same verdicts before these are
     *  evaluated (census.h). 0: nobody knows, each is of its own kind; else the functions below
     * tell the kind of a design, how many there are of a kind, and which they are. */
    uint64_t kinds;
    uint64_t (*kind)(const void *context, uint64_t index);
    uint64_t (*members)(const void *context, uint64_t kind);
    uint64_t (*member)(const void *context, uint64_t kind, uint64_t member);
} calc_designs;

/** Points of a space, by their verdict: total = evaluated + skipped + those rejected before
 *  evaluation; feasible and memory-rejected points are evaluated ones unless a bound skipped them.
 */
typedef struct calc_sweep_counts {
    uint64_t total;
    uint64_t evaluated; /**< points whose time and memory were both computed and compared with the
                             best */
    uint64_t feasible;  /**< of those */
    uint64_t filtered;  /**< of those: feasible, but a constraint was not met; without no_prune only
                             where that could matter */
    uint64_t refused; /**< of those: would be kept, but does not run. How many are asked depends on
                           the order in which threads find them, unless none is kept */
    uint64_t skipped; /**< proven dominated or infeasible by a bound, or left out by
                           a constraint that needs no evaluation */
    uint64_t rejected[CALC_VERDICT_COUNT]; /**< by reason; [CALC_VERDICT_OK] stays 0 */
} calc_sweep_counts;

/** Its numbers, one after the other. */
enum { CALC_SWEEP_COUNTS = sizeof(calc_sweep_counts) / sizeof(uint64_t) };

/** The best of one group. */
typedef struct calc_sweep_group {
    calc_front front; /**< exact Pareto front, in order of the objectives */
    calc_front top;   /**< best first */
} calc_sweep_group;

/** The result of a sweep. Owns its groups; free with calc_sweep_result_free(). */
typedef struct calc_sweep_result {
    calc_sweep_counts counts;
    size_t groups_count; /**< designs (if per_design, else 1) times processor counts (likewise):
                              group = design * processor counts + position of num_procs */
    calc_sweep_group *group;
    bool partial; /**< stopped before the last unit */
    double elapsed_s;
    double thread_bytes; /**< of memory that the first thread took */
    int threads;
    const char *cpu; /**< kernel level; static text */
} calc_sweep_result;

/** How far a sweep is, for options.progress. */
typedef struct calc_sweep_progress {
    calc_sweep_counts counts; /**< evaluated and total so far */
    double done, total;       /**< designs: done / total is the share of the work */
    double best;              /**< best so far by options.top_by, in its own sign; NaN if there is
                                   none or nothing is kept by it */
    const char *best_unit;    /**< NULL: none */
} calc_sweep_progress;

/** A point for options.point: feasible and within the constraints. */
typedef struct calc_sweep_point {
    uint64_t design;
    const calc_exec *exec;
    const calc_stats *stats;
    size_t
        place; /**< below CALC_SWEEP_PLACES; from prepare() to point() it is of this point only */
} calc_sweep_point;

/** Points that may be prepared and not shown yet. */
enum { CALC_SWEEP_PLACES = 2048 };

/** No unit is left. */
#define CALC_SHARD_DONE UINT64_MAX

/** One of n equal shares of a sweep, and how far it is: of every n successive units one, each time
 *  at another place. Shard i begins with unit i-1. */
typedef struct calc_shard {
    uint64_t index; /**< from 1 */
    uint64_t count;
    uint64_t next; /**< unit to do next, or CALC_SHARD_DONE */
} calc_shard;

/** The first unit of the shard behind `unit`. */
uint64_t calc_shard_after(const calc_shard *shard, uint64_t unit);

/** How to sweep. Start with {0} and set what differs. */
typedef struct calc_sweep_options {
    calc_compat compat;
    size_t objectives; /**< of the Pareto front; 0: none */
    calc_objective objective[CALC_MAX_OBJECTIVES];
    size_t top; /**< how many best to keep; 0: none */
    calc_objective top_by;
    size_t constraints;
    const calc_constraint *constraint;
    /** Find whether a layout that would be kept belongs to the space, beyond what calc can say of
     *  it: a framework runs it. Called by several threads at once. NULL: all do. Not asked for
     *  point().
     *  @param known  what it noted of model and machine when asked before; 0: nothing
     *  @return CALC_OK, or CALC_ERR_NOMEM, with which the sweep ends */
    calc_status (*runs)(const void *context, const calc_app *app, const calc_system *system,
                        const calc_exec *exec, int *known, bool *runs);
    const void *runs_context;
    const char *runs_name;          /**< tells functions and contexts apart; NULL without one */
    bool per_num_procs, per_design; /**< one front and one top for each */
    bool no_prune;                  /**< skip nothing */
    double verify;                  /**< share of tiles to compare with calc_run() */
    int threads;                    /**< 0: as many as the machine has */
    const char *cpu;                /**< kernel level; NULL: the best */

    /** Called with every point that is feasible and meets the constraints, in an order that does
     *  not depend on threads, from one thread at a time; the sweep then needs calc_run() for every
     *  point. False ends the sweep with CALC_ERR_IO. NULL: nothing is called. */
    bool (*point)(void *context, const calc_sweep_point *point);
    /** Called with each of them before point() is, by several threads at once, for what can be done
     *  out of order. Needs point(). NULL: nothing is called. */
    void (*prepare)(void *context, const calc_sweep_point *point);
    void *point_context;

    calc_shard shard; /**< the units to do, from its next one on; {0}: all */

    /** Called now and then, from one thread. True stops the sweep. NULL: nothing is called. */
    bool (*progress)(void *context, const calc_sweep_progress *progress);
    void *progress_context;

    /** Called between units when `checkpoint_s` seconds have passed since the last call and at the
     *  end: everything done so far, up to and with unit `unit`, is in `result`. Not CALC_OK ends
     * the sweep. */
    calc_status (*checkpoint)(void *context, const calc_sweep_result *result, uint64_t unit);
    void *checkpoint_context;
    double checkpoint_s;
    const calc_sweep_result *resumed; /**< result of an earlier sweep; NULL: none */
} calc_sweep_options;

/** Sweep.
 *  @return CALC_OK; CALC_ERR_NOMEM; CALC_ERR_RANGE for a CPU level this machine does not have or
 *  more interleavings than a cell takes;
 *  CALC_ERR_RULE if verification found a difference: a bug in calc; CALC_ERR_IO if point() said so.
 *  One error is added. *result must be freed in any case. */
CALC_MUST_USE calc_status calc_sweep(const calc_space *space, const calc_designs *designs,
                                     const calc_sweep_options *options, calc_sweep_result *result,
                                     calc_errors *errors);

/** Counts of a space without evaluating it: total, and points that networks and interleaving
 *  reject.
 *  @return CALC_OK, CALC_ERR_NOMEM, or CALC_ERR_RANGE for more interleavings than a cell takes
 */
CALC_MUST_USE calc_status calc_sweep_count(const calc_space *space, const calc_designs *designs,
                                           calc_compat compat, calc_sweep_counts *out);

/** How many fronts and tops the sweep keeps: the groups of its result. */
size_t calc_sweep_groups(const calc_space *space, const calc_designs *designs,
                         const calc_sweep_options *options);

/** Put a result into another of the same sweep (groups and counts). */
CALC_MUST_USE calc_status calc_sweep_merge(const calc_sweep_options *options,
                                           calc_sweep_result *into, const calc_sweep_result *from);

/** Free the members that the result owns. Fine on {0}. */
void calc_sweep_result_free(calc_sweep_result *result);

#endif
