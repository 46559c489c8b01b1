#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buffer.h"
#include "base/error.h"
#include "formats/export.h"
#include "formats/launch.h"
#include "formats/plan_macros.h"
#include "formats/write.h"
#include "io/json_put.h"
#include "spec/absent.h"
#include "spec/field.h"

/* Fields of a layout that follow from the job, the machine or the model. */
#define FOLLOWS                                                                                    \
    " num_procs data_par tensor_par_net pipeline_par_net data_par_net batch_size seq_size "        \
    "attention_type "

/* What calc sweep would choose where it is absent, and the framework does not do. */
#define CHOSEN                                                                                     \
    " context_par zero_stage cuda_graph grad_datatype pipeline_par_overlap expert_par_overlap "    \
    "delayed_wgrad fused_cross_entropy "

static void put_layout(calc_put *put, const calc_exec *layout, bool engine, bool packed)
{
    const calc_table *table = calc_table_of(CALC_KIND_EXEC);
    const calc_exec *exec = layout;
    calc_exec whole = *layout;
    if (whole.strategy.grad_datatype == CALC_FORMAT_AUTO) {
        whole.strategy.grad_datatype = CALC_FORMAT_FLOAT32; /* "auto" would leave it open */
        exec = &whole;
    }
    calc_put_object(put, "execution", CALC_PUT_LINES);
    for (size_t i = 0; i < table->count; i++) {
        const calc_field *field = &table->rows[i];
        const char *member = (const char *)exec + field->offset;
        bool sized =
            engine && (strcmp(field->key, "num_procs") == 0 || strcmp(field->key, "data_par") == 0);
        bool chosen =
            strcmp(field->key, "expert_par") == 0 || (!engine && calc_is_word(CHOSEN, field->key));
        bool absent = (field->flags & CALC_OPTIONAL) && calc_absent_is(field, member) && !chosen;
        bool micro = packed && strcmp(field->key, "microbatch_size") == 0;
        if (sized || (!absent && !micro && !calc_is_word(FOLLOWS, field->key))) {
            calc_json_put_member(put, field, member);
        }
    }
    calc_put_close(put);
}

/* Members that say something; texts are not among them, and the first ones of a job always do. */
static void put_members(calc_put *put, const calc_table *table, const void *object)
{
    static const char always[] = " algorithm prompts samples mini_batch ";
    for (size_t i = 0; i < table->count; i++) {
        const calc_field *field = &table->rows[i];
        const char *member = (const char *)object + field->offset;
        bool leaf = field->type != CALC_TYPE_OBJECT && field->type != CALC_TYPE_LIST &&
                    field->type != CALC_TYPE_NOTE;
        if (leaf && (!calc_absent_is(field, member) || calc_is_word(always, field->key))) {
            calc_json_put_member(put, field, member);
        }
    }
}

static void put_role(calc_put *put, const calc_job_launch *launch, calc_job_role_index index)
{
    const calc_job_role *role = calc_job_role_of(&launch->job, index);
    bool actor = index == CALC_JOB_ACTOR, rollout = index == CALC_JOB_ROLLOUT;
    bool says = role->forward_tokens > 0 || role->offload_given || role->pool[0] ||
                role->given == CALC_JOB_RUNS;
    if (!actor && !rollout && (!says || !calc_job_runs(&launch->job, index))) {
        return;
    }
    calc_put_object(put, calc_job_role_name(index), CALC_PUT_LINES);
    if (role->pool[0]) {
        calc_put_text(put, "pool", role->pool);
    }
    put_members(put, calc_job_role_table(), role);
    if (role->offload_given && role->offload == 0) {
        calc_put_raw(put, "offload", "[]");
    }
    if (actor || rollout) {
        put_layout(put, actor ? &launch->actor : &launch->rollout, rollout, role->micro_tokens > 0);
    }
    calc_put_close(put);
}

void calc_job_launch_put_job(calc_output *out, const calc_job_launch *launch, const char *source)
{
    const calc_job *job = &launch->job;
    const calc_table *table = calc_job_table();
    calc_put put = calc_put_to(out);
    calc_put_document(&put);
    calc_put_text(&put, "source", source);
    put_members(&put, table, job);
    calc_put_object(&put, "lengths", CALC_PUT_LINES);
    calc_put_count(&put, "prompt", job->lengths.prompt);
    calc_put_object(&put, "response", CALC_PUT_LINE);
    calc_put_number(&put, "mean", job->lengths.response.mean);
    calc_put_number(&put, "cv", job->lengths.response.cv);
    if (job->lengths.response.cap > 0) {
        calc_put_count(&put, "cap", job->lengths.response.cap);
    }
    calc_put_close(&put);
    calc_put_close(&put);
    calc_put_array(&put, "pools", CALC_PUT_LINES);
    for (int64_t i = 0; i < job->pools_count; i++) {
        calc_put_object(&put, NULL, CALC_PUT_LINE);
        calc_put_text(&put, "name", job->pools[i].name);
        calc_put_count(&put, "chips", job->pools[i].chips);
        calc_put_close(&put);
    }
    calc_put_close(&put);
    calc_put_object(&put, "roles", CALC_PUT_LINES);
    for (int i = 0; i < CALC_JOB_ROLES; i++) {
        put_role(&put, launch, (calc_job_role_index)i);
    }
    calc_put_close(&put);
    calc_put_object(&put, "sync", CALC_PUT_LINE);
    put_members(&put, calc_table_find(table, "sync")->table, &job->sync);
    calc_put_close(&put);
    calc_put_end(&put);
}

/* What is exported, and its sizes. */
typedef struct writing {
    const calc_job_launch_format *format;
    const calc_job_launch *launch;
    double actor, rollout; /* processors */
    bool together, fsdp;
    double ranks; /* tokens of a replica over those of a processor */
    int64_t node;
} writing;

static double chips_of(const calc_job *job, const char *pool)
{
    for (int64_t i = 0; i < job->pools_count; i++) {
        if (!pool[0] || strcmp(pool, job->pools[i].name) == 0) {
            return (double)job->pools[i].chips;
        }
    }
    return 0;
}

/* What a role moves away: all where nothing is said. */
static calc_job_offload offload_of(const calc_job_role *role)
{
    return role->offload_given ? role->offload : (1 << CALC_JOB_OFFLOAD_COUNT) - 1;
}

/* What a job says: its fields, and what its pools and its script make of them. */
static void plan_of_job(calc_plan *plan, const writing *w)
{
    const calc_job *job = &w->launch->job;
    const calc_job_role *actor = &job->roles.actor, *reference = &job->roles.reference;
    const double sequences = (double)job->prompts * (double)job->samples;
    const double mini = job->mini_batch > 0 ? (double)job->mini_batch : sequences;
    const bool referred = calc_job_runs(job, CALC_JOB_REFERENCE), packed = actor->micro_tokens > 0;
    const calc_job_offload kept = w->together ? offload_of(actor) : 0;
    const double node = fmin((double)w->node, w->actor), own = fmin((double)w->node, w->rollout);
    calc_plan_clear(plan);
    for (calc_plan_member i = 0; i < CALC_PLAN_COUNT; i++) {
        calc_field_ref ref;
        if (calc_plan_field(i) && *calc_plan_field(i) == 'j' && calc_plan_find_field(i, &ref)) {
            plan->value[i] = calc_member_number(ref.field, (const char *)job + ref.offset);
        }
    }
    SET(NODES, w->actor / node);
    SET(NODE_PROCS, node);
#define CALC_PLAN(...)
#define CALC_PLAN_OF(...)
#define CALC_PLAN_ABOVE(...)
#define CALC_PLAN_JOB(name, of, ...) SET(name, of);
#include "formats/plan.fields.h"
}

/* Adds the rows of a framework that are for the layout at hand, each key once, and of those of the
 * job each member. @param before  of the framework's options; NULL: nothing */
static calc_status add_rows(const writing *w, const calc_framework *framework, calc_plan *plan,
                            const char *before, calc_settings *settings, calc_errors *errors)
{
    const calc_job_launch_format *f = w->format;
    for (size_t i = 0; i < framework->count; i++) {
        const calc_setting_row *row = &framework->rows[i];
        bool job = framework == f->job, chooses = job && row->member == CALC_PLAN_JOB_ALGORITHM;
        char text[CALC_ROW_TEXT_SIZE], key[256];
        if (!row->key || row->how == CALC_HOW_FACTOR || row->member == CALC_PLAN_MODEL) {
            continue;
        }
        snprintf(key, sizeof key, "%s%s", before ? before : "", row->key + (before ? 2 : 0));
        bool written = calc_row_write(row, f->framework->syntax, plan, text);
        if (chooses && !written) {
            strcpy(text, "grpo"); /* its variants differ in the loss alone */
        }
        bool off = row->words && *row->words == '=' && strcmp(text, "false") == 0;
        if ((!written && !chooses) || off || calc_settings_last(settings, key) ||
            calc_word_begins(w->fsdp ? f->core : f->fsdp, key)) {
            continue;
        }
        if (!calc_settings_put(settings, key, text)) {
            return calc_errors_no_memory(errors);
        }
        plan->value[row->member] = job ? NAN : plan->value[row->member];
    }
    return CALC_OK;
}

calc_status calc_job_launch_settings(const calc_job_launch_format *format,
                                     const calc_job_launch *launch, const calc_app *app,
                                     int64_t node_procs, calc_settings *settings,
                                     calc_errors *errors)
{
    const calc_job *job = &launch->job;
    const calc_strategy *s = &launch->actor.strategy;
    calc_plan said, plan, engine;
    writing w = {.format = format, .launch = launch, .node = node_procs, .ranks = 1};
    w.actor = chips_of(job, job->roles.actor.pool);
    w.rollout = chips_of(job, job->roles.rollout.pool);
    w.together =
        !job->roles.rollout.pool[0] || strcmp(job->roles.rollout.pool, job->roles.actor.pool) == 0;
    w.fsdp = s->zero_stage >= 2;
    w.ranks = s->context_par > 0 ? (double)s->context_par : 1;
    if (fmod(w.actor, fmin((double)node_procs, w.actor)) != 0 ||
        (!w.together && fmod(w.rollout, fmin((double)node_procs, w.rollout)) != 0)) {
        return calc_errors_add(errors, CALC_ERR_RULE, CALC_KIND_NONE, NULL, NULL,
                               "pools of %.0f and %.0f processors are no whole nodes of %lld",
                               w.actor, w.rollout, (long long)node_procs);
    }
    plan_of_job(&said, &w);
    calc_status status = add_rows(&w, format->job, &said, NULL, settings, errors);
    calc_plan_from(&plan, app, &launch->actor, node_procs);
    plan.value[CALC_PLAN_FSDP] = w.fsdp ? 3 : 0;
    /* Rows of the job say these, or the program sees them for itself. */
    static const calc_plan_member of_job[] = {CALC_PLAN_SEQ,    CALC_PLAN_POSITIONS,
                                              CALC_PLAN_NODES,  CALC_PLAN_NODE_PROCS,
                                              CALC_PLAN_QUEUES, CALC_PLAN_MICROBATCH};
    bool packed = job->roles.actor.micro_tokens > 0;
    for (size_t i = 0; i < sizeof of_job / sizeof *of_job - !packed; i++) {
        plan.value[of_job[i]] = NAN;
    }
    calc_plan_from(&engine, app, &launch->rollout, node_procs);
    const calc_job_role *rollout = &job->roles.rollout;
    engine.value[CALC_PLAN_SERVE_MEMORY] = rollout->memory_share > 0 ? rollout->memory_share : NAN;
    calc_serving_program program = launch->rollout.inference.engine.program;
    engine.value[CALC_PLAN_SERVE_PROGRAM] =
        (double)(program == CALC_SERVING_PROGRAM_OTHER ? CALC_SERVING_PROGRAM_VLLM : program);
    /* What the engine is not told, it chooses. */
    const calc_inference *serving = &launch->rollout.inference;
    const struct {
        calc_plan_member member;
        bool open;
    } own[] = {{CALC_PLAN_SERVE_SLOTS, serving->max_sequences == 0},
               {CALC_PLAN_SERVE_ALL_SLOTS, serving->max_sequences == 0},
               {CALC_PLAN_SERVE_STEP, serving->chunk_size == 0},
               {CALC_PLAN_SERVE_CHUNK, serving->chunk_size == 0},
               {CALC_PLAN_SERVE_CHUNKED, serving->chunk_size == 0}};
    for (size_t i = 0; i < sizeof own / sizeof *own; i++) {
        engine.value[own[i].member] = own[i].open ? NAN : engine.value[own[i].member];
    }
    /* Replicas are engines of their own, which the framework counts, unless they share experts. */
    const calc_strategy *of_engine = &launch->rollout.strategy;
    if (of_engine->expert_par <= of_engine->tensor_par) {
        engine.value[CALC_PLAN_DATA] = NAN;
    }
    if (format->engine_written) { /* processors of an engine, not of a stage */
        engine.value[CALC_PLAN_SERVE_RANKS] *= calc_plan_get(&engine, CALC_PLAN_PIPELINE, 1);
    }
    const calc_framework *layout = format->framework;
    status = status == CALC_OK ? add_rows(&w, layout, &plan, NULL, settings, errors) : status;
    /* Keys of bases are not written where they have other names here. */
    bool same = layout->bases && !layout->renamed;
    for (size_t i = 0; same && layout->bases[i] && status == CALC_OK; i++) {
        status = add_rows(&w, layout->bases[i], &plan, NULL, settings, errors);
    }
    status =
        status == CALC_OK ? add_rows(&w, format->engine, &engine, NULL, settings, errors) : status;
    if (status == CALC_OK && format->engine_written) { /* what no option of the engine's own says */
        engine.value[CALC_PLAN_SERVE_RANKS] = engine.value[CALC_PLAN_SERVE_LENGTH] = NAN;
        engine.value[CALC_PLAN_SERVE_CHUNKED] = NAN;
        status = add_rows(&w, format->engine->bases[0], &engine, format->engine_written, settings,
                          errors);
    }
    return status;
}

/* The program; one whose rollout is a step ahead, if there is one. */
static const char *command_of(const calc_job_launch_format *format, const calc_job_launch *launch)
{
    return launch->job.steps_off > 0 && format->command_async ? format->command_async
                                                              : format->command;
}

void calc_job_launch_write(calc_output *out, const calc_job_launch_format *format,
                           const calc_job_launch *launch, const calc_settings *settings,
                           const char *model)
{
    const calc_framework *framework = format->framework;
    bool option = framework->syntax == CALC_SYNTAX_SHELL;
    calc_output_printf(out,
                       "#!/usr/bin/env bash\n# %s %s, written by calc %s\n"
                       "# run it with bash and the model, %s: its folder or its name; data and "
                       "more options follow\n",
                       framework->title, framework->version, CALC_VERSION, model);
    calc_output_text(out, "OPTIONS=(\n");
    for (size_t i = 0; i < settings->count; i++) {
        const char *value = settings->item[i].value;
        bool quote = strpbrk(value, "()[]{}*?$&;|<>!~#\\\"") != NULL;
        bool extends = format->extended && strstr(settings->item[i].key, format->extended);
        calc_output_printf(out, quote ? "    %s%s%s'%s'\n" : "    %s%s%s%s\n", extends ? "+" : "",
                           settings->item[i].key, option ? *value ? " " : "" : "=", value);
    }
    const char *model_key = NULL;
    for (size_t i = 0; i < format->job->count && !model_key; i++) {
        const calc_setting_row *row = &format->job->rows[i];
        model_key = row->member == CALC_PLAN_MODEL ? row->key : NULL;
    }
    calc_output_printf(out, ")\n%s \\\n    %s%s\"${1:?the model: its folder or its name}\" \\\n",
                       command_of(format, launch), model_key, option ? " " : "=");
    calc_output_text(out, "    \"${OPTIONS[@]}\" \"${@:2}\"\n");
}

/* Whom it is told. */
typedef struct telling {
    calc_tell_lost *tell;
    void *context;
} telling;

static void tell_table(const calc_table *table, const char *before, const char *mine,
                       const char *back, const telling *t)
{
    static const char of_data[] = " prompt mean cv share_at_cap kept_share overhead partial ";
    for (size_t i = 0; i < table->count; i++) {
        const calc_field *field = &table->rows[i];
        char path[128], text[CALC_VALUE_TEXT];
        const char *a = mine + field->offset, *b = back + field->offset;
        snprintf(path, sizeof path, "%s%s%s", before, before[0] ? "." : "", field->key);
        if (calc_is_word(" roles.reference.micro_tokens roles.critic roles.reward "
                         "roles.teacher roles.rollout.micro_tokens ",
                         path)) {
            continue; /* they are as the actor */
        }
        if (field->type == CALC_TYPE_OBJECT) {
            tell_table(field->table, path, a, b, t);
        } else if (field->type != CALC_TYPE_LIST && field->type != CALC_TYPE_NOTE &&
                   calc_member_number(field, a) != calc_member_number(field, b) &&
                   !calc_is_word(of_data, field->key)) {
            t->tell(t->context, path, calc_value_text(field, a, text), false);
        }
    }
}

/* A framework that is not told these cannot run the layout; of the others it has its own. */
static void tell_layout(void *context, const char *field, const char *value, bool layout)
{
    static const char sizes[] =
        " tensor_par pipeline_par context_par expert_par expert_tensor_par zero_stage fsdp_par "
        "pipeline_interleaving pipeline_schedule activation_recompute weight_offload "
        "activations_offload optimizer_offload trained ";
    const telling *t = context;
    if (!calc_is_word(FOLLOWS " microbatch_size ", field)) {
        t->tell(t->context, CALC_TEXT(96, "actor.%s", field), value,
                layout && calc_is_word(sizes, field));
    }
}

calc_status calc_job_launch_lost(const calc_job_launch_format *format,
                                 const calc_job_launch *launch, const calc_app *app,
                                 const calc_settings *settings, calc_tell_lost *tell, void *context)
{
    const calc_import import = {.framework = format->framework, .settings = settings};
    telling t = {tell, context};
    calc_errors ignored;
    calc_job_launch *back = malloc(2 * sizeof *back);
    if (!back) {
        return CALC_ERR_NOMEM;
    }
    ignored.count = ignored.dropped = 0;
    char *command = CALC_TEXT(64, "%s", command_of(format, launch));
    const calc_text text = {.data = command, .length = strlen(command)};
    calc_status status = calc_job_launch_read(format, &import, &text, back, &ignored);
    if (status == CALC_OK) {
        calc_job *mine = &back[1].job;
        const calc_job *job = &launch->job;
        *mine = *job;
        /* What "auto" and absence come to. */
        calc_job_roles *roles = &mine->roles;
        bool beside = strcmp(roles->actor.pool, roles->rollout.pool) != 0;
        roles->actor.offload = beside ? 0 : offload_of(&roles->actor);
        roles->reference.offload = offload_of(&roles->reference) & 1 << CALC_JOB_OFFLOAD_WEIGHTS;
        calc_job_role *other = &back->job.roles.reference;
        other->offload = offload_of(other) & 1 << CALC_JOB_OFFLOAD_WEIGHTS;
        if (!calc_job_runs(job, CALC_JOB_REFERENCE) || beside) {
            roles->reference = back->job.roles.reference;
        } else if (roles->reference.forward_tokens == roles->actor.forward_tokens) {
            roles->reference.forward_tokens = back->job.roles.reference.forward_tokens;
        }
        mine->kl = calc_job_runs(job, CALC_JOB_REFERENCE) ? CALC_CHOICE_TRUE : CALC_CHOICE_FALSE;
        if (mine->old_logprob == CALC_JOB_OLD_LOGPROB_AUTO) {
            mine->old_logprob = CALC_JOB_OLD_LOGPROB_TRAINER;
        }
        if (mine->mini_batch == 0) {
            mine->mini_batch = mine->prompts * mine->samples;
        }
        tell_table(calc_job_table(), "", (const char *)mine, (const char *)&back->job, &t);
        calc_settings layout = {0};
        /* What says the layout alone: batches of a job need not be those of a step of training. */
        for (size_t i = 0; i < settings->count && status == CALC_OK; i++) {
            const calc_setting *s = &settings->item[i];
            const calc_setting_row *row = calc_framework_row(format->framework, s->key);
            bool of_layout =
                row && row->member != CALC_PLAN_BATCH && row->member != CALC_PLAN_MICROBATCH;
            if (of_layout && !calc_settings_put(&layout, s->key, s->value)) {
                status = CALC_ERR_NOMEM;
            }
        }
        status = status == CALC_OK ? calc_export_lost(format->framework, app, &launch->actor,
                                                      &layout, tell_layout, &t)
                                   : status;
        calc_settings_free(&layout);
    }
    free(back);
    return status;
}
