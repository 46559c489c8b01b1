/** @file judge.h  Step time by the default objective, for a task whose costs are known. */
#ifndef CALC_GALVATRON_JUDGE_H
#define CALC_GALVATRON_JUDGE_H

#include "galvatron/posed.h"

/** calc_galvatron_judge_s() for an answer to this task. */
double calc_galvatron_judge_posed_s(const calc_galvatron_posed *posed,
                                    const calc_galvatron_answer *answer, double *reshard_s);

#endif
