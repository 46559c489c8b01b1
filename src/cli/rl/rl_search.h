/** @file rl_search.h  Searches placements and layouts of a job: all roles on the same processors,
 * or the engines on a part of them, and for actor and engines every pair of layouts of the fronts
 * that calc sweep finds for each. */
#ifndef CALC_CLI_RL_RL_SEARCH_H
#define CALC_CLI_RL_RL_SEARCH_H

#include "cli/rl/rl_task.h"

/** A pair of layouts in a placement. */
typedef struct calc_rl_choice {
    int64_t rollout_chips; /**< 0: on the processors of the trainer */
    int64_t steps_off;
    calc_exec actor, rollout;
    char actor_text[128], rollout_text[128]; /**< as they are shown */
    calc_rl_step step;
} calc_rl_choice;

/** The best of each placement that fits, the fastest first. Owns its list. Start with {0}. */
typedef struct calc_rl_found {
    const calc_rl_words *words; /**< what was asked */
    size_t count;
    calc_rl_choice *choice;
    size_t tried;           /**< steps evaluated */
    size_t top;             /**< choices kept of each placement, whose layouts read differently */
    double lack_bytes;      /**< memory that the nearest of those that do not fit lacks; 0: none */
    calc_rl_choice nearest; /**< this one */
} calc_rl_found;

/** "tp=4 pp=1 dp=8": the sizes of a layout above 1, and of training its micro-batch and what it
 *  recomputes. @return text */
char *calc_rl_layout_text(const calc_exec *exec, char *text, size_t size);

/** Search the placements of a job: that of its document if it has pools, else all.
 *  @return CALC_OK, or the status of the first error */
CALC_MUST_USE calc_status calc_rl_search(const calc_rl_words *words, calc_rl_found *found,
                                         calc_errors *errors);

void calc_rl_found_free(calc_rl_found *found);

#endif
