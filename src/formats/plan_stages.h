/** @file plan_stages.h  Stages that are listed (calc_exec.stages) in the words of frameworks: the
 *  chunks of all stages along the model, with nothing left to the execution. */
#ifndef CALC_FORMATS_PLAN_STAGES_H
#define CALC_FORMATS_PLAN_STAGES_H

#include "formats/plan.h"

/** Every chunk of every stage along the model: its blocks, what it recomputes and in how many of
 *  them. Stages that are not listed hold equally many.
 *  @param out  room for CALC_MAX_PLACES
 *  @return how many; 0 if they are too many, or it cannot be said of each in whole blocks */
int64_t calc_plan_places(const calc_app *app, const calc_exec *exec, calc_stage_run *out);

/** Say what all stages have in common in the execution, and only the rest in the list; no list if
 *  nothing is left. */
void calc_plan_stages_resolve(const calc_app *app, calc_exec *exec);

/** Say the list in a plan that is otherwise finished. Both resolved. */
void calc_plan_stages_from(calc_plan *plan, const calc_app *app, const calc_exec *exec);

/** The opposite, in an execution that is otherwise finished.
 *  @return CALC_OK, or CALC_ERR_RULE with an error added */
CALC_MUST_USE calc_status calc_plan_stages_apply(const calc_plan *plan, const calc_app *app,
                                                 calc_exec *exec, calc_errors *errors);

/** Tell what of a list of stages another execution does not say. Both resolved.
 *  @param tell  as for calc_export_lost()
 *  @return how many were told */
size_t calc_plan_stages_lost(const calc_app *app, const calc_exec *exec, const calc_exec *back,
                             void (*tell)(void *context, const char *field, const char *value,
                                          bool layout),
                             void *context);

/** Lists in texts, for rows of frameworks: offsets of blocks from an even split, and blocks that
 *  recompute, a list per chunk where there are several; read with or without.
 *  @param text  CALC_ROW_TEXT_SIZE bytes
 *  @return whether there is something to write; whether it was understood */
bool calc_plan_offsets_write(const calc_plan *plan, char *text, size_t size);
bool calc_plan_recomputed_write(const calc_plan *plan, char *text, size_t size);
bool calc_plan_list_read(const char *text, calc_plan_list *list);

#endif
