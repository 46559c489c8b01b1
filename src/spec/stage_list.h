/** @file stage_list.h  Lists of stages (calc_exec.stages) place by place, and in runs of equal
 *  ones. */
#ifndef CALC_SPEC_STAGE_LIST_H
#define CALC_SPEC_STAGE_LIST_H

#include "calc.h"

/** Places of a list: stages, or stages times chunks. */
int64_t calc_stage_list_places(const calc_stage_list *list);

/** One run per place, .places of each 1.
 *  @param out  room for CALC_MAX_PLACES; further places are left out
 *  @return how many were written */
int64_t calc_stage_list_expand(const calc_stage_list *list, calc_stage_run *out);

/** Join equal neighbours to the runs of a list; .places of each counts.
 *  @return false if there are more than CALC_MAX_STAGE_RUNS of them */
bool calc_stage_list_pack(const calc_stage_run *run, int64_t count, calc_stage_list *list);

/** The chip of a name, as in calc_stage_run.chip; a new one is added.
 *  @return -1 if there is no room for it, or the name is too long */
int calc_stage_list_chip(calc_stage_list *list, const char *name);

/** The execution that results if all stages are like a run: with its recomputation, and no list.
 *  Full recomputation repeats all-gathers in any case (seq_par_ag_redo). */
calc_exec calc_stage_list_exec(const calc_exec *exec, const calc_stage_run *run);

/** The fewest blocks of a stage. */
int64_t calc_stage_list_fewest(const calc_app *app, const calc_exec *exec);

/** The part of a list on one chip: an execution with only the stages and processors on it, for the
 *  rules of its networks; pipeline_par 0 if there are none.
 *  @param chip  as in calc_stage_run */
calc_exec calc_stage_list_part(const calc_exec *exec, int chip);

/** The chip that all stages are on, as in calc_stage_run, if a list says nothing else: the
 * execution is one for that system. 0: none. */
int calc_stage_list_only(const calc_stage_list *list);

/** The system of a run. */
const calc_system *calc_stage_list_system(const calc_system *system, const calc_exec *exec,
                                          const calc_stage_run *run);

/** The execution in which stages and a prefill pool that name the system of the run no longer name
 *  it, so that they follow changes of that system.
 *  @return whether any stage is on it */
bool calc_stage_list_own(const calc_exec *exec, const calc_system *system, calc_exec *own);

/* Rules of stages that are listed (calc_exec.stages). */

/** Check a list, including the rules of every system and recomputation in it; violations are added
 *  to `errors`. The rest of the execution must have passed the other rules. */
void calc_rules_stages(const calc_app *app, const calc_system *system, const calc_exec *exec,
                       calc_errors *errors);

#endif
