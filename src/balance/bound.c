#include "balance/bound.h"

#include <math.h>
#include <stdlib.h>

#include "model/operators/processor.h"

/* Relative difference that summing in another order may cause. */
#define SAME 1e-13

calc_balance_before calc_balance_before_on(const calc_balance_before *x,
                                           const calc_balance_terms *t)
{
    calc_balance_before y = {.down_s = x->down_s + t->down_s};
    for (int k = 0; k < CALC_BALANCE_VISITS; k++) {
        y.at_s[k] = calc_max(x->at_s[k] + k * t->around_s, x->down_s + t->at_s[k]);
    }
    return y;
}

static double path_s(const calc_balance_before *x, const calc_balance_behind *d)
{
    double s = calc_max(x->down_s + d->at_s, x->at_s[0]);
    for (int k = 1; k < CALC_BALANCE_VISITS; k++) {
        s = calc_max(s, x->at_s[k] + k * d->around_s);
    }
    return s;
}

static calc_balance_behind behind_on(const calc_balance_behind *d, const calc_balance_terms *t,
                                     int layers, int next)
{
    double at_s = t->down_s + d->at_s;
    for (int k = 0; k < CALC_BALANCE_VISITS; k++) {
        at_s = calc_max(at_s, t->at_s[k] + k * d->around_s);
    }
    return (calc_balance_behind){
        .around_s = d->around_s + t->around_s,
        .at_s = at_s,
        .layers = layers,
        .next = next,
    };
}

static int64_t state(const calc_balance_bound *b, int stage, int from)
{
    return (int64_t)stage * (b->line->layers + 1) + from;
}

calc_status calc_balance_bound_begin(calc_balance_bound *b, calc_balance_line *l)
{
    size_t states = (size_t)(l->stages + 1) * (size_t)(l->layers + 1);
    *b = (calc_balance_bound){
        .line = l,
        .before = malloc(states * sizeof *b->before),
        .first = malloc(states * sizeof *b->first),
        .count = malloc(states * sizeof *b->count),
    };
    return b->before != NULL && b->first != NULL && b->count != NULL ? CALC_OK : CALC_ERR_NOMEM;
}

void calc_balance_bound_end(calc_balance_bound *b)
{
    free(b->before);
    free(b->first);
    free(b->count);
    free(b->behind);
    free(b->scratch);
    *b = (calc_balance_bound){0};
}

/* ---- Stages before ----------------------------------------------------------------------------*/

/* The most layers that a stage may take of those from `from` on. */
static int most_of(const calc_balance_line *l, int stage, int from)
{
    int most = l->layers - from - (l->stages - 1 - stage) * l->least;
    return most < l->most ? most : l->most;
}

static void merge(calc_balance_before *to, const calc_balance_before *x)
{
    to->down_s = calc_min(to->down_s, x->down_s);
    for (int k = 0; k < CALC_BALANCE_VISITS; k++) {
        to->at_s[k] = calc_min(to->at_s[k], x->at_s[k]);
    }
}

static bool below(const calc_balance_before *x, double below_s)
{
    return calc_max(x->at_s[0], calc_max(x->at_s[1], x->at_s[2])) <= below_s;
}

static void go_forward(calc_balance_bound *b, double below_s)
{
    calc_balance_line *l = b->line;
    const calc_balance_before none = {INFINITY, {INFINITY, INFINITY, INFINITY}};
    for (int64_t i = 0; i < state(b, l->stages + 1, 0); i++) {
        b->before[i] = none;
    }
    b->before[0] = CALC_BALANCE_NOTHING_BEFORE;
    for (int s = 0; s < l->stages; s++) {
        for (int from = 0; from <= l->layers; from++) {
            const calc_balance_before *x = &b->before[state(b, s, from)];
            int most = x->down_s < INFINITY ? most_of(l, s, from) : -1;
            for (int n = l->least; n <= most; n++) {
                calc_balance_option o = calc_balance_line_option(l, s, from, n);
                if (!o.fits || o.terms.at_s[0] > below_s) {
                    break;
                }
                calc_balance_before y = calc_balance_before_on(x, &o.terms);
                if (below(&y, below_s)) {
                    merge(&b->before[state(b, s + 1, from + n)], &y);
                }
            }
        }
    }
}

/* ---- Stages behind ----------------------------------------------------------------------------*/

static bool reserve(calc_balance_behind **at, size_t *room, size_t count)
{
    if (count <= *room) {
        return true;
    }
    size_t more = count > 2 * *room ? count : 2 * *room;
    calc_balance_behind *grown = realloc(*at, more * sizeof *grown);
    if (grown == NULL) {
        return false;
    }
    *at = grown;
    *room = more;
    return true;
}

static int compare(const void *a, const void *b)
{
    const calc_balance_behind *x = a;
    const calc_balance_behind *y = b;
    if (x->around_s != y->around_s) {
        return x->around_s < y->around_s ? -1 : 1;
    }
    if (x->at_s != y->at_s) {
        return x->at_s < y->at_s ? -1 : 1;
    }
    return x->layers - y->layers;
}

/* Every way to divide the layers from `from` on, combined with the divisions of the rest. */
static int64_t gather(calc_balance_bound *b, int stage, int from, double below_s)
{
    calc_balance_line *l = b->line;
    const calc_balance_before *x = &b->before[state(b, stage, from)];
    size_t count = 0;
    int most = x->down_s < INFINITY ? most_of(l, stage, from) : -1;
    for (int n = l->least; n <= most; n++) {
        calc_balance_option o = calc_balance_line_option(l, stage, from, n);
        if (!o.fits || o.terms.at_s[0] > below_s) {
            break;
        }
        int64_t rest = state(b, stage + 1, from + n);
        if (!reserve(&b->scratch, &b->scratch_room, count + (size_t)b->count[rest])) {
            return -1;
        }
        for (int i = 0; i < b->count[rest]; i++) {
            int next = b->first[rest] + i;
            calc_balance_behind d = behind_on(&b->behind[next], &o.terms, n, next);
            if (path_s(x, &d) <= below_s) {
                b->scratch[count++] = d;
            }
        }
    }
    return (int64_t)count;
}

/* Keep those that no other dominates; the first `count` of scratch. */
static int64_t best_of(calc_balance_bound *b, int64_t count)
{
    qsort(b->scratch, (size_t)count, sizeof *b->scratch, compare);
    int64_t kept = 0;
    for (int64_t i = 0; i < count; i++) {
        const calc_balance_behind *d = &b->scratch[i];
        if (kept == 0 || d->at_s < b->scratch[kept - 1].at_s * (1 - SAME)) {
            b->scratch[kept++] = *d;
        }
    }
    return kept;
}

static int64_t merged(calc_balance_bound *b, int64_t count, int64_t most)
{
    if (count <= most) {
        return count;
    }
    b->exact = false;
    for (int64_t i = 0; i < most; i++) {
        calc_balance_behind d = b->scratch[i * count / most];
        d.at_s = b->scratch[(i + 1) * count / most - 1].at_s;
        b->scratch[i] = d;
    }
    return most;
}

calc_status calc_balance_bound_find(calc_balance_bound *b, double below_s, int most)
{
    calc_balance_line *l = b->line;
    b->used = 0;
    b->exact = true;
    b->least_s = INFINITY;
    go_forward(b, below_s);
    for (int s = l->stages; s >= 0; s--) {
        for (int from = 0; from <= l->layers; from++) {
            int64_t count = 0;
            if (s == l->stages && from == l->layers) {
                count = reserve(&b->scratch, &b->scratch_room, 1) ? 1 : -1;
                if (count == 1) {
                    b->scratch[0] = (calc_balance_behind){0, -INFINITY, 0, -1};
                }
            } else if (s < l->stages) {
                count = gather(b, s, from, below_s);
            }
            if (count > 1) {
                count = merged(b, best_of(b, count), most);
            }
            if (count < 0 || !reserve(&b->behind, &b->room, b->used + (size_t)count)) {
                return CALC_ERR_NOMEM;
            }
            b->first[state(b, s, from)] = (int32_t)b->used;
            b->count[state(b, s, from)] = (int32_t)count;
            for (int64_t i = 0; i < count; i++) {
                b->behind[b->used++] = b->scratch[i];
            }
        }
    }
    b->least_s = calc_balance_bound_behind(b, 0, 0, &CALC_BALANCE_NOTHING_BEFORE);
    return CALC_OK;
}

/* Index of the best division behind these stages, -1 if there is none. */
static int best_behind(const calc_balance_bound *b, int stage, int from,
                       const calc_balance_before *before, double *least_s)
{
    int64_t at = state(b, stage, from);
    int best = -1;
    *least_s = INFINITY;
    for (int i = b->first[at]; i < b->first[at] + b->count[at]; i++) {
        double s = path_s(before, &b->behind[i]);
        if (s < *least_s) {
            *least_s = s;
            best = i;
        }
    }
    return best;
}

double calc_balance_bound_behind(const calc_balance_bound *b, int stage, int from,
                                 const calc_balance_before *before)
{
    double least_s;
    best_behind(b, stage, from, before, &least_s);
    return least_s;
}

bool calc_balance_bound_layers(const calc_balance_bound *b, int *layers)
{
    calc_balance_before nothing = CALC_BALANCE_NOTHING_BEFORE;
    double least_s;
    int at = best_behind(b, 0, 0, &nothing, &least_s);
    if (at < 0) {
        return false;
    }
    for (int s = 0; s < b->line->stages; s++) {
        layers[s] = b->behind[at].layers;
        at = b->behind[at].next;
    }
    return true;
}
