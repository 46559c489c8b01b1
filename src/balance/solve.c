#include "balance/solve.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "balance/from_layout.h"
#include "base/clock.h"
#include "base/make.h"
#include "model/operators/processor.h"

enum { NODES_PER_EVALUATION = 10, LOOK = 256 };

/* Seconds between two looks at the clock where the simulation of a step takes long. */
#define LOOK_S 0.05

/* Relative difference that summing in another order may cause. */
#define SAME 4e-12

/* @param usual  evaluations if the options do not say how many */
static calc_balance_effort balance_effort_of(const calc_balance_options *o, int64_t usual)
{
    int64_t most = o->evaluations > 0 ? o->evaluations : usual;
    return (calc_balance_effort){
        .most_evaluations = most,
        .most_nodes = NODES_PER_EVALUATION * most,
        .until_s = o->time_limit_s > 0 ? calc_clock_s(CLOCK_MONOTONIC) + o->time_limit_s : INFINITY,
        .look_s = calc_clock_s(CLOCK_MONOTONIC) + LOOK_S, /* a moment is enough for some division */
        .gap = o->gap,
        .within = o->within,
        .stop = o->stop,
        .context = o->context,
    };
}

/* @param now_s  INFINITY: whoever counts does little and need not be asked each time */
static bool count(calc_balance_effort *e, int64_t *so_far, int64_t most, double now_s)
{
    e->spent = e->spent || *so_far == most;
    if (!e->spent && (++*so_far % LOOK == 0 || (now_s < INFINITY && now_s > e->look_s))) {
        now_s = calc_clock_s(CLOCK_MONOTONIC);
        e->look_s = now_s + LOOK_S;
        e->spent = now_s > e->until_s || (e->stop != NULL && e->stop(e->context));
    }
    return !e->spent;
}

bool calc_balance_effort_evaluation(calc_balance_effort *e)
{
    return count(e, &e->evaluations, e->most_evaluations, calc_clock_s(CLOCK_MONOTONIC));
}

static bool balance_effort_node(calc_balance_effort *e)
{
    return count(e, &e->nodes, e->most_nodes, INFINITY);
}

double calc_balance_effort_goal_s(const calc_balance_effort *e, double step_s)
{
    return step_s * (1 - SAME) * (1 - e->gap);
}

/* Limits on the divisions of the stages behind: few in a first pass, then as many as it takes. */
enum { FEW = 64, MANY = 4096 };

/* Steps that differ by less are equal. */
#define BRANCH_SAME 1e-12

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

static void shares(const calc_balance_line *l, const int *layers, calc_balance_share *out)
{
    int from = 0;
    for (int s = 0; s < l->stages; s++) {
        out[s] = calc_balance_line_choice(l, s, from, layers[s]).share;
        from += layers[s];
    }
}

/* At least what a division takes if more of its layers recompute, by which they hide more of the
 * reduction: they are on the stage where that is longest, if it is to be shorter. */
static double hidden_s(calc_balance_line *l, calc_balance_share *share)
{
    const calc_balance_problem *p = l->problem;
    calc_balance_room room = {0};
    double most_s = -1;
    int at = 0;
    for (int s = 0; s < l->stages; s++) {
        double reduction_s = calc_balance_end_of(p->chip, p, share, s).reduction_s;
        at = reduction_s > most_s ? s : at;
        most_s = calc_max(most_s, reduction_s);
    }
    int kind = share[at].full[0] < share[at].layers[0] ? 0 : 1;
    if (!p->may_full || p->alike_on_chip || share[at].full[kind] == share[at].layers[kind]) {
        return INFINITY;
    }
    share[at].full[kind]++;
    double step_s = calc_balance_step_s(p, share, &room);
    calc_balance_room_end(&room);
    for (int s = 0; s < l->stages; s++) {
        memcpy(share[s].full, share[s].layers, sizeof share[s].full);
    }
    return calc_balance_score_s(p, share, step_s);
}

/* Take a division if it is better. @return whether it is */
static bool balance_best_try(calc_balance_best *x, calc_balance_line *l, calc_balance_effort *e,
                             const int *layers)
{
    double step_s = calc_balance_line_s(l, layers);
    if (step_s == INFINITY) {
        return false;
    }
    if (l->problem->chip) {
        calc_balance_share share[CALC_BALANCE_STAGES] = {{{0}, {0}, {0}}};
        shares(l, layers, share);
        step_s = calc_balance_score_s(l->problem, share, step_s);
        x->open_s = calc_min(x->open_s, calc_min(step_s, hidden_s(l, share)));
    }
    calc_balance_effort_evaluation(e);
    if (x->any && step_s > x->step_s * (1 + BRANCH_SAME)) {
        return false;
    }
    double bytes = most_bytes(l, layers);
    if (x->any && step_s >= x->step_s * (1 - BRANCH_SAME) &&
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
        layers[from] -= n;
        layers[to] += n;
        if (balance_best_try(x, l, e, layers)) {
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
} tree;

static CALC_ORDER_BY(compare, child, least_s, layers)

/* Ways on from a stage, the most promising first; their number. */
static size_t grow(tree *t, int stage, int from, const calc_balance_before *before, size_t base)
{
    calc_balance_line *l = t->line;
    size_t end = base;
    for (int n = l->least[stage]; n <= l->most && from + n <= l->layers; n++) {
        calc_balance_option o = calc_balance_line_option(l, stage, from, n);
        if (o.fits ? o.terms.at_s[0] > t->best->step_s : l->grows) {
            break;
        }
        if (!o.fits) {
            continue;
        }
        child c = {.layers = n, .before = calc_balance_before_on(before, &o.terms)};
        c.least_s = calc_balance_bound_behind(t->bound, stage + 1, from + n, &c.before);
        if (c.least_s < INFINITY) {
            CALC_ADD(t->child, end, t->room, &c);
        }
    }
    if (end > base) {
        CALC_SORT(t->child + base, end - base, compare);
    }
    return end - base;
}

static void visit(tree *t, int stage, int from, const calc_balance_before *before, size_t base)
{
    if (stage == t->line->stages) {
        balance_best_try(t->best, t->line, t->effort, t->layers);
        return;
    }
    size_t count = grow(t, stage, from, before, base);
    for (size_t i = 0; i < count; i++) {
        child c = t->child[base + i];
        if (c.least_s > calc_balance_effort_goal_s(t->effort, t->best->step_s) ||
            !balance_effort_node(t->effort)) {
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

/* A lower bound of all divisions under the limits of the line that may be shorter than the best;
 * INFINITY if there is none.
 * @param layers  [stages], written: a division that has this bound or is close to it */
static double balance_branch_bound(calc_balance_line *l, const calc_balance_best *best, int *layers)
{
    calc_balance_bound b;
    calc_balance_bound_begin(&b, l);
    calc_balance_bound_find(&b, below_s(best), FEW);
    calc_balance_bound_layers(&b, layers);
    double least_s = b.least_s;
    calc_balance_bound_end(&b);
    return least_s;
}

static void search(calc_balance_line *l, calc_balance_effort *e, calc_balance_best *best,
                   calc_balance_bound *b)
{
    int layers[CALC_BALANCE_STAGES];
    calc_balance_bound_find(b, below_s(best), FEW);
    if (calc_balance_bound_layers(b, layers)) {
        balance_best_try(best, l, e, layers);
        move(l, e, best);
    }
    if (!b->exact && b->least_s <= calc_balance_effort_goal_s(e, below_s(best))) {
        calc_balance_bound_find(b, below_s(best), MANY);
    }
}

/* Search under the limits of the line, for divisions better than `best`.
 * @return no division under these limits takes less, unless it is as long as the best; INFINITY if
 *         none fits */
static double balance_branch(calc_balance_line *l, calc_balance_effort *e, calc_balance_best *best)
{
    int layers[CALC_BALANCE_STAGES];
    if (!calc_balance_line_even(l, layers)) {
        return INFINITY;
    }
    balance_best_try(best, l, e, layers);
    calc_balance_bound b;
    calc_balance_bound_begin(&b, l);
    search(l, e, best, &b);
    double least_s = INFINITY;
    if (best->any) {
        tree t = {.line = l, .bound = &b, .effort = e, .best = best, .open_s = INFINITY};
        calc_balance_before nothing = CALC_BALANCE_NOTHING_BEFORE;
        bool open = b.least_s <= calc_balance_effort_goal_s(e, best->step_s);
        if (open) {
            visit(&t, 0, 0, &nothing, 0);
        }
        least_s = calc_min(open ? t.open_s : b.least_s, best->step_s);
        free(t.child);
    }
    calc_balance_bound_end(&b);
    return least_s;
}

/* The shortest division of a line where stages on one chip recompute the same
 * number of layers in full: branching over ranges of these numbers. */

typedef struct box {
    calc_balance_range full[CALC_BALANCE_CHIPS];
} box;

typedef struct hunt {
    calc_balance_line *line;
    calc_balance_effort *effort;
    calc_balance_best *best;
    double open_s; /**< the least bound of what was discarded */
} hunt;

/* The choices of a chip's stages: those that do not recompute all their layers recompute at least
 * `fewest`. */
typedef struct chosen {
    int fewest, most;
} chosen;

static void choices(const hunt *h, const int *layers, chosen *of)
{
    for (int chip = 0; chip < CALC_BALANCE_CHIPS; chip++) {
        of[chip] = (chosen){CALC_BALANCE_MOST_LAYERS, 0};
    }
    int from = 0;
    for (int s = 0; s < h->line->stages; s++) {
        calc_balance_share x = calc_balance_line_choice(h->line, s, from, layers[s]).share;
        chosen *c = &of[h->line->problem->stage[s].chip];
        int full = x.full[0] + x.full[1];
        c->most = full > c->most ? full : c->most;
        if (full < layers[s] && full < c->fewest) {
            c->fewest = full;
        }
        from += layers[s];
    }
}

/* The chip with a choice whose stages differ most; -1 if no chip has a choice. */
static int widest(const box *b, const chosen *of)
{
    int found = -1;
    for (int chip = 0; chip < CALC_BALANCE_CHIPS; chip++) {
        if (b->full[chip].least < b->full[chip].most &&
            (found < 0 || of[chip].most - of[chip].fewest > of[found].most - of[found].fewest)) {
            found = chip;
        }
    }
    return found;
}

static void alike_visit(hunt *h, box b);

/* @return false if no chip has a choice */
static bool halve(hunt *h, box b, const int *layers)
{
    chosen of[CALC_BALANCE_CHIPS];
    choices(h, layers, of);
    int chip = widest(&b, of);
    if (chip < 0) {
        return false;
    }
    /* The division where all stages recompute as many as the fullest one. */
    box one = b;
    for (int i = 0; i < CALC_BALANCE_CHIPS; i++) {
        one.full[i] = (calc_balance_range){of[i].most, of[i].most};
    }
    calc_balance_line_limit(h->line, one.full, 0);
    balance_best_try(h->best, h->line, h->effort, layers);
    const chosen *c = &of[chip];
    const calc_balance_range r = b.full[chip];
    int at = c->fewest < c->most ? c->fewest + (c->most - c->fewest) / 2 : c->most - 1;
    at = at > r.least ? at : r.least;
    at = at < r.most ? at : r.most - 1; /* the last number of the lower half */
    box low = b;
    box high = b;
    low.full[chip].most = at;
    high.full[chip].least = at + 1;
    alike_visit(h, high);
    alike_visit(h, low);
    return true;
}

static void alike_visit(hunt *h, box b)
{
    calc_balance_line_limit(h->line, b.full, 0);
    int layers[CALC_BALANCE_STAGES];
    double least_s = balance_branch_bound(h->line, h->best, layers);
    if (least_s == INFINITY) {
        return;
    }
    if (least_s > calc_balance_effort_goal_s(h->effort, below_s(h->best)) ||
        !balance_effort_node(h->effort)) {
        h->open_s = calc_min(h->open_s, least_s);
    } else if (!halve(h, b, layers)) {
        h->open_s = calc_min(h->open_s, balance_branch(h->line, h->effort, h->best));
    }
}

/* Search. Within a range every stage chooses its own number: that bounds the divisions where all
 * have the same, and shows where to halve the range. The limits of the line are changed.
 * @return as balance_branch() */
static double balance_alike(calc_balance_line *l, calc_balance_effort *e, calc_balance_best *best)
{
    const calc_balance_problem *p = l->problem;
    box all = {{{0, 0}}};
    for (int s = 0; s < l->stages && p->may_full; s++) {
        all.full[p->stage[s].chip].most = l->most;
    }
    hunt h = {.line = l, .effort = e, .best = best, .open_s = INFINITY};
    alike_visit(&h, all);
    return calc_min(h.open_s, below_s(best));
}

/* Steps simulated, if the options do not say how many: those with chunks take longer. */
enum { OF_LINE = 200000, OF_CHUNKS = 20000 };

/* ---- One chunk per stage ----------------------------------------------------------------------*/

/* Memory that every stage may need beside its limit, as little as lets a division fit, and the
 * stage that needs it. */
static void miss(calc_balance_line *l, calc_balance_solution *out)
{
    calc_balance_range full[CALC_BALANCE_CHIPS];
    for (int chip = 0; chip < CALC_BALANCE_CHIPS; chip++) {
        full[chip] = CALC_BALANCE_ANY;
    }
    int layers[CALC_BALANCE_STAGES];
    double low_bytes = 0;
    double high_bytes = 1;
    do {
        high_bytes *= 2;
        calc_balance_line_limit(l, full, high_bytes);
    } while (!calc_balance_line_fits(l, layers) && high_bytes < INFINITY);
    if (high_bytes == INFINITY) {
        return; /* more or fewer layers than stages may have */
    }
    for (int i = 0; i < 60; i++) {
        double bytes = (low_bytes + high_bytes) / 2;
        calc_balance_line_limit(l, full, bytes);
        int tried[CALC_BALANCE_STAGES];
        if (calc_balance_line_fits(l, tried)) {
            high_bytes = bytes;
            memcpy(layers, tried, sizeof layers);
        } else {
            low_bytes = bytes;
        }
    }
    calc_balance_line_limit(l, full, high_bytes);
    double worst_bytes = -INFINITY;
    int from = 0;
    for (int s = 0; s < l->stages; s++) {
        calc_balance_choice c = calc_balance_line_choice(l, s, from, layers[s]);
        if (c.bytes - l->problem->stage[s].limit_bytes > worst_bytes) {
            worst_bytes = c.bytes - l->problem->stage[s].limit_bytes;
            out->stage = s;
            out->needs_bytes = c.bytes;
        }
        from += layers[s];
    }
}

static void solve_line(const calc_balance_problem *p, calc_balance_effort *e,
                       calc_balance_solution *out)
{
    calc_balance_line l;
    calc_balance_line_begin(&l, p);
    calc_balance_best best = {.open_s = INFINITY};
    double least_s = p->alike_on_chip ? balance_alike(&l, e, &best) : balance_branch(&l, e, &best);
    out->feasible = best.any;
    out->bound_s = calc_min(least_s, best.open_s);
    if (best.any) {
        calc_balance_line_limit(&l, best.full, 0);
        shares(&l, best.layers, out->share);
    } else {
        miss(&l, out);
    }
    calc_balance_line_end(&l);
}

/* ---- All --------------------------------------------------------------------------------------*/

calc_status calc_balance_solve(const calc_balance_problem *p, const calc_balance_options *options,
                               calc_balance_solution *out)
{
    memset(out, 0, sizeof *out);
    out->stage = -1;
    if (calc_schedule_check(&p->shape) != CALC_SCHEDULE_OK) {
        return CALC_ERR_RULE;
    }
    bool line = p->shape.chunks == 1;
    calc_balance_effort e = balance_effort_of(options, line ? OF_LINE : OF_CHUNKS);
    double below_s = options->below_s > 0 ? options->below_s : INFINITY;
    if (line) {
        solve_line(p, &e, out);
    } else {
        calc_balance_chunks(p, &e, below_s, out);
    }
    if (out->feasible) {
        calc_balance_evaluate(p, out->share, &out->answer);
    }
    out->evaluations = e.evaluations;
    out->score_s =
        out->feasible ? calc_balance_score_s(p, out->share, out->answer.step_s) : INFINITY;
    if (out->bound_s >= out->score_s * (1 - SAME)) {
        out->bound_s = out->score_s;
    }
    out->proven = out->bound_s >= calc_balance_effort_goal_s(&e, out->score_s);
    return CALC_OK;
}
