#include "balance/alike.h"

#include <math.h>
#include <string.h>

#include "model/operators/processor.h"

typedef struct box {
    calc_balance_range full[CALC_BALANCE_CHIPS];
} box;

typedef struct hunt {
    calc_balance_line *line;
    calc_balance_effort *effort;
    calc_balance_best *best;
    double open_s; /**< the least bound of what was discarded */
    calc_status status;
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

/* The last number of the lower half. */
static int middle(calc_balance_range r, chosen of)
{
    int at = of.fewest < of.most ? of.fewest + (of.most - of.fewest) / 2 : of.most - 1;
    at = at > r.least ? at : r.least;
    return at < r.most ? at : r.most - 1;
}

static void leave(hunt *h, double least_s)
{
    h->open_s = calc_min(h->open_s, least_s);
}

static void visit(hunt *h, box b);

static void halve(hunt *h, box b, const int *layers)
{
    chosen of[CALC_BALANCE_CHIPS];
    choices(h, layers, of);
    /* The division where all stages recompute as many as the fullest one. */
    box one = b;
    for (int chip = 0; chip < CALC_BALANCE_CHIPS; chip++) {
        one.full[chip] = (calc_balance_range){of[chip].most, of[chip].most};
    }
    calc_balance_line_limit(h->line, one.full, 0);
    calc_balance_best_try(h->best, h->line, h->effort, layers);
    int chip = widest(&b, of);
    int at = middle(b.full[chip], of[chip]);
    box low = b;
    box high = b;
    low.full[chip].most = at;
    high.full[chip].least = at + 1;
    visit(h, high);
    visit(h, low);
}

static bool settled(const box *b)
{
    for (int chip = 0; chip < CALC_BALANCE_CHIPS; chip++) {
        if (b->full[chip].least < b->full[chip].most) {
            return false;
        }
    }
    return true;
}

static void visit(hunt *h, box b)
{
    if (h->status != CALC_OK) {
        return;
    }
    calc_balance_line_limit(h->line, b.full, 0);
    int layers[CALC_BALANCE_STAGES];
    double least_s;
    h->status = calc_balance_branch_bound(h->line, h->best, layers, &least_s);
    if (h->status != CALC_OK || least_s == INFINITY) {
        return;
    }
    double best_s = h->best->any ? h->best->step_s : INFINITY;
    if (least_s > calc_balance_effort_goal_s(h->effort, best_s) ||
        !calc_balance_effort_node(h->effort)) {
        leave(h, least_s);
    } else if (settled(&b)) {
        h->status = calc_balance_branch(h->line, h->effort, h->best, &least_s);
        leave(h, least_s);
    } else {
        halve(h, b, layers);
    }
}

calc_status calc_balance_alike(calc_balance_line *l, calc_balance_effort *e,
                               calc_balance_best *best, double *least_s)
{
    const calc_balance_problem *p = l->problem;
    box all = {{{0, 0}}};
    for (int s = 0; s < l->stages && p->may_full; s++) {
        all.full[p->stage[s].chip].most = l->most;
    }
    hunt h = {.line = l, .effort = e, .best = best, .open_s = INFINITY, .status = CALC_OK};
    visit(&h, all);
    *least_s = best->any ? calc_min(h.open_s, best->step_s) : h.open_s;
    return h.status;
}
