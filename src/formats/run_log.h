/** @file run_log.h  Reads what runs leave behind: logs of trainers, histories of W&B, results of
 * benchmarks of servers. A table says which quantity a program prints behind which words. */
#ifndef CALC_FORMATS_RUN_LOG_H
#define CALC_FORMATS_RUN_LOG_H

#include "io/text.h"

/** What is read: X(NAME). */
#define CALC_LOG_LIST(X)                                                                           \
    X(STEP_TIME)             /* seconds of a step of training */                                   \
    X(TOKENS_PER_S_PER_PROC) /* of training */                                                     \
    X(SAMPLES_PER_S)         /* of training, of all processors */                                  \
    X(TPOT)                  /* of serving: seconds per output token of a request */               \
    X(TTFT)                  /* seconds to the first one */                                        \
    X(OUTPUT_TOKENS_PER_S)   /* of all requests */                                                 \
    X(MEMORY)                /* bytes of a processor */                                            \
    X(BATCH)                 /* sequences of a step */                                             \
    X(OPTIMIZER)             /* seconds of the optimizer in a step */                              \
    X(GRADIENTS)             /* seconds in which a step waits for the reduction of gradients */    \
    X(PASSES)                /* seconds of forward and backward in a step */

typedef enum calc_log_what {
#define CALC_X(name) CALC_LOG_##name,
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

/** Reads a log: any text, lines of JSON, one JSON document, or a CSV file with names in the first
 * row. Of the rows of the table for a quantity, the first that matches anywhere counts.
 *  @param text  decoded in place
 *  @param name  what errors call it
 *  @return CALC_OK, CALC_ERR_UNSUPPORTED if it has no time or rate of a run, or CALC_ERR_NOMEM */
CALC_MUST_USE calc_status calc_run_log_read(calc_run_log *log, calc_text *text, const char *name,
                                            calc_errors *errors);

/** Frees the values; fine on {0}. */
void calc_run_log_free(calc_run_log *log);

/** A series without its start. */
typedef struct calc_log_summary {
    double median, low,
        high;       /**< of the records that count; low and high hold eight in ten of them */
    size_t records; /**< that count */
    size_t warm_up; /**< left out at the start */
    size_t slow;    /**< that count, and differ from the median by a quarter and more */
} calc_log_summary;

/** Leaves out the start of a run, where it compiles, allocates and tunes: up to half of the
 * records, namely the first where there are four or more, and those after it that differ by 10 %
 * and more from the median of the second half. The rest counts, slow steps included: the median
 * does not mind a few.
 *  @param series  of one value or more; left sorted */
calc_log_summary calc_log_summarize(calc_log_series *series);

#endif
