/** @file run_log.h  Reads what runs leave behind: logs of trainers, histories of W&B, results of
 * benchmarks of servers. A table says which quantity a program prints behind which words. */
#ifndef CALC_FORMATS_RUN_LOG_H
#define CALC_FORMATS_RUN_LOG_H

#include "io/text.h"

/* clang-format off */
/** What is read, and what predicts it: X(NAME, label, statistic, rate, unit); of a rate also the time that goes
 *  with it. Times and rates of runs come first, then what is shown beside them, then parts of a step. */
#define CALC_LOG_LIST(X)                                                                           \
    X(STEP_TIME, "step", total_time, total_time, TIME)                                             \
    X(TOKENS_PER_S_PER_PROC, "step", total_time, tokens_per_s_per_proc, RATE)                      \
    X(SAMPLES_PER_S, "step", total_time, sample_rate, RATE)                                        \
    X(TPOT, "per output token", tpot, tpot, TIME)                                                  \
    X(TTFT, "first token", ttft, ttft, TIME)                                                       \
    X(OUTPUT_TOKENS_PER_S, "output tokens/s", output_tokens_per_s, output_tokens_per_s, NUMBER)    \
    X(MEMORY, "memory", proc_mem_tier1_cap_req, proc_mem_tier1_cap_req, BYTES)                     \
    X(BATCH, NULL, total_time, total_time, NUMBER)                                                 \
    X(OPTIMIZER, "optimizer", optim_step_time, optim_step_time, TIME)                              \
    X(GRADIENTS, "gradients", dp_comm_exposed_time, dp_comm_exposed_time, TIME)                    \
    X(PASSES, "forward and backward", total_time, total_time, TIME) /* less these two */
/* clang-format on */

typedef enum calc_log_what {
#define CALC_X(name, ...) CALC_LOG_##name,
    CALC_LOG_LIST(CALC_X)
#undef CALC_X
        CALC_LOG_COUNT
} calc_log_what;

/** The values of a quantity, in SI units, in the order of the file. */
typedef struct calc_log_series {
    const char *program; /**< who prints it: "Megatron-LM"; NULL: there are no values */
    double *value;       /**< owned */
    size_t count, capacity;
} calc_log_series;

/** Start with {0}. */
typedef struct calc_run_log {
    calc_log_series series[CALC_LOG_COUNT]; /**< of each quantity */
} calc_run_log;

/** Reads a log: any text, JSON, or CSV with names in the first row. Of rows of the table for the
 * same quantity the first that matches anywhere counts.
 *  @param text  decoded in place
 *  @return CALC_OK, CALC_ERR_UNSUPPORTED if it has no time or rate of a run, or CALC_ERR_NOMEM */
CALC_MUST_USE calc_status calc_run_log_read(calc_run_log *log, calc_text *text, const char *name,
                                            calc_errors *errors);

/** The arguments that Megatron-LM, and what is built on it, prints when it starts ("name .....
 * value" between "arguments" and "end of arguments"), as a command with these options, each in the
 * line of the log that has it. An argument that is off is the option that switches it off, where
 * there is one; vocabulary and processors are those that the log says. Or the configuration that
 * torchtitan (print_config) and NeMo print, as the document that it is.
 *  @param command  filled, to be freed; as it was if the text has neither
 *  @return CALC_OK or CALC_ERR_NOMEM */
CALC_MUST_USE calc_status calc_run_log_command(const calc_text *log, calc_text *command,
                                               calc_errors *errors);

/** Frees the values; fine on {0}. */
void calc_run_log_free(calc_run_log *log);

/** A series without its start. */
typedef struct calc_log_summary {
    double median;
    size_t records, warm_up; /**< that count; that are left out at the start */
} calc_log_summary;

/** Leaves out the start of a run, where it compiles and allocates: of four records and more the
 * first, and those after it, up to half of all, that differ by 10 % and more from the median of the
 * second half. The rest counts, slow steps included: the median does not mind a few.
 *  @param series  of one value or more; sorted in part */
calc_log_summary calc_log_summarize(calc_log_series *series);

#endif
