/** @file cell.h  Cells: the processor counts, pipeline and data parallelism and batch sizes that go
 *  with one tensor parallelism and micro-batch size; and data common to the rows of a unit in one:
 *  its interleavings, its pairs of networks, the flags of its points. */
#ifndef CALC_SWEEP_CELL_H
#define CALC_SWEEP_CELL_H

#include "kernel.h"
#include "rows.h"
#include "space.h"

enum {
    /** Networks of the pipeline and of data parallelism. */
    CALC_CELL_PAIRS = CALC_MAX_NETWORKS * CALC_MAX_NETWORKS,
    /** Most chunkings of a cell: interleavings, with and without overlap of messages. */
    CALC_CELL_CHUNKINGS = 1064
};

/** One choice of networks. Where there is only one and experts are spread in several ways, there is
 *  a pair for each of these. */
typedef struct calc_cell_pair {
    int64_t pipeline, data, expert_par;
    bool known;    /**< groups and ranks of the lines are, */
    bool timed[2]; /**< and what they take: of state that is whole, that is sharded */
    calc_groups groups;
    calc_stage_lines lines; /**< calc_cell_lines() */
    /** For the current state, by size of messages: calc_cell_links(). */
    bool linked[CALC_PANEL_MESSAGES];
    calc_stage_links links[CALC_PANEL_MESSAGES];
} calc_cell_pair;

/** An interleaving, with or without overlap of messages. */
typedef struct calc_cell_chunking {
    int64_t interleaving;
    bool overlapped;
} calc_cell_chunking;

/** Choices of the rows that are legal in a cell. */
typedef struct calc_cell_choices {
    size_t count;
    size_t resident; /**< of them, without offload of activations: these come first */
    unsigned char item[CALC_ROW_CHOICES];
} calc_cell_choices;

/** One cell. Large: one per thread. */
typedef struct calc_cell {
    calc_exec exec;     /**< of the unit, with the sizes of the cell */
    calc_exec trial;    /**< the same, with what is tried */
    size_t procs_index; /**< position of num_procs in its axis */
    bool alone;         /**< no replicas: nothing to shard or to overlap */
    bool rounds;        /**< calc_cell_whole_rounds(): interleaved layouts only */

    size_t pipelines, datas;              /**< networks */
    size_t lines;                         /**< pairs, or spreads of experts */
    calc_cell_pair pair[CALC_CELL_PAIRS]; /**< networks of data parallelism fastest */
    calc_verdict verdict[CALC_MAX_NETWORKS][CALC_CELL_PAIRS]; /**< [tensor-parallel network] */

    size_t fitting, unfit; /**< chunkings that divide the blocks, and that do not */
    calc_cell_chunking chunking[CALC_CELL_CHUNKINGS], unfit_chunking[CALC_CELL_CHUNKINGS];
    calc_kernel_chunking shape[CALC_CELL_CHUNKINGS]; /**< of those that fit */
    double fewest_blocks;                            /**< of a stage, whatever its chunks */
    bool offloads;                                   /**< they are enough for offload */
    calc_floor floor;                                /**< calc_cell_settle() */

    size_t reduces, gathers; /**< values of data_par_overlap and param_gather_overlap */
    int64_t reduce[2], gather[3];

    bool legal[CALC_SPREADS];     /**< spreads of experts: calc_legal_cell() */
    calc_cell_choices choices[2]; /**< [experts on several ranks] */

    calc_row_optimizer optimizer[CALC_ROW_WEIGHTS]; /**< where state is sharded */
} calc_cell;

/** Whether the cell has any point: sizes that multiply to num_procs, a batch that divides. Fills
 *  exec and nothing else.
 *  @param base   tensor_par, microbatch_size and the rest
 *  @param batch  the batch size, or the largest allowed if the space says so */
bool calc_cell_at(calc_cell *cell, const calc_space *space, const calc_app *app,
                  const calc_exec *base, int64_t num_procs, int64_t batch, int64_t pipeline_par);

/** The batch that a number of replicas use for one of the space's: itself, or, if it is a maximum,
 *  the largest multiple up to it; 0: none, or the same as for the one before. */
int64_t calc_cell_batch(const calc_space *space, const calc_exec *base, int64_t data_par,
                        int64_t batch);

/** Interleaved chunks come in rounds of a micro-batch per stage. If the batch of a cell does not,
 *  and the space gives the largest allowed only: change the cell to the largest batch that does,
 *  for interleaved layouts alone.
 *  @return whether there is one */
bool calc_cell_whole_rounds(calc_cell *cell, const calc_space *space, int64_t batch);

/** Whether a cell has room for the interleavings of a space: with listed values it may not. */
bool calc_cell_chunkings_fit(const calc_space *space, const calc_app *app);

/** Fill all else from exec but for how the blocks are split. */
void calc_cell_fill(calc_cell *cell, const calc_space *space, const calc_system *system,
                    const calc_rows *rows);

/** How stages and chunks split the blocks, and whether that is enough for offload. The cell is
 *  filled. */
void calc_cell_split(calc_cell *cell, const calc_space *space, const calc_rows *rows,
                     calc_compat compat);

/** Choices of a row that are legal in the cell, the first calc_cell_choices_count() of a list.
 *  @param expert_par  of the row */
static inline const unsigned char *calc_cell_choices_of(const calc_cell *cell, int64_t expert_par)
{
    return cell->choices[expert_par > 1].item;
}

/** Their number. @param choices  of the row */
size_t calc_cell_choices_count(const calc_cell *cell, const calc_rows *rows, int64_t expert_par,
                               size_t choices);

/** The pair with which a row has its lines and links. @param pair  of its networks */
static inline size_t calc_cell_pair_of(size_t pair, size_t spread)
{
    return pair + spread;
}

/** Whether a row was made for the networks of a pair. @param data_network  of the row */
static inline bool calc_cell_pairs_with(const calc_cell *cell, int64_t data_network, size_t pair)
{
    return data_network < 0 || data_network == cell->pair[pair].data;
}

/** Whether a way to keep the state is legal in the cell: sharding, zero and alone of a choice.
 *  @param experts  whether they are on several ranks */
bool calc_cell_keeps(const calc_cell *cell, const calc_space *space, bool experts,
                     const calc_row_choice *state);

/** Micro-batches in flight on the stages of each chunking, and data common to the bounds.
 *  @param terms   of any lane in the cell, calc_stage_terms_pipeline() at least
 *  @param bounds  whether there are any */
void calc_cell_settle(calc_cell *cell, const calc_stage_terms *terms, bool bounds);

/** Lines of a pair as far as its ranks go: needs of memory ask for no more.
 *  @param pair  calc_cell_pair_of() */
const calc_stage_lines *calc_cell_ranks(calc_cell *cell, const calc_system *system, size_t pair);

/** The same, as far as a state needs them. @param state  how it is sharded */
const calc_stage_lines *calc_cell_lines(calc_cell *cell, const calc_system *system,
                                        const calc_rows *rows, const calc_strategy *state,
                                        size_t pair);

/** Steps of the optimizer for a row, for calc_stage_terms_cell().
 *  @param exec  of the row in the cell, with the state of a choice */
const calc_optimizer_step *calc_cell_optimizer_of(calc_cell *cell, const calc_row *row,
                                                  const calc_exec *exec,
                                                  const calc_stage_lines *lines);

/** Links of a pair for a row.
 *  @param pair     calc_cell_pair_of()
 *  @param message  size of its messages: calc_panel.message
 *  @param exec     of the row in the cell, with the current state; as before on return */
const calc_stage_links *calc_cell_links(calc_cell *cell, const calc_rows *rows, const calc_row *row,
                                        calc_exec *exec, size_t pair, size_t message);

/** Forget them, when the state changes. */
void calc_cell_forget_links(calc_cell *cell);

/** Set the fields of an execution for a pair, a chunking and a flag. */
static inline void calc_cell_put_point(const calc_cell *cell, size_t pair,
                                       const calc_cell_chunking *chunking, size_t flag,
                                       calc_exec *exec)
{
    exec->pipeline_par_net = cell->pair[pair].pipeline;
    exec->strategy.data_par_net = cell->pair[pair].data;
    exec->pipeline_interleaving = chunking->interleaving;
    exec->strategy.pipeline_par_overlap = chunking->overlapped;
    exec->strategy.data_par_overlap = cell->reduce[flag / cell->gathers] != 0;
    exec->strategy.param_gather_overlap = (calc_choice)cell->gather[flag % cell->gathers];
}

#endif
