/** @file strategies.h  Enumerates the strategies, the tasks, and the strategies that a task
 *  allows. */
#ifndef CALC_GALVATRON_STRATEGIES_H
#define CALC_GALVATRON_STRATEGIES_H

#include "galvatron/search.h"

/** Lists all strategies of a pp in upstream's order: by tp, sp, cp, dp, type, checkpoint.
 *  @param ends  lists those of embedding and head, without checkpoints
 *  @param out   NULL: only count
 *  @return how many */
int calc_galvatron_strategies(const calc_galvatron_request *request, int pp, bool ends,
                              calc_galvatron_strategy *out);

/** Whether a task allows a strategy of its pp. In compat this includes strategies whose ranks would
 *  have unequal micro-batches. */
bool calc_galvatron_allows(const calc_galvatron_request *request, const calc_galvatron_task *task,
                           const calc_galvatron_strategy *strategy);

/** Lists all tasks in upstream's order.
 *  @param out  NULL: only count
 *  @return how many */
int calc_galvatron_tasks(const calc_galvatron_request *request, calc_galvatron_task *out);

#endif
