#include "io/written_sweep.h"

#include "io/json_member.h"
#include "io/json_value.h"
#include "spec/field.h"

#include <stdlib.h>
#include <string.h>

/* Where layouts go. */
typedef struct list {
    calc_written_sweep *sweep;
    size_t group;
    bool top;
} list;

static calc_written_layout *add_layout(calc_json_report *report, calc_written_sweep *s)
{
    if (s->count == s->capacity) {
        size_t capacity = s->capacity > 0 ? 2 * s->capacity : 64;
        calc_written_layout *more = realloc(s->layout, capacity * sizeof *more);
        if (!more) {
            calc_json_no_memory(report);
            return NULL;
        }
        s->layout = more;
        s->capacity = capacity;
    }
    s->layout[s->count] = (calc_written_layout){0};
    return &s->layout[s->count++];
}

static void read_design(calc_json_report *report, json_t *value, void *out)
{
    calc_written_layout *layout = out;
    if (calc_json_is_object(report, value)) {
        calc_json_member(report, value, "application", calc_json_read_name, layout->application);
        calc_json_member(report, value, "system", calc_json_read_name, layout->system);
        layout->design = calc_json_text_of(report, value);
    }
}

static void read_list(calc_json_report *report, json_t *value, void *out)
{
    list *to = out;
    for (size_t i = 0; calc_json_is_array(report, value) && i < json_array_size(value); i++) {
        json_t *item = json_array_get(value, i);
        size_t mark = calc_json_report_enter_index(report, i);
        calc_written_layout *layout =
            calc_json_is_object(report, item) ? add_layout(report, to->sweep) : NULL;
        if (layout) {
            layout->top = to->top;
            layout->group = to->group;
            layout->rank = i + 1;
            calc_json_member(report, item, "design", read_design, layout);
            calc_json_member(report, item, "execution", calc_json_read_exec, &layout->exec);
            calc_json_member(report, item, "stats", calc_json_read_stats, &layout->stats);
        }
        calc_json_report_leave(report, mark);
    }
}

static void read_lists(calc_json_report *report, json_t *object, calc_written_sweep *s)
{
    list front = {s, s->groups, false}, top = {s, s->groups, true};
    calc_json_member(report, object, "front", read_list, &front);
    calc_json_member(report, object, "top", read_list, &top);
    s->groups++;
}

static void read_groups(calc_json_report *report, json_t *value, void *out)
{
    calc_written_sweep *s = out;
    for (size_t i = 0; calc_json_is_array(report, value) && i < json_array_size(value); i++) {
        json_t *group = json_array_get(value, i);
        size_t mark = calc_json_report_enter_index(report, i);
        if (calc_json_is_object(report, group)) {
            read_lists(report, group, s);
            s->per_num_procs = s->per_num_procs || json_object_get(group, "num_procs");
        }
        calc_json_report_leave(report, mark);
    }
}

static void read_statistic(calc_json_report *report, json_t *value, void *out)
{
    const calc_field **field = out;
    char name[256] = "";
    calc_json_read_name(report, value, name);
    *field = calc_table_find(calc_table_of(CALC_KIND_STATS), name);
    if (!*field && json_is_string(value)) {
        calc_json_report_add(report, CALC_ERR_FIELD, CALC_JSON_VALUE, NULL,
                             "no statistic \"%.100s\"", name);
    }
}

static void read_direction(calc_json_report *report, json_t *value, void *out)
{
    static const char *const directions[] = {"down", "up", NULL};
    static const calc_field row = {.type = CALC_TYPE_ENUM, .choices = directions};
    int direction = 0;
    bool *up = out;
    calc_json_value_scalar(report, &row, value, &direction);
    *up = direction == 1;
}

static void read_objective(calc_json_report *report, json_t *value, void *out)
{
    calc_written_objective *objective = out;
    if (calc_json_is_object(report, value)) {
        calc_json_member(report, value, "statistic", read_statistic, &objective->field);
        calc_json_member(report, value, "direction", read_direction, &objective->up);
    }
}

static void read_objectives(calc_json_report *report, json_t *value, void *out)
{
    calc_written_sweep *s = out;
    for (size_t i = 0; calc_json_is_array(report, value) && i < json_array_size(value); i++) {
        size_t mark = calc_json_report_enter_index(report, i);
        if (i < CALC_WRITTEN_OBJECTIVES) {
            read_objective(report, json_array_get(value, i), &s->objective[i]);
            s->objectives = i + 1;
        } else {
            calc_json_report_add(report, CALC_ERR_RANGE, CALC_JSON_VALUE, NULL,
                                 "more than %d objectives", CALC_WRITTEN_OBJECTIVES);
        }
        calc_json_report_leave(report, mark);
    }
}

static void read_texts(calc_json_report *report, json_t *value, void *out)
{
    (void)out;
    char name[256];
    for (size_t i = 0; calc_json_is_array(report, value) && i < json_array_size(value); i++) {
        size_t mark = calc_json_report_enter_index(report, i);
        calc_json_read_name(report, json_array_get(value, i), name);
        calc_json_report_leave(report, mark);
    }
}

/* What was asked: all but the lists, as text without its braces. */
static void keep_study(calc_json_report *report, json_t *root, calc_written_sweep *s)
{
    static const char *const keys[] = {"version", "compat",     "applications",
                                       "systems", "objectives", "top_by"};
    json_t *study = json_object();
    bool fine = study != NULL;
    for (size_t i = 0; i < sizeof keys / sizeof *keys && fine; i++) {
        fine = json_object_set(study, keys[i], json_object_get(root, keys[i])) == 0;
    }
    char *text = fine ? json_dumps(study, JSON_REAL_PRECISION(17)) : NULL;
    json_decref(study);
    size_t length = text ? strlen(text) : 0;
    if (length < 2) {
        free(text);
        calc_json_no_memory(report);
        return;
    }
    memmove(text, text + 1, length - 2);
    text[length - 2] = '\0';
    s->study = text;
}

void calc_written_read_sweep(calc_json_report *report, json_t *root, calc_written_sweep *s)
{
    char version[256];
    calc_compat compat;
    calc_json_member(report, root, "version", calc_json_read_name, version);
    calc_json_member(report, root, "compat", calc_json_read_compat, &compat);
    calc_json_member(report, root, "applications", read_texts, NULL);
    calc_json_member(report, root, "systems", read_texts, NULL);
    calc_json_member(report, root, "objectives", read_objectives, s);
    calc_json_member(report, root, "top_by", read_objective, &s->top_by);
    if (json_object_get(root, "partial")) {
        calc_json_member(report, root, "partial", calc_json_read_flag, &s->partial);
    }
    if (json_object_get(root, "groups")) {
        calc_json_member(report, root, "groups", read_groups, s);
    } else {
        read_lists(report, root, s);
    }
    if (report->found.count == 0) {
        keep_study(report, root, s);
    }
}

void calc_written_free_sweep(calc_written_sweep *sweep)
{
    for (size_t i = 0; i < sweep->count; i++) {
        free(sweep->layout[i].design);
    }
    free(sweep->layout);
    free(sweep->study);
}
