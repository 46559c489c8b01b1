/** @file collective.h  Time of collectives of the parallel groups: on the one network that a `_net`
 *  field names, or, with ranks laid out over nodes (rank_order), on every tier the group spans. */
#ifndef CALC_MODEL_COLLECTIVE_H
#define CALC_MODEL_COLLECTIVE_H

#include "calc.h"

/** Operations of a network. */
typedef enum calc_collective_op {
    CALC_OP_NONE,
    CALC_OP_P2P,
    CALC_OP_REDUCE_SCATTER,
    CALC_OP_ALL_GATHER,
    CALC_OP_ALL_REDUCE,
    CALC_OP_ALL_TO_ALL
} calc_collective_op;

/** Ranks that communicate. */
typedef struct calc_group {
    double ranks;    /**< >= 1 */
    double stride;   /**< distance of two neighbours in the order of ranks; 0: on `network` alone */
    int64_t network; /**< index, where stride is 0 */
} calc_group;

static inline bool calc_group_same(const calc_group *a, const calc_group *b)
{
    return a->ranks == b->ranks && a->stride == b->stride && a->network == b->network;
}

/** Groups that depend on the sizes of an execution only. */
typedef struct calc_groups {
    calc_group tensor, context, expert, expert_tensor;
    calc_group pipeline;
    calc_group dense_data;  /**< replicas of dense weights: data and context parallelism */
    calc_group expert_data; /**< replicas of expert weights */
} calc_groups;

/** The groups of layers with a strategy, among the ranks and stages of an execution. */
calc_groups calc_groups_of(const calc_exec *exec, const calc_strategy *strategy);

/** An operation's time as a line over the bytes of its buffer: latency_s + bytes * s_per_byte. */
typedef struct calc_collective_line {
    double latency_s, s_per_byte;
} calc_collective_line;

/** The line of a message from a rank to the next one, as between stages: the mean over the ranks of
 *  a group that is placed (stride > 0), as only the last rank inside a network sends beyond it. One
 *  network carries all messages of the others.
 *  @param bytes  near which it holds, where bandwidth depends on the size of messages */
calc_collective_line calc_collective_next_line_of(const calc_system *system,
                                                  const calc_group *group, double bytes);

/** The line of an operation; 0 for one rank or no operation.
 *  @param bytes  near which it holds, where bandwidth depends on the size of messages */
calc_collective_line calc_collective_line_of(const calc_system *system, calc_collective_op op,
                                             const calc_group *group, double bytes);

/** Time on a line; nothing takes none. */
static inline __attribute__((always_inline)) double
calc_collective_line_s(const calc_collective_line *line, double bytes)
{
    return bytes > 0 ? line->latency_s + bytes * line->s_per_byte : 0;
}

/** Time of one operation on a buffer [s]. On several tiers each moves its part at the same time, so
 *  the slowest decides and latencies add up; a tier inside carries the buffer, the one above it a
 *  share per rank inside (Rabenseifner's hierarchy).
 *  @param bytes  whole, unsharded buffer; for an all-to-all the bytes that one rank sends
 *  @return 0 for one rank or no operation */
double calc_collective_s(const calc_system *system, calc_collective_op op, const calc_group *group,
                         double bytes);

/** All-to-all in which a share `copies` (0..1] of the data leaving a node is sent: one copy per
 *  node instead of one per expert sends less between nodes. */
double calc_collective_all_to_all_s(const calc_system *system, const calc_group *group,
                                    double bytes, double copies);

/** Whether processors add up the data of tensor-parallel reductions: where driving the network
 *  takes a share of them (processor_usage), or the rule reduction-flop says so. */
bool calc_collective_adds(const calc_system *system, const calc_group *tensor, calc_compat compat);

/** Members of a group inside one node. */
double calc_collective_inner_ranks(const calc_system *system, const calc_group *group);

/** The network of highest tier that a group touches. */
int64_t calc_collective_top_network(const calc_system *system, const calc_group *group);

#endif
