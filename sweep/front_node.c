#include "front_node.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- Making and freeing ---------------------------------------------------------------------- */

void calc_front_node_free(calc_front_node *n)
{
    if (n) {
        calc_front_node_free(n->child[0]);
        calc_front_node_free(n->child[1]);
        free(n->leaf);
        free(n);
    }
}

void calc_front_node_widen(calc_front_node *n, const double *objective, size_t objectives)
{
    for (size_t k = 0; k < objectives; k++) {
        n->low[k] = objective[k] < n->low[k] ? objective[k] : n->low[k];
        n->high[k] = objective[k] > n->high[k] ? objective[k] : n->high[k];
    }
}

void calc_front_node_empty(calc_front_node *n, size_t objectives)
{
    for (size_t k = 0; k < objectives; k++) {
        n->low[k] = INFINITY;
        n->high[k] = -INFINITY;
    }
}

/* Put the keys in such an order that none before `middle` is greater, by an objective, than any
 * behind it: Hoare's selection. */
static void select_middle(calc_front_key *key, size_t keys, size_t middle, size_t axis)
{
    size_t first = 0;
    size_t last = keys - 1;
    while (first < last) {
        double pivot = key[first + (last - first) / 2].objective[axis];
        size_t i = first;
        size_t j = last;
        for (;; i++, j--) {
            while (key[i].objective[axis] < pivot) {
                i++;
            }
            while (key[j].objective[axis] > pivot) {
                j--;
            }
            if (i >= j) {
                break;
            }
            calc_front_key other = key[i];
            key[i] = key[j];
            key[j] = other;
        }
        if (middle <= j) {
            last = j;
        } else {
            first = j + 1;
        }
    }
}

/* The first objective in turn, from `axis` on, in which the points differ. */
static size_t axis_from(const calc_front_node *n, size_t axis, size_t objectives)
{
    for (size_t k = 0; k < objectives && !(n->low[axis] < n->high[axis]); k++) {
        axis = axis + 1 < objectives ? axis + 1 : 0;
    }
    return axis;
}

calc_front_node *calc_front_node_build(calc_front_key *key, size_t keys, size_t axis,
                                       size_t objectives)
{
    calc_front_node *n = calloc(1, sizeof *n);
    if (!n) {
        return NULL;
    }
    n->count = keys;
    calc_front_node_empty(n, objectives);
    for (size_t i = 0; i < keys; i++) {
        calc_front_node_widen(n, key[i].objective, objectives);
    }
    n->axis = axis_from(n, axis, objectives);
    bool fine;
    if (keys <= CALC_FRONT_LEAF) {
        n->leaf = malloc(CALC_FRONT_LEAF * sizeof *n->leaf);
        fine = n->leaf != NULL;
        if (fine) {
            memcpy(n->leaf, key, keys * sizeof *key);
        }
    } else {
        size_t half = keys / 2;
        size_t next = n->axis + 1 < objectives ? n->axis + 1 : 0;
        select_middle(key, keys, half, n->axis);
        n->split = key[half].objective[n->axis];
        n->child[0] = calc_front_node_build(key, half, next, objectives);
        n->child[1] = calc_front_node_build(key + half, keys - half, next, objectives);
        fine = n->child[0] && n->child[1];
    }
    if (!fine) {
        calc_front_node_free(n);
        return NULL;
    }
    return n;
}

/* ---- Questions ------------------------------------------------------------------------------- */

static inline bool any_dominates(const calc_front_node *n, const double *objective,
                                 size_t objectives)
{
    for (size_t i = 0; i < n->count; i++) {
        const double *have = n->leaf[i].objective;
        bool better = false;
        for (size_t k = 0; k < objectives; k++) {
            better |= have[k] < objective[k];
        }
        if (better & calc_front_no_worse(have, objective, 0, objectives)) {
            return true;
        }
    }
    return false;
}

/* For numbers of objectives that the compiler knows. */
static bool leaf_dominates(const calc_front_node *n, const double *objective, size_t objectives)
{
    switch (objectives) {
    case 1:
        return any_dominates(n, objective, 1);
    case 2:
        return any_dominates(n, objective, 2);
    case 3:
        return any_dominates(n, objective, 3);
    default:
        return any_dominates(n, objective, CALC_MAX_OBJECTIVES);
    }
}

const calc_front_node *calc_front_node_dominating(const calc_front_node *n, const double *objective,
                                                  size_t objectives)
{
    if (n->leaf) {
        return leaf_dominates(n, objective, objectives) ? n : NULL;
    }
    for (int c = 0; c < 2; c++) {
        const calc_front_node *child = n->child[c];
        const calc_front_node *found =
            calc_front_no_worse(child->low, objective, 0, objectives)
                ? calc_front_node_dominating(child, objective, objectives)
                : NULL;
        if (found) {
            return found;
        }
    }
    return NULL;
}

double calc_front_node_best_first(const calc_front_node *n, const double *objective,
                                  size_t objectives, double best)
{
    if (n->low[0] >= best || !calc_front_no_worse(n->low, objective, 1, objectives)) {
        return best;
    }
    if (calc_front_no_worse(n->high, objective, 1, objectives)) {
        return n->low[0];
    }
    if (!n->leaf) {
        bool second = n->child[1]->low[0] < n->child[0]->low[0]; /* promises more */
        best = calc_front_node_best_first(n->child[second], objective, objectives, best);
        return calc_front_node_best_first(n->child[!second], objective, objectives, best);
    }
    for (size_t i = 0; i < n->count; i++) {
        const double *have = n->leaf[i].objective;
        best =
            have[0] < best && calc_front_no_worse(have, objective, 1, objectives) ? have[0] : best;
    }
    return best;
}

const calc_front_key *calc_front_node_find(const calc_front_node *n, const double *objective,
                                           size_t objectives)
{
    if (!calc_front_no_worse(n->low, objective, 0, objectives) ||
        !calc_front_no_worse(objective, n->high, 0, objectives)) {
        return NULL;
    }
    if (!n->leaf) {
        const calc_front_key *found = calc_front_node_find(n->child[0], objective, objectives);
        return found ? found : calc_front_node_find(n->child[1], objective, objectives);
    }
    for (size_t i = 0; i < n->count; i++) {
        const double *have = n->leaf[i].objective;
        if (calc_front_no_worse(have, objective, 0, objectives) &&
            calc_front_no_worse(objective, have, 0, objectives)) {
            return &n->leaf[i];
        }
    }
    return NULL;
}

calc_front_key *calc_front_node_list(const calc_front_node *n, calc_front_key *key)
{
    if (!n->leaf) {
        return calc_front_node_list(n->child[1], calc_front_node_list(n->child[0], key));
    }
    memcpy(key, n->leaf, n->count * sizeof *key);
    return key + n->count;
}
