/** @file plan_write.h  Writes the files of `calc plan`: --out, --csv, --save-best, --html, and the
 *  mixed-integer program (--mps) that a solver may divide the best layout's layers by, too. */
#ifndef CALC_CLI_PLAN_PLAN_WRITE_H
#define CALC_CLI_PLAN_PLAN_WRITE_H

#include "calc.h"
#include "cli/plan/plan_task.h"
#include "io/output.h"
#include "io/text.h"

/** How many of them are standard output, so that the table is not: one at most is right. */
int calc_plan_write_stdouts(const calc_args *args);

/** Write those that are asked for. Every one is tried.
 *  @param result  with one layout at least
 *  @return CALC_OK, or the status of the first error */
CALC_MUST_USE calc_status calc_plan_write(const calc_plan_task *task,
                                          const calc_planner_result *result, calc_errors *errors);

/** The best layout. Borrows everything. */
typedef struct calc_plan_page_best {
    const char *app_name, *system_name;
    const calc_app *app;
    const calc_system *system; /**< of stages that name none, */
    const calc_exec *exec;     /**< which knows the others */
    const calc_stats *written; /**< what the document has of it, which must be what is found now;
                                    NULL: it is new */
} calc_plan_page_best;

/** Write the page: the plan, and for its best layout the same as `calc run --html`.
 *  @param plan  output of `calc plan --out`
 *  @return CALC_OK, or the status of an error that was added */
CALC_MUST_USE calc_status calc_plan_page_write(const char *path, const calc_plan_page_best *best,
                                               const calc_text *plan, calc_errors *errors);

/** --mps: write the program and its names. Nothing without the option. */
CALC_MUST_USE calc_status calc_plan_judge_mps(const calc_plan_task *task,
                                              const calc_planner_found *found, calc_errors *errors);

/** --solver: solve it, and report the result beside the result of the search. */
CALC_MUST_USE calc_status calc_plan_judge_write(calc_output *out, const calc_plan_task *task,
                                                const calc_planner_found *found,
                                                calc_errors *errors);

#endif
