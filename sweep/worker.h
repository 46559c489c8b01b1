/** @file worker.h  The state of one sweeping thread: the table, scratch, counts and the best so
 *  far.
 */
#ifndef CALC_SWEEP_WORKER_H
#define CALC_SWEEP_WORKER_H

#include <pthread.h>

#include "bound.h"
#include "calc.h"
#include "cell.h"
#include "kernel.h"
#include "rows.h"
#include "sheet.h"
#include "sweep.h"
#include "variants.h"

typedef struct calc_worker calc_worker;
struct calc_serve;

/** The points of one row in one cell: networks of data parallelism, networks of the pipeline,
 *  chunkings, overlaps and choices, fastest first. */
typedef struct calc_worker_place {
    const calc_worker *worker;
    const calc_row *row;
    uint64_t first; /**< number of the first of them in the space */
} calc_worker_place;

/** Called with each row of each cell that has points.
 *  @param place  the number of the next row's first point is worker->counts.total */
typedef void calc_worker_visit(void *context, const calc_worker_place *place);

/** The state of the conditions of a sweep at a worker's position: filter.h. */
typedef struct calc_conditions {
    bool any[CALC_CONDITION_KINDS];
    calc_kernel_range steps; /**< of the cell: by rounding or for other relations than less and more
                                  some are open */
    bool flag_met[6]; /**< of the cell: values of data_par_overlap times param_gather_overlap */
    size_t flags_met; /**< of the flags at hand */
    double most_tier1_bytes, most_tier2_bytes; /**< no larger need meets those on memory */
} calc_conditions;

/** One thread's state. Large; made by calc_worker_create(). */
struct calc_worker {
    /* What is swept. Borrowed. */
    const calc_space *space;
    calc_legal_axes axes;      /**< of it */
    calc_legal_axes unit_axes; /**< of the unit at hand */
    const calc_sweep_options *options;
    const calc_kernel *kernel;
    const calc_app *app;
    const calc_system *system;
    uint64_t design;
    int known;                /**< by options->runs, of app and system */
    bool counts_only;         /**< visit cells, evaluate nothing */
    calc_worker_visit *visit; /**< or NULL */
    void *visit_context;
    bool bounded;             /**< shorter and smaller is never worse: bounds may skip */
    bool by_run;              /**< every point needs calc_run(): calc_worker_by_run() */
    struct calc_batch *batch; /**< where points are shown (point.h), or NULL */
    bool (*stop)(void *context, calc_worker *worker); /**< asked now and then, where points need
                                                           calc_run(); or NULL */
    void *stop_context;
    size_t groups_count;
    calc_sweep_group *groups; /**< one per processor count or just one */
    calc_screen *screens;     /**< of each group: filter.h */
    pthread_mutex_t *lock;    /**< of each group, held while a cell is evaluated */
    bool guest;               /**< they are another worker's */

    /* The current unit and cell. */
    calc_exec base;
    calc_spreads spreads; /**< of the unit */
    calc_rows rows;
    bool laid_out; /**< they have their terms and sheets */
    calc_sheets sheets;
    struct calc_serve *serve; /**< of the rows, where layouts serve; else NULL */
    calc_cell cell;
    calc_conditions conditions;

    /* The current state of evaluate.c. */
    calc_sweep_group *group;
    calc_screen *screen;
    calc_exec state; /**< of a lane of the sheet, with the first pair and flag, */
    size_t lines;    /**< and the calc_cell_pair that has its lines: calc_cell_pair_of() */
    calc_exec exec;  /**< of the visited lane, without the fields of pairs, chunkings and flags */
    calc_kernel_job job;
    calc_stage_terms shared;
    calc_panel alive;        /**< lanes that may matter */
    bool runs[CALC_SPREADS]; /**< spreads of the sheet that are legal in the cell */
    bool all_run;            /**< all of the sheet's are */
    bool all_legal;          /**< nothing rules out any lane of the sheet in the cell */
    size_t pairs;            /**< of networks, */
    unsigned char pair[CALC_CELL_PAIRS];
    size_t first_flag, flags; /**< and combinations of data_par_overlap and param_gather_overlap,
                                 that the terms are for */
    bool allowed[2][2];
    calc_kernel_needs needs;
    calc_kernel_pipelines pipelines;
    int64_t linked;                 /**< the pair whose links are known, or -1: */
    const calc_stage_links *of_all; /**< those of all lanes of the panel */
    calc_stage_links links;         /**< these, if lanes differ in those of their experts, */
    bool apart;                     /**< which the pipelines have then */
    calc_lanes best_s;
    bool fields_met[CALC_PANEL_LANES]; /**< lanes that meet the conditions on rows, choices and
                                          cells */
    bool met[CALC_PANEL_LANES];
    size_t met_lanes;
    uint64_t entered; /**< layouts, into groups */
    double best;      /**< least first objective of the lists of the best that was entered */

    /* What came of it. */
    calc_sweep_counts counts;
    bool stopped; /**< stop() said so: points are neither evaluated nor counted any more */
    uint64_t told_evaluated, told_total; /**< part of the counts that stop() has seen */
    uint64_t tiles;
    uint64_t rows_filled; /**< of all units so far */
    calc_status status;   /**< CALC_ERR_NOMEM; CALC_ERR_RULE: verification failed; CALC_ERR_IO:
                               options.point said so */
    calc_exec failed;     /**< the layout that failed it */
};

/** A worker for a space; NULL if memory is short.
 *  @param groups  of its own, at least 1; 0: they are another worker's, which lives longer: where
 * groups are many, threads seldom meet in one, and their finds are kept once */
calc_worker *calc_worker_create(const calc_space *space, const calc_sweep_options *options,
                                const calc_kernel *kernel, size_t groups);
void calc_worker_free(calc_worker *worker);

/** Begin a design. Borrows both. Earlier results stay. Hosts begin before their guests. */
void calc_worker_begin(calc_worker *worker, const calc_app *app, const calc_system *system,
                       uint64_t design);

/** Whether a sweep needs all statistics of every point: for objectives that the kernel does not
 *  know, because points are asked for, or because every layout that does not meet a condition on
 *  such a statistic is to be counted. */
bool calc_worker_by_run(const calc_sweep_options *options);

/** Fill the table of rows for a unit's base. */
CALC_MUST_USE calc_status calc_worker_rows(calc_worker *worker, const calc_exec *base);

/** Whether bounds may skip. */
bool calc_worker_prunes(const calc_worker *worker);

/** Evaluate worker->cell, which calc_cell_at() has set, with all rows. */
void calc_worker_cell(calc_worker *worker);

/** A part of that: the common data of the rows of worker->cell. */
void calc_worker_fill(calc_worker *worker);

/** The group that layouts of worker->cell belong to becomes the worker's. @return its lock */
pthread_mutex_t *calc_worker_set_group(calc_worker *worker);

/** The layout of a row in the cell, without the fields of choices, lanes and flags. */
calc_exec calc_worker_exec_of(const calc_worker *worker, const calc_row *row);

/** Put a row and a choice of the table into an execution: their layout in the cell, likewise. */
void calc_worker_put_lane(const calc_worker *worker, size_t row, size_t choice, calc_exec *exec);

/** Put a choice of the cell into it. @param exec  has the expert_par of a row */
void calc_worker_put_choice(const calc_worker *worker, size_t choice, calc_exec *exec);

/** The layout of a point of a place, and the verdict on it before its evaluation.
 *  @param index  below the number of points of the place */
calc_verdict calc_worker_decode(const calc_worker_place *place, uint64_t index, calc_exec *exec);

/* The lanes of a cell, evaluated: those that are legal, then those that bounds
 *  leave, with every chunking and every pair of networks. */

/** Evaluate the lanes of all sheets in the worker's cell, which some chunking fits, and count them.
 */
void calc_evaluate_cell(calc_worker *worker);

#endif
