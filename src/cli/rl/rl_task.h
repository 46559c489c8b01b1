/** @file rl_task.h  A job of reinforcement learning with the documents of its roles: what the job
 *  says, what the command line says, and layouts completed as calc sweep would. */
#ifndef CALC_CLI_RL_RL_TASK_H
#define CALC_CLI_RL_RL_TASK_H

#include "cli/shell/inputs.h"
#include "rl/step.h"

/** Options that say what the job is. */
typedef struct calc_rl_words {
    const char *app, *system;     /**< of the command line */
    const char *job;              /**< NULL: none */
    int64_t procs, rollout_procs; /**< 0: not given */
    const char *const *set;
    size_t set_count;
    bool silent; /**< do not say how layouts were completed */
} calc_rl_words;

/** A role: its own documents, or those of the role that it is like. */
typedef struct calc_rl_member {
    calc_inputs *inputs; /**< owned by one of those that share them */
    bool owns;
    char **set; /**< assignments of its documents, owned */
    size_t set_count;
    char procs[24], batch[24]; /**< --procs and --batch of what is completed */
} calc_rl_member;

/** The job. Start with {0}; free with calc_rl_task_free(). */
typedef struct calc_rl_task {
    calc_job job;
    calc_input document; /**< of the job; path "" without one */
    calc_rl_member member[CALC_JOB_ROLES];
    size_t pools;
    const char *pool_name[CALC_MAX_NETWORKS];
    const char *pool_system[CALC_MAX_NETWORKS];
    int64_t chips[CALC_MAX_NETWORKS];
    calc_rl_case problem; /**< borrows the rest */
} calc_rl_task;

/** Read the job and apply what the command line says of it.
 *  @return CALC_OK, or the status of the first error, all of which have a place */
CALC_MUST_USE calc_status calc_rl_task_read(calc_rl_task *task, const calc_rl_words *words,
                                            calc_errors *errors);

/** Find, read and complete the documents of the roles, and fill task->problem. */
CALC_MUST_USE calc_status calc_rl_task_load(calc_rl_task *task, const calc_rl_words *words,
                                            calc_errors *errors);

/** Give errors with pointers into the job their place: the assignment, or line and column. */
void calc_rl_task_locate(const calc_rl_task *task, const calc_rl_words *words, calc_errors *errors);

void calc_rl_task_free(calc_rl_task *task);

#endif
