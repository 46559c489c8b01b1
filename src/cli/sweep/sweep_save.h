/** @file sweep_save.h  Runs a sweep in parts: --checkpoint, --resume, --shard, and --merge, which
 *  puts the parts together. */
#ifndef CALC_CLI_SWEEP_SWEEP_SAVE_H
#define CALC_CLI_SWEEP_SWEEP_SAVE_H

#include "checkpoint.h"
#include "cli/shell/opt.h"
#include "cli/sweep/sweep_study.h"
#include "ranks.h"

/** Values of the options. Start with {0}; free with calc_sweep_save_free(). */
typedef struct calc_sweep_save {
    calc_saving saving;
    double every_s;    /**< seconds between checkpoints */
    const char **part; /**< files to merge instead of sweeping */
    size_t parts;      /**< 0: sweep */
    bool is_part;      /**< --out is a part, which the sweep itself writes */
} calc_sweep_save;

/** Whether an option of calc sweep defines the space, and not only how to sweep and where to write:
 * the words of a part have no others. */
bool calc_sweep_save_defines(int opt);

/** Read the options. @return CALC_OK, CALC_ERR_RANGE or CALC_ERR_NOMEM with an error */
CALC_MUST_USE calc_status calc_sweep_save_load(calc_sweep_save *save, const calc_args *args,
                                               calc_errors *errors);

/** Check how the options combine. @return the mistake; NULL if there is none
 *  @param ranks  processes that share the sweep */
const char *calc_sweep_save_complaint(const calc_args *args, int ranks);

/** Sweep, or merge. @param options  of the study, with callbacks
 *  @return see calc_ranks_sweep() and calc_parts_merge() */
CALC_MUST_USE calc_status calc_sweep_save_run(const calc_sweep_save *save,
                                              const calc_sweep_study *study,
                                              const calc_sweep_options *options, calc_ranks *ranks,
                                              calc_sweep_result *result, calc_errors *errors);

/** Free what it owns. Fine on {0}. */
void calc_sweep_save_free(calc_sweep_save *save);

#endif
