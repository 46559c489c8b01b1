#include "base/decimal.h"
#include "formats/launch.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/buffer.h"
#include "base/error.h"
#include "formats/plan_macros.h"
#include "formats/read.h"
#include "io/text.h"
#include "io/utf8.h"
#include "spec/field.h"

enum { VALUE_SIZE = 256, DEEP = 6 /* references in one another */ };

static const char *resolve(const calc_settings *settings, const char *key, const char *value,
                           int depth, char text[VALUE_SIZE]);

/* The product of what is between commas. @return whether all of it are numbers */
static bool multiply(const calc_settings *settings, const char *key, const char *list, int depth,
                     double *product)
{
    *product = 1;
    for (size_t length; (length = calc_next_word(&list, ", ")) > 0;) {
        char one[VALUE_SIZE], text[VALUE_SIZE], *end;
        snprintf(one, sizeof one, "%.*s", (int)length, list - length);
        const char *number = resolve(settings, key, one, depth + 1, text);
        *product *= calc_decimal_at(number, &end);
        if (end == number) {
            return false;
        }
    }
    return true;
}

/* What "${key}" or "${mul:a, b}" stands for in the value of a key, "${.a}" of the same table and
 * "${..a}" of the one around it; else the value itself. */
static const char *resolve(const calc_settings *settings, const char *key, const char *value,
                           int depth, char text[VALUE_SIZE])
{
    char inner[VALUE_SIZE], table[VALUE_SIZE], *dot;
    size_t length = strlen(value);
    double product;
    if (depth > DEEP || length < 4 || length >= VALUE_SIZE || strncmp(value, "${", 2) != 0 ||
        value[length - 1] != '}') {
        return value;
    }
    snprintf(inner, sizeof inner, "%.*s", (int)length - 3, value + 2);
    if (strncmp(inner, "mul:", 4) == 0) {
        if (!multiply(settings, key, inner + 4, depth, &product)) {
            return value;
        }
        snprintf(text, VALUE_SIZE, "%.17g", product);
        return text;
    }
    const char *name = inner;
    snprintf(table, sizeof table, "%s", key);
    for (; *name == '.'; name++) {
        dot = strrchr(table, '.');
        *(dot ? dot : table) = '\0';
    }
    bool beside = name > inner && table[0];
    table[beside ? strlen(table) : 0] = '\0';
    calc_append(table, sizeof table, "%s%s", beside ? "." : "", name);
    const calc_setting *setting = calc_settings_last(settings, table);
    return setting ? resolve(settings, setting->key, setting->value, depth + 1, text) : value;
}

/* Whether a switch is off by which a key counts. */
static bool is_off(const calc_job_launch_format *format, const calc_settings *settings,
                   const char *key)
{
    const char *dot;
    for (size_t i = 0; format->switches && i < settings->count; i++) {
        const calc_setting *s = &settings->item[i];
        if (strcasecmp(s->value, "false") == 0 && (dot = strrchr(s->key, '.')) &&
            strncmp(s->key, key, (size_t)(dot - s->key) + 1) == 0 && strcmp(s->key, key) != 0 &&
            calc_is_word(format->switches, s->key) && calc_settings_last(settings, s->key) == s) {
            return true;
        }
    }
    return false;
}

calc_status calc_job_launch_prepare(const calc_job_launch_format *format, const calc_import *import,
                                    calc_settings *out, calc_errors *errors)
{
    const calc_settings *all = import->settings;
    for (size_t i = 0; i < all->count; i++) {
        char text[VALUE_SIZE];
        const calc_setting *s = &all->item[i];
        if (calc_settings_last(all, s->key) != s || is_off(format, all, s->key)) {
            continue;
        }
        calc_setting *item =
            calc_settings_put(out, s->key, resolve(all, s->key, s->value, 0, text));
        if (!item) {
            return calc_errors_no_memory(errors);
        }
        item->file = s->file;
        item->line = s->line;
        item->column = s->column;
        item->argument = s->argument;
    }
    return CALC_OK;
}

typedef struct reading {
    const calc_job_launch_format *format;
    const calc_import *import;
    calc_plan plan;
    const calc_setting *said[CALC_PLAN_COUNT]; /* NULL: it is preset, or not said */
    calc_job_launch *launch;
    bool ahead;    /* the rollout is a step ahead */
    bool together; /* engines are on the actor's processors */
    calc_errors *errors;
} reading;

static calc_status wrong(reading *r, calc_plan_member member, calc_status status, const char *hint,
                         const char *text)
{
    return calc_import_wrong(r->import, r->said[member], status, hint, text, r->errors);
}

/* Takes a value as it is in the file. */
static calc_status take(reading *r, const calc_setting_row *row, const calc_setting *setting)
{
    char expect[160];
    calc_plan_member member = row->member;
    double before = r->plan.value[member];
    if (calc_row_read(row, setting->value, &r->plan, expect, sizeof expect)) {
        double *value = &r->plan.value[member];
        bool kept = member == CALC_PLAN_JOB_PACKED && before > 0; /* either switch is enough */
        *value = kept ? before : row->unset && isnan(*value) ? 0 : *value;
        r->said[member] = setting;
        return CALC_OK;
    }
    if (member == CALC_PLAN_JOB_ALGORITHM || member == CALC_PLAN_JOB_LOSS) {
        calc_import_tell(r->import, setting->key, CALC_UNREAD_COST,
                         "calc has no such algorithm; which roles run, the other settings say");
        return CALC_OK;
    }
    return calc_import_wrong(
        r->import, setting, CALC_ERR_RANGE, NULL,
        CALC_TEXT(400, "expected %s, found \"%s\"", expect,
                  calc_utf8_shown(setting->value, strcspn(setting->value, " "))),
        r->errors);
}

/* Sets the field of the job that a member stands for. @param blame  what says it */
static calc_status put(reading *r, calc_plan_member blame, calc_plan_member member, double number)
{
    calc_field_ref ref;
    char range[160];
    if (!calc_plan_find_field(member, &ref)) {
        return CALC_OK;
    }
    if (isnan(number) || (!ref.field->choices && !calc_field_in_range(ref.field, number))) {
        calc_field_range_text(ref.field, number, range, sizeof range);
        return wrong(r, blame, CALC_ERR_RANGE, NULL,
                     CALC_TEXT(240, "expected %s, found %s", range, CALC_NUMBER(number)));
    }
    calc_member_set(ref.field, (char *)&r->launch->job + ref.offset, number);
    return CALC_OK;
}

/* Adds keys that nothing says, with what the rows of a framework preset. @param presets  of these
 * rows, or of others before them */
static void add_presets(const calc_framework *rows, const calc_framework *presets,
                        const calc_plan *said, char *told, size_t size)
{
    calc_plan plan;
    calc_plan_clear(&plan);
    calc_framework_defaults(presets, &plan);
    for (size_t i = 0; i < rows->count; i++) {
        const calc_setting_row *row = &rows->rows[i];
        char text[CALC_ROW_TEXT_SIZE];
        if (!calc_plan_says(said, row->member) &&
            calc_row_write(row, CALC_SYNTAX_YAML, &plan, text) &&
            !calc_is_word("false 0 0.0", text)) {
            calc_append(told, size, "%s%s=%s", told[0] ? ", " : "", row->key, text);
        }
        plan.value[row->member] = row->key ? NAN : plan.value[row->member]; /* once */
    }
}

static calc_status read_settings(reading *r)
{
    const calc_job_launch_format *f = r->format;
    const calc_framework engine = {.rows = f->engine->rows, .count = f->engine->count};
    calc_status status = CALC_OK;
    calc_plan of_engine, *plan = &r->plan;
    char presets[1000] = "", text[1100], sentence[CALC_UNREAD_TEXT];
    calc_plan_clear(&of_engine);
    for (size_t i = 0; i < r->import->settings->count; i++) {
        const calc_setting *s = &r->import->settings->item[i];
        const calc_setting_row *row = calc_framework_row(f->job, s->key);
        const calc_setting_row *own = calc_framework_row(f->engine, s->key);
        bool file = s->key[0] != '-', named = row && row->how == CALC_HOW_NAME;
        if (own) {
            of_engine.value[own->member] = 0;
        }
        if ((named && !s->value[0]) ||
            (file && (!s->value[0] || strcasecmp(s->value, "none") == 0))) {
            continue; /* the name of a table, or nothing */
        }
        calc_status one = CALC_OK;
        if (row && file && strncmp(s->value, "${", 2) == 0) {
            calc_import_tell(r->import, s->key, CALC_UNREAD_COMPUTED, NULL);
        } else if (row) {
            one = take(r, row, s);
        } else if (!(own && calc_word_begins(f->engine_keys, s->key)) &&
                   !calc_framework_row(f->framework, s->key)) {
            const calc_framework both = {.unread = f->job->unread,
                                         CALC_FRAMEWORK_BASES(f->framework)};
            const char *assumed;
            calc_unread what = calc_import_unread(&both, s, sentence, &assumed);
            bool computed = what == CALC_UNREAD_MODEL && strncmp(s->value, "${", 2) == 0;
            calc_import_tell(r->import, s->key, computed ? CALC_UNREAD_HARMLESS : what,
                             sentence[0] ? sentence : NULL);
        }
        status = status == CALC_OK ? one : status;
    }
    if (r->said[CALC_PLAN_JOB_TEACHER_MODEL]) {
        SET(JOB_ALGORITHM, CALC_JOB_ALGORITHM_DISTILLATION);
        SET(JOB_OLD, CALC_JOB_OLD_LOGPROB_NONE);
        SET(JOB_KL, 0);
    }
    const calc_framework *defaults = r->ahead && f->ahead ? f->ahead : f->job;
    add_presets(f->job, defaults, plan, presets, sizeof presets);
    add_presets(&engine, &engine, &of_engine, presets, sizeof presets);
    calc_framework_defaults(defaults, plan);
    if (presets[0] && status == CALC_OK) {
        snprintf(text, sizeof text, "not in the file, and so as %s has it: %s", f->framework->title,
                 presets);
        calc_import_tell(r->import, NULL, CALC_UNREAD_COMPUTED, text);
    }
    return status;
}

static calc_status read_batches(reading *r)
{
    const calc_plan *plan = &r->plan;
    calc_job *job = &r->launch->job;
    const struct {
        calc_plan_member member;
        double number;
    } minis[] = {{CALC_PLAN_JOB_MINI_PROMPTS, VALUE(JOB_MINI_PROMPTS) * VALUE(JOB_SAMPLES)},
                 {CALC_PLAN_JOB_MINI_STEPS,
                  ceil(VALUE(JOB_PROMPTS) * VALUE(JOB_SAMPLES) / VALUE(JOB_MINI_STEPS))}};
    for (size_t i = 0; i < 2 && !SAYS(JOB_MINI_BATCH); i++) {
        /* A preset batch of more than there is is one batch. */
        bool fits = r->said[minis[i].member] ||
                    minis[i].number <= (double)job->prompts * (double)job->samples;
        if (plan->value[minis[i].member] > 0 && fits) {
            return put(r, minis[i].member, CALC_PLAN_JOB_MINI_BATCH, minis[i].number);
        }
    }
    if (!r->said[CALC_PLAN_JOB_MINI_BATCH] && job->mini_batch > job->prompts * job->samples) {
        job->mini_batch = 0;
    }
    return CALC_OK;
}

/* Lengths: files say what is allowed, not how long prompts and responses are. */
static calc_status read_lengths(reading *r)
{
    const calc_plan *plan = &r->plan;
    calc_job_lengths *l = &r->launch->job.lengths;
    double prompt = VALUE_OR(PROMPT, INFINITY), total = VALUE_OR(JOB_TOTAL, INFINITY);
    double cap = VALUE_OR(RESPONSE, INFINITY);
    bool of_total = cap >= total;
    l->prompt = (int64_t)fmax(1, fmin((double)l->prompt, fmin(prompt, floor(total / 4))));
    cap = of_total && isfinite(total) ? total - (double)l->prompt : cap;
    calc_status status = CALC_OK;
    char text[300];
    if (isfinite(cap)) {
        status =
            put(r, of_total ? CALC_PLAN_JOB_TOTAL : CALC_PLAN_RESPONSE, CALC_PLAN_JOB_CAP, cap);
        l->response.mean =
            l->response.cv == 0 ? cap : fmax(1, fmin(l->response.mean, floor(cap / 2)));
    }
    snprintf(text, sizeof text,
             "how long prompts and responses are, the data say: taken as %lld and %.0f tokens on "
             "average; --set lengths.prompt=N and response.mean=N of calc rl change it",
             (long long)l->prompt, l->response.mean);
    calc_import_tell(r->import, NULL, CALC_UNREAD_COMPUTED, text);
    return status;
}

/* What a file calls a model; "": nothing. */
static const char *model_of(const reading *r, calc_plan_member member, char text[VALUE_SIZE])
{
    const char *said = r->said[member] ? r->said[member]->value : "";
    snprintf(text, VALUE_SIZE, "%.*s", (int)strcspn(said, " "), said);
    return text;
}

static void read_roles(reading *r)
{
    const calc_plan *plan = &r->plan;
    char actor[VALUE_SIZE], other[VALUE_SIZE];
    calc_job *job = &r->launch->job;
    job->kl = YES(JOB_KL) || YES(JOB_KL_REWARD) ? CALC_CHOICE_TRUE : CALC_CHOICE_FALSE;
    bool scores =
        r->said[CALC_PLAN_JOB_REWARD_MODEL] && (YES(JOB_REWARD_ON) || !SAYS(JOB_REWARD_ON));
    job->roles.reward.given = scores ? CALC_JOB_RUNS : CALC_JOB_SILENT;
    const struct {
        calc_job_role_index role;
        calc_plan_member model;
    } others[] = {{CALC_JOB_REWARD, CALC_PLAN_JOB_REWARD_MODEL},
                  {CALC_JOB_CRITIC, CALC_PLAN_JOB_CRITIC_MODEL},
                  {CALC_JOB_TEACHER, CALC_PLAN_JOB_TEACHER_MODEL}};
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        const char *model = model_of(r, others[i].model, other);
        const char *name = calc_job_role_name(others[i].role);
        const char *text = CALC_TEXT(
            160, "the %s%s is taken to be as large as the actor; %s.model of the job names another",
            name, others[i].role == CALC_JOB_REWARD ? " model" : "", name);
        if (calc_job_runs(job, others[i].role) && model[0] &&
            strcmp(model, model_of(r, CALC_PLAN_MODEL, actor)) != 0) {
            calc_import_tell(r->import, NULL, CALC_UNREAD_COMPUTED, text);
        }
    }
}

static calc_status add_pool(reading *r, calc_job_role *role, const char *name, double chips)
{
    calc_job *job = &r->launch->job;
    if (!(chips >= 1 && chips <= 1e9 && chips == floor(chips))) {
        return wrong(r, CALC_PLAN_NODES, CALC_ERR_RANGE, NULL,
                     "expected 1 to 1e9 processors in each pool");
    }
    calc_job_pool *pool = &job->pools[job->pools_count++];
    if (role) {
        snprintf(role->pool, sizeof role->pool, "%s", name);
    }
    snprintf(pool->name, sizeof pool->name, "%s", name);
    pool->chips = (int64_t)chips;
    return CALC_OK;
}

/* Pools of roles that neither are colocated nor beside another one. */
static calc_status read_other_pools(reading *r)
{
    const calc_plan *plan = &r->plan;
    calc_job *job = &r->launch->job;
    const struct {
        calc_job_role *role;
        const char *name;
        double nodes, node;
        bool apart;
    } roles[] = {{&job->roles.reference, "reference", VALUE(JOB_REFERENCE_NODES),
                  VALUE_OR(JOB_REFERENCE_NODE_PROCS, 8),
                  job->kl == CALC_CHOICE_TRUE && !YES(JOB_REFERENCE_BESIDE)},
                 {&job->roles.critic, "critic", VALUE(JOB_CRITIC_NODES),
                  VALUE_OR(JOB_CRITIC_NODE_PROCS, 8), calc_job_runs(job, CALC_JOB_CRITIC)},
                 {&job->roles.reward, "reward", VALUE(JOB_REWARD_NODES),
                  VALUE_OR(JOB_REWARD_NODE_PROCS, 8),
                  calc_job_runs(job, CALC_JOB_REWARD) && !YES(JOB_REWARD_BESIDE)}};
    calc_status status = CALC_OK;
    for (size_t i = 0; i < 3 && status == CALC_OK; i++) {
        double chips = roles[i].nodes * roles[i].node;
        if (roles[i].apart && chips > 0) {
            status = add_pool(r, roles[i].role, roles[i].name, chips);
        }
    }
    if (YES(JOB_REWARD_BESIDE) && job->roles.critic.pool[0]) {
        strcpy(job->roles.reward.pool, job->roles.critic.pool);
    }
    return status;
}

/* Where roles run. @param engine  processors of an engine */
static calc_status read_pools(reading *r, double engine, double *actor)
{
    const calc_plan *plan = &r->plan;
    calc_job *job = &r->launch->job;
    double own = VALUE_OR(JOB_ROLLOUT_NODE_PROCS, VALUE(NODE_PROCS));
    double rollout = SAYS(JOB_ROLLOUT_PROCS)   ? VALUE(JOB_ROLLOUT_PROCS)
                     : SAYS(JOB_ROLLOUT_NODES) ? VALUE(JOB_ROLLOUT_NODES) * own
                     : SAYS(JOB_ENGINES)       ? VALUE(JOB_ENGINES) * engine
                     : r->format->within       ? VALUE(JOB_ROLLOUT_NODE_PROCS)
                                               : NAN;
    bool together = r->together;
    *actor = r->import->procs > 0 ? (double)r->import->procs : VALUE(NODES) * VALUE(NODE_PROCS);
    if (r->import->procs == 0 && !(SAYS(NODES) && SAYS(NODE_PROCS))) {
        return wrong(r, CALC_PLAN_NODES, CALC_ERR_FIELD, "--procs N says how many",
                     "nothing says how many nodes there are, or processors of a node");
    }
    if (together && SAYS(JOB_ENGINES) && rollout != *actor) {
        return wrong(r, CALC_PLAN_JOB_ENGINES, CALC_ERR_RULE, NULL,
                     CALC_TEXT(240,
                               "%.0f engines of %.0f processors are not on the %.0f of the actor, "
                               "where they are to run",
                               VALUE(JOB_ENGINES), engine, *actor));
    }
    if (!together && !(rollout > 0)) {
        return wrong(r, CALC_PLAN_JOB_COLOCATED, CALC_ERR_FIELD, NULL,
                     "the engines are not on the actor's processors, and nothing says on how "
                     "many others they are");
    }
    if (!together && r->format->within && *actor <= rollout) {
        calc_plan_member blame = SAYS(JOB_ROLLOUT_NODES) ? CALC_PLAN_JOB_ROLLOUT_NODES
                                                         : CALC_PLAN_JOB_ROLLOUT_NODE_PROCS;
        return wrong(r, blame, CALC_ERR_RULE, NULL,
                     CALC_TEXT(240, "%.0f processors for engines leave none of %.0f to the actor",
                               rollout, *actor));
    }
    *actor -= !together && r->format->within ? rollout : 0;
    double chips = together ? *actor : rollout;
    if (fmod(chips, engine) != 0) {
        return wrong(r, CALC_PLAN_JOB_ROLLOUT_PROCS, CALC_ERR_RULE, NULL,
                     CALC_TEXT(240, "engines of %.0f processors do not divide the %.0f they run on",
                               engine, chips));
    }
    calc_status status =
        add_pool(r, together ? NULL : &job->roles.actor, together ? "all" : "train", *actor);
    if (!together && status == CALC_OK) {
        status = add_pool(r, &job->roles.rollout, "rollout", rollout);
    }
    return status == CALC_OK && !YES(JOB_COLOCATED) ? read_other_pools(r) : status;
}

static void read_offload(reading *r)
{
    const calc_plan *plan = &r->plan;
    calc_job_roles *roles = &r->launch->job.roles;
    bool together = r->together, all = YES(JOB_OFFLOAD_ALL) || r->format->offloads;
    bool gradients = YES_OR(JOB_OFFLOAD_GRADIENTS, YES(JOB_OFFLOAD_WEIGHTS));
    calc_job_offload moved = (all || YES(JOB_OFFLOAD_WEIGHTS)) << CALC_JOB_OFFLOAD_WEIGHTS |
                             (all || gradients) << CALC_JOB_OFFLOAD_GRADIENTS |
                             (all || YES(JOB_OFFLOAD_OPTIMIZER)) << CALC_JOB_OFFLOAD_OPTIMIZER;
    roles->actor.offload_given = together;
    roles->actor.offload = together ? moved : 0;
    roles->reference.offload_given = together && SAYS(JOB_REFERENCE_OFFLOAD);
    roles->reference.offload = YES(JOB_REFERENCE_OFFLOAD) ? 1 << CALC_JOB_OFFLOAD_WEIGHTS : 0;
}

/* Sets the fields that are said. @param tokens  only tokens of micro-batches, where these are not
 * of sequences: the layout says of how many processors; else all others */
static calc_status read_fields(reading *r, bool tokens)
{
    const calc_plan *plan = &r->plan;
    const calc_strategy *s = &r->launch->actor.strategy;
    double times =
        r->format->ranks != CALC_LAUNCH_REPLICA && s->context_par > 0 ? (double)s->context_par : 1;
    times *= r->format->ranks == CALC_LAUNCH_TENSOR ? (double)s->tensor_par : 1;
    calc_status status = CALC_OK;
    if (!tokens && !SAYS(JOB_PROMPTS)) {
        return wrong(r, CALC_PLAN_JOB_PROMPTS, CALC_ERR_FIELD, NULL,
                     "nothing says how many prompts a step has");
    }
    for (calc_plan_member i = CALC_PLAN_JOB_ALGORITHM; i <= CALC_PLAN_JOB_BUCKET_MB; i++) {
        bool counted = i >= CALC_PLAN_JOB_MICRO_TOKENS && i <= CALC_PLAN_JOB_REFERENCE_TOKENS;
        if (calc_plan_says(plan, i) && counted == tokens && (!counted || YES(JOB_PACKED)) &&
            status == CALC_OK) {
            double in_mib = i == CALC_PLAN_JOB_BUCKET_MB ? 1048576 : 1;
            status = put(r, i, i, plan->value[i] * (counted ? times : in_mib));
        }
    }
    return status;
}

static calc_status read_layout(const reading *r, const calc_framework *framework, double procs,
                               calc_exec *exec)
{
    calc_app app;
    calc_plan plan;
    calc_import import = *r->import;
    import.framework = framework;
    import.unread = NULL;
    import.procs = procs > 0 ? (int64_t)procs : 0;
    import.model = false;
    calc_status status = calc_import_plan(&import, &plan, r->errors);
    if (status != CALC_OK) {
        return status;
    }
    if (framework->serves) {
        plan.value[CALC_PLAN_PROCS] = calc_plan_get(&plan, CALC_PLAN_TENSOR, 1) *
                                      calc_plan_get(&plan, CALC_PLAN_DATA, 1) *
                                      calc_plan_value(&plan, CALC_PLAN_PIPELINE);
    }
    plan.value[CALC_PLAN_BATCH] = plan.value[CALC_PLAN_MICROBATCHES] = NAN; /* the job says it */
    return calc_plan_apply(&plan, &app, exec, r->errors);
}

calc_status calc_job_launch_read(const calc_job_launch_format *format, const calc_import *import,
                                 const calc_text *text, calc_job_launch *launch,
                                 calc_errors *errors)
{
    reading *r = calloc(1, sizeof *r);
    double actor = 0;
    if (!r) {
        return calc_errors_no_memory(errors);
    }
    calc_plan *plan = &r->plan;
    r->format = format;
    r->import = import;
    r->launch = launch;
    r->errors = errors;
    calc_plan_clear(&r->plan);
    memset(launch, 0, sizeof *launch);
    calc_job_init(&launch->job);
    r->ahead = text && calc_text_has(format->async, text->data, text->length);
    calc_status status = read_settings(r);
    r->ahead |= YES(JOB_ASYNC);
    r->together = YES(JOB_COLOCATED) && !(r->ahead && format->ahead_apart);
    if (!YES(JOB_PROMPTS) && (SAYS(JOB_QUEUED) || SAYS(JOB_SYNC_STEPS))) {
        SET(JOB_PROMPTS,
            VALUE(JOB_MINI_PROMPTS) * VALUE_OR(JOB_QUEUED, 1) * VALUE_OR(JOB_SYNC_STEPS, 4));
        calc_import_tell(import, NULL, CALC_UNREAD_COMPUTED,
                         "a step is what is trained on between two syncs of the weights");
    }
    status = status == CALC_OK ? read_layout(r, format->engine, 0, &launch->rollout) : status;
    status = status == CALC_OK ? read_fields(r, false) : status;
    status = status == CALC_OK ? read_batches(r) : status;
    if (status == CALC_OK) {
        read_roles(r);
        launch->job.roles.rollout.memory_share = launch->rollout.inference.memory_share;
        launch->rollout.inference.memory_share = 0;
        const char *model = model_of(r, CALC_PLAN_MODEL, launch->model);
        launch->model[strchr(model, '$') ? 0 : strlen(model)] = '\0';
        status = read_pools(r, (double)launch->rollout.num_procs, &actor);
    }
    status = status == CALC_OK ? read_layout(r, format->framework, actor, &launch->actor) : status;
    status = status == CALC_OK ? read_lengths(r) : status;
    status = status == CALC_OK ? read_fields(r, true) : status;
    if (status == CALC_OK) {
        if (r->ahead && r->together) {
            status = wrong(r, CALC_PLAN_JOB_COLOCATED, CALC_ERR_RULE, NULL,
                           "the rollout is to be a step ahead, and its engines are on the "
                           "actor's processors");
        }
        read_offload(r);
        /* Engines that may begin what is older than the weights are kept full. */
        launch->job.steps_off = !r->ahead                   ? 0
                                : YES(JOB_STALENESS)        ? 2
                                : launch->job.steps_off > 0 ? launch->job.steps_off
                                                            : 1;
        int before = errors->count;
        status = status == CALC_OK ? calc_job_check(&launch->job, errors) : status;
        for (int i = before; i < errors->count; i++) {
            calc_error_place(&errors->item[i], import->name ? import->name : "options", 0, 0);
            errors->item[i].pointer[0] = '\0';
        }
    }
    free(r);
    return status;
}
