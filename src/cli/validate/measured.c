#include "cli/validate/measured.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/error.h"
#include "cli/shell/complain.h"
#include "cli/shell/inputs.h"
#include "formats/import.h"
#include "formats/read.h"
#include "io/utf8.h"
#include "spec/absent.h"

static calc_status load_machine(calc_kind kind, const char *name, void *object, calc_errors *errors)
{
    calc_errors own = {0};
    calc_status status = calc_document_load(kind, name, object, &own);
    if (status == CALC_ERR_NOT_FOUND) {
        return calc_errors_add(errors, status, CALC_KIND_NONE, NULL, NULL,
                               "no machine systems/%.60s.json", name);
    }
    if (status != CALC_OK) {
        *errors = own;
    }
    return status;
}

calc_status calc_measured_text(calc_text *text, calc_measured_file *file, const char *path,
                               calc_errors *errors)
{
    const char *slash = strrchr(path, '/');
    calc_status status = calc_text_read(text, path, errors);
    snprintf(file->name, sizeof file->name, "%.*s", (int)sizeof file->name - 1,
             slash ? slash + 1 : path);
    if (status == CALC_OK) {
        calc_digest_text(text->data, text->length, file->sha256);
    }
    return status;
}

static calc_status read_shipped_runs(calc_measured *m, calc_errors *errors)
{
    static const char *const shipped[] = {"measured/runs.csv", "measured/runs_vtrain_single.csv.gz",
                                          "measured/runs_megatron_small.csv.gz"};
    for (size_t i = 0; i < sizeof shipped / sizeof *shipped; i++) {
        char path[CALC_FIND_PATH_MAX];
        calc_status status = calc_find_data(shipped[i], path, errors);
        calc_text text = {0};
        status = status == CALC_OK ? calc_measured_text(&text, &m->file[m->files], path, errors)
                                   : status;
        status = status == CALC_OK ? calc_runs_parse(&m->runs[m->files++], text, path, NULL, errors)
                                   : status;
        if (status != CALC_OK) {
            return status;
        }
    }
    return CALC_OK;
}

/* An option that the framework does not know. @param context  calc_errors */
static void refuse_unknown(void *context, const char *key, calc_unread what, const char *assumed)
{
    const calc_framework *f = &calc_framework_megatron;
    (void)assumed;
    if (key && what == CALC_UNREAD_UNKNOWN) {
        const char *near = NULL;
        for (size_t i = 0; i < f->count && !near; i++) {
            near =
                f->rows[i].key ? calc_nearest(key, (const char *[]){f->rows[i].key, NULL}) : NULL;
        }
        calc_errors_add(context, CALC_ERR_FIELD, CALC_KIND_NONE, NULL, CALC_DID_YOU_MEAN(near),
                        "%s: unknown to calc", calc_utf8_shown(key, strlen(key)));
    }
}

static calc_status load_arguments(const char *arguments, int64_t procs, bool whole, calc_app *app,
                                  calc_exec *exec, calc_errors *errors)
{
    calc_settings settings = {0};
    const calc_import import = {.framework = &calc_framework_megatron,
                                .settings = &settings,
                                .procs = procs,
                                .unread = refuse_unknown,
                                .context = errors};
    int before = errors->count;
    (void)calc_is_yes(calc_settings_from_script(&settings, arguments, strlen(arguments), NULL));
    calc_status status = calc_import_run(&import, app, exec, errors);
    status = status == CALC_OK && errors->count > before ? CALC_ERR_FIELD : status;
    status = status == CALC_OK && whole ? calc_import_complete(&import, app, errors) : status;
    calc_settings_free(&settings);
    return status;
}

static void tell_ignored(const char *file, const char *column)
{
    calc_say("%s: ignored: column \"%s\"\n", file, calc_utf8_shown(column, strlen(column)));
}

/* The file of a machine. @return whether it exists */
static bool find_machine(const char *name, struct stat *file)
{
    char path[CALC_FIND_PATH_MAX];
    calc_errors ignored = {0};
    return calc_is_yes(calc_find(CALC_KIND_SYSTEM, name, path, &ignored)) && stat(path, file) == 0;
}

const char *calc_measured_machine(const calc_measured *measured, const char *name)
{
    struct stat named, file;
    bool found = find_machine(name, &named);
    const char *last = NULL;
    for (size_t f = 0; found && f < measured->files; f++) {
        for (size_t i = 0; i < measured->runs[f].count; i++) {
            const char *system = measured->runs[f].row[i].sys;
            if (last && strcmp(system, last) == 0) {
                continue;
            }
            last = system;
            if (find_machine(system, &file) && file.st_dev == named.st_dev &&
                file.st_ino == named.st_ino) {
                return system;
            }
        }
    }
    return name;
}

static calc_status add_engine(calc_serving_engines *engines, const char *name, calc_errors *errors)
{
    calc_exec exec;
    engines->item = calc_longer(engines->item, engines->count + 1, sizeof *engines->item);
    calc_absent_fill(calc_table_of(CALC_KIND_EXEC), &exec);
    snprintf(exec.inference.engine.name, sizeof exec.inference.engine.name, "%s", name);
    calc_status status = calc_inputs_software(&exec, errors);
    engines->item[engines->count] = exec.inference.engine;
    engines->count += status == CALC_OK;
    return status;
}

/* All engines that have a name. */
static calc_status read_engines(calc_serving_engines *engines, calc_errors *errors)
{
    calc_find_list list = calc_find_names(CALC_KIND_EXEC);
    calc_status status = CALC_OK;
    for (size_t i = 0; i < list.count && status == CALC_OK; i++) {
        const char *name = calc_find_aside_name(list.entry[i].name);
        if (calc_find_aside_of(list.entry[i].name) == CALC_FIND_ASIDE_ENGINE &&
            !calc_serving_engines_find(engines, name)) {
            status = add_engine(engines, name, errors);
        }
    }
    calc_find_free(&list);
    calc_serving_engines_sort(engines);
    return status;
}

/* Engines that rows name by path; and errors of names that no engine has. */
static calc_status read_named(calc_serving_engines *engines, const calc_serving_rows *rows,
                              const char *path, calc_errors *errors)
{
    calc_status status = CALC_OK;
    for (size_t i = 0; i < rows->count && status == CALC_OK; i++) {
        const calc_serving_row *row = &rows->row[i];
        calc_errors own = {0};
        if (!*row->engine || calc_serving_engines_find(engines, row->engine)) {
            continue;
        }
        status = add_engine(engines, row->engine, &own);
        if (status != CALC_OK) {
            const calc_error *e = &own.item[0];
            calc_errors_at(errors, status, path, row->line, 0, e->hint, "inference.engine: %s%s%s",
                           e->file, *e->file ? ": " : "", e->text);
        }
    }
    return status;
}

/* A shipped table given by its bare name; otherwise the argument itself. */
static const char *table_path(const char *argument, char path[CALC_FIND_PATH_MAX])
{
    static const char *const endings[] = {".csv", ".csv.gz"};
    struct stat file;
    if (strpbrk(argument, "./") || strcmp(argument, "-") == 0 || stat(argument, &file) == 0) {
        return argument;
    }
    for (size_t i = 0; i < sizeof endings / sizeof *endings; i++) {
        char name[96];
        calc_errors ignored = {0};
        snprintf(name, sizeof name, "measured/%.64s%s", argument, endings[i]);
        if (calc_is_yes(calc_find_data(name, path, &ignored))) {
            return path;
        }
    }
    return argument;
}

static calc_status read_file(calc_measured *out, const char *argument,
                             const calc_runs_loader *loader, calc_errors *errors)
{
    char found[CALC_FIND_PATH_MAX];
    const char *path = table_path(argument, found);
    calc_text text = {0};
    calc_status status = calc_measured_text(&text, &out->file[out->files], path, errors);
    if (status != CALC_OK) {
        return status;
    }
    size_t at = out->files++;
    bool serves = calc_serving_rows_has(&text);
    if (at > 0 && serves != out->serves) {
        calc_text_free(&text);
        out->files--;
        return calc_errors_add(errors, CALC_ERR_RULE, CALC_KIND_NONE, NULL,
                               "validate the files one kind at a time",
                               "%.200s: runs of %s, and those before it are of %s", argument,
                               serves ? "serving" : "training", serves ? "training" : "serving");
    }
    out->serves = serves;
    if (!serves) {
        status = calc_runs_parse(&out->runs[at], text, path, loader, errors);
        return status == CALC_OK ? status : calc_input_is_log(path, NULL, errors);
    }
    status = out->engines.count > 0 ? CALC_OK : read_engines(&out->engines, errors);
    status =
        status == CALC_OK ? calc_serving_rows_parse(&out->serving[at], text, path, errors) : status;
    return status == CALC_OK ? read_named(&out->engines, &out->serving[at], path, errors) : status;
}

calc_status calc_measured_read(calc_measured *out, const calc_args *args, const char *machine,
                               calc_errors *errors)
{
    const calc_runs_loader loader = {calc_document_load, load_arguments, calc_inputs_software,
                                     tell_ignored, machine};
    char path[CALC_FIND_PATH_MAX];
    out->systems.kind = CALC_KIND_SYSTEM;
    out->systems.load = load_machine;
    out->apps.kind = CALC_KIND_APP;
    out->apps.load = calc_document_load;
    calc_status status = calc_find_data("measured/remarks.csv", path, errors);
    status = status == CALC_OK ? calc_remarks_read(&out->remarks, path, errors) : status;
    status = status == CALC_OK ? calc_find_data("measured/sets.csv", path, errors) : status;
    status = status == CALC_OK ? calc_run_sets_read(&out->sets, path, errors) : status;
    status =
        status == CALC_OK && args->argument_count == 0 ? read_shipped_runs(out, errors) : status;
    for (size_t i = 0; i < args->argument_count && status == CALC_OK; i++) {
        status = read_file(out, args->argument[i], &loader, errors);
    }
    out->all = (calc_measured_runs){
        out->runs,  out->files,   &out->remarks, &out->systems, out->serves ? out->serving : NULL,
        &out->apps, &out->engines};
    return status;
}

void calc_measured_free(calc_measured *measured)
{
    for (size_t i = 0; i < measured->files; i++) {
        calc_runs_free(&measured->runs[i]);
        calc_serving_rows_free(&measured->serving[i]);
    }
    calc_remarks_free(&measured->remarks);
    calc_run_sets_free(&measured->sets);
    free(measured->engines.item);
    measured->engines = (calc_serving_engines){0};
    measured->files = 0;
}
