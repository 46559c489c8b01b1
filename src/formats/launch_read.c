#include "base/decimal.h"
#include "formats/launch.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/buffer.h"
#include "base/error.h"
#include "formats/read.h"
#include "io/job_load.h"
#include "io/text.h"
#include "io/utf8.h"

enum { VALUE_SIZE = 256, DEEP = 6 /* references in one another */ };

static const char *resolve(const calc_settings *settings, const char *key, const char *value,
                           int depth, char text[VALUE_SIZE]);

/* The product of what is between commas. @return whether all of it are numbers */
static bool multiply(const calc_settings *settings, const char *key, const char *list, int depth,
                     double *product)
{
    *product = 1;
    while (*list) {
        char one[VALUE_SIZE], text[VALUE_SIZE], *end;
        size_t length = strcspn(list, ",");
        snprintf(one, sizeof one, "%.*s", (int)length, list);
        const char *number = resolve(settings, key, one + strspn(one, " "), depth + 1, text);
        *product *= calc_decimal_at(number, &end);
        if (end == number) {
            return false;
        }
        list += length + (list[length] == ',');
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
    char name[CALC_LAUNCH_WORD_SIZE];
    for (const char *at = format->switches; calc_job_launch_next(&at, name);) {
        size_t prefix = (size_t)(strrchr(name, '.') - name) + 1;
        const calc_setting *on = calc_settings_last(settings, name);
        if (strncmp(name, key, prefix) == 0 && strcmp(name, key) != 0 && on &&
            strcasecmp(on->value, "false") == 0) {
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

/* What one member is. */
typedef struct value {
    const calc_setting *setting; /* NULL: it is preset, or not said */
    double number;               /* NaN: it is none */
    char text[VALUE_SIZE];       /* "": it is not said */
} value;

typedef struct reading {
    const calc_job_launch_format *format;
    const calc_import *import;
    value said[CALC_LAUNCH_COUNT];
    calc_job_launch *launch;
    bool ahead;    /* the rollout is a step ahead */
    bool together; /* engines are on the actor's processors */
    calc_errors *errors;
} reading;

#define IS(member) (r->said[CALC_LAUNCH_##member].number > 0)
#define SAYS_IT(member) (r->said[CALC_LAUNCH_##member].text[0] != '\0')
#define NUMBER(member) (r->said[CALC_LAUNCH_##member].number)

static calc_status wrong(reading *r, calc_job_launch_member member, calc_status status,
                         const char *hint, const char *text)
{
    return calc_import_wrong(r->import, r->said[member].setting, status, hint, text, r->errors);
}

/* Takes a value as it is in the file, or preset. */
static calc_status take(reading *r, const calc_job_launch_row *row, const calc_setting *setting,
                        const char *text)
{
    char word[VALUE_SIZE], to[VALUE_SIZE], message[400], *end;
    value *v = &r->said[row->member];
    calc_job_launch_form form = calc_job_launch_fields[row->member].form;
    bool chooses = form == CALC_LAUNCH_CHOICE_FORM;
    /* Words behind the value of an option are of another command. */
    snprintf(word, sizeof word, "%.*s", (int)strcspn(text, " "), text);
    if (row->words && !word[0]) {
        strcpy(word, "true"); /* an option without a value */
    }
    const char *shown = calc_utf8_shown(word, strlen(word));
    snprintf(to, sizeof to, "%s", word);
    bool known = !row->words || !setting || calc_job_launch_word(row, word, false, to, sizeof to) ||
                 (setting->key[0] == '-' && !chooses &&
                  calc_job_launch_word(row, "true", false, to, sizeof to));
    if (!known && chooses) {
        calc_import_tell(r->import, setting->key, CALC_UNREAD_COST,
                         "calc has no such algorithm; which roles run, the other settings say");
        return CALC_OK;
    }
    double number = calc_decimal_at(to, &end);
    bool counts = form != CALC_LAUNCH_NAME_FORM && form != CALC_LAUNCH_WORD_FORM && !chooses;
    bool bad = counts && (end == to || *end || !isfinite(number) || number < 0);
    if (!known || (bad && to[0])) {
        v->setting = setting;
        snprintf(message, sizeof message, "expected %s, found \"%s\"",
                 row->words ? "true or false" : "a number of at least 0", shown);
        return wrong(r, row->member, CALC_ERR_RANGE,
                     strchr(word, '$') ? "nothing in a script is executed: write the value there"
                                       : NULL,
                     message);
    }
    /* Of two switches for the same, either is enough. */
    if (to[0] && !(row->member == CALC_LAUNCH_PACKED && v->number > 0)) {
        v->setting = setting;
        v->number = bad ? NAN : number;
        strcpy(v->text, to);
    }
    return CALC_OK;
}

/* Sets a field of the job. */
static calc_status put(reading *r, calc_job_launch_member member, const char *field,
                       const char *text)
{
    char assignment[400], message[600];
    calc_errors own;
    bool known;
    own.count = own.dropped = 0;
    snprintf(assignment, sizeof assignment, "%s=%s", field, text);
    calc_status status = calc_job_set(&r->launch->job, assignment, &known, &own);
    if (status == CALC_OK) {
        return CALC_OK;
    }
    snprintf(message, sizeof message, "%.500s", own.item[0].text);
    return wrong(r, member, status, NULL, message);
}

static calc_status put_number(reading *r, calc_job_launch_member member, const char *field,
                              double number)
{
    char text[32];
    return put(r, member, field, calc_number_text(number, 1, text));
}

static const calc_job_launch_row *row_of(const calc_job_launch_format *format, const char *key)
{
    char name[VALUE_SIZE];
    snprintf(name, sizeof name, "%s", key);
    for (int pass = 0; pass < 2; pass++) {
        for (size_t i = 0; i < format->count; i++) {
            const calc_job_launch_row *row = &format->rows[i];
            if ((row->key && strcmp(row->key, name) == 0) ||
                (row->also && strcmp(row->also, name) == 0)) {
                return row;
            }
        }
        for (char *at = name + strspn(name, "-"); *at; at++) { /* --rollout_batch_size */
            *at = *at == '_' ? '-' : *at;
        }
    }
    return NULL;
}

static void leave(const reading *r, const calc_setting *setting)
{
    const calc_job_launch_format *f = r->format;
    const calc_framework own = {.unread = f->unread};
    const char *assumed = NULL;
    char sentence[160] = "";
    calc_unread what = calc_framework_unread(&own, setting->key, setting->value, &assumed);
    if (what == CALC_UNREAD_UNKNOWN) {
        what = calc_framework_unread(f->framework, setting->key, setting->value, &assumed);
    }
    if (assumed) {
        snprintf(sentence, sizeof sentence, "%.*s", (int)strcspn(assumed, "\n"), assumed);
    }
    what = what == CALC_UNREAD_MODEL && strncmp(setting->value, "${", 2) == 0 ? CALC_UNREAD_HARMLESS
                                                                              : what;
    calc_import_tell(r->import, setting->key, what, sentence[0] ? sentence : NULL);
}

/* What the engine's own rows preset, and no setting says. */
static void add_engine_presets(const reading *r, char *presets, size_t size)
{
    const calc_framework *engine = r->format->engine;
    for (size_t i = 0; i < engine->count; i++) {
        const calc_setting_row *preset = &engine->rows[i], *row = NULL;
        char number[32];
        bool said = preset->how != CALC_HOW_DEFAULT;
        for (size_t k = engine->count; k > 0; k--) {
            const calc_setting_row *one = &engine->rows[k - 1];
            row = one->key && one->member == preset->member ? one : row;
        }
        for (size_t k = 0; k < r->import->settings->count && row; k++) {
            said |= calc_framework_row(engine, r->import->settings->item[k].key) == row;
        }
        if (row && !said) {
            calc_append(presets, size, "%s%s=%s", presets[0] ? ", " : "", row->key,
                        calc_number_text(preset->value, 1, number));
        }
    }
}

static calc_status read_settings(reading *r)
{
    const calc_job_launch_format *f = r->format;
    calc_status status = CALC_OK;
    char presets[1000] = "";
    for (size_t i = 0; i < r->import->settings->count; i++) {
        const calc_setting *s = &r->import->settings->item[i];
        const calc_job_launch_row *row = row_of(f, s->key);
        bool file = s->key[0] != '-';
        if (file && (!s->value[0] || strcasecmp(s->value, "none") == 0)) {
            continue; /* the name of a table, or nothing */
        }
        calc_status one = CALC_OK;
        if (row && file && strncmp(s->value, "${", 2) == 0) {
            calc_import_tell(r->import, s->key, CALC_UNREAD_COMPUTED, NULL);
        } else if (row) {
            one = take(r, row, s, s->value);
        } else if (!(calc_job_launch_begins(s->key, f->engine_keys) &&
                     calc_framework_row(f->engine, s->key)) &&
                   !calc_framework_row(f->framework, s->key)) {
            leave(r, s);
        }
        status = status == CALC_OK ? one : status;
    }
    if (SAYS_IT(TEACHER_MODEL)) {
        strcpy(r->said[CALC_LAUNCH_ALGORITHM].text, "distillation");
        strcpy(r->said[CALC_LAUNCH_OLD].text, "none");
        strcpy(r->said[CALC_LAUNCH_KL].text, "0");
        r->said[CALC_LAUNCH_KL].number = 0;
    }
    for (size_t i = 0; i < f->count && status == CALC_OK; i++) {
        const calc_job_launch_row *row = &f->rows[i];
        const char *preset = r->ahead && row->ahead ? row->ahead : row->preset;
        char word[64];
        if (!preset || r->said[row->member].text[0]) {
            continue;
        }
        status = take(r, row, NULL, preset);
        snprintf(word, sizeof word, "%s", preset);
        if (row->words) {
            (void)!calc_job_launch_word(row, preset, true, word, sizeof word);
        }
        if (row->key && strcmp(word, "false") != 0 && strcmp(word, "0") != 0) {
            calc_append(presets, sizeof presets, "%s%s=%s", presets[0] ? ", " : "", row->key, word);
        }
    }
    if (status == CALC_OK) {
        add_engine_presets(r, presets, sizeof presets);
    }
    if (presets[0] && status == CALC_OK) {
        char text[1100];
        snprintf(text, sizeof text, "not in the file, and so as %s has it: %s", f->framework->title,
                 presets);
        calc_import_tell(r->import, NULL, CALC_UNREAD_COMPUTED, text);
    }
    return status;
}

/* What a trainer takes from a queue before it sends the weights is a step. */
static void read_queue(reading *r)
{
    value *prompts = &r->said[CALC_LAUNCH_PROMPTS];
    double queued = SAYS_IT(QUEUED) ? NUMBER(QUEUED) : 1;
    double times = SAYS_IT(SYNC_STEPS) ? NUMBER(SYNC_STEPS) : 4;
    if (IS(PROMPTS) || !(SAYS_IT(QUEUED) || SAYS_IT(SYNC_STEPS))) {
        return;
    }
    prompts->number = NUMBER(MINI_PROMPTS) * queued * times;
    snprintf(prompts->text, sizeof prompts->text, "%.17g", prompts->number);
    calc_import_tell(r->import, NULL, CALC_UNREAD_COMPUTED,
                     "a step is what is trained on between two syncs of the weights");
}

static calc_status read_batches(reading *r)
{
    calc_job *job = &r->launch->job;
    const struct {
        calc_job_launch_member member;
        double number;
    } minis[] = {
        {CALC_LAUNCH_MINI_PROMPTS, NUMBER(MINI_PROMPTS) * NUMBER(SAMPLES)},
        {CALC_LAUNCH_MINI_STEPS, ceil(NUMBER(PROMPTS) * NUMBER(SAMPLES) / NUMBER(MINI_STEPS))}};
    for (size_t i = 0; i < 2 && !SAYS_IT(MINI_BATCH); i++) {
        /* A preset batch of more than there is is one batch. */
        bool fits = r->said[minis[i].member].setting ||
                    minis[i].number <= (double)job->prompts * (double)job->samples;
        if (r->said[minis[i].member].number > 0 && fits) {
            return put_number(r, minis[i].member, "mini_batch", minis[i].number);
        }
    }
    if (!r->said[CALC_LAUNCH_MINI_BATCH].setting && job->mini_batch > job->prompts * job->samples) {
        job->mini_batch = 0;
    }
    return CALC_OK;
}

/* Lengths: files say what is allowed, not how long prompts and responses are. */
static calc_status read_lengths(reading *r)
{
    calc_job_lengths *l = &r->launch->job.lengths;
    double prompt = SAYS_IT(PROMPT_MAX) ? NUMBER(PROMPT_MAX) : INFINITY;
    double total = SAYS_IT(TOTAL_MAX) ? NUMBER(TOTAL_MAX) : INFINITY;
    double cap = SAYS_IT(RESPONSE_MAX) ? NUMBER(RESPONSE_MAX) : INFINITY;
    bool of_total = cap >= total;
    l->prompt = (int64_t)fmax(1, fmin((double)l->prompt, fmin(prompt, floor(total / 4))));
    cap = of_total && isfinite(total) ? total - (double)l->prompt : cap;
    calc_status status = CALC_OK;
    char text[300];
    if (isfinite(cap)) {
        status = put_number(r, of_total ? CALC_LAUNCH_TOTAL_MAX : CALC_LAUNCH_RESPONSE_MAX,
                            "response.cap", cap);
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

static void read_roles(reading *r)
{
    calc_job *job = &r->launch->job;
    job->kl = IS(KL) || IS(KL_REWARD) ? CALC_CHOICE_TRUE : CALC_CHOICE_FALSE;
    bool scores = SAYS_IT(REWARD_MODEL) && (IS(REWARD_ON) || !SAYS_IT(REWARD_ON));
    job->roles.reward.given = scores ? CALC_JOB_RUNS : CALC_JOB_SILENT;
    const struct {
        calc_job_role_index role;
        calc_job_launch_member model;
    } others[] = {{CALC_JOB_REWARD, CALC_LAUNCH_REWARD_MODEL},
                  {CALC_JOB_CRITIC, CALC_LAUNCH_CRITIC_MODEL},
                  {CALC_JOB_TEACHER, CALC_LAUNCH_TEACHER_MODEL}};
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        const char *model = r->said[others[i].model].text,
                   *name = calc_job_role_name(others[i].role);
        char text[160];
        snprintf(text, sizeof text,
                 "the %s%s is taken to be as large as the actor; %s.model of the job names another",
                 name, others[i].role == CALC_JOB_REWARD ? " model" : "", name);
        if (calc_job_runs(job, others[i].role) && model[0] &&
            strcmp(model, r->said[CALC_LAUNCH_MODEL].text) != 0) {
            calc_import_tell(r->import, NULL, CALC_UNREAD_COMPUTED, text);
        }
    }
}

static calc_status add_pool(reading *r, calc_job_role *role, const char *name, double chips)
{
    calc_job *job = &r->launch->job;
    if (!(chips >= 1 && chips <= 1e9 && chips == floor(chips))) {
        return wrong(r, CALC_LAUNCH_NODES, CALC_ERR_RANGE, NULL,
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
    calc_job *job = &r->launch->job;
    const struct {
        calc_job_role *role;
        const char *name;
        double nodes, node;
        bool apart;
    } roles[] = {{&job->roles.reference, "reference", NUMBER(REFERENCE_NODES),
                  NUMBER(REFERENCE_NODE_PROCS),
                  job->kl == CALC_CHOICE_TRUE && !IS(REFERENCE_BESIDE)},
                 {&job->roles.critic, "critic", NUMBER(CRITIC_NODES), NUMBER(CRITIC_NODE_PROCS),
                  calc_job_runs(job, CALC_JOB_CRITIC)},
                 {&job->roles.reward, "reward", NUMBER(REWARD_NODES), NUMBER(REWARD_NODE_PROCS),
                  calc_job_runs(job, CALC_JOB_REWARD) && !IS(REWARD_BESIDE)}};
    calc_status status = CALC_OK;
    for (size_t i = 0; i < 3 && status == CALC_OK; i++) {
        double chips = roles[i].nodes * (isnan(roles[i].node) ? 8 : roles[i].node);
        if (roles[i].apart && chips > 0) {
            status = add_pool(r, roles[i].role, roles[i].name, chips);
        }
    }
    if (IS(REWARD_BESIDE) && job->roles.critic.pool[0]) {
        strcpy(job->roles.reward.pool, job->roles.critic.pool);
    }
    return status;
}

/* Where roles run. @param engine  processors of an engine */
static calc_status read_pools(reading *r, double engine, double *actor)
{
    calc_job *job = &r->launch->job;
    double node = NUMBER(NODE_PROCS);
    double own = SAYS_IT(ROLLOUT_NODE_PROCS) ? NUMBER(ROLLOUT_NODE_PROCS) : node;
    double rollout = SAYS_IT(ROLLOUT_PROCS)   ? NUMBER(ROLLOUT_PROCS)
                     : SAYS_IT(ROLLOUT_NODES) ? NUMBER(ROLLOUT_NODES) * own
                     : SAYS_IT(ENGINES)       ? NUMBER(ENGINES) * engine
                     : r->format->within      ? NUMBER(ROLLOUT_NODE_PROCS)
                                              : NAN;
    char text[240];
    bool together = r->together;
    *actor = r->import->procs > 0 ? (double)r->import->procs : NUMBER(NODES) * node;
    if (isnan(*actor)) {
        return wrong(r, CALC_LAUNCH_NODES, CALC_ERR_FIELD, "--procs N says how many",
                     "nothing says how many nodes there are, or processors of a node");
    }
    if (together && SAYS_IT(ENGINES) && rollout != *actor) {
        snprintf(text, sizeof text,
                 "%.0f engines of %.0f processors are not on the %.0f of the actor, where they "
                 "are to run",
                 NUMBER(ENGINES), engine, *actor);
        return wrong(r, CALC_LAUNCH_ENGINES, CALC_ERR_RULE, NULL, text);
    }
    if (!together && !(rollout > 0)) {
        return wrong(r, CALC_LAUNCH_COLOCATED, CALC_ERR_FIELD, NULL,
                     "the engines are not on the actor's processors, and nothing says on how "
                     "many others they are");
    }
    if (!together && r->format->within && *actor <= rollout) {
        snprintf(text, sizeof text, "%.0f processors for engines leave none of %.0f to the actor",
                 rollout, *actor);
        return wrong(
            r, SAYS_IT(ROLLOUT_NODES) ? CALC_LAUNCH_ROLLOUT_NODES : CALC_LAUNCH_ROLLOUT_NODE_PROCS,
            CALC_ERR_RULE, NULL, text);
    }
    *actor -= !together && r->format->within ? rollout : 0;
    double chips = together ? *actor : rollout;
    if (fmod(chips, engine) != 0) {
        snprintf(text, sizeof text, "engines of %.0f processors do not divide the %.0f they run on",
                 engine, chips);
        return wrong(r, CALC_LAUNCH_ROLLOUT_PROCS, CALC_ERR_RULE, NULL, text);
    }
    calc_status status =
        add_pool(r, together ? NULL : &job->roles.actor, together ? "all" : "train", *actor);
    if (!together && status == CALC_OK) {
        status = add_pool(r, &job->roles.rollout, "rollout", rollout);
    }
    return status == CALC_OK && !IS(COLOCATED) ? read_other_pools(r) : status;
}

static void read_offload(reading *r)
{
    calc_job_roles *roles = &r->launch->job.roles;
    bool together = r->together, all = IS(OFFLOAD_ALL) || r->format->offloads;
    bool gradients = SAYS_IT(OFFLOAD_GRADIENTS) ? IS(OFFLOAD_GRADIENTS) : IS(OFFLOAD_WEIGHTS);
    calc_job_offload moved = (all || IS(OFFLOAD_WEIGHTS)) << CALC_JOB_OFFLOAD_WEIGHTS |
                             (all || gradients) << CALC_JOB_OFFLOAD_GRADIENTS |
                             (all || IS(OFFLOAD_OPTIMIZER)) << CALC_JOB_OFFLOAD_OPTIMIZER;
    roles->actor.offload_given = together;
    roles->actor.offload = together ? moved : 0;
    roles->reference.offload_given = together && SAYS_IT(REFERENCE_OFFLOAD);
    roles->reference.offload = IS(REFERENCE_OFFLOAD) ? 1 << CALC_JOB_OFFLOAD_WEIGHTS : 0;
}

/* Sets the fields that are said. @param tokens  only tokens of micro-batches, where these are not
 * of sequences: the layout says of how many processors; else all others */
static calc_status read_fields(reading *r, bool tokens)
{
    const calc_strategy *s = &r->launch->actor.strategy;
    double context = s->context_par > 0 ? (double)s->context_par : 1;
    double times = r->format->ranks == CALC_LAUNCH_REPLICA   ? 1
                   : r->format->ranks == CALC_LAUNCH_CONTEXT ? context
                                                             : context * (double)s->tensor_par;
    calc_status status = CALC_OK;
    if (!tokens && !SAYS_IT(PROMPTS)) {
        return wrong(r, CALC_LAUNCH_PROMPTS, CALC_ERR_FIELD, NULL,
                     "nothing says how many prompts a step has");
    }
    for (int i = 0; i < CALC_LAUNCH_COUNT && status == CALC_OK; i++) {
        const struct calc_job_launch_field *field = &calc_job_launch_fields[i];
        const value *v = &r->said[i];
        bool counted = field->form == CALC_LAUNCH_TOKENS_FORM;
        if (!field->path || !v->text[0] || counted != tokens) {
            continue;
        }
        if (!counted && field->form != CALC_LAUNCH_MIB_FORM) {
            status = put(r, (calc_job_launch_member)i, field->path, v->text);
        } else if (v->number > 0 && (!counted || IS(PACKED))) {
            status = put_number(r, (calc_job_launch_member)i, field->path,
                                v->number * (counted ? times : 1048576));
        }
    }
    return status;
}

/* Whether a text has one of the words between blanks. */
static bool has_any(const calc_text *text, const char *words)
{
    char word[CALC_LAUNCH_WORD_SIZE];
    while (text && calc_job_launch_next(&words, word)) {
        size_t length = strlen(word);
        for (size_t i = 0; i + length <= text->length; i++) {
            if (memcmp(text->data + i, word, length) == 0) {
                return true;
            }
        }
    }
    return false;
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
    double data = plan.value[CALC_PLAN_DATA], tensor = plan.value[CALC_PLAN_TENSOR];
    if (framework->serves) {
        double stages = calc_plan_value(&plan, CALC_PLAN_PIPELINE);
        plan.value[CALC_PLAN_PROCS] =
            (isnan(tensor) ? 1 : tensor) * (isnan(data) ? 1 : data) * stages;
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
    r->format = format;
    r->import = import;
    r->launch = launch;
    r->errors = errors;
    for (int i = 0; i < CALC_LAUNCH_COUNT; i++) {
        r->said[i].number = NAN;
    }
    memset(launch, 0, sizeof *launch);
    calc_job_init(&launch->job);
    r->ahead = has_any(text, format->async);
    calc_status status = read_settings(r);
    r->ahead |= IS(ASYNC);
    r->together = IS(COLOCATED) && !(r->ahead && format->ahead_apart);
    read_queue(r);
    status = status == CALC_OK ? read_layout(r, format->engine, 0, &launch->rollout) : status;
    status = status == CALC_OK ? read_fields(r, false) : status;
    status = status == CALC_OK ? read_batches(r) : status;
    if (status == CALC_OK) {
        read_roles(r);
        launch->job.roles.rollout.memory_share = launch->rollout.inference.memory_share;
        launch->rollout.inference.memory_share = 0;
        const char *model = r->said[CALC_LAUNCH_MODEL].text;
        snprintf(launch->model, sizeof launch->model, "%s", strchr(model, '$') ? "" : model);
        status = read_pools(r, (double)launch->rollout.num_procs, &actor);
    }
    status = status == CALC_OK ? read_layout(r, format->framework, actor, &launch->actor) : status;
    status = status == CALC_OK ? read_lengths(r) : status;
    status = status == CALC_OK ? read_fields(r, true) : status;
    if (status == CALC_OK) {
        if (r->ahead && r->together) {
            status = wrong(r, CALC_LAUNCH_COLOCATED, CALC_ERR_RULE, NULL,
                           "the rollout is to be a step ahead, and its engines are on the "
                           "actor's processors");
        }
        read_offload(r);
        /* Engines that may begin what is older than the weights are kept full. */
        launch->job.steps_off = !r->ahead                   ? 0
                                : IS(STALENESS)             ? 2
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
