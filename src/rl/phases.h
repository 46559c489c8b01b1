/** @file phases.h  The phases of a step one by one: their times, what they need of the memory
 * beside what other roles keep there, and what is moved between them. */
#ifndef CALC_RL_PHASES_H
#define CALC_RL_PHASES_H

#include "rl/step.h"

/** A step whose phases are made. Start with the first three members. */
typedef struct calc_rl_phases {
    const calc_rl_case *c;
    calc_rl_step *step; /**< gets the phases, the statistics that belong to one, and reasons */
    calc_errors *errors;
    calc_rl_tokens tokens;
    double sequences;                   /**< that are trained on */
    double rounds;                      /**< rollouts of a step */
    calc_stats trained[CALC_JOB_ROLES]; /**< of roles that train: an optimizer step */
    calc_stats forward[CALC_JOB_ROLES]; /**< of roles that have a pass without gradients */
    double engine_bytes;                /**< that the engine takes */
    calc_rl_rollout rollout;
} calc_rl_phases;

/** The name of a phase for people, and as a key. */
const char *calc_rl_phase_name(calc_rl_phase_index phase);
const char *calc_rl_phase_key(calc_rl_phase_index phase);

/** Make them. @return as calc_rl_step_of() */
CALC_MUST_USE calc_status calc_rl_phases_make(calc_rl_phases *phases);

#endif
