#include "io/software_load.h"

#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "io/space_load.h"
#include "spec/software.h"

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

calc_status calc_software_read(calc_exec *exec, calc_session_find *find, void *context,
                               calc_errors *errors)
{
    enum { PATH_SIZE = 4096 };
    char path[PATH_SIZE], file[sizeof exec->software + sizeof CALC_SOFTWARE_FOLDER];
    const char *name = exec->software, *json = strstr(name, ".json");
    bool is_path = !find || strchr(name, '/') || json;
    calc_exec software;
    calc_text text = {0};
    int absent, before = errors->count;
    if (!*name) {
        return CALC_OK;
    }
    snprintf(file, sizeof file, "%s%s", is_path ? "" : CALC_SOFTWARE_FOLDER, name);
    snprintf(path, sizeof path, "%s", file);
    calc_status status =
        find ? find(context, CALC_KIND_EXEC, file, path, sizeof path, errors) : CALC_OK;
    status = status == CALC_OK ? calc_text_read(&text, path, errors) : status;
    if (status != CALC_OK && errors->count > before) { /* of the name */
        calc_error *error = &errors->item[before];
        error->kind = CALC_KIND_EXEC;
        error->file[0] = '\0';
        snprintf(error->pointer, sizeof error->pointer, "/software");
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
