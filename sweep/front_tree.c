#include "front_tree.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct calc_front_tree {
    calc_front_node *root; /* NULL: no points */
    size_t objectives;
    size_t *spare; /* slots of points that were dropped */
    size_t spares, capacity, slots;
    const calc_front_node *hit; /* the leaf where the last question was answered */
};

void calc_front_tree_free(calc_front_tree *tree)
{
    if (tree) {
        calc_front_node_free(tree->root);
        free(tree->spare);
        free(tree);
    }
}

calc_front_tree *calc_front_tree_create(calc_front_key *key, size_t keys, size_t count)
{
    calc_front_tree *tree = calloc(1, sizeof *tree);
    if (!tree) {
        return NULL;
    }
    tree->objectives = count;
    tree->slots = tree->capacity = keys;
    tree->spare = keys > 0 ? malloc(keys * sizeof *tree->spare) : NULL;
    tree->root = keys > 0 && tree->spare ? calc_front_node_build(key, keys, 0, count) : NULL;
    if (keys > 0 && !tree->root) {
        calc_front_tree_free(tree);
        return NULL;
    }
    return tree;
}

/* ---- Questions ------------------------------------------------------------------------------- */

bool calc_front_tree_dominates(calc_front_tree *tree, const double *objective)
{
    size_t objectives = tree->objectives;
    if (!tree->root || !calc_front_no_worse(tree->root->low, objective, 0, objectives)) {
        return false;
    }
    if (tree->hit && calc_front_node_dominating(tree->hit, objective, objectives)) {
        return true;
    }
    const calc_front_node *found = calc_front_node_dominating(tree->root, objective, objectives);
    tree->hit = found ? found : tree->hit;
    return found != NULL;
}

double calc_front_tree_best_first(const calc_front_tree *tree, const double *objective)
{
    return tree->root
               ? calc_front_node_best_first(tree->root, objective, tree->objectives, INFINITY)
               : INFINITY;
}

bool calc_front_tree_find(const calc_front_tree *tree, const double *objective, size_t *slot)
{
    const calc_front_key *found =
        tree->root ? calc_front_node_find(tree->root, objective, tree->objectives) : NULL;
    *slot = found ? found->slot : 0;
    return found != NULL;
}

/* ---- Changes --------------------------------------------------------------------------------- */

size_t calc_front_tree_count(const calc_front_tree *tree)
{
    return tree->root ? tree->root->count : 0;
}

void calc_front_tree_list(const calc_front_tree *tree, calc_front_key *key)
{
    if (tree->root) {
        calc_front_node_list(tree->root, key);
    }
}

/* Build a node anew, with another point if that is not NULL.
 * @return false if memory is short; it is then as it was */
static bool rebuild(calc_front_tree *tree, calc_front_node **at, const calc_front_key *more)
{
    calc_front_key few[CALC_FRONT_LEAF + 1];
    size_t keys = (*at)->count + (more != NULL);
    calc_front_key *key = keys <= CALC_FRONT_LEAF + 1 ? few : malloc(keys * sizeof *key);
    if (!key) {
        return false;
    }
    calc_front_key *end = calc_front_node_list(*at, key);
    if (more) {
        *end = *more;
    }
    calc_front_node *built = calc_front_node_build(key, keys, (*at)->axis, tree->objectives);
    if (built) {
        calc_front_node_free(*at);
        *at = built;
        tree->hit = NULL;
    }
    if (key != few) {
        free(key);
    }
    return built != NULL;
}

/* Drop the points of a leaf that this one dominates. */
static void drop_of_leaf(calc_front_tree *tree, calc_front_node *n, const double *objective)
{
    size_t kept = 0;
    calc_front_node_empty(n, tree->objectives);
    for (size_t i = 0; i < n->count; i++) {
        const calc_front_key *key = &n->leaf[i];
        if (calc_front_no_worse(objective, key->objective, 0, tree->objectives)) {
            tree->spare[tree->spares++] = key->slot;
        } else {
            calc_front_node_widen(n, key->objective, tree->objectives);
            n->leaf[kept++] = *key;
        }
    }
    n->count = kept;
}

/* The same of any node. */
static void drop(calc_front_tree *tree, calc_front_node **at, const double *objective)
{
    calc_front_node *n = *at;
    size_t before = n->count;
    if (!calc_front_no_worse(objective, n->high, 0, tree->objectives)) {
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
        const calc_front_node *a = n->child[0];
        const calc_front_node *b = n->child[1];
        n->low[k] = a->low[k] < b->low[k] ? a->low[k] : b->low[k];
        n->high[k] = a->high[k] > b->high[k] ? a->high[k] : b->high[k];
    }
    if (n->count <= CALC_FRONT_LEAF / 2) {
        (void)rebuild(tree, at, NULL); /* it is as good as it was, but larger than it need be */
    }
}

static bool is_unbalanced(const calc_front_node *n)
{
    size_t a = n->child[0]->count;
    size_t b = n->child[1]->count;
    return (a > b ? a : b) > n->count / 4 * 3 + CALC_FRONT_LEAF;
}

static bool add(calc_front_tree *tree, calc_front_node **at, const calc_front_key *key)
{
    calc_front_node *n = *at;
    if (n->leaf && n->count == CALC_FRONT_LEAF) {
        return rebuild(tree, at, key);
    }
    if (n->leaf) {
        n->leaf[n->count] = *key;
    } else if (!add(tree, &n->child[key->objective[n->axis] > n->split], key)) {
        return false;
    }
    n->count++;
    calc_front_node_widen(n, key->objective, tree->objectives);
    if (!n->leaf && is_unbalanced(n)) {
        (void)rebuild(tree, at, NULL); /* a tree that is not balanced is right, too */
    }
    return true;
}

/* A slot without a point, and room to give it back. */
static bool take_slot(calc_front_tree *tree, size_t *slot)
{
    if (tree->spares > 0) {
        *slot = tree->spare[--tree->spares];
        return true;
    }
    if (tree->slots >= tree->capacity) {
        size_t capacity = 2 * tree->slots + CALC_FRONT_LEAF;
        size_t *spare = realloc(tree->spare, capacity * sizeof *spare);
        if (!spare) {
            return false;
        }
        tree->spare = spare;
        tree->capacity = capacity;
    }
    *slot = tree->slots++;
    return true;
}

calc_status calc_front_tree_add(calc_front_tree *tree, const double *objective, size_t *slot)
{
    calc_front_key key = {0};
    memcpy(key.objective, objective, tree->objectives * sizeof *objective);
    if (tree->root) {
        drop(tree, &tree->root, objective);
    }
    bool fine = take_slot(tree, &key.slot);
    if (fine && tree->root) {
        fine = add(tree, &tree->root, &key);
    } else if (fine) {
        tree->root = calc_front_node_build(&key, 1, 0, tree->objectives);
        fine = tree->root != NULL;
    }
    *slot = key.slot;
    return fine ? CALC_OK : CALC_ERR_NOMEM;
}
