#include "balance/branch.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "model/operators/processor.h"

/* Limits on the divisions of the stages behind: few in a first pass, then as many as it takes. */
enum { FEW = 64, MANY = 4096 };

/* Steps that differ by less are equal. */
#define SAME 1e-12

/* ---- The best so far --------------------------------------------------------------------------*/

static double most_bytes(const calc_balance_line *l, const int *layers)
{
    double bytes = 0;
    int from = 0;
    for (int s = 0; s < l->stages; s++) {
        bytes = calc_max(bytes, calc_balance_line_choice(l, s, from, layers[s]).bytes);
        from += layers[s];
    }
    return bytes;
}

static bool fewer_first(const int *a, const int *b, int stages)
{
    int s = 0;
    while (s < stages - 1 && a[s] == b[s]) {
        s++;
    }
    return a[s] < b[s];
}

bool calc_balance_best_try(calc_balance_best *x, calc_balance_line *l, calc_balance_effort *e,
                           const int *layers)
{
    double step_s = calc_balance_line_s(l, layers);
    if (step_s == INFINITY) {
        return false;
    }
    calc_balance_effort_evaluation(e);
    if (x->any && step_s > x->step_s * (1 + SAME)) {
        return false;
    }
    double bytes = most_bytes(l, layers);
    if (x->any && step_s >= x->step_s * (1 - SAME) &&
        (bytes > x->most_bytes ||
         (bytes == x->most_bytes && !fewer_first(layers, x->layers, l->stages)))) {
        return false;
    }
    x->any = true;
    x->step_s = step_s;
    x->most_bytes = bytes;
    memcpy(x->layers, layers, (size_t)l->stages * sizeof *layers);
    memcpy(x->full, l->full, sizeof x->full);
    return true;
}

/* ---- Moves ------------------------------------------------------------------------------------*/

/* One or two layers from a stage to another, until no move is better. */
static void move(calc_balance_line *l, calc_balance_effort *e, calc_balance_best *x)
{
    int layers[CALC_BALANCE_STAGES];
    memcpy(layers, x->layers, sizeof layers);
    /* Moves since the last one that was better. */
    int idle = 0;
    int all = l->stages * l->stages * 2;
    for (int i = 0; idle < all && !e->spent; i = (i + 1) % all, idle++) {
        int from = i / 2 / l->stages;
        int to = i / 2 % l->stages;
        int n = 1 + i % 2;
        if (from == to) {
            continue;
        }
        layers[from] -= n;
        layers[to] += n;
        if (calc_balance_best_try(x, l, e, layers)) {
            idle = 0;
        } else {
            layers[from] += n;
            layers[to] -= n;
        }
    }
}

/* ---- Branches ---------------------------------------------------------------------------------*/

typedef struct child {
    double least_s;
    int layers;
    calc_balance_before before;
} child;

typedef struct tree {
    calc_balance_line *line;
    const calc_balance_bound *bound;
    calc_balance_effort *effort;
    calc_balance_best *best;
    int layers[CALC_BALANCE_STAGES];
    child *child; /**< of the stages on the way, one after the other */
    size_t room;
    double open_s; /**< the least bound of what was discarded */
    bool no_memory;
} tree;

static int compare(const void *a, const void *b)
{
    const child *x = a;
    const child *y = b;
    if (x->least_s != y->least_s) {
        return x->least_s < y->least_s ? -1 : 1;
    }
    return x->layers - y->layers;
}

static bool reserve(tree *t, size_t count)
{
    if (count > t->room) {
        child *grown = realloc(t->child, 2 * count * sizeof *grown);
        if (grown == NULL) {
            t->no_memory = true;
            t->effort->spent = true;
            return false;
        }
        t->child = grown;
        t->room = 2 * count;
    }
    return true;
}

/* Ways on from a stage, the most promising first; their number. */
static size_t grow(tree *t, int stage, int from, const calc_balance_before *before, size_t base)
{
    calc_balance_line *l = t->line;
    size_t count = 0;
    for (int n = l->least; n <= l->most && from + n <= l->layers; n++) {
        calc_balance_option o = calc_balance_line_option(l, stage, from, n);
        if (!o.fits || o.terms.at_s[0] > t->best->step_s) {
            break;
        }
        child c = {.layers = n, .before = calc_balance_before_on(before, &o.terms)};
        c.least_s = calc_balance_bound_behind(t->bound, stage + 1, from + n, &c.before);
        if (c.least_s < INFINITY && reserve(t, base + count + 1)) {
            t->child[base + count++] = c;
        }
    }
    if (count > 0) {
        qsort(t->child + base, count, sizeof *t->child, compare);
    }
    return count;
}

static void visit(tree *t, int stage, int from, const calc_balance_before *before, size_t base)
{
    if (stage == t->line->stages) {
        calc_balance_best_try(t->best, t->line, t->effort, t->layers);
        return;
    }
    size_t count = grow(t, stage, from, before, base);
    for (size_t i = 0; i < count; i++) {
        child c = t->child[base + i];
        if (c.least_s > calc_balance_effort_goal_s(t->effort, t->best->step_s) ||
            !calc_balance_effort_node(t->effort)) {
            t->open_s = calc_min(t->open_s, c.least_s);
            return;
        }
        t->layers[stage] = c.layers;
        visit(t, stage + 1, from + c.layers, &c.before, base + count);
    }
}

/* ---- All --------------------------------------------------------------------------------------*/

static double below_s(const calc_balance_best *x)
{
    return x->any ? x->step_s : INFINITY;
}

calc_status calc_balance_branch_bound(calc_balance_line *l, const calc_balance_best *best,
                                      int *layers, double *least_s)
{
    calc_balance_bound b;
    calc_status status = calc_balance_bound_begin(&b, l);
    if (status == CALC_OK) {
        status = calc_balance_bound_find(&b, below_s(best), FEW);
        *least_s = b.least_s;
    }
    if (status == CALC_OK) {
        calc_balance_bound_layers(&b, layers);
    }
    calc_balance_bound_end(&b);
    return status;
}

static calc_status search(calc_balance_line *l, calc_balance_effort *e, calc_balance_best *best,
                          calc_balance_bound *b)
{
    int layers[CALC_BALANCE_STAGES];
    calc_status status = calc_balance_bound_find(b, below_s(best), FEW);
    if (status == CALC_OK && calc_balance_bound_layers(b, layers)) {
        calc_balance_best_try(best, l, e, layers);
        move(l, e, best);
    }
    bool open = b->least_s <= calc_balance_effort_goal_s(e, below_s(best));
    if (status == CALC_OK && open && !b->exact) {
        status = calc_balance_bound_find(b, below_s(best), MANY);
    }
    return status;
}

calc_status calc_balance_branch(calc_balance_line *l, calc_balance_effort *e,
                                calc_balance_best *best, double *least_s)
{
    *least_s = INFINITY;
    int layers[CALC_BALANCE_STAGES];
    if (!calc_balance_line_even(l, layers)) {
        return CALC_OK;
    }
    calc_balance_best_try(best, l, e, layers);
    calc_balance_bound b;
    calc_status status = calc_balance_bound_begin(&b, l);
    if (status == CALC_OK) {
        status = search(l, e, best, &b);
    }
    if (status == CALC_OK && best->any) {
        tree t = {.line = l, .bound = &b, .effort = e, .best = best, .open_s = INFINITY};
        calc_balance_before nothing = CALC_BALANCE_NOTHING_BEFORE;
        if (b.least_s <= calc_balance_effort_goal_s(e, best->step_s)) {
            visit(&t, 0, 0, &nothing, 0);
            *least_s = calc_min(t.open_s, best->step_s);
        } else {
            *least_s = calc_min(b.least_s, best->step_s);
        }
        free(t.child);
        status = t.no_memory ? CALC_ERR_NOMEM : CALC_OK;
    }
    calc_balance_bound_end(&b);
    return status;
}
