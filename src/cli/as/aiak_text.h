/** @file aiak_text.h  Writes strategies as AIAK's planner prints them, one Python literal per line,
 *  or as JSON. */
#ifndef CALC_CLI_AS_AIAK_TEXT_H
#define CALC_CLI_AS_AIAK_TEXT_H

#include "aiak/pipeline.h"
#include "io/output.h"

/** The context of the strategies. Borrows everything. */
typedef struct calc_aiak_text {
    const char *model; /**< AIAK's name for it */
    bool rms, rope;    /**< norms and positions of the model */
    const calc_aiak_task *task;
} calc_aiak_text;

/** Tokens per second of the whole job, rounded up as AIAK rounds them. */
int64_t calc_aiak_throughput(int64_t batch, int64_t sequence, double total_s);

/** Writes one strategy on one line, without the newline.
 *  @param json  same members as in Python, but with double quotes and null for None */
void calc_aiak_text_put(calc_output *out, const calc_aiak_text *text,
                        const calc_aiak_strategy *strategy, bool json);

enum { CALC_AIAK_TRACE_PASSES = 1000000 /**< most stages times micro-batches */ };

#endif
