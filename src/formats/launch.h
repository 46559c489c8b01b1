/** @file launch.h  Launch files of reinforcement learning as jobs (spec/job.h), and jobs as launch
 *  files. A table per framework gives its key for each thing that a launch says; the layouts of
 *  actor and engines are read by the tables of frameworks (framework.h). */
#ifndef CALC_FORMATS_LAUNCH_H
#define CALC_FORMATS_LAUNCH_H

#include "formats/framework.h"
#include "formats/import.h"
#include "io/output.h"
#include "spec/job.h"

/** What launch files say, X(NAME, field of the job that it is; NULL: others follow from it, form).
 */
#define CALC_LAUNCH_LIST(X)                                                                        \
    X(MODEL, NULL, NAME) /* of the actor, as the framework names it */                             \
    X(CRITIC_MODEL, NULL, NAME)                                                                    \
    X(TEACHER_MODEL, NULL, NAME) /* its outputs are all that is trained on */                      \
    X(REWARD_MODEL, NULL, NAME)                                                                    \
    X(REWARD_ON, NULL, NUMBER)                                                                     \
    X(ALGORITHM, "algorithm", CHOICE)                                                              \
    X(LOSS, "algorithm", CHOICE) /* an algorithm, by its loss */                                   \
    X(PROMPTS, "prompts", NUMBER)                                                                  \
    X(SAMPLES, "samples", NUMBER)                                                                  \
    X(MINI_BATCH, "mini_batch", NUMBER)                                                            \
    X(MINI_PROMPTS, NULL, NUMBER) /* prompts of an optimizer step */                               \
    X(MINI_STEPS, NULL, NUMBER)   /* optimizer steps of a rollout */                               \
    X(QUEUED, NULL, NUMBER)     /* optimizer steps that the trainer takes from a queue at once */  \
    X(SYNC_STEPS, NULL, NUMBER) /* how often it does before weights are sent */                    \
    X(STALENESS, NULL, NUMBER)  /* share of a step that is older than the weights */               \
    X(EPOCHS, "epochs", NUMBER)                                                                    \
    X(ASYNC, NULL, NUMBER)                                                                         \
    X(STEPS_OFF, "steps_off", NUMBER)                                                              \
    X(KL, NULL, NUMBER) /* a switch or a coefficient */                                            \
    X(KL_REWARD, NULL, NUMBER)                                                                     \
    X(OLD, "old_logprob", WORD)                                                                    \
    X(PROMPT_MAX, NULL, NUMBER)                                                                    \
    X(RESPONSE_MAX, NULL, NUMBER)                                                                  \
    X(TOTAL_MAX, NULL, NUMBER)       /* of prompt and response */                                  \
    X(SPREAD, "response.cv", NUMBER) /* 0: all responses reach the cap */                          \
    X(PACKED, NULL, NUMBER)          /* micro-batches are of so many tokens, not sequences */      \
    X(MICRO_TOKENS, "actor.micro_tokens", TOKENS)                                                  \
    X(FORWARD_TOKENS, "actor.forward_tokens", TOKENS)                                              \
    X(REFERENCE_TOKENS, "reference.forward_tokens", TOKENS)                                        \
    X(COLOCATED, NULL, NUMBER)                                                                     \
    X(NODES, NULL, NUMBER)                                                                         \
    X(NODE_PROCS, NULL, NUMBER)                                                                    \
    X(ROLLOUT_NODES, NULL, NUMBER)                                                                 \
    X(ROLLOUT_NODE_PROCS, NULL, NUMBER)                                                            \
    X(ROLLOUT_PROCS, NULL, NUMBER)                                                                 \
    X(ENGINES, NULL, NUMBER)                                                                       \
    X(REFERENCE_NODES, NULL, NUMBER)                                                               \
    X(REFERENCE_NODE_PROCS, NULL, NUMBER)                                                          \
    X(REFERENCE_BESIDE, NULL, NUMBER) /* on the actor's processors */                              \
    X(CRITIC_NODES, NULL, NUMBER)                                                                  \
    X(CRITIC_NODE_PROCS, NULL, NUMBER)                                                             \
    X(REWARD_NODES, NULL, NUMBER)                                                                  \
    X(REWARD_NODE_PROCS, NULL, NUMBER)                                                             \
    X(REWARD_BESIDE, NULL, NUMBER) /* on the critic's */                                           \
    X(SLEEP, "rollout.sleep", NUMBER)                                                              \
    X(OFFLOAD_WEIGHTS, NULL, NUMBER)                                                               \
    X(OFFLOAD_GRADIENTS, NULL, NUMBER)                                                             \
    X(OFFLOAD_OPTIMIZER, NULL, NUMBER)                                                             \
    X(OFFLOAD_ALL, NULL, NUMBER)                                                                   \
    X(REFERENCE_OFFLOAD, NULL, NUMBER)                                                             \
    X(BUCKET_BYTES, "sync.bucket_bytes", NUMBER)                                                   \
    X(BUCKET_MB, "sync.bucket_bytes", MIB)

#define CALC_X_LAUNCH(name, path, form) CALC_LAUNCH_##name,
typedef enum calc_job_launch_member {
    CALC_LAUNCH_LIST(CALC_X_LAUNCH) CALC_LAUNCH_COUNT
} calc_job_launch_member;
#undef CALC_X_LAUNCH

/** How a field of the job is said. */
typedef enum calc_job_launch_form {
    CALC_LAUNCH_NUMBER_FORM,
    CALC_LAUNCH_NAME_FORM,   /**< of a model, as the framework names it */
    CALC_LAUNCH_WORD_FORM,   /**< a word of the field */
    CALC_LAUNCH_CHOICE_FORM, /**< likewise; words that the job lacks are told */
    CALC_LAUNCH_TOKENS_FORM, /**< tokens of a processor's micro-batch: calc_job_launch_ranks */
    CALC_LAUNCH_MIB_FORM     /**< MiB */
} calc_job_launch_form;

/** The fields and their forms, by calc_job_launch_member. */
extern const struct calc_job_launch_field {
    const char *path;
    calc_job_launch_form form;
} calc_job_launch_fields[];

/** A key, and what it says. */
typedef struct calc_job_launch_row {
    const char *key;  /**< NULL: the framework always does it so */
    const char *also; /**< a second key, only read; NULL: none */
    calc_job_launch_member member;
    const char *words;  /**< words and their values, "gae=ppo grpo"; NULL: a number or a text */
    const char *preset; /**< value where no key says it; NULL: it is then unknown */
    const char *ahead; /**< the same for programs whose rollout is a step ahead; NULL: as .preset */
} calc_job_launch_row;

/** The tokens that a key says are of a processor; those of a replica are so many times more. */
typedef enum calc_job_launch_ranks {
    CALC_LAUNCH_REPLICA, /**< they are of a replica */
    CALC_LAUNCH_CONTEXT, /**< times ranks of context parallelism */
    CALC_LAUNCH_TENSOR   /**< and of tensor parallelism */
} calc_job_launch_ranks;

/** A framework. */
typedef struct calc_job_launch_format {
    const calc_framework *framework; /**< reads the actor's layout */
    const calc_framework *engine;    /**< reads that of an engine */
    const char *engine_keys;         /**< beginnings of the keys of an engine, between blanks */
    const calc_job_launch_row *rows;
    size_t count;
    const calc_unread_keys *unread; /**< before those of the framework */
    const char *switches;           /**< keys that turn off all that begin like them */
    const char *async;              /**< words of programs whose rollout is a step ahead */
    calc_job_launch_ranks ranks;
    bool within;               /**< the processors of the engines are some of those that are said */
    bool offloads;             /**< beside engines the trainer is always moved to the host */
    bool ahead_apart;          /**< roles are colocated without the engines where these are ahead */
    const char *command;       /**< starts the program; NULL: it is not written */
    const char *command_async; /**< the same where the rollout is a step ahead; NULL: none */
    const char *fsdp, *core;   /**< beginnings of keys that are only of FSDP, or Megatron Core */
    const char *engine_written; /**< before the engine's own options; NULL: they have rows */
    const char *extended; /**< part of keys that its own configuration has not: "+" adds them */
} calc_job_launch_format;

/** That of a framework; NULL: it is none of them. */
const calc_job_launch_format *calc_job_launch_format_of(const calc_framework *framework);

enum { CALC_LAUNCH_WORD_SIZE = 160 };

/** Takes the next of the words between blanks.
 *  @param at  moves on; NULL: there are none
 *  @return false if there are no more */
bool calc_job_launch_next(const char **at, char word[CALC_LAUNCH_WORD_SIZE]);

/** Whether a key begins with one of the words. */
bool calc_job_launch_begins(const char *key, const char *words);

/** The value of one of a row's words, "" where it says nothing.
 *  @param back  the word of a value instead
 *  @return whether it has it */
bool calc_job_launch_word(const calc_job_launch_row *row, const char *of, bool back, char *text,
                          size_t size);

/** What a launch file says. */
typedef struct calc_job_launch {
    calc_job job;
    calc_exec actor, rollout;
    char model[256]; /**< of the actor, as the framework names it; "": it is not said */
} calc_job_launch;

/** Leaves out what switches turn off, puts files that are named beside it before it, and replaces
 *  "${key}" and "${mul:a, b}" by what they stand for.
 *  @param import  its settings are read; with .unread told of files that are not there
 *  @param out     start with {0}; free with calc_settings_free() */
CALC_MUST_USE calc_status calc_job_launch_prepare(const calc_job_launch_format *format,
                                                  const calc_import *import, calc_settings *out,
                                                  calc_errors *errors);

/** Reads prepared settings. What is not read is told as calc_import_plan() does.
 *  @param text  of the file, where programs are looked for; NULL: none */
CALC_MUST_USE calc_status calc_job_launch_read(const calc_job_launch_format *format,
                                               const calc_import *import, const calc_text *text,
                                               calc_job_launch *launch, calc_errors *errors);

/** Writes a job with the layouts of actor and engines in it. */
void calc_job_launch_put_job(calc_output *out, const calc_job_launch *launch, const char *source);

/** The settings that start a job.
 *  @param launch  layouts are whole, and pools have their processors */
CALC_MUST_USE calc_status calc_job_launch_settings(const calc_job_launch_format *format,
                                                   const calc_job_launch *launch,
                                                   const calc_app *app, int64_t node_procs,
                                                   calc_settings *settings, calc_errors *errors);

/** Writes them as a script.
 *  @param model  a name, for people */
void calc_job_launch_write(calc_output *out, const calc_job_launch_format *format,
                           const calc_job_launch *launch, const calc_settings *settings,
                           const char *model);

/** Calls `tell` with each field of the job that the settings do not carry, as
 *  calc_export_lost() does.
 *  @param layout  without it, the actor would be laid out otherwise */
CALC_MUST_USE calc_status calc_job_launch_lost(
    const calc_job_launch_format *format, const calc_job_launch *launch, const calc_app *app,
    const calc_settings *settings,
    void (*tell)(void *context, const char *field, const char *value, bool layout), void *context);

#endif
