#include "front.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/buffer.h"
#include "front_tree.h"
#include "space.h"

int calc_found_compare(const calc_found *a, const calc_found *b)
{
    if (a->design != b->design) {
        return a->design < b->design ? -1 : 1;
    }
    return calc_axis_compare(&a->exec, &b->exec);
}

void calc_front_free(calc_front *front)
{
    calc_front_tree_free(front->tree);
    free(front->item);
    *front = (calc_front){0};
}

void calc_front_clear(calc_front *front)
{
    calc_front_tree_free(front->tree);
    front->tree = NULL;
    front->count = 0;
    front->kept = 0;
}

/* Room for one layout more. */
static bool reserve(calc_front *front)
{
    calc_found *item = calc_grown(front->item, front->count, &front->capacity, sizeof *front->item);
    front->item = item ? item : front->item;
    return item != NULL;
}

/* ---- The front ------------------------------------------------------------------------------- */

/* Where its layouts are: a list of front->count, to be freed; NULL if memory is short. */
static calc_front_key *keys_of(const calc_front *front)
{
    calc_front_key *key = malloc((front->count + 1) * sizeof *key);
    if (key && front->tree) {
        calc_front_tree_list(front->tree, key);
    }
    for (size_t i = 0; key && !front->tree && i < front->count; i++) {
        key[i].slot = i;
        memcpy(key[i].objective, front->item[i].objective, sizeof key[i].objective);
    }
    return key;
}

bool calc_front_dominates(const calc_front *front, const double *objective, size_t count)
{
    if (front->tree) {
        return calc_front_tree_dominates(front->tree, objective);
    }
    for (size_t i = 0; i < front->count; i++) {
        const double *have = front->item[i].objective;
        if (calc_front_no_worse(have, objective, 0, count) &&
            !calc_front_no_worse(objective, have, 0, count)) {
            return true;
        }
    }
    return false;
}

double calc_front_best_first(const calc_front *front, const double *objective, size_t count)
{
    double best = INFINITY;
    if (front->tree) {
        return calc_front_tree_best_first(front->tree, objective);
    }
    for (size_t i = 0; i < front->count; i++) {
        const double *have = front->item[i].objective;
        best = have[0] < best && calc_front_no_worse(have, objective, 1, count) ? have[0] : best;
    }
    return best;
}

/* Begin to add to a front. */
static bool plant(calc_front *front, size_t count)
{
    calc_front_key *key = keys_of(front);
    front->tree = key ? calc_front_tree_create(key, front->count, count) : NULL;
    free(key);
    return front->tree != NULL;
}

calc_status calc_front_insert(calc_front *front, const calc_found *found, size_t count)
{
    size_t slot;
    if ((!front->tree && !plant(front, count)) || !reserve(front)) {
        return CALC_ERR_NOMEM;
    }
    if (calc_front_tree_dominates(front->tree, found->objective)) {
        return CALC_OK;
    }
    if (calc_front_tree_find(front->tree, found->objective, &slot)) {
        if (calc_found_compare(found, &front->item[slot]) < 0) {
            front->item[slot] = *found;
        }
        return CALC_OK;
    }
    calc_status status = calc_front_tree_add(front->tree, found->objective, &slot);
    if (status == CALC_OK) {
        front->item[slot] = *found;
        front->count = calc_front_tree_count(front->tree);
    }
    return status;
}

/* calc_front_merge() into a front without layouts. */
static calc_status copy(calc_front *front, const calc_front *from, const calc_front_key *key)
{
    calc_front_clear(front);
    if (front->capacity < from->count) {
        calc_found *item = realloc(front->item, from->count * sizeof *item);
        if (!item) {
            return CALC_ERR_NOMEM;
        }
        front->item = item;
        front->capacity = from->count;
    }
    for (size_t i = 0; i < from->count; i++) {
        front->item[i] = from->item[key[i].slot];
    }
    front->count = from->count;
    return CALC_OK;
}

calc_status calc_front_merge(calc_front *front, const calc_front *from, size_t count)
{
    if (from->count == 0) {
        return CALC_OK;
    }
    calc_front_key *key = keys_of(from);
    calc_status status = key ? CALC_OK : CALC_ERR_NOMEM;
    if (key && front->count == 0) {
        status = copy(front, from, key);
    } else {
        for (size_t i = 0; i < from->count && status == CALC_OK; i++) {
            status = calc_front_insert(front, &from->item[key[i].slot], count);
        }
    }
    free(key);
    return status;
}

static int compare_keys(const void *a, const void *b)
{
    const double *x = ((const calc_front_key *)a)->objective;
    const double *y = ((const calc_front_key *)b)->objective;
    size_t i = 0;
    while (i + 1 < CALC_MAX_OBJECTIVES && x[i] == y[i]) {
        i++;
    }
    return (x[i] > y[i]) - (x[i] < y[i]);
}

/* Move the layouts behind the first `count` places to those of the first that are free. */
static void close_gaps(calc_found *item, calc_front_key *key, size_t count, bool *taken)
{
    size_t gap = 0;
    for (size_t i = 0; i < count; i++) {
        if (key[i].slot < count) {
            taken[key[i].slot] = true;
        }
    }
    for (size_t i = 0; i < count; i++) {
        if (key[i].slot >= count) {
            while (taken[gap]) {
                gap++;
            }
            item[gap] = item[key[i].slot];
            key[i].slot = gap++;
        }
    }
}

/* Put the layouts in the order of their keys, cycle by cycle. */
static void put_in_order(calc_found *item, calc_front_key *key, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (key[i].slot == i) {
            continue;
        }
        calc_found first = item[i];
        size_t at = i;
        while (key[at].slot != i) {
            size_t next = key[at].slot;
            item[at] = item[next];
            key[at].slot = at;
            at = next;
        }
        item[at] = first;
        key[at].slot = at;
    }
}

calc_status calc_front_settle(calc_front *front)
{
    size_t count = front->count;
    calc_front_key *key = keys_of(front);
    bool *taken = calloc(count + 1, sizeof *taken);
    calc_status status = key && taken ? CALC_OK : CALC_ERR_NOMEM;
    if (status == CALC_OK) {
        qsort(key, count, sizeof *key, compare_keys);
        close_gaps(front->item, key, count, taken);
        put_in_order(front->item, key, count);
        calc_front_tree_free(front->tree);
        front->tree = NULL;
    }
    free(key);
    free(taken);
    return status;
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

static size_t most(size_t limit)
{
    size_t room = limit < ROOM ? limit : limit / 4 > ROOM ? limit / 4 : ROOM;
    return limit + room;
}

void calc_top_settle(calc_front *top, size_t limit)
{
    if (limit <= IN_ORDER || top->count == 0) {
        return;
    }
    qsort(top->item, top->count, sizeof *top->item, compare_best);
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

/* Of a long list only the first is in its place. */
static calc_status add(calc_front *top, const calc_found *found, size_t limit)
{
    if (found->objective[0] > calc_top_threshold(top, limit)) {
        return CALC_OK;
    }
    if (top->count == most(limit)) {
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
