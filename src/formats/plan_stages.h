/** @file plan_stages.h  Converts listed stages (calc_exec.stages) to and from the form of
 *  frameworks: the chunks of all stages along the model, with all values explicit. */
#ifndef CALC_FORMATS_PLAN_STAGES_H
#define CALC_FORMATS_PLAN_STAGES_H

#include "formats/plan.h"

/** Lists every chunk of every stage along the model: its blocks, its kind of recomputation and the
 *  number of blocks that recompute. Stages that are not listed hold equally many blocks.
 *  @param out  room for CALC_MAX_PLACES
 *  @return the number of chunks; 0 if there are too many, or a chunk is not a whole number of
 *  blocks */
int64_t calc_plan_places(const calc_app *app, const calc_exec *exec, calc_stage_run *out);

/** Moves values common to all stages into the execution and keeps the rest in the list; removes the
 *  list if nothing is left. */
void calc_plan_stages_resolve(const calc_app *app, calc_exec *exec);

/** Adds the list to a plan that is otherwise finished. Both are resolved. */
void calc_plan_stages_from(calc_plan *plan, const calc_app *app, const calc_exec *exec);

/** The inverse: adds the list to an execution that is otherwise finished.
 *  @return CALC_OK, or CALC_ERR_RULE with an error added */
CALC_MUST_USE calc_status calc_plan_stages_apply(const calc_plan *plan, const calc_app *app,
                                                 calc_exec *exec, calc_errors *errors);

/** Reports the parts of the stages that another execution does not have, where either lists them.
 *  Both are resolved.
 *  @param tell  as for calc_export_lost()
 *  @return the number of reports */
size_t calc_plan_stages_lost(const calc_app *app, const calc_exec *exec, const calc_exec *back,
                             void (*tell)(void *context, const char *field, const char *value,
                                          bool layout),
                             void *context);

/** Reads and writes lists in texts for rows of frameworks: offsets of blocks from an even split,
 *  and numbers of recomputed blocks, one list per chunk if there are several. Both forms can be
 *  read.
 *  @param text  CALC_ROW_TEXT_SIZE bytes
 *  @return writing: whether there is something to write; reading: whether it was understood */
bool calc_plan_offsets_write(const calc_plan *plan, char *text, size_t size);
bool calc_plan_recomputed_write(const calc_plan *plan, char *text, size_t size);
bool calc_plan_list_read(const char *text, calc_plan_list *list);

#endif
