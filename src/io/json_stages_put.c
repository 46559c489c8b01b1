#include <stdio.h>
#include <string.h>

#include "io/json_stages.h"
#include "spec/choice_set.h"
#include "spec/field.h"

/* The text of one key of a run, as JSON; without quotes if that is a text.
 * @return whether it is one */
static bool key_text(const calc_stage_list *list, calc_stage_key k, const calc_stage_run *run,
                     char *text, size_t size)
{
    const calc_table *exec = calc_table_of(CALC_KIND_EXEC);
    char set_text[CALC_CHOICE_SET_SIZE];
    int number = k == CALC_STAGE_KEY_blocks ? run->blocks : run->recompute_blocks;
    bool given = k == CALC_STAGE_KEY_system              ? run->chip > 0
                 : calc_stage_key_is_number(k)           ? number != CALC_STAGE_AS_EXEC
                 : k == CALC_STAGE_KEY_recompute_modules ? run->modules != 0
                                                         : run->recompute != CALC_STAGE_AS_EXEC;
    if (!given) {
        snprintf(text, size, "null");
        return false;
    }
    if (calc_stage_key_is_number(k)) {
        snprintf(text, size, "%d", number);
        return false;
    }
    const char *word =
        k == CALC_STAGE_KEY_system ? list->name[run->chip - 1]
        : k == CALC_STAGE_KEY_recompute_modules
            ? calc_choice_set_text(calc_table_find(exec, "recompute_modules")->choices,
                                   run->modules, set_text)
            : calc_table_find(exec, "activation_recompute")->choices[run->recompute];
    snprintf(text, size, "%s", word);
    return true;
}

/* @param always  say how often, also if it is once */
static void put_text(calc_put *put, const char *name, const char *text, bool word, int64_t times,
                     bool always)
{
    char many[CALC_CHOICE_SET_SIZE + 32];
    snprintf(many, sizeof many, "%lldx%s", (long long)times, text);
    if (times > 1 || always) {
        calc_put_text(put, name, many);
    } else if (word) {
        calc_put_text(put, name, text);
    } else {
        calc_put_raw(put, name, text);
    }
}

/* Whether stages on the same chip say the same, and the chips are named. */
static bool is_by_chip(const calc_stage_list *list, calc_stage_key k)
{
    char a[CALC_CHOICE_SET_SIZE], b[CALC_CHOICE_SET_SIZE];
    bool same = list->chips > 1;
    for (int32_t i = 0; i < list->count && same; i++) {
        key_text(list, k, &list->run[i], a, sizeof a);
        same = list->run[i].chip > 0;
        for (int32_t n = 0; n < i; n++) {
            key_text(list, k, &list->run[n], b, sizeof b);
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
        bool word = i < list->count && key_text(list, k, &list->run[i], text, sizeof text);
        if (i < list->count && strcmp(text, "null") != 0) {
            put_text(put, list->name[chip - 1], text, word, 1, false);
        }
    }
    calc_put_close(put);
}

/* One key: a value if all runs agree, else a list. Blocks are a list always, also of nulls where no
 * other key is a list: it says how many stages there are. */
static void put_key(calc_put *put, const calc_stage_list *list, calc_stage_key k)
{
    char text[CALC_CHOICE_SET_SIZE], next[CALC_CHOICE_SET_SIZE];
    bool word = key_text(list, k, &list->run[0], text, sizeof text);
    bool same = true;
    for (int32_t i = 1; i < list->count; i++) {
        key_text(list, k, &list->run[i], next, sizeof next);
        same = same && strcmp(text, next) == 0;
    }
    bool counts = k == CALC_STAGE_KEY_blocks && list->count == 1;
    if (same && strcmp(text, "null") == 0 && !counts) {
        return;
    }
    if (same && k != CALC_STAGE_KEY_blocks) {
        put_text(put, calc_stage_key_names[k], text, word, 1, false);
        return;
    }
    if (k != CALC_STAGE_KEY_blocks && k != CALC_STAGE_KEY_system && is_by_chip(list, k)) {
        put_by_chip(put, list, k);
        return;
    }
    calc_put_array(put, calc_stage_key_names[k], CALC_PUT_LINE);
    for (int32_t i = 0; i < list->count;) {
        int64_t times = 0;
        word = key_text(list, k, &list->run[i], text, sizeof text);
        do {
            times += list->run[i++].places;
            if (i < list->count) {
                key_text(list, k, &list->run[i], next, sizeof next);
            }
        } while (i < list->count && strcmp(text, next) == 0);
        bool digits = text[0] >= '0' && text[0] <= '9'; /* of a name: not how often */
        put_text(put, NULL, text, word, times, word && digits);
    }
    calc_put_close(put);
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
