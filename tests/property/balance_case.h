/** @file balance_case.h  Random problems of the planner of unequal stages, and what holds for every
 *  solution. */
#ifndef CALC_TEST_BALANCE_CASE_H
#define CALC_TEST_BALANCE_CASE_H

#include <check.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "balance/solve.h"
#include "base/rng.h"

enum { MOST_STAGES = 6, MOST_CHUNKS = 3, MOST_MICROBATCHES = 24 };

extern calc_rng balance_rng;
extern calc_balance_problem problem;
extern calc_balance_solution solution;

/** How many cases: CALC_PROPERTY_CASES, or `usual`. */
uint64_t balance_cases(uint64_t usual);

/** Abort with the seed and the case, unless something holds. */
void balance_must(bool holds, const char *what, double got, double want);

/** Equal but for the order of sums. */
bool balance_close(double a, double b);

/** A random integer from least to most. */
int balance_between(int least, int most);

/** Case `stream`: 1F1B of at most so much. Memory binds in about half of them. */
void balance_pose(uint64_t stream, int stages, int chunks, int layers, int microbatches);

/** Chips, limits and ends of the stages anew, for another shape. */
void balance_pose_stages(bool round);

/** @param evaluations  at most; 0: as many as the solver likes */
void balance_solve(int64_t evaluations);

/** What a solution says of itself, and what it must keep to. */
void balance_check_solution(void);

#endif
