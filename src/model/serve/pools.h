/** @file pools.h  Prefill and decoding on pools of their own (Zhong et al. 2024, DistServe, arXiv
 *  2401.09670; Patel et al. 2023, Splitwise, 2311.18677). Replicas that prefill are the servers of
 *  one queue. The cache of a prompt is sent when it is prefilled, by every rank its part, and the
 *  request waits for a slot of a replica that decodes. The slower pool decides the requests per
 *  second; the other one is less busy: in a closed loop, requests in the prefill pool are not being
 *  decoded. */
#ifndef CALC_MODEL_POOLS_H
#define CALC_MODEL_POOLS_H

#include "model/serve/inference.h"

/** Replicas of a prefill pool that run in step, as tokens of all go to experts that are spread over
 *  them: a pass of one takes as long as the others'. */
double calc_pools_together(const calc_exec *pool);

/** Run phase disaggregated. */
void calc_pools_run(calc_serving *serving);

#endif
