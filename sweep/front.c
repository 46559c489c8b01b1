#include "front.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

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
    free(front->item);
    free(front->objective);
    *front = (calc_front){0};
}

void calc_front_clear(calc_front *front)
{
    front->count = 0;
    front->hit = 0;
    front->kept = 0;
}

static bool reserve(calc_front *front)
{
    if (front->count < front->capacity) {
        return true;
    }
    size_t capacity = front->capacity > 0 ? 2 * front->capacity : 16;
    calc_found *item = realloc(front->item, capacity * sizeof *item);
    if (!item) {
        return false;
    }
    front->item = item;
    double(*objective)[CALC_MAX_OBJECTIVES] =
        realloc(front->objective, capacity * sizeof *objective);
    if (!objective) {
        return false;
    }
    front->objective = objective;
    front->capacity = capacity;
    return true;
}

/* Put a layout at a position; those behind it move up. There must be room. */
static void put(calc_front *front, size_t at, const calc_found *found)
{
    size_t behind = front->count - at;
    memmove(&front->item[at + 1], &front->item[at], behind * sizeof *front->item);
    memmove(&front->objective[at + 1], &front->objective[at], behind * sizeof *front->objective);
    front->item[at] = *found;
    memcpy(front->objective[at], found->objective, sizeof found->objective);
    front->count++;
}

/* Order of the list: by objectives, then by layout. */
static int compare(const calc_found *a, const calc_found *b, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (a->objective[i] != b->objective[i]) {
            return a->objective[i] < b->objective[i] ? -1 : 1;
        }
    }
    return calc_found_compare(a, b);
}

/* Whether a is at least as good as b in all objectives. */
static inline bool no_worse(const double *a, const double *b, size_t count)
{
    bool fine = true;
    for (size_t i = 0; i < count; i++) {
        fine &= a[i] <= b[i];
    }
    return fine;
}

static inline bool equal(const double *a, const double *b, size_t count)
{
    bool same = true;
    for (size_t i = 0; i < count; i++) {
        same &= a[i] == b[i];
    }
    return same;
}

/* calc_front_dominates() for a number of objectives that the compiler knows. */
static inline bool dominates(calc_front *front, const double *objective, size_t count)
{
    const double(*have)[CALC_MAX_OBJECTIVES] =
        (const double(*)[CALC_MAX_OBJECTIVES])front->objective;
    if (front->hit < front->count && no_worse(have[front->hit], objective, count) &&
        !equal(have[front->hit], objective, count)) {
        return true;
    }
    /* The list is in order of the first objective: behind a worse one there is no better one. */
    for (size_t i = 0; i < front->count && have[i][0] <= objective[0]; i++) {
        if (no_worse(have[i], objective, count) && !equal(have[i], objective, count)) {
            front->hit = i;
            return true;
        }
    }
    return false;
}

bool calc_front_dominates(calc_front *front, const double *objective, size_t count)
{
    switch (count) {
    case 1:
        return dominates(front, objective, 1);
    case 2:
        return dominates(front, objective, 2);
    case 3:
        return dominates(front, objective, 3);
    default:
        return dominates(front, objective, CALC_MAX_OBJECTIVES);
    }
}

calc_status calc_front_insert(calc_front *front, const calc_found *found, size_t count)
{
    if (calc_front_dominates(front, found->objective, count)) {
        return CALC_OK;
    }
    if (!reserve(front)) {
        return CALC_ERR_NOMEM;
    }
    size_t kept = 0;
    size_t at = 0;
    for (size_t i = 0; i < front->count; i++) {
        const calc_found *old = &front->item[i];
        bool beaten = no_worse(found->objective, front->objective[i], count);
        if (beaten && equal(found->objective, front->objective[i], count) &&
            calc_found_compare(old, found) <= 0) {
            return CALC_OK; /* nothing was dropped before: an equal would have dropped it first */
        }
        if (beaten) {
            continue;
        }
        if (compare(old, found, count) < 0) {
            at = kept + 1;
        }
        if (kept != i) {
            front->item[kept] = *old;
            memcpy(front->objective[kept], front->objective[i], sizeof *front->objective);
        }
        kept++;
    }
    front->count = kept;
    put(front, at, found);
    return CALC_OK;
}

/* ---- The best by one objective --------------------------------------------------------------- */

/* A list that is longer than this is not kept in order, which would take time in proportion to its
 * length for each layout: it grows beyond its limit, and then the best of it are kept. */
enum { IN_ORDER = 1024, ROOM = 1 << 16 };

static size_t most(size_t limit)
{
    size_t room = limit < ROOM ? limit : limit / 4 > ROOM ? limit / 4 : ROOM;
    return limit + room;
}

static int compare_by_one(const void *a, const void *b)
{
    return compare(a, b, 1);
}

void calc_top_settle(calc_front *top, size_t limit)
{
    if (limit <= IN_ORDER || top->count == 0) {
        return;
    }
    qsort(top->item, top->count, sizeof *top->item, compare_by_one);
    size_t kept = 1;
    for (size_t i = 1; i < top->count && kept < limit; i++) {
        if (compare(&top->item[i], &top->item[kept - 1], 1) != 0) {
            top->item[kept] = top->item[i];
            kept++;
        }
    }
    for (size_t i = 0; i < kept; i++) {
        memcpy(top->objective[i], top->item[i].objective, sizeof *top->objective);
    }
    top->count = top->kept = kept;
}

double calc_top_threshold(const calc_front *top, size_t limit)
{
    size_t have = limit > IN_ORDER ? top->kept : top->count;
    return have < limit ? INFINITY : top->objective[limit - 1][0];
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
    if (found->objective[0] < top->objective[0][0]) {
        size_t last = top->count - 1;
        top->item[last] = top->item[0];
        memcpy(top->objective[last], top->objective[0], sizeof *top->objective);
        top->item[0] = *found;
        memcpy(top->objective[0], found->objective, sizeof *top->objective);
    }
    return CALC_OK;
}

calc_status calc_top_insert(calc_front *top, const calc_found *found, size_t limit)
{
    if (limit > IN_ORDER) {
        return add(top, found, limit);
    }
    size_t at = top->count;
    while (at > 0 && compare(found, &top->item[at - 1], 1) < 0) {
        at--;
    }
    bool there = at > 0 && compare(found, &top->item[at - 1], 1) == 0;
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
