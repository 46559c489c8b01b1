#include "io/json_runs.h"

#include <stdio.h>
#include <string.h>

#include "io/json_load.h"
#include "io/utf8.h"
#include "spec/field.h"
#include "spec/stage_list.h"

const char *const calc_stage_key_names[] = {
#define CALC_X(name) #name,
    CALC_STAGE_KEYS(CALC_X)
#undef CALC_X
        CALC_JOIN_LATENCY,
    NULL};

static const calc_stage_run as_exec = {
    1, CALC_STAGE_AS_EXEC, CALC_STAGE_AS_EXEC, CALC_STAGE_AS_EXEC, 0, 0};

/* A list under construction: a run per place. */
typedef struct reader {
    calc_json_report *report;
    calc_stage_list *list;
    int64_t stages; /* of the execution */
    int64_t count;
    calc_stage_run run[CALC_MAX_PLACES];
} reader;

static void set_system(reader *r, const json_t *value, calc_stage_run *run)
{
    char name[sizeof r->list->name[0]];
    if (json_is_string(value) && strcmp(json_string_value(value), "null") == 0) {
        calc_json_value_type_error(r->report, "the name of a system", value, NULL);
        return;
    }
    if (!calc_json_value_name(r->report, value, "system", name, sizeof name)) {
        return;
    }
    int chip = calc_stage_list_chip(r->list, name);
    if (chip < 0) {
        calc_json_report_add(r->report, CALC_ERR_RANGE, CALC_JSON_VALUE, NULL,
                             "at most %d systems are named", CALC_MAX_CHIPS);
        return;
    }
    run->chip = (uint8_t)chip;
}

/* null: the execution's value. */
static void set(reader *r, calc_stage_key k, const json_t *value, calc_stage_run *run)
{
    const calc_field blocks = {
        .type = CALC_TYPE_INT, .lo = 0, .hi = CALC_MAX_RUN_BLOCKS, .unit = "blocks"};
    int64_t n = CALC_STAGE_AS_EXEC;
    if (json_is_null(value)) {
        return;
    }
    switch (k) {
    case CALC_STAGE_KEY_blocks:
        calc_json_value_scalar(r->report, &blocks, value, &n);
        run->blocks = (int16_t)n;
        break;
    case CALC_STAGE_KEY_recompute_blocks:
        calc_json_value_scalar(r->report, &blocks, value, &n);
        run->recompute_blocks = (int16_t)n;
        break;
    case CALC_STAGE_KEY_system:
        set_system(r, value, run);
        break;
    case CALC_STAGE_KEY_activation_recompute:
        calc_json_runs_recompute(r->report, value, &run->recompute);
        break;
    case CALC_STAGE_KEY_recompute_modules:
        calc_json_runs_modules(r->report, value, &run->modules);
        break;
    case CALC_STAGE_KEY_COUNT:
        break;
    }
}

/* One element of a list for places from `at` on.
 * @return the place after it */
static int64_t set_element(reader *r, calc_stage_key k, json_t *element, int64_t at)
{
    int64_t times;
    json_t *value = calc_json_report_made(
        r->report,
        calc_json_runs_repeated(element, calc_stage_key_is_number(k), CALC_MAX_PLACES, &times));
    if (at + times > CALC_MAX_PLACES) {
        calc_json_report_add(r->report, CALC_ERR_RANGE, CALC_JSON_VALUE, NULL,
                             "at most %d stages and chunks are listed", CALC_MAX_PLACES);
    } else if (value && k != CALC_STAGE_KEY_COUNT) {
        calc_stage_run run = as_exec;
        set(r, k, value, &run);
        for (int64_t i = 0; i < times; i++, at++) {
            calc_stage_run *to = &r->run[at];
            to->blocks = k == CALC_STAGE_KEY_blocks ? run.blocks : to->blocks;
            to->recompute_blocks =
                k == CALC_STAGE_KEY_recompute_blocks ? run.recompute_blocks : to->recompute_blocks;
            to->recompute =
                k == CALC_STAGE_KEY_activation_recompute ? run.recompute : to->recompute;
            to->chip = k == CALC_STAGE_KEY_system ? run.chip : to->chip;
            to->modules = k == CALC_STAGE_KEY_recompute_modules ? run.modules : to->modules;
        }
    }
    json_decref(value);
    return at;
}

/* @param whole  places of the longest list; a shorter one is of stages and counts for every chunk
 */
static void set_list(reader *r, calc_stage_key k, json_t *list, int64_t whole)
{
    int64_t length = calc_json_runs_length(list, CALC_MAX_PLACES);
    bool of_stages = length > 0 && length == r->stages && whole % length == 0;
    if (length == 0 || (length != whole && !of_stages)) {
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
static void set_map(reader *r, calc_stage_key k, json_t *map)
{
    const char *name;
    json_t *value;
    int member = 0;
    json_object_foreach (map, name, value) {
        int chip = 0;
        char shown[CALC_UTF8_SHOW_SIZE];
        for (int32_t i = 0; i < r->list->chips; i++) {
            chip = strcmp(r->list->name[i], name) == 0 ? i + 1 : chip;
        }
        size_t mark = calc_json_report_enter(r->report, calc_utf8_show(shown, name, strlen(name)));
        if (chip == 0) {
            calc_json_report_add(r->report, CALC_ERR_FIELD, member, "name it in \"system\", too",
                                 "no stage is on a system \"%s\"",
                                 calc_utf8_show(shown, name, strlen(name)));
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

static void set_key(reader *r, calc_stage_key k, json_t *value)
{
    size_t mark = calc_json_report_enter(r->report, calc_stage_key_names[k]);
    if (json_is_array(value)) {
        set_list(r, k, value, r->count);
    } else if (json_is_object(value) && k != CALC_STAGE_KEY_system) {
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
        size_t mark = calc_json_report_enter(r->report, CALC_JOIN_LATENCY);
        calc_json_value_scalar(r->report, &seconds, value, &r->list->join_latency_s);
        calc_json_report_leave(r->report, mark);
    }
}

/* The system comes first, because maps are by system. */
static void read_object(reader *r, json_t *object)
{
    const char *name;
    json_t *value;
    int member = 0;
    int64_t listed = 0;
    json_object_foreach (object, name, value) {
        int64_t length = json_is_array(value) ? calc_json_runs_length(value, CALC_MAX_PLACES) : 0;
        listed = length > listed ? length : listed;
        if (calc_choice_index(calc_stage_key_names, name) < 0) {
            calc_json_bind_unknown(r->report, name, member,
                                   calc_nearest(name, calc_stage_key_names));
        }
        member++;
    }
    r->count = listed > 0 ? listed : r->count;
    read_join_latency(r, json_object_get(object, CALC_JOIN_LATENCY));
    if (r->count > CALC_MAX_PLACES || r->count < 1) {
        calc_json_report_add(r->report, CALC_ERR_RANGE, CALC_JSON_VALUE, NULL,
                             "at most %d stages and chunks are listed, not %lld", CALC_MAX_PLACES,
                             (long long)r->count);
        return;
    }
    for (int first = 1; first >= 0; first--) {
        json_object_foreach (object, name, value) {
            int k = calc_choice_index(calc_stage_key_names, name);
            if (k >= 0 && k < CALC_STAGE_KEY_COUNT && (k == CALC_STAGE_KEY_system) == first) {
                set_key(r, (calc_stage_key)k, value);
            }
        }
    }
}

static void set_entry(reader *r, json_t *entry, calc_stage_run *run)
{
    const char *name;
    json_t *value;
    int member = 0;
    json_object_foreach (entry, name, value) {
        int k = calc_choice_index(calc_stage_key_names, name);
        if (k < 0 || k == CALC_STAGE_KEY_COUNT) {
            calc_json_bind_unknown(r->report, name, member,
                                   k < 0 ? calc_nearest(name, calc_stage_key_names) : NULL);
        } else {
            size_t mark = calc_json_report_enter(r->report, name);
            set(r, (calc_stage_key)k, value, run);
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
            r->count = set_element(r, CALC_STAGE_KEY_blocks, entry, r->count);
        } else if (r->count == CALC_MAX_PLACES) {
            set_element(r, CALC_STAGE_KEY_COUNT, entry, r->count);
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
    reader r = {.report = report,
                .list = &exec->stages,
                .stages = exec->pipeline_par,
                .count = exec->pipeline_par};
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
