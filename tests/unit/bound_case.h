/* A random cell of random lanes, and what its bounds say of them. */
#ifndef CALC_TEST_BOUND_CASE_H
#define CALC_TEST_BOUND_CASE_H

#include "cell.h"
#include "lanes_case.h"

enum { CHUNKINGS = 6 };

static calc_cell cell;

/* Blocks of the first class for others, as many on all stages as before. */
static inline void shift(calc_kernel_chunking *c)
{
    calc_stage_class *to = &c->item[c->classes - 1];
    calc_stage_class *from = &c->item[0];
    if (from->dense > 12 * to->stages && c->classes > 1) {
        from->dense -= 12 * to->stages;
        to->dense += 12 * from->stages;
    }
}

/* A cell: the same stages in other chunks, or other stages of the same blocks. */
static inline void random_cell(void)
{
    cell.exec.pipeline_schedule = job.schedule;
    cell.fitting = 1 + calc_rng_below(&rng, CHUNKINGS);
    random_chunking(&cell.shape[0], false);
    /* By rule a chunk has a last block, which hands on the message. */
    for (int i = 0; i < cell.shape[0].classes && shared.compat; i++) {
        calc_stage_class *c = &cell.shape[0].item[i];
        c->dense += c->stages > 0 ? 4 : 0;
    }
    for (size_t i = 0; i < cell.fitting; i++) {
        calc_kernel_chunking *c = &cell.shape[i];
        *c = cell.shape[0];
        c->chunks = panel_case_count(&rng, 4);
        c->overlapped = (double)calc_rng_below(&rng, 2);
        if (calc_rng_below(&rng, 6) == 0) {
            shift(c);
        }
        /* What is never sent is in no step, and so has no overlap either. */
        bool sends = shared.stages > 1 && shared.training;
        c->overlapped = shared.compat && !sends ? 0 : c->overlapped;
    }
    calc_cell_settle(&cell, &shared, true);
}

static inline calc_bound cell_bound(const calc_panel *p, size_t lane)
{
    calc_stage_terms t;
    calc_panel_terms(p, &shared, shared.compat, shared.training, lane, &t);
    return calc_bound_of(&t, &cell.floor, job.schedule);
}

#endif
