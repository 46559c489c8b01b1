/** @file step.h  A step of reinforcement learning: phases of roles that share pools of processors,
 *  what waits for what, and the memory of every phase. Equations: docs/post-training.md. */
#ifndef CALC_RL_STEP_H
#define CALC_RL_STEP_H

#include "rl/rollout.h"
#include "spec/job.h"

/** A role as it runs. */
typedef struct calc_rl_seat {
    bool runs;
    size_t pool;
    const calc_app *app;
    const calc_system *system;
    const calc_exec
        *exec; /**< checked; a pass takes its layout, and lengths and batch of the job */
} calc_rl_seat;

/** Everything that a step depends on. Borrows. */
typedef struct calc_rl_case {
    const calc_job *job; /**< checked */
    size_t pools;
    double chips[CALC_MAX_NETWORKS]; /**< of each pool */
    calc_rl_seat seat[CALC_JOB_ROLES];
} calc_rl_case;

/** X(NAME, text, key, role) */
#define CALC_RL_PHASE_LIST(X)                                                                      \
    X(ROLLOUT, "rollout", "rollout", ROLLOUT)                                                      \
    X(REWARD, "reward", "reward", REWARD)                                                          \
    X(OLD_LOGPROB, "old log-probs", "old_logprob", ACTOR)                                          \
    X(REFERENCE, "reference", "reference", REFERENCE)                                              \
    X(VALUES, "values", "values", CRITIC)                                                          \
    X(TEACHER, "teacher", "teacher", TEACHER)                                                      \
    X(CRITIC_UPDATE, "critic update", "critic_update", CRITIC)                                     \
    X(UPDATE, "update", "update", ACTOR)                                                           \
    X(SWITCH, "switch", "switch", ACTOR)                                                           \
    X(SYNC, "weight sync", "sync", ROLLOUT)
#define CALC_X_RL(name, ...) CALC_RL_##name,
typedef enum calc_rl_phase_index {
    CALC_RL_PHASE_LIST(CALC_X_RL) CALC_RL_PHASES
} calc_rl_phase_index;
#undef CALC_X_RL

/** A phase. */
typedef struct calc_rl_phase {
    bool runs;
    bool beside; /**< it runs while what takes longer does, and adds nothing to the step */
    size_t pool;
    double time_s;
    double
        need_bytes; /**< of the fullest processor, with what other roles keep there; 0: not known */
    double capacity_bytes;
} calc_rl_phase;

/** Statistics: X(name, unit, sentence). */
#define CALC_RL_STAT_LIST(X)                                                                       \
    X(step_time, "s", "time of a step")                                                            \
    X(sequences, "", "sequences that a step trains on")                                            \
    X(tokens, "tokens", "their tokens, prompts included")                                          \
    X(chips, "", "processors of all pools")                                                        \
    X(tokens_per_s, "tokens/s", "tokens over the time of a step")                                  \
    X(tokens_per_s_per_chip, "tokens/s", "the same for each processor")                            \
    X(staleness, "steps", "steps by which the weights of the rollout are older")                   \
    X(generate_time, "s", "what runs on the side of the rollout before the sync")                  \
    X(train_time, "s", "what runs on the side of the actor before the sync")                       \
    X(rollout_wait, "s", "the engines wait for the trainer")                                       \
    X(train_wait, "s", "the trainer waits for the rollout")                                        \
    X(prefill_time, "s", "prompts, within the rollout")                                            \
    X(tail_time, "s", "part of the rollout with less than a tenth of its sequences running")       \
    X(tail_share, "", "tail_time over the time of the rollout")                                    \
    X(floor_time, "s", "the longest response alone: no number of engines makes a rollout shorter") \
    X(engines, "", "replicas that generate")                                                       \
    X(running, "", "sequences that an engine runs at once")                                        \
    X(requests, "", "sequences of an engine in a step")                                            \
    X(longest, "tokens", "the longest response of a step")                                         \
    X(decode_step_time, "s", "a decoding step while most sequences run")                           \
    X(cache_tokens, "tokens", "that the cache of an engine has room for")                          \
    X(sync_bytes, "bytes", "weights that are sent")                                                \
    X(sync_tensors, "", "tensors that they are")                                                   \
    X(switch_bytes, "bytes", "moved to and from the host on the fullest processor")

enum { CALC_RL_REASONS = 8 };

/** A step. */
typedef struct calc_rl_step {
#define CALC_X_RL(name, unit, doc) double name;
    CALC_RL_STAT_LIST(CALC_X_RL)
#undef CALC_X_RL
    calc_rl_phase phase[CALC_RL_PHASES];
    double gain_s[CALC_MAX_NETWORKS]; /**< of a pool with one more processor: what it divides by its
                                           processors, where that is waited for */
    bool feasible;
    size_t reasons;
    char reason[CALC_RL_REASONS][256]; /**< why not */
} calc_rl_step;

/** Evaluate a step. "Does not fit" is an answer: .feasible, with .reason; the times are then as if
 *  it did, but for a rollout without room.
 *  @return CALC_OK; CALC_ERR_RULE where a layout does not take the sequences of the job, or roles
 *  and steps_off contradict each other */
CALC_MUST_USE calc_status calc_rl_step_of(const calc_rl_case *c, calc_rl_step *out,
                                          calc_errors *errors);

/* How long new weights take to the engines: fixed + a tensors + bytes / rate, but no
 * less than the bytes take on the wire, with the constants of each method fitted to published
 * times (docs/post-training.md). */

/** What a method takes. */
typedef struct calc_rl_sync_row {
    double fixed_s, tensor_s;
    double rate_byte_per_s; /**< at which a rank of the engines receives; INFINITY: bytes do not
                                 tell */
    bool sharded;           /**< a rank receives its part of the weights, not all of them */
} calc_rl_sync_row;

calc_rl_sync_row calc_rl_sync_row_of(calc_job_sync_method method);

/** Time of a sync [s].
 *  @param bytes      of a copy of the model, in the format that is sent
 *  @param ranks      that a copy is divided over in an engine
 *  @param network_byte_per_s  of the network between trainer and engines, for one rank */
double calc_rl_sync_s(calc_job_sync_method method, double tensors, double bytes, double ranks,
                      double network_byte_per_s);

/** The method that "auto" is. */
calc_job_sync_method calc_rl_sync_method(const calc_job *job, bool same_pool);

/** The name of a phase for people, and as a key. */
const char *calc_rl_phase_name(calc_rl_phase_index phase);
const char *calc_rl_phase_key(calc_rl_phase_index phase);

#endif
