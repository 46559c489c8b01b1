#include "cli/shell/script.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/buffer.h"
#include "base/error.h"
#include "cli/shell/complain.h"
#include "formats/export.h"
#include "formats/launch.h"
#include "formats/read.h"
#include "io/utf8.h"

enum { SHOWN = 20 /* most keys to name that are not read */ };

void calc_script_tell_unread(void *context, const char *key, calc_unread what, const char *assumed)
{
    static const char *const texts[] = {
        [CALC_UNREAD_UNKNOWN] = "unknown to calc",
        [CALC_UNREAD_MODEL] = "changes the model, and calc does not read it: it is another model",
        [CALC_UNREAD_COST] = "changes time or memory, and calc does not read it"};
    char shown[CALC_UTF8_SHOW_SIZE];
    calc_script_unread *u = context;
    if (!key) {
        calc_say("%s: %s\n", u->title, assumed);
        return;
    }
    calc_utf8_show(shown, key, strlen(key));
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
    char number[CALC_HUMAN_MAX];
    calc_count_parameters(app, &parameters);
    snprintf(text, CALC_SCRIPT_PARAMETERS, "%s parameters",
             calc_human_count(parameters.total, number));
    if (parameters.encoder > 0) {
        calc_append(text, CALC_SCRIPT_PARAMETERS, " and an encoder of images of %s",
                    calc_human_count(parameters.encoder, number));
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

calc_status calc_script_model(const calc_import *import, const calc_plan *plan, calc_app *app,
                              calc_errors *errors)
{
    const calc_framework *framework = import->framework;
    const calc_plan_model *named = calc_plan_model_of(plan);
    if (framework->has_model && !named) {
        return calc_import_complete(import, app, errors);
    }
    const calc_setting *setting = NULL;
    const calc_setting_row *row = named ? NULL : model_row(import, framework, &setting);
    char path[CALC_FIND_PATH_MAX];
    calc_errors ignored = {0};
    const char *slash = setting ? strchr(setting->value, '/') : NULL;
    bool folder = slash && (slash == setting->value || strchr(slash + 1, '/'));
    const char *hub = !setting ? NULL : folder ? strrchr(slash, '/') + 1 : setting->value;
    if (hub &&
        (!calc_is_yes(calc_find(CALC_KIND_APP, hub, path, &ignored)) || access(path, R_OK) != 0)) {
        hub = NULL;
    }
    if (!named && !hub) {
        return calc_errors_add(errors, CALC_ERR_FIELD, CALC_KIND_NONE, NULL,
                               row && row->how == CALC_HOW_NAME
                                   ? "calc import of the model's config.json writes the model; "
                                     "calc import without --app writes the layout alone"
                                   : "calc import without --app writes the layout alone",
                               "%s: no model that calc knows is named%s%s%s%.80s", framework->title,
                               row ? " by " : "", row ? row->key : "", setting ? ": " : "",
                               setting ? setting->value : "");
    }
    calc_input input = {0};
    calc_status status =
        calc_input_load(&input, CALC_KIND_APP, app, named ? named->name : path, errors);
    calc_text_free(&input.text);
    if (status == CALC_OK && calc_plan_says(plan, CALC_PLAN_SEQ)) {
        app->seq_size = (int64_t)plan->value[CALC_PLAN_SEQ];
    }
    return status;
}

void calc_script_tell_requests(const calc_plan *plan, const calc_exec *exec)
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
    if (exec->strategy.expert_par <= 1 && ranks > 1) {
        calc_say("experts, if the model has any: --set expert_tensor_par=%" PRId64
                 " and dispatch_type=replicated split each of them\n",
                 ranks);
    }
}

void calc_script_tell(const calc_framework *framework, const calc_app *app, const calc_exec *exec)
{
    const calc_strategy *s = &exec->strategy;
    const struct {
        const char *name;
        int64_t size;
    } sizes[] = {{"TP", s->tensor_par},
                 {"CP", s->context_par},
                 {"EP", s->expert_par},
                 {"PP", exec->pipeline_par},
                 {"DP", s->data_par}};
    calc_say("%s:", framework->title);
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        if (sizes[i].size > 1) {
            calc_say(" %s %lld", sizes[i].name, (long long)sizes[i].size);
        }
    }
    calc_say(" on %lld processor%s, batch %lld", (long long)exec->num_procs,
             exec->num_procs == 1 ? "" : "s", (long long)exec->batch_size);
    if (app) {
        char number[CALC_SCRIPT_PARAMETERS];
        calc_say(", %s", calc_script_parameters(app, number));
    }
    calc_say("\n");
}

calc_status calc_script_load(calc_input *input, const char *procs, calc_app *app, calc_exec *exec,
                             calc_errors *errors)
{
    calc_settings settings = {0};
    calc_errors ignored = {0};
    calc_plan plan;
    double count = 0;
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
    } else if (procs && !calc_opt_number(procs, true, 1, 1e9, &count)) {
        status = calc_errors_at(errors, CALC_ERR_RANGE, "--procs", 0, 0, NULL,
                                "expected a number from 1 to 1000000000");
    }
    unread.title = framework->title;
    const calc_import import = {.framework = framework,
                                .settings = &settings,
                                .name = input->path,
                                .procs = (int64_t)count,
                                .model = true,
                                .unread = calc_script_tell_unread,
                                .context = &unread};
    status = status == CALC_OK ? calc_import_plan(&import, &plan, errors) : status;
    status = status == CALC_OK ? calc_plan_apply(&plan, app, exec, errors) : status;
    status = status == CALC_OK ? calc_script_model(&import, &plan, app, errors) : status;
    if (status == CALC_OK) {
        input->framework = framework;
        calc_script_tell(framework, app, exec);
        if (framework->serves) {
            calc_script_tell_requests(&plan, exec);
        }
        calc_script_tell_rest(&unread);
    }
    calc_settings_free(&settings);
    return status;
}

/* The document that an assignment changes. */
static calc_kind kind_of(const calc_start *s, const char *assignment)
{
    calc_app app = *s->app;
    calc_system system = *s->system;
    calc_exec exec = *s->exec;
    calc_field_ref where = {.kind = CALC_KIND_NONE};
    calc_errors ignored = {0};
    return calc_is_yes(calc_set(&app, &system, &exec, assignment, &where, &ignored))
               ? where.kind
               : CALC_KIND_NONE;
}

/* Up to a kind: calc export takes no machine. @param put  NULL: on a line of `out` */
static void put_sets(calc_put *put, calc_output *out, const calc_start *s, calc_kind last)
{
    size_t cursor = 0;
    const char *assignment;
    while ((assignment = calc_opt_next(s->args, s->set, &cursor))) {
        if (kind_of(s, assignment) > last) {
            continue;
        }
        if (put) {
            calc_putf(put, "%s, %s", "--set", assignment);
        } else {
            calc_output_printf(out, " --set %s", assignment);
        }
    }
}

static void put_words(calc_put *put, const char *const *words, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        calc_put_text(put, NULL, words[i]);
    }
}

const char *calc_start_framework(const calc_app *app, const calc_system *system,
                                 const calc_exec *exec)
{
    const char *name;
    return calc_is_yes(calc_export_starter(app, system, exec, &name)) ? name : NULL;
}

bool calc_start_exists(const calc_app *app, const calc_system *system, const calc_exec *exec)
{
    bool starts;
    return calc_is_yes(calc_export_starts(app, system, exec, &starts)) && starts;
}

void calc_start_put(calc_put *put, const calc_start *s)
{
    const char *framework = calc_start_framework(s->app, s->system, s->exec);
    const char *const run[] = {"calc", "run", s->names[0], s->names[1], s->names[2]};
    const char *const export[] = {"calc", "export", "--to", framework, s->names[0], s->names[2]};
    calc_put_array(put, "run", CALC_PUT_LINE);
    put_words(put, run, sizeof run / sizeof *run);
    put_sets(put, NULL, s, CALC_KIND_SYSTEM);
    calc_put_close(put);
    if (framework) {
        calc_put_array(put, "export", CALC_PUT_LINE);
        put_words(put, export, sizeof export / sizeof *export);
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
