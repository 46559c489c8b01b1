#include "io/json_stages.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buffer.h"
#include "io/json_bind.h"
#include "io/json_value.h"
#include "spec/choice_set.h"
#include "spec/field.h"
#include "spec/stage_list.h"

/* What can be said of a stage. */
#define KEYS(X) X(blocks) X(system) X(activation_recompute) X(recompute_modules) X(recompute_blocks)

typedef enum key {
#define CALC_X(name) KEY_##name,
    KEYS(CALC_X)
#undef CALC_X
        KEY_COUNT
} key;

/* Beside them, in an object of lists: seconds of messages between different systems. */
#define JOIN_LATENCY "join_latency"

static const char *const key_names[] = {
#define CALC_X(name) #name,
    KEYS(CALC_X)
#undef CALC_X
        JOIN_LATENCY,
    NULL};

static const calc_stage_run as_exec = {
    1, CALC_STAGE_AS_EXEC, CALC_STAGE_AS_EXEC, CALC_STAGE_AS_EXEC, 0, 0};

/* A list under construction: a run per place. */
typedef struct reader {
    calc_json_report *report;
    calc_stage_list *list;
    int64_t count;
    calc_stage_run run[CALC_MAX_PLACES];
} reader;

/* ---- One value ------------------------------------------------------------------------------- */

static void set_system(reader *r, const json_t *value, calc_stage_run *run)
{
    if (!json_is_string(value)) {
        calc_json_value_type_error(r->report, "the name of a system", value, NULL);
        return;
    }
    int chip = calc_stage_list_chip(r->list, json_string_value(value));
    if (chip < 0) {
        calc_json_report_add(r->report, CALC_ERR_RANGE, CALC_JSON_VALUE, NULL,
                             "at most %d systems are named, by at most %zu letters",
                             CALC_MAX_CHIPS - 1, sizeof r->list->name[0] - 1);
        return;
    }
    run->chip = (uint8_t)chip;
}

static void set_modules(reader *r, const json_t *value, calc_stage_run *run)
{
    const calc_field *row = calc_table_find(calc_table_of(CALC_KIND_EXEC), "recompute_modules");
    int64_t modules = 0;
    char bad[CALC_CHOICE_SET_SIZE];
    const char *text = json_string_value(value);
    if (!text) {
        calc_json_value_scalar(r->report, row, value, &modules);
    } else if (!calc_choice_set_parse(row->choices, text, &modules, bad)) {
        char choices[160];
        calc_json_report_add(r->report, CALC_ERR_RANGE, CALC_JSON_VALUE, NULL,
                             "\"%.40s\" is not one of %s", bad,
                             calc_choices_text(row->choices, choices, sizeof choices));
    }
    run->modules = (uint16_t)modules;
}

static void set_recompute(reader *r, const json_t *value, calc_stage_run *run)
{
    const calc_field *row = calc_table_find(calc_table_of(CALC_KIND_EXEC), "activation_recompute");
    int kind = 0;
    calc_json_value_scalar(r->report, row, value, &kind);
    run->recompute = (int8_t)kind;
}

/* null: as the execution says. */
static void set(reader *r, key k, const json_t *value, calc_stage_run *run)
{
    const calc_field blocks = {.type = CALC_TYPE_INT, .lo = 1, .hi = 10000, .unit = "blocks"};
    const calc_field again = {.type = CALC_TYPE_INT, .lo = 0, .hi = 10000, .unit = "blocks"};
    int64_t n = CALC_STAGE_AS_EXEC;
    if (json_is_null(value)) {
        return;
    }
    switch (k) {
    case KEY_blocks:
        calc_json_value_scalar(r->report, &blocks, value, &n);
        run->blocks = (int16_t)n;
        break;
    case KEY_recompute_blocks:
        calc_json_value_scalar(r->report, &again, value, &n);
        run->recompute_blocks = (int16_t)n;
        break;
    case KEY_system:
        set_system(r, value, run);
        break;
    case KEY_activation_recompute:
        set_recompute(r, value, run);
        break;
    case KEY_recompute_modules:
        set_modules(r, value, run);
        break;
    case KEY_COUNT:
        break;
    }
}

/* ---- "7x11" ---------------------------------------------------------------------------------- */

/* How often a text says its value, and the value; once, if it says nothing of that.
 * @return a new reference, NULL without memory */
static json_t *repeated(json_t *value, bool number, int64_t *times)
{
    const char *text = json_string_value(value);
    char *end;
    *times = 1;
    if (!text || text[0] < '0' || text[0] > '9') {
        return json_incref(value);
    }
    long n = strtol(text, &end, 10);
    if (*end != 'x' || n < 1 || n > CALC_MAX_PLACES) {
        return json_incref(value);
    }
    const char *rest = end + 1;
    char *all;
    long whole = strtol(rest, &all, 10);
    *times = n;
    if (strcmp(rest, "null") == 0) {
        return json_null();
    }
    return number && *rest && !*all ? json_integer(whole) : json_string(rest);
}

static bool is_number(key k)
{
    return k == KEY_blocks || k == KEY_recompute_blocks;
}

/* One element of a list for places from `at` on.
 * @return the place after it */
static int64_t set_element(reader *r, key k, json_t *element, int64_t at)
{
    int64_t times;
    json_t *value = repeated(element, is_number(k), &times);
    if (at + times > CALC_MAX_PLACES) {
        calc_json_report_add(r->report, CALC_ERR_RANGE, CALC_JSON_VALUE, NULL,
                             "at most %d stages and chunks are listed", CALC_MAX_PLACES);
    } else if (value && k != KEY_COUNT) {
        calc_stage_run run = as_exec;
        set(r, k, value, &run);
        for (int64_t i = 0; i < times; i++, at++) {
            calc_stage_run *to = &r->run[at];
            to->blocks = k == KEY_blocks ? run.blocks : to->blocks;
            to->recompute_blocks =
                k == KEY_recompute_blocks ? run.recompute_blocks : to->recompute_blocks;
            to->recompute = k == KEY_activation_recompute ? run.recompute : to->recompute;
            to->chip = k == KEY_system ? run.chip : to->chip;
            to->modules = k == KEY_recompute_modules ? run.modules : to->modules;
        }
    }
    json_decref(value);
    return at;
}

/* ---- An object with a list per key ----------------------------------------------------------- */

/* Elements of a list, each as often as it says. */
static int64_t length_of(json_t *list)
{
    int64_t count = 0;
    size_t i;
    json_t *element;
    json_array_foreach (list, i, element) {
        int64_t times;
        json_decref(repeated(element, false, &times));
        count += times;
    }
    return count;
}

/* @param whole  places of the longest list; a shorter one is of stages and counts for every chunk
 */
static void set_list(reader *r, key k, json_t *list, int64_t whole)
{
    int64_t length = length_of(list);
    if (length == 0 || whole % length != 0) {
        calc_json_report_add(r->report, CALC_ERR_RANGE, CALC_JSON_VALUE,
                             "a list has a value per stage, or per stage and chunk",
                             "%lld values beside %lld of another list", (long long)length,
                             (long long)whole);
        return;
    }
    for (int64_t at = 0; at < whole;) {
        size_t i;
        json_t *element;
        int64_t before = at;
        json_array_foreach (list, i, element) {
            size_t mark = calc_json_report_enter_index(r->report, i);
            at = set_element(r, k, element, at);
            calc_json_report_leave(r->report, mark);
        }
        at = at == before ? whole : at; /* an error was reported */
    }
}

/* A value for each system. */
static void set_map(reader *r, key k, json_t *map)
{
    const char *name;
    json_t *value;
    int member = 0;
    json_object_foreach (map, name, value) {
        int chip = 0;
        for (int32_t i = 0; i < r->list->chips; i++) {
            chip = strcmp(r->list->name[i], name) == 0 ? i + 1 : chip;
        }
        size_t mark = calc_json_report_enter(r->report, name);
        if (chip == 0) {
            calc_json_report_add(r->report, CALC_ERR_FIELD, member, "name it in \"system\", too",
                                 "no stage is on a system \"%.40s\"", name);
        }
        for (int64_t i = 0; i < r->count && chip > 0; i++) {
            if (r->run[i].chip == chip) {
                set(r, k, value, &r->run[i]);
            }
        }
        calc_json_report_leave(r->report, mark);
        member++;
    }
}

static void set_key(reader *r, key k, json_t *value)
{
    size_t mark = calc_json_report_enter(r->report, key_names[k]);
    if (json_is_array(value)) {
        set_list(r, k, value, r->count);
    } else if (json_is_object(value) && k != KEY_system) {
        set_map(r, k, value);
    } else {
        for (int64_t i = 0; i < r->count && r->report->found.count == 0; i++) {
            set(r, k, value, &r->run[i]);
        }
    }
    calc_json_report_leave(r->report, mark);
}

static void read_join_latency(reader *r, const json_t *value)
{
    const calc_field seconds = {.type = CALC_TYPE_REAL, .lo = 0, .hi = 1, .unit = "s"};
    if (value) {
        size_t mark = calc_json_report_enter(r->report, JOIN_LATENCY);
        calc_json_value_scalar(r->report, &seconds, value, &r->list->join_latency_s);
        calc_json_report_leave(r->report, mark);
    }
}

/* The system first: maps are by system. */
static void read_object(reader *r, json_t *object)
{
    const char *name;
    json_t *value;
    int member = 0;
    int64_t listed = 0;
    json_object_foreach (object, name, value) {
        int64_t length = json_is_array(value) ? length_of(value) : 0;
        listed = length > listed ? length : listed;
        if (calc_choice_index(key_names, name) < 0) {
            calc_json_bind_unknown(r->report, name, member, calc_nearest(name, key_names));
        }
        member++;
    }
    r->count = listed > 0 ? listed : r->count;
    read_join_latency(r, json_object_get(object, JOIN_LATENCY));
    if (r->count > CALC_MAX_PLACES || r->count < 1) {
        calc_json_report_add(r->report, CALC_ERR_RANGE, CALC_JSON_VALUE, NULL,
                             "at most %d stages and chunks are listed, not %lld", CALC_MAX_PLACES,
                             (long long)r->count);
        return;
    }
    for (int first = 1; first >= 0; first--) {
        json_object_foreach (object, name, value) {
            int k = calc_choice_index(key_names, name);
            if (k >= 0 && k < KEY_COUNT && (k == KEY_system) == first) {
                set_key(r, (key)k, value);
            }
        }
    }
}

/* ---- An array with an entry per stage -------------------------------------------------------- */

static void set_entry(reader *r, json_t *entry, calc_stage_run *run)
{
    const char *name;
    json_t *value;
    int member = 0;
    json_object_foreach (entry, name, value) {
        int k = calc_choice_index(key_names, name);
        if (k < 0 || k == KEY_COUNT) {
            calc_json_bind_unknown(r->report, name, member,
                                   k < 0 ? calc_nearest(name, key_names) : NULL);
        } else {
            size_t mark = calc_json_report_enter(r->report, name);
            set(r, (key)k, value, run);
            calc_json_report_leave(r->report, mark);
        }
        member++;
    }
}

static void read_array(reader *r, json_t *array)
{
    size_t i;
    json_t *entry;
    r->count = 0;
    json_array_foreach (array, i, entry) {
        size_t mark = calc_json_report_enter_index(r->report, i);
        if (!json_is_object(entry)) {
            r->count = set_element(r, KEY_blocks, entry, r->count);
        } else if (r->count == CALC_MAX_PLACES) {
            set_element(r, KEY_COUNT, entry, r->count);
        } else {
            set_entry(r, entry, &r->run[r->count++]);
        }
        calc_json_report_leave(r->report, mark);
        if (r->report->found.count > 0) {
            return;
        }
    }
}

void calc_json_stages_bind(calc_json_report *report, json_t *value, calc_exec *exec)
{
    reader r = {.report = report, .list = &exec->stages, .count = exec->pipeline_par};
    exec->stages = (calc_stage_list){0};
    for (int64_t i = 0; i < CALC_MAX_PLACES; i++) {
        r.run[i] = as_exec;
    }
    if (json_is_object(value) && json_object_size(value) > 0) {
        read_object(&r, value);
    } else if (json_is_array(value) && json_array_size(value) > 0) {
        read_array(&r, value);
    } else {
        calc_json_value_type_error(report, "an array of stages, or an object of lists", value,
                                   "for example {\"blocks\": [7, \"6x8\", 7]}");
        return;
    }
    if (report->found.count == 0 && !calc_stage_list_pack(r.run, r.count, r.list)) {
        calc_json_report_add(report, CALC_ERR_RANGE, CALC_JSON_VALUE, NULL,
                             "more than %d runs of equal stages", CALC_MAX_STAGE_RUNS);
    }
}

/* ---- Writing --------------------------------------------------------------------------------- */

/* The text of one key of a run, as JSON; without quotes if that is a text.
 * @return whether it is one */
static bool key_text(const calc_stage_list *list, key k, const calc_stage_run *run, char *text,
                     size_t size)
{
    const calc_table *exec = calc_table_of(CALC_KIND_EXEC);
    char set_text[CALC_CHOICE_SET_SIZE];
    int number = k == KEY_blocks ? run->blocks : run->recompute_blocks;
    bool given = k == KEY_system              ? run->chip > 0
                 : is_number(k)               ? number != CALC_STAGE_AS_EXEC
                 : k == KEY_recompute_modules ? run->modules != 0
                                              : run->recompute != CALC_STAGE_AS_EXEC;
    if (!given) {
        snprintf(text, size, "null");
        return false;
    }
    if (is_number(k)) {
        snprintf(text, size, "%d", number);
        return false;
    }
    const char *word =
        k == KEY_system ? list->name[run->chip - 1]
        : k == KEY_recompute_modules
            ? calc_choice_set_text(calc_table_find(exec, "recompute_modules")->choices,
                                   run->modules, set_text)
            : calc_table_find(exec, "activation_recompute")->choices[run->recompute];
    snprintf(text, size, "%s", word);
    return true;
}

static void put_text(calc_put *put, const char *name, const char *text, bool word, int64_t times)
{
    char many[CALC_CHOICE_SET_SIZE + 32];
    snprintf(many, sizeof many, "%lldx%s", (long long)times, text);
    if (times > 1) {
        calc_put_text(put, name, many);
    } else if (word) {
        calc_put_text(put, name, text);
    } else {
        calc_put_raw(put, name, text);
    }
}

/* Whether stages on the same chip say the same, and the chips are named. */
static bool is_by_chip(const calc_stage_list *list, key k)
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

static void put_by_chip(calc_put *put, const calc_stage_list *list, key k)
{
    char text[CALC_CHOICE_SET_SIZE];
    calc_put_object(put, key_names[k], CALC_PUT_LINE);
    for (int32_t chip = 1; chip <= list->chips; chip++) {
        int32_t i = 0;
        while (i < list->count && list->run[i].chip != chip) {
            i++;
        }
        bool word = i < list->count && key_text(list, k, &list->run[i], text, sizeof text);
        if (i < list->count && strcmp(text, "null") != 0) {
            put_text(put, list->name[chip - 1], text, word, 1);
        }
    }
    calc_put_close(put);
}

/* One key: a value if all runs agree, else a list. Blocks are a list always: it says how many. */
static void put_key(calc_put *put, const calc_stage_list *list, key k)
{
    char text[CALC_CHOICE_SET_SIZE], next[CALC_CHOICE_SET_SIZE];
    bool word = key_text(list, k, &list->run[0], text, sizeof text);
    bool same = true;
    for (int32_t i = 1; i < list->count; i++) {
        key_text(list, k, &list->run[i], next, sizeof next);
        same = same && strcmp(text, next) == 0;
    }
    if (same && strcmp(text, "null") == 0) {
        return;
    }
    if (same && k != KEY_blocks) {
        put_text(put, key_names[k], text, word, 1);
        return;
    }
    if (k != KEY_blocks && k != KEY_system && is_by_chip(list, k)) {
        put_by_chip(put, list, k);
        return;
    }
    calc_put_array(put, key_names[k], CALC_PUT_LINE);
    for (int32_t i = 0; i < list->count;) {
        int64_t times = 0;
        word = key_text(list, k, &list->run[i], text, sizeof text);
        do {
            times += list->run[i++].places;
            if (i < list->count) {
                key_text(list, k, &list->run[i], next, sizeof next);
            }
        } while (i < list->count && strcmp(text, next) == 0);
        put_text(put, NULL, text, word, times);
    }
    calc_put_close(put);
}

void calc_json_stages_put(calc_put *put, const char *name, const calc_stage_list *list)
{
    calc_put_object(put, name, CALC_PUT_LINE);
    for (key k = KEY_blocks; k < KEY_COUNT; k++) {
        put_key(put, list, k);
    }
    if (list->join_latency_s > 0) {
        calc_put_number(put, JOIN_LATENCY, list->join_latency_s);
    }
    calc_put_close(put);
}
