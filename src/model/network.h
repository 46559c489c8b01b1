/** @file network.h  Time of collectives and messages on one network tier. */
#ifndef CALC_MODEL_NETWORK_H
#define CALC_MODEL_NETWORK_H

#include "calc.h"

/** Time of one operation:
 *      T = latency + scalar * (V + offset * V / n) / (bandwidth * efficiency)            [s]
 *  With scalar 1 and offset -1 it is a ring reduce-scatter or all-gather, (n-1)/n * V; with
 *  scalar 2 a ring all-reduce (Patarasuk & Yuan 2009).
 *  @param op     one of net->ops
 *  @param bytes  V, >= 0: the whole message, not a rank's share
 *  @param ranks  n >= 2; 2 for point-to-point
 *  @return seconds, >= latency, non-decreasing in bytes */
static inline double calc_network_s(const calc_network *net, const calc_network_op *op,
                                    double bytes, double ranks)
{
    double volume = bytes * op->scalar;
    double share = 1 / ranks * volume;
    volume += share * op->offset;
    return net->latency_s + volume / (net->bytes_per_s * net->efficiency);
}

#endif
