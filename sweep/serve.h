/** @file serve.h  Layouts that serve, in a sweep: calc_run() on every one of them, with the common
 *  parts of a row's layouts computed once: the shape of the model, and the costs of a pass over a
 *  batch, which replicas, pipelines and networks do not change (model/serve/pass_memo.h). */
#ifndef CALC_SWEEP_SERVE_H
#define CALC_SWEEP_SERVE_H

#include "calc.h"

struct calc_worker;
struct calc_sweep_options;

/** The data that one thread keeps for it. */
typedef struct calc_serve calc_serve;

/** For a sweep that asks for some statistics. NULL if memory is short. */
calc_serve *calc_serve_create(const struct calc_sweep_options *options);
void calc_serve_free(calc_serve *serve);

/** A new table of rows: the worker's. Choices are told apart in it.
 *  @return CALC_OK or CALC_ERR_NOMEM */
CALC_MUST_USE calc_status calc_serve_rows(calc_serve *serve, const struct calc_worker *worker);

/** Go to one of them, in another cell or the same. @param exec  a layout of it */
void calc_serve_row(calc_serve *serve, size_t row, const calc_exec *exec);

/** Go to a layout of that row, whatever its batch. */
void calc_serve_at(calc_serve *serve, const calc_exec *exec);

/** Evaluate it, its networks fit: calc_verdict_networks().
 *  @return its verdict, that of calc_run(); as are, to the bit, the statistics that the options ask
 *          for if it is CALC_VERDICT_OK */
calc_verdict calc_serve_run(calc_serve *serve, const calc_exec *exec, const calc_stats **stats);

/** Whether a layout shares its answers with those of other numbers of replicas. */
bool calc_serve_shares(const calc_serve *serve, const calc_exec *exec);

/** Whether calc_run() gives the same results, as far as both are known. */
bool calc_serve_agrees(const calc_serve *serve, const calc_exec *exec);

#endif
