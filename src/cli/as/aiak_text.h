/** @file aiak_text.h  Strategies as AIAK's planner prints them: a literal of Python per line; or as
 *  JSON. */
#ifndef CALC_CLI_AS_AIAK_TEXT_H
#define CALC_CLI_AS_AIAK_TEXT_H

#include "aiak/search.h"
#include "io/output.h"

/** What the strategies are of; borrows everything. */
typedef struct calc_aiak_text {
    const char *model;                 /**< as AIAK names it */
    const char *chip[CALC_AIAK_CHIPS]; /**< of the task, likewise */
    bool rms, rope;                    /**< norms and positions of the model */
    const calc_aiak_task *task;
} calc_aiak_text;

/** Tokens per second of the whole job, rounded up as there. */
int64_t calc_aiak_throughput(int64_t batch, int64_t sequence, double total_s);

/** One strategy, in one line without its end.
 *  @param json  members are as in Python, texts in double quotes and None is null */
void calc_aiak_text_put(calc_output *out, const calc_aiak_text *text,
                        const calc_aiak_strategy *strategy, bool json);

#endif
