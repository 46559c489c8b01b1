/* Jobs: what runs, and what contradicts. */
#include "spec/job.h"

#include <string.h>

#include "frame.h"
#include "io/job_load.h"

static calc_job job;
static calc_errors errors;

static void enter(void)
{
    errors = (calc_errors){0};
    calc_job_init(&job);
}

const calc_test_frame calc_tests = {.setup = enter};

static calc_status parse(const char *text)
{
    return calc_job_parse(&job, text, strlen(text), "job.json", &errors);
}

static calc_status set(const char *assignment)
{
    bool known;
    calc_status status = calc_job_set(&job, assignment, &known, &errors);
    ck_assert_msg(known, "%s", assignment);
    return status;
}

CALC_TEST(an_empty_job_has_defaults)
{
    ck_assert_int_eq(parse("{}"), CALC_OK);
    ck_assert_int_eq(job.prompts, 64);
    ck_assert_int_eq(job.samples, 8);
    ck_assert_double_eq(job.kept_share, 1);
    ck_assert_double_eq(job.overhead, CALC_JOB_OVERHEAD);
    ck_assert_double_eq(job.lengths.response.mean, 1024);
    ck_assert_int_eq(job.roles.rollout.sleep, 2);
    ck_assert_int_eq(calc_job_check(&job, &errors), CALC_OK);
}

CALC_TEST(an_algorithm_only_presets_what_runs)
{
    job.algorithm = CALC_JOB_ALGORITHM_PPO;
    ck_assert(calc_job_runs(&job, CALC_JOB_CRITIC) && calc_job_runs(&job, CALC_JOB_REFERENCE));
    job.algorithm = CALC_JOB_ALGORITHM_DAPO;
    ck_assert(!calc_job_runs(&job, CALC_JOB_REFERENCE) && calc_job_old_pass(&job));
    job.kl = CALC_CHOICE_TRUE;
    ck_assert(calc_job_runs(&job, CALC_JOB_REFERENCE));
    job.algorithm = CALC_JOB_ALGORITHM_DISTILLATION;
    ck_assert(calc_job_runs(&job, CALC_JOB_TEACHER) && !calc_job_old_pass(&job));
    job.roles.teacher.given = CALC_JOB_OFF;
    ck_assert(!calc_job_runs(&job, CALC_JOB_TEACHER));
}

CALC_TEST(roles_pools_and_objects_are_read)
{
    const char *text = "{\"pools\": [{\"name\": \"a\", \"chips\": 8}, {\"name\": \"b\"}],"
                       " \"roles\": {\"actor\": {\"pool\": \"a\", \"offload\": [],"
                       " \"execution\": {\"tensor_par\": 2}},"
                       " \"rollout\": {\"pool\": \"b\", \"execution\": \"serve.json\"},"
                       " \"critic\": null, \"reward\": {\"model\": \"qwen3-8B\"}}}";
    ck_assert_int_eq(parse(text), CALC_OK);
    ck_assert_int_eq(job.pools_count, 2);
    ck_assert_str_eq(job.pools[1].name, "b");
    ck_assert_int_eq(job.pools[0].chips, 8);
    ck_assert_str_eq(job.roles.rollout.execution, "serve.json");
    ck_assert_str_eq(job.roles.reward.model, "qwen3-8B");
    ck_assert(job.roles.actor.offload_given && job.roles.actor.offload == 0);
    ck_assert(strncmp(text + job.roles.actor.execution_at, "{\"tensor_par\": 2}",
                      job.roles.actor.execution_length) == 0);
    ck_assert_int_eq(job.roles.critic.given, CALC_JOB_OFF);
    ck_assert_int_eq(job.roles.teacher.given, CALC_JOB_SILENT);
    ck_assert(calc_job_runs(&job, CALC_JOB_REWARD));
}

CALC_TEST(names_lead_to_lengths_and_roles)
{
    ck_assert_int_eq(set("prompts=512"), CALC_OK);
    ck_assert_int_eq(set("response.mean=2000.5"), CALC_OK);
    ck_assert_int_eq(set("lengths.prompt=99"), CALC_OK);
    ck_assert_int_eq(set("prompt=100"), CALC_OK);
    ck_assert_int_eq(set("actor.micro_tokens=8192"), CALC_OK);
    ck_assert_int_eq(set("actor.offload=weights+optimizer"), CALC_OK);
    ck_assert_int_eq(set("rollout.execution=my.json"), CALC_OK);
    ck_assert_int_eq(set("critic=true"), CALC_OK);
    ck_assert_int_eq(set("reference=null"), CALC_OK);
    ck_assert_int_eq(set("kl=true"), CALC_OK);
    ck_assert_int_eq(job.prompts, 512);
    ck_assert_double_eq(job.lengths.response.mean, 2000.5);
    ck_assert_int_eq(job.lengths.prompt, 100);
    ck_assert_int_eq(job.roles.actor.micro_tokens, 8192);
    ck_assert(job.roles.actor.offload_given);
    ck_assert_int_eq(job.roles.actor.offload,
                     1 << CALC_JOB_OFFLOAD_OPTIMIZER | 1 << CALC_JOB_OFFLOAD_WEIGHTS);
    ck_assert_str_eq(job.roles.rollout.execution, "my.json");
    ck_assert(calc_job_runs(&job, CALC_JOB_CRITIC) && !calc_job_runs(&job, CALC_JOB_REFERENCE));
}

CALC_TEST(names_of_other_documents_are_not_known)
{
    static const char *const names[] = {"tp=8",     "actor.tp=8",  "pools[0].chips=8",
                                        "source=x", "roles=1",     "",
                                        "=",        "prompts.x=1", "mem1.GiB=40"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        bool known = true;
        ck_assert_int_eq(calc_job_set(&job, names[i], &known, &errors), CALC_OK);
        ck_assert_msg(!known, "%s", names[i]);
    }
}

CALC_TEST_LOOP(wrong_assignments_leave_the_job_alone, 0, 4)
{
    static const char *const sets[] = {"prompts=0", "prompts=many", "kl=7", "rollout=5"};
    const calc_job before = job;
    ck_assert_int_ne(set(sets[_i]), CALC_OK);
    ck_assert_mem_eq(&before, &job, sizeof job);
    ck_assert(strncmp(errors.item[0].file, "--set ", 6) == 0);
}
