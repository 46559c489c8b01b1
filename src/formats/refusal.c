#include "formats/refusal.h"

#include <stdio.h>
#include <string.h>

#include "formats/export.h"
#include "spec/field.h"

enum { MAX_REASON = 256 };

/* Receives reasons, and knows the rules reported so far: their fields need no line of their own. */
typedef struct teller {
    void (*tell)(void *context, const char *reason);
    void *context;
    bool first;     /* only whether there is a reason is asked */
    bool any_model; /* what a framework cannot be told of the model is none */
    calc_refused rules;
    size_t told;
    calc_status status; /* CALC_ERR_NOMEM: not all reasons are told */
} teller;

static void tell_rule(teller *t, const char *reason)
{
    t->rules.text[t->rules.count++] = reason;
    t->tell(t->context, reason);
    t->told++;
}

/* Whether a field that gets lost is the model's. */
static bool is_of_model(const char *field)
{
    return strncmp(field, "parts.", strlen("parts.")) == 0 || strcmp(field, "layers") == 0 ||
           (calc_table_find(calc_table_of(CALC_KIND_APP), field) &&
            !calc_table_find(calc_table_of(CALC_KIND_EXEC), field));
}

static void tell_lost(void *context, const char *field, const char *value, bool layout)
{
    char reason[MAX_REASON];
    teller *t = context;
    layout = layout && !(t->any_model && is_of_model(field));
    for (size_t i = 0; i < t->rules.count; i++) {
        layout = layout && !strstr(t->rules.text[i], field);
    }
    if (layout) {
        snprintf(reason, sizeof reason, "it has no setting for %s = %s", field, value);
        t->tell(t->context, reason);
        t->told++;
    }
}

/* For a layout that is one server, or is trained. */
static void tell_layout(teller *t, const calc_framework *framework, const calc_app *app,
                        const calc_exec *exec)
{
    calc_app a = *app;
    calc_exec e = *exec;
    calc_refused refused = {0};
    calc_settings settings = {0};
    calc_errors errors; /* large, and nobody reads them */
    errors.count = errors.dropped = 0;
    /* The rules divide by sizes and need them to be consistent. */
    if (calc_export_check(exec, &errors) != CALC_OK) {
        tell_rule(t, "its sizes contradict each other");
        return;
    }
    calc_plan_resolve(&a, &e);
    for (size_t i = 0; framework->refusals[i]; i++) {
        framework->refusals[i](&a, &e, &e.strategy, &refused);
    }
    for (size_t i = 0; i < refused.count; i++) {
        tell_rule(t, refused.text[i]);
    }
    if (!framework->serves && !(t->first && t->told > 0)) {
        calc_status status = calc_export(framework, app, exec, 1, &settings, &errors);
        if (status == CALC_OK) {
            status = calc_export_lost(framework, app, exec, &settings, tell_lost, t);
        }
        t->status = status == CALC_ERR_NOMEM ? status : t->status;
    }
    calc_settings_free(&settings);
}

static void tell_reasons(teller *t, const calc_framework *framework, const calc_app *app,
                         const calc_exec *exec)
{
    if (framework->serves == exec->training) {
        tell_rule(t, framework->serves ? "training is true, and it serves"
                                       : "training is false, and it trains");
    } else if (calc_framework_has_pools(framework, exec)) {
        for (int pool = 0; pool < CALC_POOL_COUNT && t->told == 0; pool++) {
            calc_exec own;
            calc_export_pool_exec(exec, (calc_pool)pool, &own);
            tell_layout(t, framework, app, &own);
        }
    } else {
        tell_layout(t, framework, app, exec);
    }
}

calc_status calc_export_refused(const calc_framework *framework, const calc_app *app,
                                const calc_exec *exec,
                                void (*tell)(void *context, const char *reason), void *context,
                                size_t *count)
{
    teller t = {.tell = tell, .context = context};
    tell_reasons(&t, framework, app, exec);
    *count = t.told;
    return t.status;
}

static void tell_nobody(void *context, const char *reason)
{
    (void)context;
    (void)reason;
}

static bool runs_on(const calc_framework *framework, const calc_system *system)
{
    return !system || system->platform == CALC_PLATFORM_ANY ||
           framework->platforms >> system->platform & 1;
}

bool calc_export_says(const calc_system *system, calc_how how)
{
    bool told = false;
    for (size_t i = 0; calc_framework_list[i] && !told; i++) {
        const calc_framework *f = calc_framework_list[i];
        for (size_t k = 0; k < f->count && !told && runs_on(f, system); k++) {
            told = f->rows[k].how == how;
        }
    }
    return told;
}

static calc_status can_run(const calc_framework *framework, const calc_app *app,
                           const calc_system *system, const calc_exec *exec, bool any_model,
                           bool *runs)
{
    teller t = {.tell = tell_nobody, .first = true, .any_model = any_model};
    *runs = runs_on(framework, system) && runs_on(framework, exec->inference.prefill_system.system);
    for (int i = 0; i < exec->stages.chips; i++) {
        *runs = *runs && runs_on(framework, exec->stages.system[i]);
    }
    if (*runs) {
        tell_reasons(&t, framework, app, exec);
    }
    *runs = *runs && t.told == 0;
    return t.status;
}

calc_status calc_export_runs(const calc_framework *framework, const calc_app *app,
                             const calc_system *system, const calc_exec *exec, bool *runs)
{
    return can_run(framework, app, system, exec, false, runs);
}

static void count_model(void *context, const char *field, const char *value, bool layout)
{
    size_t *count = context;
    (void)value;
    *count += layout && is_of_model(field);
}

/* Whether some framework can be told the layers of a model. */
static calc_status has_teller(const calc_app *app, const calc_system *system, const calc_exec *exec,
                              bool *told)
{
    calc_status status = CALC_OK;
    *told = false;
    for (size_t i = 0; calc_framework_list[i] && !*told && status != CALC_ERR_NOMEM; i++) {
        const calc_framework *f = calc_framework_list[i];
        calc_settings settings = {0};
        calc_errors errors = {0};
        size_t lost = 0;
        if (!f->has_model || f->serves || !runs_on(f, system)) {
            continue;
        }
        status = calc_export(f, app, exec, 1, &settings, &errors);
        if (status == CALC_OK) {
            status = calc_export_lost(f, app, exec, &settings, count_model, &lost);
            *told = lost == 0;
        }
        calc_settings_free(&settings);
    }
    return status == CALC_ERR_NOMEM ? status : CALC_OK;
}

calc_status calc_export_starter(const calc_app *app, const calc_system *system,
                                const calc_exec *exec, const char **name)
{
    calc_status status = CALC_OK;
    *name = NULL;
    for (size_t i = 0; calc_framework_list[i] && !*name && status == CALC_OK; i++) {
        bool runs;
        status = calc_export_runs(calc_framework_list[i], app, system, exec, &runs);
        *name = runs ? calc_framework_list[i]->name : NULL;
    }
    return status;
}

calc_status calc_export_starts(const calc_app *app, const calc_system *system,
                               const calc_exec *exec, bool *starts)
{
    calc_status status = CALC_OK;
    bool serves = exec->inference.phase != CALC_INFERENCE_PHASE_NONE;
    bool asked = false;
    for (size_t i = 0; calc_framework_list[i] && !asked; i++) {
        const calc_framework *f = calc_framework_list[i];
        asked = f->serves == serves && runs_on(f, system);
    }
    /* Most programs that train adapters build on libraries that are told nothing here. */
    asked = asked && (serves || exec->strategy.trained == CALC_TRAINED_ALL);
    /* Of a model that no framework can be told, those are asked that can be told the layout. */
    bool any_model = !serves && app->stack.layers > 0 && exec->layers.count == 0;
    if (any_model) {
        bool told;
        status = has_teller(app, system, exec, &told);
        any_model = !told;
    }
    *starts = false;
    for (size_t i = 0; any_model && calc_framework_list[i] && !*starts && status == CALC_OK; i++) {
        status = can_run(calc_framework_list[i], app, system, exec, true, starts);
    }
    if (!any_model && status == CALC_OK) {
        const char *name;
        status = calc_export_starter(app, system, exec, &name);
        *starts = name != NULL;
    }
    *starts = *starts || !asked;
    return status;
}
