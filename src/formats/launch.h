/** @file launch.h  Launch files of reinforcement learning as jobs (spec/job.h), and jobs as launch
 *  files. A table per framework gives its key for each thing that a launch says; the layouts of
 *  actor and engines are read by the tables of frameworks (framework.h). */
#ifndef CALC_FORMATS_LAUNCH_H
#define CALC_FORMATS_LAUNCH_H

#include "formats/framework.h"
#include "formats/import.h"
#include "io/output.h"
#include "spec/job.h"

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
    const calc_framework *job;       /**< reads what else a job says: members JOB_ and others */
    const calc_framework
        *ahead;              /**< the same of programs whose rollout is a step ahead; NULL: it */
    const char *engine_keys; /**< beginnings of the keys of an engine, between blanks */
    const char *switches;    /**< keys that turn off all that begin like them */
    const char *async;       /**< parts of programs whose rollout is a step ahead, "a|b" */
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
CALC_MUST_USE calc_status calc_job_launch_lost(const calc_job_launch_format *format,
                                               const calc_job_launch *launch, const calc_app *app,
                                               const calc_settings *settings, calc_tell_lost *tell,
                                               void *context);

#endif
