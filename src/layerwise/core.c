#include "layerwise/core.h"

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
