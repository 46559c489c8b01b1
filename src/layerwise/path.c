/* The shortest path through groups: within a kind by subsets and last groups (Held and Karp). */
#include "layerwise/core.h"

#include <math.h>
#include <string.h>

enum { PICKS = CALC_LAYERWISE_PICKS, KINDS = CALC_LAYERWISE_KINDS, SUBSETS = 1 << PICKS };

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
    *cost_s =
        core->groups > 1 && rest ? core->switch_s[__builtin_ctz(mask)][__builtin_ctz(rest)] : 0;
    return true;
}

double calc_layerwise_path_s(const calc_layerwise_core *core, const calc_layerwise_used *used,
                             int (*order)[CALC_LAYERWISE_PICKS])
{
    double cost_s;
    if (!order && is_simple(core, used, &cost_s)) {
        return cost_s;
    }
    passage of[KINDS];
    const passage *before = NULL;
    int kind_of[KINDS];
    int kinds = 0;
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
