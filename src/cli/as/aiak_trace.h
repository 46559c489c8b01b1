/** @file aiak_trace.h  Writes the step of an AIAK strategy as a trace for Chrome and Perfetto
 *  (cli/run/trace_out.h): a process per stage, with threads for computation, messages and
 *  collectives. */
#ifndef CALC_CLI_AS_AIAK_TRACE_H
#define CALC_CLI_AS_AIAK_TRACE_H

#include "cli/as/aiak_text.h"

enum { CALC_AIAK_TRACE_PASSES = 1000000 /**< most stages times micro-batches */ };

/** Writes ./cache/MODEL_GPUS_ppP_tpT_mbsB_rankN.json; creates the folder if needed.
 *  @param rank  0 is the best
 *  @return CALC_OK; CALC_ERR_IO, CALC_ERR_RANGE or CALC_ERR_NOMEM, with an error */
CALC_MUST_USE calc_status calc_aiak_trace_write(const calc_aiak_text *text,
                                                const calc_aiak_strategy *strategy, int rank,
                                                calc_errors *errors);

#endif
