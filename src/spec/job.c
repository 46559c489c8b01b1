#include "spec/job.h"

#include "base/error.h"
#include "spec/absent.h"
#include "spec/rules.h"

#define NAME(name, text) text,
static const char *const role_names[] = {CALC_JOB_ROLE_LIST(NAME) NULL};
#undef NAME

const char *calc_job_role_name(calc_job_role_index role)
{
    return role_names[role];
}

calc_job_role_index calc_job_role_find(const char *name)
{
    int role = calc_choice_index(role_names, name);
    return role < 0 ? CALC_JOB_ROLES : (calc_job_role_index)role;
}

const calc_job_role *calc_job_role_of(const calc_job *job, calc_job_role_index role)
{
    _Static_assert(sizeof job->roles == CALC_JOB_ROLES * sizeof job->roles.actor, "in their order");
    return (const calc_job_role *)(const void *)&job->roles + role;
}

calc_job_role *calc_job_role_in(calc_job *job, calc_job_role_index role)
{
    return (calc_job_role *)(void *)&job->roles + role;
}

void calc_job_init(calc_job *job)
{
    calc_absent_fill(calc_job_table(), job);
}

/* What the algorithm says. */
typedef struct preset {
    bool old, reference, critic, teacher;
} preset;

static preset preset_of(const calc_job *job)
{
#define ROW(name, text, ...) {__VA_ARGS__},
    static const preset presets[] = {CALC_JOB_ALGORITHM_LIST(ROW)};
#undef ROW
    return presets[job->algorithm];
}

bool calc_job_runs(const calc_job *job, calc_job_role_index role)
{
    const calc_job_role *said = calc_job_role_of(job, role);
    const preset p = preset_of(job);
    if (said->given != CALC_JOB_SILENT) {
        return said->given == CALC_JOB_RUNS;
    }
    switch (role) {
    case CALC_JOB_ACTOR:
    case CALC_JOB_ROLLOUT:
        return true;
    case CALC_JOB_REFERENCE:
        return job->kl == CALC_CHOICE_AUTO ? p.reference : job->kl == CALC_CHOICE_TRUE;
    case CALC_JOB_CRITIC:
        return p.critic;
    case CALC_JOB_TEACHER:
        return p.teacher;
    default:
        return false;
    }
}

bool calc_job_old_pass(const calc_job *job)
{
    return calc_job_runs(job, CALC_JOB_ACTOR) &&
           (job->old_logprob == CALC_JOB_OLD_LOGPROB_AUTO
                ? preset_of(job).old
                : job->old_logprob == CALC_JOB_OLD_LOGPROB_TRAINER);
}

/* One rule between fields of a job. */
#define RULE(broken, pointer, hint, ...)                                                           \
    CALC_RULE(broken,                                                                              \
              calc_errors_add(errors, CALC_ERR_RULE, CALC_KIND_NONE, pointer, hint, __VA_ARGS__))

calc_status calc_job_check(const calc_job *job, calc_errors *errors)
{
    const calc_job_response *r = &job->lengths.response;
    double sequences = (double)job->prompts * (double)job->samples;
    RULE(r->cap > 0 && r->mean > (double)r->cap, "/lengths/response/mean", NULL,
         "a mean of %g tokens is above the cap of %lld", r->mean, (long long)r->cap);
    RULE(r->share_at_cap > 0 && r->cap == 0, "/lengths/response/share_at_cap",
         "say lengths.response.cap", "a share of the responses reaches a cap of 0");
    RULE(r->cap != 0 && r->share_at_cap * (double)r->cap > r->mean,
         "/lengths/response/share_at_cap", NULL,
         "a share of %g at %lld tokens alone has a mean above %g", r->share_at_cap,
         (long long)r->cap, r->mean);
    RULE((double)job->mini_batch > sequences, "/mini_batch", NULL,
         "%lld sequences are more than prompts * samples = %.0f", (long long)job->mini_batch,
         sequences);
    RULE(sequences > 1e7, "/prompts", NULL, "prompts * samples = %.0f is more than 1e7", sequences);
    RULE(!calc_job_runs(job, CALC_JOB_ACTOR) && !calc_job_runs(job, CALC_JOB_ROLLOUT), "/roles",
         NULL, "neither the actor nor the rollout runs");
    return calc_errors_first(errors);
}
