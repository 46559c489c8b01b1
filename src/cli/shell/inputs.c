#include "cli/shell/inputs.h"

#include <inttypes.h>
#include <sha256.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/buffer.h"
#include "base/error.h"
#include "cli/draw/breakdown.h"
#include "cli/shell/complain.h"
#include "formats/export.h"
#include "formats/hf.h"
#include "formats/launch.h"
#include "formats/run_log.h"
#include "galvatron/layout.h"
#include "io/space_load.h"
#include "io/utf8.h"
#include "spec/absent.h"
#include "spec/software.h"
#include "spec/value_text.h"

enum { SHOWN = 20 /* most keys to name that are not read */ };

void calc_script_tell_unread(void *context, const char *key, calc_unread what, const char *assumed)
{
    static const char *const texts[] = {
        [CALC_UNREAD_UNKNOWN] = "unknown to calc",
        [CALC_UNREAD_MODEL] = "changes the model, and calc does not read it: it is another model",
        [CALC_UNREAD_COST] = "changes time or memory, and calc does not read it",
        [CALC_UNREAD_BRANCH] = "a branch of the script has it, which is taken"};
    calc_script_unread *u = context;
    if (!key) {
        calc_say("%s: %s\n", u->title, assumed);
        return;
    }
    const char *shown = calc_utf8_shown(key, strlen(key));
    if (what == CALC_UNREAD_HARMLESS) {
        u->harmless++;
    } else if (what != CALC_UNREAD_MODEL && u->told++ >= SHOWN) {
        return;
    } else if (what == CALC_UNREAD_COMPUTED) {
        calc_say("%s: left to %s; %s\n", shown, u->title,
                 assumed ? assumed : "calc takes it as not given");
    } else {
        calc_say("%s: %s%s%s\n", shown, texts[what], assumed ? "; " : "", assumed ? assumed : "");
    }
}

void calc_script_tell_rest(const calc_script_unread *u)
{
    if (u->told > SHOWN) {
        calc_say("%zu more settings that calc does not read\n", u->told - SHOWN);
    }
    if (u->harmless > 0) {
        calc_say("%zu setting%s neither time nor memory\n", u->harmless,
                 u->harmless == 1 ? " changes" : "s change");
    }
}

char *calc_script_parameters(const calc_app *app, char text[CALC_SCRIPT_PARAMETERS])
{
    calc_parameters parameters;
    calc_count_parameters(app, &parameters);
    snprintf(text, CALC_SCRIPT_PARAMETERS, "%s parameters", calc_human_count(parameters.total));
    if (parameters.encoder > 0) {
        calc_append(text, CALC_SCRIPT_PARAMETERS, " and an encoder of images of %s",
                    calc_human_count(parameters.encoder));
    }
    return text;
}

/* The row that names a model; NULL: there is none. *setting is the last that it is of, if any. */
static const calc_setting_row *model_row(const calc_import *import, const calc_framework *framework,
                                         const calc_setting **setting)
{
    const calc_setting_row *found = NULL;
    for (size_t i = 0; i < framework->count; i++) {
        const calc_setting_row *row = &framework->rows[i];
        found = row->key && row->member == CALC_PLAN_MODEL ? row : found;
    }
    for (size_t i = 0; framework->bases && framework->bases[i] && !found; i++) {
        found = model_row(import, framework->bases[i], setting);
    }
    for (size_t i = 0; found && i < import->settings->count; i++) {
        const calc_setting *one = &import->settings->item[i];
        const calc_setting_row *row = calc_framework_row(import->framework, one->key);
        *setting = row && row->member == CALC_PLAN_MODEL && one->value[0] ? one : *setting;
    }
    return found;
}

/* Gives a layout what the published name of its model says of the weights, where it says nothing
 * itself: one that serves, unless the model has it, or one that leaves them frozen. */
static void take_name(const calc_import *import, const char *name, calc_exec *exec)
{
    calc_checkpoint_formats c = {0};
    calc_strategy *s = &exec->strategy;
    char text[CALC_HF_FORMATS_TEXT];
    const calc_hf_named named = calc_hf_name_formats(name, &c, text);
    bool serves = import->framework->serves;
    if (named == CALC_HF_NAMED_NOTHING || (serves && import->model)) {
        return;
    }
    if (serves && s->weight_datatype == CALC_FORMAT_AUTO) {
        calc_format *cache = &exec->inference.kv_datatype;
        calc_say("%s: %s\n", name, text);
        *cache = *cache == CALC_FORMAT_AUTO ? c.kv_datatype : *cache;
        s->weight_datatype = c.weight_datatype;
        s->weight_scale_bits = c.weight_scale_bits;
        s->matrix_datatype = c.matrix_datatype;
        s->scaling = c.scaling;
    } else if (!serves && (s->trained == CALC_TRAINED_ALL || named < CALC_HF_NAMED_FORMATS)) {
        calc_say("%s: trained with wide weights, whatever its name says of the checkpoint\n", name);
    } else if (!serves && s->frozen_datatype == CALC_FROZEN_DATATYPE_AUTO && c.weight_datatype) {
        bool four = c.weight_datatype == CALC_FORMAT_FLOAT4;
        s->frozen_datatype = four ? CALC_FROZEN_DATATYPE_NF4 : CALC_FROZEN_DATATYPE_INT8;
        calc_say("%s: frozen weights in %d bits, as its name says\n", name, four ? 4 : 8);
    }
}

static void tell_refused(void *context, const char *reason)
{
    const calc_framework *framework = context;
    calc_say("%s refuses this layout: %s\n", framework->title, reason);
}

calc_status calc_script_model(const calc_import *import, const calc_plan *plan, calc_app *app,
                              calc_exec *exec, calc_errors *errors)
{
    const calc_framework *framework = import->framework;
    const calc_plan_model *named = calc_plan_model_of(plan);
    const calc_setting *setting = NULL;
    const calc_setting_row *row = named ? NULL : model_row(import, framework, &setting);
    const char *slash = setting ? strchr(setting->value, '/') : NULL;
    bool folder = slash && (slash == setting->value || strchr(slash + 1, '/'));
    const char *hub = !setting ? NULL : folder ? strrchr(slash, '/') + 1 : setting->value;
    if (hub) {
        take_name(import, hub, exec);
    }
    if (!import->model) {
        return CALC_OK;
    }
    if (framework->has_model && !named) {
        calc_status status = calc_import_complete(import, app, errors);
        if (status == CALC_OK) {
            calc_import_refused(framework, app, exec, tell_refused, (void *)(uintptr_t)framework);
        }
        return status;
    }
    char path[CALC_FIND_PATH_MAX];
    calc_errors ignored = {0};
    if (!named && (!hub || !calc_is_yes(calc_find(CALC_KIND_APP, hub, path, &ignored)) ||
                   access(path, R_OK) != 0)) {
        return calc_errors_add(errors, CALC_ERR_FIELD, CALC_KIND_NONE, NULL,
                               row && row->how == CALC_HOW_NAME
                                   ? "calc import of the model's config.json writes the model; "
                                     "calc import without --app writes the layout alone"
                                   : "calc import without --app writes the layout alone",
                               "%s: no model that calc knows is named%s%s%s%.80s", framework->title,
                               row ? " by " : "", row ? row->key : "", setting ? ": " : "",
                               setting ? setting->value : "");
    }
    calc_status status = calc_document_load(CALC_KIND_APP, named ? named->name : path, app, errors);
    if (status == CALC_OK && !named) {
        calc_hf_name_take(hub, path, app);
    }
    if (status == CALC_OK && calc_plan_says(plan, CALC_PLAN_SEQ)) {
        app->seq_size = (int64_t)plan->value[CALC_PLAN_SEQ];
    }
    return status;
}

void calc_script_tell_requests(const calc_plan *plan, const calc_app *app, const calc_exec *exec)
{
    int64_t ranks = calc_plan_value(plan, CALC_PLAN_SERVE_TOGETHER) > 0
                        ? exec->num_procs / exec->pipeline_par
                        : exec->strategy.tensor_par;
    calc_say("requests: --set inference.prompt_size=N, inference.generate_size=N");
    if (calc_plan_says(plan, CALC_PLAN_SERVE_LENGTH)) {
        calc_say(" (together at most %.0f)", plan->value[CALC_PLAN_SERVE_LENGTH]);
    }
    calc_say(" and batch_size=N of calc run say how long and how many they are\n");
    if (exec->inference.speculative_tokens > 0) {
        calc_say("drafts: --set inference.speculative_accept=SHARE says how many are right\n");
    }
    bool dense = app && app->num_experts == 0 && app->stack.layers == 0;
    bool whole = ranks == exec->strategy.tensor_par; /* each of these ranks has all tokens */
    if (exec->strategy.expert_par <= 1 && ranks > 1 && !dense) {
        calc_say("experts%s: --set expert_tensor_par=%" PRId64 "%s split%s each of them\n",
                 app ? "" : ", if the model has any", ranks,
                 whole ? " and dispatch_type=replicated" : "", whole ? "" : "s");
    }
}

void calc_script_tell(const calc_framework *framework, const calc_app *app, const calc_exec *exec)
{
    char sizes[160];
    calc_stage_words_sizes(exec, false, sizes, sizeof sizes);
    calc_say("%s:%s%s on %jd processor%s, batch %jd", framework->title, *sizes ? " " : "", sizes,
             exec->num_procs, exec->num_procs == 1 ? "" : "s", exec->batch_size);
    if (app) {
        char number[CALC_SCRIPT_PARAMETERS];
        calc_say(", %s", calc_script_parameters(app, number));
    }
    calc_say("\n");
}

/* Reads a text as a script or a configuration, and says what it is, and what of it is not read.
 *  @param input  its text and its path; .framework is set
 *  @param procs  processors, a whole number, instead of those of the file; NULL: none
 *  @return CALC_OK; CALC_ERR_UNSUPPORTED without an error if it is neither; else with errors */
static calc_status calc_script_load(calc_input *input, const char *procs, calc_app *app,
                                    calc_exec *exec, calc_errors *errors)
{
    calc_settings settings = {0};
    calc_errors ignored = {0};
    calc_plan plan;
    calc_script_unread unread = {0};
    const calc_framework *framework = NULL;
    const char *text = input->text.data;
    if (!calc_is_yes(
            calc_detect(&framework, text, input->text.length, input->path, &settings, &ignored)) ||
        (text[strspn(text, " \t\r\n")] == '{' && !framework->has_model)) {
        calc_settings_free(&settings);
        return CALC_ERR_UNSUPPORTED;
    }
    calc_status status = CALC_OK;
    if (calc_job_launch_format_of(framework)) {
        status =
            calc_errors_at(errors, CALC_ERR_RULE, input->path, 0, 0,
                           "calc import FILE --job job.json, and calc rl MODEL MACHINE job.json",
                           "a job of reinforcement learning, of %s", framework->title);
    }
    unread.title = framework->title;
    const calc_import import = {.framework = framework,
                                .settings = &settings,
                                .name = input->path,
                                .procs = procs ? strtoll(procs, NULL, 10) : 0,
                                .model = true,
                                .unread = calc_script_tell_unread,
                                .context = &unread};
    status = status == CALC_OK ? calc_import_plan(&import, &plan, errors) : status;
    status = status == CALC_OK ? calc_plan_apply(&plan, app, exec, errors) : status;
    status = status == CALC_OK ? calc_script_model(&import, &plan, app, exec, errors) : status;
    if (status == CALC_OK) {
        input->framework = framework;
        calc_script_tell(framework, app, exec);
        if (framework->serves) {
            calc_script_tell_requests(&plan, app, exec);
        }
        calc_script_tell_rest(&unread);
    }
    calc_settings_free(&settings);
    return status;
}

/* The document that an assignment changes; CALC_KIND_NONE where swept fields say it. */
static calc_kind kind_of(const calc_start *s, const char *assignment)
{
    calc_field_ref where = {.kind = CALC_KIND_NONE};
    bool known = calc_opt_field(assignment, &where);
    const calc_design_axis *axis = s->designs ? s->designs->axis : NULL;
    for (size_t i = 0; known && axis && i < s->designs->axes; i++, axis++) {
        known = axis->ref.kind != where.kind || axis->ref.offset != where.offset;
    }
    return known ? where.kind : CALC_KIND_NONE;
}

/* Up to a kind: calc export takes no machine. @param put  NULL: on a line of `out` */
static void put_sets(calc_put *put, calc_output *out, const calc_start *s, calc_kind last)
{
    size_t cursor = 0, swept = 0, axes = s->designs ? s->designs->axes : 0;
    const char *assignment;
    char text[CALC_DESIGN_PATH_SIZE + 32], value[32];
    while ((assignment = calc_opt_next(s->args, s->set, &cursor)) || swept < axes) {
        const calc_design_axis *axis = assignment ? NULL : &s->designs->axis[swept++];
        if ((axis ? axis->ref.kind : kind_of(s, assignment)) > last) {
            continue;
        }
        if (axis) {
            snprintf(text, sizeof text, "%s=%s", axis->path,
                     calc_designs_value_text(s->designs, s->design, swept - 1, value));
        }
        if (put) {
            calc_putf(put, "%s, %s", "--set", axis ? text : assignment);
        } else {
            calc_output_printf(out, " --set %s", axis ? text : assignment);
        }
    }
}

const char *calc_start_framework(const calc_app *app, const calc_system *system,
                                 const calc_exec *exec)
{
    const char *name;
    return calc_is_yes(calc_export_starter(app, system, exec, false, &name)) ? name : NULL;
}

bool calc_start_exists(const calc_app *app, const calc_system *system, const calc_exec *exec)
{
    bool starts;
    return calc_is_yes(calc_export_starts(app, system, exec, NULL, &starts)) && starts;
}

void calc_start_put(calc_put *put, const calc_start *s)
{
    const char *framework = calc_start_framework(s->app, s->system, s->exec);
    calc_putf(put, "run: [%s, %s, %s, %s, %s", "calc", "run", s->names[0], s->names[1],
              s->names[2]);
    put_sets(put, NULL, s, CALC_KIND_SYSTEM);
    calc_put_close(put);
    if (framework) {
        calc_putf(put, "export: [%s, %s, %s, %s, %s, %s", "calc", "export", "--to", framework,
                  s->names[0], s->names[2]);
        put_sets(put, NULL, s, CALC_KIND_APP);
        calc_put_close(put);
    }
}

void calc_start_write(calc_output *out, const calc_start *s)
{
    calc_output_printf(out, "calc run %s %s %s", s->names[0], s->names[1], s->names[2]);
    put_sets(NULL, out, s, CALC_KIND_SYSTEM);
    calc_output_text(out, "\n");
}

char *calc_digest_text(const void *bytes, size_t length, char text[CALC_DIGEST_TEXT])
{
    return SHA256Data(bytes, length, text);
}

/* Room for any of the three structs. */
typedef union any_object {
    calc_app app;
    calc_system system;
    calc_exec exec;
} any_object;

/* The kind of which a text is a valid document; CALC_KIND_NONE if of none. */
static calc_kind kind_of_text(const calc_text *text)
{
    for (calc_kind kind = CALC_KIND_APP; kind <= CALC_KIND_EXEC; kind++) {
        any_object object;
        calc_errors ignored = {0};
        if (calc_is_yes(calc_parse(kind, &object, text->data, text->length, "", &ignored))) {
            return kind;
        }
    }
    return CALC_KIND_NONE;
}

/* Remarks on a file in another program's format. */
static void tell_on(void *context, const char *text)
{
    calc_say("%s: %s\n", (const char *)context, text);
}

/* The execution of a strategy file of Galvatron's search. */
static calc_status load_galvatron(calc_input *input, calc_exec *exec, calc_errors *errors)
{
    calc_notes notes = {0};
    input->foreign = true;
    input->absent = 0;
    calc_status status = calc_galvatron_exec_read(exec, input->text.data, input->text.length,
                                                  input->path, 0, &notes, errors);
    calc_software_state_all(exec);
    for (int i = 0; i < notes.count; i++) {
        tell_on(input->path, notes.text[i]);
    }
    return status;
}

calc_status calc_input_is_log(const char *path, bool *prints, calc_errors *errors)
{
    calc_text text = {0}, command = {0};
    calc_run_log log = {0};
    calc_errors ignored = {0};
    if (strcmp(path, "-") != 0 && calc_is_yes(calc_text_read(&text, path, &ignored)) &&
        calc_is_yes(calc_run_log_command(&text, &command, &ignored)) &&
        calc_is_yes(calc_run_log_read(&log, &text, path, &ignored))) {
        bool says = command.data != NULL;
        if (!prints || !says) {
            *errors = (calc_errors){0};
            calc_errors_at(errors, CALC_ERR_UNSUPPORTED, path, 0, 0,
                           says ? "calc why FILE SYS shows it beside the prediction"
                                : "calc why APP SYS EXE --log FILE shows it beside the prediction",
                           "it is the log or the result of a run");
        }
        if (prints) {
            *prints = says;
        }
    }
    calc_run_log_free(&log);
    calc_text_free(&command);
    calc_text_free(&text);
    return calc_errors_first(errors);
}

calc_status calc_inputs_software(calc_exec *exec, calc_errors *errors)
{
    return calc_software_read(exec, calc_find_document, NULL, errors);
}

/* The object of a text that was read.
 * @param inputs  takes the layout of a script, whose processors its options say; NULL: not wanted
 */
static calc_status parse_input(calc_input *input, calc_kind kind, void *object, calc_inputs *inputs,
                               calc_errors *errors)
{
    calc_errors before = *errors;
    calc_status status =
        kind == CALC_KIND_EXEC && input->partial
            ? calc_space_parse_exec(object, &input->absent, input->text.data, input->text.length,
                                    input->path, errors)
            : calc_parse(kind, object, input->text.data, input->text.length, input->path, errors);
    if (status == CALC_OK || status == CALC_ERR_NOMEM) {
        status = status == CALC_OK && kind == CALC_KIND_EXEC ? calc_inputs_software(object, errors)
                                                             : status;
        if (status != CALC_OK) {
            calc_errors_locate(errors, kind, input->text.data, input->text.length, input->path);
        }
        return status;
    }
    if (kind == CALC_KIND_APP &&
        calc_is_yes(calc_hf_is_text(input->text.data, input->text.length))) {
        *errors = before;
        /* The model of a configuration of Hugging Face. */
        const calc_hf hf = {
            .name = input->path, .path = input->path, .tell = tell_on, .context = input->path};
        return calc_hf_read_text(&hf, input->text.data, input->text.length, object, errors);
    }
    if (kind == CALC_KIND_EXEC &&
        calc_is_yes(calc_galvatron_layout_is(input->text.data, input->text.length))) {
        *errors = before;
        return load_galvatron(input, object, errors);
    }
    calc_kind other = kind_of_text(&input->text);
    if (kind == CALC_KIND_APP && other == CALC_KIND_NONE) {
        calc_exec ignored;
        calc_errors found = before;
        calc_status script = calc_script_load(input, inputs ? inputs->procs : NULL, object,
                                              inputs ? &inputs->exec : &ignored, &found);
        if (script != CALC_ERR_UNSUPPORTED) {
            *errors = found;
            return script;
        }
    }
    if (other == CALC_KIND_NONE) {
        bool prints;
        return calc_input_is_log(input->path, kind == CALC_KIND_APP ? &prints : NULL, errors);
    }
    /* One sentence instead of an error per field. */
    *errors = before;
    calc_errors_add(errors, status, kind, NULL, CALC_FIND_ORDER, "this is %s, not %s",
                    calc_find_kind_text(other), calc_find_kind_text(kind));
    if (errors->count > before.count) {
        calc_error_place(&errors->item[errors->count - 1], input->path, 0, 0);
    }
    return status;
}

static calc_status load_input(calc_input *input, calc_kind kind, void *object, const char *argument,
                              calc_inputs *inputs, calc_errors *errors)
{
    calc_text_free(&input->text);
    input->foreign = false;
    input->framework = NULL;
    calc_status status = calc_find(kind, argument, input->path, errors);
    calc_find_name(status == CALC_OK && kind == CALC_KIND_SYSTEM ? input->path : argument,
                   input->name, sizeof input->name);
    status = status == CALC_OK ? calc_text_read(&input->text, input->path, errors) : status;
    status = status == CALC_OK ? parse_input(input, kind, object, inputs, errors) : status;
    if (status == CALC_OK && kind == CALC_KIND_APP) {
        calc_hf_name_take(argument, input->path, object);
    }
    return status;
}

calc_status calc_input_load(calc_input *input, calc_kind kind, void *object, const char *argument,
                            calc_errors *errors)
{
    return load_input(input, kind, object, argument, NULL, errors);
}

calc_status calc_document_load(calc_kind kind, const char *argument, void *object,
                               calc_errors *errors)
{
    calc_input input = {0};
    calc_status status = calc_input_load(&input, kind, object, argument, errors);
    calc_text_free(&input.text);
    return status;
}

/* Translates "/networks/0/size" to the form of calc_field_find(): "networks[0].size". */
static void path_of_pointer(const char *pointer, char *path, size_t size)
{
    path[0] = '\0';
    while (*pointer == '/') {
        size_t word = strcspn(pointer + 1, "/");
        bool index = pointer[1] >= '0' && pointer[1] <= '9';
        const char *before = index ? "[" : *path ? "." : "";
        calc_append(path, size, "%s%.*s%s", before, (int)word, pointer + 1, index ? "]" : "");
        pointer += 1 + word;
    }
}

/* The field of an execution that an error is about; NULL: it is about something else. */
static const calc_field *field_of(const calc_error *error)
{
    char path[sizeof error->pointer + 32];
    calc_field_ref ref;
    path_of_pointer(error->pointer, path, sizeof path);
    bool known =
        error->kind == CALC_KIND_EXEC && calc_field_find(CALC_KIND_EXEC, path, &ref) == CALC_OK;
    return known ? ref.field : NULL;
}

/* Fields that contradict assignments follow them if they can be left to calc: an import writes
 * values that depend on others. What was wrong before any assignment stays an error.
 * @param before  the documents without assignments
 * @param where   the fields that are assigned
 * @return whether the documents are right now */
static bool follow(calc_inputs *inputs, const calc_inputs *before, const calc_field_ref *where,
                   size_t count, const calc_errors *found)
{
    calc_exec exec = inputs->exec, first = before->exec;
    calc_errors errors = {0};
    /* Its other systems are not read: they may be assigned. */
    bool can = first.stages.chips == 0 && !first.inference.prefill_system.name[0];
    if (can) {
        calc_resolve(&before->app, &before->system, &first);
        can = calc_check(&before->app, &before->system, &first, &errors) == CALC_OK;
    }
    for (int i = 0; i < found->count && can; i++) {
        const calc_field *field = field_of(&found->item[i]);
        bool size = field && strcmp(field->key, "num_procs") == 0; /* which one is meant? */
        can = field && field->flags & CALC_AUTO && !size;
        for (size_t k = 0; k < count && can; k++) {
            can = where[k].field != field;
        }
        if (can) {
            calc_automatic_set(&exec, field);
        }
    }
    calc_resolve(&inputs->app, &inputs->system, &exec);
    if (!can || calc_check(&inputs->app, &inputs->system, &exec, &errors) != CALC_OK) {
        return false;
    }
    for (int i = 0; i < found->count; i++) {
        const calc_field *field = field_of(&found->item[i]);
        char value[CALC_VALUE_TEXT];
        calc_say("%s = %s follows from --set\n", field->key,
                 calc_value_text(field, (const char *)&exec + field->offset, value));
    }
    inputs->exec = exec;
    return true;
}

/* Errors of a field that an assignment has set belong to the assignment, not to the file. */
static void blame_assignment(calc_errors *errors, const calc_field_ref *set, const char *assignment)
{
    for (int i = 0; i < errors->count; i++) {
        calc_error *error = &errors->item[i];
        char path[sizeof error->pointer + 32];
        calc_field_ref ref;
        path_of_pointer(error->pointer, path, sizeof path);
        if (error->kind == set->kind && calc_field_find(error->kind, path, &ref) == CALC_OK &&
            ref.offset == set->offset && ref.field == set->field) {
            calc_error_place(error, CALC_TEXT(sizeof error->file, "--set %s", assignment), 0, 0);
        }
    }
}

static bool is_calibrated(const char *path)
{
    calc_text text = {0};
    calc_errors ignored = {0};
    bool is = calc_is_yes(calc_text_read(&text, path, &ignored)) &&
              calc_remark_read(&text).origin == CALC_REMARK_CALIBRATED;
    calc_text_free(&text);
    return is;
}

/* The calibrated machine whose name is most like `name`: a100_80g and a100_sxm_80g begin alike. A
 * short name is a plain machine. */
static void find_alike(const char *name, char *found, size_t size)
{
    calc_find_list list = calc_find_names(CALC_KIND_SYSTEM);
    size_t family = strcspn(name, "_");
    const char *best = NULL;
    for (size_t i = 0; i < list.count; i++) {
        const char *other = list.entry[i].name;
        bool alike = strncmp(other, name, family) == 0 && strcspn(other, "_") == family;
        if (!alike || strcmp(other, name) == 0 || !is_calibrated(list.entry[i].path)) {
            continue;
        }
        size_t length = strlen(other);
        if (!best || length < strlen(best) ||
            (length == strlen(best) &&
             calc_edit_distance(other, name) < calc_edit_distance(best, name))) {
            best = other;
        }
    }
    snprintf(found, size, "%s", best ? best : "");
    calc_find_free(&list);
}

char *calc_input_remark(const calc_input *input, calc_kind kind, const void *object, char *text)
{
    char alike[128] = "";
    calc_remark_facts facts = calc_remark_read(&input->text);
    if (kind == CALC_KIND_APP) {
        return calc_remark_app(facts, object, text);
    }
    if (facts.origin == CALC_REMARK_CALCULON || facts.origin == CALC_REMARK_ASSUMED) {
        find_alike(input->name, alike, sizeof alike);
    }
    return calc_remark_system(input->name, facts, alike, text);
}

static calc_inputs_remarks inputs_remarks_of(const calc_inputs *in)
{
    calc_inputs_remarks r = {0};
    calc_input_remark(&in->input[CALC_KIND_APP], CALC_KIND_APP, &in->app, r.text[r.count]);
    r.count += *r.text[r.count] != '\0';
    calc_input_remark(&in->input[CALC_KIND_SYSTEM], CALC_KIND_SYSTEM, &in->system, r.text[r.count]);
    r.count += *r.text[r.count] != '\0';
    calc_remark_exec(&in->app, &in->exec, r.text[r.count]);
    r.count += *r.text[r.count] != '\0';
    for (int i = 0; i <= CALC_MAX_CHIPS; i++) {
        bool known = *in->other.remark[i] == '\0';
        for (size_t k = 0; k < r.count; k++) {
            known = known || strcmp(in->other.remark[i], r.text[k]) == 0;
        }
        if (!known) {
            strcpy(r.text[r.count++], in->other.remark[i]);
        }
    }
    return r;
}

void calc_inputs_write_remarks(calc_output *out, const calc_inputs *inputs)
{
    const calc_inputs_remarks r = inputs_remarks_of(inputs);
    for (size_t i = 0; i < r.count; i++) {
        calc_output_printf(out, "%s\n", r.text[i]);
    }
}

void calc_inputs_put_remarks(calc_put *put, const calc_inputs *inputs)
{
    const calc_inputs_remarks r = inputs_remarks_of(inputs);
    calc_put_array(put, "remarks", CALC_PUT_LINE);
    for (size_t i = 0; i < r.count; i++) {
        calc_put_text(put, NULL, r.text[i]);
    }
    calc_put_close(put);
}

/* Reads one of them. @param at  its index in `other` */
static calc_status find_system(const char *name, const calc_system *system, const char *path,
                               calc_inputs_other *other, int32_t at, const calc_system **out,
                               calc_errors *errors)
{
    calc_input found = {.text = {0}};
    calc_status status = calc_find(CALC_KIND_SYSTEM, name, found.path, errors);
    bool own = status == CALC_OK && strcmp(found.path, path) == 0;
    if (status == CALC_OK && !own) {
        status = calc_input_load(&found, CALC_KIND_SYSTEM, &other->system[at], name, errors);
        calc_digest_text(found.text.data, found.text.length, other->sha256[at]);
        calc_input_remark(&found, CALC_KIND_SYSTEM, &other->system[at], other->remark[at]);
    }
    calc_text_free(&found.text);
    *out = own ? system : &other->system[at];
    return status;
}

calc_status calc_inputs_systems(calc_exec *exec, const calc_system *system, const char *path,
                                calc_inputs_other *other, calc_errors *errors)
{
    calc_stage_list *list = &exec->stages;
    calc_other_system *prefill = &exec->inference.prefill_system;
    calc_status status = CALC_OK;
    for (int32_t i = 0; i < list->chips && status == CALC_OK; i++) {
        status = find_system(list->name[i], system, path, other, i, &list->system[i], errors);
    }
    status = status == CALC_OK && prefill->name[0]
                 ? find_system(prefill->name, system, path, other, CALC_MAX_CHIPS, &prefill->system,
                               errors)
                 : status;
    return status;
}

/* Arguments APP EXE: what was read as SYS is an execution that names the systems of its stages. SYS
 * is the first of them, and the others stay as they are.
 *  @param before  errors, before it was no system
 *  @return whether it is one; with errors if it cannot be used */
static bool take_plan(calc_inputs *inputs, const calc_errors *before, calc_errors *errors)
{
    calc_input *sys = &inputs->input[CALC_KIND_SYSTEM], *exe = &inputs->input[CALC_KIND_EXEC];
    calc_exec exec = {0};
    calc_errors ignored = {0};
    if (!sys->text.data ||
        !calc_is_yes(calc_parse(CALC_KIND_EXEC, &exec, sys->text.data, sys->text.length, sys->path,
                                &ignored)) ||
        exec.stages.count == 0 || exec.stages.run[0].chip == 0) {
        return false;
    }
    *errors = *before;
    bool partial = exe->partial;
    *exe = *sys;
    exe->partial = partial;
    sys->text = (calc_text){0};
    if (calc_input_load(sys, CALC_KIND_SYSTEM, &inputs->system,
                        exec.stages.name[exec.stages.run[0].chip - 1], errors) == CALC_OK) {
        (void)!parse_input(exe, CALC_KIND_EXEC, &inputs->exec, NULL, errors);
    }
    return true;
}

calc_status calc_inputs_load(calc_inputs *inputs, const char *const given[CALC_INPUTS],
                             const char *const *set, size_t set_count, calc_errors *errors)
{
    void *const object[CALC_INPUTS] = {&inputs->app, &inputs->system, &inputs->exec};
    bool fine = true, whole = given[CALC_KIND_EXEC] != NULL;
    calc_input *layout = &inputs->input[CALC_KIND_EXEC];
    layout->partial = inputs->complete != NULL;
    for (int i = 0; i < CALC_INPUTS && given[i]; i++) {
        calc_errors before = *errors;
        calc_status status = load_input(&inputs->input[i], (calc_kind)i, object[i], given[i],
                                        inputs->complete && !whole ? inputs : NULL, errors);
        if (i == CALC_KIND_SYSTEM && !whole && status != CALC_OK && status != CALC_ERR_NOMEM &&
            take_plan(inputs, &before, errors)) {
            whole = true;
            status = errors->count == before.count ? CALC_OK : CALC_ERR_FIELD;
        }
        fine &= status == CALC_OK;
    }
    const calc_input *model = &inputs->input[CALC_KIND_APP];
    bool scripted = fine && !whole && model->framework;
    if (scripted) {
        snprintf(layout->name, sizeof layout->name, "%s", model->name);
        calc_software_state_all(&inputs->exec);
    }
    if (fine && inputs->complete && !scripted && (!whole || layout->absent > 0)) {
        fine = inputs->complete(inputs, set, set_count, errors) == CALC_OK;
        calc_software_state_all(&inputs->exec);
    } else if (fine && ((inputs->procs && !scripted) || inputs->batch)) {
        bool procs = inputs->procs && !scripted;
        fine = false;
        calc_errors_at(errors, CALC_ERR_FIELD, procs ? "--procs" : "--batch", 0, 0,
                       procs ? "--set num_procs=N" : "--set batch_size=N", "%s says it already",
                       layout->name);
    }
    if (!fine) {
        return calc_errors_first(errors);
    }
    if (inputs->input[CALC_KIND_EXEC].foreign) {
        calc_galvatron_exec_attention(&inputs->app, &inputs->exec);
    }
    calc_field_ref *where = calc_make(set_count + 1, sizeof *where);
    const calc_inputs before = *inputs;
    for (size_t i = 0; i < set_count; i++) {
        fine &= calc_set(&inputs->app, &inputs->system, &inputs->exec, set[i], &where[i], errors) ==
                CALC_OK;
    }
    if (fine && calc_inputs_software(&inputs->exec, errors) != CALC_OK) {
        fine = false;
        bool placed = errors->item[0].file[0] != '\0'; /* in the document */
        for (size_t i = 0; i < set_count && !placed; i++) {
            blame_assignment(errors, &where[i], set[i]);
        }
    }
    fine = fine &&
           calc_inputs_systems(&inputs->exec, &inputs->system, inputs->input[CALC_KIND_SYSTEM].path,
                               &inputs->other, errors) == CALC_OK;
    if (fine) {
        calc_resolve(&inputs->app, &inputs->system, &inputs->exec);
    }
    calc_errors found = {0};
    if (fine && calc_check(&inputs->app, &inputs->system, &inputs->exec, &found) != CALC_OK &&
        !follow(inputs, &before, where, set_count, &found)) {
        *errors = found; /* the first ones */
        /* If a field is assigned several times, the last assignment counts and gets the error. */
        for (size_t i = 0; i < set_count; i++) {
            blame_assignment(errors, &where[i], set[i]);
        }
        for (int kind = 0; kind < CALC_INPUTS; kind++) {
            const calc_input *input = &inputs->input[kind];
            calc_errors_locate(errors, (calc_kind)kind, input->text.data, input->text.length,
                               input->path);
        }
    }
    free(where);
    return calc_errors_first(errors);
}

calc_status calc_inputs_load_args(calc_inputs *inputs, const calc_args *args, size_t first, int opt,
                                  calc_errors *errors)
{
    const char **set = calc_make(args->use_count + 1, sizeof *set);
    size_t count = 0, cursor = 0;
    while ((set[count] = calc_opt_next(args, opt, &cursor))) {
        count++;
    }
    calc_status status = calc_inputs_load(inputs, args->argument + first, set, count, errors);
    free(set);
    return status;
}

calc_status calc_inputs_set(const calc_args *args, int opt, calc_app *app, calc_system *system,
                            calc_exec *exec, calc_errors *errors)
{
    size_t cursor = 0;
    const char *text;
    while ((text = calc_opt_next(args, opt, &cursor))) {
        calc_app no_app = {0};
        calc_system no_system = {0};
        calc_exec no_exec = {0};
        calc_field_ref where;
        if (calc_set(app ? app : &no_app, system ? system : &no_system, exec ? exec : &no_exec,
                     text, &where, errors) != CALC_OK) {
            continue;
        }
        const void *const object[CALC_INPUTS] = {app, system, exec};
        if (!object[where.kind]) {
            calc_errors_at(errors, CALC_ERR_FIELD, CALC_TEXT(256, "--set %s", text), 0, 0, NULL,
                           "it is a field of %s, and none is given",
                           calc_find_kind_text(where.kind));
        }
    }
    return exec && errors->count == 0 ? calc_inputs_software(exec, errors)
                                      : calc_errors_first(errors);
}

const char *calc_inputs_check_stdin(const calc_args *args)
{
    int in = 0;
    for (size_t i = 0; i < args->argument_count; i++) {
        in += strcmp(args->argument[i], "-") == 0;
    }
    return in > 1 ? "only one of APP SYS EXE can be standard input" : NULL;
}

void calc_inputs_free(calc_inputs *inputs)
{
    for (int i = 0; i < CALC_INPUTS; i++) {
        calc_text_free(&inputs->input[i].text);
    }
}
