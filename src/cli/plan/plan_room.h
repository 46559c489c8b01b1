/** @file plan_room.h  Chooses the part of the memory that a plan fills: nine of ten comparable
 *  measured runs would have fitted in it (validate/fits.h). --all-memory asks for all of it; a
 *  layout that is planned to the last byte is as likely as not to run out of memory. */
#ifndef CALC_CLI_PLAN_PLAN_ROOM_H
#define CALC_CLI_PLAN_PLAN_ROOM_H

#include "cli/plan/plan_task.h"
#include "io/output.h"

/** Fill task->planned: the chips with as much memory as is planned for. */
void calc_plan_room_take(calc_plan_task *task);

/** Put what was found on the chips as they are: of `chip`, and those that its stages name. */
void calc_plan_room_give(const calc_plan_task *task, int chip, calc_exec *exec, calc_stats *stats);

/** Whether some of the memory is left free. */
bool calc_plan_room_left(const calc_plan_task *task);

/** A line that says how much of which chip, where some is left free. */
void calc_plan_room_write(calc_output *out, const calc_plan_task *task);

#endif
