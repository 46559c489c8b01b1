#include "io/software_load.h"

#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "io/json_load.h"
#include "io/space_load.h"
#include "spec/field.h"
#include "spec/serving_engine.h"
#include "spec/software.h"

enum { PATH_SIZE = 4096 };

/* What needs documents or lists of its own is for a layout to say. */
static calc_status refuse(const calc_exec *software, calc_errors *errors)
{
    const calc_table *table = calc_table_of(CALC_KIND_EXEC);
    calc_status status = CALC_OK;
    for (size_t i = 0; i < table->count; i++) {
        const calc_field *field = &table->rows[i];
        char pointer[64];
        snprintf(pointer, sizeof pointer, "/%s", field->key);
        if (calc_exec_rows_has(&software->stated, i) &&
            (field->type == CALC_TYPE_OBJECT ||
             field->flags & (CALC_STAGES | CALC_LAYERS | CALC_SOFTWARE))) {
            status = calc_errors_add(errors, CALC_ERR_FIELD, CALC_KIND_EXEC, pointer,
                                     "a layout says it", "software has no \"%s\"", field->key);
        }
    }
    return status;
}

/* A document that a member of an execution names: a path, or a name in a folder of executions.
 * Errors of the name are placed at the member. */
static calc_status read_text(calc_text *text, char path[PATH_SIZE], const char *folder,
                             const char *name, const char *pointer, calc_session_find *find,
                             void *context, calc_errors *errors)
{
    char file[CALC_SOFTWARE_NAME + 16];
    bool is_path = !find || strchr(name, '/') || strstr(name, ".json");
    int before = errors->count;
    snprintf(file, sizeof file, "%s%s", is_path ? "" : folder, name);
    snprintf(path, PATH_SIZE, "%s", file);
    calc_status status =
        find ? find(context, CALC_KIND_EXEC, file, path, PATH_SIZE, errors) : CALC_OK;
    status = status == CALC_OK ? calc_text_read(text, path, errors) : status;
    if (status != CALC_OK && errors->count > before) {
        calc_error *error = &errors->item[before];
        error->kind = CALC_KIND_EXEC;
        error->file[0] = '\0';
        snprintf(error->pointer, sizeof error->pointer, "%s", pointer);
    }
    return status;
}

calc_status calc_engine_parse(calc_serving_engine *engine, const char *text, size_t length,
                              const char *name, calc_errors *errors)
{
    calc_json_report report = {
        .kind = CALC_KIND_NONE, .name = name, .text = text, .length = length};
    char own[sizeof engine->name];
    strcpy(own, engine->name);
    json_t *root = calc_json_load_text(&report, text, length);
    if (root) {
        calc_json_bind_table(&report, calc_serving_engine_table(), root, engine);
    }
    json_decref(root);
    strcpy(engine->name, own);
    engine->read = true;
    return calc_json_report_close(&report, errors);
}

static calc_status read_engine(calc_serving_engine *engine, calc_session_find *find, void *context,
                               calc_errors *errors)
{
    char path[PATH_SIZE];
    calc_text text = {0};
    if (!*engine->name || engine->read) {
        return CALC_OK;
    }
    calc_status status = read_text(&text, path, CALC_ENGINE_FOLDER, engine->name,
                                   "/inference/engine", find, context, errors);
    status = status == CALC_OK ? calc_engine_parse(engine, text.data, text.length, path, errors)
                               : status;
    calc_text_free(&text);
    return status;
}

calc_status calc_software_read(calc_exec *exec, calc_session_find *find, void *context,
                               calc_errors *errors)
{
    char path[PATH_SIZE];
    calc_exec software;
    calc_text text = {0};
    int absent;
    calc_status status = read_engine(&exec->inference.engine, find, context, errors);
    if (!exec->software[0] || status != CALC_OK) {
        return status;
    }
    status = read_text(&text, path, CALC_SOFTWARE_FOLDER, exec->software, "/software", find,
                       context, errors);
    if (status != CALC_OK) {
        return status;
    }
    status = calc_space_parse_exec(&software, &absent, text.data, text.length, path, errors);
    if (status == CALC_OK) {
        status = refuse(&software, errors);
        calc_errors_locate(errors, CALC_KIND_EXEC, text.data, text.length, path);
        calc_software_apply(exec, &software);
    }
    calc_text_free(&text);
    return status;
}
