#include "front.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/buffer.h"
#include "calc.h"
#include "objective.h"
#include "space.h"

/* Points none of which dominates another, by their objectives: a k-d tree whose nodes know the
 * box around their points, so that most of them need not be looked at. Less is better in each
 * objective; none may be NaN. Each point has a slot, a small number by which its owner stores
 * data for it. */

/* ---- Nodes of a tree ------------------------------------------------------------------------- */

/* A point and where its owner keeps the rest. */
typedef struct front_key {
    double objective[CALC_MAX_OBJECTIVES];
    size_t slot;
} front_key;

/* Points of a leaf: few enough to look at all of them. */
enum { FRONT_LEAF = 16 };

/* A leaf, or two children. */
typedef struct front_node {
    double low[CALC_MAX_OBJECTIVES], high[CALC_MAX_OBJECTIVES]; /* the box around the points */
    double split; /* points up to here in the objective `axis` are added to the first child */
    size_t axis;
    size_t count; /* points */
    struct front_node *child[2];
    front_key *leaf; /* room for FRONT_LEAF points; NULL: they are in the children */
} front_node;

/* Whether a is at least as good as b in all objectives. */
static inline bool front_no_worse(const double *a, const double *b, size_t objectives)
{
    bool fine = true;
    for (size_t k = 0; k < objectives; k++) {
        fine &= a[k] <= b[k];
    }
    return fine;
}

/* Free it, with its children. NULL is fine. */
static void front_node_free(front_node *n)
{
    if (n) {
        front_node_free(n->child[0]);
        front_node_free(n->child[1]);
        free(n->leaf);
        free(n);
    }
}

static void front_node_widen(front_node *n, const double *objective, size_t objectives)
{
    for (size_t k = 0; k < objectives; k++) {
        n->low[k] = objective[k] < n->low[k] ? objective[k] : n->low[k];
        n->high[k] = objective[k] > n->high[k] ? objective[k] : n->high[k];
    }
}

/* Make the box empty; make it large enough for a point. */
static void front_node_empty(front_node *n, size_t objectives)
{
    for (size_t k = 0; k < objectives; k++) {
        n->low[k] = INFINITY;
        n->high[k] = -INFINITY;
    }
}

/* Put the keys in such an order that none before `middle` is greater, by an objective, than any
 * behind it: Hoare's selection. */
static void select_middle(front_key *key, size_t keys, size_t middle, size_t axis)
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
            front_key other = key[i];
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

/* A balanced tree of points, put in another order. @param axis  objective that it is split by, if
 *  the points differ in it; else by the next
 *  @return NULL if memory is short */
static front_node *front_node_build(front_key *key, size_t keys, size_t axis, size_t objectives)
{
    front_node *n = calloc(1, sizeof *n);
    if (!n) {
        return NULL;
    }
    n->count = keys;
    front_node_empty(n, objectives);
    for (size_t i = 0; i < keys; i++) {
        front_node_widen(n, key[i].objective, objectives);
    }
    for (size_t k = 0; k < objectives && !(n->low[axis] < n->high[axis]); k++) {
        axis = axis + 1 < objectives ? axis + 1 : 0; /* the first in turn in which they differ */
    }
    n->axis = axis;
    bool fine;
    if (keys <= FRONT_LEAF) {
        n->leaf = malloc(FRONT_LEAF * sizeof *n->leaf);
        fine = n->leaf != NULL;
        if (fine) {
            memcpy(n->leaf, key, keys * sizeof *key);
        }
    } else {
        size_t half = keys / 2;
        size_t next = n->axis + 1 < objectives ? n->axis + 1 : 0;
        select_middle(key, keys, half, n->axis);
        n->split = key[half].objective[n->axis];
        n->child[0] = front_node_build(key, half, next, objectives);
        n->child[1] = front_node_build(key + half, keys - half, next, objectives);
        fine = n->child[0] && n->child[1];
    }
    if (!fine) {
        front_node_free(n);
        return NULL;
    }
    return n;
}

/* ---- Questions ------------------------------------------------------------------------------- */

static inline bool any_dominates(const front_node *n, const double *objective, size_t objectives)
{
    for (size_t i = 0; i < n->count; i++) {
        const double *have = n->leaf[i].objective;
        bool better = false;
        for (size_t k = 0; k < objectives; k++) {
            better |= have[k] < objective[k];
        }
        if (better & front_no_worse(have, objective, objectives)) {
            return true;
        }
    }
    return false;
}

/* For numbers of objectives that the compiler knows. */
static bool leaf_dominates(const front_node *n, const double *objective, size_t objectives)
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

/* A leaf with a point that dominates; NULL if there is none. */
static const front_node *front_node_dominating(const front_node *n, const double *objective,
                                               size_t objectives)
{
    if (n->leaf) {
        return leaf_dominates(n, objective, objectives) ? n : NULL;
    }
    const front_node *found = NULL;
    for (int c = 0; c < 2 && !found; c++) {
        if (front_no_worse(n->child[c]->low, objective, objectives)) {
            found = front_node_dominating(n->child[c], objective, objectives);
        }
    }
    return found;
}

/* The point that is equal; NULL if there is none. */
static const front_key *front_node_find(const front_node *n, const double *objective,
                                        size_t objectives)
{
    if (!front_no_worse(n->low, objective, objectives) ||
        !front_no_worse(objective, n->high, objectives)) {
        return NULL;
    }
    if (!n->leaf) {
        const front_key *found = front_node_find(n->child[0], objective, objectives);
        return found ? found : front_node_find(n->child[1], objective, objectives);
    }
    for (size_t i = 0; i < n->count; i++) {
        const double *have = n->leaf[i].objective;
        if (front_no_worse(have, objective, objectives) &&
            front_no_worse(objective, have, objectives)) {
            return &n->leaf[i];
        }
    }
    return NULL;
}

/* Fill a list with the points, in no particular order. @return where they end */
static front_key *front_node_list(const front_node *n, front_key *key)
{
    if (!n->leaf) {
        return front_node_list(n->child[1], front_node_list(n->child[0], key));
    }
    memcpy(key, n->leaf, n->count * sizeof *key);
    return key + n->count;
}

/* ---- The tree -------------------------------------------------------------------------------- */

typedef struct calc_front_tree {
    front_node *root; /* NULL: no points */
    size_t objectives;
    size_t *spare; /* slots of points that were dropped */
    size_t spares, capacity, slots;
    const front_node *hit; /* the leaf where the last question was answered */
} calc_front_tree;

/* Whether a point is at least as good as `objective` in everything and better in something. The
 *  tree remembers where it found one: the next question is often like it. */
static bool front_tree_dominates(calc_front_tree *tree, const double *objective)
{
    size_t objectives = tree->objectives;
    if (!tree->root || !front_no_worse(tree->root->low, objective, objectives)) {
        return false;
    }
    if (tree->hit && front_node_dominating(tree->hit, objective, objectives)) {
        return true;
    }
    const front_node *found = front_node_dominating(tree->root, objective, objectives);
    tree->hit = found ? found : tree->hit;
    return found != NULL;
}

/* ---- Changes --------------------------------------------------------------------------------- */

/* Build a node anew, with another point if that is not NULL.
 * @return false if memory is short; it is then as it was */
static bool rebuild(calc_front_tree *tree, front_node **at, const front_key *more)
{
    front_key few[FRONT_LEAF + 1];
    size_t keys = (*at)->count + (more != NULL);
    front_key *key = keys <= FRONT_LEAF + 1 ? few : malloc(keys * sizeof *key);
    if (!key) {
        return false;
    }
    front_key *end = front_node_list(*at, key);
    if (more) {
        *end = *more;
    }
    front_node *built = front_node_build(key, keys, (*at)->axis, tree->objectives);
    if (built) {
        front_node_free(*at);
        *at = built;
        tree->hit = NULL;
    }
    if (key != few) {
        free(key);
    }
    return built != NULL;
}

/* Drop the points of a leaf that this one dominates. */
static void drop_of_leaf(calc_front_tree *tree, front_node *n, const double *objective)
{
    size_t kept = 0;
    front_node_empty(n, tree->objectives);
    for (size_t i = 0; i < n->count; i++) {
        const front_key *key = &n->leaf[i];
        if (front_no_worse(objective, key->objective, tree->objectives)) {
            tree->spare[tree->spares++] = key->slot;
        } else {
            front_node_widen(n, key->objective, tree->objectives);
            n->leaf[kept++] = *key;
        }
    }
    n->count = kept;
}

/* The same of any node. */
static void drop(calc_front_tree *tree, front_node **at, const double *objective)
{
    front_node *n = *at;
    size_t before = n->count;
    if (!front_no_worse(objective, n->high, tree->objectives)) {
        return;
    }
    if (n->leaf) {
        drop_of_leaf(tree, n, objective);
        return;
    }
    drop(tree, &n->child[0], objective);
    drop(tree, &n->child[1], objective);
    n->count = n->child[0]->count + n->child[1]->count;
    if (n->count == before) {
        return;
    }
    for (size_t k = 0; k < tree->objectives; k++) {
        const front_node *a = n->child[0];
        const front_node *b = n->child[1];
        n->low[k] = a->low[k] < b->low[k] ? a->low[k] : b->low[k];
        n->high[k] = a->high[k] > b->high[k] ? a->high[k] : b->high[k];
    }
    if (n->count <= FRONT_LEAF / 2) {
        (void)rebuild(tree, at, NULL); /* it is as good as it was, but larger than it need be */
    }
}

static bool insert(calc_front_tree *tree, front_node **at, const front_key *key)
{
    front_node *n = *at;
    if (n->leaf && n->count == FRONT_LEAF) {
        return rebuild(tree, at, key);
    }
    if (n->leaf) {
        n->leaf[n->count] = *key;
    } else if (!insert(tree, &n->child[key->objective[n->axis] > n->split], key)) {
        return false;
    }
    n->count++;
    front_node_widen(n, key->objective, tree->objectives);
    size_t first = n->leaf ? 0 : n->child[0]->count;
    size_t most = first > n->count - first ? first : n->count - first;
    if (!n->leaf && most > n->count / 4 * 3 + FRONT_LEAF) {
        (void)rebuild(tree, at, NULL); /* a tree that is not balanced is right, too */
    }
    return true;
}

/* A slot without a point, and room to give it back. */
static bool take_slot(calc_front_tree *tree, size_t *slot)
{
    bool fresh = tree->spares == 0;
    size_t *spare = tree->spare;
    if (fresh && tree->slots >= tree->capacity) {
        tree->capacity = 2 * tree->slots + FRONT_LEAF;
        spare = realloc(spare, tree->capacity * sizeof *spare);
    }
    if (spare) {
        tree->spare = spare;
        *slot = fresh ? tree->slots++ : spare[--tree->spares];
    }
    return spare != NULL;
}

/* Add a point that nothing dominates or equals, and drop those that it dominates.
 *  @param slot  a free one: of a dropped point, or else the least without a point
 *  @return CALC_OK or CALC_ERR_NOMEM; the tree is then only good to be freed */
static calc_status front_tree_add(calc_front_tree *tree, const double *objective, size_t *slot)
{
    front_key key = {0};
    memcpy(key.objective, objective, tree->objectives * sizeof *objective);
    if (tree->root) {
        drop(tree, &tree->root, objective);
    }
    bool fine = take_slot(tree, &key.slot);
    if (fine && tree->root) {
        fine = insert(tree, &tree->root, &key);
    } else if (fine) {
        tree->root = front_node_build(&key, 1, 0, tree->objectives);
        fine = tree->root != NULL;
    }
    *slot = key.slot;
    return fine ? CALC_OK : CALC_ERR_NOMEM;
}

/* ---- The front ------------------------------------------------------------------------------- */

calc_found calc_found_of(uint64_t design, const calc_exec *exec)
{
    calc_found found = {.design = design};
    memcpy(found.layout, exec, sizeof found.layout);
    return found;
}

calc_exec calc_found_exec(const calc_found *found)
{
    calc_exec exec = {0};
    memcpy(&exec, found->layout, sizeof found->layout);
    return exec;
}

int calc_found_compare(const calc_found *a, const calc_found *b)
{
    if (a->design != b->design) {
        return a->design < b->design ? -1 : 1;
    }
    calc_exec x,
        y; /* without their lists, which no axis is of: a sweep compares hundreds of thousands */
    memcpy(&x, a->layout, sizeof a->layout);
    memcpy(&y, b->layout, sizeof b->layout);
    return calc_axis_compare(&x, &y);
}

static void free_tree(calc_front *front)
{
    if (front->tree) {
        front_node_free(front->tree->root);
        free(front->tree->spare);
        free(front->tree);
        front->tree = NULL;
    }
}

void calc_front_clear(calc_front *front)
{
    free_tree(front);
    *front = (calc_front){.item = front->item, .capacity = front->capacity};
}

void calc_front_free(calc_front *front)
{
    calc_front_clear(front);
    free(front->item);
    *front = (calc_front){0};
}

bool calc_front_dominates(const calc_front *front, const double *objective, size_t count)
{
    if (front->tree) {
        return front_tree_dominates(front->tree, objective);
    }
    for (size_t i = 0; i < front->count; i++) {
        const double *have = front->item[i].objective;
        if (front_no_worse(have, objective, count) && !front_no_worse(objective, have, count)) {
            return true;
        }
    }
    return false;
}

/* Room for one layout more, and some to grow. */
static bool reserve(calc_front *list)
{
    size_t room = list->count + list->capacity / 2 + 9;
    bool full = list->count == list->capacity;
    calc_found *item = full ? realloc(list->item, room * sizeof *item) : list->item;
    if (full && item) {
        list->item = item;
        list->capacity = room;
    }
    return item != NULL;
}

/* The points, in no particular order, with their positions; to be freed. NULL if memory is short.
 */
static front_key *keys_of(const calc_front *front)
{
    front_key *key = calloc(front->count + 1, sizeof *key);
    if (key && front->tree && front->tree->root) {
        front_node_list(front->tree->root, key);
    }
    for (size_t i = 0; i < front->count && key && !front->tree; i++) {
        key[i].slot = i;
        memcpy(key[i].objective, front->item[i].objective, sizeof key[i].objective);
    }
    return key;
}

/* Begin to add to a front that is settled: a tree of its points. */
static bool plant(calc_front *front, size_t objectives)
{
    size_t count = front->count;
    front_key *key = keys_of(front);
    calc_front_tree *tree = calloc(1, sizeof *tree);
    if (key && tree) {
        *tree = (calc_front_tree){.objectives = objectives, .slots = count, .capacity = count};
        tree->spare = malloc((count + 1) * sizeof *tree->spare);
        tree->root = count > 0 ? front_node_build(key, count, 0, objectives) : NULL;
        front->tree = tree;
        if (!tree->spare || (count > 0 && !tree->root)) {
            free_tree(front);
        }
    } else {
        free(tree);
    }
    free(key);
    return front->tree != NULL;
}

double (*calc_front_objectives(const calc_front *front))[CALC_MAX_OBJECTIVES]
{
    front_key *key = keys_of(front);
    double(*list)[CALC_MAX_OBJECTIVES] = key ? malloc((front->count + 1) * sizeof *list) : NULL;
    for (size_t i = 0; i < front->count && list; i++) {
        memcpy(list[i], key[i].objective, sizeof list[i]);
    }
    free(key);
    return list;
}

calc_status calc_front_insert(calc_front *front, const calc_found *found, size_t count)
{
    if (!front->tree && !plant(front, count)) {
        return CALC_ERR_NOMEM;
    }
    if (front_tree_dominates(front->tree, found->objective)) {
        return CALC_OK;
    }
    const front_node *root = front->tree->root;
    const front_key *equal = root ? front_node_find(root, found->objective, count) : NULL;
    if (equal) {
        if (calc_found_compare(found, &front->item[equal->slot]) < 0) {
            front->item[equal->slot] = *found;
        }
        return CALC_OK;
    }
    /* Slots are used again: there are no more of them than layouts at a time. */
    size_t slot;
    calc_status status = reserve(front) ? CALC_OK : CALC_ERR_NOMEM;
    status = status == CALC_OK ? front_tree_add(front->tree, found->objective, &slot) : status;
    if (status == CALC_OK) {
        front->item[slot] = *found;
        front->count = front->tree->root ? front->tree->root->count : 0;
    }
    return status;
}

calc_status calc_front_merge(calc_front *front, const calc_front *from, size_t count)
{
    front_key *key = keys_of(from);
    calc_status status = key ? CALC_OK : CALC_ERR_NOMEM;
    for (size_t i = 0; i < from->count && status == CALC_OK; i++) {
        status = calc_front_insert(front, &from->item[key[i].slot], count);
    }
    free(key);
    return status;
}

static int compare_objectives(const void *a, const void *b)
{
    const double *x = ((const calc_found *)a)->objective;
    const double *y = ((const calc_found *)b)->objective;
    size_t i = 0;
    while (i + 1 < CALC_MAX_OBJECTIVES && x[i] == y[i]) {
        i++;
    }
    return CALC_ORDER(x[i], y[i]);
}

static CALC_ORDER_BY(compare_slots, front_key, slot, slot)

calc_status calc_front_settle(calc_front *front)
{
    if (!front->tree) {
        return CALC_OK;
    }
    front_key *key = keys_of(front);
    if (!key) {
        return CALC_ERR_NOMEM;
    }
    size_t count = front->count;
    CALC_SORT(key, count, compare_slots);
    for (size_t i = 0; i < count; i++) { /* slots ascend: none is overwritten before it is read */
        front->item[i] = front->item[key[i].slot];
    }
    free(key);
    free_tree(front);
    if (count > 0) {
        CALC_SORT(front->item, count, compare_objectives);
    }
    return CALC_OK;
}

/* ---- The best by one objective --------------------------------------------------------------- */

/* A list that is longer than this is not kept in order, which would take time in proportion to its
 * length for each layout: it grows beyond its limit, and then the best of it are kept. */
enum { IN_ORDER = 1024, ROOM = 1 << 16 };

/* Order of the list: by the first objective, then by layout. */
static int compare_best(const void *a, const void *b)
{
    const calc_found *x = a;
    const calc_found *y = b;
    double p = x->objective[0];
    double q = y->objective[0];
    return p < q ? -1 : p > q ? 1 : calc_found_compare(x, y);
}

/* Put a layout at a position; those behind it move up. There must be room. */
static void put(calc_front *top, size_t at, const calc_found *found)
{
    memmove(&top->item[at + 1], &top->item[at], (top->count - at) * sizeof *top->item);
    top->item[at] = *found;
    top->count++;
}

void calc_top_settle(calc_front *top, size_t limit)
{
    if (limit <= IN_ORDER || top->count == 0) {
        return;
    }
    CALC_SORT(top->item, top->count, compare_best);
    size_t kept = 1;
    for (size_t i = 1; i < top->count && kept < limit; i++) {
        if (compare_best(&top->item[i], &top->item[kept - 1]) != 0) {
            top->item[kept] = top->item[i];
            kept++;
        }
    }
    top->count = top->kept = kept;
}

double calc_top_threshold(const calc_front *top, size_t limit)
{
    size_t have = limit > IN_ORDER ? top->kept : top->count;
    return have < limit ? INFINITY : top->item[limit - 1].objective[0];
}

/* In a long list only the first is in its place. */
static calc_status add(calc_front *top, const calc_found *found, size_t limit)
{
    if (found->objective[0] > calc_top_threshold(top, limit)) {
        return CALC_OK;
    }
    size_t room = limit < ROOM ? limit : limit / 4 > ROOM ? limit / 4 : ROOM;
    if (top->count == limit + room) {
        calc_top_settle(top, limit);
    }
    if (!reserve(top)) {
        return CALC_ERR_NOMEM;
    }
    put(top, top->count, found);
    if (found->objective[0] < top->item[0].objective[0]) {
        top->item[top->count - 1] = top->item[0];
        top->item[0] = *found;
    }
    return CALC_OK;
}

calc_status calc_top_insert(calc_front *top, const calc_found *found, size_t limit)
{
    if (limit > IN_ORDER) {
        return add(top, found, limit);
    }
    size_t at = top->count;
    while (at > 0 && compare_best(found, &top->item[at - 1]) < 0) {
        at--;
    }
    bool there = at > 0 && compare_best(found, &top->item[at - 1]) == 0;
    if (at == limit || there) {
        return CALC_OK;
    }
    if (top->count == limit) {
        top->count--;
    }
    if (!reserve(top)) {
        return CALC_ERR_NOMEM;
    }
    put(top, at, found);
    return CALC_OK;
}
