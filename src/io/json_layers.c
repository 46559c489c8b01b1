#include "io/json_runs.h"

#include <stdio.h>
#include <string.h>

#include "io/json_load.h"
#include "spec/field.h"
#include "spec/layer_list.h"

const char *const calc_layer_key_names[] = {
#define CALC_X(name, lo, hi) #name,
    CALC_LAYER_NUMBERS(CALC_X) CALC_LAYER_WORDS(CALC_X)
#undef CALC_X
        CALC_LAYER_ENDS,
    NULL};

enum { MOST = 1024 /* entries of a list before equal ones are joined */ };

/* A list under construction: entries, each of so many blocks. */
typedef struct reader {
    calc_json_report *report;
    int64_t count;
    calc_layer_run run[MOST];
} reader;

static int16_t number_of(reader *r, calc_layer_key k, const json_t *value)
{
    static const calc_field rows[] = {
#define CALC_X(name, least, most) {.type = CALC_TYPE_INT, .lo = (least), .hi = (most)},
        CALC_LAYER_NUMBERS(CALC_X)
#undef CALC_X
    };
    int64_t n = 0;
    calc_json_value_scalar(r->report, &rows[k], value, &n);
    return (int16_t)n;
}

static void set_type(reader *r, const json_t *value, calc_layer_strategy *s)
{
    int type = 0;
    calc_json_value_scalar(r->report,
                           calc_table_find(calc_table_of(CALC_KIND_EXEC), "context_par_type"),
                           value, &type);
    s->context_par_type = (int8_t)type;
}

/* null: the execution's value; for blocks: one. */
static void set(reader *r, calc_layer_key k, const json_t *value, calc_layer_run *run)
{
    calc_layer_strategy *s = &run->strategy;
    if (json_is_null(value)) {
        return;
    }
    switch (k) {
    case CALC_LAYER_KEY_blocks:
        run->blocks = number_of(r, k, value);
        break;
    case CALC_LAYER_KEY_tensor_par:
        s->tensor_par = number_of(r, k, value);
        break;
    case CALC_LAYER_KEY_context_par:
        s->context_par = number_of(r, k, value);
        break;
    case CALC_LAYER_KEY_expert_par:
        s->expert_par = number_of(r, k, value);
        break;
    case CALC_LAYER_KEY_zero_stage:
        s->zero_stage = (int8_t)number_of(r, k, value);
        break;
    case CALC_LAYER_KEY_context_par_type:
        set_type(r, value, s);
        break;
    case CALC_LAYER_KEY_activation_recompute:
        calc_json_runs_recompute(r->report, value, &s->recompute);
        break;
    case CALC_LAYER_KEY_recompute_modules:
        calc_json_runs_modules(r->report, value, &s->modules);
        break;
    case CALC_LAYER_KEY_COUNT:
        break;
    }
}

static void set_entry(reader *r, json_t *entry, calc_layer_run *run, bool of_ends)
{
    const char *name;
    json_t *value;
    int member = 0;
    json_object_foreach (entry, name, value) {
        int k = calc_choice_index(calc_layer_key_names, name);
        if (k < 0 || k == CALC_LAYER_KEY_COUNT || (of_ends && k == CALC_LAYER_KEY_blocks)) {
            calc_json_bind_unknown(r->report, name, member,
                                   k < 0 ? calc_nearest(name, calc_layer_key_names) : NULL);
        } else {
            size_t mark = calc_json_report_enter(r->report, name);
            set(r, (calc_layer_key)k, value, run);
            calc_json_report_leave(r->report, mark);
        }
        member++;
    }
}

static void too_many(reader *r)
{
    calc_json_report_add(r->report, CALC_ERR_RANGE, CALC_JSON_VALUE, NULL,
                         "at most %d runs of layers are listed", MOST);
}

/* One element of a list for entries from `at` on.
 * @return the entry after it */
static int64_t set_element(reader *r, calc_layer_key k, json_t *element, int64_t at)
{
    int64_t times;
    bool number = k < CALC_LAYER_KEY_context_par_type;
    json_t *value =
        calc_json_report_made(r->report, calc_json_runs_repeated(element, number, MOST, &times));
    if (at + times > MOST) {
        too_many(r);
        times = 0;
    }
    for (int64_t i = 0; i < times && value; i++) {
        if (i == 0 || r->report->found.count == 0) {
            set(r, k, value, &r->run[at + i]);
        }
    }
    json_decref(value);
    return at + times;
}

static void set_list(reader *r, calc_layer_key k, json_t *list)
{
    size_t i;
    json_t *element;
    int64_t at = 0;
    int64_t length = calc_json_runs_length(list, MOST);
    if (length != r->count) {
        calc_json_report_add(
            r->report, CALC_ERR_RANGE, CALC_JSON_VALUE, "a list has a value per run of layers",
            "%lld values beside %lld of another list", (long long)length, (long long)r->count);
        return;
    }
    json_array_foreach (list, i, element) {
        size_t mark = calc_json_report_enter_index(r->report, i);
        at = set_element(r, k, element, at);
        calc_json_report_leave(r->report, mark);
    }
}

static void set_ends(reader *r, json_t *value, calc_layer_list *list)
{
    calc_layer_run run = {0, calc_layer_as_exec};
    if (json_is_object(value)) {
        set_entry(r, value, &run, true);
    } else if (!json_is_null(value)) {
        calc_json_value_type_error(r->report, "an object", value,
                                   "for example {\"tensor_par\": 8}");
    }
    list->ends = run.strategy;
}

static void set_key(reader *r, const char *name, json_t *value, calc_layer_list *list)
{
    int k = calc_choice_index(calc_layer_key_names, name);
    size_t mark = calc_json_report_enter(r->report, name);
    if (k == CALC_LAYER_KEY_COUNT) {
        set_ends(r, value, list);
    } else if (json_is_array(value)) {
        set_list(r, (calc_layer_key)k, value);
    } else {
        for (int64_t i = 0; i < r->count && r->report->found.count == 0; i++) {
            set(r, (calc_layer_key)k, value, &r->run[i]);
        }
    }
    calc_json_report_leave(r->report, mark);
}

/* Number of runs in the longest list; a single number of blocks is one run.
 * @return 0 if an error was reported */
static int64_t runs_of(reader *r, json_t *object)
{
    const char *name;
    json_t *value;
    int64_t most = json_is_integer(json_object_get(object, "blocks")) ? 1 : 0;
    int member = 0;
    json_object_foreach (object, name, value) {
        if (calc_choice_index(calc_layer_key_names, name) < 0) {
            calc_json_bind_unknown(r->report, name, member,
                                   calc_nearest(name, calc_layer_key_names));
        }
        int64_t length = json_is_array(value) ? calc_json_runs_length(value, MOST) : 0;
        most = length > most ? length : most;
        member++;
    }
    if (r->report->found.count > 0) {
        return 0;
    }
    if (most == 0) {
        calc_json_report_add(r->report, CALC_ERR_FIELD, CALC_JSON_VALUE,
                             "give \"blocks\", for example [20, 12]",
                             "no list says how many layers there are");
    } else if (most > MOST) {
        too_many(r);
        most = 0;
    }
    return most;
}

static void read_object(reader *r, json_t *object, calc_layer_list *list)
{
    const char *name;
    json_t *value;
    r->count = runs_of(r, object);
    json_object_foreach (object, name, value) {
        if (r->count > 0) {
            set_key(r, name, value, list);
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
            r->count = set_element(r, CALC_LAYER_KEY_blocks, entry, r->count);
        } else if (r->count == MOST) {
            too_many(r);
        } else {
            set_entry(r, entry, &r->run[r->count++], false);
        }
        calc_json_report_leave(r->report, mark);
        if (r->report->found.count > 0) {
            return;
        }
    }
}

void calc_json_layers_bind(calc_json_report *report, json_t *value, calc_exec *exec)
{
    reader r = {.report = report};
    exec->layers = (calc_layer_list){.ends = calc_layer_as_exec};
    for (int64_t i = 0; i < MOST; i++) {
        r.run[i] = (calc_layer_run){1, calc_layer_as_exec};
    }
    if (json_is_object(value) && json_object_size(value) > 0) {
        read_object(&r, value, &exec->layers);
    } else if (json_is_array(value) && json_array_size(value) > 0) {
        read_array(&r, value);
    } else {
        calc_json_value_type_error(report, "an array of runs of layers, or an object of lists",
                                   value,
                                   "for example {\"blocks\": [20, 12], \"tensor_par\": [4, 1]}");
        return;
    }
    if (report->found.count == 0 && !calc_layer_list_pack(r.run, r.count, &exec->layers)) {
        calc_json_report_add(report, CALC_ERR_RANGE, CALC_JSON_VALUE, NULL,
                             "more than %d runs of equal layers", CALC_MAX_LAYER_RUNS);
    }
}

static int value_of(const calc_layer_run *run, calc_layer_key k)
{
    const calc_layer_strategy *s = &run->strategy;
    switch (k) {
    case CALC_LAYER_KEY_blocks:
        return run->blocks;
    case CALC_LAYER_KEY_tensor_par:
        return s->tensor_par;
    case CALC_LAYER_KEY_context_par:
        return s->context_par;
    case CALC_LAYER_KEY_expert_par:
        return s->expert_par;
    case CALC_LAYER_KEY_zero_stage:
        return s->zero_stage;
    case CALC_LAYER_KEY_context_par_type:
        return s->context_par_type;
    case CALC_LAYER_KEY_activation_recompute:
        return s->recompute;
    case CALC_LAYER_KEY_recompute_modules:
        return s->modules != 0 ? s->modules : CALC_LAYER_AS_EXEC;
    case CALC_LAYER_KEY_COUNT:
        break;
    }
    return CALC_LAYER_AS_EXEC;
}

/* @return whether the text is a word */
static bool run_text(const calc_layer_run *run, calc_layer_key k, char text[CALC_CHOICE_SET_SIZE])
{
    int value = value_of(run, k);
    if (value == CALC_LAYER_AS_EXEC) {
        snprintf(text, CALC_CHOICE_SET_SIZE, "null");
        return false;
    }
    if (k < CALC_LAYER_KEY_context_par_type) {
        snprintf(text, CALC_CHOICE_SET_SIZE, "%d", value);
        return false;
    }
    if (k == CALC_LAYER_KEY_context_par_type) {
        const calc_table *exec = calc_table_of(CALC_KIND_EXEC);
        snprintf(text, CALC_CHOICE_SET_SIZE, "%s",
                 calc_table_find(exec, "context_par_type")->choices[value]);
    } else if (k == CALC_LAYER_KEY_activation_recompute) {
        calc_json_runs_recompute_text(value, text);
    } else {
        calc_json_runs_modules_text((unsigned)value, text);
    }
    return true;
}

static bool key_text(const void *list, int64_t i, int k, char text[CALC_CHOICE_SET_SIZE])
{
    return run_text(&((const calc_layer_list *)list)->run[i], (calc_layer_key)k, text);
}

static int64_t once(const void *list, int64_t i)
{
    (void)list;
    (void)i;
    return 1;
}

static void put_ends(calc_put *put, const calc_layer_list *list)
{
    const calc_layer_run ends = {CALC_LAYER_AS_EXEC, list->ends};
    char text[CALC_CHOICE_SET_SIZE];
    if (calc_layer_list_alike(&list->ends, &calc_layer_as_exec)) {
        return;
    }
    calc_put_object(put, CALC_LAYER_ENDS, CALC_PUT_LINE);
    for (int k = 0; k < CALC_LAYER_KEY_COUNT; k++) {
        bool word = run_text(&ends, (calc_layer_key)k, text);
        if (strcmp(text, "null") != 0) {
            calc_json_runs_put(put, calc_layer_key_names[k], text, word, 1, false);
        }
    }
    calc_put_close(put);
}

void calc_json_layers_put(calc_put *put, const char *name, const calc_layer_list *list)
{
    const calc_json_runs runs = {list, list->count, key_text, once};
    char text[CALC_CHOICE_SET_SIZE];
    calc_put_object(put, name, CALC_PUT_LINE);
    for (int k = 0; k < CALC_LAYER_KEY_COUNT; k++) {
        bool same = calc_json_runs_agree(&runs, k);
        key_text(list, 0, k, text);
        if (same && k != CALC_LAYER_KEY_blocks && strcmp(text, "null") != 0) {
            calc_json_runs_put_all(put, calc_layer_key_names[k], &runs, k);
        } else if (!same || k == CALC_LAYER_KEY_blocks) {
            calc_json_runs_put_each(put, calc_layer_key_names[k], &runs, k);
        }
    }
    put_ends(put, list);
    calc_put_close(put);
}
