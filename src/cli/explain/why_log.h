/** @file why_log.h  A measured run beside its prediction, for `calc why --log`: what the log says,
 * the range of comparable runs, and what would explain a time outside of it. */
#ifndef CALC_CLI_EXPLAIN_WHY_LOG_H
#define CALC_CLI_EXPLAIN_WHY_LOG_H

#include "cli/shell/inputs.h"
#include "formats/run_log.h"
#include "plan/why.h"

enum { CALC_WHY_LOG_CAUSES = 8 };

/** A cause that would explain the measured value alone. */
typedef struct calc_why_log_cause {
    char text[200]; /**< "activation_recompute none -> full", "bandwidth of networks[1] at 31 %" */
    double value;   /**< predicted with it */
    double off;     /**< distance from the measured value; of a rate, the logarithm of its factor */
    bool rate;      /**< a rate of the machine, and not an option of the software */
} calc_why_log_cause;

/** A quantity of the log beside its prediction, in SI units; of rates the time that goes with them.
 */
typedef struct calc_why_log_value {
    calc_log_what what;
    calc_log_summary log;
    double measured, predicted;
} calc_why_log_value;

typedef struct calc_why_log {
    const char *name, *program; /**< the file, borrowed; who wrote it */
    size_t count, causes;
    calc_why_log_value value[CALC_LOG_COUNT];      /**< the first one is what is explained */
    calc_why_log_cause cause[CALC_WHY_LOG_CAUSES]; /**< the likeliest first */
    double reach; /**< nine in ten comparable runs are within prediction * exp(-reach) and
                     exp(reach); NaN: too few */
    char of[200]; /**< which runs these are */
    int verdict;  /**< -1: faster than the range; 0: within, or there is none; 1: slower */
} calc_why_log;

/** Read a log and compare it with the prediction.
 *  @param why  changes of the layout (calc_why_find())
 *  @return CALC_OK; the status of calc_text_read() and calc_run_log_read(); CALC_ERR_RULE if the
 * log is of serving and the layout trains, or vice versa, if its batch is another, or the layout
 * cannot run */
CALC_MUST_USE calc_status calc_why_log_make(calc_why_log *out, const char *path,
                                            const calc_inputs *inputs, const calc_why *why,
                                            calc_errors *errors);

/** Write it for people. */
void calc_why_log_write(calc_output *out, const calc_why_log *log);

/** Write the member "log" of the open object. */
void calc_why_log_put(calc_put *put, const calc_why_log *log);

#endif
