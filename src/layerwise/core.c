#include "layerwise/core.h"

#include <math.h>
#include <string.h>

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
