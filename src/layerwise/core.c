#include "layerwise/core.h"

#include <math.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "base/buffer.h"
#include "base/make.h"

enum { KINDS = CALC_LAYERWISE_KINDS, GROUPS = CALC_LAYERWISE_GROUPS, PICKS = CALC_LAYERWISE_PICKS };

static bool beats(const calc_layerwise_item *a, const calc_layerwise_item *b)
{
    return a->group == b->group && a->x <= b->x && a->y <= b->y && a->bytes <= b->bytes;
}

/* Enter an item unless another is as good; remove those that it dominates. */
static void enter(calc_layerwise_core *core, int k, calc_layerwise_item item, bool every)
{
    calc_layerwise_item *list = core->item[k];
    int kept = 0;
    if (every) {
        list[core->items[k]++] = item;
        return;
    }
    for (int i = 0; i < core->items[k]; i++) {
        if (beats(&list[i], &item)) {
            return;
        }
    }
    for (int i = 0; i < core->items[k]; i++) {
        if (!beats(&item, &list[i])) {
            list[kept++] = list[i];
        }
    }
    list[kept++] = item;
    core->items[k] = kept;
}

/* The first group from which a group costs nothing. */
static int first_like(const calc_layerwise_stage *stage, int group)
{
    for (int g = 0; g < group && stage->switch_s; g++) {
        if (stage->switch_s[g * stage->groups + group] == 0) {
            return g;
        }
    }
    return stage->switch_s ? group : 0;
}

void calc_layerwise_core_make(calc_layerwise_core *core, const calc_layerwise_stage *stage,
                              calc_layerwise_values values, double micro_weight, double sync_weight)
{
    core->stage = stage;
    core->groups = stage->switch_s && stage->groups > 1 ? stage->groups : 1;
    core->x_per_switch_s = values == CALC_LAYERWISE_MICRO_AND_SYNC ? 1 : micro_weight;
    core->before = stage->switch_s && stage->before ? first_like(stage, stage->before - 1) : -1;
    core->behind = stage->switch_s && stage->behind ? first_like(stage, stage->behind - 1) : -1;
    for (int g = 0; g < core->groups; g++) {
        for (int h = 0; h < core->groups; h++) {
            core->switch_s[g][h] = core->groups > 1 ? stage->switch_s[g * stage->groups + h] : 0;
        }
    }
    for (int k = 0; k < stage->kinds; k++) {
        core->items[k] = 0;
        for (int i = 0; i < stage->kind[k].options; i++) {
            const calc_layerwise_option *option = &stage->kind[k].option[i];
            double time_s = micro_weight * option->micro_s + sync_weight * option->sync_s;
            bool both = values == CALC_LAYERWISE_MICRO_AND_SYNC;
            enter(core, k,
                  (calc_layerwise_item){
                      .x = both ? option->micro_s : time_s,
                      .y = both                                      ? option->sync_s
                           : values == CALC_LAYERWISE_TIME_AND_BYTES ? option->bytes
                                                                     : 0,
                      .bytes = option->bytes,
                      .option = (int16_t)i,
                      .group = (int16_t)first_like(stage, option->group),
                  },
                  values == CALC_LAYERWISE_EVERY_OPTION);
        }
    }
}

/* Layers of a kind that are in a group, in the order of options. */
static void put_group(const calc_layerwise_core *core, const calc_layerwise_answer *answer, int k,
                      int group, calc_layerwise_point *point)
{
    int begin = point->picks[k];
    for (int i = 0; i < answer->picks[k]; i++) {
        const calc_layerwise_item *item = &core->item[k][answer->pick[k][i].item];
        if (item->group != group) {
            continue;
        }
        calc_layerwise_pick pick = {item->option, answer->pick[k][i].layers};
        int at = point->picks[k]++;
        for (; at > begin && point->pick[k][at - 1].option > pick.option; at--) {
            point->pick[k][at] = point->pick[k][at - 1];
        }
        point->pick[k][at] = pick;
    }
}

static double calc_layerwise_path_s(const calc_layerwise_core *core,
                                    const calc_layerwise_used *used,
                                    int (*order)[CALC_LAYERWISE_PICKS]);

calc_layerwise_point calc_layerwise_point_of(const calc_layerwise_core *core,
                                             const calc_layerwise_answer *answer)
{
    calc_layerwise_used used = {{0}};
    for (int k = 0; k < core->stage->kinds; k++) {
        for (int i = 0; i < answer->picks[k]; i++) {
            used.of[k] |= 1U << core->item[k][answer->pick[k][i].item].group;
        }
    }
    int order[KINDS][PICKS];
    memset(order, -1, sizeof order); /* none, where there is no path */
    calc_layerwise_point point = {.micro_s = calc_layerwise_path_s(core, &used, order)};
    for (int k = 0; k < core->stage->kinds; k++) {
        for (int g = 0; g < PICKS && used.of[k] && order[k][g] >= 0; g++) {
            put_group(core, answer, k, order[k][g], &point);
        }
        for (int i = 0; i < point.picks[k]; i++) {
            const calc_layerwise_option *option =
                &core->stage->kind[k].option[point.pick[k][i].option];
            point.micro_s += point.pick[k][i].layers * option->micro_s;
            point.sync_s += point.pick[k][i].layers * option->sync_s;
            point.bytes += point.pick[k][i].layers * option->bytes;
        }
    }
    return point;
}

/* The shortest path through groups: within a kind by subsets and last groups (Held and Karp). */

enum { SUBSETS = 1 << PICKS };

/* The ways through a kind. */
typedef struct passage {
    int count, group[PICKS];
    double cost_s[SUBSETS][PICKS]; /* [groups that were visited][last of them] */
    int16_t from[SUBSETS]
                [PICKS]; /* the one before it; in the first place: last of the kind before */
} passage;

static int members(uint32_t mask, int *group)
{
    int count = 0;
    for (int g = 0; mask >> g; g++) {
        if (!(mask >> g & 1)) {
            continue;
        }
        if (count == PICKS) {
            return PICKS + 1;
        }
        group[count++] = g;
    }
    return count;
}

/* The cost to begin with a group, behind the kind before. */
static double entry_s(const calc_layerwise_core *core, const passage *before, int group,
                      int16_t *from)
{
    *from = -1;
    if (!before) {
        return core->before < 0 ? 0 : core->switch_s[core->before][group];
    }
    double least_s = INFINITY;
    for (int last = 0; last < before->count; last++) {
        double s = before->cost_s[(1 << before->count) - 1][last] +
                   core->switch_s[before->group[last]][group];
        if (s < least_s) {
            least_s = s;
            *from = (int16_t)last;
        }
    }
    return least_s;
}

static void pass(const calc_layerwise_core *core, const passage *before, passage *p)
{
    for (int set = 1; set < 1 << p->count; set++) {
        for (int last = 0; last < p->count; last++) {
            double least_s = INFINITY;
            int16_t from = -1;
            int rest = set & ~(1 << last);
            if (set == 1 << last) {
                least_s = entry_s(core, before, p->group[last], &from);
            } else if (set >> last & 1) {
                for (int i = 0; i < p->count; i++) {
                    double s = rest >> i & 1 ? p->cost_s[rest][i] +
                                                   core->switch_s[p->group[i]][p->group[last]]
                                             : INFINITY;
                    if (s < least_s) {
                        least_s = s;
                        from = (int16_t)i;
                    }
                }
            }
            p->cost_s[set][last] = least_s;
            p->from[set][last] = from;
        }
    }
}

/* Walk back from the last group of a kind. @return the last one of the kind before */
static int walk_back(const passage *p, int last, int *order)
{
    int set = (1 << p->count) - 1;
    for (int place = p->count; place-- > 0;) {
        order[place] = p->group[last];
        int from = p->from[set][last];
        set &= ~(1 << last);
        last = from;
    }
    return last;
}

static int last_of(const calc_layerwise_core *core, const passage *p, double *cost_s)
{
    int best = 0;
    *cost_s = INFINITY;
    for (int last = 0; last < p->count; last++) {
        double s = p->cost_s[(1 << p->count) - 1][last] +
                   (core->behind < 0 ? 0 : core->switch_s[p->group[last]][core->behind]);
        if (s < *cost_s) {
            *cost_s = s;
            best = last;
        }
    }
    return best;
}

/* Cheap cases: no switch, or one group, or two. */
static bool is_simple(const calc_layerwise_core *core, const calc_layerwise_used *used,
                      double *cost_s)
{
    if (core->groups > 1 && (core->stage->kinds > 1 || core->before >= 0 || core->behind >= 0)) {
        return false;
    }
    uint32_t mask = used->of[0];
    uint32_t rest = mask & (mask - 1);
    if (core->groups > 1 && (rest & (rest - 1))) {
        return false;
    }
    *cost_s = rest ? core->switch_s[__builtin_ctz(mask)][__builtin_ctz(rest)] : 0;
    return true;
}

/* Time of the shortest path through the groups.
 * @param order  NULL, or [kinds][PICKS]: groups of each kind in the order of that path, -1 behind
 *                the last
 * @return INFINITY if a kind uses more than CALC_LAYERWISE_PICKS groups */
static double calc_layerwise_path_s(const calc_layerwise_core *core,
                                    const calc_layerwise_used *used,
                                    int (*order)[CALC_LAYERWISE_PICKS])
{
    double cost_s;
    if (!order && is_simple(core, used, &cost_s)) {
        return cost_s;
    }
    passage of[KINDS];
    const passage *before = NULL;
    int kind_of[KINDS], kinds = 0;
    for (int k = 0; k < core->stage->kinds; k++) {
        passage *p = &of[kinds];
        p->count = members(used->of[k], p->group);
        if (p->count > PICKS) {
            return INFINITY;
        }
        if (p->count) {
            kind_of[kinds++] = k;
            pass(core, before, p);
            before = p;
        }
    }
    if (!before) {
        return core->before < 0 || core->behind < 0 ? 0
                                                    : core->switch_s[core->before][core->behind];
    }
    int last = last_of(core, before, &cost_s);
    if (order) {
        memset(order, -1, sizeof(int[KINDS][PICKS]));
        for (int k = kinds; k-- > 0;) {
            last = walk_back(&of[k], last, order[kind_of[k]]);
        }
    }
    return cost_s;
}

/* Branch and bound over groups, then over counts. */

/* What it mixes. */
typedef struct calc_layerwise_relaxed {
    double lambda; /* price of a byte */
    double value;  /* lower bound of the weighted sum of every answer; INFINITY: nothing fits */
    const calc_layerwise_item *low[CALC_LAYERWISE_KINDS];  /* within the budget */
    const calc_layerwise_item *high[CALC_LAYERWISE_KINDS]; /* beyond it, or the same */
    double least[CALC_LAYERWISE_KINDS];                    /* of w + lambda * bytes */
} calc_layerwise_relaxed;

/* w of an item. */
static inline double calc_layerwise_weighted(const calc_layerwise_search *search,
                                             const calc_layerwise_item *item)
{
    return search->alpha * item->x + search->beta * item->y;
}

static inline bool calc_layerwise_is_allowed(const calc_layerwise_used *allowed, int kind,
                                             const calc_layerwise_item *item)
{
    return allowed->of[kind] >> item->group & 1;
}

/* Rounding of sums of bytes, as a share. */
static const double ROUNDING = 1e-12;

/* The item of each kind with the least price_w * w + price_b * bytes; ties go to the one with less
 * of the other value. @return bytes of them all */
static double least_of(const calc_layerwise_search *s, const calc_layerwise_used *allowed,
                       double price_w, double price_b, const calc_layerwise_item **chosen,
                       double *value)
{
    const calc_layerwise_core *core = s->core;
    double bytes = 0;
    *value = 0;
    for (int k = 0; k < core->stage->kinds; k++) {
        chosen[k] = NULL;
        double least = INFINITY, least_other = INFINITY;
        for (int i = 0; i < core->items[k]; i++) {
            const calc_layerwise_item *item = &core->item[k][i];
            double w = calc_layerwise_weighted(s, item);
            double cost = price_w * w + price_b * item->bytes;
            double other = price_w > 0 ? item->bytes : w;
            if (calc_layerwise_is_allowed(allowed, k, item) &&
                (cost < least || (cost == least && other < least_other))) {
                least = cost;
                least_other = other;
                chosen[k] = item;
            }
        }
        if (!chosen[k]) {
            *value = INFINITY;
            return INFINITY;
        }
        bytes += core->stage->kind[k].layers * chosen[k]->bytes;
        *value += core->stage->kind[k].layers * calc_layerwise_weighted(s, chosen[k]);
    }
    return bytes;
}

/* Relax a search, restricted to some groups: the price of bytes at which the budget is just used is
 * approached from both sides. */
static calc_layerwise_relaxed layerwise_relax(const calc_layerwise_search *s,
                                              const calc_layerwise_used *allowed)
{
    const calc_layerwise_core *core = s->core;
    double budget = core->stage->budget_bytes;
    calc_layerwise_relaxed r = {.value = INFINITY};
    double low, high, low_bytes = least_of(s, allowed, 0, 1, r.low, &low);
    if (low == INFINITY || low_bytes > budget * (1 + ROUNDING)) {
        return r;
    }
    double high_bytes = least_of(s, allowed, 1, 0, r.high, &high);
    if (high_bytes <= budget) {
        memcpy(r.low, r.high, sizeof r.low);
    } else {
        for (int round = 0; round < 200; round++) {
            r.lambda = (low - high) / (high_bytes - low_bytes);
            const calc_layerwise_item *middle[KINDS] = {NULL};
            double value, bytes = least_of(s, allowed, 1, r.lambda, middle, &value);
            double here = low + r.lambda * low_bytes;
            if (value + r.lambda * bytes >= here - fabs(here) * ROUNDING) {
                break;
            }
            memcpy(bytes <= budget ? r.low : r.high, middle, sizeof middle);
            *(bytes <= budget ? &low : &high) = value;
            *(bytes <= budget ? &low_bytes : &high_bytes) = bytes;
        }
    }
    r.value = r.lambda > 0 ? -r.lambda * budget : 0;
    const calc_layerwise_item *chosen[KINDS] = {NULL};
    double value;
    least_of(s, allowed, 1, r.lambda, chosen, &value);
    for (int k = 0; k < core->stage->kinds && chosen[k]; k++) {
        r.least[k] = calc_layerwise_weighted(s, chosen[k]) + r.lambda * chosen[k]->bytes;
        r.value += core->stage->kind[k].layers * r.least[k];
    }
    return r;
}

enum { OPTIONS = CALC_LAYERWISE_OPTIONS };

/* An item at a price of bytes. */
typedef struct candidate {
    double more; /* r_i: cost above the least of its kind, with the least cost of its group */
    const calc_layerwise_item *item;
    double least_bytes, most_bytes; /* over this item and those before it */
} candidate;

/* The search among counts. */
typedef struct counting {
    calc_layerwise_search *search;
    double lambda, budget;
    calc_layerwise_used required;
    int count[KINDS];
    candidate of[KINDS][OPTIONS];
    double least_behind[KINDS + 1], most_behind[KINDS + 1]; /* bytes of kinds from k on */
    calc_layerwise_used used;
    calc_layerwise_answer answer;
} counting;

/* Whether no answer of at least this value and at least this many bytes is of use. */
static bool is_cut(const calc_layerwise_search *s, double value, double bytes)
{
    return value > s->limit || (value >= s->limit - s->tie && bytes >= s->tie_bytes);
}

/* ---- Counts --------------------------------------------------------------------------------- */

/* One that does not use all groups that are paid for another branch finds, where they are left
 * out. */
static void tell(counting *c)
{
    bool here = true;
    for (int k = 0; k < KINDS; k++) {
        here &= (c->required.of[k] & ~c->used.of[k]) == 0;
    }
    if (c->answer.bytes > c->budget || (c->search->all && !here)) {
        return;
    }
    calc_layerwise_answer answer = c->answer;
    answer.x +=
        c->search->core->x_per_switch_s * calc_layerwise_path_s(c->search->core, &c->used, NULL);
    c->search->found(c->search, &answer);
}

static double switches(const calc_layerwise_search *s, const calc_layerwise_used *used)
{
    double path_s = calc_layerwise_path_s(s->core, used, NULL);
    return path_s == INFINITY ? INFINITY : s->alpha * s->core->x_per_switch_s * path_s;
}

static void place(counting *c, int k, int below, int left, double base, double path);

/* Give candidate i `layers` layers of kind k, and the remaining ones to those before it. */
static void put(counting *c, int k, int i, int layers, int left, double base, double path)
{
    const calc_layerwise_item *item = c->of[k][i].item;
    calc_layerwise_answer *a = &c->answer;
    int *picks = &a->picks[k];
    if (*picks == CALC_LAYERWISE_PICKS) {
        return;
    }
    uint32_t before = c->used.of[k];
    calc_layerwise_answer kept = {.x = a->x, .y = a->y, .bytes = a->bytes};
    if (!(before >> item->group & 1)) {
        c->used.of[k] |= 1U << item->group;
        calc_layerwise_used both;
        for (int m = 0; m < KINDS; m++) {
            both.of[m] = c->used.of[m] | c->required.of[m];
        }
        path = switches(c->search, &both);
    }
    a->pick[k][*picks].item = (int16_t)(item - c->search->core->item[k]);
    a->pick[k][*picks].layers = (int16_t)layers;
    *picks += 1;
    a->x += layers * item->x;
    a->y += layers * item->y;
    a->bytes += layers * item->bytes;
    place(c, k, i, left - layers, base + layers * c->of[k][i].more, path);
    a->x = kept.x;
    a->y = kept.y;
    a->bytes = kept.bytes;
    *picks -= 1;
    c->used.of[k] = before;
}

/* How many layers candidate i may take: from `*least` on. @return the most; < least: none */
static int range(const counting *c, int k, int i, int left, double base, double path, int *least)
{
    const candidate *own = &c->of[k][i];
    const candidate *rest = &c->of[k][i - 1];
    double bytes = c->answer.bytes, most = left;
    *least = 1;
    double room =
        c->budget * (1 + ROUNDING) - (bytes + left * rest->least_bytes + c->least_behind[k + 1]);
    double more = own->item->bytes - rest->least_bytes;
    if (more > 0) {
        most = fmin(most, floor(room / more * (1 + ROUNDING)));
    } else if (room < 0) {
        if (more == 0) {
            return 0;
        }
        *least = (int)fmin(fmax(1, ceil(room / more * (1 - ROUNDING))), left + 1);
    }
    if (c->lambda > 0) {
        /* An answer must reach (base + path - limit) / lambda bytes: unused memory costs its
         * price. */
        double value = (base + path - c->search->limit) / c->lambda;
        double spare = bytes + left * rest->most_bytes + c->most_behind[k + 1] - value;
        double gain = own->item->bytes - rest->most_bytes - own->more / c->lambda;
        spare += ROUNDING * (fabs(value) + c->budget);
        if (gain < 0) {
            most = fmin(most, floor(spare / -gain));
        } else if (spare < 0) {
            if (gain == 0) {
                return 0;
            }
            *least = (int)fmax(*least, fmin(ceil(-spare / gain * (1 - ROUNDING)), left + 1));
        }
    }
    return (int)fmax(most, 0);
}

/* Whether an answer from here on may be of use. */
static bool is_hopeless(const counting *c, int k, int below, int left, double base, double path)
{
    const candidate *rest = &c->of[k][below];
    double bytes = c->answer.bytes;
    double most = fmin(c->budget, bytes + left * rest->most_bytes + c->most_behind[k + 1]);
    double least = bytes + left * rest->least_bytes + c->least_behind[k + 1];
    if (c->lambda > 0) {
        least = fmax(least, (base + path - c->search->limit) / c->lambda);
    }
    return is_cut(c->search, base + path - c->lambda * most, least);
}

/* Place `left` layers of kind k on candidates before `below`, whose own count is already fixed. */
static void place(counting *c, int k, int below, int left, double base, double path)
{
    calc_layerwise_search *s = c->search;
    while (left == 0) {
        if (++k == s->core->stage->kinds) {
            tell(c);
            return;
        }
        left = s->core->stage->kind[k].layers;
        below = c->count[k];
    }
    if (below == 0 || (s->most_nodes && s->nodes >= s->most_nodes)) {
        return;
    }
    s->nodes++;
    if (is_hopeless(c, k, below - 1, left, base, path)) {
        return;
    }
    put(c, k, 0, left, left, base, path);
    for (int i = 1; i < below; i++) {
        if (is_hopeless(c, k, i, left, base + c->of[k][i].more, path)) {
            if (base + c->of[k][i].more + path - c->lambda * c->budget > s->limit) {
                break;
            }
            continue;
        }
        int least, most = range(c, k, i, left, base, path, &least);
        for (int layers = most; layers >= least; layers--) {
            put(c, k, i, layers, left, base, path);
        }
    }
}

static CALC_ORDER_BY(by_more, candidate, more, item)

static void collect(counting *c, const calc_layerwise_used *allowed,
                    const calc_layerwise_relaxed *r, double path)
{
    const calc_layerwise_core *core = c->search->core;
    int kinds = core->stage->kinds;
    for (int k = kinds; k-- > 0;) {
        candidate *list = c->of[k];
        int count = 0;
        for (int i = 0; i < core->items[k]; i++) {
            const calc_layerwise_item *item = &core->item[k][i];
            double more =
                calc_layerwise_weighted(c->search, item) + r->lambda * item->bytes - r->least[k];
            if (calc_layerwise_is_allowed(allowed, k, item) &&
                r->value + path + more <= c->search->limit) {
                list[count++] = (candidate){.more = fmax(more, 0), .item = item};
            }
        }
        CALC_SORT(list, (size_t)count, by_more);
        for (int i = 0; i < count; i++) {
            double bytes = list[i].item->bytes;
            list[i].least_bytes = i ? fmin(list[i - 1].least_bytes, bytes) : bytes;
            list[i].most_bytes = i ? fmax(list[i - 1].most_bytes, bytes) : bytes;
        }
        c->count[k] = count;
        int layers = core->stage->kind[k].layers;
        bool some = layers && count;
        c->least_behind[k] =
            c->least_behind[k + 1] + (some ? layers * list[count - 1].least_bytes : 0);
        c->most_behind[k] =
            c->most_behind[k + 1] + (some ? layers * list[count - 1].most_bytes : 0);
    }
}

static void count_out(calc_layerwise_search *s, const calc_layerwise_used *allowed,
                      const calc_layerwise_used *required, const calc_layerwise_relaxed *r,
                      double path)
{
    counting *c = calc_make(1, sizeof *c); /* too large for every level of branch() */
    c->search = s;
    c->lambda = r->lambda;
    c->budget = s->core->stage->budget_bytes;
    c->required = *required;
    collect(c, allowed, r, path);
    place(c, -1, 0, 0, r->value + r->lambda * c->budget, path);
    free(c);
}

/* ---- Groups --------------------------------------------------------------------------------- */

static void add(const calc_layerwise_core *core, calc_layerwise_answer *a,
                calc_layerwise_used *used, int k, const calc_layerwise_item *item, int layers)
{
    if (layers > 0) {
        a->pick[k][a->picks[k]].item = (int16_t)(item - core->item[k]);
        a->pick[k][a->picks[k]++].layers = (int16_t)layers;
        a->x += layers * item->x;
        a->y += layers * item->y;
        a->bytes += layers * item->bytes;
        used->of[k] |= 1U << item->group;
    }
}

/* The answer closest to the relaxed problem among those that fit. */
static void round_down(calc_layerwise_search *s, const calc_layerwise_relaxed *r)
{
    const calc_layerwise_core *core = s->core;
    double room = core->stage->budget_bytes;
    for (int k = 0; k < core->stage->kinds; k++) {
        if (!r->low[k] || !r->high[k]) {
            return; /* nothing is relaxed */
        }
        room -= core->stage->kind[k].layers * r->low[k]->bytes;
    }
    calc_layerwise_answer a = {.x = 0};
    calc_layerwise_used used = {{0}};
    for (int k = 0; k < core->stage->kinds; k++) {
        int layers = core->stage->kind[k].layers;
        double more = r->high[k]->bytes - r->low[k]->bytes;
        int high = more > 0 ? (int)fmax(0, fmin(floor(room / more), layers)) : 0;
        room -= high * more;
        add(core, &a, &used, k, r->high[k], high);
        add(core, &a, &used, k, r->low[k], layers - high);
    }
    a.x += core->x_per_switch_s * calc_layerwise_path_s(core, &used, NULL);
    if (a.bytes <= core->stage->budget_bytes &&
        !is_cut(s, s->alpha * a.x + s->beta * a.y, a.bytes)) {
        s->found(s, &a);
    }
}

static void branch(calc_layerwise_search *s, calc_layerwise_used allowed,
                   calc_layerwise_used required)
{
    calc_layerwise_relaxed r = layerwise_relax(s, &allowed);
    double path = switches(s, &required);
    if (r.value == INFINITY || path == INFINITY || r.value + path > s->limit) {
        return;
    }
    if (!s->all) {
        round_down(s, &r);
    }
    for (int k = 0; k < s->core->stage->kinds; k++) {
        const calc_layerwise_item *of[] = {r.high[k], r.low[k]};
        for (int i = 0; i < 2 && of[i] && s->core->stage->kind[k].layers; i++) {
            uint32_t group = 1U << of[i]->group;
            if (!(required.of[k] & group)) {
                calc_layerwise_used with = required;
                with.of[k] |= group;
                branch(s, allowed, with);
                allowed.of[k] &= ~group;
                branch(s, allowed, required);
                return;
            }
        }
    }
    count_out(s, &allowed, &required, &r, path);
}

static calc_layerwise_used all_groups(const calc_layerwise_core *core)
{
    calc_layerwise_used all = {{0}};
    for (int k = 0; k < core->stage->kinds; k++) {
        for (int i = 0; i < core->items[k]; i++) {
            all.of[k] |= 1U << core->item[k][i].group;
        }
    }
    return all;
}

double calc_layerwise_least(const calc_layerwise_search *s)
{
    calc_layerwise_used allowed = all_groups(s->core);
    return layerwise_relax(s, &allowed).value;
}

bool calc_layerwise_look(calc_layerwise_search *s)
{
    branch(s, all_groups(s->core), (calc_layerwise_used){{0}});
    return !s->most_nodes || s->nodes < s->most_nodes;
}
