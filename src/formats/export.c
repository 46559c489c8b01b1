#include "formats/export.h"

#include <stdio.h>
#include <string.h>

#include "base/buffer.h"
#include "base/error.h"
#include "formats/import.h"
#include "formats/plan.h"
#include "formats/plan_layers.h"
#include "spec/absent.h"
#include "spec/field.h"
#include "spec/format.h"
#include "spec/serving_engine.h"
#include "spec/software.h"

enum { MAX_REASON = 256 };

/* Receives reasons, and knows the rules reported so far: their fields need no line of their own. */
typedef struct teller {
    void (*tell)(void *context, const char *reason);
    void *context;
    bool first;     /* only whether there is a reason is asked */
    bool any_model; /* what a framework cannot be told of the model is none */
    calc_refused rules;
    bool resolved; /* a and e are the layout asked for, which frameworks share */
    calc_app a;
    calc_exec e;
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
    teller *t = context;
    layout = layout && !(t->any_model && is_of_model(field));
    for (size_t i = 0; i < t->rules.count; i++) {
        layout = layout && !strstr(t->rules.text[i], field);
    }
    if (layout) {
        t->tell(t->context, CALC_TEXT(MAX_REASON, "it has no setting for %s = %s", field, value));
        t->told++;
    }
}

static calc_status broken(calc_errors *errors, const char *pointer, const char *text)
{
    return calc_errors_add(errors, CALC_ERR_RULE, CALC_KIND_EXEC, pointer, NULL, "%s", text);
}

/* Checks that the sizes of a layout divide evenly where frameworks take quotients.
 * @return CALC_OK, or CALC_ERR_RULE with an error */
static calc_status check(const calc_exec *e, calc_errors *errors)
{
    double context = e->strategy.context_par > 0 ? (double)e->strategy.context_par : 1;
    double product = (double)e->strategy.tensor_par * (double)e->pipeline_par *
                     (double)e->strategy.data_par * context;
    double each = (double)e->strategy.data_par * (double)e->microbatch_size;
    if (product != (double)e->num_procs) {
        return broken(errors, "/num_procs",
                      "is not the product of the tensor, pipeline, data and context parallelism");
    }
    if (fmod((double)e->batch_size, each) != 0) {
        return broken(errors, "/batch_size", "is not a multiple of microbatch_size * data_par");
    }
    if (e->strategy.fsdp_par > 0 &&
        fmod((double)e->strategy.data_par * context, (double)e->strategy.fsdp_par) != 0) {
        return broken(errors, "/fsdp_par", "does not divide data_par * context_par");
    }
    return CALC_OK;
}

static void tell_refusals(teller *t, const calc_framework *framework, const calc_app *app,
                          const calc_exec *exec)
{
    calc_refused refused = {0};
    calc_refusals *const *refusals = framework->refusals;
    if (!t->resolved) {
        t->a = *app;
        t->e = *exec;
        calc_plan_resolve(&t->a, &t->e);
        t->resolved = true;
    }
    for (; refusals && *refusals && !(t->first && refused.count > 0); refusals++) {
        (*refusals)(&t->a, &t->e, &t->e.strategy, &refused);
    }
    for (size_t i = 0; i < refused.count; i++) {
        tell_rule(t, refused.text[i]);
    }
}

/* What is lost of a layout in the settings that are written for it. */
static calc_status lost_of(const calc_framework *framework, const calc_app *app,
                           const calc_exec *exec, calc_tell_lost *tell, void *context)
{
    calc_settings settings = {0};
    calc_errors errors; /* large, and nobody reads them */
    errors.count = errors.dropped = 0;
    calc_status status = calc_export(framework, app, exec, 1, &settings, &errors);
    if (status == CALC_OK) {
        status = calc_export_lost(framework, app, exec, &settings, tell, context);
    }
    calc_settings_free(&settings);
    return status;
}

/* For a layout that is one server, or is trained. */
static void tell_layout(teller *t, const calc_framework *framework, const calc_app *app,
                        const calc_exec *exec)
{
    calc_errors errors; /* likewise */
    errors.count = errors.dropped = 0;
    /* The rules divide by sizes and need them to be consistent. */
    if (check(exec, &errors) != CALC_OK) {
        tell_rule(t, "its sizes contradict each other");
        return;
    }
    tell_refusals(t, framework, app, exec);
    if (!framework->serves && !(t->first && t->told > 0)) {
        calc_status status = lost_of(framework, app, exec, tell_lost, t);
        t->status = status == CALC_ERR_NOMEM ? status : t->status;
    }
}

static void tell_reasons(teller *t, const calc_framework *framework, const calc_app *app,
                         const calc_exec *exec)
{
    if (framework->serves == exec->training) {
        tell_rule(t, framework->serves ? "training is true, and it serves"
                                       : "training is false, and it trains");
    } else if (calc_framework_has_pools(framework, exec)) {
        calc_exec server[CALC_POOL_COUNT];
        calc_export_servers(framework, exec, server);
        for (int pool = 0; pool < CALC_POOL_COUNT && t->told == 0; pool++) {
            t->resolved = false;
            tell_layout(t, framework, app, &server[pool]);
            t->resolved = false;
        }
    } else {
        tell_layout(t, framework, app, exec);
    }
}

void calc_import_refused(const calc_framework *framework, const calc_app *app,
                         const calc_exec *exec, void (*tell)(void *context, const char *reason),
                         void *context)
{
    teller t = {.tell = tell, .context = context};
    tell_refusals(&t, framework, app, exec);
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

/* @param t  of this layout, also for other frameworks */
static bool can_run(teller *t, const calc_framework *framework, const calc_app *app,
                    const calc_system *system, const calc_exec *exec)
{
    bool runs =
        runs_on(framework, system) && runs_on(framework, exec->inference.prefill_system.system);
    for (int i = 0; i < exec->stages.chips; i++) {
        runs = runs && runs_on(framework, exec->stages.system[i]);
    }
    t->told = t->rules.count = 0;
    if (runs) {
        tell_reasons(t, framework, app, exec);
    }
    return runs && t->told == 0;
}

calc_status calc_export_runs(const calc_framework *framework, const calc_app *app,
                             const calc_system *system, const calc_exec *exec, bool *runs)
{
    teller t = {.tell = tell_nobody, .first = true};
    *runs = can_run(&t, framework, app, system, exec);
    return t.status;
}

static void count_model(void *context, const char *field, const char *value, bool layout)
{
    size_t *count = context;
    (void)value;
    *count += layout && is_of_model(field);
}

/* Whether some framework can be told the layers of a model, on one processor. */
static calc_status has_teller(const calc_app *app, const calc_system *system, const calc_exec *exec,
                              bool *told)
{
    calc_status status = CALC_OK;
    calc_exec one = *exec;
    calc_strategy *s = &one.strategy;
    one.num_procs = one.pipeline_par = one.pipeline_interleaving = one.batch_size = 1;
    one.microbatch_size = s->tensor_par = s->data_par = s->context_par = s->expert_par = 1;
    s->expert_tensor_par = 1;
    s->fsdp_par = 0;
    one.stages.count = 0;
    *told = false;
    for (size_t i = 0; calc_framework_list[i] && !*told && status != CALC_ERR_NOMEM; i++) {
        const calc_framework *f = calc_framework_list[i];
        size_t lost = 0;
        if (f->has_model && !f->serves && runs_on(f, system)) {
            status = lost_of(f, app, &one, count_model, &lost);
            *told = status == CALC_OK && lost == 0;
        }
    }
    return status == CALC_ERR_NOMEM ? status : CALC_OK;
}

calc_status calc_export_starter(const calc_app *app, const calc_system *system,
                                const calc_exec *exec, bool any_model, const char **name)
{
    teller t = {.tell = tell_nobody, .first = true, .any_model = any_model};
    *name = NULL;
    for (size_t i = 0; calc_framework_list[i] && !*name && t.status == CALC_OK; i++) {
        bool runs = can_run(&t, calc_framework_list[i], app, system, exec);
        *name = runs ? calc_framework_list[i]->name : NULL;
    }
    return t.status;
}

calc_status calc_export_starts(const calc_app *app, const calc_system *system,
                               const calc_exec *exec, int *known, bool *starts)
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
        enum { TOLD = 1, UNTOLD };
        bool told = known && *known == TOLD;
        if (!known || *known == 0) {
            status = has_teller(app, system, exec, &told);
        }
        if (known && status == CALC_OK) {
            *known = told ? TOLD : UNTOLD;
        }
        any_model = !told;
    }
    const char *name = NULL;
    status = status == CALC_OK ? calc_export_starter(app, system, exec, any_model, &name) : status;
    *starts = name || !asked;
    return status;
}

calc_status calc_export(const calc_framework *framework, const calc_app *app, const calc_exec *exec,
                        int64_t node_procs, calc_settings *settings, calc_errors *errors)
{
    calc_plan plan;
    char text[CALC_ROW_TEXT_SIZE];
    calc_status status = check(exec, errors);
    if (status != CALC_OK) {
        return status;
    }
    calc_plan_from(&plan, app, exec, node_procs);
    for (size_t i = 0; i < framework->count; i++) {
        const calc_setting_row *row = &framework->rows[i];
        if (calc_row_write(row, framework->syntax, &plan, text)) {
            calc_setting *setting = calc_settings_put(settings, row->key, text);
            if (!setting) {
                return calc_errors_no_memory(errors);
            }
            setting->row = row;
        }
    }
    return CALC_OK;
}

/* Whether a field decides which rank holds and computes which part of the model, and when. */
static bool is_layout(calc_kind kind, const char *key)
{
    static const char layout[] =
        "num_procs tensor_par pipeline_par data_par context_par context_par_type "
        "context_par_inner expert_par expert_tensor_par fsdp_par batch_size microbatch_size "
        "seq_size pipeline_interleaving first_stage_blocks last_stage_blocks "
        "datatype matrix_datatype weight_datatype grad_datatype master_datatype "
        "optimizer_moment_datatype optimizer deferred_head_wgrad activation_recompute "
        "recompute_modules recompute_blocks recompute_group distribute_saved_activations "
        "offload_modules trained trained_blocks frozen_datatype lora_rank lora_modules "
        "lora_experts lora_fused lora_dropout dora "
        "pipeline_schedule pipeline_balance rank_order optimizer_sharding zero_stage "
        "tensor_par_comm_type weight_offload activations_offload optimizer_offload offload_share "
        "capacity_factor rank_capacity_factor paged_stash attention_type training inference ";
    static const char details[] = " vocab_multiple router_datatype trained_datatype dropout ";
    return kind == CALC_KIND_APP ? !calc_is_word(details, key) : calc_is_word(layout, key);
}

static bool is_network(const calc_field *field)
{
    size_t length = strlen(field->key);
    return length > 4 && strcmp(field->key + length - 4, "_net") == 0;
}

/* Whether a field says something. Absent fields of the layout say what they come to, but for none
 * of something, and for those that then follow others ("auto") or the networks. Of kernels and
 * overlap what a file states, and "auto" that comes to yes or no. */
static bool is_told(calc_kind kind, const calc_field *field, const void *object, double resolved,
                    bool stated)
{
    const char *at = (const char *)object + field->offset;
    bool absent = (field->flags & CALC_OPTIONAL) && calc_absent_is(field, at);
    bool follows = kind == CALC_KIND_APP || !is_layout(kind, field->key) ||
                   field->type == CALC_TYPE_OBJECT || strcmp(field->key, "rank_order") == 0 ||
                   (field->type != CALC_TYPE_ENUM && resolved == 0) ||
                   (field->type == CALC_TYPE_ENUM &&
                    strcmp(field->choices[(int)calc_member_number(field, at)], "auto") == 0);
    /* The checkpoint is for serving, and frameworks that are told the model train it. */
    bool served = kind == CALC_KIND_APP && field->type == CALC_TYPE_OBJECT;
    bool kernels = kind == CALC_KIND_EXEC && !is_layout(kind, field->key) &&
                   (stated || (field->type == CALC_TYPE_ENUM &&
                               calc_is_word(" true false ", field->choices[(int)resolved])));
    return field->type != CALC_TYPE_NOTE && !is_network(field) && !served &&
           (kernels || !(absent && follows));
}

/* Reads the settings back, with the model of the files if the framework's settings describe
 * none. */
static calc_status read_back(const calc_framework *framework, const calc_app *app,
                             const calc_exec *exec, const calc_settings *settings,
                             calc_app *app_back, calc_exec *exec_back)
{
    const calc_import import = {.framework = framework,
                                .settings = settings,
                                .procs = framework->launched ? exec->num_procs : 0};
    calc_plan whole, plan;
    calc_errors errors; /* large, and nobody reads them */
    errors.count = errors.dropped = 0;
    calc_status status = calc_import_plan(&import, &plan, &errors);
    if (status != CALC_OK) {
        return status;
    }
    if (!framework->has_model) {
        calc_plan_from(&whole, app, exec, 1);
        for (int i = CALC_PLAN_MODEL + 1; i < CALC_PLAN_COUNT; i++) {
            plan.value[i] = whole.value[i];
        }
    }
    status = calc_plan_apply(&plan, app_back, exec_back, &errors);
    for (size_t i = 0; i < settings->count && status == CALC_OK; i++) {
        const calc_setting_row *row = settings->item[i].row;
        if (row && row->text &&
            row->when == CALC_PLAN_SIZED_LAYERS) { /* its file is the model's own */
            app_back->stack = app->stack;
        }
    }
    return status;
}

calc_status calc_export_software(const calc_framework *framework, const calc_app *app,
                                 const calc_exec *exec, calc_exec *software)
{
    const calc_table *table = calc_table_of(CALC_KIND_EXEC);
    calc_settings settings = {0};
    calc_errors errors = {.count = 0}; /* nobody reads them */
    calc_app a = *app, a_back;
    calc_exec e = *exec, back, e_back;
    calc_status status = calc_export(framework, app, exec, 1, &settings, &errors);
    status =
        status == CALC_OK ? read_back(framework, app, exec, &settings, &a_back, &back) : status;
    calc_settings_free(&settings);
    if (status != CALC_OK) {
        return status == CALC_ERR_NOMEM ? status : CALC_OK;
    }
    e_back = back;
    calc_plan_resolve(&a, &e);
    calc_plan_resolve(&a_back, &e_back);
    for (size_t i = 0; i < table->count; i++) {
        const calc_field *field = &table->rows[i];
        if (field->type < CALC_TYPE_CURVE && !is_layout(CALC_KIND_EXEC, field->key) &&
            !is_network(field) && !calc_idle(app, exec, field) &&
            !calc_same_row(field, &e, &e_back)) {
            calc_software_copy(software, &back, i);
            calc_software_state(software, field);
        }
    }
    return CALC_OK;
}

/* No framework accepts layers that are split differently. */
static void layers_lost(const calc_exec *exec, calc_tell_lost *tell, void *context)
{
    const calc_layer_list *list = &exec->layers;
    char text[256] = "runs of ";
    for (int32_t i = 0; i < list->count; i++) {
        calc_append(text, sizeof text, "%s%d", i > 0 ? ", " : "", list->run[i].blocks);
    }
    if (list->count > 0) {
        tell(context, "layers", calc_append(text, sizeof text, " blocks"), true);
    }
}

/* What is compared, and who is told. */
typedef struct comparison {
    const calc_framework *framework;
    const calc_app *app;
    const calc_exec *exec;
    bool listed; /* the list of layers says what they are */
    calc_tell_lost *tell;
    void *context;
} comparison;

/* Reports the fields of a table, and of objects in it, that come back otherwise.
 * @param path  of the table, with a dot at its end; "" for a document */
static void fields_lost(const comparison *c, calc_kind kind, const calc_table *table,
                        const char *path, const char *given, const char *resolved, const char *back)
{
    const char *elsewhere = c->framework->elsewhere;
    for (size_t i = 0; i < table->count; i++) {
        const calc_field *field = &table->rows[i];
        const size_t at = field->offset;
        char text[CALC_VALUE_TEXT], name[96];
        snprintf(name, sizeof name, "%s%s", path, field->key);
        bool code = calc_is_word(elsewhere, field->key);
        bool nobody = code && (kind == CALC_KIND_APP || c->framework->serves ||
                               strcmp(field->key, "num_procs") == 0);
        if ((kind == CALC_KIND_APP && c->listed &&
             (calc_is_word(" num_blocks dense_blocks moe_every global_every ", field->key) ||
              calc_table_find(calc_part_table(), field->key))) ||
            nobody ||
            (table == calc_table_of(CALC_KIND_EXEC) && calc_idle(c->app, c->exec, field))) {
            continue;
        }
        if (field->type == CALC_TYPE_OBJECT && c->framework->serves) {
            strcat(name, ".");
            fields_lost(c, kind, field->table, name, given + at, resolved + at, back + at);
            continue;
        }
        double mine = calc_member_number(field, resolved + at);
        bool stated = table == calc_table_of(CALC_KIND_EXEC) && !c->framework->serves &&
                      calc_exec_rows_has(&c->exec->stated, i);
        if (!calc_same_row(field, resolved, back) && is_told(kind, field, given, mine, stated)) {
            const char *shown = calc_absent_is(field, given + at) ? resolved : given;
            /* Where messages between stages are scattered is no other layout. */
            bool scatters = strcmp(field->key, "tensor_par_comm_type") == 0 &&
                            mine != CALC_TENSOR_PAR_COMM_TYPE_RS_AG &&
                            calc_member_number(field, back + at) != CALC_TENSOR_PAR_COMM_TYPE_RS_AG;
            calc_value_text(field, shown + at, text);
            c->tell(c->context, name, *text ? text : "{...}",
                    is_layout(kind, field->key) && !scatters && !code);
        }
    }
}

calc_status calc_export_lost(const calc_framework *framework, const calc_app *app,
                             const calc_exec *exec, const calc_settings *settings,
                             calc_tell_lost *tell, void *context)
{
    calc_app a = *app, a_back;
    calc_exec e = *exec, e_back;
    calc_status status = read_back(framework, app, exec, settings, &a_back, &e_back);
    if (status == CALC_ERR_NOMEM) {
        return status;
    }
    if (status != CALC_OK) {
        memset(&a_back, 0, sizeof a_back);
        memset(&e_back, 0, sizeof e_back);
    } else {
        calc_checkpoint_formats_take(app, NULL, &e_back);
        calc_plan_resolve(&a_back, &e_back);
    }
    if (e.inference.phase == CALC_INFERENCE_PHASE_PREFILL &&
        e_back.inference.chunk_size + e_back.inference.max_sequences == e.inference.chunk_size) {
        e_back.inference.chunk_size = e.inference.chunk_size; /* nothing is decoded beside it */
    }
    calc_checkpoint_formats_take(app, NULL, &e);
    calc_plan_resolve(&a, &e);
    calc_plan_stages_lost(&a, &e, &e_back, tell, context);
    layers_lost(&e, tell, context);
    bool listed = framework->has_model && (a.stack.layers > 0 || a_back.stack.layers > 0);
    if (listed) {
        calc_plan_layers_lost(&a, &a_back, framework->elsewhere, tell, context);
    }
    if (e.stages.count > 0) { /* fields that a list of stages replaces */
        e.strategy.activation_recompute = e_back.strategy.activation_recompute;
        e.strategy.recompute_modules = e_back.strategy.recompute_modules;
        e.recompute_blocks = e_back.recompute_blocks;
        e.pipeline_balance = e_back.pipeline_balance;
    }
    if (framework->has_model && app->encoder.hidden > 0) {
        tell(context, "encoder", "{...}", false);
    }
    const comparison c = {framework, app, exec, listed, tell, context};
    if (framework->has_model) {
        fields_lost(&c, CALC_KIND_APP, calc_table_of(CALC_KIND_APP), "", (const char *)app,
                    (const char *)&a, (const char *)&a_back);
    }
    fields_lost(&c, CALC_KIND_EXEC, calc_table_of(CALC_KIND_EXEC), "", (const char *)exec,
                (const char *)&e, (const char *)&e_back);
    return CALC_OK;
}
