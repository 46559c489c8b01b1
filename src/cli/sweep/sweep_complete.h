/** @file sweep_complete.h  Completes a layout of which only some fields are said: the others are
 *  those of the layout that `calc sweep` would start with. */
#ifndef CALC_CLI_SWEEP_SWEEP_COMPLETE_H
#define CALC_CLI_SWEEP_SWEEP_COMPLETE_H

#include "cli/shell/inputs.h"

/** The rows of --procs and --batch of commands that complete layouts. */
#define CALC_COMPLETE_OPTS(X)                                                                      \
    X(PROCS, "procs", "N", .doc = "processors, where EXE does not say num_procs or is left out")   \
    X(BATCH, "batch", "MAX", .doc = "largest global batch, likewise, as for calc sweep")

/** The row of EXE of these commands. */
#define CALC_COMPLETE_EXE                                                                          \
    CALC_ARG_DOCUMENT("EXE", CALC_KIND_EXEC, .optional = true,                                     \
                      .doc = "how the model is laid out on the machine: likewise, or a name in "   \
                             "executions/; what it and --set leave out is as in the layout that "  \
                             "calc sweep would start with")

/** Let calc_inputs_load() complete layouts, with these values of --procs and --batch; NULL: none.
 */
void calc_sweep_completes_with(calc_inputs *inputs, const char *procs, const char *batch);

/** The same with the values of a command's options.
 *  @param procs, batch  rows of these options
 *  @param compat        rules of Calculon that the run follows, as typed; NULL: none */
void calc_sweep_completes(calc_inputs *inputs, const calc_args *args, int procs, int batch,
                          const char *compat);

/** Layouts of which only some fields are said, for inputs that calc_inputs_load() has completed:
 * the one to start with, and then at most `most` of the Pareto front, evenly spread.
 *  @param objectives  of the front, as for --objectives; NULL: the default
 *  @param found       set: an array to be freed, of *count
 *  @return CALC_OK, or the status of the first error */
CALC_MUST_USE calc_status calc_sweep_front_of(const calc_inputs *inputs, const char *const *set,
                                              size_t set_count, const char *objectives, size_t most,
                                              calc_exec **found, size_t *count,
                                              calc_errors *errors);

#endif
