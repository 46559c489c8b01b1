/** @file run_page_serving.h  What the page of a layout that serves has beside a run's: the passes
 *  that run, and latency against throughput. */
#ifndef CALC_CLI_RUN_RUN_PAGE_SERVING_H
#define CALC_CLI_RUN_RUN_PAGE_SERVING_H

#include "calc.h"
#include "io/json_put.h"

/** The member "passes" of the object that is open: each with its name and its operators. Of a
 *  layout that serves, a decoding step and the prefill, as far as its phase has them; else one pass
 *  of a micro-batch. */
void calc_run_page_put_passes(calc_put *put, const calc_app *app, const calc_system *system,
                              const calc_exec *exec, calc_compat compat);

/** The member "concurrency": the layout with fewer and with more requests, in flight or arriving
 *  per second, up to twice what the memory has room for, or until more arrive than are served; null
 *  without inference. Waiting is in closed form. */
void calc_run_page_put_concurrency(calc_put *put, const calc_app *app, const calc_system *system,
                                   const calc_exec *exec);

#endif
