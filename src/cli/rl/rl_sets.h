/** @file rl_sets.h  The assignments of a role's documents: what the job says of a layout that is to
 *  be completed, the members of an execution that it holds, and what the command line says. */
#ifndef CALC_CLI_RL_RL_SETS_H
#define CALC_CLI_RL_RL_SETS_H

#include "cli/rl/rl_task.h"

/** Whom an assignment of the command line is for: that of a role begins with its name; other fields
 *  of an execution are the actor's, of its object `inference` the rollout's; of models and machines
 *  everybody's.
 *  @return what is assigned, without the role; NULL: not for this role, or of the job */
const char *calc_rl_sets_for(const calc_rl_task *task, calc_job_role_index role, const char *text);

/** Fill the assignments of a role, and let its inputs complete a layout that is not whole. A whole
 *  one says how many processors its pool has, if nothing else does. */
CALC_MUST_USE calc_status calc_rl_sets_make(calc_rl_task *task, const calc_rl_words *words,
                                            calc_job_role_index role, calc_errors *errors);

#endif
