/** @file job_load.h  Reads jobs of reinforcement learning (spec/job.h). */
#ifndef CALC_IO_JOB_LOAD_H
#define CALC_IO_JOB_LOAD_H

#include "spec/job.h"

/** Fill a job from `length` bytes of JSON; `name` is what errors call it. All errors are collected,
 *  with line and column; rules between fields are for calc_job_check().
 *  @return CALC_OK, or the status of the first error; *job is then unspecified */
CALC_MUST_USE calc_status calc_job_parse(calc_job *job, const char *text, size_t length,
                                         const char *name, calc_errors *errors);

/** Set a field by name: "prompts=64", "response.mean=2000", "actor.micro_tokens=8192",
 *  "pools[1].chips=8".
 *  @param known  set: whether the name is one of a job; without that nothing else is done
 *  @return CALC_OK, or the status of the error that was added */
CALC_MUST_USE calc_status calc_job_set(calc_job *job, const char *assignment, bool *known,
                                       calc_errors *errors);

#endif
