/** @file answer_sweep.h  Sweeps as a request asks, and writes what is found. */
#ifndef CALC_SESSION_ANSWER_SWEEP_H
#define CALC_SESSION_ANSWER_SWEEP_H

#include "calc.h"
#include "io/json_put.h"
#include "io/request.h"

/** Who finds documents that the options name. */
typedef struct calc_sweep_asked {
    calc_request_find *find; /**< systems */
    void *context;
    calc_session_find *file; /**< files of software; NULL: names are paths */
    void *file_context;
} calc_sweep_asked;

/** Write the members "sweep": the question, counts, the best and the front as `calc sweep --out`
 *  has them; and, where it is asked for, "page": what the page of the sweep draws.
 *  @return CALC_OK; else nothing was written, and an error was added */
CALC_MUST_USE calc_status calc_answer_sweep(calc_put *put, const calc_request *request,
                                            const calc_sweep_asked *asked, calc_errors *errors);

#endif
