/** @file front_node.h  Nodes of the tree of a front (front_tree.h): made all at once, and asked. */
#ifndef CALC_SWEEP_FRONT_NODE_H
#define CALC_SWEEP_FRONT_NODE_H

#include "calc.h"
#include "objective.h"

/** A point and where its owner keeps the rest. */
typedef struct calc_front_key {
    double objective[CALC_MAX_OBJECTIVES];
    size_t slot;
} calc_front_key;

/** Points of a leaf: few enough to look at all of them. */
enum { CALC_FRONT_LEAF = 16 };

/** A leaf, or two children. */
typedef struct calc_front_node {
    double low[CALC_MAX_OBJECTIVES], high[CALC_MAX_OBJECTIVES]; /**< the box around the points */
    double split; /**< points up to here in the objective `axis` are added to the first child */
    size_t axis;
    size_t count; /**< points */
    struct calc_front_node *child[2];
    calc_front_key *leaf; /**< room for CALC_FRONT_LEAF points; NULL: they are in the children */
} calc_front_node;

/** Whether a is at least as good as b in the objectives from `first` on. */
static inline bool calc_front_no_worse(const double *a, const double *b, size_t first,
                                       size_t objectives)
{
    bool fine = true;
    for (size_t k = first; k < objectives; k++) {
        fine &= a[k] <= b[k];
    }
    return fine;
}

/** A balanced tree of points, put in another order. @param axis  objective that it is split by, if
 *  the points differ in it; else by the next
 *  @return NULL if memory is short */
calc_front_node *calc_front_node_build(calc_front_key *key, size_t keys, size_t axis,
                                       size_t objectives);

/** Free it, with its children. NULL is fine. */
void calc_front_node_free(calc_front_node *node);

/** Make the box empty; make it large enough for a point. */
void calc_front_node_empty(calc_front_node *node, size_t objectives);
void calc_front_node_widen(calc_front_node *node, const double *objective, size_t objectives);

/** A leaf with a point that dominates; NULL if there is none. */
const calc_front_node *calc_front_node_dominating(const calc_front_node *node,
                                                  const double *objective, size_t objectives);

/** The less of `best` and the first objectives of the points that are no worse in all others. */
double calc_front_node_best_first(const calc_front_node *node, const double *objective,
                                  size_t objectives, double best);

/** The point that is equal; NULL if there is none. */
const calc_front_key *calc_front_node_find(const calc_front_node *node, const double *objective,
                                           size_t objectives);

/** Fill a list with the points. @return where they end */
calc_front_key *calc_front_node_list(const calc_front_node *node, calc_front_key *key);

#endif
