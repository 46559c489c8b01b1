/** @file front_tree.h  Points none of which dominates another, by their objectives: a k-d tree
 * whose nodes know the box around their points, so that most of them need not be looked at. Less is
 *  better in each objective; none may be NaN. Each point has a slot, a small number by which its
 *  owner stores data for it. */
#ifndef CALC_SWEEP_FRONT_TREE_H
#define CALC_SWEEP_FRONT_TREE_H

#include "calc.h"
#include "front_node.h"

typedef struct calc_front_tree calc_front_tree;

/** A tree of points that do not dominate each other and are not equal; the list is put in another
 *  order. @param count  objectives, at least 1 @return NULL if memory is short */
calc_front_tree *calc_front_tree_create(calc_front_key *key, size_t keys, size_t count);

/** Free it. NULL is fine. */
void calc_front_tree_free(calc_front_tree *tree);

/** Whether a point is at least as good as `objective` in everything and better in something. The
 *  tree remembers where it found one: the next question is often like it. */
bool calc_front_tree_dominates(calc_front_tree *tree, const double *objective);

/** The least first objective of the points that are no worse than `objective` in all others;
 *  infinity if there are none. */
double calc_front_tree_best_first(const calc_front_tree *tree, const double *objective);

/** The point that is equal. @return whether there is one; then *slot is its slot */
bool calc_front_tree_find(const calc_front_tree *tree, const double *objective, size_t *slot);

/** Add a point that nothing dominates or equals, and drop those that it dominates.
 *  @param slot  a free one: of a dropped point, or else the least without a point
 *  @return CALC_OK or CALC_ERR_NOMEM; the tree is then only good to be freed */
CALC_MUST_USE calc_status calc_front_tree_add(calc_front_tree *tree, const double *objective,
                                              size_t *slot);

/** How many points there are. */
size_t calc_front_tree_count(const calc_front_tree *tree);

/** Fill a list of that many with all points, in no particular order. */
void calc_front_tree_list(const calc_front_tree *tree, calc_front_key *key);

#endif
