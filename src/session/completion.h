/** @file completion.h  Layouts of which only some fields are said, completed: a sweep in which what
 *  is said is fixed, and the layout to start with of those that it finds (sweep_order.h). */
#ifndef CALC_SESSION_COMPLETION_H
#define CALC_SESSION_COMPLETION_H

#include "session/study_load.h"
#include "validate/residuals.h"

/** What is said, and who reads the documents. Borrows everything. */
typedef struct calc_completion {
    calc_study_source source; /**< who reads model, machine and software; the rest is set here */
    const calc_residuals *measured; /**< how sure it is what fits; NULL: it is not known */
    const char *text;               /**< of an execution that may leave keys out; NULL: none */
    size_t length;
    const char *path;       /**< what errors call it */
    const char *const *set; /**< assignments FIELD=VALUE of any of the documents */
    size_t set_count;
    /** Options of `calc sweep`, as typed; NULL: not given. */
    const char *procs, *batch, *compat, *framework, *objectives;
    /** Whether the framework, or the program that it is for, runs a layout, if that takes more than
     *  its rules: calc_sweep_options.runs. NULL: it does not. */
    calc_status (*runs)(const void *context, const calc_app *app, const calc_system *system,
                        const calc_exec *exec, int *known, bool *runs);
    const void *runs_context;
    const calc_system *system;
} calc_completion;

/** The layout that was chosen. Owns study and result; start with {0}. */
typedef struct calc_completed {
    calc_sweep_study study;
    calc_sweep_result result;
    bool found; /**< a layout has the values that are said: `exec` */
    bool fits;  /**< it can run; else it is the one that needs the least memory */
    calc_exec exec;
    const char *framework; /**< that had to run it; NULL: any */
    /** Where nothing says the processors: the smallest power of two from a node on, up to 4,096, on
     *  which a layout fits; and where nothing is said at all, four sequences for each; "": said. */
    char procs[24], batch[24];
} calc_completed;

/** Complete a layout.
 *  @return CALC_OK, also if there is none; or the status of an error that was added. *out must be
 *  freed in any case */
CALC_MUST_USE calc_status calc_completion_find(calc_completed *out, const calc_completion *in,
                                               calc_errors *errors);

/** All layouts that are found: the one to start with, and then at most `most` of the Pareto front,
 *  evenly spread.
 *  @param found  set: an array to be freed, of *count
 *  @return CALC_OK, or the status of the first error */
CALC_MUST_USE calc_status calc_completion_front(const calc_completion *in, size_t most,
                                                calc_exec **found, size_t *count,
                                                calc_errors *errors);

/** Calls `tell` with each field that was chosen, in the order of axes, apart from sizes of 1 and
 *  what is as if it were absent. @return whether there is any */
bool calc_completed_each(const calc_completed *completed,
                         void (*tell)(void *context, const calc_exec *exec, calc_axis axis),
                         void *context);

/** Free what it owns. Fine on {0}. */
void calc_completed_free(calc_completed *completed);

#endif
