/** @file plan_write.h  Writes the files of `calc plan`: --out, --csv, --save-best, --html, and the
 *  mixed-integer program (--mps) that a solver may divide the best layout's layers by, too. */
#ifndef CALC_CLI_PLAN_PLAN_WRITE_H
#define CALC_CLI_PLAN_PLAN_WRITE_H

#include "calc.h"
#include "cli/plan/plan_task.h"
#include "io/output.h"
#include "io/text.h"

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

#endif
