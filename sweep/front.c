#include "front.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/buffer.h"
#include "front_tree.h"
#include "space.h"

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
    const calc_exec x = calc_found_exec(a);
    const calc_exec y = calc_found_exec(b);
    return calc_axis_compare(&x, &y);
}

void calc_front_clear(calc_front *front)
{
    calc_front_tree_free(front->tree);
    *front = (calc_front){.item = front->item, .capacity = front->capacity};
}

void calc_front_free(calc_front *front)
{
    calc_front_clear(front);
    free(front->item);
    *front = (calc_front){0};
}

/* ---- The front ------------------------------------------------------------------------------- */

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

/* Room for as many layouts, and some to grow. */
static bool make_room(calc_front *front, size_t count)
{
    if (count <= front->capacity) {
        return true;
    }
    size_t room = count + front->capacity / 2 + 8;
    calc_found *grown = realloc(front->item, room * sizeof *grown);
    if (!grown) {
        return false;
    }
    front->item = grown;
    front->capacity = room;
    return true;
}

/* Begin to add to a front that is settled. */
static bool plant(calc_front *front, size_t count)
{
    calc_front_key *key = malloc((front->count + 1) * sizeof *key);
    if (!key) {
        return false;
    }
    for (size_t i = 0; i < front->count; i++) {
        key[i].slot = i;
        memcpy(key[i].objective, front->item[i].objective, sizeof key[i].objective);
    }
    front->tree = calc_front_tree_create(key, front->count, count);
    free(key);
    return front->tree != NULL;
}

double (*calc_front_objectives(const calc_front *front))[CALC_MAX_OBJECTIVES]
{
    calc_front_key *key = malloc((front->count + 1) * sizeof *key);
    double(*list)[CALC_MAX_OBJECTIVES] = malloc((front->count + 1) * sizeof *list);
    if (!key || !list) {
        free(key);
        free(list);
        return NULL;
    }
    if (front->tree) {
        calc_front_tree_list(front->tree, key);
    }
    for (size_t i = 0; i < front->count; i++) {
        memcpy(list[i], front->tree ? key[i].objective : front->item[i].objective, sizeof list[i]);
    }
    free(key);
    return list;
}

calc_status calc_front_insert(calc_front *front, const calc_found *found, size_t count)
{
    size_t slot;
    if (!front->tree && !plant(front, count)) {
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
    /* Slots are used again: there are no more of them than layouts at a time. */
    calc_status status = make_room(front, front->count + 1) ? CALC_OK : CALC_ERR_NOMEM;
    if (status == CALC_OK) {
        status = calc_front_tree_add(front->tree, found->objective, &slot);
    }
    if (status == CALC_OK) {
        front->item[slot] = *found;
        front->count = calc_front_tree_count(front->tree);
    }
    return status;
}

calc_status calc_front_merge(calc_front *front, const calc_front *from, size_t count)
{
    calc_front_key *key = from->tree ? malloc((from->count + 1) * sizeof *key) : NULL;
    if (from->tree && !key) {
        return CALC_ERR_NOMEM;
    }
    if (key) {
        calc_front_tree_list(from->tree, key);
    }
    calc_status status = CALC_OK;
    for (size_t i = 0; i < from->count && status == CALC_OK; i++) {
        status = calc_front_insert(front, &from->item[key ? key[i].slot : i], count);
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
    return (x[i] > y[i]) - (x[i] < y[i]);
}

static int compare_slots(const void *a, const void *b)
{
    size_t x = ((const calc_front_key *)a)->slot;
    size_t y = ((const calc_front_key *)b)->slot;
    return (x > y) - (x < y);
}

calc_status calc_front_settle(calc_front *front)
{
    if (!front->tree) {
        return CALC_OK;
    }
    calc_front_key *key = malloc((front->count + 1) * sizeof *key);
    if (!key) {
        return CALC_ERR_NOMEM;
    }
    size_t count = front->count;
    calc_front_tree_list(front->tree, key);
    qsort(key, count, sizeof *key, compare_slots);
    for (size_t i = 0; i < count; i++) { /* slots ascend: none is overwritten before it is read */
        front->item[i] = front->item[key[i].slot];
    }
    free(key);
    calc_front_tree_free(front->tree);
    front->tree = NULL;
    if (count > 0) {
        qsort(front->item, count, sizeof *front->item, compare_objectives);
    }
    return CALC_OK;
}

/* ---- The best by one objective --------------------------------------------------------------- */

/* Room for one layout more. */
static bool reserve(calc_front *top)
{
    calc_found *item = calc_grown(top->item, top->count, &top->capacity, sizeof *top->item);
    top->item = item ? item : top->item;
    return item != NULL;
}

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

/* In a long list only the first is in its place. */
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
