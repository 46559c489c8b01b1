/** @file judge.h  A step as the default judges it, of a task that is worked out. */
#ifndef CALC_GALVATRON_JUDGE_H
#define CALC_GALVATRON_JUDGE_H

#include "galvatron/posed.h"

/** calc_galvatron_judge_s() of an answer to this task. */
double calc_galvatron_judge_posed_s(const calc_galvatron_posed *posed,
                                    const calc_galvatron_answer *answer, double *reshard_s);

#endif
