#include "io/written.h"

#include "io/json_load.h"
#include "io/json_report.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static const char *const commands[] = {
#define CALC_X(name, command) [CALC_WRITTEN_##name] = (command),
    CALC_WRITTEN_LIST(CALC_X)
#undef CALC_X
};

const char *calc_written_command(calc_written_kind kind)
{
    return commands[kind];
}

/* ---- A run ----------------------------------------------------------------------------------- */

/* Read a value, or report why not. */
typedef void reader(calc_json_report *report, json_t *value, void *out);

/* Read a member, with the pointer on it; report if there is none. */
static void read_member(calc_json_report *report, json_t *object, const char *key, reader *read,
                        void *out)
{
    json_t *value = json_object_get(object, key);
    if (!value) {
        calc_json_report_add(report, CALC_ERR_FIELD, CALC_JSON_VALUE, NULL, "missing key \"%s\"",
                             key);
        return;
    }
    size_t mark = calc_json_report_enter(report, key);
    read(report, value, out);
    calc_json_report_leave(report, mark);
}

static void read_app(calc_json_report *report, json_t *value, void *out)
{
    calc_json_bind_table(report, calc_table_of(CALC_KIND_APP), value, out);
}

static void read_system(calc_json_report *report, json_t *value, void *out)
{
    calc_json_bind_table(report, calc_table_of(CALC_KIND_SYSTEM), value, out);
}

static void read_exec(calc_json_report *report, json_t *value, void *out)
{
    calc_json_bind_table(report, calc_table_of(CALC_KIND_EXEC), value, out);
}

static void read_compat(calc_json_report *report, json_t *value, void *out)
{
    calc_json_value_compat(report, value, out);
}

/* A finite number, or null, which is NaN. */
static void read_number(calc_json_report *report, json_t *value, void *out)
{
    double *number = out;
    *number = NAN;
    if (!json_is_null(value)) {
        (void)calc_json_value_number(report, value, number);
    }
}

/* All statistics except the verdict. Unknown keys are those of another version, and optional ones
 * that are absent those of an older one. */
static void read_stats(calc_json_report *report, json_t *value, void *out)
{
    const calc_table *table = calc_table_of(CALC_KIND_STATS);
    if (!json_is_object(value)) {
        calc_json_value_type_error(report, "an object", value, NULL);
        return;
    }
    memset(out, 0, sizeof(calc_stats));
    for (size_t i = 0; i < table->count; i++) {
        const calc_field *row = &table->rows[i];
        double *number = (double *)(void *)((char *)out + row->offset);
        *number = NAN;
        if (!(row->flags & CALC_OPTIONAL) || json_object_get(value, row->key)) {
            read_member(report, value, row->key, read_number, number);
        }
    }
}

static void read_verdict(calc_json_report *report, json_t *value, void *out)
{
    static const char *const verdicts[] = {
#define CALC_X(verdict, text) text,
        CALC_VERDICT_LIST(CALC_X)
#undef CALC_X
            NULL};
    static const calc_field row = {.type = CALC_TYPE_ENUM, .choices = verdicts};
    calc_json_value_scalar(report, &row, value, out);
}

/* The name of the system, and its name in the command: calc run APP SYS EXE. */
static void read_system_name(const json_t *names, calc_written_run *run)
{
    const char *name = json_string_value(json_object_get(names, "system"));
    const char *file = json_string_value(json_array_get(json_object_get(names, "command"), 3));
    snprintf(run->system_name, sizeof run->system_name, "%s", name ? name : "");
    snprintf(run->system_file, sizeof run->system_file, "%s", file ? file : "");
}

static void read_run(calc_json_report *report, json_t *root, calc_written *out)
{
    calc_written_run *run = &out->run;
    calc_verdict verdict = CALC_VERDICT_OK;
    read_system_name(json_object_get(root, "names"), run);
    read_member(report, root, "application", read_app, &run->app);
    read_member(report, root, "system", read_system, &run->system);
    read_member(report, root, "execution", read_exec, &run->exec);
    read_member(report, root, "compat", read_compat, &run->compat);
    read_member(report, root, "stats", read_stats, &run->stats);
    read_member(report, root, "verdict", read_verdict, &verdict);
    run->stats.verdict = verdict;
}

/* ---- A plan ---------------------------------------------------------------------------------- */

static void read_name(calc_json_report *report, json_t *value, void *out)
{
    if (!json_is_string(value)) {
        calc_json_value_type_error(report, "a string", value, NULL);
        return;
    }
    snprintf(out, sizeof((calc_written_plan *)0)->app_name, "%s", json_string_value(value));
}

static bool is_list(calc_json_report *report, json_t *value)
{
    size_t count = json_array_size(value);
    if (!json_is_array(value)) {
        calc_json_value_type_error(report, "an array", value, NULL);
    } else if (count < 1 || count > CALC_MAX_CHIPS) {
        calc_json_report_add(report, CALC_ERR_RANGE, CALC_JSON_VALUE, NULL,
                             "expected 1 to %d machines, found %zu", CALC_MAX_CHIPS, count);
    }
    return json_is_array(value) && count >= 1 && count <= CALC_MAX_CHIPS;
}

static void read_names(calc_json_report *report, json_t *value, void *out)
{
    calc_written_plan *plan = out;
    for (size_t i = 0; is_list(report, value) && i < json_array_size(value); i++) {
        size_t mark = calc_json_report_enter_index(report, i);
        read_name(report, json_array_get(value, i), plan->name[i]);
        calc_json_report_leave(report, mark);
    }
}

static void read_machines(calc_json_report *report, json_t *value, void *out)
{
    calc_written_plan *plan = out;
    for (size_t i = 0; is_list(report, value) && i < json_array_size(value); i++) {
        size_t mark = calc_json_report_enter_index(report, i);
        read_system(report, json_array_get(value, i), &plan->machine[i]);
        calc_json_report_leave(report, mark);
        plan->machines = (int)i + 1;
    }
}

/* The machine of a name. */
static int find_machine(calc_json_report *report, const calc_written_plan *plan, const char *name)
{
    for (int i = 0; i < plan->machines; i++) {
        if (strcmp(plan->name[i], name) == 0) {
            return i;
        }
    }
    calc_json_report_add(report, CALC_ERR_FIELD, CALC_JSON_VALUE, NULL,
                         "no machine of the plan is called \"%s\"", name);
    return 0;
}

/* A layout, and the machines of its stages. */
static void read_layout(calc_json_report *report, json_t *value, calc_written *out)
{
    calc_written_run *run = &out->run;
    calc_stage_list *list = &run->exec.stages;
    char name[sizeof out->plan.name[0]] = "";
    read_member(report, value, "system", read_name, name);
    read_member(report, value, "execution", read_exec, &run->exec);
    read_member(report, value, "stats", read_stats, &run->stats);
    if (report->found.count > 0) {
        return;
    }
    out->plan.chip = find_machine(report, &out->plan, name);
    for (int32_t i = 0; i < list->chips; i++) {
        list->system[i] = &out->plan.machine[find_machine(report, &out->plan, list->name[i])];
    }
}

static void read_found(calc_json_report *report, json_t *value, void *out)
{
    if (!json_is_object(json_array_get(value, 0))) {
        calc_json_value_type_error(report, "an array of layouts", value, NULL);
        return;
    }
    size_t mark = calc_json_report_enter_index(report, 0);
    read_layout(report, json_array_get(value, 0), out);
    calc_json_report_leave(report, mark);
}

static void read_plan(calc_json_report *report, json_t *root, calc_written *out)
{
    read_member(report, root, "application", read_name, out->plan.app_name);
    read_member(report, root, "model", read_app, &out->run.app);
    read_member(report, root, "systems", read_names, &out->plan);
    read_member(report, root, "machines", read_machines, &out->plan);
    read_member(report, root, "found", read_found, out);
}

/* ---- Documents ------------------------------------------------------------------------------- */

/* The kind by the keys that only it has; CALC_WRITTEN_KINDS if by none. */
static calc_written_kind kind_of(const json_t *root)
{
    static const char *const keys[CALC_WRITTEN_KINDS][2] = {
        [CALC_WRITTEN_RUN] = {"names", "stats"},
        [CALC_WRITTEN_SWEEP] = {"objectives", "top_by"},
        [CALC_WRITTEN_SUMMARY] = {"counts", "elapsed_s"},
        [CALC_WRITTEN_VALIDATION] = {"rows", "groups"},
        [CALC_WRITTEN_PLAN] = {"found", "balanced"},
        [CALC_WRITTEN_TUNE] = {"layouts", "contenders"}};
    for (int kind = 0; kind < CALC_WRITTEN_KINDS; kind++) {
        if (json_object_get(root, keys[kind][0]) && json_object_get(root, keys[kind][1])) {
            return (calc_written_kind)kind;
        }
    }
    return CALC_WRITTEN_KINDS;
}

static void read_root(calc_json_report *report, json_t *root, calc_written *out)
{
    out->kind = kind_of(root);
    if (out->kind == CALC_WRITTEN_RUN) {
        read_run(report, root, out);
    } else if (out->kind == CALC_WRITTEN_PLAN) {
        read_plan(report, root, out);
    } else if (out->kind == CALC_WRITTEN_KINDS) {
        calc_json_report_add(
            report, CALC_ERR_FIELD, CALC_JSON_VALUE,
            "expected what calc run --json, calc sweep --out, calc sweep --summary, calc plan "
            "--out, calc tune --json or calc validate --json wrote",
            "this is no result of calc");
    }
}

calc_status calc_written_parse(calc_written *out, const char *text, size_t length, const char *name,
                               calc_errors *errors)
{
    calc_json_report report = {
        .kind = CALC_KIND_NONE, .name = name, .text = text, .length = length};
    json_t *root = calc_json_load_text(&report, text, length);
    if (root) {
        read_root(&report, root, out);
        json_decref(root);
    }
    return calc_json_report_close(&report, errors);
}

calc_status calc_written_read(calc_written *out, const char *path, calc_errors *errors)
{
    calc_status status = calc_text_read(&out->text, path, errors);
    const char *name = strcmp(path, "-") == 0 ? "<stdin>" : path;
    return status == CALC_OK
               ? calc_written_parse(out, out->text.data, out->text.length, name, errors)
               : status;
}

void calc_written_free(calc_written *written)
{
    calc_text_free(&written->text);
    *written = (calc_written){0};
}
