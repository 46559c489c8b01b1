/** @file units.h  Units of work: a tensor parallelism, a micro-batch size and a range of processor
 *  counts. A thread takes one unit at a time; its profile table is filled once. */
#ifndef CALC_SWEEP_UNITS_H
#define CALC_SWEEP_UNITS_H

#include "calc.h"
#include "designs.h"
#include "space.h"
#include "variants.h"
#include "worker.h"

/** One unit of work: small, as a design may have a million of them. */
typedef struct calc_unit {
    size_t variant;  /**< position of the first of its variants among those of the design */
    size_t variants; /**< their number */
    size_t served;   /**< index of the requests that they serve */
    int64_t tensor_par, expert_tensor_par, microbatch_size;
    size_t procs_begin, procs_end;     /**< positions in the axis of num_procs, */
    size_t batches_begin, batches_end; /**< in that of batch_size, */
    size_t stages_begin, stages_end;   /**< and in calc_units.pipeline */
} calc_unit;

/** The units of one design, and the pipeline sizes their cells may have. Owns its arrays. Start
 *  with {0}. */
typedef struct calc_units {
    size_t count, capacity;
    calc_unit *unit;
    calc_variants variants;
    size_t pipelines;
    int64_t *pipeline; /**< ascending */
    /** Positions of those that divide a processor count: of the n-th, from dividing[first[n]] to
     * before dividing[first[n + 1]]. */
    size_t *first;
    unsigned short *dividing;
} calc_units;

/** List the units of a design in roughly descending order of work, by cheap estimates.
 *  @return CALC_OK or CALC_ERR_NOMEM */
CALC_MUST_USE calc_status calc_units_list(calc_units *units, const calc_space *space,
                                          const calc_app *app, const calc_system *system,
                                          calc_compat compat);

void calc_units_free(calc_units *units);

/** Fields common to the cells of a unit: datatype, attention_type, training, optional fields,
 *  tensor_par, microbatch_size. */
calc_exec calc_units_base(const calc_units *units, size_t position);

/** Whether two units run the same batches and differ at most in how experts are spread: a thread
 *  that takes both computes the common part of their passes once. */
bool calc_units_share(const calc_units *units, size_t position, size_t other);

/** Evaluate the unit at a position. */
void calc_units_run(calc_worker *worker, const calc_units *units, size_t position);

/** Visit the rows of a space in order; nothing is evaluated.
 *  @param visit  may be NULL
 *  @param out    filled with the points there are, if the status is CALC_OK
 *  @return CALC_OK; CALC_ERR_NOMEM; CALC_ERR_RANGE for more interleavings than a cell takes */
CALC_MUST_USE calc_status calc_units_walk(const calc_space *space, const calc_designs *designs,
                                          calc_compat compat, calc_worker_visit *visit,
                                          void *context, calc_sweep_counts *out);

/** The datatype a sweep takes if none is given: bfloat16 if both engines offer it, else the first
 *  they offer of float16, float8 and float32. */
calc_datatype calc_units_datatype(const calc_system *system);

#endif
