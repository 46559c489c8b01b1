/** @file run_page_serving.h  Writes the parts of the page that only serving layouts have: their
 *  passes, and latency against throughput. */
#ifndef CALC_CLI_RUN_RUN_PAGE_SERVING_H
#define CALC_CLI_RUN_RUN_PAGE_SERVING_H

#include "calc.h"
#include "io/json_put.h"

/** The member "passes" of the open object, each with its name and its operators: a decoding step
 *  and the prefill of a layout that serves, as far as its phase has them; otherwise one pass of a
 *  micro-batch. */
void calc_run_page_put_passes(calc_put *put, const calc_app *app, const calc_system *system,
                              const calc_exec *exec, calc_compat compat);

/** The member "concurrency": the layout with fewer and more requests, in flight or arriving per
 *  second, up to twice the number that fit in memory, or until arrivals exceed the service rate;
 *  null without inference. Waiting times are in closed form. */
void calc_run_page_put_concurrency(calc_put *put, const calc_app *app, const calc_system *system,
                                   const calc_exec *exec);

#endif
