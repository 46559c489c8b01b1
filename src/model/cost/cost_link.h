/** @file cost_link.h  Time of an operator's collective on its group's networks. */
#ifndef CALC_MODEL_COST_LINK_H
#define CALC_MODEL_COST_LINK_H

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
    bool copied;
    calc_cost_copies copies; /**< of the group of experts, once copied */
    calc_cost_known_link item[CALC_COST_LINKS];
} calc_cost_links;

/** Nothing is known. */
static inline void calc_cost_links_start(calc_cost_links *known)
{
    known->count = 0;
    known->copied = false;
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

#endif
