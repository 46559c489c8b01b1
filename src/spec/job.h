/** @file job.h  A step of reinforcement learning as a document says it: roles that share pools of
 *  processors. Which roles run follows from the algorithm where the document is silent; nothing
 *  else does. */
#ifndef CALC_SPEC_JOB_H
#define CALC_SPEC_JOB_H

#include "spec/field.h"

/** The folder of these documents among the executions: "jobs/grpo". */
#define CALC_JOB_FOLDER "jobs/"

/** What rollout, passes and updates take longer than if all ranks and engines had alike: they wait
 *  for the longest sequences, and micro-batches are not full. It makes the geometric mean of
 *  predicted over measured steps 1 for NeMo-RL 0.4; no other release, and no phase, is part of it
 *  (docs/post-training.md). */
#define CALC_JOB_OVERHEAD 0.5
/** Spread of the lengths of responses where nothing is said. */
#define CALC_JOB_CV 0.8

/** X(NAME, text, old log-probabilities, reference, critic, teacher): the roles that run beside the
 *  actor and the rollout. */
#define CALC_JOB_ALGORITHM_LIST(X)                                                                 \
    X(GRPO, "grpo", true, true, false, false)                                                      \
    X(PPO, "ppo", true, true, true, false)                                                         \
    X(DAPO, "dapo", true, false, false, false)                                                     \
    X(GSPO, "gspo", true, true, false, false)                                                      \
    X(DR_GRPO, "dr_grpo", true, false, false, false)                                               \
    X(RLOO, "rloo", true, true, false, false)                                                      \
    X(REINFORCE, "reinforce", false, true, false, false)                                           \
    X(DISTILLATION, "distillation", false, false, false, true)

#define CALC_JOB_OLD_LOGPROB_LIST(X)                                                               \
    X(AUTO, "auto")                                                                                \
    X(TRAINER, "trainer")                                                                          \
    X(ENGINE, "engine")                                                                            \
    X(NONE, "none")

#define CALC_JOB_OFFLOAD_LIST(X)                                                                   \
    X(OPTIMIZER, "optimizer")                                                                      \
    X(GRADIENTS, "gradients")                                                                      \
    X(WEIGHTS, "weights")

/** How weights are sent; rl/step.c has what each takes. */
#define CALC_JOB_SYNC_METHOD_LIST(X)                                                               \
    X(AUTO, "auto")                                                                                \
    X(IPC_BUCKETS, "ipc_buckets")                                                                  \
    X(BUCKETS, "buckets")                                                                          \
    X(PER_TENSOR, "per_tensor")                                                                    \
    X(SHARDS, "shards")                                                                            \
    X(TRANSFER, "transfer")                                                                        \
    X(HOST, "host")

#define CALC_X_JOB(name, ...) CALC_JOB_ALGORITHM_##name,
typedef enum calc_job_algorithm {
    CALC_JOB_ALGORITHM_LIST(CALC_X_JOB) CALC_JOB_ALGORITHM_COUNT
} calc_job_algorithm;
#undef CALC_X_JOB
#define CALC_X_JOB(name, text) CALC_JOB_OLD_LOGPROB_##name,
typedef enum calc_job_old_logprob {
    CALC_JOB_OLD_LOGPROB_LIST(CALC_X_JOB) CALC_JOB_OLD_LOGPROB_COUNT
} calc_job_old_logprob;
#undef CALC_X_JOB
#define CALC_X_JOB(name, text) CALC_JOB_SYNC_##name,
typedef enum calc_job_sync_method {
    CALC_JOB_SYNC_METHOD_LIST(CALC_X_JOB) CALC_JOB_SYNC_METHOD_COUNT
} calc_job_sync_method;
#undef CALC_X_JOB
#define CALC_X_JOB(name, text) CALC_JOB_OFFLOAD_##name,
enum { CALC_JOB_OFFLOAD_LIST(CALC_X_JOB) CALC_JOB_OFFLOAD_COUNT };
#undef CALC_X_JOB
typedef int64_t calc_job_offload; /**< a bit each */

/** The roles, in the order of the members of calc_job_roles. */
#define CALC_JOB_ROLE_LIST(X)                                                                      \
    X(ACTOR, "actor")                                                                              \
    X(ROLLOUT, "rollout")                                                                          \
    X(REFERENCE, "reference")                                                                      \
    X(CRITIC, "critic")                                                                            \
    X(REWARD, "reward")                                                                            \
    X(TEACHER, "teacher")
#define CALC_X_JOB(name, text) CALC_JOB_##name,
typedef enum calc_job_role_index {
    CALC_JOB_ROLE_LIST(CALC_X_JOB) CALC_JOB_ROLES
} calc_job_role_index;
#undef CALC_X_JOB

/** Whether a document says that a role runs. */
typedef enum calc_job_given {
    CALC_JOB_SILENT, /**< it says nothing */
    CALC_JOB_RUNS,
    CALC_JOB_OFF /**< null */
} calc_job_given;

#define CALC_TABLE(name, label) typedef struct calc_##name {
#define CALC_TABLE_ROW(of, name, type, arg, ...) CALC_MEMBER_##type(name, arg)
#define CALC_JOB_MEMBERS(...) __VA_ARGS__
#define CALC_END(name, label)                                                                      \
    }                                                                                              \
    calc_##name;
#include "calc/job_parts.fields.h"
#undef CALC_TABLE
#undef CALC_TABLE_ROW
#undef CALC_JOB_MEMBERS
#undef CALC_END
#define CALC_FIELD(name, type, arg, ...) CALC_MEMBER_##type(name, arg)
/** The job. */
typedef struct calc_job {
#include "calc/job.fields.h"
} calc_job;
#undef CALC_FIELD

/** "actor" */
const char *calc_job_role_name(calc_job_role_index role);
/** The role of that name; CALC_JOB_ROLES if there is none. */
calc_job_role_index calc_job_role_find(const char *name);
/** A role of a job. */
const calc_job_role *calc_job_role_of(const calc_job *job, calc_job_role_index role);
/** The same, to change it. */
calc_job_role *calc_job_role_in(calc_job *job, calc_job_role_index role);

/** A job of which nothing is said. */
void calc_job_init(calc_job *job);

/** Whether a role runs: as the job says, else as its algorithm does. */
bool calc_job_runs(const calc_job *job, calc_job_role_index role);

/** Whether the trainer computes the log-probabilities of the rollout's weights. */
bool calc_job_old_pass(const calc_job *job);

/** The rules between the fields of a job.
 *  @return CALC_OK, or CALC_ERR_RULE with an error that has a pointer */
CALC_MUST_USE calc_status calc_job_check(const calc_job *job, calc_errors *errors);

#endif
