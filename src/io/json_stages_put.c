#include <stdio.h>
#include <string.h>

#include "io/json_runs.h"
#include "io/json_stages.h"

/* The text of one key of a run, as JSON; without quotes if that is a text.
 * @return whether it is one */
static bool key_text(const void *of, int64_t i, int k, char text[CALC_CHOICE_SET_SIZE])
{
    const calc_stage_list *list = of;
    const calc_stage_run *run = &list->run[i];
    int number = k == CALC_STAGE_KEY_blocks ? run->blocks : run->recompute_blocks;
    bool given = k == CALC_STAGE_KEY_system                    ? run->chip > 0
                 : calc_stage_key_is_number((calc_stage_key)k) ? number != CALC_STAGE_AS_EXEC
                 : k == CALC_STAGE_KEY_recompute_modules       ? run->modules != 0
                                                         : run->recompute != CALC_STAGE_AS_EXEC;
    if (!given) {
        snprintf(text, CALC_CHOICE_SET_SIZE, "null");
        return false;
    }
    if (calc_stage_key_is_number((calc_stage_key)k)) {
        snprintf(text, CALC_CHOICE_SET_SIZE, "%d", number);
        return false;
    }
    if (k == CALC_STAGE_KEY_system) {
        snprintf(text, CALC_CHOICE_SET_SIZE, "%s", list->name[run->chip - 1]);
    } else if (k == CALC_STAGE_KEY_recompute_modules) {
        calc_json_runs_modules_text(run->modules, text);
    } else {
        calc_json_runs_recompute_text(run->recompute, text);
    }
    return true;
}

static int64_t places_of(const void *list, int64_t i)
{
    return ((const calc_stage_list *)list)->run[i].places;
}

/* Whether all stages on the same chip have the same value, and the chips are named. */
static bool is_by_chip(const calc_stage_list *list, calc_stage_key k)
{
    char a[CALC_CHOICE_SET_SIZE], b[CALC_CHOICE_SET_SIZE];
    bool same = list->chips > 1;
    for (int32_t i = 0; i < list->count && same; i++) {
        key_text(list, i, (int)k, a);
        same = list->run[i].chip > 0;
        for (int32_t n = 0; n < i; n++) {
            key_text(list, n, (int)k, b);
            same = same && (list->run[n].chip != list->run[i].chip || strcmp(a, b) == 0);
        }
    }
    return same;
}

static void put_by_chip(calc_put *put, const calc_stage_list *list, calc_stage_key k)
{
    char text[CALC_CHOICE_SET_SIZE];
    calc_put_object(put, calc_stage_key_names[k], CALC_PUT_LINE);
    for (int32_t chip = 1; chip <= list->chips; chip++) {
        int32_t i = 0;
        while (i < list->count && list->run[i].chip != chip) {
            i++;
        }
        bool word = i < list->count && key_text(list, i, (int)k, text);
        if (i < list->count && strcmp(text, "null") != 0) {
            calc_json_runs_put(put, list->name[chip - 1], text, word, 1, false);
        }
    }
    calc_put_close(put);
}

/* One key: a value if all runs agree, else a list. Blocks are always a list, of nulls if necessary
 * where no other key is a list: its length is the number of stages. */
static void put_key(calc_put *put, const calc_stage_list *list, calc_stage_key k)
{
    const calc_json_runs runs = {list, list->count, key_text, places_of};
    const char *name = calc_stage_key_names[k];
    char text[CALC_CHOICE_SET_SIZE];
    key_text(list, 0, (int)k, text);
    bool same = calc_json_runs_agree(&runs, (int)k);
    bool counts = k == CALC_STAGE_KEY_blocks && list->count == 1;
    if (same && strcmp(text, "null") == 0 && !counts) {
        return;
    }
    if (same && k != CALC_STAGE_KEY_blocks) {
        calc_json_runs_put_all(put, name, &runs, (int)k);
    } else if (k != CALC_STAGE_KEY_blocks && k != CALC_STAGE_KEY_system && is_by_chip(list, k)) {
        put_by_chip(put, list, k);
    } else {
        calc_json_runs_put_each(put, name, &runs, (int)k);
    }
}

void calc_json_stages_put(calc_put *put, const char *name, const calc_stage_list *list)
{
    calc_put_object(put, name, CALC_PUT_LINE);
    for (calc_stage_key k = CALC_STAGE_KEY_blocks; k < CALC_STAGE_KEY_COUNT; k++) {
        put_key(put, list, k);
    }
    if (list->join_latency_s > 0) {
        calc_put_number(put, CALC_JOIN_LATENCY, list->join_latency_s);
    }
    calc_put_close(put);
}
