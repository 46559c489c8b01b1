#include "cli/rl/rl_sets.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buffer.h"
#include "base/error.h"
#include "cli/sweep/sweep_complete.h"
#include "io/job_load.h"
#include "io/space_load.h"

/* Adds an assignment. @return whether there is memory */
static bool CALC_PRINTF(2, 3) add(calc_rl_member *m, const char *fmt, ...)
{
    char text[1024];
    va_list list;
    va_start(list, fmt);
    vsnprintf(text, sizeof text, fmt, list);
    va_end(list);
    char **set = realloc(m->set, (m->set_count + 1) * sizeof *set);
    if (!set) {
        return false;
    }
    m->set = set;
    m->set[m->set_count] = malloc(strlen(text) + 1);
    if (!m->set[m->set_count]) {
        return false;
    }
    strcpy(m->set[m->set_count++], text);
    return true;
}

const char *calc_rl_sets_for(const calc_rl_task *task, calc_job_role_index role, const char *text)
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

static bool add_command_line(calc_rl_task *task, const calc_rl_words *words,
                             calc_job_role_index role)
{
    bool fine = true;
    for (size_t i = 0; i < words->set_count && fine; i++) {
        const char *text = calc_rl_sets_for(task, role, words->set[i]);
        fine = !text || add(&task->member[role], "%s", text);
    }
    return fine;
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
    for (size_t i = 0; i < entries.count && status == CALC_OK; i++) {
        char value[512] = "";
        const calc_space_entry *e = &entries.entry[i];
        for (size_t k = 0; k < e->count; k++) {
            calc_append(value, sizeof value, "%s%s", k ? "+" : "", e->item[k]);
        }
        bool fine = strcmp(e->key, "source") == 0 || add(m, "exe.%s=%s", e->key, value);
        status = fine ? CALC_OK : calc_errors_no_memory(errors);
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
static bool add_workload(calc_rl_task *task, calc_job_role_index role)
{
    const calc_job *job = &task->job;
    const calc_job_role *r = calc_job_role_of(job, role);
    calc_rl_member *m = &task->member[role];
    double sequences = (double)job->prompts * (double)job->samples;
    double attended, micro, batch;
    double chips = (double)task->chips[task->problem.seat[role].pool];
    if (role == CALC_JOB_ROLLOUT) {
        bool fine =
            add(m, "training=false") && add(m, "inference.phase=serve") &&
            add(m, "inference.prompt_size=%lld", (long long)job->lengths.prompt) &&
            add(m, "inference.generate_size=%.0f", fmax(2, round(job->lengths.response.mean))) &&
            add(m, "inference.batch=%.0f", ceil(sequences / chips) * chips);
        return fine &&
               (r->memory_share == 0 || add(m, "inference.memory_share=%.6g", r->memory_share));
    }
    pack(task, role, &attended, &micro, &batch);
    bool trains = role == CALC_JOB_ACTOR || role == CALC_JOB_CRITIC;
    bool fine =
        add(m, "training=%s", trains ? "true" : "false") && add(m, "seq_size=%.0f", attended);
    return fine && (micro == 0 || add(m, "microbatch_size=%.0f", micro));
}

/* Whether an execution is a file that leaves nothing to be completed; *procs is then what it says.
 */
static calc_status look_at(const char *name, bool *whole, int64_t *procs, calc_errors *errors)
{
    calc_input input = {.partial = true};
    calc_exec *exec = calloc(1, sizeof *exec);
    calc_status status = exec ? CALC_OK : calc_errors_no_memory(errors);
    if (exec) {
        status = calc_input_load(&input, CALC_KIND_EXEC, exec, name, errors);
        *whole = status == CALC_OK && input.absent == 0;
        *procs = *whole ? exec->num_procs : 0;
        calc_text_free(&input.text);
    }
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
        char path[64];
        snprintf(path, sizeof path, "%.*s", (int)strcspn(text, "="), text);
        bool is =
            calc_field_find(CALC_KIND_EXEC, path, &named) == CALC_OK && named.field == meant.field;
        found = is ? text + strcspn(text, "=") + 1 : found;
    }
    return found;
}

calc_status calc_rl_sets_make(calc_rl_task *task, const calc_rl_words *words,
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
    bool fine = whole || add_workload(task, role);
    status = fine ? add_object(task, role, errors) : CALC_ERR_NOMEM;
    fine = fine && add_command_line(task, words, role);
    if (fine && !whole) {
        double attended, micro, batch;
        pack(task, role, &attended, &micro, &batch);
        const char *sequences = said(m, "microbatch_size");
        if (micro == 0 && sequences) { /* it divides the batch of every replica */
            double each = (double)task->chips[pool] * fmax(1, floor(strtod(sequences, NULL)));
            batch = isfinite(each) ? ceil(batch / each) * each : batch;
        }
        snprintf(m->procs, sizeof m->procs, "%lld", (long long)task->chips[pool]);
        snprintf(m->batch, sizeof m->batch, "%.0f", batch);
        /* An assignment may give an engine a part of the pool. */
        calc_sweep_completes_with(m->inputs, said(m, "num_procs") ? NULL : m->procs,
                                  role == CALC_JOB_ROLLOUT ? NULL : m->batch);
    }
    return fine ? status : calc_errors_no_memory(errors);
}
