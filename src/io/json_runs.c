#include "io/json_runs.h"

#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "io/json_load.h"
#include "io/schema.h"
#include "io/utf8.h"
#include "spec/field.h"
#include "spec/layer_list.h"
#include "spec/software.h"
#include "spec/stage_list.h"

enum { MOST_LAYERS = 1024 /* entries of a list before equal ones are joined */ };
_Static_assert((int)CALC_STAGE_AS_EXEC == (int)CALC_LAYER_AS_EXEC, "one value is absent");

/* A key of a run. Numbers have a range; words and modules are those of the execution's row of that
 * name; a text names a system. */
typedef struct run_key {
    const char *name;
    calc_field_type type; /* INT, ENUM, SET, or NOTE of a system */
    size_t offset;        /* of an int16_t */
    int least, most;
    const char *unit;
} run_key;

typedef struct reader reader;

/* A sort of lists, and the key beside those of its runs. */
typedef struct run_sort {
    const run_key *keys;
    const char *const *names; /* of the keys, then that beside them; NULL at the end */
    int count;                /* of the keys; blocks are the first */
    int64_t most;             /* entries */
    size_t size;              /* of a run */
    const void *plain;        /* a run that says nothing */
    void (*beside)(reader *, json_t *value);
    bool counted; /* lists tell how many there are; else pipeline_par does */
    const char *of_runs, *of_list, *expected, *example;
} run_sort;

/* A list under construction, not yet in runs of equal ones. */
struct reader {
    calc_json_report *report;
    const run_sort *sort;
    calc_exec *exec;
    int64_t stages, count;
    int before; /* errors of other fields */
    union {
        calc_stage_run stage[CALC_MAX_PLACES];
        calc_layer_run layer[MOST_LAYERS];
    } run;
};

static bool is_right(const reader *r)
{
    return r->report->found.count == r->before;
}

static void *run_at(reader *r, int64_t i)
{
    return (char *)&r->run + (size_t)i * r->sort->size;
}

static int get(const run_key *k, const void *run)
{
    return *(const int16_t *)(const void *)((const char *)run + k->offset);
}

static void put(const run_key *k, void *run, int value)
{
    *(int16_t *)(void *)((char *)run + k->offset) = (int16_t)value;
}

/* How often a text says its value ("7x11"), and the value; once, if it says nothing of that.
 * @return a new reference, NULL without memory */
static json_t *repeated(json_t *value, bool number, int64_t most, int64_t *times)
{
    const char *text = json_string_value(value);
    char *end;
    *times = 1;
    if (!text || text[0] < '0' || text[0] > '9') {
        return json_incref(value);
    }
    long n = strtol(text, &end, 10);
    if (*end != 'x' || n < 1 || n > most) {
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

/* Elements of a list, each as often as it says; 0 if it is none. */
static int64_t length_of(json_t *list, int64_t most)
{
    int64_t count = 0;
    size_t i;
    json_t *element;
    json_array_foreach (list, i, element) {
        int64_t times;
        json_decref(repeated(element, false, most, &times));
        count += times;
    }
    return count;
}

static const calc_field *row_of(const run_key *k)
{
    return calc_table_find(calc_table_of(CALC_KIND_EXEC), k->name);
}

/* The number of a system's name; 0 with an error. */
static int chip_of(reader *r, const json_t *value)
{
    calc_stage_list *list = &r->exec->stages;
    char name[sizeof list->name[0]];
    if (json_is_string(value) && strcmp(json_string_value(value), "null") == 0) {
        calc_json_value_type_error(r->report, "the name of a system", value, NULL);
    } else if (calc_json_value_name(r->report, value, "system", name, sizeof name)) {
        int chip = calc_stage_list_chip(list, name);
        if (chip > 0) {
            return chip;
        }
        calc_json_report_add(r->report, CALC_ERR_RANGE, CALC_JSON_VALUE, NULL,
                             "at most %d systems are named", CALC_MAX_CHIPS);
    }
    return 0;
}

/* null: as a run that says nothing. */
static void set(reader *r, const run_key *k, const json_t *value, void *run)
{
    const calc_field number = {
        .type = CALC_TYPE_INT, .lo = k->least, .hi = k->most, .unit = k->unit};
    int64_t n = 0;
    int word = 0;
    if (json_is_null(value)) {
        return;
    }
    if (k->type == CALC_TYPE_NOTE) {
        word = chip_of(r, value);
    } else {
        calc_json_value_scalar(r->report, k->type == CALC_TYPE_INT ? &number : row_of(k), value,
                               k->type == CALC_TYPE_ENUM ? (void *)&word : &n);
    }
    put(k, run, word + (int)n);
}

/* The keys of one run, or of the ends, which have no blocks. */
static void set_entry(reader *r, json_t *entry, void *run, bool of_ends)
{
    const char *name;
    json_t *value;
    json_object_foreach (entry, name, value) {
        int k = calc_choice_index(r->sort->names, name);
        if (k < 0 || k == r->sort->count || (of_ends && k == 0)) {
            calc_json_bind_unknown(r->report, entry, name,
                                   k < 0 ? calc_nearest(name, r->sort->names) : NULL);
            continue;
        }
        CALC_JSON_INSIDE (r->report, calc_json_report_enter(r->report, name)) {
            set(r, &r->sort->keys[k], value, run);
        }
    }
}

static void too_many(reader *r, const char *found)
{
    calc_json_report_add(r->report, CALC_ERR_RANGE, CALC_JSON_VALUE, NULL,
                         "at most %lld %s are listed%s", (long long)r->sort->most, r->sort->of_runs,
                         found);
}

/* One element of a list for entries from `at` on.
 * @return the entry after it; `at` if there are too many */
static int64_t set_element(reader *r, const run_key *k, json_t *element, int64_t at)
{
    int64_t times;
    json_t *value = calc_json_report_made(
        r->report, repeated(element, k->type == CALC_TYPE_INT, r->sort->most, &times));
    union {
        calc_stage_run stage;
        calc_layer_run layer;
    } one;
    memcpy(&one, r->sort->plain, r->sort->size);
    if (at + times > r->sort->most) {
        too_many(r, "");
        times = 0;
    } else if (value) {
        set(r, k, value, &one);
    }
    for (int64_t i = 0; i < times; i++) {
        put(k, run_at(r, at + i), get(k, &one));
    }
    json_decref(value);
    return at + times;
}

/* A list that is shorter than others may be of stages, and counts for every chunk. */
static void set_list(reader *r, const run_key *k, json_t *list)
{
    int64_t length = length_of(list, r->sort->most);
    bool of_stages = length > 0 && length == r->stages && r->count % length == 0;
    if (length == 0 || (length != r->count && !of_stages)) {
        calc_json_report_add(r->report, CALC_ERR_RANGE, CALC_JSON_VALUE, r->sort->of_list,
                             "%lld values beside %lld of another list", (long long)length,
                             (long long)r->count);
        return;
    }
    for (int64_t at = 0; at < r->count;) {
        size_t i;
        json_t *element;
        int64_t before = at;
        CALC_JSON_ELEMENTS (r->report, list, i, element) {
            at = set_element(r, k, element, at);
        }
        at = at == before ? r->count : at; /* an error was reported */
    }
}

/* A value for each system. */
static void set_map(reader *r, const run_key *k, json_t *map)
{
    const calc_stage_list *list = &r->exec->stages;
    const char *name;
    json_t *value;
    int member = 0;
    json_object_foreach (map, name, value) {
        int chip = 0;
        for (int32_t i = 0; i < list->chips; i++) {
            chip = strcmp(list->name[i], name) == 0 ? i + 1 : chip;
        }
        size_t mark = calc_json_report_enter(r->report, calc_utf8_shown(name, strlen(name)));
        if (chip == 0) {
            calc_json_report_add(r->report, CALC_ERR_FIELD, member, "name it in \"system\", too",
                                 "no stage is on a system \"%s\"",
                                 calc_utf8_shown(name, strlen(name)));
        }
        for (int64_t i = 0; i < r->count && chip > 0; i++) {
            if (r->run.stage[i].chip == chip) {
                set(r, k, value, run_at(r, i));
            }
        }
        calc_json_report_leave(r->report, mark);
        member++;
    }
}

static void set_key(reader *r, int index, json_t *value)
{
    const run_key *k = &r->sort->keys[index];
    if (index == r->sort->count) {
        r->sort->beside(r, value);
    } else if (json_is_array(value)) {
        set_list(r, k, value);
    } else if (json_is_object(value) && !r->sort->counted && k->type != CALC_TYPE_NOTE) {
        set_map(r, k, value);
    } else {
        for (int64_t i = 0; i < r->count && is_right(r); i++) {
            set(r, k, value, run_at(r, i));
        }
    }
}

/* As many as the longest list has, or else as many as there are stages; a single number of blocks
 * is one run of layers.
 * @return whether that can be */
static bool count_runs(reader *r, json_t *object)
{
    const char *name;
    json_t *value;
    int64_t listed = 0;
    json_object_foreach (object, name, value) {
        if (calc_choice_index(r->sort->names, name) < 0) {
            calc_json_bind_unknown(r->report, object, name, calc_nearest(name, r->sort->names));
        }
        int64_t length = length_of(value, r->sort->most);
        listed = length > listed ? length : listed;
    }
    r->count = listed > 0          ? listed
               : !r->sort->counted ? r->stages
                                   : json_is_integer(json_object_get(object, "blocks"));
    if (is_right(r) && r->sort->counted && r->count == 0) {
        calc_json_report_add(r->report, CALC_ERR_FIELD, CALC_JSON_VALUE,
                             "give \"blocks\", for example [20, 12]",
                             "no list says how many layers there are");
    } else if (is_right(r) && (r->count > r->sort->most || r->count < 1)) {
        char found[32];
        snprintf(found, sizeof found, ", not %lld", (long long)r->count);
        too_many(r, found);
    }
    return is_right(r);
}

/* The key beside the others first, then the system, because maps are by system. */
static void read_object(reader *r, json_t *object)
{
    const char *name;
    json_t *value;
    for (int turn = count_runs(r, object) ? 0 : 3; turn < 3; turn++) {
        CALC_JSON_MEMBERS (r->report, object, name, value) {
            int k = calc_choice_index(r->sort->names, name);
            bool beside = k == r->sort->count;
            if (k >= 0 && turn == (beside ? 0 : r->sort->keys[k].type == CALC_TYPE_NOTE ? 1 : 2)) {
                set_key(r, k, value);
            }
        }
    }
}

static void read_array(reader *r, json_t *array)
{
    size_t i;
    json_t *entry;
    json_array_foreach (array, i, entry) {
        size_t mark = calc_json_report_enter_index(r->report, i);
        if (!json_is_object(entry)) {
            r->count = set_element(r, &r->sort->keys[0], entry, r->count);
        } else if (r->count == r->sort->most) {
            too_many(r, "");
        } else {
            set_entry(r, entry, run_at(r, r->count++), false);
        }
        calc_json_report_leave(r->report, mark);
        if (!is_right(r)) {
            return;
        }
    }
}

/* @return whether there is a list without errors in it */
static bool read_runs(reader *r, json_t *value)
{
    for (int64_t i = 0; i < r->sort->most; i++) {
        memcpy(run_at(r, i), r->sort->plain, r->sort->size);
    }
    if (json_is_object(value) && json_object_size(value) > 0) {
        read_object(r, value);
    } else if (json_is_array(value) && json_array_size(value) > 0) {
        read_array(r, value);
    } else {
        calc_json_value_type_error(r->report, r->sort->expected, value, r->sort->example);
    }
    return is_right(r);
}

/* ---- Writing ----------------------------------------------------------------------------------*/

/* The text of a key as JSON; without quotes if it is a word, and then true. */
static bool text_of(const run_key *k, const void *run, const calc_stage_list *stages,
                    char text[CALC_CHOICE_SET_SIZE])
{
    char set[CALC_CHOICE_SET_SIZE];
    int value = get(k, run);
    bool word = k->type != CALC_TYPE_INT;
    if (value == (k->type == CALC_TYPE_INT || k->type == CALC_TYPE_ENUM ? CALC_STAGE_AS_EXEC : 0)) {
        snprintf(text, CALC_CHOICE_SET_SIZE, "null");
        return false;
    }
    if (!word) {
        snprintf(text, CALC_CHOICE_SET_SIZE, "%d", value);
    } else {
        snprintf(text, CALC_CHOICE_SET_SIZE, "%s",
                 k->type == CALC_TYPE_NOTE ? stages->name[value - 1]
                 : k->type == CALC_TYPE_ENUM
                     ? row_of(k)->choices[value]
                     : calc_choice_set_text(row_of(k)->choices, (unsigned)value, set));
    }
    return word;
}

/* Writes the value of one run, that many times.
 * @param always  says how often, also if it is once */
static void put_times(calc_put *put, const char *name, const char *text, bool word, int64_t times,
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

/* Runs to be written: of layers, or of stages, which are as many as their places. */
typedef struct writer {
    const run_sort *sort;
    const char *run;
    int32_t count;
    const calc_stage_list *stages; /* or NULL */
} writer;

static bool text_at(const writer *w, const run_key *k, int32_t i, char *text)
{
    return text_of(k, w->run + (size_t)i * w->sort->size, w->stages, text);
}

/* Equal neighbours once: "7x11". */
static void put_each(calc_put *put, const writer *w, const run_key *k)
{
    char text[CALC_CHOICE_SET_SIZE], next[CALC_CHOICE_SET_SIZE];
    calc_put_array(put, k->name, CALC_PUT_LINE);
    for (int32_t i = 0; i < w->count;) {
        int64_t times = 0;
        bool word = text_at(w, k, i, text);
        do {
            times += w->stages ? w->stages->run[i].places : 1;
            if (++i < w->count) {
                text_at(w, k, i, next);
            }
        } while (i < w->count && strcmp(text, next) == 0);
        bool digits = text[0] >= '0' && text[0] <= '9'; /* of a name: not how often */
        put_times(put, NULL, text, word, times, word && digits);
    }
    calc_put_close(put);
}

/* Whether all stages on the same chip have the same value, and the chips are named. */
static bool is_by_chip(const writer *w, const run_key *k)
{
    char a[CALC_CHOICE_SET_SIZE], b[CALC_CHOICE_SET_SIZE];
    bool same = w->stages && w->stages->chips > 1;
    for (int32_t i = 0; i < w->count && same; i++) {
        const calc_stage_run *run = w->stages->run;
        text_at(w, k, i, a);
        same = run[i].chip > 0;
        for (int32_t n = 0; n < i; n++) {
            text_at(w, k, n, b);
            same = same && (run[n].chip != run[i].chip || strcmp(a, b) == 0);
        }
    }
    return same;
}

static void put_by_chip(calc_put *put, const writer *w, const run_key *k)
{
    char text[CALC_CHOICE_SET_SIZE];
    calc_put_object(put, k->name, CALC_PUT_LINE);
    for (int32_t chip = 1; chip <= w->stages->chips; chip++) {
        int32_t i = 0;
        while (i < w->count && w->stages->run[i].chip != chip) {
            i++;
        }
        bool word = i < w->count && text_at(w, k, i, text);
        if (i < w->count && strcmp(text, "null") != 0) {
            put_times(put, w->stages->name[chip - 1], text, word, 1, false);
        }
    }
    calc_put_close(put);
}

/* One key: a value if all runs agree, else a list. Blocks are always a list, of nulls if necessary
 * where no other key is a list: its length is the number of stages. */
static void put_key(calc_put *put, const writer *w, int index)
{
    const run_key *k = &w->sort->keys[index];
    char text[CALC_CHOICE_SET_SIZE], next[CALC_CHOICE_SET_SIZE];
    bool word = text_at(w, k, 0, text), same = true;
    for (int32_t i = 1; i < w->count; i++) {
        text_at(w, k, i, next);
        same = same && strcmp(text, next) == 0;
    }
    if (same && strcmp(text, "null") == 0 && !(index == 0 && w->count == 1)) {
        return;
    }
    if (same && index > 0) {
        put_times(put, k->name, text, word, 1, false);
    } else if (index > 0 && k->type != CALC_TYPE_NOTE && is_by_chip(w, k)) {
        put_by_chip(put, w, k);
    } else {
        put_each(put, w, k);
    }
}

/* ---- Stages and layers ------------------------------------------------------------------------*/

#define KEY(run, name, member, type, ...)                                                          \
    {                                                                                              \
        name, CALC_TYPE_##type, offsetof(run, member), __VA_ARGS__                                 \
    }

static const run_key stage_keys[] = {
    KEY(calc_stage_run, "blocks", blocks, INT, 0, CALC_MAX_RUN_BLOCKS, "blocks"),
    KEY(calc_stage_run, "system", chip, NOTE, 0, 0, NULL),
    KEY(calc_stage_run, "activation_recompute", recompute, ENUM, 0, 0, NULL),
    KEY(calc_stage_run, "recompute_modules", modules, SET, 0, 0, NULL),
    KEY(calc_stage_run, "recompute_blocks", recompute_blocks, INT, 0, CALC_MAX_RUN_BLOCKS,
        "blocks")};
enum { STAGE_KEYS = sizeof stage_keys / sizeof *stage_keys };
static const char *const stage_names[] = {
    "blocks",       "system", "activation_recompute", "recompute_modules", "recompute_blocks",
    "join_latency", NULL};

static const run_key layer_keys[] = {
    KEY(calc_layer_run, "blocks", blocks, INT, 1, CALC_MAX_RUN_BLOCKS, NULL),
    KEY(calc_layer_run, "tensor_par", strategy.tensor_par, INT, 1, 10000, NULL),
    KEY(calc_layer_run, "context_par", strategy.context_par, INT, 1, 10000, NULL),
    KEY(calc_layer_run, "expert_par", strategy.expert_par, INT, 1, 10000, NULL),
    KEY(calc_layer_run, "zero_stage", strategy.zero_stage, INT, 0, 3, NULL),
    KEY(calc_layer_run, "context_par_type", strategy.context_par_type, ENUM, 0, 0, NULL),
    KEY(calc_layer_run, "activation_recompute", strategy.recompute, ENUM, 0, 0, NULL),
    KEY(calc_layer_run, "recompute_modules", strategy.modules, SET, 0, 0, NULL)};
enum { LAYER_KEYS = sizeof layer_keys / sizeof *layer_keys };
static const char *const layer_names[] = {
    "blocks",           "tensor_par",           "context_par",       "expert_par", "zero_stage",
    "context_par_type", "activation_recompute", "recompute_modules", "ends",       NULL};

static const calc_field latency = {.type = CALC_TYPE_REAL, .lo = 0, .hi = 1, .unit = "s"};

static void read_join_latency(reader *r, json_t *value)
{
    calc_json_value_scalar(r->report, &latency, value, &r->exec->stages.join_latency_s);
}

static void read_ends(reader *r, json_t *value)
{
    calc_layer_run run = {0, CALC_LAYER_STRATEGY_AS_EXEC};
    if (json_is_object(value)) {
        set_entry(r, value, &run, true);
    } else if (!json_is_null(value)) {
        calc_json_value_type_error(r->report, "an object", value,
                                   "for example {\"tensor_par\": 8}");
    }
    r->exec->layers.ends = run.strategy;
}

static const calc_stage_run plain_stage = {
    1, CALC_STAGE_AS_EXEC, CALC_STAGE_AS_EXEC, CALC_STAGE_AS_EXEC, 0, 0};
static const calc_layer_run plain_layer = {1, CALC_LAYER_STRATEGY_AS_EXEC};

static const run_sort stage_sort = {stage_keys,
                                    stage_names,
                                    STAGE_KEYS,
                                    CALC_MAX_PLACES,
                                    sizeof(calc_stage_run),
                                    &plain_stage,
                                    read_join_latency,
                                    false,
                                    "stages and chunks",
                                    "a list has a value per stage, or per stage and chunk",
                                    "an array of stages, or an object of lists",
                                    "for example {\"blocks\": [7, \"6x8\", 7]}"};
static const run_sort layer_sort = {layer_keys,
                                    layer_names,
                                    LAYER_KEYS,
                                    MOST_LAYERS,
                                    sizeof(calc_layer_run),
                                    &plain_layer,
                                    read_ends,
                                    true,
                                    "runs of layers",
                                    "a list has a value per run of layers",
                                    "an array of runs of layers, or an object of lists",
                                    "for example {\"blocks\": [20, 12], \"tensor_par\": [4, 1]}"};

static void bind_runs(calc_json_report *report, bool layers, json_t *value, calc_exec *exec)
{
    reader r = {.report = report,
                .sort = layers ? &layer_sort : &stage_sort,
                .exec = exec,
                .before = report->found.count,
                .stages = layers ? 0 : exec->pipeline_par};
    if (layers) {
        exec->layers = (calc_layer_list){.ends = calc_layer_as_exec};
    } else {
        exec->stages = (calc_stage_list){0};
    }
    if (read_runs(&r, value) &&
        !(layers ? calc_layer_list_pack(r.run.layer, r.count, &exec->layers)
                 : calc_stage_list_pack(r.run.stage, r.count, &exec->stages))) {
        calc_json_report_add(report, CALC_ERR_RANGE, CALC_JSON_VALUE, NULL,
                             "more than %d runs of equal %s",
                             layers ? (int)CALC_MAX_LAYER_RUNS : (int)CALC_MAX_STAGE_RUNS,
                             layers ? "layers" : "stages");
    }
}

static void put_stages(calc_put *put, const char *name, const calc_stage_list *list)
{
    const writer w = {&stage_sort, (const char *)list->run, list->count, list};
    calc_put_object(put, name, CALC_PUT_LINE);
    for (int k = 0; k < STAGE_KEYS; k++) {
        put_key(put, &w, k);
    }
    if (list->join_latency_s > 0) {
        calc_put_number(put, stage_names[STAGE_KEYS], list->join_latency_s);
    }
    calc_put_close(put);
}

static void put_layers(calc_put *put, const char *name, const calc_layer_list *list)
{
    const writer w = {&layer_sort, (const char *)list->run, list->count, NULL};
    const calc_layer_run ends = {CALC_LAYER_AS_EXEC, list->ends};
    char text[CALC_CHOICE_SET_SIZE];
    calc_put_object(put, name, CALC_PUT_LINE);
    for (int k = 0; k < LAYER_KEYS; k++) {
        put_key(put, &w, k);
    }
    if (!calc_layer_list_alike(&list->ends, &calc_layer_as_exec)) {
        calc_put_object(put, layer_names[LAYER_KEYS], CALC_PUT_LINE);
        for (int k = 0; k < LAYER_KEYS; k++) {
            bool word = text_of(&layer_keys[k], &ends, NULL, text);
            if (strcmp(text, "null") != 0) {
                put_times(put, layer_names[k], text, word, 1, false);
            }
        }
        calc_put_close(put);
    }
    calc_put_close(put);
}

/* Allowed values of a key. */
static void schema_value(calc_put *put, const char *key, const run_key *k)
{
    const calc_field number = {.type = CALC_TYPE_INT, .lo = k->least, .hi = k->most};
    static const calc_field name = {.type = CALC_TYPE_NOTE};
    calc_schema_value(put, key,
                      k->type == CALC_TYPE_INT    ? &number
                      : k->type == CALC_TYPE_NOTE ? &name
                                                  : row_of(k));
}

/* An object of keys from the n-th on, each of which may be null. */
static void schema_entry(calc_put *put, const char *key, const run_sort *sort, int n)
{
    calc_put_object(put, key, CALC_PUT_LINE);
    calc_putf(put, "type: %s, additionalProperties?: %d, properties: {", "object", false);
    for (int k = n; k < sort->count; k++) {
        calc_put_object(put, sort->names[k], CALC_PUT_LINE);
        calc_putf(put, "anyOf: [{type: %s}", "null");
        schema_value(put, NULL, &sort->keys[k]);
        calc_putf(put, "]}");
    }
    calc_putf(put, "}}");
}

void calc_json_runs_schema(calc_put *put, const char *key, bool layers)
{
    const run_sort *sort = layers ? &layer_sort : &stage_sort;
    calc_put_object(put, key, CALC_PUT_LINE);
    calc_putf(put, "anyOf: [{type: %s, minItems: %d, items: {anyOf: [", "array", 1);
    calc_putf(put, "{type: %s, minimum: %d} {type: %s, pattern: %s}", "integer", 1, "string",
              "^[0-9]+x[0-9]+$");
    schema_entry(put, NULL, sort, 0);
    calc_putf(put, "]}} {type: %s, minProperties: %d, additionalProperties?: %d, properties: {",
              "object", 1, false);
    for (int k = 0; k < sort->count; k++) {
        calc_put_object(put, sort->names[k], CALC_PUT_LINE);
        calc_putf(put, "anyOf: [");
        schema_value(put, NULL, &sort->keys[k]);
        if (!layers) {
            calc_putf(put, "{type: %s", "object");
            schema_value(put, "additionalProperties", &sort->keys[k]);
            calc_putf(put, "}");
        }
        calc_putf(put, "{type: %s, minItems: %d, items: {anyOf: [", "array", 1);
        schema_value(put, NULL, &sort->keys[k]);
        calc_putf(put, "{type: %s} {type: %s, pattern: %s}]}}]}", "null", "string",
                  sort->keys[k].type == CALC_TYPE_INT ? "^[0-9]+x(null|[0-9]+)$"
                                                      : "^[0-9]+x(null|.+)$");
    }
    if (layers) {
        schema_entry(put, sort->names[sort->count], sort, 1);
    } else {
        calc_schema_value(put, sort->names[sort->count], &latency);
    }
    calc_putf(put, "}}]}");
}

void calc_json_lists_clear(calc_kind kind, void *object)
{
    if (kind == CALC_KIND_EXEC) {
        calc_exec *exec = object;
        exec->stages = (calc_stage_list){0};
        exec->layers = (calc_layer_list){0};
    } else if (kind == CALC_KIND_APP) {
        ((calc_app *)object)->stack = (calc_stack){0};
    }
}

void calc_json_lists_bind(calc_json_report *report, const calc_field *field, json_t *value,
                          void *object)
{
    if (field->flags & (CALC_STAGES | CALC_LAYERS)) {
        bind_runs(report, field->flags & CALC_LAYERS, value, object);
    } else if (field->flags & CALC_SOFTWARE) {
        calc_exec *exec = object;
        exec->software_read &= !calc_json_value_name(report, value, "software document",
                                                     exec->software, sizeof exec->software);
    } else {
        calc_json_stack_bind(report, field, value, object);
    }
}

void calc_json_lists_take(const calc_field *field, void *object)
{
    if (field->flags & CALC_STAGES) {
        ((calc_exec *)object)->stages = (calc_stage_list){0};
    } else if (field->flags & CALC_LAYERS) {
        ((calc_exec *)object)->layers = (calc_layer_list){0};
    } else if (field->flags & CALC_SOFTWARE) {
        calc_software_apply(object, &(calc_exec){.automatic = 0}); /* nor what it gave */
        ((calc_exec *)object)->software[0] = '\0';
    } else {
        ((calc_app *)object)->stack = (calc_stack){0};
    }
}

bool calc_json_lists_put(calc_put *put, const calc_field *field, const void *object)
{
    const calc_exec *exec = object;
    if (field->flags & CALC_STAGES && exec->stages.count > 0) {
        put_stages(put, field->key, &exec->stages);
    } else if (field->flags & CALC_LAYERS && exec->layers.count > 0) {
        put_layers(put, field->key, &exec->layers);
    } else if (field->flags & CALC_SOFTWARE && exec->software[0]) {
        calc_put_text(put, field->key, exec->software);
    } else if (field->flags & CALC_STACK) {
        calc_json_stack_put(put, field, object);
    }
    return calc_json_is_list(field);
}
