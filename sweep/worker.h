/** @file worker.h  What one thread needs to sweep: tables, scratch, counts and the best so far. */
#ifndef CALC_SWEEP_WORKER_H
#define CALC_SWEEP_WORKER_H

#include "calc.h"
#include "cell.h"
#include "kernel.h"
#include "model/optimizer.h"
#include "rows.h"
#include "stage_kernel.h"
#include "sweep.h"

typedef struct calc_worker calc_worker;

/** Messages between pipeline stages, per lane [s]. */
typedef struct calc_worker_messages {
    bool known;
    _Alignas(CALC_KERNEL_ALIGN) double fw_s[CALC_KERNEL_LANES];
    _Alignas(CALC_KERNEL_ALIGN) double bw_s[CALC_KERNEL_LANES];
    _Alignas(CALC_KERNEL_ALIGN) double uncharged_s[CALC_KERNEL_LANES];
} calc_worker_messages;

/** Called with each row of each cell when only counting.
 *  @param first  number of its first point in the space; the next row's is worker->counts.total */
typedef void calc_worker_row_visit(void *context, const calc_worker *worker, const calc_row *row,
                                   const calc_cell_networks *networks, uint64_t first);

struct calc_stage_work;
struct calc_stage_place;

/** The same for layouts that are lists of stages. */
typedef void calc_worker_stage_visit(void *context, const calc_worker *worker,
                                     const struct calc_stage_place *place);

/** One thread's state. Large; made by calc_worker_create(). */
struct calc_worker {
    /* What is swept. Borrowed. */
    const calc_space *space;
    const calc_sweep_options *options;
    calc_kernel *kernel;
    calc_stage_kernel *stage_kernel;
    const calc_app *app;
    const calc_system *system;
    uint64_t design;
    bool counts_only;                 /**< visit cells, evaluate nothing */
    calc_worker_row_visit *row_visit; /**< or NULL */
    calc_worker_stage_visit *stage_visit;
    void *row_context;
    bool bounded;             /**< shorter and smaller is never worse: bounds may skip */
    bool by_run;              /**< every point needs calc_run(): calc_worker_by_run() */
    calc_sweep_group *groups; /**< of this thread; one per processor count or just one */

    /* The unit at hand. */
    calc_rows rows;
    calc_cell cell;
    calc_cell_networks *networks; /**< per tensor-parallel network of the rows */
    calc_kernel_tile tile;
    calc_kernel_out out;
    struct calc_stage_work *stage;    /**< where layouts are lists of stages */
    calc_worker_messages messages[2]; /**< of the cell: whole, and scattered over tensor_par */

    /* What came of it. */
    calc_sweep_counts counts;
    uint64_t tiles;
    calc_status status; /**< CALC_ERR_NOMEM; CALC_ERR_RULE: verification failed; CALC_ERR_IO:
                             options.point said so */
    calc_exec failed;   /**< the layout that failed it */
};

/** A worker for a space; NULL if memory is short. */
calc_worker *calc_worker_create(const calc_space *space, const calc_sweep_options *options,
                                calc_kernel *kernel, size_t groups);
void calc_worker_free(calc_worker *worker, size_t groups);

/** Whether a sweep needs all statistics of every point: for constraints, for objectives that the
 *  kernel does not know, or because points are asked for. */
bool calc_worker_by_run(const calc_sweep_options *options);

/** Fill the profile table for a tensor parallelism and micro-batch size.
 *  @param base  gives them, datatype, attention_type and training */
calc_status calc_worker_rows(calc_worker *worker, const calc_exec *base);

/** Evaluate worker->cell, which calc_cell_at() has set, with all rows. */
void calc_worker_cell(calc_worker *worker);

#endif
