/** @file aiak_trace.h  The step of a strategy of AIAK's as a trace that Chrome and Perfetto show
 *  (cli/run/trace_out.h): a process per stage, with threads for computation, messages and
 *  collectives. */
#ifndef CALC_CLI_AS_AIAK_TRACE_H
#define CALC_CLI_AS_AIAK_TRACE_H

#include "cli/as/aiak_text.h"

enum { CALC_AIAK_TRACE_PASSES = 1000000 /**< stages times micro-batches, at most */ };

/** Write ./cache/MODEL_GPUS_ppP_tpT_mbsB_rankN.json; the folder is made if there is none.
 *  @param rank  0 is the best
 *  @return CALC_OK; CALC_ERR_IO, CALC_ERR_RANGE or CALC_ERR_NOMEM, with an error */
CALC_MUST_USE calc_status calc_aiak_trace_write(const calc_aiak_text *text,
                                                const calc_aiak_strategy *strategy, int rank,
                                                calc_errors *errors);

#endif
