#include "session/answer_formats.h"

#include <stdlib.h>
#include <string.h>

#include "base/notes.h"
#include "formats/export.h"
#include "formats/hf.h"
#include "formats/refusal.h"
#include "formats/write.h"
#include "io/json_save.h"

static void put_reason(void *context, const char *reason)
{
    calc_put_text(context, NULL, reason);
}

/* The text that starts a layout. @return owned; NULL if it cannot be written */
static char *write_settings(const calc_framework *framework, const calc_request_documents *in)
{
    enum { NODE = 8 /* processors, as calc export assumes */ };
    calc_settings settings = {0};
    calc_errors ignored = {0};
    calc_text text = {0};
    calc_output *out;
    if (calc_export(framework, &in->app, &in->exec, NODE, &settings, &ignored) == CALC_OK &&
        calc_output_open_memory(&out, &text, NULL) == CALC_OK) {
        calc_settings_write(out, framework, &settings);
        if (calc_output_close(out, NULL) != CALC_OK) {
            calc_text_free(&text);
        }
    }
    calc_settings_free(&settings);
    return text.data;
}

void calc_answer_export(calc_put *put, const calc_request *request)
{
    const calc_request_documents *in = &request->used;
    const char *name = request->export;
    size_t refused = 0;
    if (strcmp(name, "any") == 0 &&
        calc_export_starter(&in->app, &in->system, &in->exec, &name) != CALC_OK) {
        name = NULL;
    }
    const calc_framework *framework = name ? calc_framework_find(name) : NULL;
    calc_put_object(put, "export", CALC_PUT_LINE);
    calc_put_text(put, "framework", name ? name : "");
    calc_put_array(put, "refused", CALC_PUT_LINE);
    if (!framework) {
        calc_put_text(put, NULL, "calc exports to no framework of this name that runs the layout");
    } else if (calc_framework_has_pools(framework, &in->exec)) {
        calc_put_text(put, NULL, "two pools are two scripts: calc export writes them");
        refused = 1;
    } else if (calc_export_refused(framework, &in->app, &in->exec, put_reason, put, &refused) !=
               CALC_OK) {
        refused = 1;
    }
    calc_put_close(put);
    char *text = framework && refused == 0 ? write_settings(framework, in) : NULL;
    if (text) {
        calc_put_text(put, "text", text);
    }
    free(text);
    calc_put_close(put);
}

static void note(void *context, const char *text)
{
    calc_notes_add(context, "%s", text);
}

calc_status calc_answer_import(calc_put *put, const char *json, calc_errors *errors)
{
    calc_app app;
    calc_notes notes = {0};
    const calc_hf hf = {.name = "import", .tell = note, .context = &notes};
    calc_status status = calc_hf_read_text(&hf, json, strlen(json), &app, errors);
    if (status != CALC_OK) {
        return status;
    }
    calc_put_struct(put, "app", CALC_KIND_APP, &app);
    calc_put_array(put, "remarks", CALC_PUT_LINE);
    for (int i = 0; i < notes.count; i++) {
        calc_put_text(put, NULL, notes.text[i]);
    }
    calc_put_close(put);
    return CALC_OK;
}
