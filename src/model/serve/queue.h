/** @file queue.h  How long requests wait: a few formulas, independent of the server. Times are in
 *  any one unit, seconds or steps. Service takes the same time for all: prompts of one length.
 *
 *  Arrivals at random (an open loop) wait as Pollaczek and Khinchine found for one server, and for
 *  several as Sakasegawa approximates (1977, Ann. Inst. Statist. Math. 29, 67) with the variation
 *  of Allen and Cunneen; DistServe (Zhong et al. 2024, arXiv 2401.09670) takes M/D/1 for prefill.
 *
 *  A closed loop, whose requests come again when they are answered, is one of N sources that come
 * once per round: the number found waiting follows a Brownian bridge (Roberts and Virtamo 1991,
 * IEEE Trans. Commun. 39, 298), at a rate that the wait itself lowers (mean value analysis, Reiser
 * and Lavenberg 1980, J. ACM 27, 313). With ever more requests of the same rate that is M/D/1.
 * Where rounds are nearly alike, requests that met once keep clear of one another; that is fitted
 * to simulated loops. */
#ifndef CALC_MODEL_QUEUE_H
#define CALC_MODEL_QUEUE_H

#include <stddef.h>

/** Mean wait before service, arrivals at random.
 *  @param servers   >= 1, each taking one request at a time
 *  @param rate      arrivals per time, of all servers
 *  @param service   mean time of one request
 *  @param variation squared coefficient of variation of that time; 0: all take the same
 *  @return NAN where more arrive than are served */
double calc_queue_open(double servers, double rate, double service, double variation);

/** Mean wait before service in a loop of `population` requests, each away for `away` between two
 *  services by one server.
 *  @param population  >= 1; alone nothing waits
 *  @param away        >= 0, in the mean
 *  @param apart       times away are uniform in away - apart .. away + apart
 *  @param service     > 0 */
double calc_queue_closed(double population, double away, double apart, double service);

/** Mean time that a queue holds its first request until each of several has one.
 *  @param queues   >= 1, each with arrivals at random
 *  @param rate     of one of them, > 0
 *  @param longest  nothing is held longer than that */
double calc_queue_gather(double queues, double rate, double longest);

/** Mean over lengths that are uniform in mean (1 - spread) .. mean (1 + spread) of the pieces of
 *  1 that they take, whole ones counted. */
double calc_queue_pieces(double mean, double spread);

/** The point where served and arriving requests balance: the zero of a function that rises from
 *  `below` at 0, or less, to `above` at `high`; by false position (Illinois). The function was
 *  evaluated there last, unless above is not positive: then nothing is. */
double calc_queue_balance(double (*surplus)(void *context, double at), void *context, double high,
                          double below, double above);

enum { CALC_QUEUE_WAVES = 32 };

/** One round of a loop whose requests all came at once: how many arrive over what time. */
typedef struct calc_queue_wave {
    double share; /**< of all requests of the run */
    double width; /**< of the arrivals, 0 for the first; at most a round */
} calc_queue_wave;

/** The rounds of a run. Those after the first arrive as their predecessors ended, which lie apart
 *  as their services did, and by the sum of ever more random lengths: that of two uniform ones is
 *  as wide as its variance is. Once rounds overlap, or do not change any more, they are one wave.
 *  @param served  time over which the first ones end
 *  @param round   mean time of a round
 *  @param spread  of that time, uniform in round (1 - spread) .. round (1 + spread)
 *  @param rounds  of the run; 0: for ever
 *  @return how many waves there are, 1 .. CALC_QUEUE_WAVES */
size_t calc_queue_waves(double served, double round, double spread, double rounds,
                        calc_queue_wave out[CALC_QUEUE_WAVES]);

/** How much longer a run is than its rounds, over these: at its end requests that have ended are
 *  followed by no others until the last has ended.
 *  @param slots  requests at a time; the others as of calc_queue_waves() */
double calc_queue_drain(double slots, double served, double round, double spread, double rounds);

/** Times of a share of all requests: uniform in least .. most, and for some of them a wait more,
 *  exponential, that is `tail` in the mean over all of the share. */
typedef struct calc_queue_times {
    double share;
    double least, most;
    double tail, tail_share;
} calc_queue_times;

/** Mean over all. */
double calc_queue_mean(const calc_queue_times *times, size_t count);

/** The time that a share `quantile` of all is within. A part that is alone adds the quantiles of
 *  both of its terms; of several parts each is uniform up to its mean's double. */
double calc_queue_quantile(const calc_queue_times *times, size_t count, double quantile);

#endif
