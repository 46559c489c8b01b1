/** @file relaxed.h  Lower bounds of a step; one of several chunks per stage.
 *
 *  A stage does all micro-batches of all its chunks, whatever their order: m c of the stage. It
 *  begins when one micro-batch has passed the first chunk of the stages before, and with 1F1B these
 *  still have to do that chunk's backward when it is done. Layers of a kind are counted together
 *  over all chunks, and their activations as if every chunk had only as many micro-batches in
 *  flight as the chunk with the fewest, before the first backward. A search for a threshold finds
 *  the minimum over all distributions of layers. Where the places of a chip recompute one number of
 *  layers, that is done for every number. calc_balance_quick_s() is never above it. */
#ifndef CALC_BALANCE_RELAXED_H
#define CALC_BALANCE_RELAXED_H

#include "balance/evaluate.h"

/** @param below_s  no bound above it is looked for; INFINITY: any
 *  @param layers   [stages], written: layers of a stage at that threshold, all chunks together
 *  @return no division takes less [s]; INFINITY if none fits */
double calc_balance_relaxed(const calc_balance_problem *problem, double below_s, int *layers);

/** Micro-batches that every chunk of a stage has in flight, at least, before its first backward. */
double calc_balance_least_flight(const calc_balance_problem *problem, int stage);

/** The first chunk of a stage [s] with as few layers as may be, and of them no more in full. */
double calc_balance_through_s(const calc_balance_problem *problem, int stage, int full);

/** A weaker bound [s] in a few microseconds: layers of two kinds are divisible, and stages on one
 *  chip may recompute different numbers. With one chunk and 1F1B it is of paths, too: a stage with
 *  the time T = F + B for a micro-batch does w = min(p - s, m) forwards before its first backward,
 *  which waits for the way down and back, so that a step takes at least sum(T) + (m - 1) T -
 *  (w - 1) F. The less time stages have beyond the sum, the more layers are on slow chips, and the
 *  longer is the sum.
 *  @return no division takes less; INFINITY if the layers do not fit */
double calc_balance_quick_s(const calc_balance_problem *problem);

/** A stronger bound of 1F1B with chunks: of mixtures of divisions, through which every path takes
 *  as long as they are mixed. Paths through the passes have weights, which add up to one, so that a
 *  step takes at least the mean of these paths; what places take in it is a sum over stages, each
 * of which can be as short as its memory permits. Weights are improved until no division is below
 * what is asked, for every division of layers among the stages alone. It is for one kind of layers,
 * or for few layers of kind 0 of which none recomputes, and of moderately many passes.
 *  @param flights  of the problem
 *  @param below_s  no more is to be proven
 *  @param known_s  a bound
 *  @return it, or a better one [s] */
double calc_balance_paths(const calc_balance_problem *problem, const calc_balance_flights *flights,
                          double below_s, double known_s);

/** The same problem with one chunk per stage, which has what all chunks have beside layers. */
void calc_balance_joined(const calc_balance_problem *problem, calc_balance_problem *out);

/** The same problem, linear in its layers: ends recompute where that is less, and stages need the
 *  least that any may need. No division takes less by it than by the other. */
void calc_balance_least(const calc_balance_problem *problem, calc_balance_problem *out);

/* Recomputation that makes the layers of a stage with several parts fit: its chunks
 * share its memory, so that no chunk can choose by itself. */

/** Choose recomputation for the places of a stage greedily: take the choice that saves most memory
 *  for its time until all fits, then take back excess choices. Their layers stay.
 *  @param share  [places], written
 *  @param full   [chips] layers that recompute in full where all stages of a chip have the same
 *               number; NULL: any
 *  @return calc_balance_flights_bytes() of the result; more than the limit: nothing fits */
double calc_balance_fit(const calc_balance_problem *problem, const calc_balance_flights *flights,
                        int stage, calc_balance_share *share, const int *full);

/** Recompute in one layer more or less, if that is allowed.
 *  @param by  1 or -1
 *  @return false, and nothing changed, if it is not */
bool calc_balance_change(const calc_balance_problem *problem, calc_balance_share *share, int kind,
                         calc_balance_recompute what, int by);

#endif
