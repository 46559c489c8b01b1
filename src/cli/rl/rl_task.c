#include "cli/rl/rl_task.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buffer.h"
#include "base/error.h"
#include "cli/shell/complain.h"
#include "cli/sweep/sweep_study.h"
#include "io/job_load.h"
#include "io/json_report.h"
#include "io/space_load.h"

/* Adds an assignment of a role's documents: of what the job says of a layout that is to be
 * completed, of the members of an execution that it holds, and of what the command line says. */
static void CALC_PRINTF(2, 3) add(calc_rl_member *m, const char *fmt, ...)
{
    char text[1024];
    va_list list;
    va_start(list, fmt);
    vsnprintf(text, sizeof text, fmt, list);
    va_end(list);
    m->set = calc_longer(m->set, m->set_count + 1, sizeof *m->set);
    m->set[m->set_count] = calc_make(1, strlen(text) + 1);
    strcpy(m->set[m->set_count++], text);
}

/* Whom an assignment of the command line is for: that of a role begins with its name; other fields
 * of an execution are the actor's, of its object `inference` the rollout's; of models and machines
 * everybody's.
 * @return what is assigned, without the role; NULL: not for this role, or of the job */
static const char *calc_rl_sets_for(const calc_rl_task *task, calc_job_role_index role,
                                    const char *text)
{
    char word[160];
    calc_field_ref ref;
    calc_errors ignored = {0};
    calc_job copy = task->job;
    bool of_job;
    (void)!calc_job_set(&copy, text, &of_job, &ignored);
    if (of_job) {
        return NULL;
    }
    const char *dot = strchr(text, '.'), *equals = strchr(text, '=');
    if (dot && equals && dot < equals) {
        snprintf(word, sizeof word, "%.*s", (int)(dot - text), text);
        calc_job_role_index named = calc_job_role_find(word);
        if (named != CALC_JOB_ROLES) {
            return named == role ? dot + 1 : NULL;
        }
    }
    snprintf(word, sizeof word, "%.*s", equals ? (int)(equals - text) : 0, text);
    const char *path = strncmp(word, "exe.", 4) == 0 ? word + 4 : word;
    bool of_exec = calc_field_find(CALC_KIND_EXEC, path, &ref) == CALC_OK;
    bool serving = strncmp(path, "inference.", 10) == 0;
    return !of_exec || role == (serving ? CALC_JOB_ROLLOUT : CALC_JOB_ACTOR) ? text : NULL;
}

/* The members of an execution that the job holds. */
static calc_status add_object(calc_rl_task *task, calc_job_role_index role, calc_errors *errors)
{
    const calc_job_role *r = calc_job_role_of(&task->job, role);
    calc_rl_member *m = &task->member[role];
    calc_space_entries entries = {0};
    calc_status status = CALC_OK;
    if (r->execution_length > 0) {
        status = calc_space_parse(&entries, task->document.text.data + r->execution_at,
                                  r->execution_length, task->document.path, errors);
    }
    for (size_t i = 0; i < entries.count; i++) {
        char value[512] = "";
        const calc_space_entry *e = &entries.entry[i];
        for (size_t k = 0; k < e->count; k++) {
            calc_append(value, sizeof value, "%s%s", k ? "+" : "", e->item[k]);
        }
        if (strcmp(e->key, "source") != 0) {
            add(m, "exe.%s=%s", e->key, value);
        }
    }
    calc_space_entries_free(&entries);
    return status;
}

/* The step of training that a layout is completed for: sequences of a length that context
 * parallelism divides, and as many as all layouts with this micro-batch divide; 0: any. */
static void pack(const calc_rl_task *task, calc_job_role_index role, double *attended,
                 double *micro, double *batch)
{
    enum { PART = 64 };
    const calc_job *job = &task->job;
    const calc_rl_lengths lengths = calc_rl_lengths_of(&job->lengths.response);
    double prompt = (double)job->lengths.prompt;
    double sequences =
        job->mini_batch > 0 ? (double)job->mini_batch : (double)job->prompts * (double)job->samples;
    double tokens = (double)calc_job_role_of(job, role)->micro_tokens;
    *attended = calc_rl_lengths_attended(&lengths, prompt);
    *attended = fmax(1, *attended > PART ? round(*attended / PART) * PART : round(*attended));
    *micro = tokens > 0 ? fmax(1, floor(tokens / *attended)) : 0;
    double each = (double)task->chips[task->problem.seat[role].pool] * fmax(1, *micro);
    *batch = ceil(sequences * (prompt + lengths.mean) / *attended / each) * each;
}

/* What the job says of a layout that is completed: lengths and batch. */
static void add_workload(calc_rl_task *task, calc_job_role_index role)
{
    const calc_job *job = &task->job;
    const calc_job_role *r = calc_job_role_of(job, role);
    calc_rl_member *m = &task->member[role];
    double sequences = (double)job->prompts * (double)job->samples;
    double attended, micro, batch;
    double chips = (double)task->chips[task->problem.seat[role].pool];
    if (role == CALC_JOB_ROLLOUT) {
        add(m, "training=false");
        add(m, "inference.phase=serve");
        add(m, "inference.prompt_size=%jd", job->lengths.prompt);
        add(m, "inference.generate_size=%.0f", fmax(2, round(job->lengths.response.mean)));
        add(m, "inference.batch=%.0f", ceil(sequences / chips) * chips);
        if (r->memory_share != 0) {
            add(m, "inference.memory_share=%.6g", r->memory_share);
        }
        return;
    }
    pack(task, role, &attended, &micro, &batch);
    bool trains = role == CALC_JOB_ACTOR || role == CALC_JOB_CRITIC;
    add(m, "training=%s", trains ? "true" : "false");
    add(m, "seq_size=%.0f", attended);
    if (micro != 0) {
        add(m, "microbatch_size=%.0f", micro);
    }
}

/* Whether an execution is a file that leaves nothing to be completed; *procs is then what it says.
 */
static calc_status look_at(const char *name, bool *whole, int64_t *procs, calc_errors *errors)
{
    calc_input input = {.partial = true};
    calc_exec *exec = calc_make(1, sizeof *exec);
    calc_status status = calc_input_load(&input, CALC_KIND_EXEC, exec, name, errors);
    *whole = status == CALC_OK && input.absent == 0;
    *procs = *whole ? exec->num_procs : 0;
    calc_text_free(&input.text);
    free(exec);
    return status;
}

/* What the last assignment to a field of the layout says; NULL: there is none. */
static const char *said(const calc_rl_member *m, const char *field)
{
    calc_field_ref meant, named;
    const char *found = NULL;
    (void)!calc_field_find(CALC_KIND_EXEC, field, &meant);
    for (size_t i = 0; i < m->set_count; i++) {
        const char *text = strncmp(m->set[i], "exe.", 4) == 0 ? m->set[i] + 4 : m->set[i];
        const char *path = CALC_TEXT(64, "%.*s", (int)strcspn(text, "="), text);
        bool is =
            calc_field_find(CALC_KIND_EXEC, path, &named) == CALC_OK && named.field == meant.field;
        found = is ? text + strcspn(text, "=") + 1 : found;
    }
    return found;
}

/* Fill the assignments of a role, and let its inputs complete a layout that is not whole. A whole
 * one says how many processors its pool has, if nothing else does. */
static calc_status calc_rl_sets_make(calc_rl_task *task, const calc_rl_words *words,
                                     calc_job_role_index role, calc_errors *errors)
{
    const calc_job_role *r = calc_job_role_of(&task->job, role);
    calc_rl_member *m = &task->member[role];
    size_t pool = task->problem.seat[role].pool;
    bool whole = false;
    int64_t procs = 0;
    int at = errors->count;
    calc_status status = r->execution[0] ? look_at(r->execution, &whole, &procs, errors) : CALC_OK;
    if (status == CALC_ERR_NOT_FOUND && at < errors->count && !errors->item[at].file[0]) {
        snprintf(errors->item[at].pointer, sizeof errors->item->pointer, "/roles/%s/execution",
                 calc_job_role_name(role));
    }
    if (status != CALC_OK) {
        return status;
    }
    if (whole && task->chips[pool] == 0) {
        task->chips[pool] = procs;
    }
    if (task->chips[pool] == 0) {
        return calc_errors_at(errors, CALC_ERR_FIELD, "--procs", 0, 0, NULL,
                              "say how many processors there are: --procs N");
    }
    calc_sweep_completes_with(m->inputs, NULL, NULL);
    if (!whole) {
        add_workload(task, role);
    }
    status = add_object(task, role, errors);
    for (size_t i = 0; i < words->set_count; i++) {
        const char *text = calc_rl_sets_for(task, role, words->set[i]);
        if (text) {
            add(m, "%s", text);
        }
    }
    if (!whole) {
        double attended, micro, batch;
        pack(task, role, &attended, &micro, &batch);
        const char *sequences = said(m, "microbatch_size");
        if (micro == 0 && sequences) { /* it divides the batch of every replica */
            double each = (double)task->chips[pool] * fmax(1, floor(strtod(sequences, NULL)));
            batch = isfinite(each) ? ceil(batch / each) * each : batch;
        }
        snprintf(m->procs, sizeof m->procs, "%jd", task->chips[pool]);
        snprintf(m->batch, sizeof m->batch, "%.0f", batch);
        /* An assignment may give an engine a part of the pool. */
        calc_sweep_completes_with(m->inputs, said(m, "num_procs") ? NULL : m->procs,
                                  role == CALC_JOB_ROLLOUT ? NULL : m->batch);
    }
    return status;
}

/* The last assignment of what a pointer leads to; NULL: there is none. */
static const char *assignment_of(const calc_rl_words *words, const char *pointer)
{
    const char *found = NULL;
    for (size_t i = 0; i < words->set_count; i++) {
        size_t length = strcspn(words->set[i], "=");
        char *path = CALC_TEXT(128, "/%.*s", (int)length, words->set[i]);
        for (char *dot = path; (dot = strchr(dot, '.')); *dot = '/') {
        }
        size_t own = strlen(path), all = strlen(pointer);
        found = own <= all && strcmp(pointer + all - own, path) == 0 ? words->set[i] : found;
    }
    return found;
}

void calc_rl_task_locate(const calc_rl_task *task, const calc_rl_words *words, calc_errors *errors)
{
    const calc_text *text = &task->document.text;
    for (int i = 0; i < errors->count; i++) {
        calc_error *error = &errors->item[i];
        calc_json_place place;
        if (error->kind != CALC_KIND_NONE || !error->pointer[0] || error->file[0]) {
            continue;
        }
        const char *set = assignment_of(words, error->pointer);
        if (set) {
            char file[sizeof error->file];
            snprintf(file, sizeof file, "--set %s", set);
            calc_error_place(error, file, 0, 0);
        } else if (text->data) {
            (void)calc_json_locate(text->data, text->length, error->pointer, CALC_JSON_VALUE,
                                   &place);
            calc_error_place(error, task->document.path, place.line, place.column);
        }
    }
}

static calc_status read_document(calc_rl_task *task, const char *name, calc_errors *errors)
{
    calc_input *d = &task->document;
    char file[CALC_FIND_PATH_MAX];
    snprintf(file, sizeof file, "%s%s", calc_find_is_path(name) ? "" : CALC_JOB_FOLDER, name);
    calc_find_name(name, d->name, sizeof d->name);
    calc_status status = calc_find(CALC_KIND_EXEC, file, d->path, errors);
    status = status == CALC_OK ? calc_text_read(&d->text, d->path, errors) : status;
    return status == CALC_OK
               ? calc_job_parse(&task->job, d->text.data, d->text.length,
                                strcmp(d->path, "-") == 0 ? "<stdin>" : d->path, errors)
               : status;
}

/* Two pools where the command line gives the rollout processors of its own. */
static calc_status split(calc_job *job, int64_t rollout_procs, calc_errors *errors)
{
    if (rollout_procs == 0) {
        return CALC_OK;
    }
    if (job->pools_count > 0) {
        return calc_errors_at(errors, CALC_ERR_FIELD, "--rollout-procs", 0, 0,
                              "--set pools[1].chips=N", "the job has pools already");
    }
    job->pools_count = 2;
    job->pools[0] = (calc_job_pool){.name = "train"};
    job->pools[1] = (calc_job_pool){.name = "rollout", .chips = rollout_procs};
    strcpy(job->roles.rollout.pool, "rollout");
    return CALC_OK;
}

/* An assignment to a role lets it run, as its name in a document does; what the job says of a
 * layout cannot be assigned beside it. */
static calc_status name_role(calc_job *job, const char *assignment, calc_errors *errors)
{
    static const char *const said[] = {"seq_size",
                                       "batch_size",
                                       "training",
                                       "inference.phase",
                                       "inference.prompt_size",
                                       "inference.generate_size",
                                       "inference.batch",
                                       "inference.requests",
                                       "inference.arrival_rate",
                                       NULL};
    char word[160];
    const char *dot = strchr(assignment, '.'), *equals = strchr(assignment, '=');
    if (!dot || !equals || dot > equals) {
        return CALC_OK;
    }
    snprintf(word, sizeof word, "%.*s", (int)(dot - assignment), assignment);
    calc_job_role_index role = calc_job_role_find(word);
    if (role == CALC_JOB_ROLES) {
        return CALC_OK;
    }
    static const char *const programs[] = {"seconds=", "parallel=", "overlapped="};
    for (size_t i = 0; i < sizeof programs / sizeof *programs && role == CALC_JOB_REWARD; i++) {
        if (strncmp(dot + 1, programs[i], strlen(programs[i])) == 0) {
            return CALC_OK; /* of the programs that score, not of the role of that name */
        }
    }
    calc_job_role *named = calc_job_role_in(job, role);
    named->given = named->given == CALC_JOB_SILENT ? CALC_JOB_RUNS : named->given;
    const char *field = strncmp(dot + 1, "exe.", 4) == 0 ? dot + 5 : dot + 1;
    snprintf(word, sizeof word, "%.*s", (int)(equals - field), field);
    for (size_t i = 0; said[i]; i++) {
        if (strcmp(word, said[i]) == 0) {
            return calc_errors_at(errors, CALC_ERR_RULE, "--set", 0, 0,
                                  "prompts, samples, mini_batch, lengths.prompt, response.mean",
                                  "%.80s: the job says that of its roles", assignment);
        }
    }
    return CALC_OK;
}

calc_status calc_rl_task_read(calc_rl_task *task, const calc_rl_words *words, calc_errors *errors)
{
    calc_job_init(&task->job);
    calc_status status = words->job ? read_document(task, words->job, errors) : CALC_OK;
    status = status == CALC_OK ? split(&task->job, words->rollout_procs, errors) : status;
    for (size_t i = 0; i < words->set_count && status == CALC_OK; i++) {
        bool known;
        status = calc_job_set(&task->job, words->set[i], &known, errors);
        status = status == CALC_OK ? name_role(&task->job, words->set[i], errors) : status;
    }
    status = status == CALC_OK && calc_job_check(&task->job, errors) != CALC_OK
                 ? calc_errors_first(errors)
                 : status;
    return status;
}

/* An error of the job at a pointer. */
static calc_status job_error(calc_errors *errors, const char *pointer, const char *hint,
                             const char *fmt, const char *word)
{
    calc_errors_add(errors, CALC_ERR_RULE, CALC_KIND_NONE, pointer, hint, fmt, word);
    return CALC_ERR_RULE;
}

static calc_status make_pools(calc_rl_task *task, const calc_rl_words *words, calc_errors *errors)
{
    calc_job *job = &task->job;
    int64_t procs = words->procs;
    int64_t known = 0, unknown = 0;
    const char *text = procs > 0 ? CALC_TEXT(24, "%jd", procs) : "";
    task->pools = job->pools_count > 0 ? (size_t)job->pools_count : 1;
    for (size_t i = 0; i < task->pools; i++) {
        calc_job_pool *pool = &job->pools[i];
        task->pool_name[i] = job->pools_count > 0 ? pool->name : "all";
        task->pool_system[i] = pool->system[0] ? pool->system : words->system;
        task->chips[i] = pool->chips;
        known += pool->chips;
        unknown += pool->chips == 0;
        for (size_t k = 0; k < i; k++) {
            if (strcmp(pool->name, job->pools[k].name) == 0) {
                return job_error(errors, "/pools", NULL, "two pools are named \"%s\"", pool->name);
            }
        }
    }
    if (unknown > 1 || (unknown == 1 && procs > 0 && procs <= known)) {
        return job_error(errors, "/pools", "say chips of each pool",
                         "--procs %s leaves nothing for pools that do not say their chips", text);
    }
    for (size_t i = 0; i < task->pools && procs > 0; i++) {
        task->chips[i] = task->chips[i] > 0 ? task->chips[i] : procs - known;
    }
    return procs > 0 && unknown == 0 && procs != known
               ? job_error(errors, "/pools", NULL, "--procs %s is not the sum of their chips", text)
               : CALC_OK;
}

static calc_job_role_index like_of(const calc_job *job, calc_job_role_index role)
{
    const char *like = calc_job_role_of(job, role)->like;
    return like[0] ? calc_job_role_find(like) : CALC_JOB_ACTOR;
}

/* Fill in what a role has from the one that it is like. */
static calc_status follow(calc_rl_task *task, calc_job_role_index role, calc_errors *errors)
{
    calc_job_role *r = calc_job_role_in(&task->job, role);
    calc_job_role_index like = like_of(&task->job, role);
    const char *pointer = CALC_TEXT(64, "/roles/%s/like", calc_job_role_name(role));
    if (like == CALC_JOB_ROLES) {
        return job_error(errors, pointer,
                         "roles are actor, rollout, reference, critic, reward, teacher",
                         "no role is named \"%s\"", r->like);
    }
    const calc_job_role *other = calc_job_role_of(&task->job, like);
    if (r->like[0] && other->like[0] && like != role) {
        return job_error(errors, pointer, "name the role that says it",
                         "\"%s\" is itself like another role", r->like);
    }
    if (like == role) {
        return CALC_OK;
    }
    if (!r->model[0]) {
        strcpy(r->model, other->model);
    }
    if (!r->pool[0]) {
        strcpy(r->pool, other->pool);
    }
    if (role != CALC_JOB_ROLLOUT && !r->execution[0] && r->execution_length == 0 &&
        strcmp(r->model, other->model) == 0 && strcmp(r->pool, other->pool) == 0) {
        strcpy(r->execution, other->execution);
        r->execution_at = other->execution_at;
        r->execution_length = other->execution_length;
        r->micro_tokens = r->micro_tokens ? r->micro_tokens : other->micro_tokens;
        r->forward_tokens = r->forward_tokens ? r->forward_tokens : other->forward_tokens;
    }
    return CALC_OK;
}

static calc_status find_pool(calc_rl_task *task, calc_job_role_index role, calc_errors *errors)
{
    const char *name = calc_job_role_of(&task->job, role)->pool;
    calc_rl_seat *seat = &task->problem.seat[role];
    const char *pointer = CALC_TEXT(64, "/roles/%s/pool", calc_job_role_name(role));
    for (seat->pool = 0; seat->pool < task->pools; seat->pool++) {
        if (!name[0] || strcmp(name, task->pool_name[seat->pool]) == 0) {
            return CALC_OK;
        }
    }
    seat->pool = 0;
    return job_error(errors, pointer, "pools lists them", "no pool is named \"%s\"", name);
}

/* Whether a role is the same as another one in all that its documents say. */
static bool shares(const calc_rl_task *task, const calc_rl_words *words, calc_job_role_index role,
                   calc_job_role_index other)
{
    const calc_job_role *a = calc_job_role_of(&task->job, role);
    const calc_job_role *b = calc_job_role_of(&task->job, other);
    bool own = false;
    for (size_t i = 0; i < words->set_count; i++) {
        const char *text = calc_rl_sets_for(task, role, words->set[i]);
        own |= text && text != words->set[i];
    }
    return !own && role != other && task->member[other].inputs && other != CALC_JOB_ROLLOUT &&
           role != CALC_JOB_ROLLOUT && strcmp(a->model, b->model) == 0 &&
           strcmp(a->execution, b->execution) == 0 && a->execution_at == b->execution_at &&
           task->problem.seat[role].pool == task->problem.seat[other].pool;
}

/* Gives an error about a document that a role or its pool names the place of the name. */
static calc_status find_documents(const calc_rl_task *task, calc_job_role_index role,
                                  const char *const argument[CALC_INPUTS], calc_errors *errors)
{
    const calc_job_role *r = calc_job_role_of(&task->job, role);
    size_t pool = task->problem.seat[role].pool;
    bool own_system = task->job.pools_count > 0 && task->job.pools[pool].system[0];
    const char *const own[] = {r->model[0] ? "model" : NULL, own_system ? "system" : NULL};
    for (int kind = 0; kind < CALC_KIND_EXEC; kind++) {
        char path[CALC_FIND_PATH_MAX];
        int at = errors->count;
        if (!own[kind] || calc_find((calc_kind)kind, argument[kind], path, errors) == CALC_OK) {
            continue;
        }
        char *pointer = errors->item[at < CALC_MAX_ERRORS ? at : 0].pointer;
        if (kind == CALC_KIND_SYSTEM) {
            snprintf(pointer, sizeof errors->item->pointer, "/pools/%zu/system", pool);
        } else {
            snprintf(pointer, sizeof errors->item->pointer, "/roles/%s/%s",
                     calc_job_role_name(role), own[kind]);
        }
        return calc_errors_first(errors);
    }
    return CALC_OK;
}

/* Assignments that stand for members of an object of the job have their place there. */
static void point_into_object(const calc_rl_task *task, calc_job_role_index role,
                              calc_errors *errors)
{
    static const char begins[] = "--set exe.";
    if (calc_job_role_of(&task->job, role)->execution_length == 0) {
        return;
    }
    for (int i = 0; i < errors->count; i++) {
        calc_error *e = &errors->item[i];
        if (strncmp(e->file, begins, sizeof begins - 1) == 0) {
            snprintf(e->pointer, sizeof e->pointer, "/roles/%s/execution/%.80s",
                     calc_job_role_name(role),
                     CALC_TEXT(128, "%.*s", (int)strcspn(e->file + sizeof begins - 1, "="),
                               e->file + sizeof begins - 1));
            for (char *dot = e->pointer; (dot = strchr(dot, '.')); *dot = '/') {
            }
            e->file[0] = '\0';
            e->kind = CALC_KIND_NONE;
        }
    }
}

static calc_status load_role(calc_rl_task *task, const calc_rl_words *words,
                             calc_job_role_index role, calc_errors *errors)
{
    calc_rl_member *m = &task->member[role];
    const calc_job_role *r = calc_job_role_of(&task->job, role);
    calc_job_role_index like = like_of(&task->job, role);
    if (shares(task, words, role, like)) {
        m->inputs = task->member[like].inputs;
        return CALC_OK;
    }
    m->inputs = calc_make(1, sizeof *m->inputs);
    m->owns = true;
    calc_status status = calc_rl_sets_make(task, words, role, errors);
    if (status != CALC_OK) {
        return status;
    }
    const char *argument[CALC_INPUTS] = {r->model[0] ? r->model : words->app,
                                         task->pool_system[task->problem.seat[role].pool],
                                         r->execution[0] ? r->execution : NULL};
    m->inputs->silent = words->silent;
    m->inputs->who = calc_job_role_name(role);
    status = find_documents(task, role, argument, errors);
    status = status == CALC_OK ? calc_inputs_load(m->inputs, argument, (const char *const *)m->set,
                                                  m->set_count, errors)
                               : status;
    point_into_object(task, role, errors);
    return status;
}

static calc_status seat_role(calc_rl_task *task, calc_job_role_index role, calc_errors *errors)
{
    calc_rl_seat *seat = &task->problem.seat[role];
    const calc_inputs *in = task->member[role].inputs;
    seat->app = &in->app;
    seat->system = &in->system;
    seat->exec = &in->exec;
    int64_t procs = in->exec.num_procs, chips = task->chips[seat->pool];
    if (role == CALC_JOB_ROLLOUT ? chips % procs != 0 : chips != procs) {
        return job_error(
            errors, CALC_TEXT(64, "/roles/%s/execution", calc_job_role_name(role)),
            role == CALC_JOB_ROLLOUT ? "an engine may have a part that divides them" : NULL, "%s",
            CALC_TEXT(96, "%s is on %jd processors, its pool has %jd", calc_job_role_name(role),
                      procs, chips));
    }
    return CALC_OK;
}

calc_status calc_rl_task_load(calc_rl_task *task, const calc_rl_words *words, calc_errors *errors)
{
    calc_status status = make_pools(task, words, errors);
    task->problem.job = &task->job;
    for (int i = 0; i < CALC_JOB_ROLES && status == CALC_OK; i++) {
        calc_job_role_index role = (calc_job_role_index)i;
        task->problem.seat[role].runs = calc_job_runs(&task->job, role);
        status = follow(task, role, errors);
        status = status == CALC_OK && task->problem.seat[role].runs ? find_pool(task, role, errors)
                                                                    : status;
    }
    for (int i = 0; i < CALC_JOB_ROLES && status == CALC_OK; i++) {
        calc_job_role_index role = (calc_job_role_index)i;
        if (task->problem.seat[role].runs) {
            status = load_role(task, words, role, errors);
            status = status == CALC_OK ? seat_role(task, role, errors) : status;
        }
    }
    task->problem.pools = task->pools;
    for (size_t i = 0; i < task->pools; i++) {
        task->problem.chips[i] = (double)task->chips[i];
    }
    return status;
}

void calc_rl_task_free(calc_rl_task *task)
{
    for (int i = 0; i < CALC_JOB_ROLES; i++) {
        calc_rl_member *m = &task->member[i];
        if (m->owns) {
            calc_inputs_free(m->inputs);
            free(m->inputs);
        }
        for (size_t k = 0; k < m->set_count; k++) {
            free(m->set[k]);
        }
        free(m->set);
    }
    calc_text_free(&task->document.text);
}
