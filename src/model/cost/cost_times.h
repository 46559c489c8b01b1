/** @file cost_times.h  Times of the passes over each operator of a list by themselves: cost.h
 *  decides on overlap and repetition. Layouts that differ in recomputation alone, or in an overlap
 *  that changes no operator, have these in common. */
#ifndef CALC_MODEL_COST_TIMES_H
#define CALC_MODEL_COST_TIMES_H

#include "model/cost/cost.h"

/** A collective that was timed. */
typedef struct calc_cost_known_link {
    calc_operator_group group;
    calc_collective_op op;
    double sub_ranks, sub_stride, bytes;
    double once_s;
} calc_cost_known_link;

/** Copies of a token that are sent, over its experts: one per rank that has any of them, and of
 *  those one per node between nodes, limited where routing is; otherwise one per expert. */
typedef struct calc_cost_copies {
    double sent;    /**< to ranks */
    double outside; /**< of those, to other nodes */
} calc_cost_copies;

enum { CALC_COST_LINKS = 8 };

/** The collectives of one context: most of a block's are equal. */
typedef struct calc_cost_links {
    size_t count;
    calc_cost_copies copies; /**< of the group of experts; none is sent: not known */
    calc_cost_known_link item[CALC_COST_LINKS];
} calc_cost_links;

/** Nothing is known. */
static inline void calc_cost_links_start(calc_cost_links *known)
{
    known->count = 0;
    known->copies.sent = 0;
}

/** Time of one of a collective's operations on the networks, once [s]; 0 for CALC_OP_NONE.
 *  @param known  looked at first, and added to while there is room */
double calc_cost_link_once_s(const calc_cost_context *context, const calc_operator *o,
                             calc_pass pass, calc_collective_op op, calc_cost_links *known);

/** Time of an operator's communication in a pass, hidden or not, including the time in which
 *  processors add up and copy for it [s]; 0 for kernels.
 *  @param edge  in the last block of a chunk */
double calc_cost_link_s(const calc_cost_context *context, const calc_operator *op, calc_pass pass,
                        bool edge);

/** The same in a block, with its source: the model unless it was measured. */
double calc_cost_link_from(const calc_cost_context *context, const calc_operator *op,
                           calc_pass pass, calc_kernel_source *source);

/** One operator of a mean block. Passes that it does not have, or that nobody asks for, are 0. */
typedef struct calc_cost_times {
    calc_cost_work work[CALC_PASS_COUNT]; /**< with no arithmetic but that which costs count */
    double all_s[CALC_PASS_COUNT];        /**< calc_cost_kernel_s() */
    double link_s[CALC_PASS_COUNT];       /**< COLLECTIVE: calc_cost_link_s() */
    double edge_s[CALC_PASS_COUNT];       /**< the same in the last block of a chunk */
} calc_cost_times;

/** Time the operators of a list.
 *  @param known  links of the context */
void calc_cost_times_of(const calc_cost_context *context, const calc_operator *operators,
                        size_t count, calc_cost_links *known, calc_cost_times *out);

/** Whether a collective, one of a list, runs in tiles. */
bool calc_cost_tiles_has(const calc_cost_context *context, const calc_operator *op);

/** The collective in the list whose tiles run beside matrix i; NULL if there is none. */
const calc_operator *calc_cost_tiles_beside(const calc_cost_context *context,
                                            const calc_operator *list, size_t count, size_t i);

/** A pass over a matrix with its communication at the same time, in as many tiles as ranks. */
typedef struct calc_cost_tiles {
    double time_s;    /**< of the matrix: driving the network takes its share of the processor */
    double exposed_s; /**< communication that is not hidden */
} calc_cost_tiles;

/** The first tile of the arithmetic, or the last one of the communication, has nothing beside it;
 *  the others travel beside the tiles before them. A pipe waits for one tile more than a ring. A
 *  machine may hide less (overlap.tensor_par_fused).
 *  @param link_s  of the whole communication */
calc_cost_tiles calc_cost_tiles_of(const calc_cost_context *context, const calc_operator *matrix,
                                   calc_pass pass, double link_s);

/** The same of a matrix that was timed. */
calc_cost_tiles calc_cost_tiles_timed(const calc_cost_context *context, const calc_operator *matrix,
                                      const calc_cost_times *times, calc_pass pass, double link_s);

#endif
